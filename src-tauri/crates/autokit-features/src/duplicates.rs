//! Detection of cards that may describe the same tool under two names, by name, import, page, text and
//! meaning, wherever a card is added. They are reported to a person; nothing is merged or rejected because
//! of them.

use std::collections::HashMap;
use std::sync::Arc;

use autokit_error::{ApiError, Result};
use autokit_library::{CardRecord, Replica};
use autokit_search::dot;
use autokit_toolcard::{CardId, CardKey, Kind, MatchKey, Problem, Toolcard, fields};
use autokit_workspace::background::in_background;
use autokit_workspace::models::Models;
use autokit_workspace::workspace::Workspace;

/// Cosine from which two cards most likely describe the same tool: higher than that of different tools of
/// one provider, lower than that of two descriptions of one tool.
pub const SAME_TOOL: f32 = 0.85;
/// Cosine from which two descriptions, without the names, mean the same. Higher than `SAME_TOOL`, because
/// there is less text to tell different tools apart.
const SAME_DESCRIPTION: f32 = 0.9;
/// Cosine of two cards below which their descriptions are not compared.
const MIN_COSINE: f32 = 0.5;
/// Nearest cards that are compared by meaning.
const NEAREST_COMPARED: usize = 5;
/// A card that may describe the same tool.
#[derive(Clone, Debug)]
pub(crate) struct Duplicate {
    pub(crate) id: CardId,
    key: CardKey,
    /// The key both cards share; `None` if they were matched by meaning.
    shared: Option<MatchKey>,
}

impl Duplicate {
    /// Returns the warning shown to a person.
    pub(crate) fn warning(&self) -> Problem {
        let Duplicate { id, key, shared } = self;
        match shared {
            Some(shared) => {
                Problem::warning(shared.field(), format!("matches {key} ({id}), which may be the same tool"))
            }
            None => Problem::warning(
                fields::DESCRIPTION,
                format!("is similar to {key} ({id}), which may be the same tool"),
            ),
        }
    }
}

/// Whether a description is long enough to tell tools apart.
fn has_distinctive_description(card: &Toolcard) -> bool {
    card.match_keys().iter().any(|key| matches!(key, MatchKey::Description(_)))
}

/// Returns whether two cards are operations or MCP tools of one provider. Those often share a sentence
/// ("Deletes the thing with this id") but are different tools.
pub fn are_of_one_provider(kind: Kind, provider: &str, other: &CardRecord) -> bool {
    matches!(kind, Kind::RestOperation | Kind::McpTool)
        && other.kind == kind
        && !provider.is_empty()
        && other.key.provider == provider
}

/// Returns whether sharing a key says anything about these cards.
fn counts(key: &MatchKey, kind: Kind, provider: &str, other: &CardRecord) -> bool {
    !(matches!(key, MatchKey::Description(_)) && are_of_one_provider(kind, provider, other))
}

/// The cards of a library, indexed by their match keys.
#[derive(Debug)]
pub struct MatchKeyIndex(HashMap<u64, Vec<Arc<CardRecord>>>);

impl MatchKeyIndex {
    /// Indexes all cards of a library.
    pub fn new(replica: &Replica) -> MatchKeyIndex {
        let mut known: HashMap<u64, Vec<Arc<CardRecord>>> = HashMap::new();
        for record in replica.iter() {
            for fingerprint in record.match_keys() {
                known.entry(*fingerprint).or_default().push(Arc::clone(record));
            }
        }
        MatchKeyIndex(known)
    }

    /// Returns the cards that may be the same tool as one with these keys, sorted by id.
    pub(crate) fn similar(&self, card: &Toolcard, keys: &[MatchKey]) -> Vec<Arc<CardRecord>> {
        let mut similar: Vec<Arc<CardRecord>> = Vec::new();
        for key in keys {
            for record in self.sharing(card, key, 1) {
                if !similar.iter().any(|other| other.id == record.id) {
                    similar.push(Arc::clone(record));
                }
            }
        }
        similar.sort_by(|a, b| a.id.cmp(&b.id));
        similar
    }

    /// Returns the cards that share a key with a card of the library, which is one of them.
    pub fn similar_in_library<'a>(
        &'a self,
        card: &Toolcard,
        key: &'a MatchKey,
    ) -> impl Iterator<Item = &'a Arc<CardRecord>> + 'a {
        self.sharing(card, key, 2)
    }

    /// Returns the cards that share a key with a card. A page tells nothing if more cards than `most_on_page` have it.
    fn sharing<'a>(
        &'a self,
        card: &Toolcard,
        key: &'a MatchKey,
        most_on_page: usize,
    ) -> impl Iterator<Item = &'a Arc<CardRecord>> + 'a {
        let (kind, provider) = (card.kind(), card.key().provider);
        let same = self.0.get(&key.fingerprint()).map_or(&[][..], Vec::as_slice);
        let is_common = matches!(key, MatchKey::Page(_)) && same.len() > most_on_page;
        let same = if is_common { &[][..] } else { same };
        same.iter().filter(move |record| counts(key, kind, &provider, record))
    }
}

