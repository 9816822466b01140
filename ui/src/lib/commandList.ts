// Every command of the window and its shortcuts. The keyboard, the command palette, the shortcut list and tooltips all
// read this list. A scoped command without `run` is executed by the component that registered for its scope.

import { approvals } from "./approvals.svelte";
import type { Commands } from "./bindings";
import { common } from "../texts/common";
import { commands as texts } from "../texts/commands";
import { checking } from "./checks.svelte";
import { desktop } from "./desktop.svelte";
import { engine } from "./engine.svelte";
import { inApp } from "./host";
import { navigation, PANES, type Pane } from "./navigation.svelte";
import { overlays } from "./overlays.svelte";
import { asking, discovering, researching } from "./conversation.svelte";
import { setTheme, theme } from "./theme.svelte";
import { setZoom, zoomBy } from "./zoom.svelte";

/** Where a command's shortcut is active. `list` is any table or list with keyboard navigation. */
export type Scope = "everywhere" | "ask" | "list" | "library" | "card" | "review" | "import";

export interface Command {
  id: string;
  title: string;
  scope: Scope;
  /** Any of these triggers the command; tooltips show the first. */
  shortcuts?: string[];
  /** Executes the command. Without it, the component that registered for the scope does. */
  run?: () => void;
  /** Returns whether the command is available; always, if omitted. */
  when?: () => boolean;
  /** Whether the shortcut also works while an overlay covers the pane. */
  overAll?: boolean;
  /** Whether the shortcut is disabled in text fields, where the keys have another meaning. */
  notWhileTyping?: boolean;
  /** Whether a key that is held down keeps executing the command; otherwise it does so once. */
  repeats?: boolean;
  /** Whether the command moves the focus. The palette runs it only after it has closed and restored the focus. */
  movesFocus?: boolean;
  /** Whether the command is omitted from the palette because it only makes sense as a shortcut. */
  keyOnly?: boolean;
}

async function start<C extends "starter_load" | "pages_fetch">(name: C, request: Commands[C]["request"]) {
  try {
    await engine.call(name, request);
  } catch (reason) {
    engine.showError(reason);
  }
}

async function stopAgents() {
  const working = [asking, discovering, researching].filter((conversation) => conversation.running);
  if (!working.length) engine.showToast(texts.noAgentAtWork, { kind: "note" });
  await Promise.all(working.map((conversation) => conversation.stop()));
}

async function endWindow(end: () => Promise<void>) {
  try {
    await end();
  } catch (reason) {
    engine.showError(reason);
  }
}

function switchTheme() {
  const now = theme() === "system" ? document.documentElement.dataset["theme"] : theme();
  setTheme(now === "dark" ? "light" : "dark");
}

/** Focuses the pane's main input. */
function focusBox() {
  const boxes: Partial<Record<Pane, string>> = {
    library: "library-filter",
    discover: "discover-box",
    review: "review-filter",
    ask: "ask-box",
    settings: "settings-search",
  };
  if (!boxes[navigation.pane]) navigation.go("ask");
  const box = boxes[navigation.pane] ?? "ask-box";
  const focus = () => document.getElementById(box)?.focus();
  focus();
  // A pane that was hidden can only take the focus after it has been rendered; a visible one takes it at once.
  if (document.activeElement?.id !== box) requestAnimationFrame(focus);
}

/** Returns the id of the command that opens a pane. */
export const paneCommand = (pane: Pane) => `go.${pane}`;

