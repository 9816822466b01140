//! The words of a comment.

/// Removes the marks of comments: `//`, `///`, `//!`, `#`, `/* … */` with its column of asterisks, and quotes
/// of Python's documentation strings. Lines stay lines.
pub(crate) fn words(comment: &str) -> String {
    let mut lines: Vec<String> = comment
        .lines()
        .map(|line| {
            let line = line.trim();
            let line = ["///", "//!", "//", "/**", "/*!", "/*", "\"\"\"", "'''", "r\"\"\""]
                .iter()
                .find_map(|mark| line.strip_prefix(mark))
                .unwrap_or(line);
            let line = line.trim_end_matches("*/").trim_end_matches("\"\"\"").trim_end_matches("'''");
            let line = line.strip_prefix('*').unwrap_or(line);
            let line = line.trim_start_matches(['#', '!']).trim();
            // Rulers and frames.
            if line.chars().any(char::is_alphanumeric) { line.to_owned() } else { String::new() }
        })
        .collect();
    lines.dedup_by(|a, b| a.is_empty() && b.is_empty());
    let start = lines.iter().position(|line| !line.is_empty()).unwrap_or(lines.len());
    let end = lines.iter().rposition(|line| !line.is_empty()).map_or(start, |at| at + 1);
    lines[start..end].join("\n")
}

#[cfg(test)]
mod tests {
    use super::words;

    #[test]
    fn marks_are_removed_and_words_stay() {
        assert_eq!(words("/// Adds.\n///\n/// Twice."), "Adds.\n\nTwice.");
        assert_eq!(words("/**\n * Adds.\n * @param a left\n */"), "Adds.\n@param a left");
        assert_eq!(words("# ------\n# Adds\n# ------"), "Adds");
        assert_eq!(words("\"\"\"Adds.\n\n    More.\n    \"\"\""), "Adds.\n\nMore.");
        assert_eq!(words("/* one line */"), "one line");
    }
}
