import { describe, expect, it } from "vitest";
import type { CardDetail, JsonValue, MergePreview } from "./bindings";
import { differingFields, mergedFields, sameFields, valueText } from "./merge";

const card = (fields: { [field: string]: JsonValue }) => ({ fields }) as CardDetail;

const PREVIEW: MergePreview = {
  keep: card({ name: "Kettle", tags: ["hot", "water"], pricing: null, module: "kettle", provider: "Kitchen" }),
  remove: card({ name: "kettle", tags: ["boil", "hot"], pricing: "free", usage: "boil()", provider: "Kitchen" }),
  fields: {
    name: "Kettle",
    tags: ["hot", "water", "boil"],
    pricing: "free",
    module: "kettle",
    usage: "boil()",
    provider: "Kitchen",
  },
};

describe("merging two cards", () => {
  it("starts with what the engine suggests for each field that differs", () => {
    expect(differingFields(PREVIEW).map(({ field, preset, both }) => [field, preset, both])).toEqual([
      ["name", "kept", undefined],
      ["tags", "both", ["hot", "water", "boil"]],
      ["pricing", "other", undefined],
      ["module", "kept", undefined],
      ["usage", "other", undefined],
    ]);
    expect(sameFields(PREVIEW)).toEqual([["provider", "Kitchen"]]);
    expect(mergedFields(PREVIEW, {})).toEqual(PREVIEW.fields);
  });

  it("takes the value that is chosen, or none where that card has none", () => {
    const merged = mergedFields(PREVIEW, { name: "other", tags: "kept", pricing: "kept", module: "other" });
    expect(merged).toEqual({ name: "kettle", tags: ["hot", "water"], usage: "boil()", provider: "Kitchen" });
    expect(PREVIEW.fields["pricing"]).toBe("free");
  });

  it("keeps what was chosen and chosen back", () => {
    expect(mergedFields(PREVIEW, { tags: "both", pricing: "other" })).toEqual(PREVIEW.fields);
  });

  it("shows texts of a list by line and other values as JSON", () => {
    expect(["a", ["a", "b"], [1], { a: true }].map((value) => valueText(value))).toEqual([
      "a",
      "a\nb",
      "[\n  1\n]",
      '{\n  "a": true\n}',
    ]);
  });
});
