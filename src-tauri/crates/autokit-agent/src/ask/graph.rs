//! The state graph of an ask: its states and transitions (FUEL, Fig. 2: retrieve, generate, two graders,
//! rewrite, web fallback). Nothing else decides which step comes next.
//!
#![doc = include_str!("graph.md")]

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A step of the agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Step {
    /// Rank the library's cards.
    Search,
    /// Write an answer from the retrieved cards.
    Generate,
    /// Check that every claim and code line is supported by what was retrieved.
    GradeGrounded,
    /// Check that the answer answers the question.
    GradeAnswers,
    /// Rephrase the question.
    Rewrite,
    /// Search the web.
    Web,
    /// Deliver the answer.
    Finalize,
    /// The person gives feedback.
    Feedback,
    /// Propose a card for a tool found on the web.
    Add,
}

/// Outcome of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// Cards were found.
    Found,
    /// Nothing was found.
    Nothing,
    /// An answer was written.
    Written,
    /// All claims are supported.
    Grounded,
    /// Some claims are not supported.
    Ungrounded,
    /// It answers the question.
    Answers,
    /// It does not answer the question.
    Misses,
    /// The question was rephrased.
    Rewritten,
    /// No tries are left, or no new phrasing was found.
    Exhausted,
    /// The answer was delivered.
    #[serde(alias = "told")]
    Delivered,
    /// The person found the answer helpful.
    Helpful,
    /// The person did not find it helpful.
    Unhelpful,
    /// The person wants a card for a tool found on the web.
    Wanted,
    /// A card was proposed.
    Proposed,
}

/// Target of a transition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// Run another step.
    Do(Step),
    /// Wait for the person, who may continue from here.
    Wait,
}

use Next::{Do, Wait};

/// All transitions.
pub const EDGES: &[(Step, Outcome, Next)] = &[
    (Step::Search, Outcome::Found, Do(Step::Generate)),
    (Step::Search, Outcome::Nothing, Do(Step::Rewrite)),
    (Step::Generate, Outcome::Written, Do(Step::GradeGrounded)),
    (Step::Generate, Outcome::Nothing, Do(Step::Rewrite)),
    (Step::GradeGrounded, Outcome::Grounded, Do(Step::GradeAnswers)),
    (Step::GradeGrounded, Outcome::Ungrounded, Do(Step::Generate)),
    (Step::GradeGrounded, Outcome::Exhausted, Do(Step::Web)),
    (Step::GradeAnswers, Outcome::Answers, Do(Step::Finalize)),
    (Step::GradeAnswers, Outcome::Misses, Do(Step::Rewrite)),
    (Step::Rewrite, Outcome::Rewritten, Do(Step::Search)),
    (Step::Rewrite, Outcome::Exhausted, Do(Step::Web)),
    (Step::Web, Outcome::Found, Do(Step::Finalize)),
    (Step::Web, Outcome::Nothing, Do(Step::Finalize)),
    (Step::Finalize, Outcome::Delivered, Wait),
    (Step::Feedback, Outcome::Helpful, Wait),
    (Step::Feedback, Outcome::Unhelpful, Do(Step::Search)),
    (Step::Feedback, Outcome::Wanted, Do(Step::Add)),
    (Step::Add, Outcome::Proposed, Wait),
];

/// How often a question is rephrased, or an unsupported answer rewritten, before the web is searched (FUEL:
/// at most three retries).
pub const RETRIES: u32 = 3;

/// Returns what follows a step that ended with this outcome.
///
/// # Panics
/// When the step cannot have this outcome, which would be a bug in the caller.
pub fn next(step: Step, outcome: Outcome) -> Next {
    EDGES
        .iter()
        .find(|(from, how, _)| *from == step && *how == outcome)
        .map_or_else(|| panic!("{step:?} cannot end with {outcome:?}"), |(_, _, to)| *to)
}

/// Returns the transitions as a Mermaid diagram.
pub fn diagram() -> String {
    let mut text = String::from("stateDiagram-v2\n    [*] --> Search\n");
    for (from, how, to) in EDGES {
        let to = match to {
            Do(step) => format!("{step:?}"),
            Wait => "[*]".to_owned(),
        };
        let how = format!("{how:?}").to_lowercase();
        text = format!("{text}    {from:?} --> {to}: {how}\n");
    }
    text.push_str("    [*] --> Feedback\n");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_diagram_in_the_docs_is_current() {
        let docs = include_str!("graph.md");
        let expected = format!("```mermaid\n{}```\n", diagram());
        assert_eq!(docs, expected, "write the new diagram into src/ask/graph.md");
    }

    #[test]
    fn every_step_is_reachable_and_transitions_are_unique() {
        let mut seen = std::collections::HashSet::new();
        assert!(EDGES.iter().all(|(from, how, _)| seen.insert((*from, *how))));
        for (step, _, _) in EDGES {
            let reached = matches!(step, Step::Search | Step::Feedback)
                || EDGES.iter().any(|(_, _, to)| *to == Do(*step));
            assert!(reached, "{step:?}");
        }
    }
}
