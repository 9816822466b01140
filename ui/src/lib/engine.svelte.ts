// The connection to the engine: host, status, jobs and toasts.

import type { Commands, Event, Job, Setting, Status } from "./bindings";
import { Expiry } from "./expiry";
import { moment } from "./format";
import { CommandError, detectHost, type Host } from "./host";
import { navigation } from "./navigation.svelte";
import { visibleLine } from "./visible";
import { app as texts } from "../texts/app";
import { common } from "../texts/common";

/** A toast message. */
export interface Toast {
  id: number;
  text: string;
  /** A `note` says that nothing was done, which is neither a success nor an error. */
  kind: "info" | "note" | "error";
  /** Subject of the message. A new toast replaces an earlier one with the same topic. */
  topic?: string;
  remedy?: string;
  action?: { label: string; run: () => void };
}

const TOAST_MS = 6000;

/** Returns the id of the job that a command has started, if it has. */
function startedJob(response: unknown): string | null {
  const isObject = typeof response === "object" && response !== null;
  return isObject && "job" in response && typeof response.job === "string" ? response.job : null;
}

class Engine {
  status = $state<Status | null>(null);
  /** Why the library could not be opened. */
  failure = $state<CommandError | null>(null);
  jobs = $state<Job[]>([]);
  toasts = $state<Toast[]>([]);
  /** Counters that are incremented when the data they are named after changes, so that panes reload it. */
  versions = $state({
    queue: 0,
    services: 0,
    sessions: 0,
    missed: 0,
    team: 0,
    /** Increases when the library was replaced with a backup, whose positions may be those of the replaced one. */
    restored: 0,
    settings: {} as Partial<Record<Setting, number>>,
  });

  /** Name of the backup that this window is restoring; `null` if none. */
  restoring = $state<string | null>(null);

  #host: Host | null = null;
  #next = 0;
  #stop: (() => void) | null = null;

  /** Sets the host; tests pass their own. */
  use(host: Host): void {
    this.#host = host;
  }

  get host(): Host {
    this.#host ??= detectHost();
    return this.#host;
  }

  /** Sends a command to the engine and returns its response. */
  async call<C extends keyof Commands>(name: C, request: Commands[C]["request"]): Promise<Commands[C]["response"]> {
    const response = await this.host.call(name, request);
    const id = startedJob(response);
    if (id !== null) {
      this.#started.add(id);
      // The news of it may have been faster.
      const job = this.jobs.find((job) => job.id === id);
      if (job) this.#reportFailure(job);
    }
    return response;
  }

  /** Ids of the jobs started by this window. */
  #started = new Set<string>();

  /** Shows why a job failed. Jobs that nobody asked for here only say so in the line of jobs. */
  #reportFailure(job: Job): void {
    // A call's caller displays its result.
    if (job.state !== "failed" || !job.error || job.kind === "call" || !this.#started.has(job.id)) return;
    this.showToast(job.error.message, { kind: "error", remedy: job.error.remedy });
  }

  /** Subscribes to events and loads the status and the jobs. */
  async connect(): Promise<void> {
    this.#stop?.();
    this.failure = null;
    try {
      // Subscribes before loading, so that no change in between is missed.
      this.#stop = await this.host.listen((event) => this.#hear(event));
      await this.#refreshAll();
    } catch (reason) {
      this.failure = CommandError.from(reason);
    }
  }

