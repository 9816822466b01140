//! Cards as shown to people: rows and details.

use autokit_api::{CardDetail, CardSummary};
use autokit_library::{CardRecord, Checks};
use autokit_toolcard::{Problem, Severity, Toolcard, check, fields};

/// Most characters in a one-line text about a card.
pub const MAX_LINE_CHARS: usize = 160;
/// Most characters of a description in a row.
const DESCRIPTION_CHARS: usize = 240;

/// Returns a card's row in a list.
pub fn summary(record: &CardRecord, checks: &Checks) -> CardSummary {
    card_summary(record, &record.card(), checks)
}

fn card_summary(record: &CardRecord, card: &Toolcard, checks: &Checks) -> CardSummary {
    let last = checks.get(&record.id);
    CardSummary {
        id: record.id.clone(),
        name: card.name().to_owned(),
        provider: record.key.provider.clone(),
        kind: record.kind,
        language: record.language.as_deref().map(str::to_owned),
        description: shorten(card.description(), DESCRIPTION_CHARS),
        documentation: card.text(fields::DOCUMENTATION).filter(|url| !url.is_empty()).map(str::to_owned),
        verified: record.verified,
        health: last.map(|last| last.state),
        checked_at: last.map(|last| last.checked_at),
        changed: last.is_some_and(|last| last.is_outdated(record.number)),
        callable: card.has_call(),
        tags: card.tags().map(str::to_owned).collect(),
        number: record.number,
        updated_at: record.updated_at,
    }
}

/// Shortens a text to at most `chars` characters plus an ellipsis, cutting between words.
pub fn shorten(text: &str, chars: usize) -> String {
    let text = text.trim();
    let Some((end, _)) = text.char_indices().nth(chars) else { return text.to_owned() };
    let cut = &text[..end];
    let cut = cut.rsplit_once(char::is_whitespace).map_or(cut, |(before, _)| before);
    format!("{}…", cut.trim_end())
}

/// Returns the first sentence of a text, for one-line answers.
pub fn first_sentence(text: &str) -> String {
    let text = text.trim();
    let mut end = text.len();
    for (at, mark) in text.match_indices(['.', '!', '?', '\n']) {
        let rest = &text[at + mark.len()..];
        let before = &text[..at];
        // Not the end of a sentence in "e.g. this" and "v1.2".
        let abbreviation = before.rsplit(' ').next().is_some_and(|word| word.len() < 3 || word.contains('.'));
        if mark == "\n" || (rest.is_empty() || rest.starts_with(char::is_whitespace)) && !abbreviation {
            end = if mark == "\n" { at } else { at + mark.len() };
            break;
        }
    }
    shorten(&text[..end], DESCRIPTION_CHARS)
}

/// Returns a card's details: its row, fields and warnings.
pub fn detail(record: &CardRecord, checks: &Checks) -> CardDetail {
    let card = record.card();
    let warnings: Vec<Problem> =
        check(card.object()).into_iter().filter(|problem| problem.severity == Severity::Warning).collect();
    CardDetail {
        summary: card_summary(record, &card, checks),
        warnings,
        stub: card.stub(),
        fields: card.into_object(),
        created_at: record.created_at,
        change: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn abbreviations_do_not_end_a_sentence() {
        assert_eq!(first_sentence("Search the web. Free to use."), "Search the web.");
        assert_eq!(
            first_sentence("Uses v1.2 of it, e.g. for logs. More."),
            "Uses v1.2 of it, e.g. for logs."
        );
        assert_eq!(first_sentence("A line\nand another"), "A line");
        assert_eq!(first_sentence("No end"), "No end");
        assert_eq!(first_sentence(""), "");
    }

    #[test]
    fn shortened_text_ends_at_a_word() {
        assert_eq!(shorten("one two three", 9), "one two…");
        assert_eq!(shorten("one", 9), "one");
    }
}
