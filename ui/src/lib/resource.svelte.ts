// Reading from the engine: one place that knows which answer counts, when to read again, and what went wrong.

import { getContext, setContext, untrack } from "svelte";
import type { Commands, Setting } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";

type Command = keyof Commands;

/**
 * What makes a value out of date: `library`, a change to the cards; `checks`, a check of a card that was kept;
 * `proposals`, the review queue; `providers`, the services in use; `sessions`, a question that went on;
 * `setting:…`, a stored setting; `jobs`, a job that began or ended, or those of one kind.
 */
export type Topic =
  "library" | "checks" | "proposals" | "providers" | "sessions" | "jobs" | `jobs:${string}` | `setting:${Setting}`;

/** Changes whenever what is named did. Reactive. */
function versionOf(topic: Topic): string | number {
  if (topic === "library") return engine.status?.cursor ?? 0;
  if (topic === "checks") return engine.status?.checks ?? 0;
  if (topic === "proposals") return engine.news.queue;
  if (topic === "providers") return engine.news.services;
  if (topic === "sessions") return engine.news.sessions;
  if (topic.startsWith("setting:")) return engine.news.settings[topic.slice(8) as Setting] ?? 0;
  const kind = topic === "jobs" ? null : topic.slice(5);
  // How far a job has got does not matter, only which there are and whether they are over.
  return engine.jobs
    .filter((job) => kind === null || job.kind === kind)
    .map((job) => `${job.id} ${job.state}`)
    .join();
}

export interface ResourceOptions {
  /** What makes the value out of date, so that it is read again. */
  invalidatedBy?: Topic[];
  /** Milliseconds a changed request waits for the next change; the first one never waits. */
  debounce?: number;
  /** Least milliseconds between a change and the reading it causes: changes come in bursts. */
  pause?: number;
  /** Whether anybody looks at the value. Until then it is not read; by default, whether its pane is shown. */
  when?: () => boolean;
  /** Also read again each time somebody looks after nobody did: for what changes without an event. */
  refreshWhenShown?: boolean;
  /** Keep the answer to the request before when the next one fails: for answers that say what they answer. */
  keepOnError?: boolean;
  /** Show errors at the edge of the window, for a reader that has no place of its own for them. */
  toastErrors?: boolean;
}

const SHOWN = Symbol("shown");

/** Tells the resources of a pane whether it is shown. Called while the pane is created. */
export function providePaneShown(shown: () => boolean): void {
  setContext(SHOWN, shown);
}

const always = () => true;

/** Whether the pane of the component that is being created is shown. */
export function paneShown(): () => boolean {
  return getContext<(() => boolean) | undefined>(SHOWN) ?? always;
}

/** A value of the engine, kept up to date while somebody looks at it. Replaced as a whole, never changed inside. */
export class Resource<Q, T> {
  #value = $state.raw<T | null>(null);
  #error = $state.raw<CommandError | null>(null);
  #loading = $state(false);
  #answered = $state.raw<Q | null>(null);

  #read: (request: Q) => Promise<T>;
  #request: () => Q | null;
  #options: ResourceOptions;
  /** The request that is to be answered, and as text: two that say the same are the same. */
  #wanted: Q | null = null;
  #wantedKey = "null";
  #answeredKey = "null";
  #shown = false;
  /** What is known, or being read, is out of date. */
  #stale = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Of several readings under way the last one counts; nothing counts any more once this was raised. */
  #reading = 0;

