// Modules that are loaded when they are first needed, so that the window starts without them.

/** A module, once it is loaded. Where that fails, what needs it does without, and the next need tries again. */
export class LateModule<M> {
  #value = $state.raw<M | null>(null);
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

  /** Loads the module, unless it is there already. */
  load(): Promise<void> {
    this.#loading ??= this.#read().then(
      (module) => void (this.#value = module),
      (reason: unknown) => {
        this.#loading = null;
        console.warn(`${this.#name}:`, reason);
      },
    );
    return this.#loading;
  }
}
