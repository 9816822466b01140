import { describe, expect, it } from "vitest";
import { sectionOf } from "./settingsSections";

describe("the section that a remedy names", () => {
  it("is the one to open", () => {
    expect(sectionOf("If you trust this host, allow it in Settings, Network.")?.id).toBe("network");
    expect(sectionOf("Enter it again in Settings, Web API keys.")?.id).toBe("api-keys");
    expect(sectionOf("Try again. If it keeps happening, check Settings, Diagnostics.")?.id).toBe("state");
    expect(sectionOf("Try again later.")).toBeUndefined();
  });
});
