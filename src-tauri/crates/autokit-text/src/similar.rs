//! Names that somebody may have meant.

/// Most names that are suggested.
const MOST: usize = 3;
/// Fewest letters of a text that is looked for within names.
const SHORTEST: usize = 3;

/// Asks whether somebody meant one of the known names, of which the text is none: `None` unless one is a typing error or two
/// away or contains the text. Case does not matter.
pub fn did_you_mean<'a>(text: &str, known: impl IntoIterator<Item = &'a str>) -> Option<String> {
    let text = text.trim().to_lowercase();
    let length = text.chars().count();
    let most_errors = (length / 3).min(2);
    let mut similar: Vec<(bool, usize, &str)> = known
        .into_iter()
        .filter_map(|name| {
            let lower = name.to_lowercase();
            let difference = lower.chars().count().abs_diff(length);
            if difference <= most_errors {
                let errors = strsim::damerau_levenshtein(&text, &lower);
                if errors <= most_errors {
                    return Some((false, errors, name));
                }
            }
            (length >= SHORTEST && lower.contains(&text)).then_some((true, difference, name))
        })
        .collect();
    similar.sort_unstable();
    similar.dedup();
    let names: Vec<String> = similar.iter().take(MOST).map(|(_, _, name)| format!("{name:?}")).collect();
    let (last, others) = names.split_last()?;
    if others.is_empty() {
        return Some(format!("Did you mean {last}?"));
    }
    Some(format!("Did you mean {} or {last}?", others.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_typing_errors_come_before_longer_ones() {
        let known = ["ripgrep", "jq", "GitHub Issues", "ripgrep-all", "grep"];
        let said = |text| did_you_mean(text, known);
        assert_eq!(said("rigprep").as_deref(), Some("Did you mean \"ripgrep\"?"));
        assert_eq!(said("grep").as_deref(), Some("Did you mean \"grep\", \"ripgrep\" or \"ripgrep-all\"?"));
        assert_eq!(said("github").as_deref(), Some("Did you mean \"GitHub Issues\"?"));
        assert_eq!(said("qj"), None, "two letters are too few to guess from");
        assert_eq!(said("tesseract"), None);
        assert_eq!(said(""), None);
    }
}
