// Messages that leave by themselves after some time, but not while somebody reads or uses them.

/** Calls `leave` for each message once its time is up; while held, no time passes. */
export class Expiry<Id> {
  readonly #leave: (id: Id) => void;
  /** How long each message is shown, in milliseconds. */
  readonly #times = new Map<Id, number>();
  readonly #timers = new Map<Id, ReturnType<typeof setTimeout>>();
  #held = false;

  constructor(leave: (id: Id) => void) {
    this.#leave = leave;
  }

  /** Starts the time of a message that is shown for `ms` milliseconds. */
  start(id: Id, ms: number): void {
    this.stop(id);
    this.#times.set(id, ms);
    if (!this.#held) this.#count(id, ms);
  }

  /** Forgets a message that was removed otherwise. */
  stop(id: Id): void {
    clearTimeout(this.#timers.get(id));
    this.#timers.delete(id);
    this.#times.delete(id);
  }

  /** Keeps all messages while `held`; released, each is shown for its full time again. */
  hold(held: boolean): void {
    if (held === this.#held) return;
    this.#held = held;
    this.#timers.forEach((timer) => clearTimeout(timer));
    this.#timers.clear();
    if (!held) this.#times.forEach((ms, id) => this.#count(id, ms));
  }

  #count(id: Id, ms: number): void {
    this.#timers.set(
      id,
      setTimeout(() => {
        this.stop(id);
        this.#leave(id);
      }, ms),
    );
  }
}
