//! Sentences that limit what a tool does.

use crate::text::sentences;

/// Words that limit.
const LIMITING: [&str; 24] = [
    "no",
    "not",
    "never",
    "only",
    "cannot",
    "can't",
    "don't",
    "doesn't",
    "isn't",
    "won't",
    "except",
    "unless",
    "requires",
    "require",
    "required",
    "needs",
    "must",
    "limited",
    "deprecated",
    "discontinued",
    "unmaintained",
    "experimental",
    "untrusted",
    "paid",
];

/// Returns the sentences of a description that limit what the tool does, or say what it costs: whoever is recommended the
/// tool has to see them.
fn limits(description: &str) -> impl Iterator<Item = &str> {
    let is_limiting = |word: &str| LIMITING.iter().any(|limiting| word.eq_ignore_ascii_case(limiting));
    description.lines().flat_map(sentences).filter(move |sentence| {
        // An apostrophe belongs to its word, in either form.
        sentence
            .split(|c: char| !c.is_alphanumeric() && c != '\'' && c != '’')
            .any(|word| is_limiting(&word.replace('’', "'")))
    })
}

/// Returns those that the texts shown already do not contain.
pub fn limits_not_in(description: &str, shown: &[&str]) -> Vec<String> {
    limits(description)
        .filter(|limit| !shown.iter().any(|text| text.contains(limit)))
        .map(str::to_owned)
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sentences_that_limit_are_found_whatever_their_case() {
        let text = "Runs Python code in this process. No isolation: use only with trusted input. Fast.\nDeprecated since 2.0. It noted nothing.";
        assert_eq!(
            limits(text).collect::<Vec<_>>(),
            ["No isolation: use only with trusted input.", "Deprecated since 2.0."]
        );
        assert_eq!(limits_not_in(text, &["Deprecated since 2.0."]).len(), 1);
        assert_eq!(limits("Doesn’t work offline.").count(), 1);
        assert_eq!(limits("").count(), 0);
    }
}
