//! Tools that can be called from here, and calls a person makes (the tool registry of Elyra: list, execute by
//! name).

use autokit_policy::{Need, Permission};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

/// Which tools are asked for.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ToolsQuery {
    /// Those of which all of these words are said, in name, provider or description; all if empty.
    #[serde(default)]
    pub text: String,
    /// Those from there; all if empty.
    #[serde(default)]
    pub sources: Vec<ToolSource>,
    /// As agents of this profile have them; everybody's if empty.
    #[serde(default)]
    pub profile: String,
    /// Tools to skip.
    #[serde(default)]
    pub offset: u32,
    /// Tools to return; at most 1,000 in one answer.
    pub limit: u32,
}

/// Where a tool that can be called comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolSource {
    /// Of AutoKit's own; every session of an agent has it.
    Session,
    /// Of AutoKit's own; an agent finds it by a search.
    Builtin,
    /// An MCP server.
    Server,
    /// A web API.
    Api,
}

/// A tool that can be called from here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ToolEntry {
    /// Id of its card, or of a tool of AutoKit's own.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Who offers it.
    pub provider: String,
    /// What it does, in one line.
    pub line: String,
    /// Where it comes from.
    pub source: ToolSource,
    /// Whether agents of the profile may call it; what a call needs besides is decided on when it is made.
    pub permission: Permission,
}

/// A window into the list of tools.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ToolList {
    /// Tools that fit, in all.
    pub total: u32,
    /// Those asked for: AutoKit's own first, then by provider and name.
    pub tools: Vec<ToolEntry>,
}

/// Names a tool.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ToolRef {
    /// Id or name.
    pub tool: String,
    /// As agents of this profile have it; everybody's if empty.
    #[serde(default)]
    pub profile: String,
}

/// A tool with what it takes.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ToolView {
    /// The tool.
    pub entry: ToolEntry,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments.
    #[ts(type = "Record<string, unknown>")]
    pub schema: Map<String, Value>,
    /// Arguments to begin with: what it requires, filled in as far as the schema says how.
    #[ts(type = "Record<string, unknown>")]
    pub example: Map<String, Value>,
}

/// Calls a tool.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ToolRun {
    /// Id or name.
    pub tool: String,
    /// By the rules of this profile; everybody's if empty.
    #[serde(default)]
    pub profile: String,
    /// Its arguments.
    #[serde(default)]
    #[ts(type = "Record<string, unknown>")]
    pub arguments: Map<String, Value>,
    /// What the person has allowed for this call.
    #[serde(default)]
    pub granted: Vec<Need>,
}

/// What became of the wish to call a tool.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ToolRunStart {
    /// A person has to allow this first; nothing was done.
    Asks {
        /// What.
        needs: Vec<Need>,
        /// The same in words: "to run code in python".
        words: Vec<String>,
    },
    /// It is being called; the outcome is there when the job is done.
    Started {
        /// The job.
        job: String,
    },
}

/// A part of what a tool answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToolBlock {
    /// Text.
    Text {
        /// As it came, cut where it was too long.
        text: String,
    },
    /// A picture.
    Image {
        /// Its media type.
        mime: String,
        /// In Base64.
        data: String,
    },
    /// Anything else, as the protocol has it.
    Other {
        /// JSON.
        #[ts(type = "unknown")]
        value: Value,
    },
}

/// What a tool answered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolOutcome {
    /// Whether the tool itself calls it a failure.
    pub failed: bool,
    /// What it says.
    pub blocks: Vec<ToolBlock>,
    /// The same as data, where it gives any.
    #[ts(type = "unknown")]
    pub structured: Option<Value>,
    /// Milliseconds it took.
    pub took_ms: f64,
}