/// Returns the cards that share a match key with a card that is not in the library.
fn with_shared_key(replica: &Replica, card: &Toolcard) -> Vec<Duplicate> {
    let on_page = |bits: u64| replica.iter().filter(|record| record.matches(bits)).take(2).count();
    let is_distinctive =
        |(bits, key): &(u64, MatchKey)| !matches!(key, MatchKey::Page(_)) || on_page(*bits) == 1;
    let keys = card.match_keys().into_iter().map(|key| (key.fingerprint(), key));
    let keys: Vec<(u64, MatchKey)> = keys.filter(is_distinctive).collect();
    let (kind, provider) = (card.kind(), card.key().provider);
    let shared = |record: &Arc<CardRecord>| {
        let matches =
            |(bits, key): &&(u64, MatchKey)| record.matches(*bits) && counts(key, kind, &provider, record);
        let (_, key) = keys.iter().find(matches)?;
        Some(Duplicate { id: record.id.clone(), key: record.key.clone(), shared: Some(key.clone()) })
    };
    replica.iter().filter_map(shared).collect()
}

/// Finds cards that may describe the same tool. Clones share state.
#[derive(Clone, Debug)]
pub struct Duplicates {
    workspace: Workspace,
    models: Models,
}

impl Duplicates {
    /// Searches the cards of this library, by text and by the model's embeddings.
    pub fn new(workspace: Workspace, models: Models) -> Duplicates {
        Duplicates { workspace, models }
    }

    /// Returns the cards that may be the same tool as a card that is not in the library, sorted by id.
    /// `vector` is the embedding of that card, if there is a model.
    pub(crate) async fn find(&self, card: &Toolcard, vector: Option<Vec<f32>>) -> Result<Vec<Duplicate>> {
        let mut found = self.workspace.library.read(|replica| with_shared_key(replica, card));
        if let Some(vector) = vector {
            for near in self.with_same_meaning(card, vector).await? {
                if !found.iter().any(|known| known.id == near.id) {
                    found.push(near);
                }
            }
        }
        found.sort_by(|a, b| a.id.cmp(&b.id));
        Ok(found)
    }

    /// Returns cards that mean the same as a card, as a whole or in their descriptions, whatever their
    /// names.
    async fn with_same_meaning(&self, card: &Toolcard, vector: Vec<f32>) -> Result<Vec<Duplicate>> {
        let near = self.nearest(vector)?;
        let (mut duplicates, mut others) = (Vec::new(), Vec::new());
        for (id, cosine) in near {
            let Some(record) = self.workspace.library.read(|replica| replica.get(&id).cloned()) else {
                continue;
            };
            if are_of_one_provider(card.kind(), &card.key().provider, &record) {
                continue;
            }
            if cosine >= SAME_TOOL {
                duplicates.push(record);
            } else if has_distinctive_description(&record.card()) {
                others.push(record);
            }
        }
        let compared = !others.is_empty() && has_distinctive_description(card);
        if let Some(embedder) = self.models.embedder().filter(|_| compared) {
            let mut texts = vec![card.unnamed_description()];
            texts.extend(others.iter().map(|record| record.card().unnamed_description()));
            let vectors = in_background(move || Ok(embedder.embed_passages(&texts)?)).await?;
            let ours = &vectors[0];
            let same = others.into_iter().zip(&vectors[1..]);
            duplicates.extend(
                same.filter(|(_, other)| dot(ours, other) >= SAME_DESCRIPTION).map(|(record, _)| record),
            );
        }
        let duplicate = |record: &Arc<CardRecord>| Duplicate {
            id: record.id.clone(),
            key: record.key.clone(),
            shared: None,
        };
        Ok(duplicates.iter().map(duplicate).collect())
    }

    /// Returns the cards closest to an embedding, with their cosines.
    fn nearest(&self, vector: Vec<f32>) -> Result<Vec<(CardId, f32)>> {
        let near = self.models.searcher().nearest(vector, NEAREST_COMPARED);
        let near = near.map_err(|error| ApiError::internal(error.to_string()))?;
        let near = near.into_iter().map(|(id, cosine)| (CardId::new(&id), cosine));
        Ok(near.filter(|(_, cosine)| *cosine >= MIN_COSINE).collect())
    }

    /// Returns the library's card that means nearly the same as a card with this embedding, if there is
    /// one.
    pub(crate) fn nearest_in_meaning(
        &self,
        card: &Toolcard,
        vector: Vec<f32>,
    ) -> Result<Option<Arc<CardRecord>>> {
        let (kind, provider) = (card.kind(), card.key().provider);
        let mut same = self.nearest(vector)?.into_iter().filter(|(_, cosine)| *cosine >= SAME_TOOL);
        Ok(same.find_map(|(id, _)| {
            let record = self.workspace.library.read(|replica| replica.get(&id).cloned())?;
            (!are_of_one_provider(kind, &provider, &record)).then_some(record)
        }))
    }
}
