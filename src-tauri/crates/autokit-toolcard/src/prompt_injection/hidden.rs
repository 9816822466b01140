//! Detects text that is present but not shown: comments, markup, text pushed out of view.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder};

use super::fold::Folded;
use super::{Found, InjectionKind};

/// Blanks in a line beyond which nobody looks for more text: wider than a window or a table.
const WIDE: usize = 80;
/// Line ends in a row beyond which nobody looks for more text.
const TALL: usize = 12;

fn expression(shape: &str) -> Regex {
    RegexBuilder::new(shape).unicode(false).build().expect("a valid expression")
}

static SHAPES: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        (r"<!--(?s:.*?)(?:-->|\z)", "A markup comment, which is not displayed."),
        (r"(?m)^\[(?://|comment|_)\]:\s*(?:#|<>)[^\n]*", "A Markdown comment, which is not displayed."),
        (
            r#"<[a-z][^<>]{0,200}?(?:display\s*:\s*none|visibility\s*:\s*hidden|font-size\s*:\s*0|opacity\s*:\s*0(?:[;"'\s>]|\.0)|[\s"']hidden(?:\s*=\s*["']?(?:hidden|true)["']?)?\s*/?>)[^<>]{0,200}>?"#,
            "Markup that is not displayed.",
        ),
        (
            r"<\s*/?\s*(?:important|critical|hidden|secret|instructions?|system[-_ ]?(?:prompt|message|instructions?|override)|tool[-_ ]instructions?|(?:assistant|agent|ai|llm|model)[-_ ]instructions?|admin[-_ ]?(?:note|override)|override)\s*>",
            "A tag that makes a model treat what follows as instructions.",
        ),
        (
            r"<\|(?:im_start|im_end|system|user|assistant|endoftext|start_header_id|end_header_id|eot_id)\|>|\[/?inst\]|<</?sys>>",
            "A marker that separates the turns of a model conversation.",
        ),
    ]
    .into_iter()
    .map(|(shape, why)| (expression(shape), why))
    .collect()
});

pub(super) fn find(text: &str, folded: &Folded) -> Vec<Found> {
    let mut found = blanks(text);
    // All of these patterns contain a bracket.
    if folded.text.iter().any(|c| matches!(c, b'<' | b'[')) {
        for (shape, why) in &*SHAPES {
            let ranges = shape.find_iter(&folded.text).map(|hit| folded.original_range(hit.range()));
            found.extend(ranges.map(|at| Found::new(at, InjectionKind::Hidden, *why)));
        }
    }
    found
}

/// Finds long runs of blanks that are followed by text.
fn blanks(text: &str) -> Vec<Found> {
    let mut found = Vec::new();
    let mut start = None;
    // For the current run: blanks since the last line end, most blanks in a line, number of line ends.
    let (mut line, mut wide, mut tall) = (0, 0, 0);
    for (at, c) in text.char_indices() {
        if c.is_whitespace() || matches!(c, '\u{2800}' | '\u{3164}') {
            start.get_or_insert(at);
            if c == '\n' {
                (line, tall) = (0, tall + 1);
            } else {
                line += 1;
                wide = wide.max(line);
            }
        } else {
            // Blanks before the right border of a table hide nothing.
            let shows = |rest: &str| rest.lines().next().unwrap_or_default().contains(char::is_alphanumeric);
            if let Some(start) = start.take()
                && (tall > TALL || (wide >= WIDE && shows(&text[at..])))
            {
                let why = if tall > TALL {
                    format!("{tall} line breaks push the following text out of view.")
                } else {
                    format!("{wide} spaces push the following text out of view.")
                };
                found.push(Found::new(start..at, InjectionKind::Hidden, why));
            }
            (line, wide, tall) = (0, 0, 0);
        }
    }
    found
}