  constructor(
    read: (request: Q) => Promise<T>,
    request: () => Q | null,
    shown: () => boolean,
    options: ResourceOptions,
  ) {
    [this.#read, this.#request, this.#options] = [read, request, options];
    const version = $derived((options.invalidatedBy ?? []).map(versionOf).join("\n"));
    const isShown = $derived(shown());
    let known = untrack(() => version);

    // In this order: what is shown for the first time is known to be when the request comes.
    $effect(() => {
      const now = isShown;
      untrack(() => this.#setShown(now));
    });
    $effect(() => {
      const next = this.#request();
      const key = JSON.stringify(next);
      untrack(() => this.#setRequest(next, key));
    });
    $effect(() => {
      if (version === known) return;
      known = version;
      untrack(() => this.#invalidate());
    });
    $effect(() => () => {
      this.#shown = false;
      this.#abandon();
    });
  }

  /** The newest answer; the one before while the next is on its way. */
  get value(): T | null {
    return this.#value;
  }

  /** Puts the answer of a command that changed something in place; readings under way are older. */
  set value(value: T | null) {
    const interrupted = this.#loading;
    this.#abandon();
    [this.#value, this.#error, this.#answered, this.#answeredKey] = [value, null, this.#wanted, this.#wantedKey];
    if (interrupted || this.#stale) this.#invalidate();
  }

  /** Why the last reading failed; none once one worked. */
  get error(): CommandError | null {
    return this.#error;
  }

  /** Whether an answer is on its way. */
  get loading(): boolean {
    return this.#loading;
  }

  /** The request `value` answers: while the next answer is on its way, the one before. */
  get answered(): Q | null {
    return this.#answered;
  }

  /** Reads now, whether or not anybody looks. Settles once it is answered; a failure is in `error`. */
  async refresh(): Promise<void> {
    const next = untrack(this.#request);
    [this.#wanted, this.#wantedKey] = [next, JSON.stringify(next)];
    if (next === null) this.#clear();
    else await this.#load(next);
  }

  #setShown(shown: boolean): void {
    const before = this.#shown;
    this.#shown = shown;
    if (before && !shown && this.#options.refreshWhenShown) this.#stale = true;
    if (!shown || before || this.#wanted === null) return;
    if (this.#stale) void this.#load(this.#wanted);
  }

  #setRequest(next: Q | null, key: string): void {
    if (key === this.#wantedKey) return;
    const first = this.#wanted === null;
    [this.#wanted, this.#wantedKey] = [next, key];
    this.#stop();
    if (next === null) this.#clear();
    else if (!this.#shown) this.#stale = true;
    else if (first || !this.#options.debounce) void this.#load(next);
    else this.#later(this.#options.debounce);
  }

  #invalidate(): void {
    if (this.#wanted === null) return;
    this.#stale = true;
    // A reading under way is let go on, and another follows: events that never stop must not keep it from ending.
    if (this.#shown && !this.#loading && this.#timer === undefined) this.#later(this.#options.pause ?? 0);
  }

  #later(ms: number): void {
    this.#stale = true;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#shown && this.#wanted !== null) void this.#load(this.#wanted);
    }, ms);
  }

  async #load(request: Q): Promise<void> {
    this.#stop();
    const mine = ++this.#reading;
    const key = this.#wantedKey;
    [this.#loading, this.#stale] = [true, false];
    try {
      const value = await this.#read(request);
      if (mine !== this.#reading) return;
      [this.#value, this.#error, this.#answered, this.#answeredKey] = [value, null, request, key];
    } catch (reason) {
      if (mine !== this.#reading) return;
      const error = CommandError.from(reason);
      this.#error = error;
      // What answers another request would be taken for the answer to this one.
      const other = key !== this.#answeredKey && !this.#options.keepOnError;
      if (other) [this.#value, this.#answered, this.#answeredKey] = [null, null, "null"];
      if (this.#options.toastErrors) engine.complain(error);
    }
    this.#loading = false;
    if (this.#stale) this.#invalidate();
  }

  #clear(): void {
    this.#abandon();
    [this.#value, this.#error, this.#answered, this.#answeredKey] = [null, null, null, "null"];
    this.#stale = false;
  }

  /** Lets no reading under way count, and begins none. */
  #abandon(): void {
    this.#stop();
    this.#reading++;
    this.#loading = false;
  }

  #stop(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }
}

/**
 * Reads a command of the engine for the component that is being created: with what `request` gives, again whenever
 * that changes or `invalidatedBy` tells. A request of `null` asks nothing, and then nothing is known.
 */
export function resource<C extends Command>(
  command: C,
  request: () => Commands[C]["request"] | null,
  options: ResourceOptions = {},
): Resource<Commands[C]["request"], Commands[C]["response"]> {
  const shown = options.when ?? paneShown();
  return new Resource((given) => engine.call(command, given), request, shown, options);
}

/** As [`resource`], for a value that several components show, and that stays while none of them is there. */
export function sharedResource<C extends Command>(
  command: C,
  request: () => Commands[C]["request"] | null,
  options: ResourceOptions = {},
): Resource<Commands[C]["request"], Commands[C]["response"]> {
  let made: Resource<Commands[C]["request"], Commands[C]["response"]> | undefined;
  $effect.root(() => {
    made = new Resource((given) => engine.call(command, given), request, options.when ?? always, options);
  });
  if (!made) throw new Error("the effect of a shared resource did not run");
  return made;
}
