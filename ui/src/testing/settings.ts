// Settings in the window, with an engine that keeps what is saved.

import { render, screen, within } from "@testing-library/svelte";
import type { Providers, ProviderSettings } from "../lib/bindings";
import { engine } from "../lib/engine.svelte";
import { navigation } from "../lib/navigation.svelte";
import { newProfile } from "../lib/permissions";
import { DEFAULTS } from "../lib/sessions";
import type { SectionId } from "../lib/settingsSections";
import { general as texts } from "../texts/settings/general";
import SettingsInPane from "./SettingsInPane.svelte";
import { stage, wait } from "./stage";

export const PROVIDERS: Providers = {
  settings: {
    llm: { kind: "none", base: "", large: "", small: "", tools: true, price_in: null, price_out: null, cap: null },
    search: { kind: "none", base: "", preferred: "", github: false, github_base: "" },
    network: { allowed_hosts: [], proxy: null },
    keep: "keychain",
    prompts: {},
  },
  keys: [{ name: "tavily", set: true }],
  keys_in: "the keychain",
  keys_error: null,
  missing: [],
  spent: 0,
  tokens: [0, 0],
  price: null,
  prompts: [],
};
const server = (name: string) => ({
  name,
  reach: { transport: "http" as const, url: "https://mcp.example.org" },
  secrets: [],
  trusted: false,
  running: false,
  tools: 1,
  waiting: 0,
  checked_at: null,
  failed: null,
  skipped: [],
});

interface Given {
  settings?: Partial<ProviderSettings>;
  answers?: Parameters<typeof stage>[0];
}

/** Opens Settings, where `settings` are stored. */
export async function openSettings({ settings = {}, answers = {} }: Given = {}) {
  const kept = {
    services: { ...PROVIDERS.settings, ...settings },
    sessions: DEFAULTS,
    policy: { approvals: 1, reviewer: "" },
    checks: { every_days: 30, new_cards: true },
    profiles: [newProfile("", ""), newProfile("shop", "agents of the shop")],
    servers: [server("files"), server("mail")],
    address: { enabled: true, port: 4040, open: true, url: "http://127.0.0.1:4040/mcp", problem: null },
  };
  const calls = stage({
    providers_get: () => ({ ...PROVIDERS, settings: kept.services }),
    providers_set: (settings) => ({ ...PROVIDERS, settings: (kept.services = settings) }),
    profiles_list: () => ({ profiles: kept.profiles, sessions: kept.sessions }),
    agent_sessions_set: (sessions) => ({ profiles: kept.profiles, sessions: (kept.sessions = sessions) }),
    profiles_set: (profile) => {
      kept.profiles = kept.profiles.map((one) => (one.name === profile.name ? profile : one));
      return { profiles: kept.profiles, sessions: kept.sessions };
    },
    clients_list: () => [],
    mcp_http_get: ({ profile }) => ({ ...kept.address, profile: profile ?? "", lines: `for ${profile}` }),
    mcp_http_set: ({ enabled, port }) => {
      Object.assign(kept.address, { enabled, port });
      return { ...kept.address, profile: "", lines: "" };
    },
    servers_list: () => kept.servers,
    servers_remove: ({ name }) => (kept.servers = kept.servers.filter((one) => one.name !== name)),
    market_sources_list: () => [],
    api_keys_list: () => [],
    vocabulary_list: () => ({ entries: [], total: 0, added: 0 }),
    personalization_get: () => ({ enabled: true, needed: 40, profiles: [] }),
    check_settings_get: () => kept.checks,
    check_settings_set: (checks) => (kept.checks = checks),
    review_policy_get: () => kept.policy,
    review_policy_set: (policy) => (kept.policy = policy),
    bundle_keys_list: () => ({ own: null, own_fingerprint: null, own_error: null, known: [] }),
    models_list: () => ({ models: [], store: "/models" }),
    diagnostics_run: () => ({
      checks: [{ name: "Store", state: "good", detail: "in order", remedy: null }],
      can_accept_losses: false,
    }),
    backups_list: () => [],
    team_get: () => null,
    teams_list: () => [],
    tools_list: () => ({ tools: [] }) as never,
    ...answers,
  });
  navigation.go("settings");
  render(SettingsInPane);
  await wait(1000);
  return { calls, kept };
}

/** Opens the group of a section. */
export async function visit(id: SectionId) {
  navigation.settings(id);
  await wait(1000);
}

/** Returns a section of the group that is open. */
export const section = (name: keyof typeof texts.sections) =>
  within(screen.getByRole("region", { name: texts.sections[name] }));

/** Simulates the engine's event for a changed setting. */
export async function changed(setting: "checks" | "review" | "profiles" | "mcp_servers") {
  engine.versions.settings[setting] = (engine.versions.settings[setting] ?? 0) + 1;
  await wait(1000);
}
