//! Tools that are not here yet: where they are looked for, what is found, how it would be installed.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use super::{ImportRequest, ServerAdd};

/// What a source is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum MarketKind {
    /// A registry of MCP servers.
    Registry,
    /// A published bundle of cards.
    Bundle,
}

/// Where tools are looked for that are not here yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MarketSource {
    /// Names it in requests.
    pub id: String,
    /// What it is.
    pub kind: MarketKind,
    /// Its address.
    pub url: String,
}

/// Adds a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MarketSourceAdd {
    /// What it is; told from the address when not given: a name with the ending of a bundle is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub kind: Option<MarketKind>,
    /// Its address.
    pub url: String,
}

/// Names a source.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MarketSourceRef {
    /// Its id.
    pub id: String,
}

/// Looks for tools in all sources.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MarketQuery {
    /// What the tool should do, or a part of its name.
    pub query: String,
    /// Results at most; 20 when not given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[ts(optional)]
    pub limit: Option<u32>,
}

/// A tool, or a server of tools, that can be installed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct MarketOffer {
    /// The source it is from.
    pub source: String,
    /// Names it there.
    pub id: String,
    /// What it is called.
    pub name: String,
    /// Who offers it.
    pub provider: String,
    /// What it does.
    pub description: String,
    /// Its newest version.
    pub version: Option<String>,
    /// A page about it.
    pub page: Option<String>,
    /// What it is for, in a word.
    pub category: Option<String>,
    /// What it costs.
    pub price: Option<String>,
    /// What others think of it, as its source counts.
    pub rating: Option<f64>,
    /// Names of its tools, where they are known.
    pub functions: Vec<String>,
    /// Whether its source advises against it.
    pub deprecated: bool,
    /// Whether it is here already.
    pub installed: bool,
    /// Why its texts are not to be trusted, if they hide something or give orders to a model.
    pub suspect: Option<String>,
    /// How well it fits, 0 to 1.
    pub score: f32,
}

/// What the sources have.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
pub struct MarketFound {
    /// Best first.
    pub offers: Vec<MarketOffer>,
    /// Sources that did not answer, entries that cannot be used.
    pub notes: Vec<String>,
}

/// Names something that can be installed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MarketRef {
    /// The source.
    pub source: String,
    /// What names it there.
    pub id: String,
}

/// Something a server has to be given.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct MarketInput {
    /// Name of the variable or header; goes into the server's secrets.
    pub name: String,
    /// What it is, in the words of who published it.
    pub description: Option<String>,
    /// Whether nothing works without it.
    pub required: bool,
    /// Whether it is a key or a password.
    pub secret: bool,
}

/// What installing would do. Nothing is done yet: a person looks at it and confirms.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum MarketInstall {
    /// An MCP server: to be added with `servers_add`, which starts or reaches it.
    Server {
        /// The request, filled in as far as it is known.
        add: ServerAdd,
        /// The program that is started, if one is.
        runner: Option<String>,
        /// Whether that program was found on this machine.
        runner_here: bool,
        /// What it has to be given.
        inputs: Vec<MarketInput>,
        /// What the person should know first.
        notes: Vec<String>,
    },
    /// A card of a bundle: to be previewed or imported with `imports_start`, which puts it into Review.
    Card {
        /// The request.
        import: ImportRequest,
        /// What the person should know first.
        notes: Vec<String>,
    },
}
