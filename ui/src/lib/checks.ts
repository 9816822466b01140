// Results of checks of cards against their pages, for display.

import type {
  CardState,
  CardSummary,
  Claim,
  ClaimVerdict,
  HealthFilter,
  LinkHealth,
  LinkState,
  Report,
} from "./bindings";
import { ago, currentTime, moment, took } from "./format";
import { common } from "../texts/common";
import { checks as texts } from "../texts/checks";
import type { IconName } from "../parts/Icon.svelte";

/** How something is displayed. Word, color and icon: color alone never carries the meaning. */
export interface Shown {
  word: string;
  kind: "good" | "warn" | "bad" | "";
  icon: IconName;
}

/** Health states, most urgent first. */
export const HEALTH: Record<HealthFilter, Shown> = {
  broken: { word: texts.health.broken, kind: "bad", icon: "broken" },
  stale: { word: texts.health.stale, kind: "warn", icon: "differs" },
  unreachable: { word: texts.health.unreachable, kind: "", icon: "clock" },
  changed: { word: texts.health.changed, kind: "", icon: "differs" },
  never: { word: texts.health.never, kind: "", icon: "minus" },
  verified: { word: texts.health.verified, kind: "good", icon: "check" },
};

/** Returns a card's badge: the latest check result, or what the card says about itself. */
export function badgeOf(card: CardSummary, now = currentTime()): Shown & { title: string } {
  const { health, checked_at: at } = card;
  if (!health || !at) {
    return card.verified
      ? {
          ...HEALTH.verified,
          kind: "",
          word: texts.saysVerified,
          title: texts.notChecked,
        }
      : { ...HEALTH.never, word: texts.notVerified, title: texts.notChecked };
  }
  const when = ago(at, now);
  const title = texts.checkedAt(moment(at));
  if (card.changed) return { ...HEALTH.changed, title: texts.asItWas(title, HEALTH[health].word.toLowerCase()) };
  const words: Record<CardState, string> = {
    verified: texts.verified(when),
    stale: texts.stale(when),
    broken: card.documentation ? texts.broken(when) : texts.noPage(when),
    unreachable: texts.unreachable(when),
  };
  return { ...HEALTH[health], word: words[health], title };
}

/** Describes the result of a check in a sentence. */
export function verdictOf(report: Report): string {
  const against = report.claims.filter((claim) => claim.standing === "contradicted").length;
  switch (report.state) {
    case "verified":
      return texts.verdicts.verified;
    case "stale":
      return against ? texts.verdicts.against(against) : texts.verdicts.unsaid;
    case "unreachable":
      if (isEmpty(report)) return texts.verdicts.empty;
      return texts.verdicts.unreachable;
    case "broken":
      if (report.link.state === "missing") return texts.verdicts.missing;
      return report.link.state === "delivered" ? texts.verdicts.otherPage : texts.verdicts.gone;
  }
}

/** Returns whether the page is rendered by scripts in a browser; its static content then proves nothing. */
export function isEmpty(report: Report): boolean {
  return report.state === "unreachable" && report.page?.condition === "empty";
}

/** Describes when a page is tried again: "Tried again in 6 hours". */
export function nextTry(next: string | null, attempts: number, now = currentTime()): string {
  if (!next) return "";
  const due = Date.parse(next) <= now;
  return texts.triedAgain(attempts, due ? null : ago(next, now));
}

const LINKS: Record<LinkState, Omit<Shown, "icon">> = {
  delivered: { word: texts.links.delivered, kind: "good" },
  missing: { word: texts.links.missing, kind: "bad" },
  no_page: { word: texts.links.no_page, kind: "bad" },
  circle: { word: texts.links.circle, kind: "bad" },
  not_a_page: { word: texts.links.not_a_page, kind: "bad" },
  bad_address: { word: texts.links.bad_address, kind: "bad" },
  insecure: { word: texts.links.insecure, kind: "bad" },
  closed: { word: texts.links.closed, kind: "warn" },
  failing: { word: texts.links.failing, kind: "warn" },
};

export function linkOf(link: LinkHealth): Shown {
  const { word, kind } = LINKS[link.state];
  return { word, kind, icon: kind === "good" ? "check" : kind === "bad" ? "broken" : "clock" };
}

/** Describes how a page was reached: "status 200, 1 redirect, 340 ms, not encrypted". */
export function linkSummary(link: LinkHealth): string {
  if (!link.url) return "";
  const redirects = Math.max(0, link.hops.length - 1);
  const facts = [
    link.status === null ? "" : texts.status(link.status),
    redirects ? common.redirects(redirects) : "",
    link.ms === null ? "" : took(link.ms),
    // Encryption is unknown if no request was made.
    link.hops.length ? (link.encrypted ? texts.encrypted : texts.notEncrypted) : "",
  ];
  return facts.filter(Boolean).join(", ");
}

export const CLAIM_VERDICTS: Record<ClaimVerdict, Shown> = {
  contradicted: { word: texts.standings.contradicted, kind: "warn", icon: "differs" },
  unsaid: { word: texts.standings.unsaid, kind: "", icon: "plus" },
  supported: { word: texts.standings.supported, kind: "good", icon: "check" },
  not_found: { word: texts.standings.not_found, kind: "", icon: "minus" },
};

const ORDER: ClaimVerdict[] = ["contradicted", "unsaid", "supported", "not_found"];

/** Sorts claims, most urgent first. */
export function inOrder(claims: Claim[]): Claim[] {
  return [...claims].sort((a, b) => ORDER.indexOf(a.standing) - ORDER.indexOf(b.standing));
}

/** Counts claims by standing: "2 say otherwise, 3 supported, 1 not found". */
export function tallyOf(claims: Claim[]): string {
  const words: Record<ClaimVerdict, string> = {
    contradicted: texts.tally.contradicted,
    unsaid: texts.tally.unsaid,
    supported: texts.tally.supported,
    not_found: texts.tally.not_found,
  };
  return ORDER.map(
    (standing) => [claims.filter((claim) => claim.standing === standing).length, words[standing]] as const,
  )
    .filter(([n]) => n)
    .map(([n, word]) => `${n} ${word}`)
    .join(", ");
}

/** Returns the result of searching for another page; `null` if there was no search. */
export function pageSearchResult(report: Report): Shown | null {
  switch (report.search?.kind) {
    case undefined:
      return null;
    case "found":
      return {
        word: texts.anotherPage(report.search.page.score),
        kind: "good",
        icon: "check",
      };
    case "gone":
      return { word: texts.sought.gone, kind: "bad", icon: "broken" };
    case "unsure":
      return { word: texts.sought.unsure, kind: "warn", icon: "warning" };
    case "nothing_found":
      return { word: texts.sought.nothing, kind: "", icon: "minus" };
    case "no_search":
      return { word: texts.sought.noSearch, kind: "warn", icon: "warning" };
    case "search_failed":
      return { word: texts.sought.failed, kind: "warn", icon: "warning" };
  }
}

/** Turns a sentence fragment from the engine into a sentence. A leading address is left unchanged. */
export function sentence(text: string): string {
  const [word = ""] = text.split(/\s/, 1);
  const begun = /[./:]\w/.test(word) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return !begun || /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

/** Formats a field's value: strings unchanged, everything else as indented JSON. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === "") return common.nothing;
  return typeof value === "string" ? value : JSON.stringify(value, null, 1);
}
