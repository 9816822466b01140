//! Tools of MCP servers as cards: what a card takes from its tool, and which tool a card names.

use autokit_api::{ItemChoice, ServerTransport};
use autokit_library::CardRecord;
use autokit_toolcard::{Kind, ReadCards, ReadItem, Rejected, Timestamp, Toolcard, fields};
use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Fields of a card whose values come from the server.
pub(crate) const SERVER_FIELDS: [&str; 6] =
    [fields::KIND, fields::DESCRIPTION, fields::PARAMETERS, fields::RETURNS, "annotations", fields::UPSTREAM];

/// Returns the name under which a server's tools are proposed.
pub fn proposer(server: &str) -> String {
    format!("MCP server {server}")
}

/// A configured server; its secrets are stored separately.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedServer {
    /// The name a person gave it.
    pub name: String,
    /// How it is reached.
    pub reach: ServerTransport,
    /// The names of its secrets, which are stored separately.
    pub secrets: Vec<String>,
    /// Whether its tools become cards without review.
    pub trusted: bool,
    /// When its tools were last listed.
    pub checked_at: Option<Timestamp>,
    /// Why that failed the last time.
    pub failed: Option<String>,
    /// The tools the last scan left out, each with the reason.
    #[serde(default)]
    pub skipped: Vec<String>,
}

impl SavedServer {
    /// Returns how the server is reached, without its secrets.
    pub fn reach(&self) -> &ServerTransport {
        &self.reach
    }
}

/// Returns a digest of what a tool says about itself; it changes with every word.
pub(crate) fn digest_of(tool: &Tool) -> String {
    let text = json!({
        "title": tool.title, "description": tool.description, "schema": &*tool.input_schema,
        "annotations": tool.annotations,
    });
    hex::encode(Sha256::digest(text.to_string()))
}

/// Builds the card of a tool.
fn card_of(server: &SavedServer, tool: &Tool) -> Map<String, Value> {
    let mut card = Map::new();
    let mut put = |field: &str, value: Value| card.insert(field.to_owned(), value);
    put(fields::NAME, tool.name.as_ref().into());
    put(fields::PROVIDER, server.name.as_str().into());
    put(fields::KIND, Kind::McpTool.as_str().into());
    let description = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    put(fields::DESCRIPTION, description.into());
    put(fields::PARAMETERS, Value::Object((*tool.input_schema).clone()));
    if let Some(schema) = &tool.output_schema {
        put(fields::RETURNS, Value::Object((**schema).clone()));
    }
    if let Some(hints) = tool.annotations.as_ref().and_then(|hints| serde_json::to_value(hints).ok()) {
        put("annotations", hints);
    }
    put(fields::UPSTREAM, json!({"server": server.name, "tool": tool.name, "digest": digest_of(tool)}));
    card
}

/// The server and tool of a card, and what the tool said when the card was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// The name a person gave the server.
    pub server: String,
    /// The name the server gives the tool.
    pub tool: String,
    /// Digest of what the server said about the tool when it was accepted.
    pub digest: String,
}

impl Upstream {
    /// Reads the field `upstream` of a card; `None` if the card is not a tool of a server.
    pub fn of(card: &Toolcard) -> Option<Upstream> {
        let upstream = card.object().get(fields::UPSTREAM)?;
        let text = |key: &str| Some(upstream.get(key)?.as_str()?.to_owned());
        Some(Upstream { server: text("server")?, tool: text("tool")?, digest: text("digest")? })
    }
}

/// Converts the tools of a server to cards; tools that cannot be converted are listed as rejected.
pub fn read_tools(server: &SavedServer, tools: &[Tool]) -> ReadCards {
    let mut read = ReadCards::default();
    for (index, tool) in tools.iter().enumerate() {
        let position = index + 1;
        match Toolcard::new(card_of(server, tool)) {
            Ok(card) => read.cards.push(ReadItem { position, card, warnings: Vec::new() }),
            Err(problems) => {
                let name = Some(tool.name.chars().take(80).collect());
                read.rejected.push(Rejected { position, name, problems });
            }
        }
    }
    read
}

/// Chooses which fields of an existing card to take from the server: those that differ. If the card is
/// bound to the tool and the server says the same as when it was accepted, none are taken, so that later
/// improvements by people stay.
pub fn choice(position: u32, ours: &CardRecord, theirs: &Toolcard, is_bound: bool) -> ItemChoice {
    let card = ours.card();
    let same = is_bound && Upstream::of(theirs) == Upstream::of(&card);
    let differs = |field: &&&str| card.object().get(**field) != theirs.object().get(**field);
    let fields: Vec<String> = SERVER_FIELDS.iter().filter(differs).map(|field| (*field).to_owned()).collect();
    ItemChoice {
        position,
        take: !same && !fields.is_empty(),
        fields: Some(fields),
        later: Vec::new(),
        same_as: None,
    }
}
