// Executes commands from shortcuts, the command palette and menus. The commands are listed in `commandList.ts`.

import { onMount } from "svelte";
import { COMMANDS, SCOPES, type Command, type Scope } from "./commandList";
import { navigation } from "./navigation.svelte";
import { overlays } from "./overlays.svelte";
import { MAC, matches, shown, startsLine, typing, worksWhileTyping } from "./shortcuts";
import { commands as texts } from "../texts/commands";

/** A component that executes the commands of a scope. */
interface Runner {
  scope: Scope;
  /** Returns whether it accepts commands now, apart from any overlay above it. */
  active: () => boolean;
  /** Whether it is an overlay itself. */
  over: boolean;
  /** Executes a command; returns `false` if the command does not apply at the moment. */
  run: (id: string, event?: KeyboardEvent) => boolean | void;
}

const runners: Runner[] = [];

/** Registers the current component to execute the commands of a scope while it is mounted. */
export function runCommands(
  scope: Scope,
  active: Runner["active"],
  run: Runner["run"],
  { over = false }: { over?: boolean } = {},
): void {
  const runner = { scope, active, run, over };
  onMount(() => {
    runners.push(runner);
    return () => void runners.splice(runners.indexOf(runner), 1);
  });
}

/** Returns the command of a scope that a key triggers. */
export function commandFor(event: KeyboardEvent, scope: Scope): Command | undefined {
  return COMMANDS.find(
    (command) => command.scope === scope && command.shortcuts?.some((shortcut) => matches(event, shortcut)),
  );
}

function find(id: string): Command {
  const command = COMMANDS.find((one) => one.id === id);
  if (!command) throw new Error(`there is no command ${id}`);
  return command;
}

/** Returns a command's first shortcut for display; empty if it has none. */
export function shortcutOf(id: string): string {
  const [first] = find(id).shortcuts ?? [];
  return first ? shown(first) : "";
}

/** Returns a tooltip: the text followed by the command's shortcut. */
export function hint(text: string, id: string): string {
  const shortcut = shortcutOf(id);
  return shortcut ? `${text} (${shortcut})` : text;
}

/** Executes a command; returns whether it did anything. */
export function runCommand(id: string, event?: KeyboardEvent): boolean {
  const command = find(id);
  if (command.when && !command.when()) return false;
  if (command.run) {
    command.run();
    return true;
  }
  const runner = [...runners].reverse().find((one) => one.scope === command.scope && one.active());
  return !!runner && runner.run(id, event) !== false;
}

/** Returns the available commands whose title contains all `words`, for the palette. */
export function paletteCommands(words: string): Command[] {
  const wanted = words.toLowerCase().split(/\s+/);
  return COMMANDS.filter((command) => {
    if (command.keyOnly || (command.when && !command.when())) return false;
    const there = command.run ?? runners.some((one) => !one.over && one.scope === command.scope && one.active());
    // List commands act on the focused list, and the palette has the focus.
    if (!there || command.scope === "list") return false;
    return wanted.every((word) => command.title.toLowerCase().includes(word));
  });
}

/** Returns all shortcuts, grouped by scope. */
export function shortcutList(): { name: string; commands: { title: string; keys: string }[] }[] {
  return SCOPES.map(({ scope, name }) => ({
    name,
    commands: COMMANDS.filter((command) => command.scope === scope && command.shortcuts).map((command) => ({
      title: command.title,
      // Shortcuts with Cmd are listed only on a Mac.
      keys: texts.or((command.shortcuts ?? []).filter((one) => MAC || !one.startsWith("Meta+")).map(shown)),
    })),
  }));
}

/** Returns whether a key event triggers a command, considering whether a text field has the focus. */
export function triggers(event: KeyboardEvent, command: Command): boolean {
  const shortcut = command.shortcuts?.find((one) => matches(event, one));
  if (!shortcut) return false;
  return !typing(event) || (worksWhileTyping(shortcut) && !command.notWhileTyping);
}

/** Returns whether a held key must not act again, or it would decide what it has only just opened. */
const isHeld = (event: KeyboardEvent, command: Command) => event.repeat && !command.repeats;

/** The window's only handler for key events. */
export function handleKey(event: KeyboardEvent): void {
  // Neither does Enter press the button or submit the form that takes the focus while it is held.
  if (event.repeat && event.key === "Enter" && !startsLine(event)) return event.preventDefault();
  // Skips keys handled elsewhere. Keys with modifiers are an exception: the palette prevents their default too, and one
  // of them has to close it.
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !/^F\d+$/.test(event.key);
  if (event.defaultPrevented && plain) return;
  const global = COMMANDS.find((command) => command.scope === "everywhere" && triggers(event, command));
  if (global) {
    if (overlays.covered && !global.overAll) return;
    if (isHeld(event, global) || runCommand(global.id, event)) event.preventDefault();
    return;
  }
  for (const runner of [...runners].reverse()) {
    if ((overlays.covered && !runner.over) || !runner.active()) continue;
    const command = commandFor(event, runner.scope);
    if (!command || !triggers(event, command)) continue;
    if (isHeld(event, command)) return event.preventDefault();
    const done = command.run ? runCommand(command.id, event) : runner.run(command.id, event) !== false;
    if (!done) continue;
    event.preventDefault();
    return;
  }
}

/** Navigates back and forward with the fourth and fifth mouse buttons. */
export function handleMouse(event: MouseEvent): void {
  if (event.button !== 3 && event.button !== 4) return;
  // Keeps a browser from leaving the page.
  event.preventDefault();
  if (event.type !== "mouseup" || overlays.covered) return;
  if (event.button === 3) navigation.back();
  else navigation.forward();
}
