//! Documentation of tools, refined by trial calls (DRAFT).

use autokit_policy::Need;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::jobs::JobId;

/// Which tools to refine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum RefineScope {
    /// These tools.
    Tools {
        /// Ids or names of their cards.
        tools: Vec<String>,
    },
    /// Every callable tool of MCP servers and web APIs.
    All,
    /// What an interrupted run has left.
    Resume,
}

/// Request to refine the documentation of tools by trial calls.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct RefineRequest {
    /// The tools.
    pub scope: RefineScope,
    /// Profile whose permissions apply; empty for the one that applies to all agents.
    #[serde(default)]
    pub profile: String,
    /// Whether tools that may change something are called as well.
    #[serde(default)]
    pub allow_changes: bool,
    /// Most calls of each tool.
    #[serde(default)]
    #[ts(optional)]
    pub calls: Option<u32>,
    /// Most that language models may cost in this run, in US dollars.
    #[serde(default)]
    #[ts(optional)]
    pub budget: Option<f64>,
    /// Permissions the person granted for this run.
    #[serde(default)]
    pub granted: Vec<Need>,
    /// Only return what would be called.
    #[serde(default)]
    pub dry_run: bool,
}

/// What a run would do with a tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct RefinePlan {
    /// Id of its card.
    pub tool: String,
    /// Provider and name.
    pub title: String,
    /// Method and address of an operation, or server and tool.
    pub place: String,
    /// Whether calls may change something.
    pub may_change: bool,
    /// Why it is left out; `null` if it is not.
    pub skipped: Option<String>,
    /// Arguments of the calls that would be made if each succeeded, as JSON; what answers say leads to others.
    pub calls: Vec<String>,
}

/// Response to a request to refine tools.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum RefineStart {
    /// Permissions have to be granted first; nothing was called.
    Asks {
        /// Permissions to grant.
        needs: Vec<Need>,
        /// The permissions in words.
        words: Vec<String>,
    },
    /// The answer to a dry run; nothing was called.
    Planned {
        /// The tools in the order of their calls.
        tools: Vec<RefinePlan>,
    },
    /// The run was started.
    Started {
        /// Job id.
        job: JobId,
        /// Tools that are left out, with the reason.
        skipped: Vec<RefinePlan>,
    },
}

/// A run that was interrupted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct RefineState {
    /// Number of tools it has left; 0 if there is none.
    pub left: u32,
    /// Number of tools it began with.
    pub total: u32,
}
