//! The prompts for language models: one file per prompt in `prompts/`, with named slots.
//!
//! If the slots of a file differ from those the code fills, compilation fails. A user may override a prompt;
//! an override with other slots is rejected when it is saved.

use std::collections::BTreeMap;
use std::fmt;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A prompt that is shipped with AutoKit.
#[derive(Clone, Copy, Debug)]
pub struct Prompt {
    /// Name of the file without extension.
    pub name: &'static str,
    /// The text, with slots written as `{{like_this}}`.
    pub text: &'static str,
    /// Names of its slots.
    pub slots: &'static [&'static str],
}

/// Why a text cannot override a prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub enum SlotError {
    /// A slot that the code fills is missing.
    Missing(String),
    /// A slot that the code does not fill.
    Unknown(String),
}

impl fmt::Display for SlotError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SlotError::Missing(slot) => write!(f, "the variable {{{{{slot}}}}} is missing"),
            SlotError::Unknown(slot) => write!(f, "unknown variable {{{{{slot}}}}}"),
        }
    }
}

/// Whether `text` contains every slot and no unknown one.
const fn has_all_slots(text: &str, slots: &[&str]) -> bool {
    let bytes = text.as_bytes();
    let mut at = 0;
    while at + 1 < bytes.len() {
        if bytes[at] == b'{' && bytes[at + 1] == b'{' {
            let mut known = false;
            let mut slot = 0;
            while slot < slots.len() {
                if is_slot_at(bytes, at + 2, slots[slot].as_bytes()) {
                    known = true;
                }
                slot += 1;
            }
            if !known {
                return false;
            }
        }
        at += 1;
    }
    let mut slot = 0;
    while slot < slots.len() {
        let mut found = false;
        let mut at = 0;
        while at + 1 < bytes.len() {
            if bytes[at] == b'{' && bytes[at + 1] == b'{' && is_slot_at(bytes, at + 2, slots[slot].as_bytes())
            {
                found = true;
            }
            at += 1;
        }
        if !found {
            return false;
        }
        slot += 1;
    }
    true
}

/// Whether `name}}` is found at this position.
const fn is_slot_at(bytes: &[u8], at: usize, name: &[u8]) -> bool {
    if at + name.len() + 2 > bytes.len() {
        return false;
    }
    let mut i = 0;
    while i < name.len() {
        if bytes[at + i] != name[i] {
            return false;
        }
        i += 1;
    }
    bytes[at + name.len()] == b'}' && bytes[at + name.len() + 1] == b'}'
}

