//! Writes a catalogue in Markdown, to be read on a code forge or turned into pages.
//!
//! A card's text stays text: it cannot create a heading, link, HTML, table or end of a code block. Every
//! character with a meaning in CommonMark or GitHub's extensions is escaped, no line starts like a block, and
//! code is fenced with more backticks than any run in it.

use std::io::{self, Write};

use autokit_toolcard::{Kind, Toolcard, fields};

use super::catalogue::{anchor, by_name, count, heading, link, visible_text};
use crate::BundleInfo;

/// Writes the catalogue: title and count, contents by kind, and for each card its name, description,
/// language, module and class, documentation link, what people ask for, tags and the lines to copy. Cards are sorted
/// by name.
///
/// # Errors
/// When the writer fails.
pub fn write_markdown(out: &mut impl Write, cards: &[Toolcard], about: &BundleInfo) -> io::Result<()> {
    let title = if about.name.trim().is_empty() { "Toolcards" } else { &about.name };
    writeln!(out, "# {}\n", line(title))?;
    let mut facts = vec![count(cards)];
    facts.extend(
        [about.author.as_str(), about.day().as_str()]
            .into_iter()
            .filter(|text| !text.trim().is_empty())
            .map(line),
    );
    writeln!(out, "{}", facts.join(" · "))?;

    let sorted = by_name(cards);
    let groups: Vec<(Kind, Vec<&Toolcard>)> = Kind::ALL
        .into_iter()
        .map(|kind| (kind, sorted.iter().copied().filter(|card| card.kind() == kind).collect::<Vec<_>>()))
        .filter(|(_, cards)| !cards.is_empty())
        .collect();
    if !groups.is_empty() {
        writeln!(out, "\n## Contents")?;
    }
    for (kind, cards) in &groups {
        writeln!(out, "\n**{}** ({})\n", heading(*kind), cards.len())?;
        for card in cards {
            writeln!(out, "- [{}](#{})", label(card), anchor(card))?;
        }
    }
    for (kind, cards) in &groups {
        writeln!(out, "\n## {}", heading(*kind))?;
        for card in cards {
            write_card(out, card)?;
        }
    }
    Ok(())
}

/// The name with the provider, if any, which distinguishes two tools of the same name.
fn label(card: &Toolcard) -> String {
    match card.text(fields::PROVIDER).filter(|provider| !provider.trim().is_empty()) {
        Some(provider) => format!("{} ({})", line(card.name()), line(provider)),
        None => line(card.name()),
    }
}

fn write_card(out: &mut impl Write, card: &Toolcard) -> io::Result<()> {
    // An explicit anchor, because forges derive anchors from headings in different ways.
    writeln!(out, "\n<a id=\"{}\"></a>\n\n### {}", anchor(card), line(card.name()))?;
    let description = block(card.description());
    if !description.is_empty() {
        writeln!(out, "\n{description}")?;
    }
    let mut facts = Vec::new();
    if let Some(provider) = filled(card, fields::PROVIDER) {
        facts.push(format!("- Provider: {}", line(provider)));
    }
    for (name, field) in
        [("Language", fields::LANGUAGE), ("Module", fields::MODULE), ("Class", fields::CLASS)]
    {
        if let Some(text) = filled(card, field) {
            facts.push(format!("- {name}: {}", code(text)));
        }
    }
    if let Some(pricing) = filled(card, fields::PRICING) {
        facts.push(format!("- Pricing: {}", line(pricing)));
    }
    for (name, field) in [("Documentation", fields::DOCUMENTATION), ("OpenAPI", fields::OPENAPI)] {
        if let Some(text) = filled(card, field) {
            facts.push(format!("- {name}: {}", linked(text)));
        }
    }
    let asks: Vec<String> = card.asks_for().map(|ask| format!("\u{201c}{}\u{201d}", line(ask))).collect();
    if !asks.is_empty() {
        facts.push(format!("- People ask for: {}", asks.join(", ")));
    }
    let tags: Vec<String> = card.tags().filter(|tag| !tag.trim().is_empty()).map(code).collect();
    if !tags.is_empty() {
        facts.push(format!("- Tags: {}", tags.join(", ")));
    }
    if !facts.is_empty() {
        writeln!(out, "\n{}", facts.join("\n"))?;
    }
    if let Some(stub) = card.stub() {
        let text = visible_text(&stub.code);
        let fence = "`".repeat(longest_run(&text).max(2) + 1);
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '+' | '-' | '#');
        let language = if stub.language.chars().all(plain) { stub.language.as_str() } else { "" };
        writeln!(out, "\n{fence}{language}\n{}\n{fence}", text.trim_end_matches('\n'))?;
    }
    Ok(())
}

fn filled<'a>(card: &'a Toolcard, field: &str) -> Option<&'a str> {
    card.text(field).filter(|text| !text.trim().is_empty())
}

/// Escapes text as a single line.
fn line(text: &str) -> String {
    let one_line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    escaped(&visible_text(&one_line))
}

/// Escapes text of any number of lines; empty lines separate paragraphs, and no line starts a block.
fn block(text: &str) -> String {
    let mut out = String::new();
    let mut gap = false;
    for row in visible_text(text).split('\n').map(str::trim) {
        if row.is_empty() {
            gap = !out.is_empty();
            continue;
        }
        if !out.is_empty() {
            out.push_str(if gap { "\n\n" } else { "\n" });
        }
        gap = false;
        out.push_str(&escaped(row));
    }
    out
}

/// Escapes every special character of a trimmed line.
fn escaped(row: &str) -> String {
    let mut out = String::with_capacity(row.len() + 8);
    // `1.` and `1)` start a list, so the character after the digits is escaped.
    let digits = row.bytes().take_while(u8::is_ascii_digit).count();
    for (at, c) in row.char_indices() {
        let rest = &row[at..];
        let special = match c {
            '\\' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '&' | '|' | '~' | '#' | '$' | '{' | '^'
            | '@' => true,
            '-' | '+' | '=' | ':' if at == 0 => true,
            '.' | ')' if digits > 0 && at == digits => rest.len() == 1 || rest[1..].starts_with([' ', '\t']),
            // Many renderers turn bare URLs into links.
            ':' => rest.starts_with("://"),
            '.' => at >= 3 && row.as_bytes()[at - 3..at].eq_ignore_ascii_case(b"www"),
            _ => false,
        };
        if special {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

/// Formats text as a code span.
fn code(text: &str) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text = visible_text(&text);
    let fence = "`".repeat(longest_run(&text) + 1);
    // Keeps a backtick in the text from joining the fence; renderers remove the space again.
    let space = if text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// Formats a web URL as a link with the URL as its text, and anything else as a code span.
fn linked(text: &str) -> String {
    match link(text) {
        // `&` could start an entity; within angle brackets a parenthesis does not end the link.
        Some(address) => format!("[{}](<{}>)", line(text), address.replace('&', "&amp;")),
        None => code(text),
    }
}

fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

#[cfg(test)]
mod tests;
