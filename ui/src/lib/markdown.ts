// Markdown as a tree of what is rendered: no HTML, no images, and links only as addresses that are shown.

import MarkdownIt from "markdown-it";
import { visible, visibleLine } from "./visible";

export type Inline =
  | { kind: "text"; text: string }
  | { kind: "code"; text: string }
  | { kind: "strong" | "emphasis" | "deleted"; children: Inline[] }
  | { kind: "link"; url: string; bare: boolean; children: Inline[] }
  | { kind: "break" };

export type Block =
  | { kind: "paragraph"; children: Inline[] }
  | { kind: "heading"; level: number; children: Inline[] }
  | { kind: "list"; start: number | null; items: Block[][] }
  | { kind: "quote"; blocks: Block[] }
  | { kind: "code"; language: string; caption: string; text: string }
  | { kind: "rule" };

// markdown-it, for its limit of nesting, and because it takes HTML and addresses such as `javascript:` as text.
const MAX_NESTING = 20;
const parser = new MarkdownIt({ html: false, maxNesting: MAX_NESTING }).disable(["table", "reference"]);

type Token = ReturnType<typeof parser.parse>[number];

/** Takes tokens up to the end of a block or mark, and moves on behind it. */
class Reader {
  #tokens: Token[];
  #at = 0;

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  /** Returns the next token, unless it ends what is being read; that is skipped. */
  next(): Token | null {
    const token = this.#tokens[this.#at++];
    return token && token.nesting >= 0 ? token : null;
  }
}

const MARKS = { strong_open: "strong", em_open: "emphasis", s_open: "deleted" } as const;

function inlines(reader: Reader): Inline[] {
  const found: Inline[] = [];
  for (let token = reader.next(); token; token = reader.next()) {
    const { type } = token;
    if (type in MARKS) found.push({ kind: MARKS[type as keyof typeof MARKS], children: inlines(reader) });
    else if (type === "link_open") {
      const url = String(token.attrGet("href") ?? "");
      const title = token.attrGet("title");
      const children = inlines(reader);
      // Shown as well, because agents read it.
      if (title) children.push({ kind: "text", text: ` (${visibleLine(String(title))})` });
      // An address that is its own text is shown once.
      found.push({ kind: "link", url, bare: plainText(children) === url, children });
    } else if (type === "hardbreak") found.push({ kind: "break" });
    else if (type === "softbreak") found.push({ kind: "text", text: "\n" });
    else if (type === "code_inline") found.push({ kind: "code", text: visible(token.content) });
    else if (type === "image") found.push({ kind: "text", text: plainText(inlines(new Reader(token.children ?? []))) });
    else if (token.content) found.push({ kind: "text", text: visible(token.content) });
  }
  return found;
}

function blocks(reader: Reader): Block[] {
  const found: Block[] = [];
  for (let token = reader.next(); token; token = reader.next()) {
    const { type } = token;
    if (type === "paragraph_open") found.push({ kind: "paragraph", children: blockText(reader) });
    else if (type === "heading_open") {
      found.push({ kind: "heading", level: Number(token.tag.slice(1)), children: blockText(reader) });
    } else if (type === "bullet_list_open") found.push({ kind: "list", start: null, items: items(reader) });
    else if (type === "ordered_list_open") {
      found.push({ kind: "list", start: Number(token.attrGet("start") ?? 1), items: items(reader) });
    } else if (type === "blockquote_open") found.push({ kind: "quote", blocks: blocks(reader) });
    else if (type === "fence" || type === "code_block") {
      const caption = visibleLine(token.info.trim());
      const language = caption.split(/\s/)[0] ?? "";
      found.push({ kind: "code", language, caption, text: token.content.replace(/\n$/, "") });
    } else if (type === "hr") found.push({ kind: "rule" });
  }
  return found;
}

/** Reads the text of a paragraph or heading, up to its end. */
function blockText(reader: Reader): Inline[] {
  const found: Inline[] = [];
  for (let token = reader.next(); token; token = reader.next()) {
    if (token.children) found.push(...inlines(new Reader(token.children)));
  }
  return found;
}

function items(reader: Reader): Block[][] {
  const found: Block[][] = [];
  for (let token = reader.next(); token; token = reader.next()) {
    if (token.type === "list_item_open") found.push(blocks(reader));
  }
  return found;
}

/** Returns the text of a paragraph without its marks. */
function plainText(pieces: Inline[]): string {
  return pieces
    .map((piece) => ("text" in piece ? piece.text : "children" in piece ? plainText(piece.children) : "\n"))
    .join("");
}

/**
 * Parses Markdown. Its texts are visible already, except those of code blocks. Returns `null` for a text that is nested
 * so deeply that the parser leaves out what is inside.
 */
export function parseMarkdown(text: string): Block[] | null {
  const tokens = parser.parse(text, {});
  return tokens.some(({ level }) => level >= MAX_NESTING - 1) ? null : blocks(new Reader(tokens));
}
