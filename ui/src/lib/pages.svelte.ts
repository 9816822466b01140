// The rows of a long list, read in pages around what is seen.

/** Pages kept; the oldest are forgotten. */
const KEPT = 40;

export class Pages<T> {
  /** Rows of a page. */
  readonly size: number;
  #read: (offset: number, limit: number) => Promise<T[]>;
  #known = $state.raw(new Map<number, T[]>());
  #asked = new Set<number>();
  /** Answers to what was asked before the list became another one are dropped. */
  #list = 0;
  #outdated = false;

  constructor(size: number, read: (offset: number, limit: number) => Promise<T[]>) {
    [this.size, this.#read] = [size, read];
  }

  /** The row at a place of the list, if it was read. */
  at(place: number): T | undefined {
    return this.#known.get(Math.floor(place / this.size))?.[place % this.size];
  }

  /** The list is another one. What is on screen stays until its replacement is here, so that nothing flickers. */
  invalidate(): void {
    this.#list++;
    this.#asked.clear();
    this.#outdated = true;
  }

  /** The list is another one, and begins with these rows. */
  reset(first: T[]): void {
    this.#list++;
    this.#asked = new Set([0]);
    this.#outdated = false;
    this.#known = new Map([[0, first]]);
  }

  /** Reads what is between two places, if it was not. Throws where that fails; it is then asked for again. */
  async ensure(from: number, to: number): Promise<void> {
    const list = this.#list;
    const wanted: number[] = [];
    for (let page = Math.floor(from / this.size); page <= Math.floor(Math.max(from, to - 1) / this.size); page++) {
      if (!this.#asked.has(page)) wanted.push(page);
    }
    if (!wanted.length) return;
    for (const page of wanted) this.#asked.add(page);
    try {
      const read = await Promise.all(wanted.map((page) => this.#read(page * this.size, this.size)));
      if (list !== this.#list) return;
      const next = new Map(this.#outdated ? [] : this.#known);
      this.#outdated = false;
      wanted.forEach((page, index) => next.set(page, read[index] ?? []));
      for (const page of next.keys()) {
        if (next.size <= KEPT) break;
        if (wanted.includes(page)) continue;
        next.delete(page);
        this.#asked.delete(page);
      }
      this.#known = next;
    } catch (reason) {
      if (list !== this.#list) return;
      for (const page of wanted) this.#asked.delete(page);
      throw reason;
    }
  }
}
