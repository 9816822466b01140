//! Tools of MCP servers as cards: what a card takes over from its tool, and which tool a card names.

use autokit_api::{ItemChoice, ServerReach};
use autokit_library::CardRecord;
use autokit_toolcard::{Kind, ReadCards, ReadItem, Rejected, Toolcard, fields};
use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

/// Field of a card: which tool of which server it is, and what that said when it was accepted.
pub const UPSTREAM: &str = "upstream";

/// Fields of a card in which a server speaks.
pub(super) const SAID: [&str; 5] =
    [fields::KIND, fields::DESCRIPTION, fields::PARAMETERS, "annotations", UPSTREAM];

/// Who proposes what a server says.
pub(super) fn proposer(server: &str) -> String {
    format!("MCP server {server}")
}

/// A server as it is kept; what is secret is kept elsewhere.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedServer {
    /// As a person named it.
    pub name: String,
    /// How it is reached.
    pub reach: ServerReach,
    /// The names of its keys, which are kept apart.
    pub secrets: Vec<String>,
    pub(super) trusted: bool,
    pub(super) checked_at: Option<String>,
    pub(super) failed: Option<String>,
    /// The tools that the last look left out, each with the reason.
    #[serde(default)]
    pub(super) skipped: Vec<String>,
}

impl SavedServer {
    /// How it is reached, without what is secret.
    pub fn reach(&self) -> &ServerReach {
        &self.reach
    }
}

/// What a tool says of itself, in short: changes with every word of it.
pub(super) fn digest_of(tool: &Tool) -> String {
    let said = json!({
        "title": tool.title, "description": tool.description, "schema": &*tool.input_schema,
        "annotations": tool.annotations,
    });
    hex::encode(Sha256::digest(said.to_string()))
}

/// The card of a tool.
fn card_of(server: &SavedServer, tool: &Tool) -> Map<String, Value> {
    let mut card = Map::new();
    let mut put = |field: &str, value: Value| card.insert(field.to_owned(), value);
    put(fields::NAME, tool.name.as_ref().into());
    put(fields::PROVIDER, server.name.as_str().into());
    put(fields::KIND, Kind::McpTool.as_str().into());
    let words = tool.description.as_deref().or(tool.title.as_deref()).unwrap_or_default();
    put(fields::DESCRIPTION, words.into());
    put(fields::PARAMETERS, Value::Object((*tool.input_schema).clone()));
    if let Some(hints) = tool.annotations.as_ref().and_then(|hints| serde_json::to_value(hints).ok()) {
        put("annotations", hints);
    }
    put(UPSTREAM, json!({"server": server.name, "tool": tool.name, "digest": digest_of(tool)}));
    card
}

/// Which tool of which server a card is, and what that said when the card was accepted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Upstream {
    /// The server, as a person named it.
    pub server: String,
    /// The tool, as the server names it.
    pub tool: String,
    /// A hash of what the server said of it when it was accepted.
    pub digest: String,
}

impl Upstream {
    /// What a card says; none if it is of no server.
    pub fn of(card: &Toolcard) -> Option<Upstream> {
        let upstream = card.object().get(UPSTREAM)?;
        let text = |key: &str| Some(upstream.get(key)?.as_str()?.to_owned());
        Some(Upstream { server: text("server")?, tool: text("tool")?, digest: text("digest")? })
    }
}

/// The cards of a server's tools; what cannot be one is told.
pub(super) fn read_tools(server: &SavedServer, tools: &[Tool]) -> ReadCards {
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

/// Of a card that is there, what the server says otherwise than when it was accepted. What people made
/// better since stays, if the card stands for the tool: only a new word of the server is one.
pub(super) fn choice(position: u32, ours: &CardRecord, theirs: &Toolcard, stands: bool) -> ItemChoice {
    let card = ours.card();
    let same = stands && Upstream::of(theirs) == Upstream::of(&card);
    let differs = |field: &&&str| card.object().get(**field) != theirs.object().get(**field);
    let fields: Vec<String> = SAID.iter().filter(differs).map(|field| (*field).to_owned()).collect();
    ItemChoice {
        position,
        take: !same && !fields.is_empty(),
        fields: Some(fields),
        later: Vec::new(),
        same_as: None,
    }
}
