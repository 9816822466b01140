// @vitest-environment jsdom
import { fireEvent, screen, within } from "@testing-library/svelte";
import { afterEach, describe, expect, it } from "vitest";
import { engine } from "../lib/engine.svelte";
import { navigation } from "../lib/navigation.svelte";
import { SETTINGS_GROUPS } from "../lib/settingsSections";
import { changed, openSettings, PROVIDERS, section, visit } from "../testing/settings";
import { asked, clear, wait } from "../testing/stage";
import { common } from "../texts/common";
import { permissions as rules } from "../texts/permissions";
import { servers as serverTexts } from "../texts/servers";
import { agents } from "../texts/settings/agents";
import { general as texts } from "../texts/settings/general";
import { settingsSearch } from "../texts/settings/search";

afterEach(() => {
  navigation.go("ask");
  clear();
});

describe("settings", () => {
  it("show every part, each read once and without an error", async () => {
    const { calls } = await openSettings();
    for (const group of SETTINGS_GROUPS) {
      await visit(group.sections[0]!.id);
      const shown = screen.getAllByRole("heading", { level: 2 }).map((heading) => heading.textContent);
      expect(shown).toEqual(group.sections.map(({ name }) => name));
      expect(screen.queryAllByRole("alert").map((alert) => alert.textContent)).toEqual([]);
      expect(screen.queryAllByText(common.reading)).toEqual([]);
    }
    expect(engine.toasts).toEqual([]);
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
    const { kept } = await openSettings();
    await visit("checks");
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
    expect(section("review").getByLabelText<HTMLInputElement>(texts.reviewers).value).toBe("2");
  });

  it("show a changed rule at once, and are not read while it is being kept", async () => {
    const { calls } = await openSettings();
    await visit("permissions");
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
    const { calls } = await openSettings();
    await visit("agents");
    const address = within(screen.getByRole("group", { name: agents.forPrograms }));
    await fireEvent.click(within(address.getByRole("radiogroup", { name: agents.tokenFor })).getByText("shop"));
    await wait();
    expect(asked(calls, "mcp_http_get").map(({ profile }) => profile)).toEqual(["", "shop"]);
    expect(address.getByText("for shop")).toBeTruthy();
  });

  it("go to the part that is asked for, and back", async () => {
    await openSettings();
    navigation.settings("servers");
    await wait();
    expect(document.activeElement?.textContent).toBe(texts.sections.servers);
    await fireEvent.click(screen.getByRole("button", { name: texts.sections.market }));
    expect(document.activeElement?.textContent).toBe(texts.sections.market);
    navigation.back();
    await wait();
    expect(document.activeElement?.textContent).toBe(texts.sections.servers);
  });

  it("show one group at a time, and mark it", async () => {
    await openSettings();
    const current = () => screen.getAllByRole("button").filter((one) => one.getAttribute("aria-current") === "page");
    expect(current().map((one) => one.textContent?.trim())).toEqual([texts.groups.general]);
    await fireEvent.click(screen.getByRole("button", { name: texts.groups.advanced }));
    await wait();
    expect(current().map((one) => one.textContent?.trim())).toEqual([texts.groups.advanced]);
    expect(document.activeElement?.textContent).toBe(texts.sections.network);
    expect(screen.queryByRole("region", { name: texts.sections.look })).toBeNull();
  });

  it("show what is missing for a service in its group, and mark the group", async () => {
    const missing = {
      code: "wrong_key" as const,
      message: "Tavily needs a key",
      remedy: "Enter it in Settings, Web search.",
    };
    await openSettings({ answers: { providers_get: () => ({ ...PROVIDERS, missing: [missing] }) } });
    expect(screen.queryByText(missing.message)).toBeNull();
    const group = screen.getByRole("button", { name: `${texts.groups.services} ${settingsSearch.needsAttention}` });
    await fireEvent.click(group);
    await wait();
    expect(screen.getByText(missing.message)).toBeTruthy();
  });

  it("show what removing a server answered", async () => {
    await openSettings();
    await visit("servers");
    const servers = section("servers");
    await fireEvent.click(servers.getByRole("button", { name: serverTexts.remove("files") }));
    await fireEvent.click(screen.getByRole("button", { name: common.remove }));
    await wait();
    expect(servers.queryByRole("button", { name: serverTexts.remove("files") })).toBeNull();
    expect(servers.getByRole("button", { name: serverTexts.remove("mail") })).toBeTruthy();
  });
});
