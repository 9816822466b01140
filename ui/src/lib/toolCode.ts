// The code of a tool, as cards hold it.

import type { JsonValue } from "./bindings";

export interface ToolCode {
  language: string;
  source: string;
  tests: string;
  examples: { arguments: string; result: string }[];
}

/** Reads the value of the field `function`, or returns `null` if it holds no code. */
export function toolCode(value: JsonValue | undefined): ToolCode | null {
  if (!value || typeof value !== "object" || Array.isArray(value)) return null;
  const { language, source, tests, examples } = value;
  if (typeof source !== "string") return null;
  const called = Array.isArray(examples) ? examples : [];
  return {
    language: typeof language === "string" ? language : "",
    source,
    tests: typeof tests === "string" ? tests : "",
    examples: called.flatMap((example) =>
      example && typeof example === "object" && !Array.isArray(example)
        ? [{ arguments: JSON.stringify(example["arguments"] ?? {}), result: JSON.stringify(example["result"] ?? null) }]
        : [],
    ),
  };
}
