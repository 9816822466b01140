//! Local changes as requests to the team's server.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::Ordering;

use autokit_library::{Library, Replica, SharedState};
use autokit_store::parts;
use autokit_team::{CardKey, CardWrite, Code, MAX_TEXT, Request, Step, Written};
use autokit_toolcard::{CardId, Operation, ProposalState, Revision};
use sha2::{Digest as _, Sha256};

use crate::error::{Result, SyncError};
use crate::proposals::AcceptedHere;
use crate::sharing::{to_text, wanted};
use crate::sync::{Report, TeamSync};

/// Most cards in one request, which the server carries out in one transaction while others wait. Each of its statements copies
/// the whole request: a card takes 1 ms among 100, and 4 ms among 800.
const STEPS: usize = 100;
/// Most bytes of cards in one request: far less than fits into a message to the server.
const BYTES: usize = 16 << 20;

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
    /// The proposal that was accepted with it, if it is that alone.
    accepts: Option<AcceptedHere>,
}

/// Returns the cards of a replica with revisions that the team does not have, or that others are to see from now on.
///
/// # Errors
/// When the library cannot be read.
pub async fn unsent(library: &Library) -> Result<Vec<CardId>> {
    let shared = library.shared_states(None).await?;
    let mut unsent = newer_than(library, &shared);
    let known: HashSet<String> = unsent.iter().map(|card| card.as_str().to_owned()).collect();
    let wanted = wanted(library).await?.into_keys().filter(|card| !known.contains(card));
    unsent.extend(wanted.map(CardId::new));
    Ok(unsent)
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
        let Change { reason, revisions, accepts } = self;
        let size = |revision: &Revision| revision.body.as_ref().map_or(0, String::len);
        let part = |revisions| Change { reason: reason.clone(), revisions, accepts: accepts.clone() };
        parts(revisions, STEPS, BYTES, size).into_iter().map(part).collect()
    }
}

/// Whether a text is larger than a team stores.
pub(crate) fn is_too_large(text: &str) -> bool {
    text.len() > MAX_TEXT
}

/// Says which cards and how many proposals are too large for a team, if there are some.
fn too_large(names: &[String], proposals: usize) -> Option<String> {
    const NAMED: usize = 3;
    let mut what: Vec<String> = names.iter().take(NAMED).map(|name| format!("{name:?}")).collect();
    if names.len() > NAMED {
        what.push(format!("{} more cards", names.len() - NAMED));
    }
    match proposals {
        0 => {}
        1 => what.push("a proposal".to_owned()),
        number => what.push(format!("{number} proposals")),
    }
    let last = what.pop()?;
    let is_one = what.is_empty() && proposals < 2;
    let what = if what.is_empty() { last } else { format!("{} and {last}", what.join(", ")) };
    let are = if is_one { "is" } else { "are" };
    Some(format!("{what} {are} too large for the team, which stores up to {} KiB of each", MAX_TEXT >> 10))
}

/// Returns the names of those of these cards that are too large for a team.
fn large_names(library: &Library, cards: &[CardId]) -> Vec<String> {
    library.read(|replica| {
        let records = cards.iter().filter_map(|card| replica.get(card));
        records.filter(|record| is_too_large(&record.body)).map(|record| record.key.name.clone()).collect()
    })
}

/// Says which cards of a replica cannot be sent, if there are some.
///
/// # Errors
/// When the library cannot be read.
pub async fn problem(library: &Library) -> Result<Option<String>> {
    let newer = newer_than(library, &library.shared_states(None).await?);
    Ok(too_large(&large_names(library, &newer), 0))
}

impl TeamSync {
    /// Returns the cards that the team does not have: those to send, and those that are too large for it.
    pub(crate) fn newer(&self) -> (Vec<CardId>, Vec<CardId>) {
        let cursor = self.library.read(Replica::cursor);
        if self.all_sent_at.load(Ordering::Relaxed) == cursor {
            return (Vec::new(), Vec::new());
        }
        let newer = newer_than(&self.library, &self.shared);
        if newer.is_empty() {
            self.all_sent_at.store(cursor, Ordering::Relaxed);
        }
        self.library.read(|replica| {
            let fits = |card: &CardId| replica.get(card).is_none_or(|record| !is_too_large(&record.body));
            newer.into_iter().partition(fits)
        })
    }

