// Everything the window can be told to do, with its shortcut. Shortcuts, palette, list of shortcuts and hints all
// come from here; what a command of a scope does is said by the part that is its scope.

import { asks } from "./asks.svelte";
import type { Commands } from "./bindings";
import { checking } from "./checks.svelte";
import { engine } from "./engine.svelte";
import { navigation, PANES, type Pane } from "./navigation.svelte";
import { overlays } from "./overlays.svelte";
import { asking, discovering } from "./talk.svelte";
import { setTheme, theme } from "./theme.svelte";

/** Where a shortcut means something. `list` is any table or list that moves by keyboard. */
export type Scope = "everywhere" | "list" | "library" | "card" | "review" | "import";

export interface Command {
  id: string;
  title: string;
  scope: Scope;
  /** Any of these does it; the first is shown in hints. */
  shortcuts?: string[];
  /** What it does. A command without it is carried out by the part that is its scope. */
  run?: () => void;
  /** Whether it can be done now; always, where nothing is said. */
  when?: () => boolean;
  /** Its shortcut also works while something lies over the pane. */
  overAll?: boolean;
  /** Its shortcut means something else while one types. */
  notWhileTyping?: boolean;
  /** It moves the focus: from the palette only once that gave the focus back. */
  movesFocus?: boolean;
  /** Not in the palette: it only makes sense by key. */
  keyOnly?: boolean;
}

async function start<C extends "starter_load" | "pages_fetch">(name: C, request: Commands[C]["request"]) {
  try {
    await engine.call(name, request);
  } catch (reason) {
    engine.complain(reason);
  }
}

async function stopAgents() {
  const working = [asking, discovering].filter((talk) => talk.running);
  if (!working.length) engine.say("The agent is not at work");
  await Promise.all(working.map((talk) => talk.stop()));
}

function switchTheme() {
  const now = theme() === "system" ? document.documentElement.dataset["theme"] : theme();
  setTheme(now === "dark" ? "light" : "dark");
}

/** Focuses what the pane is for. */
function focusBox() {
  const boxes: Partial<Record<Pane, string>> = {
    library: "library-filter",
    discover: "discover-box",
    review: "review-filter",
    ask: "ask-box",
  };
  if (!boxes[navigation.pane]) navigation.go("ask");
  const box = boxes[navigation.pane] ?? "ask-box";
  const focus = () => document.getElementById(box)?.focus();
  focus();
  // A pane that was not shown takes the focus when it is; one that is takes what is typed next at once.
  if (document.activeElement?.id !== box) requestAnimationFrame(focus);
}

const PANE_TITLES: Record<Pane, string> = {
  ask: "Ask a question",
  discover: "Look on the web for a tool",
  review: "Review proposals",
  library: "Open the library",
  activity: "See what agents did",
  settings: "Open settings",
};

/** The command that shows a pane. */
export const paneCommand = (pane: Pane) => `go.${pane}`;

const toPane = (pane: Pane): Command => ({
  id: paneCommand(pane),
  title: PANE_TITLES[pane],
  scope: "everywhere",
  shortcuts: [`Mod+${PANES.findIndex((one) => one.pane === pane) + 1}`],
  run: () => navigation.go(pane),
  overAll: true,
});

const toSettings = (section: string, title: string): Command => ({
  id: `settings.${section}`,
  title,
  scope: "everywhere",
  run: () => navigation.settings(section),
});

