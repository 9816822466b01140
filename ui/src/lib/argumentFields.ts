// A tool's arguments as form fields, derived from the JSON Schema of its parameters.

import { card as texts } from "../texts/card";

export interface ArgumentField {
  name: string;
  /** `json` is any value that has no control of its own: lists, objects, unions. */
  control: "text" | "number" | "integer" | "boolean" | "choice" | "json";
  required: boolean;
  description: string;
  /** Values of a choice. */
  choices: unknown[];
  /** An example value as text, shown while the field is empty. */
  example: string;
}

export type JsonObject = Record<string, unknown>;

function isObject(value: unknown): value is JsonObject {
  return !!value && typeof value === "object" && !Array.isArray(value);
}

/** Returns the text that a field shows for a value; absent values are shown as nothing. */
export function fieldText(field: ArgumentField, value: unknown): string {
  if (value === undefined || value === null) return "";
  return field.control === "text" && typeof value === "string" ? value : JSON.stringify(value);
}

/** Returns the fields of a schema; `null` if it lists no properties, so that only JSON can be entered. */
export function argumentFields(schema: JsonObject): ArgumentField[] | null {
  const properties = schema["properties"];
  if (!isObject(properties) || !Object.keys(properties).length) return null;
  const required = new Set(Array.isArray(schema["required"]) ? schema["required"] : []);
  const examples: unknown[] = Array.isArray(schema["examples"]) ? schema["examples"] : [];
  const fields = Object.entries(properties).map(([name, read]): ArgumentField => {
    const property = isObject(read) ? read : {};
    const types = [property["type"]].flat().filter((type) => type !== "null");
    const type = types.length === 1 ? types[0] : undefined;
    const choices: unknown[] = Array.isArray(property["enum"]) ? property["enum"] : [];
    const field: ArgumentField = {
      name,
      control: choices.length
        ? "choice"
        : type === "string"
          ? "text"
          : type === "number" || type === "integer" || type === "boolean"
            ? type
            : "json",
      required: required.has(name),
      description: typeof property["description"] === "string" ? property["description"] : "",
      choices,
      example: "",
    };
    const own: unknown[] = Array.isArray(property["examples"]) ? property["examples"] : [];
    const example =
      property["example"] ?? own[0] ?? property["default"] ?? (isObject(examples[0]) ? examples[0][name] : undefined);
    return { ...field, example: fieldText(field, example) };
  });
  return [...fields.filter((field) => field.required), ...fields.filter((field) => !field.required)];
}

/** Parses what was typed into a field: its value, `undefined` where it is left out, or why it is invalid. */
export function parseField(field: ArgumentField, typed: string): { value: unknown } | { problem: string } {
  const text = typed.trim();
  if (!text) return field.required ? { problem: texts.isRequired } : { value: undefined };
  switch (field.control) {
    case "text":
      return { value: typed };
    case "number":
    case "integer": {
      const value = Number(text);
      if (!Number.isFinite(value)) return { problem: texts.notANumber };
      if (field.control === "integer" && Number.isInteger(value) && !Number.isSafeInteger(value))
        return { problem: texts.tooLarge };
      return field.control === "integer" && !Number.isInteger(value) ? { problem: texts.notWhole } : { value };
    }
    default:
      try {
        return { value: JSON.parse(text) as unknown };
      } catch (reason) {
        return { problem: texts.argumentsNotJson(reason instanceof Error ? reason.message : String(reason)) };
      }
  }
}