    /// Returns the cards to send.
    pub(crate) fn unsent(&self) -> Vec<CardId> {
        self.newer().0
    }

    /// Says what cannot be sent, if there is something.
    pub fn problem(&self) -> Option<String> {
        self.behind().1
    }

    /// Number of cards that the team does not have as they are here, and [`TeamSync::problem`].
    pub(crate) fn behind(&self) -> (usize, Option<String>) {
        let (newer, large) = self.newer();
        (newer.len() + large.len(), too_large(&large_names(&self.library, &large), self.too_large.len()))
    }

    /// Sends local changes, oldest first.
    pub(crate) async fn send(&mut self, report: &mut Report) -> Result<Sent> {
        self.detach_replaced().await?;
        let (changes, settled) = self.changes().await?;
        for change in changes {
            let sent = match change.accepts.clone() {
                Some(accepted) => self.send_acceptance(&accepted, change, report).await?,
                None => self.send_change(change, report).await?,
            };
            if sent == Sent::Outdated {
                return Ok(sent);
            }
        }
        for accepted in settled {
            self.settle(&accepted, report).await?;
        }
        Ok(Sent::Everything)
    }

    async fn send_change(&mut self, change: Change, report: &mut Report) -> Result<Sent> {
        let Some((request, revisions)) = self.request(change) else { return Ok(Sent::Everything) };
        match self.session.send(&request).await {
            Ok(written) => self.note_written(&written, &revisions, report).await?,
            Err(error) if matches!(error.code, Code::Changed | Code::NotFound) => return Ok(Sent::Outdated),
            Err(error) if error.code == Code::NotAllowed => {
                let cards: Vec<CardId> = revisions.iter().map(|revision| revision.card.clone()).collect();
                self.propose_instead(&cards, report).await?;
            }
            Err(error) => return Err(SyncError::Team(error)),
        }
        Ok(Sent::Everything)
    }

    async fn note_written(
        &mut self,
        written: &[Written],
        revisions: &[Revision],
        report: &mut Report,
    ) -> Result<()> {
        let state = |written: &Written| {
            let revision = revisions.get(written.position as usize)?;
            let key = written.card.as_str().to_owned();
            // Where it is seen otherwise, the answer to the next question says so.
            let known = self.shared.get(&revision.card).and_then(|state| state.visible_to.clone());
            let visible_to = known.unwrap_or_else(|| to_text(&self.visibility_of_new(&revision.card)));
            let state = SharedState {
                key,
                number: written.number,
                local: revision.number,
                visible_to: Some(visible_to),
            };
            Some((revision.card.clone(), state))
        };
        let states: Vec<(CardId, SharedState)> = written.iter().filter_map(state).collect();
        self.library.set_shared(&states).await?;
        report.sent += states.len();
        for (card, state) in states {
            self.unembedded.insert(card.clone());
            self.set_shared(card, state);
        }
        Ok(())
    }

    /// Sends the acceptance of a proposal. Where the team wants more approvals, or refuses, the card is taken back to what
    /// the team has, and the proposal becomes what it is there.
    async fn send_acceptance(
        &mut self,
        accepted: &AcceptedHere,
        change: Change,
        report: &mut Report,
    ) -> Result<Sent> {
        let Some(revision) = change.revisions.first() else { return Ok(Sent::Everything) };
        let known = self.shared.get(&revision.card);
        if known.is_some_and(|state| state.local >= revision.number) {
            // A later revision of the card was sent before.
            return self.settle(accepted, report).await.map(|()| Sent::Everything);
        }
        let refused = match self.session.send(&self.acceptance(accepted, revision)).await {
            Ok(written) if !written.is_empty() => {
                self.note_written(&written, std::slice::from_ref(revision), report).await?;
                self.set_link_state(accepted.proposal.id, ProposalState::Accepted).await?;
                return Ok(Sent::Everything);
            }
            // More reviewers have to accept it.
            Ok(_) => None,
            Err(error) if matches!(error.code, Code::Changed | Code::NotFound) => return Ok(Sent::Outdated),
            Err(error) if error.code.is_refusal() => Some(error),
            Err(error) => return Err(SyncError::Team(error)),
        };
        tracing::info!(proposal = %accepted.proposal.id, ?refused, "an acceptance is taken back");
        self.revert_to_team(revision, report).await?;
        self.refused.insert(accepted.key.clone());
        Ok(Sent::Everything)
    }

