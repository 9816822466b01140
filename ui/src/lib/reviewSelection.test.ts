import { describe, expect, it } from "vitest";
import type { ProposalRow } from "./bindings";
import { ReviewSelection } from "./reviewSelection.svelte";

const rows = [5, 3, 9, 4].map((id) => ({ id, state: id === 4 ? "accepted" : "pending" }) as ProposalRow);

describe("the selection in Review", () => {
  it("takes single rows, ranges in the order of the queue, and groups", () => {
    const selection = new ReviewSelection();
    const selected = () => [...selection.ids].sort();
    selection.extend(rows, 3);
    expect(selected()).toEqual([3]);
    selection.toggle(3);
    selection.toggle(5);
    selection.extend(rows, 9);
    expect(selected()).toEqual([3, 5, 9]);
    selection.toggle(3);
    expect(selected()).toEqual([5, 9]);
    // A decided row in a range stays out.
    selection.extend(rows, 4);
    expect(selected()).toEqual([3, 5, 9]);
    selection.toggleAll(rows.slice(0, 3));
    selection.toggleAll(rows.slice(0, 3));
    expect(selected()).toEqual([3, 5, 9]);
    selection.toggleAll(rows.slice(0, 3));
    expect(selected()).toEqual([]);
  });

  it("keeps only what is pending and in view", () => {
    const selection = new ReviewSelection();
    selection.toggleAll(rows);
    selection.keep(rows.slice(1));
    expect([...selection.ids].sort()).toEqual([3, 9]);
  });
});
