import { describe, expect, it } from "vitest";
import { groupOf, sectionOf, SETTINGS_GROUPS } from "./settingsSections";

describe("the section that a remedy names", () => {
  it("is the one to open", () => {
    expect(sectionOf("If you trust this host, allow it in Settings, Network.")?.id).toBe("network");
    expect(sectionOf("Enter it again in Settings, Web API keys.")?.id).toBe("api-keys");
    expect(sectionOf("Try again. If it keeps happening, check Settings, Diagnostics.")?.id).toBe("state");
    expect(sectionOf("Try again later.")).toBeUndefined();
  });
});

describe("the groups of Settings", () => {
  it("hold every section once", () => {
    const ids = SETTINGS_GROUPS.flatMap(({ sections }) => sections.map(({ id }) => id));
    expect(ids.length).toBe(new Set(ids).size);
    for (const group of SETTINGS_GROUPS) for (const { id } of group.sections) expect(groupOf(id)).toBe(group);
  });

  it("begin with the first where no section is asked for, or one that does not exist", () => {
    expect(groupOf(null)).toBe(SETTINGS_GROUPS[0]);
    expect(groupOf("gone")).toBe(SETTINGS_GROUPS[0]);
  });
});
