import { describe, expect, it } from "vitest";
import type { CardSummary, Claim, ClaimVerdict, LinkHealth, Report } from "./bindings";
import {
  badgeOf,
  inOrder,
  isEmpty,
  linkOf,
  nextTry,
  sentence,
  soughtOf,
  tallyOf,
  valueText,
  verdictOf,
  wayOf,
} from "./checks";
import { cardOf } from "../testing/fixtures";

const NOW = Date.parse("2026-01-10T12:00:00Z");
const TWO_DAYS_AGO = "2026-01-08T12:00:00.000Z";

const card = (more: Partial<CardSummary>): CardSummary => ({
  ...cardOf("a", "A"),
  documentation: "https://a.b",
  updated_at: TWO_DAYS_AGO,
  ...more,
});

const link = (more: Partial<LinkHealth> = {}): LinkHealth => ({
  url: "https://a.b/c",
  state: "delivered",
  said: "the page loaded",
  remedy: null,
  status: 200,
  found: "https://a.b/c",
  hops: [{ url: "https://a.b/c", status: 200 }],
  encrypted: true,
  content_type: "text/html",
  ms: 340,
  ...more,
});

const claim = (field: string, standing: ClaimVerdict): Claim => ({
  field,
  standing,
  quote: "",
  value: null,
  confidence: 1,
  by_model: false,
});

const report = (more: Partial<Report> = {}): Report => ({
  state: "verified",
  link: link(),
  page: null,
  claims: [],
  search: null,
  candidates: [],
  attempts: 0,
  offline: false,
  cut: false,
  judged_by: "rules",
  ...more,
});

describe("the badge of a card", () => {
  it("says when the card is another by now", () => {
    const shown = badgeOf(card({ health: "verified", checked_at: TWO_DAYS_AGO, changed: true }), NOW);
    expect(shown.word).toBe("Changed since check");
    expect(shown.kind).toBe("");
    expect(shown.title).toContain("before later edits: verified");
  });

  it("tells what the newest check found and when", () => {
    const words = (["verified", "stale", "broken", "unreachable"] as const).map(
      (health) => badgeOf(card({ health, checked_at: TWO_DAYS_AGO }), NOW).word,
    );
    expect(words).toEqual([
      "Verified 2 days ago",
      "Page differs, checked 2 days ago",
      "Page is gone, checked 2 days ago",
      "Page unreachable, tried 2 days ago",
    ]);
    const without = badgeOf(card({ health: "broken", checked_at: TWO_DAYS_AGO, documentation: null }), NOW);
    expect(without.word).toBe("No page, checked 2 days ago");
  });

  it("falls back on what the card says, which proves nothing", () => {
    expect(badgeOf(card({ verified: true }))).toMatchObject({ word: "Marked verified", kind: "" });
    expect(badgeOf(card({}))).toMatchObject({ word: "Not verified yet", kind: "" });
  });
});

describe("a report", () => {
  it("comes down to a sentence", () => {
    const stale = report({ state: "stale", claims: [claim("module", "contradicted"), claim("class", "supported")] });
    expect(verdictOf(stale)).toContain("contradicts 1 field.");
    expect(verdictOf(report({ state: "stale" }))).toContain("doesn't support enough");
    expect(verdictOf(report({ state: "broken" }))).toContain("doesn't document this tool");
    expect(verdictOf(report({ state: "broken", link: link({ state: "no_page" }) }))).toBe(
      "The linked page doesn't exist.",
    );
    expect(verdictOf(report({ state: "broken", link: link({ state: "missing", url: null }) }))).toContain(
      "has no documentation link",
    );
  });

  it("tells the way to the page", () => {
    expect(wayOf(link())).toBe("Status 200, 340 ms, encrypted");
    const hops = ["http://a.b", "https://a.b", "https://a.b/c"].map((url) => ({ url, status: 301 }));
    expect(wayOf(link({ hops, encrypted: false }))).toBe("Status 200, 2 redirects, 340 ms, not encrypted");
    expect(wayOf(link({ state: "failing", status: null, hops: [], ms: null }))).toBe("");
    expect(wayOf(link({ url: null }))).toBe("");
    expect([
      linkOf(link()).kind,
      linkOf(link({ state: "no_page" })).kind,
      linkOf(link({ state: "closed" })).kind,
    ]).toEqual(["good", "bad", "warn"]);
  });

  it("puts first what a person should look at", () => {
    const claims = [claim("a", "not_found"), claim("b", "supported"), claim("c", "contradicted"), claim("d", "unsaid")];
    expect(
      inOrder(claims)
        .map(({ field }) => field)
        .join(""),
    ).toBe("cdba");
    expect(tallyOf(claims)).toBe("1 contradicted, 1 missing from card, 1 supported, 1 not mentioned");
    expect(tallyOf([])).toBe("");
  });

  it("tells what the search came to", () => {
    expect(soughtOf(report())).toBeNull();
    expect(soughtOf(report({ search: { kind: "gone" } }))?.kind).toBe("bad");
    expect(soughtOf(report({ search: { kind: "unsure" } }))?.word).toBe("Several possible pages, none certain");
    const marks = {} as never;
    const page = { url: "https://a.b", title: "A", score: 0.87, marks, why: "" };
    expect(soughtOf(report({ search: { kind: "found", page } }))?.word).toBe(
      "Another page documents it (87% confidence)",
    );
  });

  it("tells when a page is tried again", () => {
    expect(nextTry(null, 1, NOW)).toBe("");
    expect(nextTry("2026-01-10T18:00:00Z", 1, NOW)).toBe("Next attempt in 6 hours.");
    expect(nextTry("2026-01-10T11:00:00Z", 2, NOW)).toBe("Failed 2 times in a row. Next attempt soon.");
  });
});

describe("texts of the engine", () => {
  it("become sentences, addresses stay addresses", () => {
    expect(sentence("its title names the tool")).toBe("Its title names the tool.");
    expect(sentence("http://a.b redirects in a circle")).toBe("http://a.b redirects in a circle.");
    expect(sentence("docs.example.org has no valid certificate")).toBe("docs.example.org has no valid certificate.");
    expect(sentence("Done!")).toBe("Done!");
    expect(sentence("")).toBe("");
  });

  it("and values are shown as they would be written", () => {
    expect([valueText("x"), valueText(""), valueText(null), valueText(["a"])]).toEqual([
      "x",
      "nothing",
      "nothing",
      '[\n "a"\n]',
    ]);
  });
});

describe("what could not be judged", () => {
  it("is not held against the card", () => {
    const marks = {} as NonNullable<Report["page"]>["marks"];
    const page = { about: false, condition: "empty" as const, why: "", quote: "", score: 0, marks };
    const empty = report({ state: "unreachable", page });
    expect(isEmpty(empty)).toBe(true);
    expect(verdictOf(empty)).toBe("The page has almost no text without JavaScript, so the card wasn't judged.");
    expect(soughtOf(report({ search: { kind: "no_search" } }))?.kind).toBe("warn");
    expect(soughtOf(report({ search: { kind: "search_failed", why: "it broke" } }))?.word).toContain(
      "the search failed",
    );
  });
});
