//! Which cards are bound to a tool of an MCP server: those whose text the server listed itself, or a person
//! accepted.
//!
//! Anybody who writes a card can name any tool of any server in it, with the correct digest of that tool,
//! under different text: an agent would read one thing and call another. So a card's own claim is not
//! enough to call it. The library records which tool each card is bound to, when a scan of the server
//! listed exactly what the card says, or when a proposal of such a scan was accepted. Later improvements by
//! people do not affect the binding. A deleted card loses its binding, whoever imports its id again; only
//! undoing the deletion restores it, for the identical card.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use autokit_error::Result;
use autokit_library::CardRecord;
use autokit_toolcard::{CardId, Origin, Proposal, Toolcard, fields};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::servers::KnownServers;
use crate::tools::{SERVER_FIELDS, Upstream, proposer};

/// Deleted cards whose binding is remembered; each takes little memory.
const MAX_REMOVED: usize = 10_000;

/// The tool each card is bound to.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToolBindings {
    /// The bindings of deleted cards.
    #[serde(default)]
    removed: BTreeMap<CardId, RemovedBinding>,
    #[serde(flatten)]
    cards: HashMap<CardId, String>,
}

/// The binding of a card when it was deleted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct RemovedBinding {
    /// The seal of the tool it was bound to.
    seal: String,
    /// Digest of the whole card.
    body: String,
}

impl Upstream {
    /// Returns a digest of the server, the tool and what it said.
    fn seal(&self) -> String {
        let mut hash = Sha256::new();
        for part in [&self.server, &self.tool, &self.digest] {
            hash.update((part.len() as u64).to_be_bytes());
            hash.update(part);
        }
        hex::encode(&hash.finalize()[..16])
    }
}

fn digest(body: &str) -> String {
    hex::encode(&Sha256::digest(body)[..16])
}

/// Returns whether a card says exactly what its server says.
fn matches_server(ours: &Toolcard, theirs: &Toolcard) -> bool {
    let same = |field: &&str| ours.object().get(*field) == theirs.object().get(*field);
    ours.name() == theirs.name() && SERVER_FIELDS.iter().all(same)
}

impl KnownServers {
    async fn bindings(&self) -> Result<Arc<ToolBindings>> {
        self.state.bindings.read(&self.workspace).await
    }

    /// Returns whether a card is bound to the tool it names.
    pub async fn is_bound(&self, card: &CardId, upstream: &Upstream) -> Result<bool> {
        Ok(self.bindings().await?.cards.get(card).is_some_and(|seal| *seal == upstream.seal()))
    }

    async fn bind(&self, new: Vec<(CardId, Upstream)>) -> Result<()> {
        let _writing = self.state.writing.lock().await;
        let before = self.bindings().await?;
        let mut bindings = ToolBindings::clone(&before);
        bindings.cards.extend(new.iter().map(|(card, upstream)| (card.clone(), upstream.seal())));
        if bindings == *before {
            return Ok(());
        }
        // Bindings of cards that no longer exist are dropped.
        self.workspace.library.read(|replica| bindings.cards.retain(|card, _| replica.get(card).is_some()));
        self.save_bindings(bindings).await
    }

    async fn save_bindings(&self, bindings: ToolBindings) -> Result<()> {
        self.state.bindings.write(&self.workspace, bindings).await?;
        self.workspace.notify_tools_changed();
        Ok(())
    }

    /// Binds the cards that say exactly what the server listed.
    pub async fn bind_identical(&self, listed: &[Toolcard]) -> Result<()> {
        let identical = |theirs: &Toolcard| {
            let ours = self.workspace.library.read(|replica| replica.by_key(&theirs.key()).cloned())?;
            let card = ours.card();
            matches_server(&card, theirs).then(|| Some((ours.id.clone(), Upstream::of(&card)?)))?
        };
        self.bind(listed.iter().filter_map(identical).collect()).await
    }

    /// Binds the cards of accepted proposals that came from a scan of the server: a person has compared
    /// what the server says with the card.
    pub async fn bind_accepted(&self, accepted: &[(&Proposal, CardId)]) -> Result<()> {
        let mut new = Vec::new();
        for (proposal, id) in accepted {
            let Ok(record) = self.workspace.library.card(id) else { continue };
            let Some(upstream) = Upstream::of(&record.card()) else { continue };
            let from_scan = proposal.draft.origin == Origin::Import
                && proposal.draft.arrived.is_some()
                && proposal.proposed_by == proposer(&upstream.server);
            let proposed = proposal.draft.fields.iter().find(|field| field.field == fields::UPSTREAM);
            // The reviewer may have left the server's `upstream` field out of what was accepted.
            let taken = proposed.is_none_or(|proposed| {
                proposed.value.as_ref() == record.card().object().get(fields::UPSTREAM)
            });
            if from_scan && taken {
                new.push((id.clone(), upstream));
            }
        }
        if new.is_empty() { Ok(()) } else { self.bind(new).await }
    }

    /// Removes the bindings of cards in which something was undone: their text is an earlier one again,
    /// which the server may never have said. A scan of the server decides.
    pub async fn unbind(&self, cards: &[CardId]) -> Result<()> {
        {
            let _writing = self.state.writing.lock().await;
            let before = self.bindings().await?;
            let mut bindings = ToolBindings::clone(&before);
            bindings.cards.retain(|card, _| !cards.contains(card));
            for card in cards {
                let Some(removed) = bindings.removed.remove(card) else { continue };
                let body = self
                    .workspace
                    .library
                    .read(|replica| replica.get(card).map(|record| digest(&record.body)));
                // A deletion was undone, and the card is identical to the deleted one.
                if body.is_some_and(|body| body == removed.body) {
                    bindings.cards.insert(card.clone(), removed.seal);
                }
            }
            if bindings == *before {
                return Ok(());
            }
            self.save_bindings(bindings).await?;
        }
        self.request_rescan(cards).await
    }

    /// Moves the bindings of cards that were just deleted to those of deleted cards.
    pub async fn unbind_removed(&self, cards: &[Arc<CardRecord>]) -> Result<()> {
        let _writing = self.state.writing.lock().await;
        let before = self.bindings().await?;
        let mut bindings = ToolBindings::clone(&before);
        for record in cards {
            if let Some(seal) = bindings.cards.remove(&record.id) {
                let body = digest(&record.body);
                bindings.removed.insert(record.id.clone(), RemovedBinding { seal, body });
            }
        }
        while bindings.removed.len() > MAX_REMOVED {
            bindings.removed.pop_first();
        }
        if bindings == *before { Ok(()) } else { self.save_bindings(bindings).await }
    }

    /// Requests a scan of the servers whose tools these cards name without being bound. A card that says
    /// what its server says can be called from then on; any difference waits in Review.
    pub async fn request_rescan(&self, cards: &[CardId]) -> Result<()> {
        let is_tool = |record: &Arc<CardRecord>| record.body.contains("\"upstream\"");
        let records: Vec<Arc<CardRecord>> = self.workspace.library.read(|replica| {
            cards.iter().filter_map(|id| replica.get(id)).filter(|record| is_tool(record)).cloned().collect()
        });
        let mut servers = Vec::new();
        for record in records {
            let Some(upstream) = Upstream::of(&record.card()) else { continue };
            if !servers.contains(&upstream.server) && !self.is_bound(&record.id, &upstream).await? {
                servers.push(upstream.server);
            }
        }
        for server in servers {
            if self.get(&server).await.is_ok() {
                self.pool().announce_tools_changed(&server);
            }
        }
        Ok(())
    }
}
