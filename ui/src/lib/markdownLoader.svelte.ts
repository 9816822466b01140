// Loads the parser of Markdown when the first text is shown, so that the window starts without it.

import type { Block } from "./markdown";

/** Longest text that is parsed, in characters; longer ones stay plain. */
const MAX_LENGTH = 20_000;

class MarkdownLoader {
  #parser = $state.raw<typeof import("./markdown") | null>(null);
  #loading: Promise<void> | null = null;

  /** Loads the parser, unless it is there already. */
  load(): Promise<void> {
    this.#loading ??= import("./markdown").then(
      (parser) => void (this.#parser = parser),
      (reason: unknown) => {
        // Plain text can be read as well; the next text tries again.
        this.#loading = null;
        console.warn("Markdown:", reason);
      },
    );
    return this.#loading;
  }

  /** Parses a text; `null` if it is to be shown plain. */
  parse(text: string): Block[] | null {
    return this.#parser && text.length <= MAX_LENGTH ? this.#parser.parseMarkdown(text) : null;
  }
}

export const markdown = new MarkdownLoader();
