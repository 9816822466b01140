// The diff layout and the order of the review queue, both stored in the browser.

import type { QueueOrder } from "./review";

export type DiffLayout = "unified" | "split";

function remembered<T extends string>(key: string, values: readonly T[]): T {
  const value = localStorage.getItem(key);
  return values.find((known) => known === value) ?? (values[0] as T);
}

class Layout {
  #diff = $state<DiffLayout>(remembered("autokit.diff", ["unified", "split"]));
  #order = $state<QueueOrder>(remembered("autokit.queue", ["kind", "risk"]));

  get diff(): DiffLayout {
    return this.#diff;
  }

  set diff(value: DiffLayout) {
    this.#diff = value;
    localStorage.setItem("autokit.diff", value);
  }

  get order(): QueueOrder {
    return this.#order;
  }

  set order(value: QueueOrder) {
    this.#order = value;
    localStorage.setItem("autokit.queue", value);
  }
}

export const layout = new Layout();
