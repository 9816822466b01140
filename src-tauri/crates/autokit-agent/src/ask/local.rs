//! What the agent does without a language model: rules, with explanations that say so.

use std::sync::Arc;

use autokit_search::Field;
use autokit_toolcard::Stub;

use super::answer::Retrieved;
use super::draft::Draft;
use super::graph::Step;

/// Describes a step for the trace.
pub(super) fn step_description(step: Step) -> &'static str {
    match step {
        Step::Search => "Searching the library",
        Step::Generate => "Drafting an answer",
        Step::GradeGrounded => "Checking the answer against its sources",
        Step::GradeAnswers => "Checking that it answers the question",
        Step::Rewrite => "Rewriting the query",
        Step::Web => "Searching the web",
        Step::Finalize => "Finishing",
        Step::Feedback => "Saving the feedback",
        Step::Add => "Proposing a card",
    }
}

/// Returns the first sentence of the card's description.
pub(super) fn sentence(card: &Retrieved) -> String {
    let text = card.description.trim();
    let end = text
        .char_indices()
        .find(|&(at, c)| {
            matches!(c, '.' | '!' | '?') && text[at + 1..].chars().next().is_none_or(char::is_whitespace)
        })
        .map_or(text.len(), |(at, c)| at + c.len_utf8());
    text[..end].to_owned()
}

/// Explains a match: which words of the question the card contains, and which are known of its name.
pub(super) fn why(card: &Retrieved, query: &str) -> String {
    let (mut words, mut known): (Vec<&str>, Vec<&str>) = Default::default();
    for term in &card.parts.matched_terms {
        let word = term.meaning.as_ref().unwrap_or(&term.word).as_str();
        let list = if term.field == Field::Known { &mut known } else { &mut words };
        if !list.contains(&word) {
            list.push(word);
        }
    }
    // Words known only from elsewhere are not attributed to the card.
    known.retain(|word| !words.contains(word));
    let mut reasons = Vec::new();
    if !words.is_empty() {
        reasons.push(format!("Its card mentions {}.", words.join(", ")));
    }
    if !known.is_empty() {
        reasons.push(format!("Known about its name: {}.", known.join(", ")));
    }
    match card.parts.cosine {
        _ if !reasons.is_empty() => reasons.join(" "),
        Some(_) => format!("Its card is the closest in meaning to {query:?}."),
        None => "It is the closest card.".to_owned(),
    }
}

/// Drafts an answer from the card's own text.
pub(super) fn answer(card: Arc<Retrieved>, query: &str) -> Draft {
    Draft {
        sentence: sentence(&card),
        why: why(&card, query),
        code: card.stub.clone(),
        by_model: false,
        card,
    }
}

/// Returns the code a model wrote, or the card's stub if it wrote none.
pub(super) fn stub_of(card: &Retrieved, code: &str) -> Option<Stub> {
    let code = strip_fence(code);
    if code.trim().is_empty() {
        return card.stub.clone();
    }
    let language = card.stub.as_ref().map_or_else(|| "python".to_owned(), |stub| stub.language.clone());
    Some(Stub { language, code: code.trim().to_owned() })
}

/// Strips the code fence that some models add.
pub(super) fn strip_fence(code: &str) -> String {
    let trimmed = code.trim();
    match trimmed.strip_prefix("```") {
        Some(rest) => {
            let body = rest.split_once('\n').map_or("", |(_, body)| body);
            body.trim_end().strip_suffix("```").unwrap_or(body).trim_end().to_owned()
        }
        None => trimmed.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_fences_are_stripped() {
        assert_eq!(strip_fence("```python\nimport os\n```"), "import os");
        assert_eq!(strip_fence("import os\n"), "import os");
    }
}
