// Merging two cards field by field.

import type { JsonValue, MergePreview } from "./bindings";

type Fields = { [field: string]: JsonValue };

/** Whose value the merged card gets; `both` joins lists. */
export type MergeChoice = "kept" | "other" | "both";

/** A field in which two cards differ. A value is `undefined` if the card does not have the field. */
export interface MergeField {
  field: string;
  kept: JsonValue | undefined;
  other: JsonValue | undefined;
  /** The entries of both lists; `undefined` if one of the values says the same, or they are no lists. */
  both: JsonValue | undefined;
  /** The choice that leads to the merge as previewed. */
  preset: MergeChoice;
}

const same = (one: JsonValue | undefined, other: JsonValue | undefined) =>
  JSON.stringify(one) === JSON.stringify(other);

const valueOf = (fields: Fields, field: string): JsonValue | undefined => fields[field] ?? undefined;

const namesOf = ({ keep, remove }: MergePreview): string[] => [
  ...new Set([...Object.keys(keep.fields), ...Object.keys(remove.fields)]),
];

/** Returns the fields in which two cards differ, in the order of the kept card. A field that is `null` is missing. */
export function differingFields(preview: MergePreview): MergeField[] {
  return namesOf(preview).flatMap((field) => {
    const [kept, other] = [valueOf(preview.keep.fields, field), valueOf(preview.remove.fields, field)];
    if (same(kept, other)) return [];
    const merged = valueOf(preview.fields, field);
    const preset = same(merged, kept) ? "kept" : same(merged, other) ? "other" : "both";
    return [{ field, kept, other, both: preset === "both" ? merged : undefined, preset }];
  });
}

/** Returns the fields that both cards have with the same value. */
export function sameFields(preview: MergePreview): [string, JsonValue][] {
  return namesOf(preview).flatMap((field): [string, JsonValue][] => {
    const value = valueOf(preview.keep.fields, field);
    return value !== undefined && same(value, valueOf(preview.remove.fields, field)) ? [[field, value]] : [];
  });
}

/** Returns all fields of the merged card. */
export function mergedFields(preview: MergePreview, choices: { [field: string]: MergeChoice }): Fields {
  const merged = { ...preview.fields };
  for (const difference of differingFields(preview)) {
    const { field, preset } = difference;
    const choice = choices[field] ?? preset;
    if (choice === preset) continue;
    const value = difference[choice];
    if (value === undefined) delete merged[field];
    else merged[field] = value;
  }
  return merged;
}

/** Returns a value as text: the texts of a list one per line, everything else as JSON. */
export function valueText(value: JsonValue): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((entry) => typeof entry === "string")) return value.join("\n");
  return JSON.stringify(value, null, 2);
}
