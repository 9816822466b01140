// Who sees a card of a team: the choices, and their names.

import type { CardVisibility, TeamDirectory, TeamRole } from "./bindings";
import { selfIn } from "./directory.svelte";
import { visibleLine } from "./visible";
import { team as texts } from "../texts/team";

/** Each role may do what the ones before it may. */
const ROLES = Object.keys(texts.roles) as TeamRole[];

/** Returns a text by which a visibility is compared, and found among others. */
export function visibilityKey(visibility: CardVisibility): string {
  return "of" in visibility ? `${visibility.kind} ${visibility.of}` : visibility.kind;
}

/** Returns the name of a visibility, for the member who is called `self`. */
export function visibilityName(visibility: CardVisibility, self: string): string {
  switch (visibility.kind) {
    case "everyone":
      return texts.everyone;
    case "team":
      return texts.wholeTeam;
    case "role":
      return texts.rolesAndUp[visibility.of];
    case "group":
      return texts.groupNamed(visibleLine(visibility.of));
    case "person":
      return visibility.of === self ? texts.onlyYou : texts.onlyMember(visibleLine(visibility.of));
  }
}

/** Returns what the name of a visibility leaves open, if anything. */
export function visibilityAbout({ kind }: CardVisibility): string | undefined {
  return kind === "everyone" ? texts.everyoneAbout : kind === "team" ? texts.wholeTeamAbout : undefined;
}

/**
 * Returns the visibilities to choose from, and the present one if it is not among them. The team lets nobody hide a card
 * from themselves, so the roles end with this person's own.
 */
export function visibilityChoices(team: TeamDirectory, present: CardVisibility | null): CardVisibility[] {
  const own = ROLES.indexOf(selfIn(team)?.role ?? "reader");
  const choices: CardVisibility[] = [
    { kind: "everyone" },
    { kind: "team" },
    // All members are readers at least.
    ...ROLES.slice(1, own + 1).map((of) => ({ kind: "role" as const, of })),
    ...team.groups.map((of) => ({ kind: "group" as const, of })),
    { kind: "person", of: team.self_name },
  ];
  const isListed = !present || choices.some((one) => visibilityKey(one) === visibilityKey(present));
  return isListed ? choices : [...choices, present];
}