export const COMMANDS: Command[] = [
  toPane("ask"),
  toPane("discover"),
  {
    id: "discover.market",
    title: "Look for tools in your sources",
    scope: "everywhere",
    run: () => navigation.market(),
  },
  toPane("review"),
  toPane("library"),
  toPane("activity"),
  toPane("settings"),
  {
    id: "palette",
    title: "Command palette: every command and every card",
    scope: "everywhere",
    shortcuts: ["Mod+K"],
    run: () => (overlays.palette = !overlays.palette),
    overAll: true,
    keyOnly: true,
  },
  {
    id: "back",
    title: "Go back",
    scope: "everywhere",
    shortcuts: ["Alt+ArrowLeft", "Meta+["],
    run: () => navigation.back(),
    when: () => navigation.canGoBack,
  },
  {
    id: "forward",
    title: "Go forward",
    scope: "everywhere",
    shortcuts: ["Alt+ArrowRight", "Meta+]"],
    run: () => navigation.forward(),
    when: () => navigation.canGoForward,
  },
  {
    id: "focus",
    title: "Ask, look on the web, filter the queue or the library",
    scope: "everywhere",
    shortcuts: ["/"],
    run: focusBox,
    keyOnly: true,
  },
  toSettings("llm", "Choose a language model"),
  toSettings("search", "Choose a search service"),
  toSettings("network", "Settings: network, keys, prompts"),
  toSettings("agents", "Connect an agent…"),
  toSettings("servers", "Settings: MCP servers"),
  toSettings("market", "Settings: marketplace, sources of tools"),
  {
    id: "asks.answer",
    title: "Answer an agent that waits for your approval, and back",
    scope: "everywhere",
    shortcuts: ["F6"],
    run: () => asks.focus(),
    when: () => asks.waiting.length > 0,
    overAll: true,
    movesFocus: true,
  },
  toSettings("permissions", "Settings: permissions of agents"),
  toSettings("sessions", "Settings: sessions of agents"),
  toSettings("api-keys", "Settings: keys for web APIs"),
  {
    id: "pages.fetch",
    title: "Read documentation pages",
    scope: "everywhere",
    run: () => void start("pages_fetch", { cards: [], again: false }),
  },
  {
    id: "checks.all",
    title: "Check all cards against their pages",
    scope: "everywhere",
    run: () => void checking.start({ kind: "all" }),
  },
  {
    id: "checks.older",
    title: "Check cards not checked for 30 days",
    scope: "everywhere",
    run: () => void checking.start({ kind: "older", days: 30 }),
  },
  {
    id: "checks.due",
    title: "Try pages again that could not be reached",
    scope: "everywhere",
    run: () => void checking.start({ kind: "due" }),
  },
  toSettings("checks", "Settings: when cards are checked"),
  { id: "agent.stop", title: "Stop the agent", scope: "everywhere", run: () => void stopAgents() },
  {
    id: "import",
    title: "Import cards…",
    scope: "everywhere",
    run: () => (overlays.importing = {}),
  },
  {
    id: "export",
    title: "Export cards…",
    scope: "everywhere",
    run: () => (overlays.exporting = {}),
  },
  {
    id: "imports",
    title: "Imports: what came in, and undo",
    scope: "everywhere",
    run: () => ((overlays.bundles = "imports"), navigation.go("library")),
  },
  {
    id: "subscriptions",
    title: "Subscribe to a bundle…",
    scope: "everywhere",
    run: () => ((overlays.bundles = "subscriptions"), navigation.go("library")),
  },
  toSettings("bundles", "Settings: keys that sign bundles"),
  {
    id: "starter.load",
    title: "Load the starter cards",
    scope: "everywhere",
    run: () => void start("starter_load", {}),
  },
  {
    id: "undo",
    title: "Undo the newest change to the library",
    scope: "everywhere",
    shortcuts: ["Mod+Z"],
    run: () => void engine.undo(),
    notWhileTyping: true,
  },
  {
    id: "theme",
    title: "Switch between light and dark",
    scope: "everywhere",
    run: switchTheme,
  },
  {
    id: "shortcuts",
    title: "Show keyboard shortcuts",
    scope: "everywhere",
    shortcuts: ["?"],
    run: () => (overlays.shortcuts = true),
    overAll: true,
  },

  { id: "list.next", title: "Next", scope: "list", shortcuts: ["j", "ArrowDown"] },
  { id: "list.previous", title: "Previous", scope: "list", shortcuts: ["k", "ArrowUp"] },
  { id: "list.pageDown", title: "A page on", scope: "list", shortcuts: ["PageDown"] },
  { id: "list.pageUp", title: "A page back", scope: "list", shortcuts: ["PageUp"] },
  { id: "list.first", title: "The first", scope: "list", shortcuts: ["Home"] },
  { id: "list.last", title: "The last", scope: "list", shortcuts: ["End"] },
  { id: "list.open", title: "Open", scope: "list", shortcuts: ["Enter"] },
  {
    id: "list.select",
    title: "Select, or take; with Shift, all from the one selected before",
    scope: "list",
    shortcuts: ["x", "X", "Space"],
  },

  // Its shortcut is for the library alone: elsewhere a letter should not leave the pane.
  {
    id: "card.add",
    title: "Add a card",
    scope: "library",
    shortcuts: ["n"],
    run: () => navigation.add(),
  },
  {
    id: "library.close",
    title: "Close the card, or clear the selection",
    scope: "library",
    shortcuts: ["Escape"],
    keyOnly: true,
  },
  { id: "card.edit", title: "Edit the open card", scope: "card", shortcuts: ["e"] },

  { id: "review.next", title: "Next proposal", scope: "review", shortcuts: ["j", "ArrowDown"] },
  { id: "review.previous", title: "Previous proposal", scope: "review", shortcuts: ["k", "ArrowUp"] },
  { id: "review.accept", title: "Accept the ticked fields", scope: "review", shortcuts: ["a"] },
  { id: "review.reject", title: "Reject the proposal", scope: "review", shortcuts: ["r"] },
  { id: "review.acceptSafe", title: "Accept all safe ones in view…", scope: "review", shortcuts: ["A"] },
  { id: "review.nextField", title: "Next field", scope: "review", shortcuts: ["J"] },
  { id: "review.previousField", title: "Previous field", scope: "review", shortcuts: ["K"] },
  { id: "review.tick", title: "Tick the field", scope: "review", shortcuts: ["Space"] },
  { id: "review.turnDown", title: "Turn the field down", scope: "review", shortcuts: ["x"] },
  { id: "review.settle", title: "Take theirs or keep mine in a conflict", scope: "review", shortcuts: ["t"] },
  { id: "review.edit", title: "Edit the value of the field", scope: "review", shortcuts: ["e"] },
  { id: "review.openPage", title: "Open the documentation page", scope: "review", shortcuts: ["o"] },
  { id: "review.layout", title: "Show changes side by side or unified", scope: "review", shortcuts: ["d"] },
  { id: "review.undo", title: "Undo the decision", scope: "review", shortcuts: ["u"] },
  { id: "review.comment", title: "Comment", scope: "review", shortcuts: ["c"] },

  { id: "import.filter", title: "Show only the next kind of cards", scope: "import", shortcuts: ["f"] },
  { id: "import.filterBack", title: "Show only the kind before", scope: "import", shortcuts: ["F"] },
];

/** Headings of the list of shortcuts. */
export const SCOPES: { scope: Scope; name: string }[] = [
  { scope: "everywhere", name: "Everywhere" },
  { scope: "list", name: "Tables and lists" },
  { scope: "library", name: "Library" },
  { scope: "card", name: "Open card" },
  { scope: "review", name: "Review" },
  { scope: "import", name: "Import" },
];
