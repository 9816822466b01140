//! Which cards stand for a tool of a server: those whose words the server said itself, or a person accepted
//! in its place.
//!
//! Whoever writes a card can name any tool of any server in it, with the true digest of what that tool says,
//! under other words: an agent would read one thing and call another. So a card is not called by its own
//! word. The library keeps of each card for which tool it stands, written down when the server was looked at
//! and said just what the card says, or when a proposal of such a look was accepted. What people make better
//! in the card afterwards changes nothing about that. A card that is removed does not stand for its tool any
//! more, whoever brings its id back; only the very same card does again when the removal is undone.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use autokit_error::Result;
use autokit_library::CardRecord;
use autokit_toolcard::{CardId, Origin, Proposal, Toolcard};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use super::known::KnownServers;
use super::tools::{SAID, UPSTREAM, Upstream, proposer};

/// Cards that are remembered after they were removed; each is a few words.
const REMOVED: usize = 10_000;

/// Of each card, for which tool it stands.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ToolBindings {
    /// Of cards that stood for a tool when they were removed, what they were.
    #[serde(default)]
    removed: BTreeMap<String, Removed>,
    #[serde(flatten)]
    cards: HashMap<String, String>,
}

/// A card that stood for a tool when it was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Removed {
    /// For which tool.
    seal: String,
    /// Digest of the whole card.
    body: String,
}

impl Upstream {
    /// Names the tool together with what it said.
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

/// Whether a card says just what its server says.
fn agree(ours: &Toolcard, theirs: &Toolcard) -> bool {
    let same = |field: &&str| ours.object().get(*field) == theirs.object().get(*field);
    ours.name() == theirs.name() && SAID.iter().all(same)
}

impl KnownServers {
    async fn bindings(&self) -> Result<Arc<ToolBindings>> {
        self.state.bindings.read(&self.workspace).await
    }

    /// Whether a card stands for the tool it names.
    pub async fn is_bound(&self, card: &CardId, upstream: &Upstream) -> Result<bool> {
        Ok(self.bindings().await?.cards.get(card.as_str()).is_some_and(|seal| *seal == upstream.seal()))
    }

    async fn bind(&self, new: Vec<(CardId, Upstream)>) -> Result<()> {
        let _turn = self.state.writing.lock().await;
        let before = self.bindings().await?;
        let mut bindings = ToolBindings::clone(&before);
        bindings.cards.extend(new.iter().map(|(card, upstream)| (card.to_string(), upstream.seal())));
        if bindings == *before {
            return Ok(());
        }
        // Of cards that are gone nothing else has to be known.
        self.workspace
            .library
            .read(|replica| bindings.cards.retain(|card, _| replica.get(&CardId::new(card)).is_some()));
        self.save_bindings(bindings).await
    }

    async fn save_bindings(&self, bindings: ToolBindings) -> Result<()> {
        self.state.bindings.write(&self.workspace, bindings).await?;
        self.workspace.tools_changed();
        Ok(())
    }

    /// Notes the cards that say just what a server said when it was looked at.
    pub(super) async fn bind_same(&self, said: &[Toolcard]) -> Result<()> {
        let same = |theirs: &Toolcard| {
            let ours = self.workspace.library.read(|replica| replica.by_key(&theirs.key()).cloned())?;
            let card = ours.card();
            agree(&card, theirs).then(|| Some((ours.id.clone(), Upstream::of(&card)?)))?
        };
        self.bind(said.iter().filter_map(same).collect()).await
    }

    /// Notes the card of a proposal that was accepted, if it came from a look at the server: a person saw
    /// what that says beside what the card says.
    pub(crate) async fn bind_accepted(&self, accepted: &[(&Proposal, CardId)]) -> Result<()> {
        let mut new = Vec::new();
        for (proposal, id) in accepted {
            let Ok(record) = self.workspace.library.card(id) else { continue };
            let Some(upstream) = Upstream::of(&record.card()) else { continue };
            let of_server = proposal.draft.origin == Origin::Import
                && proposal.draft.arrived.is_some()
                && proposal.proposed_by == proposer(&upstream.server);
            let said = proposal.draft.fields.iter().find(|field| field.field == UPSTREAM);
            // The word of the server itself may have been left out of what was accepted.
            let taken = said.is_none_or(|said| said.value.as_ref() == record.card().object().get(UPSTREAM));
            if of_server && taken {
                new.push((id.clone(), upstream));
            }
        }
        if new.is_empty() { Ok(()) } else { self.bind(new).await }
    }

    /// Takes that back for cards in which something was undone: they say again what they said before, which may
    /// be nobody's word. A look at their servers tells.
    pub(crate) async fn unbind(&self, cards: &[CardId]) -> Result<()> {
        {
            let _turn = self.state.writing.lock().await;
            let before = self.bindings().await?;
            let mut bindings = ToolBindings::clone(&before);
            bindings.cards.retain(|card, _| !cards.iter().any(|gone| gone.as_str() == card));
            for card in cards {
                let Some(removed) = bindings.removed.remove(card.as_str()) else { continue };
                let body = self
                    .workspace
                    .library
                    .read(|replica| replica.get(card).map(|record| digest(&record.body)));
                // A removal was undone, and the card is what it was.
                if body.is_some_and(|body| body == removed.body) {
                    bindings.cards.insert(card.to_string(), removed.seal);
                }
            }
            if bindings == *before {
                return Ok(());
            }
            self.save_bindings(bindings).await?;
        }
        self.request_rescan(cards).await
    }

    /// Remembers what cards were that stood for a tool and were removed just now.
    pub(crate) async fn unbind_removed(&self, cards: &[Arc<CardRecord>]) -> Result<()> {
        let _turn = self.state.writing.lock().await;
        let before = self.bindings().await?;
        let mut bindings = ToolBindings::clone(&before);
        for record in cards {
            if let Some(seal) = bindings.cards.remove(record.id.as_str()) {
                let body = digest(&record.body);
                bindings.removed.insert(record.id.to_string(), Removed { seal, body });
            }
        }
        while bindings.removed.len() > REMOVED {
            bindings.removed.pop_first();
        }
        if bindings == *before { Ok(()) } else { self.save_bindings(bindings).await }
    }

    /// Has the servers looked at whose tools some cards name and do not stand for yet: where a card says what
    /// its server says it can be called from then on, and else that waits in Review.
    pub(crate) async fn request_rescan(&self, cards: &[CardId]) -> Result<()> {
        let named = |record: &Arc<CardRecord>| record.body.contains("\"upstream\"");
        let records: Vec<Arc<CardRecord>> = self.workspace.library.read(|replica| {
            cards.iter().filter_map(|id| replica.get(id)).filter(|record| named(record)).cloned().collect()
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
                self.pool().tell_changed(&server);
            }
        }
        Ok(())
    }
}
