// Tools that are not here yet, as their sources tell of them.

import type { MarketKind, MarketOffer, MarketSource } from "./bindings";
import { market as texts } from "../texts/market";

/** What a source is, in words. */
export function kindOf(kind: MarketKind): string {
  return texts.kinds[kind];
}

/** A source as results name it: where it is, without what all addresses begin with. */
export function sourceLabel(source: MarketSource | undefined): string {
  return source ? source.url.replace(/^https?:\/\//i, "").replace(/\/$/, "") : texts.removedSource;
}

/** What is known of an offer in a word each; what its source does not say is left out. */
export function factsOf(offer: MarketOffer): string[] {
  const { category, price, rating, version } = offer;
  const rated = rating === null ? "" : texts.rated(rating.toLocaleString("en", { maximumFractionDigits: 1 }));
  return [category ?? "", price ?? "", rated, version ? texts.version(version) : ""].filter((fact) => fact.trim());
}

/** Functions that are named of many. */
const NAMED = 8;

/** The functions of an offer in a line, and how many are not named. */
export function functionsOf(offer: MarketOffer): { named: string[]; more: number } {
  return { named: offer.functions.slice(0, NAMED), more: Math.max(0, offer.functions.length - NAMED) };
}

/** Names an offer among those of all sources. */
export function offerKey(offer: { source: string; id: string }): string {
  return JSON.stringify([offer.source, offer.id]);
}
