import { readdirSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { services } from "../../texts/settings/services";

describe("texts of the prompts", () => {
  it("say when each is used", () => {
    const files = readdirSync(new URL("../../../../prompts", import.meta.url));
    const prompts = files.filter((file) => /^[a-z_]+\.md$/.test(file)).map((file) => file.replace(".md", ""));
    expect(Object.keys(services.promptUses).sort()).toEqual(prompts.sort());
  });
});
