//! What a member is told of: reviews that they are asked for, and comments that mention them.

use autokit_library::ReceivedProposal;
use autokit_toolcard::{ProposalId, ProposalState};

use crate::sync::TeamSync;

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
fn mentions(text: &str, name: &str) -> bool {
    let (text, mention) = (text.to_lowercase(), format!("@{}", name.to_lowercase()));
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '-';
    text.match_indices(&mention).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + mention.len()..].chars().next();
        !before.is_some_and(is_word) && !after.is_some_and(is_word)
    })
}

impl TeamSync {
    /// Returns what of a proposal this member is told of once it was received, with who did it and the text.
    pub(crate) fn told(&self, one: &ReceivedProposal) -> Vec<(NoticeKind, Option<String>, String)> {
        // To a replica that was never in step, everything is new.
        if self.position.synced_at.is_none() || one.link.state != ProposalState::Pending {
            return Vec::new();
        }
        let me = &self.rules.member;
        let known = one.id.and_then(|id| self.links.get(&id));
        let mut told = Vec::new();
        let was_assigned = known.is_some_and(|known| known.assigned_to.as_ref() == Some(me));
        if !was_assigned && one.link.assigned_to.as_ref() == Some(me) {
            let reason = one.draft.as_ref().map(|draft| draft.reason.clone()).unwrap_or_default();
            told.push((NoticeKind::Assigned, None, reason));
        }
        let read = known.map_or(0, |known| known.comments as usize);
        let new = one.comments.iter().skip(read).filter(|comment| comment.by.0 != *me);
        let mentioning = new.filter(|comment| mentions(&comment.text, me));
        told.extend(
            mentioning
                .map(|comment| (NoticeKind::Mentioned, Some(comment.by.0.clone()), comment.text.clone())),
        );
        told
    }
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
