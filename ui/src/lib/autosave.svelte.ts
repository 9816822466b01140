// Settings that save themselves: what an input shows, whether it is saved, and why not.

import { onDestroy, untrack } from "svelte";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";

interface Options<S, D> {
  /** Returns the stored value; `null` while it is not loaded. */
  stored: () => S | null;
  /** Saves a value. When it resolves, `stored` must return what was saved. */
  save: (value: S) => Promise<unknown>;
  /** Returns what the input shows of a stored value. */
  show: (value: S) => D;
  /** Returns the value of an input in which nothing is wrong. */
  read: (draft: D) => S;
  /** Returns a sentence that says why the input cannot be saved, or `null` if it can. */
  check?: (draft: D) => string | null;
  /** Returns what tells two inputs apart; by default their JSON. */
  key?: (draft: D) => string;
}

/** What is shown beside an input, whatever its type. */
export type FieldState = Pick<AutosavedField<unknown>, "saving" | "saves" | "dirty" | "error" | "problem" | "commit">;

/** An input whose value `S` is saved without a button. `D` is what the input shows. */
export class AutosavedField<S, D = S> {
  #draft = $state.raw() as D;
  /** The same, for when the component is destroyed: there, reactive state reads as it was before the last change. */
  #latest: D;
  #error = $state.raw<CommandError | null>(null);
  #pending = $state(0);
  #saves = $state(0);
  /** Whether the person has finished an input that is invalid: until then it may be only half typed. */
  #tried = $state(false);

  #options: Options<S, D>;
  /** Key of what the input showed when it last agreed with the stored value; `null` before anything was loaded. */
  #base: string | null = null;
  /** Key of the input that was last handed over to be saved. */
  #sent = "";
  #gone = false;

  /** Must be called during component initialization. `empty` is shown until the value is loaded. */
  constructor(empty: D, options: Options<S, D>) {
    this.#options = options;
    const stored = untrack(options.stored);
    this.#latest = stored === null ? empty : options.show(stored);
    this.#draft = this.#latest;
    if (stored !== null) this.#base = this.#key(this.#latest);
    $effect(() => {
      const now = options.stored();
      // While a change is being saved, what is stored may be older than it.
      if (now === null || this.#pending) return;
      untrack(() => this.#follow(now));
    });
    onDestroy(() => {
      // An input that is removed, as when the pane is left by a shortcut, sends no change event.
      if (this.#problemOf(this.#latest) === null && !this.#error) void this.commit();
      this.#gone = true;
    });
  }

  /** What the input shows. Setting it saves nothing: `commit` does, once the person is done. */
  get draft(): D {
    return this.#draft;
  }

  set draft(draft: D) {
    [this.#draft, this.#latest] = [draft, draft];
    if (this.#problemOf(draft) === null) this.#tried = false;
  }

  /** Why the last attempt to save failed. The input stays as it is. */
  get error(): CommandError | null {
    return this.#error;
  }

  /** Why the input cannot be saved, once the person has finished it. */
  get problem(): string | null {
    return this.#tried ? this.#problemOf(this.#draft) : null;
  }

  get saving(): boolean {
    return this.#pending > 0;
  }

  /** Number of changes saved since the component was created. */
  get saves(): number {
    return this.#saves;
  }

  /** Whether the input differs from what is stored or about to be. */
  get dirty(): boolean {
    return this.#differs(this.#draft);
  }

  /** Saves a choice, which is final as soon as it is made. */
  choose(draft: D): Promise<void> {
    this.draft = draft;
    return this.commit();
  }

  /** Saves the input if it is changed and valid. Never rejects: a failure is stored in `error`. */
  async commit(): Promise<void> {
    const draft = this.#latest;
    if (!this.#differs(draft)) {
      // Nothing is left to retry.
      if (!this.#pending) [this.#error, this.#tried] = [null, false];
      return;
    }
    if (this.#problemOf(draft) !== null) {
      this.#tried = true;
      return;
    }
    [this.#error, this.#tried, this.#sent] = [null, false, this.#key(draft)];
    this.#pending++;
    try {
      await this.#options.save(this.#options.read(draft));
      this.#saves++;
    } catch (reason) {
      this.#error = CommandError.from(reason);
      // Nobody would see a note beside the input.
      if (this.#gone) engine.showError(reason);
    } finally {
      this.#pending--;
    }
    // Shows the saved value as it is written, unless the person went on typing.
    if (!this.#gone && !this.#pending && !this.#error && this.#key(this.#latest) === this.#sent) this.reset();
  }

  /** Discards the input and shows what is stored. */
  reset(): void {
    const stored = this.#options.stored();
    if (stored === null) return;
    const shown = this.#options.show(stored);
    const key = this.#key(shown);
    if (key !== this.#key(this.#latest)) [this.#draft, this.#latest] = [shown, shown];
    [this.#base, this.#error, this.#tried] = [key, null, false];
  }

  /** Takes a stored value over unless the person has begun to change the input. */
  #follow(stored: S): void {
    const key = this.#key(this.#options.show(stored));
    if (key === this.#base) return;
    const untouched = this.#base === null || this.#key(this.#latest) === this.#base;
    if (untouched) this.reset();
    this.#base = key;
  }

  #differs(draft: D): boolean {
    const stored = this.#options.stored();
    if (stored === null) return false;
    return this.#key(draft) !== (this.#pending ? this.#sent : this.#key(this.#options.show(stored)));
  }

  #problemOf(draft: D): string | null {
    return this.#options.check?.(draft) ?? null;
  }

  #key(draft: D): string {
    return this.#options.key?.(draft) ?? JSON.stringify(draft);
  }
}

/** Creates a field whose input shows the stored value itself, as a choice does. */
export function autosavedChoice<T>(
  empty: T,
  stored: () => T | null,
  save: (value: T) => Promise<unknown>,
): AutosavedField<T> {
  return new AutosavedField(empty, { stored, save, show: (value) => value, read: (draft) => draft });
}

/** Creates a field for a text, which is saved without the white space around it. */
export function autosavedText(
  stored: () => string | null,
  save: (value: string) => Promise<unknown>,
  check?: (draft: string) => string | null,
): AutosavedField<string> {
  return new AutosavedField("", {
    stored,
    save,
    show: (value) => value,
    read: (draft) => draft.trim(),
    ...(check && { check }),
  });
}