macro_rules! prompts {
    ($($(#[doc = $doc:literal])+ $name:ident = $file:literal [$($slot:literal),*];)+) => {
        $(
            $(#[doc = $doc])+
            pub const $name: Prompt = {
                const TEXT: &str = include_str!(concat!("../../../../prompts/", $file, ".md"));
                const SLOTS: &[&str] = &[$($slot),*];
                const { assert!(has_all_slots(TEXT, SLOTS), concat!("the slots of prompts/", $file, ".md do not match the code")) };
                Prompt { name: $file, text: TEXT, slots: SLOTS }
            };
        )+

        /// All prompts.
        pub const ALL: &[Prompt] = &[$($name),+];
    };
}

prompts! {
    /// Scores candidates for a question.
    RERANK = "rerank" ["question", "candidates"];
    /// Scores candidates for an agent's search, without justifications.
    SCORE = "score" ["question", "candidates"];
    /// Writes an answer from retrieved cards.
    ANSWER = "answer" ["question", "tools", "correction"];
    /// Judges whether an answer answers the question.
    GRADE = "grade" ["question", "answer"];
    /// Rephrases a question.
    REWRITE = "rewrite" ["question", "tried", "reason"];
    /// Extracts a card from a text.
    DESCRIBE = "describe" ["text"];
    /// System prompt for discovering tools on the web.
    DISCOVER = "discover" ["sources"];
    /// Verifies a card against its documentation page.
    VERIFY = "verify" ["card", "page"];
    /// System prompt for finding the documentation page of a card.
    REPAIR = "repair" ["card", "problem"];
    /// Improves the description of a tool.
    IMPROVE = "improve" ["card", "page"];
    /// Makes up a request to try a tool with (DRAFT, explorer).
    REFINE_EXPLORE = "refine_explore" ["tool", "direction", "history", "reflection"];
    /// Compares a tool's documentation with a call (DRAFT, analyzer).
    REFINE_ANALYZE = "refine_analyze" ["tool", "call", "versions"];
    /// Rewrites a tool's description (DRAFT, rewriter).
    REFINE_REWRITE = "refine_rewrite" ["tool", "call", "suggestion", "versions"];
    /// Chooses the passages that answer a question, and what to search for next (Elyra, researcher).
    RESEARCH = "research" ["question", "passages", "tried"];
    /// Specifies a tool that serves a need (Elyra, bootstrapping).
    TOOL_SPECIFY = "tool_specify" ["need", "earlier", "failed"];
    /// Writes a tool that was specified, with its tests (Elyra, bootstrapping).
    TOOL_WRITE = "tool_write" ["specification", "language", "attempt", "checks"];
    /// Writes starter code for a use case.
    STARTER = "starter" ["use_case", "tool", "documentation"];
}

impl Prompt {
    /// Lists the slots of `text` that prevent it from overriding this prompt.
    pub fn validate_slots(&self, text: &str) -> Vec<SlotError> {
        let mut found: Vec<&str> = Vec::new();
        let mut rest = text;
        while let Some(at) = rest.find("{{") {
            rest = &rest[at + 2..];
            let Some(end) = rest.find("}}") else { break };
            found.push(rest[..end].trim());
            rest = &rest[end + 2..];
        }
        let missing = self
            .slots
            .iter()
            .filter(|slot| !found.contains(slot))
            .map(|slot| SlotError::Missing((*slot).to_owned()));
        let unknown = found
            .iter()
            .filter(|slot| !self.slots.contains(slot))
            .map(|slot| SlotError::Unknown((*slot).to_owned()));
        missing.chain(unknown).collect()
    }
}

/// The prompts in use: the user's overrides, else those that are shipped.
#[derive(Clone, Debug, Default)]
pub struct Prompts {
    overrides: BTreeMap<String, String>,
}

impl Prompts {
    /// Prompts with overrides by name. Overrides that do not fit are ignored.
    pub fn new(overrides: BTreeMap<String, String>) -> Prompts {
        let fit = |(name, text): &(String, String)| {
            ALL.iter().any(|prompt| prompt.name == name && prompt.validate_slots(text).is_empty())
        };
        Prompts { overrides: overrides.into_iter().filter(fit).collect() }
    }

    /// The text of a prompt with its slots filled. The filled-in values are not searched for slots.
    ///
    /// # Panics
    /// When there is no value for a slot, which is a bug in the caller.
    pub fn fill(&self, prompt: &Prompt, values: &[(&str, &str)]) -> String {
        let text = self.overrides.get(prompt.name).map_or(prompt.text, String::as_str);
        let mut out = String::with_capacity(text.len() + values.iter().map(|(_, v)| v.len()).sum::<usize>());
        let mut rest = text;
        while let Some(at) = rest.find("{{") {
            out.push_str(&rest[..at]);
            let after = &rest[at + 2..];
            let Some(end) = after.find("}}") else { break };
            let slot = after[..end].trim();
            let (_, value) = values
                .iter()
                .find(|(name, _)| *name == slot)
                .unwrap_or_else(|| panic!("no value for slot {slot} of prompt {}", prompt.name));
            out.push_str(value);
            rest = &after[end + 2..];
        }
        out.push_str(rest);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slots_are_checked_when_compiled_and_when_saved() {
        assert!(has_all_slots("a {{x}} b {{y}} {{x}}", &["x", "y"]));
        assert!(!has_all_slots("a {{x}}", &["x", "y"]));
        assert!(!has_all_slots("a {{x}} {{z}}", &["x"]));
        assert!(ALL.iter().all(|prompt| prompt.validate_slots(prompt.text).is_empty()));
        assert_eq!(
            GRADE.validate_slots("{{question}} {{anser}}"),
            [SlotError::Missing("answer".into()), SlotError::Unknown("anser".into())]
        );
    }

    #[test]
    fn filled_in_values_are_not_searched_for_slots() {
        let own = BTreeMap::from([
            ("grade".to_owned(), "Q {{question}} A {{answer}}!".to_owned()),
            ("rewrite".to_owned(), "no slots".to_owned()),
        ]);
        let prompts = Prompts::new(own);
        assert_eq!(
            prompts.fill(&GRADE, &[("question", "{{answer}}"), ("answer", "yes {{")]),
            "Q {{answer}} A yes {{!"
        );
        let rewrite = prompts.fill(&REWRITE, &[("question", "q"), ("tried", "t"), ("reason", "r")]);
        assert!(rewrite.len() > 20, "a stand-in that does not fit is not used: {rewrite}");
    }
}
