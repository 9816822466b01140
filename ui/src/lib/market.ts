// Tools offered by marketplace sources, for display.

import type { MarketKind, MarketOffer, MarketSource } from "./bindings";
import { market as texts } from "../texts/market";

/** Returns the display name of a kind of source. */
export function kindOf(kind: MarketKind): string {
  return texts.kinds[kind];
}

/** Returns the address of a source without its scheme and trailing slash. */
export function sourceLabel(source: MarketSource | undefined): string {
  return source ? source.url.replace(/^https?:\/\//i, "").replace(/\/$/, "") : texts.removedSource;
}

/** Returns what is known about an offer as short texts: category, price, rating and version. */
export function factsOf(offer: MarketOffer): string[] {
  const { category, price, rating, version } = offer;
  const rated = rating === null ? "" : texts.rated(rating.toLocaleString("en", { maximumFractionDigits: 1 }));
  return [category ?? "", price ?? "", rated, version ? texts.version(version) : ""].filter((fact) => fact.trim());
}

/** Most functions listed by name. */
const NAMED = 8;

/** Returns the first functions of an offer, and how many more it has. */
export function functionsOf(offer: MarketOffer): { named: string[]; more: number } {
  return { named: offer.functions.slice(0, NAMED), more: Math.max(0, offer.functions.length - NAMED) };
}

/** Returns a key that is unique across all sources. */
export function offerKey(offer: { source: string; id: string }): string {
  return JSON.stringify([offer.source, offer.id]);
}
