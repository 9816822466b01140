import { describe, expect, it } from "vitest";
import type { MarketOffer } from "./bindings";
import { factsOf, functionsOf, offerKey, sourceLabel } from "./market";
import { market as texts } from "../texts/market";

const OFFER: MarketOffer = {
  source: "a",
  id: "io.acme/mail",
  name: "Mail",
  provider: "io.acme",
  description: "Reads mail.",
  version: null,
  page: null,
  category: null,
  price: null,
  rating: null,
  functions: [],
  deprecated: false,
  installed: false,
  suspect: null,
  score: 1,
};

describe("offers", () => {
  it("say what is known and nothing else", () => {
    expect(factsOf(OFFER)).toEqual([]);
    expect(factsOf({ ...OFFER, category: "mail", price: " ", rating: 4.49, version: "1.0.0" })).toEqual([
      "mail",
      texts.rated("4.5"),
      texts.version("1.0.0"),
    ]);
    expect(factsOf({ ...OFFER, rating: 0 })).toEqual([texts.rated("0")]);
    const many = Array.from({ length: 11 }, (_, index) => `f${index}`);
    expect(functionsOf({ ...OFFER, functions: many })).toEqual({ named: many.slice(0, 8), more: 3 });
  });

  it("are told apart by source and id", () => {
    expect(offerKey({ source: "a", id: "b/c" })).not.toBe(offerKey({ source: "a/b", id: "c" }));
    expect(sourceLabel({ id: "a", kind: "registry", url: "https://registry.example.org/" })).toBe(
      "registry.example.org",
    );
    expect(sourceLabel(undefined)).toBe(texts.removedSource);
  });
});
