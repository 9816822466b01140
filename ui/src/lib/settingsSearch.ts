// The search in Settings. What it finds are the texts of the sections and their controls, plus a few words that people
// use for them.

import type { KeyName } from "./bindings";
import { fieldName } from "./format";
import { SCOPES } from "./permissions";
import { FIELDS } from "./sessions";
import { keyName, LLM_KINDS, LLM_PRESETS, SEARCH_KINDS } from "./settings";
import { SETTINGS_GROUPS, type SectionId, type SettingsGroup, type SettingsSection } from "./settingsSections";
import { bundles } from "../texts/bundles";
import { market } from "../texts/market";
import { permissions } from "../texts/permissions";
import { servers } from "../texts/servers";
import { sessions } from "../texts/sessions";
import { agents } from "../texts/settings/agents";
import { desktop } from "../texts/settings/desktop";
import { general } from "../texts/settings/general";
import { keys } from "../texts/settings/keys";
import { personalization } from "../texts/settings/personalization";
import { settingsSearch } from "../texts/settings/search";
import { services } from "../texts/settings/services";
import { vocabulary } from "../texts/settings/vocabulary";
import { libraries } from "../texts/libraries";
import { team } from "../texts/team";

const { words } = settingsSearch;

/** A section, or a control in one. */
interface Item {
  /** The name by which the control is found on the page. */
  label: string;
  hint?: string;
  /** Further words that lead here. */
  words?: string;
}

/** A match: a section if `control` is `null`, or the control of that name in it. */
export interface SettingsMatch {
  group: SettingsGroup;
  section: SettingsSection;
  control: string | null;
}

const named = (options: readonly { name: string; about?: string }[]) =>
  options.map(({ name, about = "" }) => `${name} ${about}`).join(" ");

const keyField = (name: KeyName): Item => ({ label: keys.keyFor(keyName(name), false), words: words.secret });

/** What each section is found by besides its name. */
const SECTION_TEXTS: Record<SectionId, Omit<Item, "label">> = {
  look: { words: words.look },
  computer: { hint: desktop.about, words: words.computer },
  updates: { hint: desktop.updatesAbout, words: words.updates },
  state: { hint: general.noTelemetry, words: words.state },
  llm: { hint: services.noLlmAbout, words: `${words.llm} ${named([...LLM_KINDS, ...LLM_PRESETS])}` },
  search: { words: `${words.search} ${named(SEARCH_KINDS)}` },
  keys: { words: words.keys },
  models: { hint: services.embeddingAbout, words: words.models },
  prompts: { hint: services.promptsAbout, words: words.prompts },
  agents: { hint: agents.about, words: words.agents },
  servers: {
    hint: servers.about,
    words: `${words.servers} ${named(Object.values(servers.transports))} ${servers.headers} ${servers.variables}`,
  },
  market: { hint: market.about, words: words.market },
  permissions: { hint: permissions.about, words: words.permissions },
  "api-keys": { hint: keys.apiKeysAbout, words: `${words.apiKeys} ${named(Object.values(keys.sorts))}` },
  checks: { hint: general.checksAbout, words: words.checks },
  review: { hint: general.policyAbout, words: words.review },
  pages: { hint: general.pagesAbout, words: words.pages },
  vocabulary: { hint: vocabulary.about, words: words.vocabulary },
  personalization: { hint: personalization.about, words: words.personalization },
  bundles: { hint: bundles.keysAbout, words: words.bundles },
  backups: { hint: general.backupsAbout, words: words.backups },
  libraries: { hint: libraries.about, words: words.libraries },
  team: { hint: team.about, words: words.team },
  network: { hint: services.networkAbout, words: words.network },
  sessions: { hint: sessions.about, words: words.sessions },
};

