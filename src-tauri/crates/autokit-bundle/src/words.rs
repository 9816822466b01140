//! Splitting names into words.

/// Splits a name into lower-case words: `--apiKey_file` → `api`, `key`, `file`.
pub(crate) fn split_words(name: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut lower_before = false;
    for c in name.chars() {
        let breaks = !c.is_alphanumeric() || (c.is_uppercase() && lower_before);
        if breaks {
            words.push(String::new());
        }
        if c.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(c.to_lowercase());
        }
        lower_before = c.is_lowercase() || c.is_ascii_digit();
    }
    words.retain(|word| !word.is_empty());
    words
}
