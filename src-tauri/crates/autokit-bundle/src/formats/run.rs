//! Formats a command as a line that can be pasted into a shell.

/// Joins words into a line, quoting each one that a shell would interpret.
pub(super) fn line<'a>(words: impl IntoIterator<Item = &'a str>) -> String {
    words.into_iter().map(word).collect::<Vec<_>>().join(" ")
}

fn word(word: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "@%_-+=:,./".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

#[cfg(test)]
mod tests {
    use super::line;

    #[test]
    fn arguments_stay_separate_words() {
        assert_eq!(line(["npx", "-y", "@a/b@1.0"]), "npx -y @a/b@1.0");
        assert_eq!(line(["x; rm -rf ~", "it's", "", "<secret>"]), r"'x; rm -rf ~' 'it'\''s' '' '<secret>'");
    }
}
