// The proposals selected in the queue of Review, to be decided together.

import { SvelteSet } from "svelte/reactivity";
import type { ProposalRow } from "./bindings";

export class ReviewSelection {
  readonly ids = new SvelteSet<number>();
  /** The row from which a range extends. */
  #anchor: number | null = null;

  /** Selects a row, or deselects it if it is selected. */
  toggle(id: number): void {
    this.#anchor = id;
    if (!this.ids.delete(id)) this.ids.add(id);
  }

  /** Selects all pending rows between the one toggled last and this one, in the order of the queue. */
  extend(rows: ProposalRow[], id: number): void {
    const to = rows.findIndex((row) => row.id === id);
    const from = rows.findIndex((row) => row.id === this.#anchor);
    if (to < 0) return;
    if (from < 0) return this.toggle(id);
    for (const row of rows.slice(Math.min(from, to), Math.max(from, to) + 1))
      if (row.state === "pending") this.ids.add(row.id);
  }

  /** Selects all of these rows, or deselects them if all are selected. */
  toggleAll(rows: ProposalRow[]): void {
    const all = rows.every((row) => this.ids.has(row.id));
    for (const row of rows) {
      if (all) this.ids.delete(row.id);
      else this.ids.add(row.id);
    }
  }

  /** Deselects what is no longer in the queue or no longer pending. */
  keep(rows: ProposalRow[]): void {
    if (!this.ids.size) return;
    const pending = new Set(rows.filter((row) => row.state === "pending").map((row) => row.id));
    for (const id of this.ids) if (!pending.has(id)) this.ids.delete(id);
  }

  clear(): void {
    this.ids.clear();
    this.#anchor = null;
  }
}
