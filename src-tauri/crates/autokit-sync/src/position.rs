//! Up to where a team's library was read.

use autokit_library::{Library, TeamNote};
use autokit_team::{CardFilter, Cursor};
use autokit_toolcard::{Author, Draft, Timestamp};
use serde::{Deserialize, Serialize};

use crate::error::Result;

/// Most cards in a replica. Beyond it, a filter says which.
pub const MAX_CARDS: usize = 200_000;

/// Up to where a team's library was read, as it is stored with the cards.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Position {
    /// Cards written before it are here.
    pub(crate) cursor: Cursor,
    /// Proposals written before it are here.
    pub(crate) proposals: Cursor,
    /// Own comments made until then are at the team.
    pub(crate) commented: Option<Timestamp>,
    /// When the replica and the team's library were the same last.
    pub(crate) synced_at: Option<Timestamp>,
    /// Cards hidden before it are forgotten here.
    pub(crate) hidden: Cursor,
    /// [`autokit_team::MemberAccess::narrowed`] when the cards here were last compared with what may be seen.
    pub(crate) narrowed: Option<String>,
    /// The filter with which the cards here were read.
    pub(crate) filter: CardFilter,
    /// Whether some were left out.
    pub(crate) is_incomplete: bool,
    /// Edits that met another one, to be proposed.
    pub(crate) disputed: Vec<Dispute>,
    /// Keys of cards that came after their proposals were passed over, which are to be read again.
    pub(crate) late: Vec<String>,
}

/// An edit that met another one. It is noted in the commit that replaces it, so that it is not lost before it is proposed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(crate) struct Dispute {
    /// Key of the request that proposes it.
    pub(crate) key: String,
    pub(crate) draft: Draft,
    /// Whose edit it is.
    pub(crate) author: Author,
}

#[derive(Serialize, Deserialize)]
struct Stored {
    cursor: String,
    #[serde(default)]
    proposals: String,
    #[serde(default)]
    commented: Option<Timestamp>,
    #[serde(default)]
    synced_at: Option<Timestamp>,
    #[serde(default)]
    hidden: String,
    narrowed: Option<String>,
    #[serde(default)]
    filter: CardFilter,
    #[serde(default)]
    is_incomplete: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    disputed: Vec<Dispute>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    late: Vec<String>,
}

impl Position {
    /// Reads the position of a library; the beginning for one that never received anything, or whose position cannot be
    /// read: what is read again is the same.
    pub(crate) async fn of(library: &Library) -> Result<Position> {
        let Some(text) = library.team_note(TeamNote::Position).await? else { return Ok(Position::default()) };
        let stored = serde_json::from_str::<Stored>(&text).ok();
        let position = stored.and_then(|stored| {
            Some(Position {
                cursor: stored.cursor.parse().ok()?,
                proposals: stored.proposals.parse().ok()?,
                commented: stored.commented,
                synced_at: stored.synced_at,
                hidden: stored.hidden.parse().ok()?,
                narrowed: stored.narrowed,
                filter: stored.filter,
                is_incomplete: stored.is_incomplete,
                disputed: stored.disputed,
                late: stored.late,
            })
        });
        if position.is_none() {
            tracing::warn!(text, "reading the team's library from the beginning");
        }
        Ok(position.unwrap_or_default())
    }

    pub(crate) fn to_text(&self) -> String {
        let stored = Stored {
            cursor: self.cursor.to_string(),
            proposals: self.proposals.to_string(),
            commented: self.commented,
            synced_at: self.synced_at,
            hidden: self.hidden.to_string(),
            narrowed: self.narrowed.clone(),
            filter: self.filter.clone(),
            is_incomplete: self.is_incomplete,
            disputed: self.disputed.clone(),
            late: self.late.clone(),
        };
        serde_json::to_string(&stored).unwrap_or_default()
    }
}
