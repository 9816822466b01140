import { describe, expect, it } from "vitest";
import type { CardSummary, Claim, ClaimVerdict, LinkHealth, Report } from "./bindings";
import {
  badgeOf,
  inOrder,
  isEmpty,
  linkOf,
  nextTry,
  sentence,
  pageSearchResult,
  tallyOf,
  valueText,
  verdictOf,
  linkSummary,
} from "./checks";
import { moment } from "./format";
import { cardOf } from "../testing/fixtures";
import { checks as texts } from "../texts/checks";
import { common } from "../texts/common";
import { format } from "../texts/format";

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
  repository: null,
  judged_by: "rules",
  ...more,
});

describe("the badge of a card", () => {
  it("says when the card is another by now", () => {
    const shown = badgeOf(card({ health: "verified", checked_at: TWO_DAYS_AGO, changed: true }), NOW);
    expect(shown.word).toBe(texts.health.changed);
    expect(shown.kind).toBe("");
    const checked = texts.checkedAt(moment(TWO_DAYS_AGO));
    expect(shown.title).toBe(texts.asItWas(checked, texts.health.verified.toLowerCase()));
  });

  it("tells what the newest check found and when", () => {
    const words = (["verified", "stale", "broken", "unreachable"] as const).map(
      (health) => badgeOf(card({ health, checked_at: TWO_DAYS_AGO }), NOW).word,
    );
    const when = "2 days ago";
    expect(words).toEqual([texts.verified(when), texts.stale(when), texts.broken(when), texts.unreachable(when)]);
    const without = badgeOf(card({ health: "broken", checked_at: TWO_DAYS_AGO, documentation: null }), NOW);
    expect(without.word).toBe(texts.noPage(when));
  });

  it("falls back on what the card says, which proves nothing", () => {
    expect(badgeOf(card({ verified: true }))).toMatchObject({ word: texts.saysVerified, kind: "" });
    expect(badgeOf(card({}))).toMatchObject({ word: texts.notVerified, kind: "" });
  });
});

describe("a report", () => {
  it("comes down to a sentence", () => {
    const stale = report({ state: "stale", claims: [claim("module", "contradicted"), claim("class", "supported")] });
    expect(verdictOf(stale)).toBe(texts.verdicts.against(1));
    expect(verdictOf(report({ state: "stale" }))).toBe(texts.verdicts.unsaid);
    expect(verdictOf(report({ state: "broken" }))).toBe(texts.verdicts.otherPage);
    expect(verdictOf(report({ state: "broken", link: link({ state: "no_page" }) }))).toBe(texts.verdicts.gone);
    expect(verdictOf(report({ state: "broken", link: link({ state: "missing", url: null }) }))).toBe(
      texts.verdicts.missing,
    );
  });

  it("tells the way to the page", () => {
    const [status, took] = [texts.status(200), format.milliseconds(340)];
    expect(linkSummary(link())).toBe(`${status}, ${took}, ${texts.encrypted}`);
    const hops = ["http://a.b", "https://a.b", "https://a.b/c"].map((url) => ({ url, status: 301 }));
    expect(linkSummary(link({ hops, encrypted: false }))).toBe(
      `${status}, ${common.redirects(2)}, ${took}, ${texts.notEncrypted}`,
    );
    expect(linkSummary(link({ state: "failing", status: null, hops: [], ms: null }))).toBe("");
    expect(linkSummary(link({ url: null }))).toBe("");
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
    const { contradicted, unsaid, supported, not_found } = texts.tally;
    expect(tallyOf(claims)).toBe(`1 ${contradicted}, 1 ${unsaid}, 1 ${supported}, 1 ${not_found}`);
    expect(tallyOf([])).toBe("");
  });

  it("tells what the search came to", () => {
    expect(pageSearchResult(report())).toBeNull();
    expect(pageSearchResult(report({ search: { kind: "gone" } }))?.kind).toBe("bad");
    expect(pageSearchResult(report({ search: { kind: "unsure" } }))?.word).toBe(texts.sought.unsure);
    const marks = {} as never;
    const page = { url: "https://a.b", title: "A", score: 0.87, marks, why: "" };
    expect(pageSearchResult(report({ search: { kind: "found", page } }))?.word).toBe(texts.anotherPage(0.87));
  });

  it("tells when a page is tried again", () => {
    expect(nextTry(null, 1, NOW)).toBe("");
    expect(nextTry("2026-01-10T18:00:00Z", 1, NOW)).toBe(texts.triedAgain(1, "in 6 hours"));
    expect(nextTry("2026-01-10T11:00:00Z", 2, NOW)).toBe(texts.triedAgain(2, null));
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
      common.nothing,
      common.nothing,
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
    expect(verdictOf(empty)).toBe(texts.verdicts.empty);
    expect(pageSearchResult(report({ search: { kind: "no_search" } }))?.kind).toBe("warn");
    expect(pageSearchResult(report({ search: { kind: "search_failed", why: "it broke" } }))?.word).toBe(
      texts.sought.failed,
    );
  });
});
