// The groups of Settings and their sections, in their order.

import { inApp } from "./host";
import { general as texts } from "../texts/settings/general";

const SECTIONS = {
  look: texts.sections.look,
  computer: texts.sections.computer,
  updates: texts.sections.updates,
  state: texts.sections.state,
  llm: texts.sections.llm,
  search: texts.sections.search,
  keys: texts.sections.keys,
  models: texts.sections.models,
  prompts: texts.sections.prompts,
  agents: texts.sections.agents,
  servers: texts.sections.servers,
  market: texts.sections.market,
  permissions: texts.sections.permissions,
  "api-keys": texts.sections.apiKeys,
  checks: texts.sections.checks,
  review: texts.sections.review,
  pages: texts.sections.pages,
  vocabulary: texts.sections.vocabulary,
  personalization: texts.sections.personalization,
  bundles: texts.sections.bundles,
  backups: texts.sections.backups,
  libraries: texts.sections.libraries,
  team: texts.sections.team,
  network: texts.sections.network,
  sessions: texts.sections.sessions,
};

export type SectionId = keyof typeof SECTIONS;

export interface SettingsSection {
  id: SectionId;
  name: string;
}

export interface SettingsGroup {
  id: string;
  name: string;
  sections: SettingsSection[];
}

const group = (id: keyof typeof texts.groups, ...sections: SectionId[]): SettingsGroup => ({
  id,
  name: texts.groups[id],
  sections: sections.map((section) => ({ id: section, name: SECTIONS[section] })),
});

/** Sections about the window on this computer. A browser has no such window. */
const OF_THE_APP: SectionId[] = inApp() ? ["computer", "updates"] : [];

export const SETTINGS_GROUPS = [
  group("general", "look", ...OF_THE_APP, "state"),
  group("services", "llm", "search", "keys", "models", "prompts"),
  group("agents", "agents", "servers", "market", "permissions", "api-keys"),
  group("library", "checks", "review", "pages", "vocabulary", "personalization", "bundles", "libraries", "backups"),
  group("team", "team"),
  group("advanced", "network", "sessions"),
];

/** Returns the group of a section; the first one for a section that does not exist. */
export function groupOf(section: string | null): SettingsGroup {
  return SETTINGS_GROUPS.find(({ sections }) => sections.some(({ id }) => id === section)) ?? SETTINGS_GROUPS[0]!;
}

/** Returns the section that a remedy names, as in "Check the URL in Settings, Web search." */
export function sectionOf(remedy: string): SettingsSection | undefined {
  return SETTINGS_GROUPS.flatMap(({ sections }) => sections).find(({ name }) => remedy.includes(`Settings, ${name}`));
}
