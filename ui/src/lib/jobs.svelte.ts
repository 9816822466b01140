// What the line of jobs shows: jobs that run, and outcomes for some time after their end.

import { untrack } from "svelte";
import { SvelteSet } from "svelte/reactivity";
import { app as texts } from "../texts/app";
import type { Job } from "./bindings";
import { engine } from "./engine.svelte";
import { Expiry } from "./expiry";
import { bytes, duration } from "./format";
import { visibleLine } from "./visible";
import type { IconName } from "../parts/Icon.svelte";

/** How long the outcome of a job stays in the line, in milliseconds; failures stay until they are hidden. */
export const OUTCOME_MS = 10_000;

/** Returns whether a job changed cards that can be shown. */
export const changedCards = ({ tally }: Job): boolean => !!tally && tally.added + tally.changed > 0;

/** Returns whether a job left something to decide in Review. */
export const leftProposals = ({ tally }: Job): boolean => !!tally && tally.proposed + tally.conflicting > 0;

/** Returns how the outcome of a job is marked. Its text says the same. */
export function markOf({ state, tally }: Job): { icon: IconName; kind: "good" | "warn" | "bad" | "muted" } {
  if (state === "failed") return { icon: "warning", kind: "bad" };
  if (state !== "done") return { icon: "stop", kind: "muted" };
  return tally?.rejected ? { icon: "warning", kind: "warn" } : { icon: "check", kind: "good" };
}

/** Returns the title of a job and how it ended, in one line. */
export function outcomeOf(job: Job): string {
  const outcome = job.state === "cancelled" ? texts.stopped : (job.summary ?? job.error?.message ?? "");
  return visibleLine(texts.jobSummary(job.title, outcome));
}

/** Returns how far a running job is: what it waits for, the amount done, and the time left. */
export function progressOf(job: Job): string {
  const show = job.unit === "bytes" ? bytes : (n: number) => n.toLocaleString("en");
  const amount = job.total ? texts.amount(show(job.done), show(job.total)) : "";
  const rest = job.paused ? texts.jobWaits : job.eta_ms ? texts.left(duration(job.eta_ms)) : "";
  return `${job.note ? `${visibleLine(job.note)} ` : ""}${amount}${rest}`;
}

/** The jobs of the engine, as the line at the bottom of the window shows them. */
export class JobLine {
  /** Running jobs; the one that started last comes first. */
  readonly running = $derived(engine.jobs.filter((job) => job.state === "running"));
  /** Ended jobs; the one that started last comes first. */
  readonly ended = $derived(engine.jobs.filter((job) => job.state !== "running"));
  /** Ids of the jobs that were paused but are still finishing what they have started. */
  readonly pausing = new SvelteSet<string>();
  /** Title and outcome of the job that succeeded or was stopped last. */
  announcement = $state("");

  /** Ids of the ended jobs that are still shown. */
  #shown = $state.raw<string[]>([]);
  /** Ids of the jobs whose end was noticed. */
  readonly #noticed = new Set<string>();
  readonly #expiry = new Expiry<string>((id) => this.#remove([id]));

  /** Failed jobs that nobody has hidden. */
  readonly failed = $derived(this.ended.filter((job) => job.state === "failed" && this.#shown.includes(job.id)));
  readonly #leaving = $derived(this.ended.filter((job) => job.state !== "failed" && this.#shown.includes(job.id)));
  /** The ended job to show, preferably one with something to do; while jobs run, failures are only counted. */
  readonly outcome = $derived(
    this.#leaving.find((job) => changedCards(job) || leftProposals(job)) ??
      this.#leaving[0] ??
      (this.running.length ? undefined : this.failed[0]),
  );

  /** Notices jobs that ended; called from an effect, it follows the jobs of the engine. */
  follow(): void {
    const news = this.ended.filter((job) => !this.#noticed.has(job.id));
    if (!news.length) return;
    untrack(() => {
      for (const job of news) {
        this.#noticed.add(job.id);
        if (job.state !== "failed") this.#expiry.start(job.id, OUTCOME_MS);
      }
      this.#shown = [...this.#shown, ...news.map(({ id }) => id)];
      // Failures are announced as error messages.
      const best = news.find((job) => job.state !== "failed");
      if (best) this.announcement = outcomeOf(best);
    });
  }

  /** Hides an outcome. What would follow in its place was not asked for, so only failures do. */
  hide(job: Job): void {
    this.#remove(job.state === "failed" ? [job.id] : this.#leaving.map(({ id }) => id));
  }

  /** Keeps outcomes in the line while it is read or used. */
  hold(held: boolean): void {
    this.#expiry.hold(held);
  }

  /** Pauses a running job or resumes it. */
  async pause(job: Job): Promise<void> {
    const paused = !job.paused;
    try {
      await engine.call("jobs_pause", { job: job.id, paused });
      if (paused) this.pausing.add(job.id);
      else this.pausing.delete(job.id);
    } catch (reason) {
      engine.showError(reason);
    }
  }

  /** Stops a running job. */
  async stop(job: Job): Promise<void> {
    try {
      await engine.call("jobs_cancel", { job: job.id });
    } catch (reason) {
      engine.showError(reason);
    }
  }

  #remove(ids: string[]): void {
    ids.forEach((id) => this.#expiry.stop(id));
    this.#shown = this.#shown.filter((id) => !ids.includes(id));
  }
}
