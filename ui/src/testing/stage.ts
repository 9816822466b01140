// Setup for component tests: an engine with scripted responses, and stubs for what jsdom lacks because it has no
// layout.

import { cleanup } from "@testing-library/svelte";
import { vi } from "vitest";
import type { Commands, Event, Job, Status } from "../lib/bindings";
import { engine } from "../lib/engine.svelte";
import { CommandError, type Host } from "../lib/host";
import { navigation } from "../lib/navigation.svelte";
import { overlays } from "../lib/overlays.svelte";
import { NO_HEALTH } from "./fixtures";

type Answers = {
  [C in keyof Commands]?: (
    request: Commands[C]["request"],
  ) => Commands[C]["response"] | Promise<Commands[C]["response"]>;
};

/** What every library has, unless a test says otherwise. */
const COMMON: Answers = {
  collections_list: () => [{ name: "Favorites", cards: [] }],
  libraries_list: () => [],
  team_directory: () => null,
};

const STATUS = { cards: 2, cursor: 1, checks: 0, proposals: 0, search: null, llm: null, first_run: false };

/** Stubs `ResizeObserver`, which jsdom lacks. `vi.unstubAllGlobals` removes the stub. */
export function stubResizeObserver(): void {
  vi.stubGlobal(
    "ResizeObserver",
    class {
      observe() {}
      unobserve() {}
      disconnect() {}
    },
  );
}

/**
 * Sets up a test with this engine, clean state and fake timers, in a browser or in the desktop app. Returns the list of calls, which grows as they arrive.
 */
export function stage(answers: Answers, { desktop = false } = {}): { name: keyof Commands; request: unknown }[] {
  const frames = ["requestAnimationFrame", "cancelAnimationFrame"] as const;
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", ...frames] });
  const calls: { name: keyof Commands; request: unknown }[] = [];
  engine.use({
    desktop,
    call: async (name, request) => {
      calls.push({ name, request });
      const answer = (answers[name] ?? COMMON[name]) as ((request: unknown) => unknown) | undefined;
      if (!answer) throw new CommandError({ code: "not_found", message: `nobody answers ${name}`, remedy: "" });
      return (await answer(request)) as never;
    },
    save: async (name) => name,
    listen: async (heard) => ((hear = heard), () => {}),
    requests: async () => () => {},
    links: async () => () => {},
  } satisfies Host);
  engine.status = STATUS as Status;
  [engine.jobs, engine.toasts] = [[] as Job[], []];
  navigation.go("ask");
  [overlays.palette, overlays.shortcuts, overlays.jobs] = [false, false, null];
  [overlays.joining, overlays.creatingTeam] = [null, false];
  stubResizeObserver();
  Element.prototype.scrollTo = () => {};
  Element.prototype.scrollIntoView = () => {};
  return calls;
}

/** As `stage`, with what the whole window reads of a library with two cards. */
export function stageWindow(): { name: keyof Commands; request: unknown }[] {
  const status = { undoable: null, data_dir: "/library", model_state: "ready", model: "small" };
  return stage({
    status_get: () => ({ ...STATUS, proposals: 3, ...status }) as Status,
    jobs_list: () => [],
    approvals_wait: () => new Promise(() => {}),
    providers_get: () => ({ missing: [], keys: [] }) as never,
    sessions_list: () => [],
    proposals_list: () => ({ rows: [], waiting: 0, groups: [] }),
    health_get: () => NO_HEALTH,
    cards_list: () => ({ total: 0, offset: 0, rows: [] }),
    cards_facets: () => ({ kinds: [], languages: [], providers: [], tags: [], health: [], total: 0 }) as never,
    market_sources_list: () => [],
    team_get: () => null,
  });
}

let hear: (event: Event) => void = () => {};

/** Sends an event of the engine, to which the window listens after `engine.connect`. */
export const send = (event: Event): void => hear(event);

/** Cleans up after a test. */
export function clear(): void {
  cleanup();
  vi.useRealTimers();
  vi.unstubAllGlobals();
}

/** Advances the fake timers by `ms`, which also lets pending responses arrive. */
export const wait = (ms = 0): Promise<unknown> => vi.advanceTimersByTimeAsync(ms);

/** Returns the requests of one command in order. */
export function asked<C extends keyof Commands>(
  calls: { name: keyof Commands; request: unknown }[],
  command: C,
): Commands[C]["request"][] {
  return calls.filter(({ name }) => name === command).map(({ request }) => request as Commands[C]["request"]);
}
