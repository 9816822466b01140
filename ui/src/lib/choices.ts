// Choices for single cards of an import, and the totals that result from them.

import type { ExistingCards, FieldDiff, ImportItem, ImportPreview, ItemChoice, ItemStatus, Landing } from "./bindings";

/** Which side of a conflict wins: decided now, or later in Review. */
export type Resolution = "review" | "mine" | "theirs";

/** The choices made for a card. */
export interface Chosen {
  take: boolean;
  /** Fields without a conflict that are excluded. */
  off: string[];
  /** Fields with a conflict that has been decided. */
  decided: { [field: string]: Exclude<Resolution, "review"> };
  /** Id of the library card that is the same tool under another name. */
  sameAs: string | null;
}

export const NOTHING_CHOSEN: Chosen = { take: true, off: [], decided: {}, sameAs: null };

/** Statuses of the cards that an import would add or change. */
export const IMPORTABLE: ItemStatus[] = ["new", "changed", "conflicting", "similar"];

const disputed = (item: ImportItem, field: string) => item.conflicts.some((conflict) => conflict.field === field);

/**
 * Returns the changes without a conflict. What a plain file does not name stays unchanged, unless the file `replaces` the
 * card.
 */
export function cleanDiff(item: ImportItem, plain: boolean, replaces: boolean): FieldDiff[] {
  return item.diff.filter(({ field, kind }) => !disputed(item, field) && (kind !== "removed" || !plain || replaces));
}

/** Returns the fields that would change without a conflict. */
function cleanFields(item: ImportItem): string[] {
  return cleanDiff(item, false, false).map(({ field }) => field);
}

/** Returns whether the card's fields are chosen individually. */
export function byField(chosen: Chosen): boolean {
  return chosen.off.length > 0 || Object.keys(chosen.decided).length > 0;
}

/** Returns the resolution of a field's conflict; an undecided one goes to Review. */
export function resolutionOf(chosen: Chosen, field: string): Resolution {
  return chosen.decided[field] ?? "review";
}

/** Resolves a conflict, or leaves it to Review. */
export function resolve(chosen: Chosen, field: string, to: Resolution): Chosen {
  const { [field]: _, ...others } = chosen.decided;
  return { ...chosen, decided: to === "review" ? others : { ...others, [field]: to } };
}

/** Includes or excludes a field. */
export function includeField(chosen: Chosen, field: string, on: boolean): Chosen {
  const others = chosen.off.filter((name) => name !== field);
  return { ...chosen, off: on ? others : [...others, field] };
}

/** Returns the accepted fields, or `null` if the card's fields are not chosen individually. */
function fieldsOf(item: ImportItem, chosen: Chosen): string[] | null {
  if (!byField(chosen) || chosen.sameAs) return null;
  const clean = cleanFields(item).filter((field) => !chosen.off.includes(field));
  return [...clean, ...item.conflicts.map(({ field }) => field).filter((field) => chosen.decided[field] === "theirs")];
}

/** Returns the fields whose conflict is undecided. */
function undecided(item: ImportItem, chosen: Chosen): string[] {
  return item.conflicts.map(({ field }) => field).filter((field) => !chosen.decided[field]);
}

/** Returns the choice to send to the engine, or `null` if it equals the default. */
export function choiceOf(item: ImportItem, chosen: Chosen): ItemChoice | null {
  const { position } = item;
  if (!chosen.take) return { position, take: false, fields: null, later: [], same_as: null };
  const fields = fieldsOf(item, chosen);
  if (!fields && !chosen.sameAs) return null;
  return { position, take: true, fields, later: fields ? undecided(item, chosen) : [], same_as: chosen.sameAs };
}

/** A card and the choices made for it. */
export interface CardChoice {
  item: ImportItem;
  chosen: Chosen;
}

/** Totals of an import. */
export interface ImportTotals {
  /** Cards that would be added or changed. */
  cards: number;
  /** Cards with a conflict that would go to Review. */
  waiting: number;
  /** Cards with flagged text, which go to Review. */
  suspect: number;
  /** Cards of which replacing undoes edits of this library. */
  reverting: number;
}

/** Computes the totals of an import with the given choices. */
export function importTotals(
  preview: ImportPreview,
  picks: Iterable<CardChoice>,
  landing: Landing,
  existing: ExistingCards,
): ImportTotals {
  const keeps = landing === "library" && existing === "keep";
  const counted = (status: ItemStatus) =>
    IMPORTABLE.includes(status) && !(keeps && (status === "changed" || status === "conflicting"));
  let cards = IMPORTABLE.filter(counted).reduce((sum, status) => sum + preview[status as "new"], 0);
  let waiting = keeps ? 0 : preview.conflicting;
  // With `keep`, existing cards are not changed, so flagged text in their updates is not imported.
  let suspect = keeps ? preview.suspect_new : preview.suspect;
  let reverting = keeps ? 0 : preview.reverting;
  for (const { item, chosen } of picks) {
    const waits = chosen.take && undecided(item, chosen).length > 0;
    const nothing = !chosen.take || (!waits && fieldsOf(item, chosen)?.length === 0);
    if (counted(item.status) && nothing) cards--;
    if (item.status === "conflicting" && !keeps && !waits) waiting--;
    if (item.suspect && nothing && counted(item.status)) suspect--;
    if (item.reverts && nothing && !keeps) reverting--;
  }
  return { cards, waiting, suspect, reverting };
}
