//! The tools that can be called.

use std::sync::Arc;

use autokit_gateway::{Definition, Refusal};
use autokit_library::CardRecord;
use autokit_openapi as openapi;
use autokit_openapi::rest::origin_of;
use autokit_toolcard::{CardId, CardKey, fields};
use autokit_upstream::servers::KnownServers;
use autokit_upstream::tools::Upstream;
use autokit_workspace::cards::shorten;
use autokit_workspace::workspace::Workspace;
use serde_json::{Map, Value, json};

use crate::function_card::function_of;
use crate::macro_card::macro_of;
use crate::profiles::{AgentProfiles, ResolvedScope, no_profile};
use crate::refusal::refused;

/// Most characters of a description shown to agents; longer ones are for people.
pub(crate) const MAX_DESCRIPTION: usize = 1_000;

/// The cards whose tools can be called: those of MCP servers, operations of web APIs, macros and functions.
#[derive(Clone, Debug)]
pub struct CallableTools {
    pub(crate) workspace: Workspace,
    pub(crate) servers: KnownServers,
    pub(crate) profiles: AgentProfiles,
}

impl CallableTools {
    /// Creates the list of this library's callable tools.
    pub fn new(workspace: Workspace, servers: KnownServers, profiles: AgentProfiles) -> CallableTools {
        CallableTools { workspace, servers, profiles }
    }

    /// Returns the cards whose tools might be callable.
    pub(crate) fn cards(&self) -> Vec<Arc<CardRecord>> {
        let quoted = fields::CALLS.map(|field| format!("\"{field}\""));
        self.workspace.cards_containing(&quoted.each_ref().map(String::as_str))
    }

    /// Returns whether a card's tool can be called.
    pub async fn is_callable(&self, record: &CardRecord) -> bool {
        self.definition(record).await.is_some()
    }

    /// Returns the definition of a card's tool, if it can be called.
    pub(crate) async fn definition(&self, record: &CardRecord) -> Option<Definition> {
        let card = record.card();
        let mut annotations = card.object().get("annotations").cloned();
        if let Some(upstream) = Upstream::of(&card) {
            self.servers.get(&upstream.server).await.ok()?;
            // A card's own claim is not enough: the server must have confirmed it.
            self.servers.is_bound(&record.id, &upstream).await.ok().filter(|is_bound| *is_bound)?;
        } else if function_of(&card).is_some() {
            annotations = Some(json!({"readOnlyHint": true, "openWorldHint": false}));
        } else if macro_of(&card).is_none() {
            // A call of a later version, or an invalid one, cannot be made.
            let operation = openapi::Call::from_card(&card).ok().flatten()?;
            origin_of(&operation)?;
            let reads = matches!(operation.method.as_str(), "GET" | "HEAD");
            annotations.get_or_insert_with(|| json!({"readOnlyHint": reads, "openWorldHint": true}));
        }
        let schema = match card.object().get(fields::PARAMETERS) {
            Some(Value::Object(schema)) => schema.clone(),
            _ => Map::from_iter([("type".to_owned(), json!("object"))]),
        };
        Some(Definition {
            id: record.id.to_string(),
            name: record.key.name.clone(),
            provider: record.key.provider.clone(),
            description: shorten(card.description(), MAX_DESCRIPTION),
            schema,
            annotations,
        })
    }

    /// Returns the card of a definition, if agents of the profile may find it.
    pub(crate) fn record(&self, definition: &Definition, scoped: &ResolvedScope) -> Option<Arc<CardRecord>> {
        let key = CardKey { provider: definition.provider.clone(), name: definition.name.clone() };
        let record = self.workspace.library.read(|replica| {
            let by_id = replica.get(&CardId::new(&definition.id));
            by_id.or_else(|| replica.by_key(&key)).cloned()
        })?;
        scoped.may_find(&record.id).then_some(record)
    }

    /// Resolves what agents of a profile may find and call.
    pub(crate) fn scoped(&self, profile: &str) -> Result<Arc<ResolvedScope>, Refusal> {
        self.profiles.scoped(profile).ok_or_else(|| refused(&no_profile(profile)))
    }
}
