//! Replicas of a part of the team's cards: those that a filter includes, up to a limit.

use std::collections::HashSet;

use autokit_library::{Library, TeamNote};
use autokit_team::{CardFilter, CardKey, Cursor, SharedCard};
use autokit_toolcard::{CardId, ProposalId};

use crate::error::Result;
use crate::position::Position;
use crate::sharing::forget_visibility;
use crate::sync::{Report, TeamSync};

/// Setting: the filter that was chosen, as JSON.
const SETTING: &str = "team_cards";

/// Returns which cards of its team a replica is made of.
///
/// # Errors
/// When the library cannot be read.
pub async fn filter(library: &Library) -> Result<CardFilter> {
    let text = library.setting(SETTING).await?;
    // One that cannot be read includes all cards, as none does.
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// Chooses which cards of its team a replica is made of, from the next synchronization on.
///
/// # Errors
/// When the library cannot be written.
pub async fn set_filter(library: &Library, filter: &CardFilter) -> Result<()> {
    let text = serde_json::to_string(filter).unwrap_or_default();
    Ok(library.set_setting(SETTING, &text).await?)
}

/// What a replica is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Part {
    /// The filter with which its cards were read.
    pub filter: CardFilter,
    /// Whether cards that this member may see are not in it: the filter leaves them out, or there are too many.
    pub is_incomplete: bool,
}

/// Returns what a replica is made of.
///
/// # Errors
/// When the library cannot be read.
pub async fn part(library: &Library) -> Result<Part> {
    let Position { filter, is_incomplete, .. } = Position::of(library).await?;
    Ok(Part { filter, is_incomplete })
}

impl TeamSync {
    /// Receives no more cards than this instead of [`crate::MAX_CARDS`].
    #[must_use]
    pub fn with_limit(self, limit: usize) -> TeamSync {
        TeamSync { limit, ..self }
    }

    /// Takes up another filter once everything was sent: forgets what it leaves out, so that everything is to be read again.
    /// Returns whether there is another one.
    pub(crate) async fn apply_filter(&mut self, report: &mut Report) -> Result<bool> {
        let filter = filter(&self.library).await?;
        if filter == self.position.filter {
            return Ok(false);
        }
        let left_out: Vec<CardId> = self.library.read(|replica| {
            let is_left_out =
                |card: &&CardId| replica.get(card).is_some_and(|record| !filter.includes(&record.card()));
            self.shared.keys().filter(is_left_out).cloned().collect()
        });
        let left_out = self.without_unsent(left_out).await?;
        self.forget_cards(&left_out, &[]).await?;
        report.left_out += left_out.len();
        self.position = Position {
            cursor: Cursor::default(),
            proposals: Cursor::default(),
            filter,
            is_incomplete: !left_out.is_empty(),
            ..self.position.clone()
        };
        self.unreadable.clear();
        self.library.set_team_note(TeamNote::Position, &self.position.to_text()).await?;
        Ok(true)
    }

    /// Forgets cards that are not selected any more. Returns those with changes that the team does not have, as they are
    /// there: they stay until these are sent.
    pub(crate) async fn leave_out(
        &mut self,
        keys: &[CardKey],
        report: &mut Report,
    ) -> Result<Vec<SharedCard>> {
        let known: Vec<CardId> =
            keys.iter().filter_map(|key| self.by_key.get(key.as_str()).cloned()).collect();
        let forgotten = self.without_unsent(known.clone()).await?;
        self.forget_cards(&forgotten, &[]).await?;
        report.left_out += keys.len();
        let forgotten: HashSet<CardId> = forgotten.into_iter().collect();
        let mut changed = Vec::new();
        for card in known.iter().filter(|card| !forgotten.contains(card)) {
            let Some(state) = self.shared.get(card) else { continue };
            changed.extend(self.session.newest(&CardKey::new(state.key.as_str())).await?);
        }
        Ok(changed)
    }

    /// Returns those of these cards about which the team knows everything that was done here.
    async fn without_unsent(&self, cards: Vec<CardId>) -> Result<Vec<CardId>> {
        if cards.is_empty() {
            return Ok(cards);
        }
        let (newer, too_large) = self.newer();
        let mut unsent: HashSet<CardId> = newer.into_iter().chain(too_large).collect();
        unsent.extend(self.with_unsent_proposals().await?);
        Ok(cards.into_iter().filter(|card| !unsent.contains(card)).collect())
    }

    /// Forgets cards, and these proposals.
    pub(crate) async fn forget_cards(&mut self, cards: &[CardId], proposals: &[ProposalId]) -> Result<()> {
        if cards.is_empty() && proposals.is_empty() {
            return Ok(());
        }
        self.library.purge(cards, proposals).await?;
        forget_visibility(&self.library, cards, false).await?;
        for card in cards {
            if let Some(state) = self.shared.remove(card) {
                self.by_key.remove(&state.key);
            }
        }
        // Their proposals went with them.
        self.links = self.library.proposal_links().await?;
        let is_known = |id: &ProposalId| self.links.contains_key(id);
        self.by_proposal.retain(|_, id| is_known(id));
        Ok(())
    }
}
