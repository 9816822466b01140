// @vitest-environment jsdom
import { fireEvent, render, screen, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import type { Providers } from "../lib/bindings";
import { engine } from "../lib/engine.svelte";
import { navigation } from "../lib/navigation.svelte";
import { newProfile } from "../lib/permissions";
import { DEFAULTS } from "../lib/sessions";
import SettingsInPane from "../testing/SettingsInPane.svelte";
import { asked, clear, stage, wait } from "../testing/stage";
import { common } from "../texts/common";
import { permissions as rules } from "../texts/permissions";
import { servers as serverTexts } from "../texts/servers";
import { agents } from "../texts/settings/agents";
import { general as texts } from "../texts/settings/general";

afterEach(() => {
  navigation.go("ask");
  clear();
});

const PROVIDERS: Providers = {
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

function open() {
  const kept = {
    policy: { approvals: 1, reviewer: "" },
    checks: { every_days: 30, new_cards: true },
    profiles: [newProfile("", ""), newProfile("shop", "agents of the shop")],
    servers: [server("files"), server("mail")],
    address: { enabled: true, port: 4040, open: true, url: "http://127.0.0.1:4040/mcp", problem: null },
  };
  const calls = stage({
    providers_get: () => PROVIDERS,
    providers_set: (settings) => ({ ...PROVIDERS, settings }),
    profiles_list: () => ({ profiles: kept.profiles, sessions: DEFAULTS }),
    profiles_set: (profile) => {
      kept.profiles = kept.profiles.map((one) => (one.name === profile.name ? profile : one));
      return { profiles: kept.profiles, sessions: DEFAULTS };
    },
    clients_list: () => [],
    mcp_http_get: ({ profile }) => ({ ...kept.address, profile: profile ?? "", lines: `for ${profile}` }),
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
    bundle_keys_list: () => ({ own: null, own_fingerprint: null, known: [] }),
    models_list: () => ({ models: [], store: "/models" }),
    diagnostics_run: () => ({
      checks: [{ name: "Store", state: "good", detail: "in order", remedy: null }],
      can_accept_losses: false,
    }),
    backups_list: () => [],
    tools_list: () => ({ tools: [] }) as never,
  });
  navigation.go("settings");
  render(SettingsInPane);
  return { calls, kept };
}

const section = (name: keyof typeof texts.sections) =>
  within(screen.getByRole("region", { name: texts.sections[name] }));

/** Simulates the engine's event for a changed setting. */
async function changed(setting: "checks" | "review" | "profiles" | "mcp_servers") {
  engine.versions.settings[setting] = (engine.versions.settings[setting] ?? 0) + 1;
  await wait(1000);
}

describe("settings", () => {
  it("show every part, each read once and without an error", async () => {
    const { calls } = open();
    await wait(1000);
    expect(screen.queryAllByRole("alert").map((alert) => alert.textContent)).toEqual([]);
    expect(engine.toasts).toEqual([]);
    expect(screen.queryAllByText(common.reading)).toEqual([]);
    const names = [...new Set(calls.map(({ name }) => name))].filter(
      (name) => name !== "servers_list" && name !== "api_keys_list",
    );
    // Data shown by two sections is read by each of them; the services are also read whenever Settings opens.
    for (const name of names) {
      expect(asked(calls, name).length, name).toBeLessThanOrEqual(
        name === "providers_get" || name === "bundle_keys_list" ? 2 : 1,
      );
    }
  });

  it("take over what is changed elsewhere, but not over what a person has begun to change", async () => {
    const { kept } = open();
    await wait(1000);
    const days = section("checks").getByLabelText<HTMLInputElement>(texts.checkCardsEvery);
    const reviewer = section("review").getByLabelText<HTMLInputElement>(texts.yourName);
    expect([days.value, reviewer.value]).toEqual(["30", ""]);
    kept.checks = { every_days: 7, new_cards: true };
    await changed("checks");
    expect(days.value).toBe("7");
    await fireEvent.input(reviewer, { target: { value: "Ann" } });
    kept.policy = { approvals: 2, reviewer: "Bob" };
    await changed("review");
    expect(reviewer.value).toBe("Ann");
  });

  it("save what is typed, once", async () => {
    const { calls } = open();
    await wait(1000);
    const policy = section("review");
    await fireEvent.input(policy.getByLabelText(texts.reviewers), { target: { value: "2" } });
    expect(policy.getByText(texts.notSavedYet)).toBeTruthy();
    await fireEvent.submit(policy.getByRole("button", { name: common.save }).closest("form")!);
    await wait();
    expect(asked(calls, "review_policy_set")).toEqual([{ approvals: 2, reviewer: "" }]);
    expect(policy.getByText(texts.savedNow)).toBeTruthy();
    const days = section("checks").getByLabelText<HTMLInputElement>(texts.checkCardsEvery);
    for (const value of ["9", "90"]) await fireEvent.input(days, { target: { value } });
    await wait(1000);
    expect(asked(calls, "check_settings_set")).toEqual([{ every_days: 90, new_cards: true }]);
  });

  it("show a changed rule at once, and are not read while it is being kept", async () => {
    const { calls } = open();
    await wait(1000);
    const permissions = section("permissions");
    await fireEvent.click(permissions.getByRole("radio", { name: /^shop/ }));
    const hosts = () => permissions.getByRole("radiogroup", { name: rules.unnamed(rules.scopes.hosts.name) });
    await fireEvent.click(within(hosts()).getByText(rules.words.deny));
    const denied = () => within(hosts()).getByRole("radio", { name: rules.words.deny }).getAttribute("aria-checked");
    expect(denied()).toBe("true");
    await changed("profiles");
    expect(asked(calls, "profiles_set")).toMatchObject([
      { name: "shop", permissions: { hosts: { otherwise: "deny" } } },
    ]);
    expect(denied()).toBe("true");
  });

  it("show the lines for the profile that is chosen", async () => {
    const { calls } = open();
    await wait(1000);
    const address = within(screen.getByRole("group", { name: agents.forPrograms }));
    await fireEvent.click(within(address.getByRole("radiogroup", { name: agents.tokenFor })).getByText("shop"));
    await wait();
    expect(asked(calls, "mcp_http_get").map(({ profile }) => profile)).toEqual(["", "shop"]);
    expect(address.getByText("for shop")).toBeTruthy();
  });

  it("go to the part that is asked for, and back", async () => {
    open();
    await wait(1000);
    navigation.settings("servers");
    await wait();
    expect(document.activeElement?.textContent).toBe(texts.sections.servers);
    await fireEvent.click(screen.getByRole("button", { name: texts.sections.market }));
    expect(document.activeElement?.textContent).toBe(texts.sections.market);
    navigation.back();
    await wait();
    expect(document.activeElement?.textContent).toBe(texts.sections.servers);
  });

  it("show what removing a server answered", async () => {
    open();
    await wait(1000);
    const servers = section("servers");
    await fireEvent.click(servers.getByRole("button", { name: serverTexts.remove("files") }));
    await fireEvent.click(screen.getByRole("button", { name: common.remove }));
    await wait();
    expect(servers.queryByRole("button", { name: serverTexts.remove("files") })).toBeNull();
    expect(servers.getByRole("button", { name: serverTexts.remove("mail") })).toBeTruthy();
  });
});
