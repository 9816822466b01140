// Reactive reads from the engine: decides when to reload, which response counts, and which error to show.

import { getContext, setContext, untrack } from "svelte";
import type { Commands, Setting } from "./bindings";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";

type Command = keyof Commands;

/**
 * What makes a value stale. `library`: a change to the cards; `checks`: a stored check result; `proposals`: the review
 * queue; `providers`: the services in use; `sessions`: progress of a question; `team`: how the library and its team's
 * stand; `setting:…`: a stored setting; `jobs`: a job that started or ended; `jobs:…`: the same for jobs of one kind.
 */
export type Topic =
  | "library"
  | "checks"
  | "proposals"
  | "providers"
  | "sessions"
  | "team"
  | "jobs"
  | `jobs:${string}`
  | `setting:${Setting}`;

/** Returns a value that changes whenever the topic does. Reactive. */
function versionOf(topic: Topic): string | number {
  const { missed, restored } = engine.versions;
  // A card that may not be seen any more leaves the position in the change log as it is.
  if (topic === "library") return `${restored} ${engine.status?.cursor ?? 0} ${engine.status?.cards ?? 0}`;
  if (topic === "checks") return `${restored} ${engine.status?.checks ?? 0}`;
  if (topic === "proposals") return missed + engine.versions.queue;
  if (topic === "providers") return missed + engine.versions.services;
  if (topic === "sessions") return missed + engine.versions.sessions;
  if (topic === "team") return missed + engine.versions.team;
  if (topic.startsWith("setting:")) return missed + (engine.versions.settings[topic.slice(8) as Setting] ?? 0);
  const kind = topic === "jobs" ? null : topic.slice(5);
  // Ignores progress: only the set of jobs and their states matter.
  return engine.jobs
    .filter((job) => kind === null || job.kind === kind)
    .map((job) => `${job.id} ${job.state}`)
    .join();
}

export interface ResourceOptions {
  /** Topics that make the value stale and cause it to be reloaded. */
  invalidatedBy?: Topic[];
  /** Milliseconds to wait for further changes of the request. The first request is sent at once. */
  debounce?: number;
  /** Minimum milliseconds between an invalidation and the reload, as invalidations come in bursts. */
  pause?: number;
  /** Whether the value is visible; it is not loaded until then. By default, whether its pane is shown. */
  when?: () => boolean;
  /** Also reload whenever the value becomes visible again, for data that changes without an event. */
  refreshWhenShown?: boolean;
  /** Keep the previous value when the next request fails, for responses that name their request. */
  keepOnError?: boolean;
  /** Show errors as toasts, for components without a place of their own for them. */
  toastErrors?: boolean;
}

const SHOWN = Symbol("shown");

/** Provides whether a pane is shown to the resources in it. Must be called during component initialization. */
export function providePaneShown(shown: () => boolean): void {
  setContext(SHOWN, shown);
}

const always = () => true;

/**
 * Returns a function that says whether the current component's pane is shown. Must be called during component
 * initialization.
 */
export function paneShown(): () => boolean {
  return getContext<(() => boolean) | undefined>(SHOWN) ?? always;
}

/** The response to a request that is expected next. */
interface Prefetched<T> {
  /** The request as JSON. */
  key: string;
  response: Promise<T>;
  /** `null` until the response has arrived. */
  arrived: { value: T } | null;
  /** Whether the value became stale since it was requested. */
  stale: boolean;
}

/** A value from the engine, kept up to date while it is visible. It is replaced as a whole, never mutated. */
export class Resource<Q, T> {
  #value = $state.raw<T | null>(null);
  #error = $state.raw<CommandError | null>(null);
  #loading = $state(false);
  #answered = $state.raw<Q | null>(null);
  #prefetched = $state.raw<Prefetched<T> | null>(null);

