// Pairs of cards that may describe the same tool: searching for them, and what was decided about each.

import type { DuplicatePair, Duplicates, Job } from "./bindings";
import { engine } from "./engine.svelte";
import { resource } from "./resource.svelte";
import { Saving } from "./saving.svelte";
import { visibleLine } from "./visible";
import { common } from "../texts/common";
import { duplicates as texts } from "../texts/duplicates";

/** A decision about a pair, which is shown in its place so that it can be taken back there. */
interface Settled {
  pair: DuplicatePair;
  /** Index of the pair in the list. */
  at: number;
  said: string;
  /** Returns whether the decision was taken back. */
  undo: () => Promise<boolean>;
}

/** A line of the list: a pair, with the decision about it if there is one. */
export interface PairRow {
  id: string;
  pair: DuplicatePair;
  settled: Settled | null;
}

/** Identifies a pair. */
export const pairId = ({ cards: [one, other] }: DuplicatePair): string => `${one.id} ${other.id}`;

/** Returns the names of a pair on one line each; where they are the same, the providers or ids tell them apart. */
export function pairNames({ cards: [one, other] }: DuplicatePair): [string, string] {
  const more = one.name !== other.name ? null : one.provider !== other.provider ? "provider" : "id";
  const shown = (card: typeof one) => visibleLine(more && card[more] ? `${card.name} (${card[more]})` : card.name);
  return [shown(one), shown(other)];
}

/** The list of pairs as the dialog shows it. Must be created during component initialization. */
export class DuplicateList {
  readonly #read = resource("duplicates_list", () => ({}), {
    invalidatedBy: ["library", "jobs:duplicates", "setting:duplicates"],
  });
  #settled = $state.raw<Settled[]>([]);
  /** The start of a search, or a decision. */
  readonly work = new Saving();

  readonly #jobs = $derived(engine.jobs.filter(({ kind }) => kind === "duplicates"));
  /** The running search. */
  readonly job: Job | undefined = $derived(this.#jobs.find(({ state }) => state === "running"));
  /** Why the newest search failed. */
  readonly failure = $derived(this.#jobs[0]?.state === "failed" ? this.#jobs[0].error : null);

  /** The pairs in their order. One that was decided stays in its place until the list is closed. */
  readonly rows: PairRow[] = $derived.by(() => {
    const open = (this.found?.pairs ?? []).map((pair) => ({ id: pairId(pair), pair, settled: null }));
    const known = new Set(open.map(({ id }) => id));
    const rows: PairRow[] = [...open];
    for (const settled of [...this.#settled].sort((one, other) => one.at - other.at)) {
      const id = pairId(settled.pair);
      // A decision that was taken back elsewhere has its pair in the list again.
      if (!known.has(id)) rows.splice(settled.at, 0, { id, pair: settled.pair, settled });
    }
    return rows;
  });

  get found(): Duplicates | null {
    return this.#read.value;
  }

  get error() {
    return this.#read.error;
  }

  refresh(): Promise<void> {
    return this.#read.refresh();
  }

  /** Starts a search. Its pairs are read once it has ended. */
  async search(): Promise<void> {
    if (this.job) return;
    await this.work.run(async () => {
      await engine.call("duplicates_find", {});
      this.#settled = [];
    });
  }

  /** Stops the running search. */
  async stop(): Promise<void> {
    const { job } = this;
    if (job) await this.work.run(() => engine.call("jobs_cancel", { job: job.id }));
  }

  /** Stores that the cards of a pair are different tools. */
  async dismiss(pair: DuplicatePair): Promise<void> {
    const cards = pair.cards.map(({ id }) => id) as [string, string];
    const mark = (dismissed: boolean) => engine.call("duplicates_dismiss", { cards, dismissed });
    await this.work.run(async () => {
      await mark(true);
      const undo = async () => {
        try {
          await mark(false);
          return true;
        } catch (reason) {
          engine.showError(reason);
          return false;
        }
      };
      const said = texts.marked(...pairNames(pair));
      this.#settle(pair, said, undo, () => false);
      engine.showToast(said, { action: { label: common.undo, run: () => void undo() } });
    });
  }

  /** Notes that the cards of a pair were merged by a change. */
  merged(pair: DuplicatePair, removed: string, change: string | null): void {
    const [kept, gone] = pair.cards[0].id === removed ? [1, 0] : [0, 1];
    const names = pairNames(pair);
    const said = texts.merged(names[gone] ?? "", names[kept] ?? "");
    const without = (other: DuplicatePair) => other.cards.some(({ id }) => id === removed);
    this.#settle(pair, said, async () => change !== null && engine.undo(change), without);
    engine.showToast(said, change === null ? {} : { action: engine.undoAction(change) });
  }

  /** Takes a decision back. */
  async undo(settled: Settled): Promise<void> {
    if (!(await settled.undo())) return;
    await this.#read.refresh();
    this.#settled = this.#settled.filter((other) => other !== settled);
  }

  /** Shows a decision in the place of its pair, and drops other pairs that it makes pointless. */
  #settle(
    pair: DuplicatePair,
    said: string,
    undo: Settled["undo"],
    pointless: (other: DuplicatePair) => boolean,
  ): void {
    const id = pairId(pair);
    const at = this.rows.findIndex((row) => row.id === id);
    this.#settled = [...this.#settled.filter((other) => pairId(other.pair) !== id), { pair, at, said, undo }];
    const { found } = this;
    if (!found) return;
    const pairs = found.pairs.filter((other) => pairId(other) !== id && !pointless(other));
    this.#read.value = { ...found, pairs };
  }
}
