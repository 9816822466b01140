// Loads the parser of Markdown when the first text is shown, so that the window starts without it.

import { LazyModule } from "./lazyModule.svelte";
import type { Block } from "./markdown";

/** Longest text that is parsed, in characters; longer ones stay plain. */
const MAX_LENGTH = 20_000;

class MarkdownLoader {
  readonly #parser = new LazyModule("Markdown", () => import("./markdown"));

  /** Loads the parser, unless it is there already. Until then, and if it fails, texts are plain. */
  load(): Promise<void> {
    return this.#parser.load();
  }

  /** Parses a text; `null` if it is to be shown plain. */
  parse(text: string): Block[] | null {
    const parser = this.#parser.value;
    return parser && text.length <= MAX_LENGTH ? parser.parseMarkdown(text) : null;
  }
}

export const markdown = new MarkdownLoader();
