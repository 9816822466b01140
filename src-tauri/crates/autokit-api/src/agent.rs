//! Asking the agent, looking on the web, and what people say about the answers.

use autokit_agent::ask::{AgentAnswer, StepEvent};
use autokit_agent::discover::Discovered;
use autokit_error::ApiError;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// A question for the agent.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AgentQuestion {
    /// The question or the need.
    pub question: String,
    /// The session to go on with; a new one when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub session: Option<String>,
    /// How many candidates come with an answer, 1 to 20; 5 when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
}

/// Names a session.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SessionRef {
    /// Id.
    pub session: String,
}

/// Waits for news of a session.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SessionWait {
    /// Id.
    pub session: String,
    /// Answer once the session's version is above this, or after ten seconds.
    #[ts(type = "number")]
    pub after: u64,
}

/// What a turn of a session is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// A question to the library, with the web as the fallback.
    Ask,
    /// The same question again, with what was wrong with the answer.
    Refine,
    /// The web alone.
    Discover,
}

/// Where a turn stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    /// At work.
    Running,
    /// Finished.
    Done,
    /// Ended by an error.
    Failed,
    /// Stopped by the person.
    Cancelled,
}

/// Starter code for a use case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Starter {
    /// Language for highlighting.
    pub language: String,
    /// The lines.
    pub code: String,
    /// Lines a model wrote that nothing supports; left out.
    pub removed: Vec<String>,
    /// The model that wrote it; none when it was made from the card.
    pub model: Option<String>,
}

/// What the person said about an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Said {
    /// Yes or no.
    pub helpful: bool,
    /// The use case after yes, the reason after no.
    pub text: String,
    /// Starter code, after yes.
    pub starter: Option<Starter>,
}

/// One question and what came of it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Turn {
    /// What it is about.
    pub kind: TurnKind,
    /// What was asked.
    pub asked: String,
    /// Where it stands.
    pub state: TurnState,
    /// The trace, in order.
    pub events: Vec<StepEvent>,
    /// The answer of an ask.
    #[serde(alias = "told")]
    pub answer: Option<AgentAnswer>,
    /// What was found on the web, when only the web was asked.
    pub discovered: Option<Discovered>,
    /// What the person said about it.
    pub said: Option<Said>,
    /// Why it failed.
    pub error: Option<ApiError>,
    /// Milliseconds it took.
    pub ms: u32,
}

/// A conversation with the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Session {
    /// Id.
    pub id: String,
    /// When it began, RFC 3339 in UTC.
    pub at: String,
    /// Grows with every change.
    #[ts(type = "number")]
    pub version: u64,
    /// Its turns, oldest first.
    pub turns: Vec<Turn>,
}

/// What a person says about the last answer of a session.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct FeedbackRequest {
    /// Id.
    pub session: String,
    /// Yes or no.
    pub helpful: bool,
    /// The use case after yes, the reason after no.
    pub said: String,
}

/// Proposes a tool found on the web as a card.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AddFinding {
    /// The session that found it.
    pub session: String,
    /// Its page.
    pub url: String,
}

/// A past ask.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SessionNote {
    /// Names it.
    pub id: String,
    /// When it began, RFC 3339 in UTC.
    pub at: String,
    /// The question.
    pub question: String,
}
