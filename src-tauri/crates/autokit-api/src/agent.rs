//! Agent sessions: questions, web searches, and feedback on the answers.

use autokit_agent::ask::{AgentAnswer, StepEvent};
use autokit_agent::discover::Discovered;
use autokit_agent::research::Research;
use autokit_error::ApiError;
use autokit_toolcard::{SessionId, Timestamp};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::memory::MemoryHit;

/// Request to ask the agent a question.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AgentQuestion {
    /// The question, or a description of the tool that is needed.
    pub question: String,
    /// Id of the session to continue. Default: a new session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub session: Option<SessionId>,
    /// Maximum number of candidates in the answer, 1 to 20. Default: 5.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
}

/// Request to research a question, or to continue a research that was stopped.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct ResearchRequest {
    /// The question; ignored when a research is continued.
    #[serde(default)]
    pub question: String,
    /// Session whose last research is continued from where it stopped. Default: a new session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub resume: Option<SessionId>,
    /// Most rounds on the web, 0 to 10; 0 for sources on this machine alone. Default: 3.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub rounds: Option<u32>,
}

/// Reference to an agent session.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SessionRef {
    /// Session id.
    pub session: SessionId,
}

/// Request to wait until a session changes.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct SessionWait {
    /// Session id.
    pub session: SessionId,
    /// Version the caller knows. The response is sent once the session's version is higher, or after ten
    /// seconds.
    #[ts(type = "number")]
    pub after: u64,
}

/// Kind of work a turn does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TurnKind {
    /// Question to the library, with the web as fallback.
    Ask,
    /// Same question as before, together with what was wrong with the answer.
    Refine,
    /// Web search without the library.
    Discover,
    /// Research over the library, documents, code and the web.
    Research,
}

/// State of a turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum TurnState {
    /// In progress.
    Running,
    /// Completed.
    Done,
    /// Ended by an error.
    Failed,
    /// Cancelled by a person.
    Cancelled,
}

/// Code with which a program starts to use a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Starter {
    /// Language for syntax highlighting.
    pub language: String,
    /// Source code.
    pub code: String,
    /// Command that installs what the code needs, if the card has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub install: Option<String>,
    /// Environment variables that the code reads, in order of appearance: keys and addresses of one's own.
    #[serde(default)]
    pub variables: Vec<String>,
    /// Lines written by the model and removed from `code` because neither card nor page supports them.
    pub removed: Vec<String>,
    /// Model that wrote the code; `null` if it was generated from the card.
    pub model: Option<String>,
}

/// Feedback of a person on an answer.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct AnswerFeedback {
    /// Whether the answer helped.
    pub helpful: bool,
    /// Use case if the answer helped, otherwise what was wrong with it.
    pub text: String,
    /// Starter code for the use case; only if the answer helped.
    pub starter: Option<Starter>,
}

/// One question of a session and its result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Turn {
    /// Kind of work.
    pub kind: TurnKind,
    /// Text of the question.
    pub asked: String,
    /// The person who asked; absent for agents, and in sessions of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub by: Option<String>,
    /// When it was asked; absent in sessions of earlier versions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub at: Option<Timestamp>,
    /// Current state.
    pub state: TurnState,
    /// Steps taken so far, in order.
    pub events: Vec<StepEvent>,
    /// Answer of an `ask` or `refine` turn.
    #[serde(alias = "told")]
    pub answer: Option<AgentAnswer>,
    /// Pieces of the person's documents that bear on the question; only for people.
    #[serde(default)]
    pub documents: Vec<MemoryHit>,
    /// Tools found on the web by a `discover` turn.
    pub discovered: Option<Discovered>,
    /// What a `research` turn found so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub research: Option<Research>,
    /// Feedback on the answer.
    pub said: Option<AnswerFeedback>,
    /// Error that ended the turn.
    pub error: Option<ApiError>,
    /// Duration in milliseconds.
    pub ms: u32,
}

/// Conversation with the agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Session {
    /// Session id.
    pub id: SessionId,
    /// Start time.
    pub at: Timestamp,
    /// Version number, incremented with every change.
    #[ts(type = "number")]
    pub version: u64,
    /// Turns, oldest first.
    pub turns: Vec<Turn>,
}

/// Request to record feedback on the last answer of a session.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct FeedbackRequest {
    /// Session id.
    pub session: SessionId,
    /// Whether the answer helped.
    pub helpful: bool,
    /// Use case if the answer helped, otherwise what was wrong with it.
    pub said: String,
}

/// Request to propose a tool found on the web as a card.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct AddFinding {
    /// Id of the session that found the tool.
    pub session: SessionId,
    /// Address of the tool's page.
    pub url: String,
}

/// Request to delete past sessions.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct SessionsDelete {
    /// Ids of the sessions; without them, all that are not running.
    #[serde(default)]
    #[ts(optional)]
    pub sessions: Option<Vec<SessionId>>,
}

/// Entry in the list of past sessions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct SessionNote {
    /// Session id.
    pub id: SessionId,
    /// Start time.
    pub at: Timestamp,
    /// First question of the session.
    pub question: String,
}
