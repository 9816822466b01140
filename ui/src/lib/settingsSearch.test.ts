import { describe, expect, it } from "vitest";
import { searchSettings } from "./settingsSearch";
import { general } from "../texts/settings/general";
import { services } from "../texts/settings/services";

/** Returns the matches as "group: section: control". */
const found = (query: string, prompts?: string[]) =>
  searchSettings(query, prompts).map(({ group, section, control }) =>
    [group.name, section.name, ...(control === null ? [] : [control])].join(": "),
  );
const { groups, sections } = general;

describe("the search in Settings", () => {
  it("finds sections and controls by their names, names before mentions", () => {
    expect(found("proxy")).toEqual([`${groups.advanced}: ${sections.network}: ${services.proxy}`]);
    expect(found("embedding model")[0]).toBe(`${groups.services}: ${sections.models}`);
    expect(found("small")[0]).toBe(`${groups.services}: ${sections.llm}: ${services.smallModel}`);
  });

  it("finds by words that people use for it", () => {
    const first = (query: string) => searchSettings(query)[0]?.section.id;
    for (const [query, section] of [
      ["dark mode", "look"],
      ["ollama", "llm"],
      ["chatgpt", "llm"],
      ["backup", "backups"],
      ["restore", "backups"],
      ["tavily", "search"],
      ["cursor", "agents"],
      ["telemetry", "state"],
      ["marketplace", "market"],
      ["keychain", "keys"],
      ["bearer", "api-keys"],
      ["localhost", "agents"],
      ["stdio", "servers"],
    ]) {
      expect(first(query!), query).toBe(section);
    }
    expect(new Set(searchSettings("token").map(({ section }) => section.id))).toEqual(
      new Set(["sessions", "agents", "llm", "search", "keys", "api-keys", "permissions"]),
    );
  });

  it("narrows by the section and the group, which alone find no control", () => {
    const place = `${groups.services}: ${sections.search}`;
    expect(found("web search url")).toEqual([`${place}: ${services.address}`, `${place}: ${services.githubAddress}`]);
    expect(found("advanced")).toEqual([
      `${groups.advanced}: ${sections.network}`,
      `${groups.advanced}: ${sections.sessions}`,
    ]);
    expect(found(sections.network)[0]).toBe(`${groups.advanced}: ${sections.network}`);
  });

  it("finds prompts by the names the engine gives them", () => {
    expect(found("grade", ["grade_answers"])).toContain(`${groups.services}: ${sections.prompts}: Grade answers`);
  });

  it("finds nothing for nothing, or for words that nothing contains", () => {
    expect(found(" ")).toEqual([]);
    expect(found("…")).toEqual([]);
    expect(found("zeppelin")).toEqual([]);
  });
});
