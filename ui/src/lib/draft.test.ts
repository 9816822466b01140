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

  it("edits lists of texts line by line", () => {
    const lists = { name: "Tool", asks_for: ["a ride", "a cab, now"], tags: ["two\nlines"], sources: [1, "b"] };
    const draft = draftOf(lists);
    expect(draft.slice(1, 4).map(({ text, form }) => [text, form])).toEqual([
      ["a ride\na cab, now", "lines"],
      ['[\n  "two\\nlines"\n]', "json"],
      ['[\n  1,\n  "b"\n]', "json"],
    ]);
    expect(assemble(draft).fields).toEqual(lists);
    draft[1]!.text = "  a ride\n\na lift ";
    expect(assemble(draft).fields?.asks_for).toEqual(["a ride", "a lift"]);
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
