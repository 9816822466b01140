// Default responses of the engine, for tests to which the details do not matter.

import type {
  Answer,
  CardSummary,
  FieldDiff,
  ImportItem,
  ItemStatus,
  JsonValue,
  LibraryHealth,
  ProposalDetail,
} from "../lib/bindings";

export const NO_HEALTH: LibraryHealth = {
  total: 0,
  verified: 0,
  stale: 0,
  broken: 0,
  unreachable: 0,
  changed: 0,
  never_checked: 0,
  trend: [],
};

export function cardOf(id: string, name: string): CardSummary {
  return {
    id,
    name,
    provider: "vendor",
    kind: "class",
    language: "python",
    description: `Does what ${name} does.`,
    documentation: null,
    verified: false,
    health: null,
    checked_at: null,
    changed: false,
    callable: false,
    tags: [],
    number: 1,
    updated_at: "2026-01-01T00:00:00Z",
  };
}

/** Creates a proposal, discovered on a page, that sets the given fields. */
export function proposalOf(
  id: number,
  title: string,
  fields: { [field: string]: JsonValue },
  diff: FieldDiff[],
  more: Partial<ProposalDetail["proposal"]> = {},
): ProposalDetail {
  return {
    proposal: {
      id,
      draft: {
        card: null,
        base: null,
        origin: "discovery",
        reason: "found on a page",
        similar: [],
        basis: null,
        candidates: [],
        arrived: null,
        fields: Object.entries(fields).map(([field, value]) => ({ field, value, evidence: [], confidence: 0.9 })),
      },
      proposed_by: "Discovery",
      created_at: "2026-01-01T00:00:00Z",
      state: "pending",
      decided_at: null,
      decided_by: null,
      decision: null,
      accepted: [],
      decisions: [],
      approvals: [],
      rebased: {},
      conflicts: [],
      risk: "low",
      assigned_to: null,
      ...more,
    },
    title,
    card: null,
    diff,
    revision: null,
    unchanged: {},
    risks: {},
    suspect: [],
    needed: 1,
    team: null,
    similar: [],
    events: [],
  };
}

export function importItem(
  position: number,
  name: string,
  status: ItemStatus,
  more: Partial<ImportItem> = {},
): ImportItem {
  return {
    position,
    name,
    provider: "",
    status,
    card: null,
    problems: [],
    diff: [],
    conflicts: [],
    similar: [],
    by: "",
    at: "",
    licence: null,
    behind: false,
    suspect: false,
    reverts: false,
    ...more,
  };
}

/** How a candidate was ranked, by words alone. */
export const BY_WORDS = {
  keyword: 0.8,
  vector: 0,
  constraints: 0,
  name: 0,
  feedback: 0,
  lookup: 0,
  direction: 0,
  bm25: 0,
  coverage: 1,
  matched_terms: [],
};

/** An answer with two candidates, `one` with code and `two` without, each with a sentence that limits it. */
export function answerTo(question: string, more: Partial<Answer> = {}): Answer {
  const parts = { ...BY_WORDS, matched_terms: [{ word: "mail", field: "description" as never, term: "mail" }] };
  const candidate = (id: string) => ({
    card: cardOf(id, `${question} ${id}`),
    score: 0.9,
    parts,
    sentence: `What ${id} does.`,
    limits: [`${id} is not free.`],
    stub: id === "one" ? { language: "python", code: "import one" } : null,
  });
  return {
    question,
    verdict: "answered",
    confidence: 0.93,
    candidates: [candidate("one"), candidate("two")],
    notes: ["Keyword search only"],
    searched: 100,
    took_ms: 3,
    ...more,
  };
}
