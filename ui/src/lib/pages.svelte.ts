// The rows of a long list, loaded in pages around the visible part.

/** Most pages kept in memory; the oldest are evicted. */
const KEPT = 40;

export class Pages<T> {
  /** Rows per page. */
  readonly size: number;
  #read: (offset: number, limit: number) => Promise<T[]>;
  #known = $state.raw(new Map<number, T[]>());
  #asked = new Set<number>();
  /** Incremented when the list changes; responses to earlier requests are dropped. */
  #list = 0;
  #outdated = false;

  constructor(size: number, read: (offset: number, limit: number) => Promise<T[]>) {
    [this.size, this.#read] = [size, read];
  }

  /** Returns the row at an index, if loaded. */
  at(place: number): T | undefined {
    return this.#known.get(Math.floor(place / this.size))?.[place % this.size];
  }

  /** Marks the list as changed. The loaded rows stay until their replacement arrives, to avoid flicker. */
  invalidate(): void {
    this.#list++;
    this.#asked.clear();
    this.#outdated = true;
  }

  /** Replaces the list; `first` is its first page. */
  reset(first: T[]): void {
    this.#list++;
    this.#asked = new Set([0]);
    this.#outdated = false;
    this.#known = new Map([[0, first]]);
  }

  /** Loads the missing pages of a range. Throws if that fails; the next call then retries. */
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
