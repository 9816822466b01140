//! Vectors of cards: computed once in a team by whoever writes a card, and here where nobody did with the same recipe.

use std::collections::HashMap;
use std::sync::Arc;

use autokit_library::PackedVectors;
use autokit_team::{CardKey, CardVectors, Code, Request, Step};
use autokit_toolcard::{CardId, Toolcard};

use crate::embedding::Embedding;
use crate::error::Result;
use crate::proposals::request_key;
use crate::sync::TeamSync;

/// Most cards whose vectors are sent in one request.
const BATCH: usize = 200;

/// Unpacks numbers; `None` for what is no whole rows.
fn unpack(vectors: CardVectors) -> Option<PackedVectors> {
    let dim = vectors.dim as usize;
    if dim == 0 || vectors.data.is_empty() || !vectors.data.len().is_multiple_of(4 * dim) {
        return None;
    }
    let numbers = vectors.data.chunks_exact(4);
    let values = numbers.map(|four| f32::from_le_bytes([four[0], four[1], four[2], four[3]])).collect();
    Some(PackedVectors { model: vectors.recipe, names: None, dim, values })
}

impl TeamSync {
    /// Shares vectors with the team from now on.
    #[must_use]
    pub fn with_embedding(mut self, embedding: Arc<dyn Embedding>) -> TeamSync {
        self.embedding = Some(embedding);
        self
    }

    /// Returns the team's vectors of cards that are about to be received, by key. Others are computed here.
    pub(crate) async fn vectors_of(
        &self,
        cards: &[(&str, u32, &Toolcard)],
    ) -> Result<HashMap<String, PackedVectors>> {
        let Some(embedding) = &self.embedding else { return Ok(HashMap::new()) };
        let Some(recipe) = embedding.recipe().filter(|_| !cards.is_empty()) else {
            return Ok(HashMap::new());
        };
        let keys: Vec<CardKey> = cards.iter().map(|(key, ..)| CardKey::new(*key)).collect();
        let theirs = self.session.vectors(&keys, &recipe).await?;
        let mut packed: HashMap<String, (u32, PackedVectors)> = HashMap::new();
        for vectors in theirs {
            let (key, number) = (vectors.card.as_str().to_owned(), vectors.number);
            packed.extend(unpack(vectors).map(|vectors| (key, (number, vectors))));
        }
        let mut found: Vec<(&str, &Toolcard, PackedVectors)> = Vec::with_capacity(packed.len());
        for (key, number, card) in cards {
            // Those of an earlier state are of no use.
            if let Some((_, vectors)) = packed.remove(*key).filter(|(made_from, _)| made_from == number) {
                found.push((*key, *card, vectors));
            }
        }
        let pairs: Vec<(&Toolcard, &PackedVectors)> =
            found.iter().map(|(_, card, vectors)| (*card, vectors)).collect();
        let usable = embedding.usable(&pairs).await;
        let kept = found.into_iter().zip(usable).filter(|(_, usable)| *usable);
        Ok(kept.map(|((key, _, vectors), _)| (key.to_owned(), vectors)).collect())
    }

    /// Gives the team vectors that it does not have, as far as they were computed here.
    pub(crate) async fn send_vectors(&mut self) -> Result<()> {
        let Some(recipe) = self.embedding.as_ref().and_then(|embedding| embedding.recipe()) else {
            return Ok(());
        };
        if !self.rules.may_decide {
            self.unembedded.clear();
        }
        if self.unembedded.is_empty() {
            return Ok(());
        }
        let cards: Vec<CardId> = self.unembedded.iter().cloned().collect();
        for cards in cards.chunks(BATCH) {
            let mut steps = HashMap::new();
            for stored in self.library.vectors_of(&recipe, cards).await? {
                let Some(state) = self.shared.get(&stored.card) else { continue };
                if stored.number != state.local {
                    continue;
                }
                self.unembedded.remove(&stored.card);
                // What people added to names here is in no card.
                if stored.names.is_none() {
                    let data = stored.values.iter().flat_map(|value| value.to_le_bytes()).collect();
                    let card = CardKey::new(state.key.as_str());
                    let (number, dim) = (state.number, stored.dim as u32);
                    let vectors =
                        CardVectors { card: card.clone(), number, recipe: recipe.clone(), dim, data };
                    steps.insert(card, vectors);
                }
            }
            let keys: Vec<CardKey> = steps.keys().cloned().collect();
            if keys.is_empty() {
                continue;
            }
            for (key, number) in self.session.with_vectors(&keys, &recipe).await? {
                if steps.get(&key).is_some_and(|vectors| vectors.number == number) {
                    steps.remove(&key);
                }
            }
            let mut steps: Vec<CardVectors> = steps.into_values().collect();
            steps.sort_by(|one, other| one.card.cmp(&other.card));
            let Some(first) = steps.first() else { continue };
            let at = self.library.clock().stamp();
            let key = request_key(&Step::Vectors(CardVectors { data: Vec::new(), ..first.clone() }), at);
            let steps = steps.into_iter().map(Step::Vectors).collect();
            match self.session.send(&Request { key, reason: String::new(), at, steps }).await {
                Ok(_) => {}
                Err(error) if error.code == Code::NotAllowed => {
                    self.unembedded.clear();
                    return Ok(());
                }
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }
}
