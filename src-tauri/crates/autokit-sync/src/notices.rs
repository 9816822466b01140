//! What a member is told of: reviews that they are asked for, and comments that mention them.

use autokit_toolcard::ProposalId;

/// Something that a member is told of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    /// What it is.
    pub kind: NoticeKind,
    /// The proposal that it is about.
    pub proposal: ProposalId,
    /// Who did it, if that is known.
    pub by: Option<String>,
    /// The comment, or why the change was proposed.
    pub text: String,
}

/// What a member is told of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoticeKind {
    /// Somebody asks them to review a proposal.
    Assigned,
    /// A comment has their name after an `@`.
    Mentioned,
}

/// Whether a text has a name after an `@`, as a word.
pub(crate) fn mentions(text: &str, name: &str) -> bool {
    let (text, mention) = (text.to_lowercase(), format!("@{}", name.to_lowercase()));
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(&mention).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + mention.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

#[cfg(test)]
mod tests {
    use super::mentions;

    #[test]
    fn a_name_is_mentioned_as_a_word() {
        for text in ["@ann", "What do you think, @Ann?", "(@ann)", "@ann's view", "@bob @ann"] {
            assert!(mentions(text, "ann"), "{text}");
        }
        for text in ["ann", "mail ann@ann.org", "@anna", "@ann-marie", "x@ann", ""] {
            assert!(!mentions(text, "ann"), "{text}");
        }
        assert!(mentions("please, @Ann Lee", "ann lee"));
    }
}
