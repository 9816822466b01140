// An import in preparation: the preview is loaded page by page, cards are chosen, then the import is started.

import { SvelteMap, SvelteSet } from "svelte/reactivity";
import type { ExistingCards, ImportItem, ImportPreview, ImportSource, ItemStatus, Landing } from "./bindings";
import { isBundle, isSuspicious, STATUSES } from "./bundles";
import { choiceOf, NOTHING_CHOSEN, importTotals, type Chosen, type CardChoice } from "./choices";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";
import { Pages } from "./pages.svelte";

/** Items per request while scrolling. */
export const PAGE = 200;
/** Items per request when all are selected; the engine's maximum. */
const PAGE_SIZE = 1000;

export class Importing {
  source = $state.raw<ImportSource | null>(null);
  preview = $state.raw<ImportPreview | null>(null);
  error = $state.raw<CommandError | null>(null);
  /** Whether the source changed after it was previewed. */
  outdated = $state(false);
  busy = $state(false);
  /** The status filter of the displayed list. */
  filter = $state<ItemStatus | null>(null);
  /** Number of items that match the filter. */
  total = $state(0);
  /** The loaded items that match the filter. */
  #pages = new Pages<ImportItem>(PAGE, async (offset, limit) => (await this.#ask(offset, limit, this.filter)).items);
  /** Choices by position in the source. */
  picks = new SvelteMap<number, CardChoice>();
  /** Expanded items, by index in the list. */
  open = new SvelteSet<number>();
  landing = $state<Landing>("review");
  /** Whether search should know the names and synonyms of the source. */
  vocabulary = $state(false);
  existing = $state<ExistingCards>("merge");

  /** Number of choices that came with the source; losing them needs no confirmation. */
  #given = $state(0);
  /** The requested filter. It differs from `filter` while its items load: until then, keys act on what is shown. */
  #wanted: ItemStatus | null = null;
  /** Incremented with each preview request, which may take long; only the latest response counts. */
  #look = 0;

  plain = $derived(!!this.preview && !isBundle(this.preview.about.format));
  suspicious = $derived(!!this.preview && isSuspicious(this.preview.about.signature.trust));
  /** Where the cards go: always to Review if the signature is suspicious. */
  lands = $derived<Landing>(this.suspicious ? "review" : this.landing);
  merges = $derived<ExistingCards>(this.plain && this.lands === "library" ? this.existing : "merge");
  sum = $derived(
    this.preview
      ? importTotals(this.preview, this.picks.values(), this.lands, this.merges)
      : { cards: 0, waiting: 0, suspect: 0, reverting: 0 },
  );
  /** Whether closing would lose the user's choices. */
  touched = $derived(this.picks.size > this.#given);

  /** Returns the item at an index of the list, if loaded. */
  at(place: number): ImportItem | undefined {
    return this.#pages.at(place);
  }

  chosen(item: ImportItem): Chosen {
    return this.picks.get(item.position)?.chosen ?? NOTHING_CHOSEN;
  }

  choose(item: ImportItem, chosen: Chosen): void {
    if (choiceOf(item, chosen)) this.picks.set(item.position, { item, chosen });
    else this.picks.delete(item.position);
  }

  /** Includes or excludes a card; the choices for its fields are kept. */
  take(item: ImportItem, on: boolean): void {
    this.choose(item, { ...this.chosen(item), take: on });
  }

  /** Previews a source; the cards at the positions in `leave` start out excluded. */
  async look(source: ImportSource, leave: number[] = []): Promise<void> {
    this.#given = 0;
    this.filter = this.#wanted = null;
    this.picks.clear();
    this.source = source;
    if (!(await this.#read())) {
      this.preview = null;
      this.source = null;
    } else if (leave.length) {
      const positions = new Set(leave);
      await this.all(false, (item) => positions.has(item.position));
      this.#given = this.picks.size;
    }
  }

  /** Previews the same source again, with its current content. */
  async again(): Promise<void> {
    this.outdated = false;
    if (this.source) await this.look(this.source);
  }

  /** Filters the list by a status, or clears the filter if it is set already. */
  async only(status: ItemStatus | null): Promise<void> {
    this.#wanted = this.#wanted === status ? null : status;
    await this.#read();
  }

  /** Switches the filter to the next or previous status that has cards. */
  async next(step: 1 | -1): Promise<void> {
    const there: (ItemStatus | null)[] = [null, ...STATUSES.filter((status) => this.preview?.[status])];
    this.#wanted = there[(there.indexOf(this.#wanted) + step + there.length) % there.length] ?? null;
    await this.#read();
  }

  /** Reloads the preview and keeps the choices. */
  async refresh(): Promise<void> {
    await this.#read();
  }

  /** Loads the missing items of a range of the list. */
  async ensure(from: number, to: number): Promise<void> {
    if (!this.source || !this.preview || from >= this.total) return;
    try {
      await this.#pages.ensure(from, Math.min(to, this.total));
    } catch (reason) {
      this.error = CommandError.from(reason);
    }
  }

  /** Includes or excludes all cards that match the filter and `which`. */
  async all(on: boolean, which: (item: ImportItem) => boolean = () => true): Promise<void> {
    const { filter } = this;
    if (this.busy) return;
    this.busy = true;
    try {
      for (let offset = 0; offset < this.total; offset += PAGE_SIZE) {
        const { items } = await this.#ask(offset, PAGE_SIZE, filter);
        for (const item of items) if (isImportable(item) && which(item)) this.take(item, on);
      }
    } catch (reason) {
      this.error = CommandError.from(reason);
    } finally {
      this.busy = false;
    }
  }

  /** Starts the import; returns whether it started. */
  async start(): Promise<boolean> {
    if (!this.source || !this.preview || this.busy) return false;
    this.busy = true;
    this.error = null;
    try {
      await engine.call("imports_start", {
        source: this.source,
        existing: this.merges,
        landing: this.lands,
        vocabulary: this.vocabulary,
        digest: this.preview.about.digest,
        choices: [...this.picks.values()].flatMap(({ item, chosen }) => choiceOf(item, chosen) ?? []),
        reason: "",
      });
      return true;
    } catch (reason) {
      this.error = CommandError.from(reason);
      this.outdated = this.error.code === "conflict";
      return false;
    } finally {
      this.busy = false;
    }
  }

  #ask(offset: number, limit: number, status: ItemStatus | null): Promise<ImportPreview> {
    if (!this.source) throw new Error("nothing is looked at");
    return engine.call("imports_preview", { source: this.source, status, offset, limit });
  }

  async #read(): Promise<boolean> {
    const look = ++this.#look;
    const wanted = this.#wanted;
    this.busy = true;
    this.error = null;
    try {
      const preview = await this.#ask(0, PAGE, wanted);
      // Another preview was requested in the meantime; its response counts.
      if (look !== this.#look) return true;
      this.open.clear();
      this.filter = wanted;
      this.preview = preview;
      this.total = preview.total;
      this.#pages.reset(preview.items);
      return true;
    } catch (reason) {
      if (look === this.#look) [this.error, this.#wanted] = [CommandError.from(reason), this.filter];
      return false;
    } finally {
      if (look === this.#look) this.busy = false;
    }
  }
}

/** Returns whether an item has anything to import. */
export function isImportable(item: ImportItem): boolean {
  return item.status !== "identical" && item.status !== "invalid";
}
