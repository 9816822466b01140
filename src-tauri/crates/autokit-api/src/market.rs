//! Registries: sources of tools that are not installed yet, search results from them, and previews of an
//! installation.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ImportRequest, ServerAdd};

/// Kind of source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum MarketKind {
    /// Registry of MCP servers.
    Registry,
    /// Published bundle of cards.
    Bundle,
}

/// Source of tools that can be installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MarketSource {
    /// Id for requests.
    pub id: String,
    /// Kind of source.
    pub kind: MarketKind,
    /// Web address.
    pub url: String,
}

/// Request to add a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MarketSourceAdd {
    /// Kind of source. Default: `bundle` if the path ends with `.toolcards`, otherwise `registry`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kind: Option<MarketKind>,
    /// Web address.
    pub url: String,
}

/// Reference to a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MarketSourceRef {
    /// Source id.
    pub id: String,
}

/// Request to search all sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MarketQuery {
    /// Description of the tool, or part of its name.
    pub query: String,
    /// Maximum number of results, up to 100. Default: 20.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
}

/// Tool, or server with tools, that can be installed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct MarketOffer {
    /// Id of the source.
    pub source: String,
    /// Id within the source.
    pub id: String,
    /// Display name.
    pub name: String,
    /// Publisher, or an empty string.
    pub provider: String,
    /// Description.
    pub description: String,
    /// Latest version.
    pub version: Option<String>,
    /// Address of a page about it.
    pub page: Option<String>,
    /// Category given by the source.
    pub category: Option<String>,
    /// Price given by the source.
    pub price: Option<String>,
    /// User rating, on the scale of the source.
    pub rating: Option<f64>,
    /// Names of its tools, if the source lists them.
    pub functions: Vec<String>,
    /// Whether the source marks it as deprecated.
    pub deprecated: bool,
    /// Whether it is already installed here.
    pub installed: bool,
    /// Why its texts are flagged as hidden text or instructions to a model; `null` if they are not.
    pub suspect: Option<String>,
    /// Match score between 0 and 1.
    pub score: f32,
}

/// Search results from all sources.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct MarketFound {
    /// Results, best first.
    pub offers: Vec<MarketOffer>,
    /// Messages about sources that did not respond and entries that could not be used.
    pub notes: Vec<String>,
}

/// Reference to an offer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MarketRef {
    /// Source id.
    pub source: String,
    /// Id within the source.
    pub id: String,
}

/// Variable or header that a server needs.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MarketInput {
    /// Name of the variable or header; stored among the server's secrets.
    pub name: String,
    /// Description by the publisher.
    pub description: Option<String>,
    /// Whether the server does not work without it.
    pub required: bool,
    /// Whether the value is an API key or a password.
    pub secret: bool,
}

/// Preview of an installation, to be confirmed by a person. Nothing is installed yet.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MarketInstall {
    /// MCP server, installed with `servers_add`, which also starts or contacts it.
    Server {
        /// The request, as far as it can be filled in.
        add: ServerAdd,
        /// Program that is started; `null` for a server reached at an address.
        runner: Option<String>,
        /// Whether that program was found on this machine; `true` if none is needed.
        runner_here: bool,
        /// Variables or headers the server needs.
        inputs: Vec<MarketInput>,
        /// Notices for the person to read before confirming.
        notes: Vec<String>,
    },
    /// Card of a bundle, installed with `imports_start`, which adds it to Review.
    Card {
        /// The request.
        import: ImportRequest,
        /// Notices for the person to read before confirming.
        notes: Vec<String>,
    },
}
