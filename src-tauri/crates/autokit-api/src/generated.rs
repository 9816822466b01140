//! Tools that grow from use: needs, tools written for them, and how these fare (Elyra, bootstrapping).

pub use autokit_sandbox::function::{CodeCheck, CodeCheckKind, CodeCheckState, FunctionLanguage};
use autokit_toolcard::{CardId, ProposalId, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::JobId;

/// Request to have a tool written by a language model, or an existing one improved.
#[derive(Clone, Debug, Default, Serialize, Deserialize, TS)]
pub struct GenerateRequest {
    /// What it is needed for, in a sentence or two.
    #[serde(default)]
    pub need: String,
    /// Its language.
    #[serde(default)]
    pub language: FunctionLanguage,
    /// The written tool to improve, by id or name; absent for a new one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub card: Option<String>,
    /// Most that language models may cost, in US dollars.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub budget: Option<f64>,
}

/// What a tool has to do.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolSpecification {
    /// Its name.
    pub name: String,
    /// What it does.
    pub purpose: String,
    /// JSON Schema of its arguments.
    #[ts(type = "JsonValue")]
    pub parameters: Value,
    /// What it returns.
    pub returns: String,
    /// What it does not do, or not for every argument.
    pub limits: String,
    /// What it would need beside its arguments: files, the network, other programs. Such a tool is not written.
    pub side_effects: Vec<String>,
}

/// Code that was written, and its checks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct CodeAttempt {
    /// The code.
    pub source: String,
    /// Its tests.
    pub tests: String,
    /// The checks, in the order they were made in.
    pub checks: Vec<CodeCheck>,
}

/// Reference to the writing of a tool, by its job.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct GenerationRef {
    /// The job; the latest one if absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub job: Option<JobId>,
}

/// The writing of a tool, as far as it has come.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct Generation {
    /// What the tool is needed for.
    pub need: String,
    /// What it has to do.
    pub specification: Option<ToolSpecification>,
    /// What was written, first attempt first.
    pub attempts: Vec<CodeAttempt>,
    /// The proposal that waits in Review.
    pub proposal: Option<ProposalId>,
    /// Why nothing was proposed, once that is certain.
    pub problem: Option<String>,
}

/// Something that was asked for again and again, and never found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct UnansweredNeed {
    /// The newest request.
    pub question: String,
    /// How many requests were like it.
    pub times: u32,
}

/// The same edit, made by hand on several cards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RepeatedCardEdit {
    /// The field.
    pub field: String,
    /// What was there; empty where something was added.
    pub from: String,
    /// What was put in its place; empty where something was removed.
    pub to: String,
    /// How many cards were edited so.
    pub cards: u32,
}

/// What the calls of a tool suggest.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolAdvice {
    /// It fails often, and can be written anew.
    Improve,
    /// It fails often, or nobody calls it.
    Retire,
}

/// A tool that was composed or written here, and how it fares.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct GeneratedTool {
    /// Its card.
    pub card: CardId,
    /// Its name.
    pub name: String,
    /// Whether it is code; otherwise it is made of calls of other tools.
    pub is_code: bool,
    /// Calls that succeeded in the last three months.
    #[ts(type = "number")]
    pub successes: u64,
    /// Calls that failed.
    #[ts(type = "number")]
    pub failures: u64,
    /// Median time of a call, in milliseconds.
    pub p50_ms: Option<f64>,
    /// When it was last called.
    pub last_called: Option<Timestamp>,
    /// What this suggests; absent while it does well.
    pub advice: Option<ToolAdvice>,
    /// Why, in a sentence.
    pub why: String,
}

/// Needs, and the tools generated for them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct GeneratedToolList {
    /// The tools, those that need something first.
    pub tools: Vec<GeneratedTool>,
    /// Requests that were made several times and never answered.
    pub unanswered: Vec<UnansweredNeed>,
    /// Edits that were made on several cards.
    pub edits: Vec<RepeatedCardEdit>,
    /// Whether a language model is chosen, without which no tool is written.
    pub can_write: bool,
}

/// A proposal that was made.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RetirementProposed {
    /// The proposal that waits in Review.
    pub proposal: ProposalId,
}
