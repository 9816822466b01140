// Documentation of a tool, refined by trial calls: what would be called, what that needs, and the run.

import type { Need, RefinePlan } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";

export class Refining {
  /** Whether tools that may change something are called. */
  allowChanges = $state(false);
  plan = $state.raw<RefinePlan | null>(null);
  /** Permissions the user has to grant before the calls. */
  asks = $state.raw<{ needs: Need[]; words: string[] } | null>(null);
  error = $state.raw<CommandError | null>(null);
  busy = $state(false);
  /** Whether the run was started; its progress is shown with the other jobs. */
  started = $state(false);

  #tool: string;

  constructor(tool: string) {
    this.#tool = tool;
  }

  #request(granted: Need[], dryRun: boolean) {
    return {
      scope: { of: "tools" as const, tools: [this.#tool] },
      profile: "",
      allow_changes: this.allowChanges,
      granted,
      dry_run: dryRun,
    };
  }

  async #ask<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.busy) return undefined;
    [this.busy, this.error, this.asks] = [true, null, null];
    try {
      return await work();
    } catch (reason) {
      this.error = CommandError.from(reason);
      return undefined;
    } finally {
      this.busy = false;
    }
  }

  /** Asks for the calls without making them. */
  async preview(): Promise<void> {
    const told = await this.#ask(() => engine.call("refine_start", this.#request([], true)));
    if (told?.state === "planned") this.plan = told.tools[0] ?? null;
  }

  /** Starts the calls. If permissions are missing, sets `asks` instead. */
  async start(granted: Need[] = []): Promise<void> {
    const told = await this.#ask(() => engine.call("refine_start", this.#request(granted, false)));
    if (told?.state === "asks") this.asks = told;
    if (told?.state === "started") this.started = true;
  }
}
