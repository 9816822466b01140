import { describe, expect, it } from "vitest";
import type { JsonValue } from "./bindings";
import { assemble, draftOf } from "./draft";

const card: { [key: string]: JsonValue } = {
  zeta: [1, { a: null }],
  name: "Tool",
  openapi: null,
  init_args: { b: 1, a: "x" },
  verified: false,
};

describe("a card as boxes", () => {
  it("comes back as it was when nothing is touched", () => {
    expect(JSON.stringify(assemble(draftOf(card)).fields)).toBe(JSON.stringify(card));
  });

  it("keeps order and null, and takes what was typed", () => {
    const draft = draftOf(card);
    const edit = (field: string, text: string) => {
      const entry = draft.find((entry) => entry.field === field);
      if (entry) entry.text = text;
    };
    edit("name", "Other");
    edit("init_args", '{"c": true}');
    edit("verified", "true");
    edit("pricing", "Free");
    edit("zeta", "");
    expect(JSON.stringify(assemble(draft).fields)).toBe(
      '{"zeta":null,"name":"Other","openapi":null,"init_args":{"c":true},"verified":true,"pricing":"Free"}',
    );
  });

  it("names the box that is not JSON", () => {
    const draft = draftOf(card);
    draft.find((entry) => entry.field === "init_args")!.text = "{";
    const { fields, bad } = assemble(draft);
    expect([fields, bad?.field]).toEqual([null, "init_args"]);
  });

  it("offers a new card the usual fields and keeps untouched ones out", () => {
    const draft = draftOf(null);
    draft.find((entry) => entry.field === "name")!.text = "New";
    expect(assemble(draft).fields).toEqual({ name: "New" });
  });
});
