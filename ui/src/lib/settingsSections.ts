// The sections of Settings, in their order.

import { general as texts } from "../texts/settings/general";

export const SETTINGS_SECTIONS = [
  { id: "llm", name: texts.sections.llm },
  { id: "search", name: texts.sections.search },
  { id: "network", name: texts.sections.network },
  { id: "keys", name: texts.sections.keys },
  { id: "prompts", name: texts.sections.prompts },
  { id: "agents", name: texts.sections.agents },
  { id: "servers", name: texts.sections.servers },
  { id: "market", name: texts.sections.market },
  { id: "permissions", name: texts.sections.permissions },
  { id: "sessions", name: texts.sections.sessions },
  { id: "api-keys", name: texts.sections.apiKeys },
  { id: "vocabulary", name: texts.sections.vocabulary },
  { id: "personalization", name: texts.sections.personalization },
  { id: "pages", name: texts.sections.pages },
  { id: "checks", name: texts.sections.checks },
  { id: "review", name: texts.sections.review },
  { id: "bundles", name: texts.sections.bundles },
  { id: "models", name: texts.sections.models },
  { id: "look", name: texts.sections.look },
  { id: "state", name: texts.sections.state },
];

/** Returns the section that a remedy names, as in "Check the URL in Settings, Web search." */
export function sectionOf(remedy: string): { id: string; name: string } | undefined {
  return SETTINGS_SECTIONS.find(({ name }) => remedy.includes(`Settings, ${name}`));
}
