// The members and groups of the team whose library is open, for everything that offers them.

import type { DirectoryMember, TeamDirectory } from "./bindings";
import { engine } from "./engine.svelte";
import { navigation, type Pane } from "./navigation.svelte";
import { sharedResource } from "./resource.svelte";

/** Where it is shown. */
const PANES: Pane[] = ["library", "review", "settings"];

/** `null` in a library that is not a team's, and until it is known. */
export const directory = sharedResource("team_directory", () => (engine.status ? {} : null), {
  invalidatedBy: ["team"],
  when: () => PANES.includes(navigation.pane),
  toastErrors: true,
});

/** Returns this person as a member; `undefined` for one who was removed. */
export function selfIn({ members, self_name }: TeamDirectory): DirectoryMember | undefined {
  return members.find(({ name }) => name === self_name);
}

/** Returns whether this person's role only lets them read. */
export function isReader(team: TeamDirectory): boolean {
  return (selfIn(team)?.role ?? "reader") === "reader";
}

/** Returns the members who may decide on proposals, this person first. */
export function reviewersIn({ members, self_name }: TeamDirectory): DirectoryMember[] {
  const reviewers = members.filter(({ role }) => role === "reviewer" || role === "admin");
  return [...reviewers.filter(({ name }) => name === self_name), ...reviewers.filter(({ name }) => name !== self_name)];
}
