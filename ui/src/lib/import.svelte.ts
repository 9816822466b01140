// An import as a person looks at it: read page by page, chosen from, then begun.

import { SvelteMap, SvelteSet } from "svelte/reactivity";
import type { ExistingCards, ImportItem, ImportPreview, ImportSource, ItemStatus, Landing } from "./bindings";
import { isBundle, isSuspicious, STATUSES } from "./bundles";
import { choiceOf, NOTHING_CHOSEN, sumOf, type Chosen, type Pick } from "./choices";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";
import { Pages } from "./pages.svelte";

/** Items read at a time while scrolling. */
export const PAGE = 200;
/** Items read at a time where all of them are chosen; more is not answered. */
const MOST = 1000;

export class Importing {
  source = $state.raw<ImportSource | null>(null);
  preview = $state.raw<ImportPreview | null>(null);
  error = $state.raw<CommandError | null>(null);
  /** The source became another one after it was looked at. */
  outdated = $state(false);
  busy = $state(false);
  /** The kind of cards that is shown. */
  filter = $state<ItemStatus | null>(null);
  /** Items of the filter in all. */
  total = $state(0);
  /** Items of the filter as far as they were read. */
  #pages = new Pages<ImportItem>(PAGE, async (offset, limit) => (await this.#ask(offset, limit, this.filter)).items);
  /** What was chosen, by position in the source. */
  picks = new SvelteMap<number, Pick>();
  /** Items that are open, by their place in the list. */
  open = new SvelteSet<number>();
  landing = $state<Landing>("review");
  existing = $state<ExistingCards>("merge");

  /** Choices that came with the source; closing loses nothing of one's own by them. */
  #given = $state(0);
  /** The kind of cards that is read for: keys act on what is shown until it is there. */
  #wanted: ItemStatus | null = null;
  /** Of several looks under way the last one counts: a look is a choice of the person, and may take long. */
  #look = 0;

  plain = $derived(!!this.preview && !isBundle(this.preview.about.format));
  suspicious = $derived(!!this.preview && isSuspicious(this.preview.about.signature.trust));
  /** Where the cards go: what is suspicious is not taken over unseen, whatever was chosen. */
  lands = $derived<Landing>(this.suspicious ? "review" : this.landing);
  merges = $derived<ExistingCards>(this.plain && this.lands === "library" ? this.existing : "merge");
  sum = $derived(
    this.preview
      ? sumOf(this.preview, this.picks.values(), this.lands, this.merges)
      : { cards: 0, waiting: 0, suspect: 0 },
  );
  /** Whether something would be lost by closing. */
  touched = $derived(this.picks.size > this.#given);

  /** The item at a place of the list, if it was read. */
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

  /** Takes a card or leaves it out; its fields stay as they were chosen. */
  take(item: ImportItem, on: boolean): void {
    this.choose(item, { ...this.chosen(item), take: on });
  }

  /** Looks at a source from its beginning; the cards at the positions in `leave` are left out. */
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

  /** Looks at the same source again, as it is now. */
  async again(): Promise<void> {
    this.outdated = false;
    if (this.source) await this.look(this.source);
  }

  /** Shows only one kind of cards, or all of them. */
  async only(status: ItemStatus | null): Promise<void> {
    this.#wanted = this.#wanted === status ? null : status;
    await this.#read();
  }

  /** The next kind of cards there are any of. */
  async next(step: 1 | -1): Promise<void> {
    const there: (ItemStatus | null)[] = [null, ...STATUSES.filter((status) => this.preview?.[status])];
    this.#wanted = there[(there.indexOf(this.#wanted) + step + there.length) % there.length] ?? null;
    await this.#read();
  }

  /** Reads what is said about the source anew, and leaves the choices alone. */
  async refresh(): Promise<void> {
    await this.#read();
  }

  /** Reads what is between two places of the list, if it was not. */
  async ensure(from: number, to: number): Promise<void> {
    if (!this.source || !this.preview || from >= this.total) return;
    try {
      await this.#pages.ensure(from, Math.min(to, this.total));
    } catch (reason) {
      this.error = CommandError.from(reason);
    }
  }

  /** Takes all cards of the filter, or none of them; or only those of them that `which` names. */
  async all(on: boolean, which: (item: ImportItem) => boolean = () => true): Promise<void> {
    const { filter } = this;
    if (this.busy) return;
    this.busy = true;
    try {
      for (let offset = 0; offset < this.total; offset += MOST) {
        const { items } = await this.#ask(offset, MOST, filter);
        for (const item of items) if (takeable(item) && which(item)) this.take(item, on);
      }
    } catch (reason) {
      this.error = CommandError.from(reason);
    } finally {
      this.busy = false;
    }
  }

  /** Begins the import; whether it did. */
  async start(): Promise<boolean> {
    if (!this.source || !this.preview || this.busy) return false;
    this.busy = true;
    this.error = null;
    try {
      await engine.call("imports_start", {
        source: this.source,
        existing: this.merges,
        landing: this.lands,
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
      // Another filter was chosen meanwhile: that one is shown.
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

/** Whether there is something of a card to be taken. */
export function takeable(item: ImportItem): boolean {
  return item.status !== "identical" && item.status !== "invalid";
}
