// Texts of checks of cards against their documentation pages.

import type { RepositoryNote } from "../lib/bindings";
import { count, percent } from "../lib/format";

export const checks = {
  // Health states
  health: {
    broken: "Broken",
    stale: "Stale",
    unreachable: "Unreachable",
    changed: "Changed since check",
    never: "Never checked",
    verified: "Verified",
  },
  saysVerified: "Marked verified",
  notChecked: "AutoKit hasn't checked this card against its page yet",
  notVerified: "Not verified yet",
  verdicts: {
    verified: "The page documents this tool and supports the card.",
    unsaid: "The page documents this tool but doesn't support enough of the card.",
    empty: "The page has almost no text without JavaScript, so the card wasn't judged.",
    unreachable: "Couldn't reach the page, so the card wasn't judged.",
    missing: "The card has no documentation link.",
    otherPage: "The linked page doesn't document this tool.",
    gone: "The linked page doesn't exist.",
    against: (n: number) => `The page documents this tool but contradicts ${count(n, "field")}.`,
  },
  links: {
    delivered: "OK",
    missing: "No URL",
    no_page: "Page not found",
    circle: "Redirect loop",
    not_a_page: "Not a page",
    bad_address: "Invalid URL",
    insecure: "Invalid certificate",
    closed: "Access denied",
    failing: "Server error",
  },
  encrypted: "encrypted",
  notEncrypted: "not encrypted",
  standings: {
    contradicted: "Contradicted by page",
    unsaid: "Missing from card",
    supported: "Supported by page",
    not_found: "Not mentioned",
  },
  tally: {
    contradicted: "contradicted",
    unsaid: "missing from card",
    supported: "supported",
    not_found: "not mentioned",
  },
  sought: {
    gone: "No page documents this tool anymore",
    unsure: "Several possible pages, none certain",
    nothing: "Nothing found",
    noSearch: "Didn't search for another page: no search service is configured",
    failed: "Couldn't search for another page: the search failed",
  },
  checkedAt: (when: string) => `Checked ${when}`,
  asItWas: (checked: string, word: string) => `${checked}, before later edits: ${word}`,
  verified: (when: string) => `Verified ${when}`,
  stale: (when: string) => `Page differs, checked ${when}`,
  broken: (when: string) => `Page is gone, checked ${when}`,
  noPage: (when: string) => `No page, checked ${when}`,
  unreachable: (when: string) => `Page unreachable, tried ${when}`,
  triedAgain: (attempts: number, when: string | null) =>
    `${attempts > 1 ? `Failed ${attempts} times in a row. ` : ""}Next attempt ${when ?? "soon"}.`,
  status: (status: number) => `Status ${status}`,
  anotherPage: (share: number) => `Another page documents it (${percent(share)} confidence)`,

  // Check of a card
  documentationCheck: "Documentation check",
  checking: "Checking…",
  neverChecked: "Never checked",
  changedSince: "The card has changed since this check. Result at that time:",
  proposalWaits: "A proposal for this card is pending review",
  neverComparedAbout:
    "This card hasn't been compared with its page yet. A check reads the page, follows redirects and looks for every claim on the card. Suggested changes go to Review.",
  noAddressAbout:
    "This card has no documentation link. A check searches the web for one. What it finds goes to Review.",
  improveHint: "Also propose a better description and missing fields",
  details: "Details",
  proposalsWait: (n: number) => `${n} proposals for this card are pending review`,

  // Report
  link: "Link",
  way: "Redirects",
  page: "Page",
  notJudged: "Not judged",
  about: "Documents this tool",
  notAbout: "Doesn't document this tool",
  search: "Search",
  chooseSearch: "Choose one in Settings, Web search.",
  claims: "Claims",
  repository: "GitHub",
  archived: "Archived: no longer maintained",
  repositoryFacts: (repository: RepositoryNote) =>
    [
      count(repository.stars, "star"),
      repository.license,
      repository.release && `release ${repository.release}`,
      repository.changed_at && `last updated ${repository.changed_at.split("T")[0]}`,
    ]
      .filter(Boolean)
      .join(" · "),
  cut: "The page has more code than is read; the rest was skipped.",
  documentsIt: (share: number) => `${percent(share)} confidence`,
  againstFound: (tally: string) => `${tally}, compared with the page that was found`,
  judgedBy: (model: string) => `Judged by ${model}`,

  // Claims
  card: "Card",
  asModelRead: (word: string) => `${word}, according to the language model`,

  // Candidate pages
  weighed: "Pages considered",
  noTitle: "Untitled",
} as const;
