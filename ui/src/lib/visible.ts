// Makes invisible and bidirectional control characters visible, so that a text cannot misrepresent itself. Matches the
// engine's `visible`.

/** Characters that render as nothing or change the text around them. Line feed and tab are not included. */
const UNSEEN = new RegExp(
  // eslint-disable-next-line no-misleading-character-class -- each is looked for by itself
  "[" +
    // Controls.
    "\\u{0}-\\u{8}\\u{b}-\\u{1f}\\u{7f}-\\u{9f}" +
    // Soft hyphen, grapheme joiner, Arabic letter mark, fillers and blank letters.
    "\\u{ad}\\u{34f}\\u{61c}\\u{115f}\\u{1160}\\u{17b4}\\u{17b5}\\u{2800}\\u{3164}\\u{ffa0}" +
    // Mongolian selectors, zero-width characters, directional marks, line and paragraph separators.
    "\\u{180b}-\\u{180f}\\u{200b}-\\u{200f}\\u{2028}\\u{2029}" +
    // Embeddings, overrides, isolates, invisible operators.
    "\\u{202a}-\\u{202e}\\u{2060}-\\u{206f}" +
    // Variation selectors, byte order mark, interlinear annotations, noncharacters.
    "\\u{fe00}-\\u{fe0f}\\u{feff}\\u{fff0}-\\u{fffb}\\u{fffe}\\u{ffff}" +
    // Shorthand controls, musical controls, lone surrogates, and tags, which can smuggle whole sentences.
    "\\u{1bca0}-\\u{1bca3}\\u{1d173}-\\u{1d17a}\\u{d800}-\\u{dfff}\\u{e0000}-\\u{e0fff}" +
    "]",
  "u",
);

/** Blocks that contain emoji. Deliberately broad: a joiner between two symbols hides nothing. */
const PICTOGRAPH =
  /^[\u{a9}\u{ae}\u{203c}\u{2049}\u{2122}\u{2139}\u{2190}-\u{21ff}\u{2300}-\u{27bf}\u{2900}-\u{297f}\u{2b00}-\u{2bff}\u{3030}\u{303d}\u{3297}\u{3299}\u{1f000}-\u{1faff}]$/u;

const SELECTOR = /^[\u{fe0e}\u{fe0f}]$/u;
const SKIN = /^[\u{1f3fb}-\u{1f3ff}]$/u;

/**
 * Splits a text into code points, each with its displayed form: invisible and bidirectional control characters as a
 * mark such as `‹U+202E›`. Joiners and selectors that are part of an emoji are kept.
 */
export function visibleLetters(text: string): { raw: string; seen: string }[] {
  const letters = [...text];
  let base = "";
  let selected = false;
  return letters.map((letter, at) => {
    const held =
      letter === "\u200d"
        ? PICTOGRAPH.test(base) && PICTOGRAPH.test(letters[at + 1] ?? "")
        : SELECTOR.test(letter) && !selected && (PICTOGRAPH.test(base) || /^[0-9#*]$/.test(base));
    const code = letter.codePointAt(0) ?? 0;
    const hidden = UNSEEN.test(letter) && !held;
    if (SELECTOR.test(letter)) selected = true;
    else if (!SKIN.test(letter)) [base, selected] = [letter, false];
    return { raw: letter, seen: hidden ? `‹U+${code.toString(16).toUpperCase().padStart(4, "0")}›` : letter };
  });
}

/** Replaces invisible characters with visible marks. */
export function visible(text: string): string {
  if (!UNSEEN.test(text)) return text;
  return visibleLetters(text)
    .map(({ seen }) => seen)
    .join("");
}

/** Like [`visible`] for a single line: line feeds and tabs become marks as well. */
export function visibleLine(text: string): string {
  return visible(text).replaceAll("\n", "‹U+000A›").replaceAll("\t", "‹U+0009›");
}
