// An export in preparation: its cards, its format, and what blocks it.

import type { CardsQuery, ExportPreview, ExportRequest, Format, Kind } from "./bindings";
import { isBundle } from "./bundles";
import { engine } from "./engine.svelte";
import { CommandError } from "./host";
import { exporting as texts } from "../texts/exporting";
import { resource } from "./resource.svelte";

export const EVERYTHING: CardsQuery = {
  text: null,
  kind: null,
  language: null,
  provider: null,
  tag: null,
  collection: null,
  verified: null,
  documented: null,
  health: null,
  sort: "name",
  descending: false,
};

export type CardSelection = "all" | "view" | "picked";

/** The formats with their file extensions. */
export const EXPORT_FORMATS: { value: Format; name: string; about: string; ending: string }[] = [
  { value: "bundle", name: texts.formats.bundle.name, about: texts.formats.bundle.about, ending: "toolcards" },
  { value: "folder", name: texts.formats.folder.name, about: texts.formats.folder.about, ending: "" },
  { value: "json", name: texts.formats.json.name, about: texts.formats.json.about, ending: "json" },
  { value: "csv", name: texts.formats.csv.name, about: texts.formats.csv.about, ending: "csv" },
  { value: "markdown", name: texts.formats.markdown.name, about: texts.formats.markdown.about, ending: "md" },
  { value: "html", name: texts.formats.html.name, about: texts.formats.html.about, ending: "html" },
];

/** MIME types of the formats that a browser can download. */
const TYPES: Partial<Record<Format, string>> = {
  json: "application/json",
  csv: "text/csv",
  markdown: "text/markdown",
  html: "text/html",
};

export function typeOf(format: Format): string {
  return TYPES[format] ?? "text/plain";
}

/** Returns a file name for the export, limited to characters that every system accepts. */
export function exportName(name: string, format: Format): string {
  const stem =
    name
      .trim()
      .replace(/[^\p{L}\p{N}._ -]+/gu, "")
      .replace(/^[. ]+|[. ]+$/g, "") || (format === "bundle" ? "cards" : "toolcards");
  const ending = EXPORT_FORMATS.find(({ value }) => value === format)?.ending;
  return ending ? `${stem}.${ending}` : stem;
}

export class Exporting {
  readonly given: { query?: CardsQuery; cards?: string[] };
  which = $state<CardSelection>("all");
  kind = $state("");
  verified = $state(false);
  format = $state<Format>("bundle");
  name = $state("");
  licence = $state("");
  note = $state("");
  history = $state(false);
  vectors = $state(false);
  vocabulary = $state(false);
  sign = $state(true);
  path = $state("");
  /** Cards the user left out, for example because they contain secrets. */
  without = $state.raw<{ id: string; name: string }[]>([]);
  #preview = resource("exports_preview", () => this.wanted, { when: () => true });
  #failed = $state.raw<CommandError | null>(null);
  #writing = $state(false);

  constructor(given: { query?: CardsQuery; cards?: string[] }) {
    this.given = given;
    this.which = given.cards?.length ? "picked" : given.query ? "view" : "all";
  }

  bundle = $derived(isBundle(this.format));

  /** The part of the request that determines the content; the rest is metadata. */
  wanted = $derived.by<ExportRequest>(() => ({
    query:
      this.which === "view" && this.given.query
        ? this.given.query
        : { ...EVERYTHING, kind: (this.kind || null) as Kind | null, verified: this.verified || null },
    cards: this.which === "picked" ? (this.given.cards ?? null) : null,
    without: this.without.map(({ id }) => id),
    path: null,
    format: this.format,
    history: this.bundle && this.history,
    vectors: this.bundle && this.vectors,
    vocabulary: this.bundle && this.vocabulary,
    sign: this.bundle && this.sign,
    name: "",
    licence: null,
    note: "",
  }));

  /** Preview of the export. */
  get preview(): ExportPreview | null {
    return this.#preview.value;
  }

  get error(): CommandError | null {
    return this.#failed ?? this.#preview.error;
  }

  get busy(): boolean {
    return this.#writing || this.#preview.loading;
  }

  /** Whether the export can be started. */
  get ready(): boolean {
    return !!this.preview?.cards && !this.preview.secrets.length && !this.busy && !this.#preview.error;
  }

  leaveOut(cards: { id: string; name: string }[]): void {
    const more = cards.filter((card, at) => cards.findIndex(({ id }) => id === card.id) === at);
    this.without = [...this.without, ...more.filter(({ id }) => !this.without.some((other) => other.id === id))];
  }

  takeBack(id: string): void {
    this.without = this.without.filter((card) => card.id !== id);
  }

  async refresh(): Promise<void> {
    this.#failed = null;
    await this.#preview.refresh();
  }

  /** Writes the export to `path`, or returns it as text if `path` is `null`. Returns `null` on failure. */
  async write(path: string | null) {
    this.#writing = true;
    this.#failed = null;
    try {
      return await engine.call("exports_write", {
        ...this.wanted,
        path,
        name: this.name.trim(),
        licence: this.licence.trim() || null,
        note: this.note.trim(),
      });
    } catch (reason) {
      this.#failed = CommandError.from(reason);
      return null;
    } finally {
      this.#writing = false;
    }
  }
}
