// Conversion of a card to text fields and back that preserves what the fields do not show: the order of the card's
// fields, `null` versus missing, and the values of fields that were not edited.

import type { JsonValue } from "./bindings";
import { card as texts } from "../texts/card";

/** How a field is edited. */
export type Form = "text" | "lines" | "json" | "flag";

/** A field being edited. */
export interface Draft {
  field: string;
  text: string;
  form: Form;
  /** The value before the edit; `undefined` if the card does not have the field. */
  was: JsonValue | undefined;
}

/** Fields offered for a new card: first those that every card should have. */
const OFFERED = [
  "name",
  "description",
  "provider",
  "kind",
  "asks_for",
  "programming_language",
  "module",
  "class",
  "init_args",
  "usage",
  "openapi",
  "pricing",
  "documentation",
  "verified",
];
const JSON_FIELDS = ["init_args", "parameters"];
/** Lists of strings, edited one per line. */
const LIST_FIELDS = ["asks_for", "tags", "sources"];

function formOf(field: string, value: JsonValue | undefined): Form {
  if (field === "verified") return "flag";
  if (typeof value === "string") return "text";
  if (LIST_FIELDS.includes(field) && fitsLines(value)) return "lines";
  if (JSON_FIELDS.includes(field) || (value !== null && value !== undefined)) return "json";
  return "text";
}

/** Whether a value is a list that lines can show without loss. */
function fitsLines(value: JsonValue | undefined): boolean {
  if (value === null || value === undefined) return true;
  return Array.isArray(value) && value.every((item) => typeof item === "string" && linesOf(item).join() === item);
}

function linesOf(text: string): string[] {
  return text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line);
}

function textOf(value: JsonValue | undefined, form: Form): string {
  if (value === null || value === undefined) return "";
  if (form === "lines") return (value as string[]).join("\n");
  return typeof value === "string" ? value : JSON.stringify(value, null, 2);
}

/** Returns the form fields for a card: its own in their order, then the offered ones it lacks. */
export function draftOf(fields: { [key: string]: JsonValue | undefined } | null): Draft[] {
  const present = Object.keys(fields ?? {});
  const names = [...present, ...OFFERED.filter((field) => !present.includes(field))];
  if (!fields) names.sort((a, b) => OFFERED.indexOf(a) - OFFERED.indexOf(b));
  return names.map((field) => {
    const was = fields?.[field];
    const form = formOf(field, was);
    return { field, text: textOf(was, form), form, was };
  });
}

/** Returns the edited card, or the first form field that is invalid. */
export function assemble(draft: Draft[]): {
  fields: { [key: string]: JsonValue } | null;
  bad: { field: string; reason: string } | null;
} {
  const fields: { [key: string]: JsonValue } = {};
  for (const { field, text, form, was } of draft) {
    if (text === textOf(was, form)) {
      if (was !== undefined) fields[field] = was;
    } else if (!text.trim()) {
      // A cleared field is kept as `null` if the card had it.
      if (was !== undefined) fields[field] = null;
    } else if (form === "flag") {
      fields[field] = text === "true";
    } else if (form === "lines") {
      fields[field] = linesOf(text);
    } else if (form === "json") {
      try {
        fields[field] = JSON.parse(text) as JsonValue;
      } catch (reason) {
        return { fields: null, bad: { field, reason: texts.notJson((reason as Error).message) } };
      }
    } else {
      fields[field] = text;
    }
  }
  return { fields, bad: null };
}
