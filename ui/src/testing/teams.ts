// Teams for component tests.

import type { TeamDirectory, TeamEntry, TeamKept, TeamMembers, TeamState } from "../lib/bindings";

export const KITCHEN: TeamEntry = {
  id: "kitchen",
  name: "The kitchen",
  server: "wss://teams.example.org",
  member: "ann",
  folder: "/library/teams/kitchen",
};

export function teamState(more: Partial<TeamState> = {}): TeamState {
  return {
    team: KITCHEN,
    is_connected: true,
    error: null,
    synced_at: new Date(Date.now() - 120_000).toISOString(),
    unsent: 0,
    received: 0,
    sent: 0,
    conflicts: 0,
    invalid: 0,
    notices: [],
    left_out: 0,
    kept: kept(),
    ...more,
  };
}

/** What is kept of a team's cards on this computer. */
export function kept(more: Partial<TeamKept> = {}): TeamKept {
  return {
    cards: { providers: [], kinds: [], tags: [] },
    is_applied: true,
    is_incomplete: false,
    limit: 200_000,
    ...more,
  };
}

/** Ann, who asks, and Bob. */
export function membersOf(role: "admin" | "reader"): TeamMembers {
  return {
    members: [
      { name: "ann", role, groups: [], active: true, is_self: true },
      { name: "bob", role: "reader", groups: ["cooks"], active: true, is_self: false },
    ],
    groups: ["cooks"],
  };
}

/** What Ann, a reviewer among a member of each role, knows of her team. */
export function directoryOf(more: Partial<TeamDirectory> = {}): TeamDirectory {
  return {
    self_name: "ann",
    members: [
      { name: "amy", role: "admin" },
      { name: "ann", role: "reviewer" },
      { name: "bob", role: "contributor" },
      { name: "cid", role: "reader" },
    ],
    groups: ["cooks"],
    may_share: true,
    new_cards: { kind: "team" },
    ...more,
  };
}
