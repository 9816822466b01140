// Changes that must not overlap.

/** Runs asynchronous work one at a time, in the order in which it was handed over. */
export class Queue {
  #last: Promise<unknown> = Promise.resolve();

  run<T>(work: () => Promise<T>): Promise<T> {
    const done = this.#last.then(work, work);
    this.#last = done;
    return done;
  }

  /** Resolves once everything handed over so far has ended, whether or not it succeeded. */
  async settled(): Promise<void> {
    await this.#last.catch(() => {});
  }
}

/**
 * Returns a function that changes part of an object which is only read and written as a whole. Each change starts from
 * what is stored at that moment, so that two of them, or one from elsewhere, do not undo each other.
 */
export function changes<T, R>(
  get: () => Promise<T>,
  set: (value: T) => Promise<R>,
  queue = new Queue(),
): (update: (now: T) => T) => Promise<R> {
  return (update) => queue.run(async () => set(update(await get())));
}