  #read: (request: Q) => Promise<T>;
  #request: () => Q | null;
  #options: ResourceOptions;
  /** What is to be read. The effect that sends it runs after components have rendered. */
  #next = $derived.by(() => {
    const request = this.#request();
    return { request, key: JSON.stringify(request) };
  });
  /** The prefetched response to the request that is about to be sent. */
  #ready = $derived(this.#prefetched?.key === this.#next.key ? this.#prefetched.arrived : null);
  /** The latest request, and its JSON, by which requests are compared. */
  #wanted: Q | null = null;
  #wantedKey = "null";
  #answeredKey = "null";
  #shown = false;
  /** Whether the value, or the response being awaited, is out of date. */
  #stale = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Incremented with each read. A response to an earlier read is dropped. */
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

    // This effect must be the first: a resource has to know that it is shown before the request arrives.
    $effect(() => {
      const now = isShown;
      untrack(() => this.#setShown(now));
    });
    $effect(() => {
      const { request, key } = this.#next;
      untrack(() => this.#setRequest(request, key));
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

  /** The latest response; during a reload, the previous one. */
  get value(): T | null {
    return this.#ready ? this.#ready.value : this.#value;
  }

  /** Sets the value from the response of a command that changed it. Reads in progress are dropped as older. */
  set value(value: T | null) {
    const interrupted = this.#loading;
    this.#abandon();
    [this.#value, this.#error, this.#answered, this.#answeredKey] = [value, null, this.#wanted, this.#wantedKey];
    if (interrupted || this.#stale) this.#invalidate();
  }

  /** The error of the last read, or `null` if it succeeded. */
  get error(): CommandError | null {
    return this.#error;
  }

  /** Whether a read is in progress. */
  get loading(): boolean {
    return this.#loading;
  }

  /** The request that `value` belongs to; during a reload, the previous one. */
  get answered(): Q | null {
    return this.#ready ? this.#next.request : this.#answered;
  }

  /**
   * Reads the response to the request that is expected next, and shows it as soon as that becomes the request. If it
   * became stale by then, it is reloaded after `pause`. Only the last one is kept.
   */
  prefetch(request: Q): void {
    const key = JSON.stringify(request);
    const [known, next] = untrack(() => [this.#prefetched, this.#next]);
    if (key === next.key || (known?.key === key && !known.stale)) return;
    const response = this.#read(request);
    const prefetched: Prefetched<T> = { key, response, arrived: null, stale: false };
    this.#prefetched = prefetched;
    response.then(
      (value) => {
        if (this.#prefetched === prefetched) this.#prefetched = { ...prefetched, arrived: { value } };
      },
      () => {
        // Whoever requests it sees why it fails.
        if (this.#prefetched === prefetched) this.#prefetched = null;
      },
    );
  }

  /** Reloads now, even if the value is not visible. Never rejects; a failure is stored in `error`. */
  async refresh(): Promise<void> {
    const { request, key } = untrack(() => this.#next);
    [this.#wanted, this.#wantedKey] = [request, key];
    this.#prefetched = null;
    if (request === null) this.#clear();
    else await this.#load(request);
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
    const prefetched = this.#prefetched?.key === key ? this.#prefetched : null;
    if (next === null) this.#clear();
    else if (prefetched?.arrived) {
      this.#abandon();
      this.#stale = prefetched.stale;
      this.value = prefetched.arrived.value;
    } else if (prefetched) void this.#load(next, prefetched);
    else if (!this.#shown) this.#stale = true;
    else if (first || !this.#options.debounce) void this.#load(next);
    else this.#later(this.#options.debounce);
    this.#prefetched = null;
  }

  #invalidate(): void {
    if (this.#prefetched) this.#prefetched.stale = true;
    if (this.#wanted === null) return;
    this.#stale = true;
    // Does not interrupt a read in progress but reloads after it: a stream of events must not keep it from completing.
    if (this.#shown && !this.#loading && this.#timer === undefined) this.#later(this.#options.pause ?? 0);
  }

  #later(ms: number): void {
    this.#stale = true;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#shown && this.#wanted !== null) void this.#load(this.#wanted);
    }, ms);
  }

  async #load(request: Q, prefetched: Prefetched<T> | null = null): Promise<void> {
    this.#stop();
    const mine = ++this.#reading;
    const key = this.#wantedKey;
    [this.#loading, this.#stale] = [true, prefetched?.stale ?? false];
    try {
      const value = await (prefetched?.response ?? this.#read(request));
      if (mine !== this.#reading) return;
      [this.#value, this.#error, this.#answered, this.#answeredKey] = [value, null, request, key];
    } catch (reason) {
      if (mine !== this.#reading) return;
      const error = CommandError.from(reason);
      this.#error = error;
      // A value that belongs to another request would be taken for the response to this one.
      const other = key !== this.#answeredKey && !this.#options.keepOnError;
      if (other) [this.#value, this.#answered, this.#answeredKey] = [null, null, "null"];
      if (this.#options.toastErrors) engine.showError(error);
    }
    this.#loading = false;
    if (this.#stale) this.#invalidate();
  }

  #clear(): void {
    this.#abandon();
    [this.#value, this.#error, this.#answered, this.#answeredKey] = [null, null, null, "null"];
    this.#stale = false;
  }

  /** Drops the reads in progress and cancels the scheduled one. */
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
 * Reads an engine command for the current component. Reloads when the request changes or an `invalidatedBy` topic
 * fires. While the request is `null`, nothing is read and the value is `null`.
 */
export function resource<C extends Command>(
  command: C,
  request: () => Commands[C]["request"] | null,
  options: ResourceOptions = {},
): Resource<Commands[C]["request"], Commands[C]["response"]> {
  const shown = options.when ?? paneShown();
  return new Resource((given) => engine.call(command, given), request, shown, options);
}

/** Like [`resource`], for a value that several components share and that outlives them. */
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
