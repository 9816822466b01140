// Carries out commands: by shortcut, from the palette, from a menu. What there is stands in `commandList.ts`.

import { onMount } from "svelte";
import { COMMANDS, SCOPES, type Command, type Scope } from "./commandList";
import { navigation } from "./navigation.svelte";
import { overlays } from "./overlays.svelte";
import { MAC, matches, shown, typing, worksWhileTyping } from "./shortcuts";
import { commands as texts } from "../texts/commands";

/** A part of the window that carries out the commands of a scope. */
interface Runner {
  scope: Scope;
  /** Whether its commands are meant now, apart from what lies over the pane. */
  active: () => boolean;
  /** Whether it lies over the pane itself. */
  over: boolean;
  /** Does a command; `false` where that means nothing just now. */
  run: (id: string, event?: KeyboardEvent) => boolean | void;
}

const runners: Runner[] = [];

/** Makes the component that is being created carry out the commands of a scope, as long as it is there. */
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

/** The command of a scope that a key means. */
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

/** The shortcut of a command as a person reads it. */
export function shortcutOf(id: string): string {
  const [first] = find(id).shortcuts ?? [];
  return first ? shown(first) : "";
}

/** What a control says when one points at it: what it does, with its shortcut. */
export function hint(text: string, id: string): string {
  const shortcut = shortcutOf(id);
  return shortcut ? `${text} (${shortcut})` : text;
}

/** Does a command, whatever called for it. */
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

/** What the palette offers now, for these words. */
export function paletteCommands(words: string): Command[] {
  const wanted = words.toLowerCase().split(/\s+/);
  return COMMANDS.filter((command) => {
    if (command.keyOnly || (command.when && !command.when())) return false;
    const there = command.run ?? runners.some((one) => !one.over && one.scope === command.scope && one.active());
    // What moves in a list acts on what has the focus, which is the palette's by now.
    if (!there || command.scope === "list") return false;
    return wanted.every((word) => command.title.toLowerCase().includes(word));
  });
}

/** Every shortcut there is, by where it means something. */
export function shortcutList(): { name: string; commands: { title: string; keys: string }[] }[] {
  return SCOPES.map(({ scope, name }) => ({
    name,
    commands: COMMANDS.filter((command) => command.scope === scope && command.shortcuts).map((command) => ({
      title: command.title,
      // A keyboard without Cmd has no use for those with it.
      keys: texts.or((command.shortcuts ?? []).filter((one) => MAC || !one.startsWith("Meta+")).map(shown)),
    })),
  }));
}

/** Whether a shortcut is meant by a key, with what has the focus and what lies over the pane. */
function isMeant(event: KeyboardEvent, command: Command): boolean {
  const shortcut = command.shortcuts?.find((one) => matches(event, one));
  if (!shortcut) return false;
  return !typing(event) || (worksWhileTyping(shortcut) && !command.notWhileTyping);
}

/** The one listener for keys of the window. */
export function handleKey(event: KeyboardEvent): void {
  // What something else took already; but the palette itself takes keys with Ctrl, and one of them closes it.
  const plain = !event.ctrlKey && !event.metaKey && !event.altKey && !/^F\d+$/.test(event.key);
  if (event.defaultPrevented && plain) return;
  const global = COMMANDS.find((command) => command.scope === "everywhere" && isMeant(event, command));
  if (global) {
    if (overlays.covered && !global.overAll) return;
    if (runCommand(global.id, event)) event.preventDefault();
    return;
  }
  if (typing(event)) return;
  for (const runner of [...runners].reverse()) {
    if ((overlays.covered && !runner.over) || !runner.active()) continue;
    const command = commandFor(event, runner.scope);
    if (!command) continue;
    const done = command.run ? runCommand(command.id, event) : runner.run(command.id, event) !== false;
    if (!done) continue;
    event.preventDefault();
    return;
  }
}

/** The fourth and fifth button of a mouse go back and forward. */
export function handleMouse(event: MouseEvent): void {
  if (event.button !== 3 && event.button !== 4) return;
  // A browser would leave the page.
  event.preventDefault();
  if (event.type !== "mouseup" || overlays.covered) return;
  if (event.button === 3) navigation.back();
  else navigation.forward();
}