const toPane = (pane: Pane): Command => ({
  id: paneCommand(pane),
  title: texts.go[pane],
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

/** Commands of the desktop app. On a Mac, the application menu has the same shortcuts and takes them first. */
const WINDOW: Command[] = [
  {
    id: "window.close",
    title: texts.closeWindow,
    scope: "everywhere",
    shortcuts: ["Mod+W"],
    run: () => void endWindow(() => desktop.closeWindow()),
    overAll: true,
  },
  {
    id: "quit",
    title: texts.quit,
    scope: "everywhere",
    shortcuts: ["Mod+Q"],
    run: () => void endWindow(() => desktop.quit()),
    overAll: true,
  },
];

export const COMMANDS: Command[] = [
  toPane("ask"),
  toPane("discover"),
  {
    id: "discover.market",
    title: texts.lookInSources,
    scope: "everywhere",
    run: () => navigation.market(),
  },
  toPane("review"),
  toPane("library"),
  toPane("activity"),
  toPane("settings"),
  {
    id: "palette",
    title: texts.palette,
    scope: "everywhere",
    shortcuts: ["Mod+K"],
    run: () => (overlays.palette = !overlays.palette),
    overAll: true,
    keyOnly: true,
  },
  {
    id: "back",
    title: texts.back,
    scope: "everywhere",
    shortcuts: ["Alt+ArrowLeft", "Meta+["],
    run: () => navigation.back(),
    when: () => navigation.canGoBack,
  },
  {
    id: "forward",
    title: texts.forward,
    scope: "everywhere",
    shortcuts: ["Alt+ArrowRight", "Meta+]"],
    run: () => navigation.forward(),
    when: () => navigation.canGoForward,
  },
  {
    id: "focus",
    title: texts.focus,
    scope: "everywhere",
    shortcuts: ["/"],
    run: focusBox,
    keyOnly: true,
  },
  toSettings("llm", texts.chooseLlm),
  toSettings("search", texts.chooseSearch),
  toSettings("network", texts.settingsNetwork),
  { ...toSettings("agents", texts.connectAgent), shortcuts: ["Mod+Shift+A"] },
  toSettings("servers", texts.settingsServers),
  toSettings("market", texts.settingsMarket),
  {
    id: "asks.answer",
    title: texts.answerAgent,
    scope: "everywhere",
    shortcuts: ["F6"],
    run: () => approvals.focus(),
    when: () => approvals.waiting.length > 0,
    overAll: true,
    movesFocus: true,
  },
  toSettings("permissions", texts.settingsPermissions),
  toSettings("sessions", texts.settingsSessions),
  toSettings("api-keys", texts.settingsApiKeys),
  {
    id: "pages.fetch",
    title: texts.readPages,
    scope: "everywhere",
    run: () => void start("pages_fetch", { cards: [], again: false }),
  },
  {
    id: "checks.all",
    title: texts.checkAll,
    scope: "everywhere",
    run: () => void checking.start({ kind: "all" }),
  },
  {
    id: "checks.older",
    title: texts.checkOlder,
    scope: "everywhere",
    run: () => void checking.start({ kind: "older", days: 30 }),
  },
  {
    id: "checks.due",
    title: texts.checkDue,
    scope: "everywhere",
    run: () => void checking.start({ kind: "due" }),
  },
  toSettings("checks", texts.settingsChecks),
  { id: "agent.stop", title: texts.stopAgent, scope: "everywhere", run: () => void stopAgents() },
  {
    id: "import",
    title: texts.importCards,
    scope: "everywhere",
    shortcuts: ["Mod+I"],
    run: () => (overlays.importing = {}),
  },
  {
    id: "export",
    title: texts.exportCards,
    scope: "everywhere",
    shortcuts: ["Mod+E"],
    run: () => (overlays.exporting = {}),
  },
  {
    id: "imports",
    title: texts.imports,
    scope: "everywhere",
    run: () => ((overlays.bundles = "imports"), navigation.go("library")),
  },
  {
    id: "subscriptions",
    title: texts.subscribe,
    scope: "everywhere",
    run: () => ((overlays.bundles = "subscriptions"), navigation.go("library")),
  },
  {
    id: "duplicates",
    title: texts.duplicates,
    scope: "everywhere",
    run: () => ((overlays.duplicates = true), navigation.go("library")),
  },
  toSettings("bundles", texts.settingsBundles),
  { id: "team.join", title: texts.joinTeam, scope: "everywhere", run: () => (overlays.joining = "") },
  toSettings("team", texts.settingsTeam),
  {
    id: "starter.load",
    title: texts.loadStarter,
    scope: "everywhere",
    run: () => void start("starter_load", {}),
  },
  {
    id: "undo",
    title: texts.undo,
    scope: "everywhere",
    shortcuts: ["Mod+Z"],
    run: () => void engine.undo(),
    notWhileTyping: true,
  },
  {
    id: "redo",
    title: texts.redo,
    scope: "everywhere",
    shortcuts: ["Mod+Shift+Z"],
    run: () => void engine.redo(),
    notWhileTyping: true,
  },
  {
    id: "jobs.recent",
    title: texts.recentJobs,
    scope: "everywhere",
    run: () => (overlays.jobs = "recent"),
    movesFocus: true,
  },
  {
    id: "theme",
    title: texts.theme,
    scope: "everywhere",
    run: switchTheme,
  },
  {
    id: "zoom.in",
    title: texts.zoomIn,
    scope: "everywhere",
    shortcuts: ["Mod++", "Mod+="],
    run: () => zoomBy(1),
    overAll: true,
    repeats: true,
  },
  {
    id: "zoom.out",
    title: texts.zoomOut,
    scope: "everywhere",
    shortcuts: ["Mod+-"],
    run: () => zoomBy(-1),
    overAll: true,
    repeats: true,
  },
  {
    id: "zoom.reset",
    title: texts.actualSize,
    scope: "everywhere",
    shortcuts: ["Mod+0"],
    run: () => setZoom(100),
    overAll: true,
  },
  ...(inApp() ? WINDOW : []),
  {
    id: "shortcuts",
    title: texts.shortcuts,
    scope: "everywhere",
    shortcuts: ["?"],
    run: () => (overlays.shortcuts = true),
    overAll: true,
  },

  { id: "ask.copy", title: texts.ask.copy, scope: "ask", shortcuts: ["Mod+Shift+C"] },
  { id: "ask.starter", title: texts.ask.starter, scope: "ask", shortcuts: ["Mod+Enter"] },

  { id: "list.next", title: texts.list.next, scope: "list", shortcuts: ["j", "ArrowDown"], repeats: true },
  { id: "list.previous", title: texts.list.previous, scope: "list", shortcuts: ["k", "ArrowUp"], repeats: true },
  { id: "list.pageDown", title: texts.list.pageDown, scope: "list", shortcuts: ["PageDown"], repeats: true },
  { id: "list.pageUp", title: texts.list.pageUp, scope: "list", shortcuts: ["PageUp"], repeats: true },
  { id: "list.first", title: texts.list.first, scope: "list", shortcuts: ["Home"] },
  { id: "list.last", title: texts.list.last, scope: "list", shortcuts: ["End"] },
  { id: "list.open", title: texts.list.open, scope: "list", shortcuts: ["Enter"] },
  {
    id: "list.select",
    title: texts.list.select,
    scope: "list",
    shortcuts: ["x", "X", "Space"],
  },

  // Its shortcut works only in the library: elsewhere, a single letter should not leave the pane.
  {
    id: "card.add",
    title: common.addACard,
    scope: "library",
    shortcuts: ["n"],
    run: () => navigation.add(),
  },
  {
    id: "library.selectAll",
    title: texts.selectCards,
    scope: "library",
    shortcuts: ["Mod+A"],
    notWhileTyping: true,
  },
  {
    id: "library.close",
    title: texts.closeCard,
    scope: "library",
    shortcuts: ["Escape"],
    keyOnly: true,
  },
  { id: "card.edit", title: texts.editCard, scope: "card", shortcuts: ["e"] },
  { id: "card.check", title: texts.checkCard, scope: "card", shortcuts: ["c"] },

  { id: "review.next", title: texts.review.next, scope: "review", shortcuts: ["j", "ArrowDown"], repeats: true },
  { id: "review.previous", title: texts.review.previous, scope: "review", shortcuts: ["k", "ArrowUp"], repeats: true },
  { id: "review.accept", title: texts.review.accept, scope: "review", shortcuts: ["a"] },
  { id: "review.reject", title: texts.review.reject, scope: "review", shortcuts: ["r"] },
  { id: "review.acceptSafe", title: texts.review.acceptSafe, scope: "review", shortcuts: ["A"] },
  { id: "review.acceptRepairs", title: texts.review.acceptRepairs, scope: "review", shortcuts: ["L"] },
  { id: "review.select", title: texts.review.select, scope: "review", shortcuts: ["x"] },
  { id: "review.selectRange", title: texts.review.selectRange, scope: "review", shortcuts: ["X"] },
  {
    id: "review.selectAll",
    title: texts.review.selectAll,
    scope: "review",
    shortcuts: ["Mod+A"],
    notWhileTyping: true,
  },
  { id: "review.clearSelection", title: texts.review.clearSelection, scope: "review", shortcuts: ["Escape"] },
  { id: "review.nextField", title: texts.review.nextField, scope: "review", shortcuts: ["J"], repeats: true },
  { id: "review.previousField", title: texts.review.previousField, scope: "review", shortcuts: ["K"], repeats: true },
  { id: "review.tick", title: texts.review.tick, scope: "review", shortcuts: ["Space"] },
  { id: "review.turnDown", title: texts.review.turnDown, scope: "review", shortcuts: ["R"] },
  { id: "review.settle", title: texts.review.settle, scope: "review", shortcuts: ["t"] },
  { id: "review.edit", title: texts.review.edit, scope: "review", shortcuts: ["e"] },
  { id: "review.openPage", title: texts.review.openPage, scope: "review", shortcuts: ["o"] },
  { id: "review.layout", title: texts.review.layout, scope: "review", shortcuts: ["d"] },
  { id: "review.undo", title: texts.review.undo, scope: "review", shortcuts: ["u"] },
  { id: "review.comment", title: texts.review.comment, scope: "review", shortcuts: ["c"] },

  { id: "import.start", title: texts.import.start, scope: "import", shortcuts: ["Mod+Enter"] },
  { id: "import.filter", title: texts.import.filter, scope: "import", shortcuts: ["f"] },
  { id: "import.filterBack", title: texts.import.filterBack, scope: "import", shortcuts: ["F"] },
];

/** Section headings of the shortcut list. */
export const SCOPES: { scope: Scope; name: string }[] = [
  { scope: "everywhere", name: texts.scopes.everywhere },
  { scope: "ask", name: texts.scopes.ask },
  { scope: "list", name: texts.scopes.list },
  { scope: "library", name: texts.scopes.library },
  { scope: "card", name: texts.scopes.card },
  { scope: "review", name: texts.scopes.review },
  { scope: "import", name: texts.scopes.import },
];
