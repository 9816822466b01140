// What checking a card against its page came to, in words.

import type { CardState, CardSummary, Claim, HealthFilter, LinkHealth, LinkState, Report, Standing } from "./bindings";
import { ago, count, moment, percent, took } from "./format";
import type { IconName } from "../parts/Icon.svelte";

/** How something is shown: a word, its colour and its shape, so that colour alone never tells. */
export interface Shown {
  word: string;
  kind: "good" | "warn" | "bad" | "";
  icon: IconName;
}

/** In the order a person should look at them. */
export const HEALTH: Record<HealthFilter, Shown> = {
  broken: { word: "Broken", kind: "bad", icon: "broken" },
  stale: { word: "Stale", kind: "warn", icon: "differs" },
  unreachable: { word: "Not reached", kind: "", icon: "clock" },
  changed: { word: "Changed since its check", kind: "", icon: "differs" },
  never: { word: "Never checked", kind: "", icon: "minus" },
  verified: { word: "Verified", kind: "good", icon: "check" },
};

/** The badge of a card: what the newest check found, else what the card says. */
export function badgeOf(card: CardSummary, now = Date.now()): Shown & { title: string } {
  const { health, checked_at: at } = card;
  if (!health || !at) {
    return card.verified
      ? {
          ...HEALTH.verified,
          kind: "",
          word: "Verified, says the card",
          title: "AutoKit has not checked this card against its page yet",
        }
      : { ...HEALTH.never, word: "Not verified yet", title: "AutoKit has not checked this card against its page yet" };
  }
  const when = ago(at, now);
  const title = `Checked ${moment(at)}`;
  if (card.changed)
    return { ...HEALTH.changed, title: `${title}, as it was then: ${HEALTH[health].word.toLowerCase()}` };
  const words: Record<CardState, string> = {
    verified: `Verified ${when}`,
    stale: `Page differs, checked ${when}`,
    broken: card.documentation ? `Page is gone, checked ${when}` : `No page, checked ${when}`,
    unreachable: `Page not reached, tried ${when}`,
  };
  return { ...HEALTH[health], word: words[health], title };
}

/** What a check came to, in a sentence. */
export function verdictOf(report: Report): string {
  const against = report.claims.filter((claim) => claim.standing === "contradicted").length;
  switch (report.state) {
    case "verified":
      return "Its page is about this tool and says what the card says.";
    case "stale":
      return against
        ? `Its page is about this tool, but says otherwise about ${count(against, "field")}.`
        : "Its page is about this tool, but does not say enough of what the card says.";
    case "unreachable":
      if (isEmpty(report)) return "The page has next to no text without a browser's help; it was not judged.";
      return "Couldn't reach the page, so the card wasn't judged.";
    case "broken":
      if (report.link.state === "missing") return "The card names no documentation page.";
      return report.link.state === "delivered"
        ? "What is at its address does not document this tool."
        : "There is no page at its address.";
  }
}

/** Whether its page is one that a browser has to put together: what is not seen on it proves nothing. */
export function isEmpty(report: Report): boolean {
  return report.state === "unreachable" && report.page?.condition === "empty";
}

/** When a page is tried again: "Tried again in 6 hours". */
export function nextTry(next: string | null, attempts: number, now = Date.now()): string {
  if (!next) return "";
  const failed = attempts > 1 ? `Failed ${attempts} times in a row. ` : "";
  const due = Date.parse(next) <= now;
  return `${failed}Tried again ${due ? "soon; it is due" : ago(next, now)}.`;
}

const LINKS: Record<LinkState, Omit<Shown, "icon">> = {
  delivered: { word: "Page delivered", kind: "good" },
  missing: { word: "No address", kind: "bad" },
  no_page: { word: "No such page", kind: "bad" },
  circle: { word: "Redirects lead nowhere", kind: "bad" },
  not_a_page: { word: "Not a page", kind: "bad" },
  bad_address: { word: "Not an address", kind: "bad" },
  insecure: { word: "Certificate does not hold", kind: "bad" },
  closed: { word: "Closed to programs", kind: "warn" },
  failing: { word: "The site fails", kind: "warn" },
};

export function linkOf(link: LinkHealth): Shown {
  const { word, kind } = LINKS[link.state];
  return { word, kind, icon: kind === "good" ? "check" : kind === "bad" ? "broken" : "clock" };
}

/** What is known of the way to a page: "status 200, 1 redirect, 340 ms, not encrypted". */
export function wayOf(link: LinkHealth): string {
  if (!link.url) return "";
  const redirects = Math.max(0, link.hops.length - 1);
  const facts = [
    link.status === null ? "" : `Status ${link.status}`,
    redirects ? count(redirects, "redirect") : "",
    link.ms === null ? "" : took(link.ms),
    // Nothing is known of a way nobody went.
    link.hops.length ? (link.encrypted ? "encrypted" : "not encrypted") : "",
  ];
  return facts.filter(Boolean).join(", ");
}

export const STANDINGS: Record<Standing, Shown> = {
  contradicted: { word: "Page says otherwise", kind: "warn", icon: "differs" },
  unsaid: { word: "Not on the card", kind: "", icon: "plus" },
  supported: { word: "Page says so", kind: "good", icon: "check" },
  not_found: { word: "Page does not say", kind: "", icon: "minus" },
};

const ORDER: Standing[] = ["contradicted", "unsaid", "supported", "not_found"];

/** Claims in the order a person should look at them. */
export function inOrder(claims: Claim[]): Claim[] {
  return [...claims].sort((a, b) => ORDER.indexOf(a.standing) - ORDER.indexOf(b.standing));
}

/** "2 say otherwise, 3 supported, 1 not found". */
export function tallyOf(claims: Claim[]): string {
  const words: Record<Standing, string> = {
    contradicted: "contradicted",
    unsaid: "not on the card",
    supported: "supported",
    not_found: "not found",
  };
  return ORDER.map(
    (standing) => [claims.filter((claim) => claim.standing === standing).length, words[standing]] as const,
  )
    .filter(([n]) => n)
    .map(([n, word]) => `${n} ${word}`)
    .join(", ");
}

/** What looking for another page came to; nothing when nobody looked. */
export function soughtOf(report: Report): Shown | null {
  switch (report.search?.kind) {
    case undefined:
      return null;
    case "found":
      return {
        word: `Another page documents it, ${percent(report.search.page.score)} sure`,
        kind: "good",
        icon: "check",
      };
    case "gone":
      return { word: "No page documents this tool any more", kind: "bad", icon: "broken" };
    case "unsure":
      return { word: "Some pages may be it, none clearly", kind: "warn", icon: "warning" };
    case "nothing_found":
      return { word: "Nothing was found", kind: "", icon: "minus" };
    case "no_search":
      return { word: "Not looked for elsewhere: no search service is chosen", kind: "warn", icon: "warning" };
    case "search_failed":
      return { word: "Could not be looked for elsewhere: searching failed", kind: "warn", icon: "warning" };
  }
}

/** The engine writes halves of sentences; here they stand by themselves. Addresses stay as they are. */
export function sentence(text: string): string {
  const [word = ""] = text.split(/\s/, 1);
  const begun = /[./:]\w/.test(word) ? text : text.charAt(0).toUpperCase() + text.slice(1);
  return !begun || /[.!?…]$/.test(begun) ? begun : `${begun}.`;
}

/** A value of a field on one line, or as it would stand in a file. */
export function valueText(value: unknown): string {
  if (value === null || value === undefined || value === "") return "nothing";
  return typeof value === "string" ? value : JSON.stringify(value, null, 1);
}
