//! What a library that is a replica of a team's library knows of it: which card here is which card there, up to which
//! revision both are the same, and up to where it was read.

use std::collections::{BTreeMap, HashMap};

use autokit_toolcard::{Author, CardId, Operation, Risk, Timestamp, Toolcard};
use serde::{Deserialize, Serialize};
use surrealdb::types::{Object, RecordId, SurrealValue, object};

use crate::error::{LibraryError, Result};
use crate::rows::key_text;
use crate::step::Step;
use crate::store::Library;
use crate::vectors::PackedVectors;
use crate::write::{CommitExtras, Committed, Meta, Write};

/// The newest common state of a card here and in a team's library.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SharedState {
    /// Its key there.
    pub key: String,
    /// Its revision there.
    pub number: u32,
    /// Its revision here that has the same content. Later revisions are those the team does not have yet.
    pub local: u32,
    /// Who sees it there, as text of who synchronizes; `None` if that was not read yet.
    pub visible_to: Option<String>,
}

/// What a replica notes about its team, each as one text of who synchronizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeamNote {
    /// Up to where the team's library was read.
    Position,
    /// What the team lets its member do: [`TeamRules`].
    Rules,
    /// Its members and groups.
    Directory,
    /// Who is to see which cards, as far as the team does not have that yet.
    Wanted,
    /// Who sees cards that are added here.
    NewCards,
}

impl TeamNote {
    fn record(self) -> RecordId {
        let key = match self {
            TeamNote::Position => "now",
            TeamNote::Rules => "rules",
            TeamNote::Directory => "directory",
            TeamNote::Wanted => "wanted",
            TeamNote::NewCards => "new_cards",
        };
        RecordId::new("sync", key)
    }
}

impl SharedState {
    pub(crate) fn row(&self, card: &CardId) -> Object {
        object! {
            id: RecordId::new("shared", card.as_str()),
            key: self.key.clone(),
            number: i64::from(self.number),
            local: i64::from(self.local),
            visible_to: self.visible_to.clone(),
        }
    }
}

/// What a team lets its member do, as the server last said.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamRules {
    /// The member's name.
    pub member: String,
    /// Whether the member may propose changes.
    pub may_propose: bool,
    /// Whether the member may decide on proposals.
    pub may_decide: bool,
    /// Number of reviewers who have to accept a change, by risk; one for those that are not named.
    pub approvals: BTreeMap<Risk, u32>,
}

impl TeamRules {
    /// Returns the number of reviewers who have to accept a change of this risk.
    pub fn needed(&self, risk: Risk) -> u32 {
        self.approvals.get(&risk).copied().unwrap_or(1)
    }
}

/// Who made a revision, how, why and when.
#[derive(Clone, Debug)]
pub struct Attribution {
    /// What was done.
    pub operation: Operation,
    /// By whom.
    pub author: Author,
    /// The reason.
    pub reason: String,
    /// When.
    pub at: Timestamp,
}

/// A card as it is in a team's library.
#[derive(Clone, Debug)]
pub struct ReceivedCard {
    /// The card here; `None` for one that was never here.
    pub id: Option<CardId>,
    /// The revision here that it replaces: the newest one, or that of its deletion; 0 if it was never here.
    pub expected: u32,
    /// Its content; `None` if it was deleted.
    pub card: Option<Toolcard>,
    /// Its key and revision there; the local one is that of this write.
    pub state: SharedState,
    /// Its vectors, if the team has some that can be used.
    pub vectors: Option<PackedVectors>,
    /// Its newest revision there.
    pub made: Attribution,
    /// What it becomes here with changes that the team does not have yet, and who made those.
    pub merged: Option<(Toolcard, Attribution)>,
}

impl ReceivedCard {
    pub(crate) fn row(&self, card: &CardId, local: u32) -> Object {
        SharedState { local, ..self.state.clone() }.row(card)
    }
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct SharedRow {
    id: RecordId,
    key: String,
    number: i64,
    local: i64,
    visible_to: Option<String>,
}

impl Library {
    /// Returns the newest common states of the cards here that are in a team's library, or were: all, or those with these
    /// keys there.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn shared_states(&self, keys: Option<&[String]>) -> Result<HashMap<CardId, SharedState>> {
        let rows: Vec<SharedRow> = match keys {
            None => self.select("SELECT * FROM shared", Object::new()).await?,
            Some(keys) => {
                let query = "SELECT * FROM shared WHERE key IN $keys";
                self.select(query, object! { keys: keys.to_owned() }).await?
            }
        };
        let state = |row: SharedRow| {
            let (number, local) = (row.number as u32, row.local as u32);
            let state = SharedState { key: row.key, number, local, visible_to: row.visible_to };
            (CardId::new(key_text(&row.id)), state)
        };
        Ok(rows.into_iter().map(state).collect())
    }

    /// Returns a note about the team; `None` before the first time.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn team_note(&self, note: TeamNote) -> Result<Option<String>> {
        let query = "SELECT VALUE position FROM $note";
        Ok(self.select::<String>(query, object! { note: note.record() }).await?.into_iter().next())
    }

    /// Notes something about the team.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_team_note(&self, note: TeamNote, text: &str) -> Result<()> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        let row = Step::Put(vec![object! { id: note.record(), position: text.to_owned() }]);
        self.apply_change(vec![row], Vec::new(), "Note how a team's library stands").await
    }

    /// Returns what the team lets its member do; `None` in a library that is no replica, or before the first
    /// synchronization.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn team_rules(&self) -> Result<Option<TeamRules>> {
        let read = |text: String| serde_json::from_str(&text).map_err(LibraryError::malformed);
        self.team_note(TeamNote::Rules).await?.map(read).transpose()
    }

    /// Notes what the team lets its member do.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_team_rules(&self, rules: &TeamRules) -> Result<()> {
        let text = serde_json::to_string(rules).map_err(LibraryError::malformed)?;
        self.set_team_note(TeamNote::Rules, &text).await
    }

    /// Writes cards as they are in a team's library, and notes up to where it was read. Where another card here has the name
    /// of one, a number is added to it.
    ///
    /// # Errors
    /// [`crate::LibraryError::Conflict`] when a card changed here since it was read; otherwise as [`Library::commit`].
    pub async fn receive(&self, meta: &Meta, writes: &[Write], position: &str) -> Result<Committed> {
        let rows = |_: Option<&str>| {
            Ok(vec![object! { id: TeamNote::Position.record(), position: position.to_owned() }])
        };
        self.commit_with(meta, writes, CommitExtras { rows: Some(&rows), ..CommitExtras::default() }).await
    }

    /// Notes that revisions of cards here are in a team's library now.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn set_shared(&self, states: &[(CardId, SharedState)]) -> Result<()> {
        let _guard = self.writer.lock().await;
        self.recover_state().await?;
        let rows = states.iter().map(|(card, state)| state.row(card)).collect();
        self.apply_change(vec![Step::Put(rows)], Vec::new(), "Share revisions").await
    }
}
