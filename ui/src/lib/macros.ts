// Recorded calls, and which of them make one tool.

import type { RecordedCall } from "./bindings";

/**
 * Selects or deselects a call. The first one selected brings the later calls of its session with it, because a
 * sequence usually goes on to its end.
 */
export function toggled(calls: RecordedCall[], chosen: ReadonlySet<number>, call: RecordedCall): Set<number> {
  const next = new Set(chosen);
  if (next.has(call.number)) {
    next.delete(call.number);
  } else if (next.size) {
    next.add(call.number);
  } else {
    for (const other of calls) {
      if (other.session === call.session && other.number >= call.number) next.add(other.number);
    }
  }
  return next;
}

/** The chosen calls that are still remembered, in the order they were made in. */
export function inOrder(calls: RecordedCall[], chosen: ReadonlySet<number>): RecordedCall[] {
  return calls.filter((call) => chosen.has(call.number)).sort((a, b) => a.number - b.number);
}
