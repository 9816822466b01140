// The engine as the pages see it: one host, its status, its jobs, and short messages.

import type { Commands, Event, Job, Setting, Status } from "./bindings";
import { CommandError, detectHost, type Host } from "./host";
import { app as texts } from "../texts/app";

/** A short message at the edge of the window. */
export interface Toast {
  id: number;
  text: string;
  kind: "info" | "error";
  /** What it is about: a newer message about the same takes its place. */
  topic?: string;
  remedy?: string;
  action?: { label: string; run: () => void };
}

const TOAST_MS = 6000;

class Engine {
  status = $state<Status | null>(null);
  /** Why the library could not be opened. */
  failure = $state<CommandError | null>(null);
  jobs = $state<Job[]>([]);
  toasts = $state<Toast[]>([]);
  /** Each grows when what it is named after changes, so that a pane reads it anew. */
  news = $state({ queue: 0, services: 0, sessions: 0, settings: {} as Partial<Record<Setting, number>> });

  #host: Host | null = null;
  #next = 0;
  #stop: (() => void) | null = null;

  /** The way to the engine; tests put their own in. */
  use(host: Host): void {
    this.#host = host;
  }

  get host(): Host {
    this.#host ??= detectHost();
    return this.#host;
  }

  /** Carries out a command. */
  call<C extends keyof Commands>(name: C, request: Commands[C]["request"]): Promise<Commands[C]["response"]> {
    return this.host.call(name, request);
  }

  /** Reads the status and the jobs and listens from then on. */
  async connect(): Promise<void> {
    this.#stop?.();
    this.failure = null;
    try {
      // First the ears, then the eyes: a change between the two would go unseen otherwise.
      this.#stop = await this.host.listen((event) => this.#hear(event));
      await this.refresh();
      this.jobs = await this.call("jobs_list", {});
    } catch (reason) {
      this.failure = CommandError.from(reason);
    }
  }

  async refresh(): Promise<void> {
    this.status = await this.call("status_get", {});
  }

  #hear(event: Event): void {
    if (event.event === "job") {
      const at = this.jobs.findIndex((job) => job.id === event.job.id);
      // News can overtake each other; the version tells which is newer.
      if (at < 0) this.jobs.unshift(event.job);
      else if ((this.jobs[at]?.version ?? 0) < event.job.version) this.jobs[at] = event.job;
      // Who calls a tool looks at what comes of it.
      if (event.job.state === "failed" && event.job.error && event.job.kind !== "call") {
        this.say(event.job.error.message, { kind: "error", remedy: event.job.error.remedy });
      }
      if (event.job.state !== "running") void this.#quietly(this.refresh());
    } else if (event.event === "session") {
      // Every step of the agent is news; nothing in the status depends on it.
      this.news.sessions++;
    } else if (event.event === "setting") {
      this.news.settings[event.setting] = (this.news.settings[event.setting] ?? 0) + 1;
    } else if (event.event === "proposals") {
      this.news.queue++;
      if (this.status) this.status.proposals = event.waiting;
    } else {
      if (event.event === "providers") this.news.services++;
      void this.#quietly(this.refresh());
    }
  }

  /** A refresh that fails says so by what the next command answers. */
  async #quietly(work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (reason) {
      console.warn("status:", reason);
    }
  }

  /** Shows a short message. */
  say(text: string, more: Partial<Omit<Toast, "id" | "text">> = {}): void {
    const toast: Toast = { id: ++this.#next, text, kind: "info", ...more };
    const same = (other: Toast) => other.text === toast.text || (!!toast.topic && other.topic === toast.topic);
    this.toasts = [...this.toasts.filter((other) => !same(other)), toast];
    setTimeout(() => this.dismiss(toast.id), toast.kind === "error" ? TOAST_MS * 2 : TOAST_MS);
  }

  /** Shows what went wrong. */
  complain(reason: unknown): void {
    const error = CommandError.from(reason);
    this.say(error.message, { kind: "error", remedy: error.remedy });
  }

  dismiss(id: number): void {
    this.toasts = this.toasts.filter((toast) => toast.id !== id);
  }

  /** Takes the newest change to the library back. */
  async undo(): Promise<void> {
    try {
      const undone = await this.call("changes_undo", {});
      this.say(texts.undone(undone.reason, undone.kept.length));
    } catch (reason) {
      this.complain(reason);
    }
  }
}

export const engine = new Engine();
