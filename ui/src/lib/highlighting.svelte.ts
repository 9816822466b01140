// Colors code by its language. The highlighter is loaded when the first code is shown, which is plain until then.

import { LazyModule } from "./lazyModule.svelte";

/** A part of code, and what it is; `null` is plain text. */
export interface CodePiece {
  text: string;
  kind: CodeKind | null;
}

/** What parts of code are told apart; each is a color `--code-…` of the stylesheet. */
export type CodeKind = "keyword" | "string" | "number" | "name" | "type" | "comment";

/** Longest code that is colored, in characters. */
const MAX_LENGTH = 20_000;

/** Languages that cards, tools and clients are written in: their names in the highlighter, and other names for them. */
const LANGUAGES: Record<string, string[]> = {
  bash: ["sh", "shell", "zsh", "console"],
  csharp: ["cs", "c#"],
  go: ["golang"],
  http: [],
  ini: ["toml"],
  java: [],
  javascript: ["js", "jsx", "mjs", "node"],
  json: ["jsonc"],
  kotlin: ["kt"],
  php: [],
  python: ["py", "python3"],
  ruby: ["rb"],
  rust: ["rs"],
  sql: [],
  typescript: ["ts", "tsx"],
  xml: ["html"],
  yaml: ["yml"],
};
const BY_NAME = new Map(
  Object.entries(LANGUAGES).flatMap(([language, others]) => [language, ...others].map((name) => [name, language])),
);

/** Returns the name of a language in the highlighter, or `null` if code in it stays plain. */
export function languageOf(name: string | undefined): string | null {
  return BY_NAME.get(name?.trim().toLowerCase() ?? "") ?? null;
}

class Highlighting {
  readonly #highlighter = new LazyModule("highlighter", () => import("./highlighter"));

  /** Loads the highlighter, unless it is there already. Until then, and if it fails, code is plain. */
  load(): Promise<void> {
    return this.#highlighter.load();
  }

  /** Splits code into its parts, whose texts together are the code; `null` if it is to be shown plain. */
  piecesOf(code: string, language: string | null): CodePiece[] | null {
    const highlighter = this.#highlighter.value;
    return highlighter && language && code.length <= MAX_LENGTH ? highlighter.highlight(code, language) : null;
  }
}

export const highlighting = new Highlighting();