  async #refreshAll(): Promise<void> {
    await this.refresh();
    this.jobs = await this.call("jobs_list", {});
  }

  async refresh(): Promise<void> {
    this.status = await this.call("status_get", {});
  }

  #hear(event: Event): void {
    if (event.event === "job") {
      const at = this.jobs.findIndex((job) => job.id === event.job.id);
      // Events may arrive out of order; the version tells which one is newer.
      if (at < 0) this.jobs.unshift(event.job);
      else if ((this.jobs[at]?.version ?? 0) < event.job.version) this.jobs[at] = event.job;
      this.#reportFailure(event.job);
      if (event.job.state !== "running") void this.#quietly(this.refresh());
    } else if (event.event === "session") {
      // Sent for every step of the agent. The status does not depend on sessions, so it is not reloaded.
      this.versions.sessions++;
    } else if (event.event === "setting") {
      this.versions.settings[event.setting] = (this.versions.settings[event.setting] ?? 0) + 1;
    } else if (event.event === "team") {
      // What arrived from the team is told as any change of the library is.
      this.versions.team++;
    } else if (event.event === "team_notice") {
      const { kind, by, card, proposal, text } = event.notice;
      this.showToast(texts.told[kind](visibleLine(by ?? texts.somebody), visibleLine(card)), {
        remedy: visibleLine(text),
        action: { label: texts.openMessage, run: () => navigation.review(proposal) },
      });
    } else if (event.event === "missed") {
      this.#readAll();
    } else if (event.event === "restored") {
      this.#reportRestored(event);
      if (!event.error) this.versions.restored++;
      this.#readAll();
    } else if (event.event === "proposals") {
      this.versions.queue++;
      if (this.status) this.status.proposals = event.waiting;
    } else {
      if (event.event === "providers") this.versions.services++;
      void this.#quietly(this.refresh());
    }
  }

  /** Makes everything that is shown be read again. */
  #readAll(): void {
    // Its outcome may be what was missed.
    this.restoring = null;
    this.versions.missed++;
    void this.#quietly(this.#refreshAll());
  }

  /** Says whether the library was replaced with a backup, and where the replaced one is. */
  #reportRestored({ backup, replaced, error }: Extract<Event, { event: "restored" }>): void {
    // A page that connects later is told as well.
    if (this.#askedFor !== backup.name) return;
    this.#askedFor = null;
    if (error) this.showToast(error.message, { kind: "error", remedy: error.remedy });
    else this.showToast(texts.restored(moment(backup.created_at), replaced));
  }

  /** Name of the backup whose outcome this window reports. */
  #askedFor: string | null = null;

  /** Starts to restore a backup. Its outcome arrives as an event, and until then `restoring` names it. */
  async restore(name: string): Promise<void> {
    this.restoring = this.#askedFor = name;
    try {
      await this.call("backups_restore", { name });
    } catch (reason) {
      this.restoring = this.#askedFor = null;
      throw reason;
    }
  }

  /** Logs a failed refresh without a toast: the next command will report the error. */
  async #quietly(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (reason) {
      console.warn("status:", reason);
    }
  }

  /** Shows a toast. */
  showToast(text: string, more: Partial<Omit<Toast, "id" | "text">> = {}): void {
    const toast: Toast = { id: ++this.#next, text, kind: "info", ...more };
    const same = (other: Toast) => other.text === toast.text || (!!toast.topic && other.topic === toast.topic);
    for (const other of this.toasts.filter(same)) this.dismiss(other.id);
    this.toasts = [...this.toasts, toast];
    this.#expiry.start(toast.id, toast.kind === "error" ? TOAST_MS * 2 : TOAST_MS);
  }

  #expiry = new Expiry<number>((id) => this.dismiss(id));

  /** Keeps the toasts while they are read or used; released, each is shown for its full time again. */
  holdToasts(held: boolean): void {
    this.#expiry.hold(held);
  }

  /** Shows an error as a toast. */
  showError(reason: unknown): void {
    const error = CommandError.from(reason);
    this.showToast(error.message, { kind: "error", remedy: error.remedy });
  }

  dismiss(id: number): void {
    this.#expiry.stop(id);
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
  }

  /** Ids of the changes undone in this window and not redone since. */
  #undone = new Set<string>();

  /** Whether a change was undone in this window and not redone since. */
  isUndone(change: string): boolean {
    return this.#undone.has(change);
  }

  /** Undoes a change by its id, or the newest one; returns whether that succeeded. */
  async undo(change?: string): Promise<boolean> {
    try {
      const undone = await this.call("changes_undo", change === undefined ? {} : { change });
      const { undo } = undone;
      this.#undone.add(undone.change);
      this.showToast(texts.undone(undone.reason, undone.kept.length), {
        topic: "undo",
        ...(undo === null ? {} : { action: { label: common.redo, run: () => void this.redo(undo) } }),
      });
      return true;
    } catch (reason) {
      this.#showUndoError(reason, change === undefined ? texts.nothingToUndo : null);
      return false;
    }
  }

  /** Shows why nothing was undone or redone. That there was nothing is no error. */
  #showUndoError(reason: unknown, nothing: string | null): void {
    if (nothing === null || CommandError.from(reason).code !== "not_found") this.showError(reason);
    else this.showToast(nothing, { kind: "note", topic: "undo" });
  }

  /** Redoes what an undo took back, by the id of the undo, or the newest one. */
  async redo(undo?: string): Promise<void> {
    try {
      const redone = await this.call("changes_redo", undo === undefined ? {} : { undo });
      this.#undone.delete(redone.change);
      this.showToast(texts.redone(redone.reason, redone.kept.length), {
        topic: "undo",
        action: this.undoAction(redone.change),
      });
    } catch (reason) {
      this.#showUndoError(reason, undo === undefined ? texts.nothingToRedo : null);
    }
  }

  /** Returns the button of a toast that undoes the change it is about. */
  undoAction(change: string): { label: string; run: () => void } {
    return { label: common.undo, run: () => void this.undo(change) };
  }
}

export const engine = new Engine();
