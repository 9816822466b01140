//! Who sees which cards: as the team has it, and as it is to be once that was sent.

use std::collections::BTreeMap;

use autokit_library::{Library, LibraryError, TeamNote};
use autokit_team::{GroupKey, MemberKey, Role, Visibility};
use autokit_toolcard::CardId;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use surrealdb::types::{RecordId, object};
use tokio::sync::Mutex;

use crate::error::Result;

/// Held while what is wanted is read and written; one process has a library open.
pub(crate) static WANTED: Mutex<()> = Mutex::const_new(());

/// A team's members and groups, as last read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Directory {
    /// The members, by name.
    pub members: Vec<DirectoryMember>,
    /// The groups that this member may know, by name.
    pub groups: Vec<DirectoryGroup>,
    /// The groups that this member belongs to.
    #[serde(default)]
    pub own_groups: Vec<GroupKey>,
}

/// A member of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryMember {
    /// The member.
    pub key: MemberKey,
    /// The name they sign in with.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Whether they can sign in.
    pub active: bool,
}

/// A group of a team.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DirectoryGroup {
    /// The group.
    pub key: GroupKey,
    /// Its name.
    pub name: String,
}

/// Who sees a card.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sharing {
    /// At the team; `None` for a card that it does not have.
    pub visible_to: Option<Visibility>,
    /// Once that was sent; `None` if nothing is to be sent.
    pub wanted: Option<Visibility>,
}

impl Directory {
    /// Returns the members and groups as they were read last; nobody before the first synchronization.
    ///
    /// # Errors
    /// When the library cannot be read.
    pub async fn of(library: &Library) -> Result<Directory> {
        Ok(noted(library, TeamNote::Directory).await?.unwrap_or_default())
    }

    /// Returns the name of a member.
    pub fn name_of(&self, member: &MemberKey) -> Option<&str> {
        self.members.iter().find(|known| known.key == *member).map(|known| known.name.as_str())
    }
}

/// Returns who sees cards that are added here: the team, unless something else was chosen.
///
/// # Errors
/// When the library cannot be read.
pub async fn new_cards(library: &Library) -> Result<Visibility> {
    Ok(noted(library, TeamNote::NewCards).await?.unwrap_or(Visibility::Team))
}

/// Chooses who sees cards that are added here from now on.
///
/// # Errors
/// When the library cannot be written.
pub async fn set_new_cards(library: &Library, visible_to: &Visibility) -> Result<()> {
    note(library, TeamNote::NewCards, visible_to).await
}

/// Returns who sees a card.
///
/// # Errors
/// When the library cannot be read.
pub async fn sharing(library: &Library, card: &CardId) -> Result<Sharing> {
    // One row: a card is shown more often than a library is synchronized.
    let variables = object! { card: RecordId::new("shared", card.as_str()) };
    let shared: Vec<Option<String>> = library.select("SELECT VALUE visible_to FROM $card", variables).await?;
    let visible_to = shared.into_iter().flatten().next().and_then(|text| parse(&text));
    Ok(Sharing { visible_to, wanted: wanted(library).await?.remove(card.as_str()) })
}

/// Wants cards to be seen by others from now on: sent at the next synchronization, with the card if that is new.
///
/// # Errors
/// When the library cannot be written.
pub async fn share(library: &Library, cards: &[CardId], visible_to: &Visibility) -> Result<()> {
    let _guard = WANTED.lock().await;
    let mut all = wanted(library).await?;
    all.extend(cards.iter().map(|card| (card.as_str().to_owned(), visible_to.clone())));
    note(library, TeamNote::Wanted, &all).await
}

/// Returns who is to see which cards, by id, as far as the team does not have that yet.
pub(crate) async fn wanted(library: &Library) -> Result<BTreeMap<String, Visibility>> {
    Ok(noted(library, TeamNote::Wanted).await?.unwrap_or_default())
}

/// Reads a visibility as it is stored with a card.
pub(crate) fn parse(text: &str) -> Option<Visibility> {
    serde_json::from_str(text).ok()
}

/// Writes a visibility as it is stored with a card.
pub(crate) fn to_text(visible_to: &Visibility) -> String {
    serde_json::to_string(visible_to).unwrap_or_default()
}

async fn noted<T: DeserializeOwned>(library: &Library, about: TeamNote) -> Result<Option<T>> {
    let text = library.team_note(about).await?;
    let read = text.map(|text| serde_json::from_str(&text)).transpose();
    Ok(read.map_err(LibraryError::malformed)?)
}

pub(crate) async fn note<T: Serialize>(library: &Library, about: TeamNote, value: &T) -> Result<()> {
    let text = serde_json::to_string(value).map_err(LibraryError::malformed)?;
    Ok(library.set_team_note(about, &text).await?)
}

/// Forgets who is to see these cards, and with `everything` all that was noted about the team's people.
pub(crate) async fn forget_visibility(library: &Library, cards: &[CardId], everything: bool) -> Result<()> {
    let _guard = WANTED.lock().await;
    let mut all = wanted(library).await?;
    let before = all.len();
    all.retain(|card, _| !everything && cards.iter().all(|forgotten| forgotten.as_str() != card));
    if all.len() != before {
        note(library, TeamNote::Wanted, &all).await?;
    }
    if everything {
        note(library, TeamNote::Directory, &Directory::default()).await?;
    }
    Ok(())
}
