// Modules that are loaded when they are first needed, so that the window starts without them.

/** A module, once it is loaded. If that fails, the next call of `load` tries again. */
export class LazyModule<M> {
  #value = $state.raw<M | null>(null);
  #failed = $state(false);
  #loading: Promise<void> | null = null;
  readonly #name: string;
  readonly #read: () => Promise<M>;

  /** `name` is said in the console when loading fails. */
  constructor(name: string, read: () => Promise<M>) {
    [this.#name, this.#read] = [name, read];
  }

  /** The module; `null` until it is loaded. Reactive. */
  get value(): M | null {
    return this.#value;
  }

  /** Whether it could not be loaded the last time. Reactive. */
  get failed(): boolean {
    return this.#failed;
  }

  /** Loads the module, unless it is there already. Never rejects. */
  load(): Promise<void> {
    if (this.#loading) return this.#loading;
    this.#failed = false;
    this.#loading = this.#read().then(
      (module) => void (this.#value = module),
      (reason: unknown) => {
        [this.#loading, this.#failed] = [null, true];
        console.warn(`${this.#name}:`, reason);
      },
    );
    return this.#loading;
  }
}