const CONTROLS: Record<SectionId, Item[]> = {
  look: [
    { label: general.theme, hint: Object.values(general.themes).join(" "), words: words.look },
    { label: general.textSize, words: words.textSize },
  ],
  computer: [
    { label: desktop.closeToTray },
    { label: desktop.notifications },
    { label: desktop.launchAtLogin },
    { label: desktop.quickAsk, hint: desktop.quickAskHint },
  ],
  updates: [
    { label: desktop.address, hint: desktop.addressHint },
    { label: desktop.key, hint: desktop.keyHint },
    { label: desktop.check },
  ],
  state: [{ label: general.verify }],
  llm: [
    { label: services.knownServices, hint: named(LLM_PRESETS) },
    { label: services.address, words: words.llm },
    { label: services.model, hint: services.modelAbout },
    { label: services.smallModel, hint: services.smallModelAbout },
    { label: services.priceIn, words: words.price },
    { label: services.priceOut, words: words.price },
    { label: services.limit, words: words.spending },
    { label: services.toolCalls },
    keyField("anthropic"),
    keyField("openai"),
    { label: services.testConnection },
  ],
  search: [
    { label: services.searchService, hint: named(SEARCH_KINDS) },
    { label: services.address },
    { label: services.preferred, hint: services.preferredHint },
    { label: services.askGithub },
    { label: services.githubAddress },
    keyField("tavily"),
    keyField("brave"),
    keyField("github"),
    { label: services.testConnection },
  ],
  keys: [{ label: keys.place, hint: named(Object.values(keys.places)), words: words.secret }],
  models: [],
  prompts: [],
  agents: [
    { label: agents.programs, words: words.agents },
    { label: agents.forPrograms, hint: agents.addressAbout, words: words.endpoint },
    { label: agents.port, words: words.endpoint },
    { label: agents.answerHere, words: words.endpoint },
    { label: agents.renewAsk, words: words.token },
  ],
  servers: [{ label: servers.addAsk }],
  market: [{ label: market.addSourceAsk }],
  permissions: [
    { label: permissions.profile },
    { label: permissions.addProfileAsk },
    ...SCOPES.map(({ name, hint }) => ({ label: name, hint, words: words.scopes })),
    { label: permissions.foundFirst, hint: permissions.foundFirstAbout },
    { label: permissions.foundAtAll, hint: permissions.onlyNamed },
    { label: permissions.alwaysThere, hint: permissions.alwaysThereAbout },
  ],
  "api-keys": [{ label: keys.addKeyAsk, words: words.secret }],
  checks: [{ label: general.checkCardsEvery, words: words.interval }, { label: general.checkNewCards }],
  review: [{ label: general.reviewers }, { label: general.yourName }],
  pages: [{ label: general.readPages }, { label: general.alsoRecent }],
  vocabulary: [{ label: vocabulary.newEntry.name }, { label: vocabulary.filter }],
  personalization: [{ label: personalization.enabled }, { label: personalization.learn }],
  bundles: [{ label: bundles.yourKey }, { label: bundles.keysOfOthers }],
  backups: [{ label: general.backUpNow, words: general.sections.backups }],
  libraries: [],
  team: [{ label: team.joinAsk, words: words.join }, { label: team.createAsk }],
  network: [
    { label: services.allowedHosts, words: words.allowedHosts },
    { label: services.proxy, words: words.proxy },
  ],
  sessions: [
    ...FIELDS.map(({ name, why }) => ({ label: name, hint: why })),
    { label: sessions.exempt },
    { label: sessions.programs, hint: sessions.programsAbout },
    { label: sessions.resetAll },
  ],
};

const wordsOf = (text: string) => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? [];

interface Entry extends SettingsMatch {
  label: string[];
  more: string[];
  /** Words of the section and the group, which narrow a search. */
  context: string[];
}

function entry(match: SettingsMatch, { label, hint = "", words: further = "" }: Item, context: string): Entry {
  return { ...match, label: wordsOf(label), more: wordsOf(`${hint} ${further}`), context: wordsOf(context) };
}

function entriesOf(prompts: string[]): Entry[] {
  return SETTINGS_GROUPS.flatMap((group) =>
    group.sections.flatMap((section) => {
      const controls =
        section.id === "prompts" ? prompts.map((name) => ({ label: fieldName(name) })) : CONTROLS[section.id];
      return [
        entry({ group, section, control: null }, { label: section.name, ...SECTION_TEXTS[section.id] }, group.name),
        ...controls.map((item) =>
          entry({ group, section, control: item.label }, item, `${section.name} ${group.name}`),
        ),
      ];
    }),
  );
}

/** Returns how well an entry matches, 0 being best; `null` if it does not. */
function rank({ control, label, more, context }: Entry, wanted: string[]): number | null {
  const begins = (list: string[]) => (word: string) => list.some((one) => one.startsWith(word));
  if (wanted.every(begins(label))) return 0;
  const own = [...label, ...more];
  if (wanted.every(begins(own))) return wanted.some(begins(label)) ? 1 : 2;
  // A group's name finds its sections but not everything in them.
  const isOwn = control === null || wanted.some(begins(own));
  return isOwn && wanted.every(begins([...own, ...context])) ? 3 : null;
}

/**
 * Returns the sections and controls in which every word of the query begins a word, the best matches first. `prompts`
 * are the names of the prompts, which the engine tells.
 */
export function searchSettings(query: string, prompts: string[] = []): SettingsMatch[] {
  const wanted = wordsOf(query);
  if (!wanted.length) return [];
  return entriesOf(prompts)
    .flatMap((one) => {
      const at = rank(one, wanted);
      return at === null ? [] : [{ at, one }];
    })
    .sort((a, b) => a.at - b.at)
    .map(({ one: { group, section, control } }) => ({ group, section, control }));
}

/** Returns every control that search can find, by section. Prompts are not among them. */
export function searchedControls(): { section: SectionId; control: string }[] {
  return SETTINGS_GROUPS.flatMap(({ sections }) =>
    sections.flatMap(({ id }) => CONTROLS[id].map(({ label }) => ({ section: id, control: label }))),
  );
}
