//! Local changes as requests to the team's server.

use std::collections::{BTreeMap, HashMap, HashSet};

use autokit_library::{Library, SharedState};
use autokit_team::{CardKey, CardWrite, Code, Request, Step, Visibility};
use autokit_toolcard::{CardId, Revision};
use sha2::{Digest as _, Sha256};

use crate::error::{Result, SyncError};
use crate::sync::{Report, TeamSync};

/// Most cards in one request, which the server carries out in one transaction while others wait.
const STEPS: usize = 500;

/// What became of the local changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Sent {
    /// The team has all of them.
    Everything,
    /// The team changed a card in the meantime: it has to be received first.
    Outdated,
}

/// A change of several cards, made as one.
struct Change {
    reason: String,
    /// The newest revision of each card.
    revisions: Vec<Revision>,
}

/// Returns the cards of a replica with revisions that the team does not have.
///
/// # Errors
/// When the library cannot be read.
pub async fn unsent(library: &Library) -> Result<Vec<CardId>> {
    let shared = library.shared_states(None).await?;
    Ok(newer_than(library, &shared))
}

fn newer_than(library: &Library, shared: &HashMap<CardId, SharedState>) -> Vec<CardId> {
    library.read(|replica| {
        let is_unsent =
            |card: &CardId, number: u32| shared.get(card).is_none_or(|state| state.local < number);
        let live = replica.iter().filter(|record| is_unsent(&record.id, record.number));
        // What was deleted before it was sent never was the team's.
        let deleted = replica
            .deleted
            .iter()
            .filter(|(card, (number, _))| shared.contains_key(*card) && is_unsent(card, *number));
        live.map(|record| record.id.clone()).chain(deleted.map(|(card, _)| card.clone())).collect()
    })
}

impl Change {
    /// Splits a change that is too large for one request.
    fn parts(self) -> Vec<Change> {
        let part =
            |revisions: &[Revision]| Change { reason: self.reason.clone(), revisions: revisions.to_vec() };
        self.revisions.chunks(STEPS).map(part).collect()
    }
}

impl TeamSync {
    pub(crate) fn unsent(&self) -> Vec<CardId> {
        newer_than(&self.library, &self.shared)
    }

    /// Sends local changes, oldest first.
    pub(crate) async fn send(&mut self, report: &mut Report) -> Result<Sent> {
        for change in self.changes().await? {
            let Some((request, revisions)) = self.request(change) else { continue };
            match self.session.send(&request).await {
                Ok(written) => {
                    let states: Vec<(CardId, SharedState)> = written
                        .into_iter()
                        .filter_map(|written| {
                            let revision = revisions.get(written.position as usize)?;
                            let key = written.card.as_str().to_owned();
                            let state = SharedState { key, number: written.number, local: revision.number };
                            Some((revision.card.clone(), state))
                        })
                        .collect();
                    self.library.set_shared(&states).await?;
                    for (card, state) in states {
                        self.set_shared(card, state);
                    }
                    report.sent += 1;
                }
                Err(error) if matches!(error.code, Code::Changed | Code::NotFound) => {
                    return Ok(Sent::Outdated);
                }
                Err(error) if error.code == Code::NotAllowed => {
                    let cards: Vec<CardId> = revisions.iter().map(|revision| revision.card.clone()).collect();
                    self.propose_instead(&cards, report).await?;
                }
                Err(error) => return Err(SyncError::Team(error)),
            }
        }
        Ok(Sent::Everything)
    }

    /// Returns the changes that the team does not have, oldest first.
    async fn changes(&self) -> Result<Vec<Change>> {
        let mut changes: BTreeMap<u64, Change> = BTreeMap::new();
        let mut first: BTreeMap<String, u64> = BTreeMap::new();
        let mut revisions = Vec::new();
        for card in self.unsent() {
            let known = self.shared.get(&card).map_or(0, |state| state.local);
            let history = self.library.history(&card).await?;
            revisions.extend(history.into_iter().filter(|revision| revision.number > known));
        }
        revisions.sort_by_key(|revision| std::cmp::Reverse(revision.seq));
        // Of several revisions of a card in one change, the newest stands for all.
        let mut seen = HashSet::new();
        revisions.retain(|revision| seen.insert((revision.change.clone(), revision.card.clone())));
        for revision in revisions.into_iter().rev() {
            let at = *first.entry(revision.change.clone()).or_insert(revision.seq);
            let change = changes
                .entry(at)
                .or_insert_with(|| Change { reason: revision.reason.clone(), revisions: Vec::new() });
            change.revisions.push(revision);
        }
        Ok(changes.into_values().flat_map(Change::parts).collect())
    }

    /// Returns the request for a change, and the revision of each of its steps. Its key follows from what it says, so that
    /// it is carried out once however often it is sent. `None` if there is nothing to say.
    fn request(&self, change: Change) -> Option<(Request, Vec<Revision>)> {
        let mut revisions = change.revisions;
        revisions.retain(|revision| revision.body.is_some() || self.shared.contains_key(&revision.card));
        let at = revisions.first()?.at;
        let steps: Vec<CardWrite> = revisions
            .iter()
            .map(|revision| {
                let known = self.shared.get(&revision.card);
                CardWrite {
                    card: known.map(|state| CardKey::new(state.key.as_str())),
                    base: known.map_or(0, |state| state.number),
                    operation: revision.operation.as_str().to_owned(),
                    body: revision.body.clone(),
                    visible_to: known.is_none().then_some(Visibility::Team),
                }
            })
            .collect();
        let mut hasher = Sha256::new();
        for (revision, write) in revisions.iter().zip(&steps) {
            let said = [&revision.change, &revision.at.to_string(), &format!("{write:?}")];
            for part in said {
                hasher.update((part.len() as u64).to_le_bytes());
                hasher.update(part.as_bytes());
            }
        }
        let key = hex::encode(hasher.finalize());
        let steps = steps.into_iter().map(Step::Write).collect();
        Some((Request { key, reason: change.reason, at, steps }, revisions))
    }
}
