// The colors of the stylesheet, in both themes, and the size of text: WCAG 2.2, criteria 1.4.3, 1.4.4 and 1.4.11.

import { readdirSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

const css = readFileSync(new URL("styles.css", import.meta.url), "utf8");

/** Returns the custom properties that hold a color, of the block with this selector. */
function tokensOf(selector: string): Record<string, string> {
  const from = css.indexOf(`${selector} {`);
  const block = css.slice(from, css.indexOf("}", from));
  return Object.fromEntries(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map(([, name, color]) => [name, color]),
  );
}

/** Returns the relative luminance of a color, as WCAG defines it. */
function luminance(color: string): number {
  const [red, green, blue] = [1, 3, 5].map((at) => {
    const part = parseInt(color.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  }) as [number, number, number];
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function contrast(one: string, other: string): number {
  const [dark, light] = [luminance(one), luminance(other)].sort((a, b) => a - b) as [number, number];
  return (light + 0.05) / (dark + 0.05);
}

const light = tokensOf(":root");
const themes = { light, dark: { ...light, ...tokensOf(':root[data-theme="dark"]') } };

/** Everything that texts and controls lie on. */
const SURFACES = ["bg", "surface", "raised", "sunken", "hover", "selected", "picked"];

/** What is at least how distinct, and from what. */
const PAIRS: { least: number; what: string[]; on: string[] }[] = [
  { least: 4.5, what: ["text", "muted", "faint", "accent"], on: SURFACES },
  { least: 4.5, what: ["good", "warn", "bad"], on: SURFACES },
  { least: 4.5, what: ["good"], on: ["good-bg"] },
  { least: 4.5, what: ["warn", "text", "muted"], on: ["warn-bg"] },
  { least: 4.5, what: ["bad", "text", "muted"], on: ["bad-bg"] },
  { least: 4.5, what: ["on-accent"], on: ["accent", "accent-hover"] },
  { least: 4.5, what: ["text"], on: ["mark"] },
  // Code.
  {
    least: 4.5,
    what: ["code-keyword", "code-string", "code-number", "code-name", "code-type", "faint"],
    on: ["sunken"],
  },
  // Outlines of fields, marks of what is selected, and the ring of what has the focus.
  { least: 3, what: ["control", "accent", "bad"], on: [...SURFACES, "bad-bg", "warn-bg"] },
  // Charts are drawn on these.
  {
    least: 3,
    what: ["chart-1", "chart-2", "accent", "bad", "verified", "stale", "broken", "unreachable", "unchecked"],
    on: ["surface", "raised", "sunken"],
  },
];

describe.each(Object.entries(themes))("the %s theme", (_, tokens: Record<string, string>) => {
  const pairs = PAIRS.flatMap(({ least, what, on }) =>
    what.flatMap((front) => on.map((back) => ({ least, front, back }))),
  );

  it.each(pairs)("shows $front on $back with a contrast of at least $least", ({ least, front, back }) => {
    expect(tokens).toHaveProperty([front]);
    expect(tokens).toHaveProperty([back]);
    expect(contrast(tokens[front]!, tokens[back]!)).toBeGreaterThanOrEqual(least);
  });
});

describe("the size of text", () => {
  const folder = new URL(".", import.meta.url);
  const files = readdirSync(folder, { recursive: true, encoding: "utf8" }).filter((file) =>
    /\.(svelte|css)$/.test(file),
  );

  it.each(files)("follows that of the root in %s", (file) => {
    const [, styles = ""] = readFileSync(new URL(file, folder), "utf8").match(/(?:<style>|^(?!<))([^]*)/) ?? [];
    expect(styles.match(/^\s*(font|font-size|line-height):.*\dpx.*$/gm) ?? []).toEqual([]);
  });
});
