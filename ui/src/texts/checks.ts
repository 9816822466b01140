// Texts of checking cards against their documentation pages.

import { count, percent } from "../lib/format";

export const checks = {
  // How a card stands
  health: {
    broken: "Broken",
    stale: "Stale",
    unreachable: "Not reached",
    changed: "Changed since its check",
    never: "Never checked",
    verified: "Verified",
  },
  saysVerified: "Verified, says the card",
  notChecked: "AutoKit has not checked this card against its page yet",
  notVerified: "Not verified yet",
  verdicts: {
    verified: "Its page is about this tool and says what the card says.",
    unsaid: "Its page is about this tool, but does not say enough of what the card says.",
    empty: "The page has next to no text without a browser's help; it was not judged.",
    unreachable: "Couldn't reach the page, so the card wasn't judged.",
    missing: "The card names no documentation page.",
    otherPage: "What is at its address does not document this tool.",
    gone: "There is no page at its address.",
    against: (n: number) => `Its page is about this tool, but says otherwise about ${count(n, "field")}.`,
  },
  links: {
    delivered: "Page delivered",
    missing: "No address",
    no_page: "No such page",
    circle: "Redirects lead nowhere",
    not_a_page: "Not a page",
    bad_address: "Not an address",
    insecure: "Certificate does not hold",
    closed: "Closed to programs",
    failing: "The site fails",
  },
  encrypted: "encrypted",
  notEncrypted: "not encrypted",
  standings: {
    contradicted: "Page says otherwise",
    unsaid: "Not on the card",
    supported: "Page says so",
    not_found: "Page does not say",
  },
  tally: { contradicted: "contradicted", unsaid: "not on the card", supported: "supported", not_found: "not found" },
  sought: {
    gone: "No page documents this tool any more",
    unsure: "Some pages may be it, none clearly",
    nothing: "Nothing was found",
    noSearch: "Not looked for elsewhere: no search service is chosen",
    failed: "Could not be looked for elsewhere: searching failed",
  },
  checkedAt: (when: string) => `Checked ${when}`,
  asItWas: (checked: string, word: string) => `${checked}, as it was then: ${word}`,
  verified: (when: string) => `Verified ${when}`,
  stale: (when: string) => `Page differs, checked ${when}`,
  broken: (when: string) => `Page is gone, checked ${when}`,
  noPage: (when: string) => `No page, checked ${when}`,
  unreachable: (when: string) => `Page not reached, tried ${when}`,
  triedAgain: (attempts: number, when: string | null) =>
    `${attempts > 1 ? `Failed ${attempts} times in a row. ` : ""}Tried again ${when ?? "soon; it is due"}.`,
  status: (status: number) => `Status ${status}`,
  anotherPage: (share: number) => `Another page documents it, ${percent(share)} sure`,

  // The check of a card
  documentationCheck: "Documentation check",
  checking: "Checking…",
  neverChecked: "Never checked",
  changedSince: "The card was changed since. As it was then:",
  proposalWaits: "A proposal for this card waits in Review",
  neverComparedAbout:
    "Nobody compared this card with its page yet. Checking reads the page, follows its redirects, and looks for each thing the card says; what should change waits in Review.",
  noAddressAbout:
    "The card names no documentation page. Checking looks for one with the search service; what is found waits in Review.",
  improveHint: "Also propose a better description and what the card leaves out",
  details: "Details",
  proposalsWait: (n: number) => `${n} proposals for this card wait in Review`,

  // What a check found
  link: "Link",
  way: "The way to the page",
  page: "Page",
  notJudged: "Not judged",
  about: "About this tool",
  notAbout: "Not about this tool",
  search: "Search",
  chooseSearch: "Choose one in Settings, Web search.",
  claims: "Claims",
  cut: "The page shows more code than is read; its end was not looked at.",
  documentsIt: (share: number) => `${percent(share)} sure that it documents it`,
  againstFound: (tally: string) => `${tally}, against the page that was found`,
  judgedBy: (model: string) => `Judged by ${model}`,

  // Claims
  card: "Card",
  asModelRead: (word: string) => `${word}, as a language model read it`,

  // Found pages
  weighed: "Pages that were weighed",
  noTitle: "Without a title",
} as const;
