import { describe, expect, it } from "vitest";
import { card as texts } from "../texts/card";
import { argumentFields, fieldText, parseField } from "./argumentFields";

const SCHEMA = {
  type: "object",
  required: ["place"],
  examples: [{ days: 3 }],
  properties: {
    days: { type: "integer", description: "Days ahead" },
    place: { type: ["string", "null"] },
    unit: { enum: ["c", "f"], default: "c" },
    detailed: { type: "boolean" },
    ratio: { type: "number" },
    hours: { type: "array", items: { type: "integer" } },
    anything: true,
  },
};

describe("the fields of a schema", () => {
  it("have a control for each type, required ones first", () => {
    const fields = argumentFields(SCHEMA)!;
    expect(fields.map(({ name, control }) => [name, control])).toEqual([
      ["place", "text"],
      ["days", "integer"],
      ["unit", "choice"],
      ["detailed", "boolean"],
      ["ratio", "number"],
      ["hours", "json"],
      ["anything", "json"],
    ]);
    expect(fields.map((field) => field.example)).toEqual(["", "3", '"c"', "", "", "", ""]);
    expect(fields[1]?.description).toBe("Days ahead");
  });

  it("are none where a schema lists no properties", () => {
    expect(argumentFields({ type: "object" })).toBeNull();
    expect(argumentFields({ properties: {} })).toBeNull();
  });

  it("parse what is typed, and say what is wrong with it", () => {
    const field = Object.fromEntries(argumentFields(SCHEMA)!.map((one) => [one.name, one]));
    expect(parseField(field["place"]!, " ")).toEqual({ problem: texts.isRequired });
    expect(parseField(field["place"]!, "12")).toEqual({ value: "12" });
    expect(parseField(field["days"]!, "")).toEqual({ value: undefined });
    expect(parseField(field["days"]!, "2.5")).toEqual({ problem: texts.notWhole });
    expect(parseField(field["days"]!, "9007199254740993")).toEqual({ problem: texts.tooLarge });
    expect(parseField(field["days"]!, "two")).toEqual({ problem: texts.notANumber });
    expect(parseField(field["ratio"]!, "-2.5")).toEqual({ value: -2.5 });
    expect(parseField(field["detailed"]!, "false")).toEqual({ value: false });
    expect(parseField(field["unit"]!, '"f"')).toEqual({ value: "f" });
    expect(parseField(field["hours"]!, "[1, 2]")).toEqual({ value: [1, 2] });
    expect(parseField(field["hours"]!, "[1,")).toHaveProperty("problem");
    expect(fieldText(field["hours"]!, [1])).toBe("[1]");
    expect(fieldText(field["place"]!, "x")).toBe("x");
  });
});
