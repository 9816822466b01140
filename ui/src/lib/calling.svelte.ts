// A tool call made by the user: its arguments, the permissions it needs, and its result.

import type { Need, ToolOutcome } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";
import { card as texts } from "../texts/card";

/** Parses the arguments, or returns why they are invalid. */
export function argumentsOf(typed: string): { value: Record<string, unknown> } | { problem: string } {
  if (!typed.trim()) return { value: {} };
  try {
    const value: unknown = JSON.parse(typed);
    if (value && typeof value === "object" && !Array.isArray(value)) return { value: value as Record<string, unknown> };
    return { problem: texts.noObject };
  } catch (reason) {
    return { problem: texts.argumentsNotJson(reason instanceof Error ? reason.message : String(reason)) };
  }
}

export class Calling {
  typed = $state("");
  error = $state.raw<CommandError | null>(null);
  /** Permissions the user has to grant before the call. */
  asks = $state.raw<{ needs: Need[]; words: string[] } | null>(null);
  /** Job of the running call. */
  job = $state<string | null>(null);
  busy = $state(false);
  outcome = $state.raw<ToolOutcome | null>(null);

  #tool: string;
  /** Incremented with each call; only the latest one may update the state. */
  #call = 0;

  constructor(tool: string) {
    this.#tool = tool;
  }

  /** Fills in example arguments if nothing has been entered. */
  suggest(example: unknown): void {
    this.typed ||= JSON.stringify(example, null, 2);
  }

  /** Calls the tool. If permissions are missing, sets `asks` instead. */
  async run(granted: Need[] = []): Promise<void> {
    const read = argumentsOf(this.typed);
    if ("problem" in read || this.busy) return;
    const mine = ++this.#call;
    [this.busy, this.error, this.asks, this.outcome] = [true, null, null, null];
    try {
      const told = await engine.call("tools_run", { tool: this.#tool, profile: "", arguments: read.value, granted });
      if (told.state === "asks") {
        this.asks = told;
        return;
      }
      this.job = told.job;
      const outcome = await this.#answered(told.job);
      if (mine === this.#call) this.outcome = outcome;
    } catch (reason) {
      if (mine === this.#call) this.error = CommandError.from(reason);
    } finally {
      if (mine === this.#call) [this.busy, this.job] = [false, null];
    }
  }

  async #answered(job: string): Promise<ToolOutcome> {
    for (let after = 0; ;) {
      const now = await engine.call("jobs_wait", { job, after });
      if (now.state === "done") return engine.call("tools_outcome", { job });
      if (now.state !== "running")
        throw new CommandError(now.error ?? { code: "cancelled", message: texts.stopped, remedy: "" });
      after = now.version;
    }
  }

  async stop(): Promise<void> {
    if (this.job)
      await engine.call("jobs_cancel", { job: this.job }).catch((reason: unknown) => engine.showError(reason));
  }
}