    /// Accepts a proposal whose values the team's card has by now.
    async fn settle(&mut self, accepted: &AcceptedHere, report: &mut Report) -> Result<()> {
        let card = accepted.proposal.draft.card.clone().unwrap_or_else(|| accepted.proposal.draft.subject());
        let current = match (self.library.card(&card), self.shared.get(&card)) {
            (Ok(record), Some(_)) => Some(self.library.revision(&card, record.number).await?),
            _ => None,
        };
        // Without a card nothing is left to accept.
        let Some(revision) = current else {
            self.refused.insert(accepted.key.clone());
            return Ok(());
        };
        // Once it is shorter.
        if revision.body.as_deref().is_some_and(is_too_large) {
            return Ok(());
        }
        match self.session.send(&self.acceptance(accepted, &revision)).await {
            Ok(written) if !written.is_empty() => {
                self.note_written(&written, &[revision], report).await?;
                self.set_link_state(accepted.proposal.id, ProposalState::Accepted).await
            }
            Err(error) if error.code == Code::Changed => Ok(()),
            Err(error) if !error.code.is_answer() => Err(error.into()),
            Ok(_) | Err(_) => {
                self.refused.insert(accepted.key.clone());
                Ok(())
            }
        }
    }

    /// Returns the changes that the team does not have, oldest first, and acceptances that changed nothing.
    async fn changes(&self) -> Result<(Vec<Change>, Vec<AcceptedHere>)> {
        let mut revisions = Vec::new();
        for card in self.unsent() {
            let known = self.shared.get(&card).map_or(0, |state| state.local);
            let history = self.library.history(&card).await?;
            // What was too large in between is only in the history here.
            let fits = |revision: &Revision| revision.body.as_deref().is_none_or(|body| !is_too_large(body));
            revisions
                .extend(history.into_iter().filter(|revision| revision.number > known && fits(revision)));
        }
        revisions.sort_by_key(|revision| std::cmp::Reverse(revision.seq));
        let (mut accepts, mut settled) = (HashMap::new(), Vec::new());
        for accepted in self.accepted_here().await? {
            match self.revision_of(&accepted, &revisions).await? {
                Some(seq) if !accepts.contains_key(&seq) => drop(accepts.insert(seq, accepted)),
                _ => settled.push(accepted),
            }
        }
        // Of several revisions of a card in one change, the newest stands for all.
        let mut seen = HashSet::new();
        revisions.retain(|revision| {
            accepts.contains_key(&revision.seq)
                || seen.insert((revision.change.clone(), revision.card.clone()))
        });
        let mut changes: BTreeMap<u64, Change> = BTreeMap::new();
        let mut first: BTreeMap<String, u64> = BTreeMap::new();
        for revision in revisions.into_iter().rev() {
            let accepts = accepts.remove(&revision.seq);
            let at = match accepts {
                Some(_) => revision.seq,
                None => *first.entry(revision.change.clone()).or_insert(revision.seq),
            };
            let change = changes.entry(at).or_insert_with(|| Change {
                reason: revision.reason.clone(),
                revisions: Vec::new(),
                accepts,
            });
            change.revisions.push(revision);
        }
        Ok((changes.into_values().flat_map(Change::parts).collect(), settled))
    }

    /// Returns which of these revisions, newest first, accepting a proposal wrote; merged with others' changes, it is the
    /// newest acceptance of the card.
    async fn revision_of(&self, accepted: &AcceptedHere, revisions: &[Revision]) -> Result<Option<u64>> {
        let change = self.library.change_of_proposal(accepted.proposal.id).await?;
        let card = accepted.proposal.draft.card.as_ref();
        let is_about = |revision: &&Revision| match card {
            Some(card) => revision.card == *card,
            None => !self.shared.contains_key(&revision.card),
        };
        let own = |revision: &&Revision| is_about(revision) && Some(&revision.change) == change.as_ref();
        let merged = |revision: &&Revision| {
            card.is_some() && is_about(revision) && revision.operation == Operation::Accept
        };
        let found = revisions.iter().rev().find(own).or_else(|| revisions.iter().find(merged));
        Ok(found.map(|revision| revision.seq))
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
                    visible_to: known.is_none().then(|| self.visibility_of_new(&revision.card)),
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
