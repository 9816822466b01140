//! Callable tools, and manual calls by a person (Elyra's tool registry: list, execute by name).

use autokit_policy::{Need, Permission};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use ts_rs::TS;

use super::jobs::JobId;

/// Request for a page of the list of callable tools.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ToolsQuery {
    /// Words that must all occur in name, provider or description; empty for all tools.
    #[serde(default)]
    pub text: String,
    /// Sources of the tools; empty for all.
    #[serde(default)]
    pub sources: Vec<ToolSource>,
    /// Profile whose permissions apply; empty for the one that applies to all agents.
    #[serde(default)]
    pub profile: String,
    /// Number of tools to skip.
    #[serde(default)]
    pub offset: u32,
    /// Maximum number of tools, up to 1,000.
    pub limit: u32,
}

/// Source of a callable tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ToolSource {
    /// AutoKit's own tool, available in every session.
    Session,
    /// AutoKit's own tool, found by search.
    Builtin,
    /// MCP server.
    Server,
    /// Web API.
    Api,
    /// Calls of other tools, composed from recorded ones.
    Macro,
    /// Code that runs in the sandbox.
    Function,
}

/// Callable tool as shown in lists.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ToolEntry {
    /// Id of its card, or of one of AutoKit's own tools.
    pub id: String,
    /// Tool name.
    pub name: String,
    /// Provider.
    pub provider: String,
    /// First sentence of the description, shortened.
    pub line: String,
    /// Source of the tool.
    pub source: ToolSource,
    /// Whether agents of the profile may call it. Further permissions are decided when a call is made.
    pub permission: Permission,
}

/// Page of the list of callable tools.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ToolList {
    /// Total number of matching tools.
    pub total: u32,
    /// Tools of the page: AutoKit's own first, then by provider and name.
    pub tools: Vec<ToolEntry>,
}

/// Reference to a callable tool.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ToolRef {
    /// Tool id or name.
    pub tool: String,
    /// Profile whose permissions apply; empty for the one that applies to all agents.
    #[serde(default)]
    pub profile: String,
}

/// Callable tool with its parameters.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ToolView {
    /// The tool as shown in lists.
    pub entry: ToolEntry,
    /// Full description.
    pub description: String,
    /// JSON Schema of the arguments.
    #[ts(type = "Record<string, unknown>")]
    pub schema: Map<String, Value>,
    /// Example arguments: the required ones, filled in as far as the schema allows.
    #[ts(type = "Record<string, unknown>")]
    pub example: Map<String, Value>,
}

/// Request to call a tool.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct ToolRun {
    /// Tool id or name.
    pub tool: String,
    /// Profile whose permissions apply; empty for the one that applies to all agents.
    #[serde(default)]
    pub profile: String,
    /// Arguments.
    #[serde(default)]
    #[ts(type = "Record<string, unknown>")]
    pub arguments: Map<String, Value>,
    /// Permissions the person granted for this call.
    #[serde(default)]
    pub granted: Vec<Need>,
}

/// Response to a request to call a tool.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum ToolRunStart {
    /// The call needs permissions that a person has to grant first; nothing was called.
    Asks {
        /// Permissions to grant.
        needs: Vec<Need>,
        /// The permissions in words, e.g. "to run code in python".
        words: Vec<String>,
    },
    /// The call was started; its result is available when the job is done.
    Started {
        /// Job id.
        job: JobId,
    },
}

/// Content block of a tool's result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum ToolBlock {
    /// Text.
    Text {
        /// The text, truncated if it is too long.
        text: String,
    },
    /// Image.
    Image {
        /// Media type.
        mime: String,
        /// Base64-encoded data.
        data: String,
    },
    /// Any other content block of the protocol.
    Other {
        /// The block as JSON.
        #[ts(type = "unknown")]
        value: Value,
    },
}

/// Result of a tool call.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct ToolOutcome {
    /// Whether the tool reported an error.
    pub failed: bool,
    /// Content blocks.
    pub blocks: Vec<ToolBlock>,
    /// Structured content, if the tool returned any.
    #[ts(type = "unknown")]
    pub structured: Option<Value>,
    /// Duration in milliseconds.
    pub took_ms: f64,
}
