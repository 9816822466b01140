// What a person chooses for single cards of an import, and what that comes to.

import type { ExistingCards, ImportItem, ImportPreview, ItemChoice, ItemStatus, Landing } from "./bindings";

/** Who wins where both changed a field: decided now, or by a reviewer. */
export type Resolution = "review" | "mine" | "theirs";

/** What was chosen for a card. */
export interface Chosen {
  take: boolean;
  /** Fields without a conflict that are not wanted. */
  off: string[];
  /** Fields in conflict that were decided. */
  decided: { [field: string]: Exclude<Resolution, "review"> };
  /** The card of the library it is, under another name. */
  sameAs: string | null;
}

export const NOTHING_CHOSEN: Chosen = { take: true, off: [], decided: {}, sameAs: null };

/** The kinds of cards an import brings something of. */
export const BRINGS: ItemStatus[] = ["new", "changed", "conflicting", "similar"];

const disputed = (item: ImportItem, field: string) => item.conflicts.some((conflict) => conflict.field === field);

/** The fields that would change and that nobody disputes. */
export function cleanFields(item: ImportItem): string[] {
  return item.diff.map((diff) => diff.field).filter((field) => !disputed(item, field));
}

/** Whether the fields of a card are chosen one by one. */
export function byField(chosen: Chosen): boolean {
  return chosen.off.length > 0 || Object.keys(chosen.decided).length > 0;
}

/** Who wins in a field as things stand: what is not decided here is decided in Review. */
export function resolutionOf(chosen: Chosen, field: string): Resolution {
  return chosen.decided[field] ?? "review";
}

/** Decides a conflict, or leaves it to Review. */
export function resolve(chosen: Chosen, field: string, to: Resolution): Chosen {
  const { [field]: _, ...others } = chosen.decided;
  return { ...chosen, decided: to === "review" ? others : { ...others, [field]: to } };
}

/** Wants a field or not. */
export function want(chosen: Chosen, field: string, on: boolean): Chosen {
  const others = chosen.off.filter((name) => name !== field);
  return { ...chosen, off: on ? others : [...others, field] };
}

/** The fields that are taken, where they are chosen one by one. */
function fieldsOf(item: ImportItem, chosen: Chosen): string[] | null {
  if (!byField(chosen) || chosen.sameAs) return null;
  const clean = cleanFields(item).filter((field) => !chosen.off.includes(field));
  return [...clean, ...item.conflicts.map(({ field }) => field).filter((field) => chosen.decided[field] === "theirs")];
}

/** The conflicts of a card that nobody decided. */
function undecided(item: ImportItem, chosen: Chosen): string[] {
  return item.conflicts.map(({ field }) => field).filter((field) => !chosen.decided[field]);
}

/** What the engine is told; nothing where all stays as it would be anyway. */
export function choiceOf(item: ImportItem, chosen: Chosen): ItemChoice | null {
  const { position } = item;
  if (!chosen.take) return { position, take: false, fields: null, later: [], same_as: null };
  const fields = fieldsOf(item, chosen);
  if (!fields && !chosen.sameAs) return null;
  return { position, take: true, fields, later: fields ? undecided(item, chosen) : [], same_as: chosen.sameAs };
}

/** A card with what was chosen for it. */
export interface Pick {
  item: ImportItem;
  chosen: Chosen;
}

/** What an import comes to. */
export interface Sum {
  /** Cards it brings something of. */
  cards: number;
  /** Of those, the ones with a conflict that waits in Review. */
  waiting: number;
  /** Cards with a suspect text, which wait in Review. */
  suspect: number;
}

/** What an import comes to with all that was chosen. */
export function sumOf(preview: ImportPreview, picks: Iterable<Pick>, landing: Landing, existing: ExistingCards): Sum {
  const keeps = landing === "library" && existing === "keep";
  const counted = (status: ItemStatus) =>
    BRINGS.includes(status) && !(keeps && (status === "changed" || status === "conflicting"));
  let cards = BRINGS.filter(counted).reduce((sum, status) => sum + preview[status as "new"], 0);
  let waiting = keeps ? 0 : preview.conflicting;
  // What would change cards that are kept is not imported at all.
  let suspect = keeps ? preview.suspect_new : preview.suspect;
  for (const { item, chosen } of picks) {
    const waits = chosen.take && undecided(item, chosen).length > 0;
    const nothing = !chosen.take || (!waits && fieldsOf(item, chosen)?.length === 0);
    if (counted(item.status) && nothing) cards--;
    if (item.status === "conflicting" && !keeps && !waits) waiting--;
    if (item.suspect && nothing && counted(item.status)) suspect--;
  }
  return { cards, waiting, suspect };
}
