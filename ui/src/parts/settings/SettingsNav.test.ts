// @vitest-environment jsdom
import { fireEvent, screen, within } from "@testing-library/svelte";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { handleKey } from "../../lib/commands";
import { navigation } from "../../lib/navigation.svelte";
import { controlOf } from "../../lib/settingsControls";
import { searchedControls, searchSettings } from "../../lib/settingsSearch";
import { SETTINGS_GROUPS, type SectionId } from "../../lib/settingsSections";
import { openSettings, PROVIDERS, section, visit } from "../../testing/settings";
import { clear, wait } from "../../testing/stage";
import { common } from "../../texts/common";
import { general } from "../../texts/settings/general";
import { settingsSearch as texts } from "../../texts/settings/search";
import { services } from "../../texts/settings/services";

const box = () => screen.getByRole<HTMLInputElement>("combobox", { name: texts.box });
/** Returns the matches of the search; Settings have other options as well. */
const options = () => within(screen.getByRole("navigation", { name: common.settings })).queryAllByRole("option");
const matches = () => options().map((option) => option.textContent?.replace(/\s+/g, " ").trim());

async function type(query: string) {
  await fireEvent.input(box(), { target: { value: query } });
  await wait();
}

async function press(key: string) {
  await fireEvent.keyDown(box(), { key });
  await wait();
}

beforeEach(() => document.addEventListener("keydown", handleKey));

afterEach(() => {
  document.removeEventListener("keydown", handleKey);
  navigation.go("ask");
  clear();
});

describe("the search in Settings", () => {
  it("shows matches with their group, opens one by Enter and focuses its control", async () => {
    await openSettings();
    await type("proxy");
    expect(matches()).toEqual([`${services.proxy} ${texts.place(general.groups.advanced, general.sections.network)}`]);
    await press("Enter");
    expect([navigation.section, document.activeElement?.id]).toEqual(["network", "network-proxy"]);
    expect(box().value).toBe("");
  });

  it("moves by arrow keys and opens by click", async () => {
    await openSettings();
    await type("backup");
    const [first, second] = matches();
    expect(first).toBe(`${general.sections.backups} ${general.groups.library}`);
    expect(second).toContain(general.backUpNow);
    const chosen = () => options().findIndex((option) => option.hasAttribute("data-selected"));
    expect(chosen()).toBe(0);
    await press("ArrowDown");
    expect(chosen()).toBe(1);
    await fireEvent.click(options()[0]!);
    await wait();
    expect(document.activeElement?.textContent).toBe(general.sections.backups);
  });

  it("focuses a control that waits for data once it is there, unless the focus went elsewhere", async () => {
    let answer = () => {};
    const policy = () =>
      new Promise<{ approvals: number; reviewer: string }>(
        (done) => (answer = () => done({ approvals: 1, reviewer: "" })),
      );
    await openSettings({ answers: { review_policy_get: policy } });
    await type(general.yourName);
    await press("Enter");
    expect(document.activeElement?.id).toBe("review");
    answer();
    await wait(100);
    expect(document.activeElement?.id).toBe("review-name");

    await visit("look");
    await type(general.yourName);
    await press("Enter");
    box().focus();
    answer();
    await wait(100);
    expect(document.activeElement).toBe(box());
  });

  it("goes to the section where a control is not on the page", async () => {
    await openSettings();
    await type("spending limit");
    await press("Enter");
    expect(document.activeElement?.id).toBe("llm");
  });

  it("says when nothing matches, and Escape brings the groups back", async () => {
    await openSettings();
    await type("zeppelin");
    expect(matches()).toEqual([]);
    const nav = within(screen.getByRole("navigation", { name: common.settings }));
    expect(nav.getByText(texts.none("zeppelin"))).toBeTruthy();
    expect(nav.queryByRole("button", { name: general.groups.advanced })).toBeNull();
    await press("Escape");
    expect(box().value).toBe("");
    expect(nav.getByRole("button", { name: general.groups.advanced })).toBeTruthy();
  });

  it("takes the slash key", async () => {
    await openSettings();
    await fireEvent.keyDown(document.body, { key: "/" });
    expect([document.activeElement, navigation.pane]).toEqual([box(), "settings"]);
  });

  it("finds only controls that exist under the names it shows", async () => {
    const { llm, search } = PROVIDERS.settings;
    const searching = { ...search, github: true };
    const everything = [
      { llm: { ...llm, kind: "openai" as const, large: "x" }, search: { ...searching, kind: "tavily" as const } },
      { llm: { ...llm, kind: "anthropic" as const, large: "x" }, search: { ...searching, kind: "brave" as const } },
    ];
    const missing = new Set(searchedControls().map(({ section, control }) => `${section}: ${control}`));
    for (const settings of everything) {
      await openSettings({
        settings,
        answers: {
          personalization_get: () => ({
            enabled: true,
            needed: 40,
            profiles: [{ profile: "", state: "waiting", questions: 0, ratings: 0, calls: 0, edits: 0 } as never],
          }),
        },
      });
      for (const { section: id, control } of searchedControls()) {
        if (navigation.section !== id) await visit(id);
        if (id === "permissions") await fireEvent.click(section("permissions").getByRole("radio", { name: /^shop/ }));
        const place = document.getElementById(id)?.closest("section");
        if (place && controlOf(place, control)) missing.delete(`${id}: ${control}`);
      }
      clear();
    }
    expect([...missing]).toEqual([]);
  });

  it("finds every section by its name", () => {
    const sections = SETTINGS_GROUPS.flatMap(({ sections }) => sections);
    expect(sections.map(({ name }) => searchSettings(name)[0]?.section)).toEqual(sections);
    expect(searchSettings(general.sections.apiKeys)[0]?.section.id).toBe("api-keys" satisfies SectionId);
  });
});
