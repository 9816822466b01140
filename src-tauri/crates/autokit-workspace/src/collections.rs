//! Collections of cards: named sets, and the favorites.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use autokit_api::commands::{
    ChangeCollection, Context, Handle, ListCollections, RemoveCollection, RenameCollection,
};
use autokit_api::{
    Collection, CollectionChange, CollectionRef, CollectionRename, FAVORITES, Nothing, Setting,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_toolcard::CardId;

use crate::workspace::{CachedSetting, Workspace};

/// Most characters of a name.
const NAME_CHARS: usize = 60;
/// Most collections, because lists of them are read and chosen from as a whole.
const MAX_COLLECTIONS: usize = 200;

/// Collections as stored, by name. Cards that are deleted stay in them, so that they are back after an undo.
type Stored = BTreeMap<String, BTreeSet<CardId>>;

/// The collections of a library. Clones share state.
#[derive(Clone, Debug)]
pub struct Collections {
    workspace: Workspace,
    stored: Arc<CachedSetting<Stored>>,
    /// Serializes changes, each of which reads the stored collections first.
    writing: Arc<tokio::sync::Mutex<()>>,
    /// How often this process has changed them.
    changes: Arc<AtomicU64>,
}

impl Collections {
    /// Keeps the collections of this library.
    pub fn new(workspace: Workspace) -> Collections {
        Collections {
            workspace,
            stored: Arc::new(CachedSetting::new(Setting::Collections)),
            writing: Arc::default(),
            changes: Arc::default(),
        }
    }

    /// Returns a number that differs after every change.
    pub fn version(&self) -> u64 {
        self.changes.load(Ordering::Acquire)
    }

    /// Returns the cards of a collection, including deleted ones.
    ///
    /// # Errors
    /// `not_found`, or when the database fails.
    pub async fn cards_of(&self, name: &str) -> Result<BTreeSet<CardId>> {
        let stored = self.stored.read(&self.workspace).await?;
        match find(&stored, name) {
            Some(known) => Ok(stored[&known].clone()),
            None if is_favorites(name) => Ok(BTreeSet::new()),
            None => Err(not_found(name)),
        }
    }

    /// Adds a card to the collections that another one is in.
    ///
    /// # Errors
    /// When the database fails.
    pub async fn add_to_same_collections(&self, known: &CardId, card: &CardId) -> Result<()> {
        let add = |stored: &mut Stored| {
            for cards in stored.values_mut().filter(|cards| cards.contains(known)) {
                cards.insert(card.clone());
            }
            Ok(())
        };
        self.change(add).await.map(drop)
    }

    async fn list(&self) -> Result<Vec<Collection>> {
        let stored = self.stored.read(&self.workspace).await?;
        let favorites = stored.get(FAVORITES).cloned().unwrap_or_default();
        let others = stored.iter().filter(|(name, _)| *name != FAVORITES);
        let mut others: Vec<(&String, &BTreeSet<CardId>)> = others.collect();
        others.sort_by_key(|(name, _)| name.to_lowercase());
        Ok(self.workspace.library.read(|replica| {
            let collection = |name: &str, cards: &BTreeSet<CardId>| Collection {
                name: name.to_owned(),
                cards: cards.iter().filter(|id| replica.get(id).is_some()).cloned().collect(),
            };
            let others = others.iter().map(|(name, cards)| collection(name, cards));
            std::iter::once(collection(FAVORITES, &favorites)).chain(others).collect()
        }))
    }

    /// Changes the stored collections and returns all of them.
    async fn change(&self, change: impl FnOnce(&mut Stored) -> Result<()> + Send) -> Result<Vec<Collection>> {
        let _writing = self.writing.lock().await;
        let before = self.stored.read(&self.workspace).await?;
        let mut after = Stored::clone(&before);
        change(&mut after)?;
        if after != *before {
            self.stored.write(&self.workspace, after).await?;
            self.changes.fetch_add(1, Ordering::AcqRel);
        }
        self.list().await
    }
}

/// Returns the stored spelling of a name.
fn find(stored: &Stored, name: &str) -> Option<String> {
    let wanted = name.trim().to_lowercase();
    stored.keys().find(|known| known.to_lowercase() == wanted).cloned()
}

fn is_favorites(name: &str) -> bool {
    name.trim().eq_ignore_ascii_case(FAVORITES)
}

fn not_found(name: &str) -> ApiError {
    let message = format!("collection {:?} not found", name.trim());
    ApiError::new(ErrorCode::NotFound, message, "Choose one of the existing collections.")
}

fn invalid(message: impl Into<String>, remedy: &str) -> ApiError {
    ApiError::new(ErrorCode::Invalid, message.into(), remedy)
}

/// Checks the name of a new collection and returns it without surrounding white space.
fn new_name(name: &str) -> Result<String> {
    let name = name.trim();
    let length = name.chars().count();
    if length == 0 || length > NAME_CHARS || name.chars().any(char::is_control) {
        return Err(invalid(
            format!("{name:?} is not a name for a collection"),
            "Use 1 to 60 characters in one line.",
        ));
    }
    Ok(name.to_owned())
}

/// Rejects changes to the name or the existence of the favorites.
fn not_favorites(name: &str) -> Result<()> {
    if is_favorites(name) {
        return Err(invalid(format!("{FAVORITES} always exists"), "Take cards out of it instead."));
    }
    Ok(())
}

#[async_trait]
impl Handle<ListCollections> for Collections {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<Collection>> {
        self.list().await
    }
}

#[async_trait]
impl Handle<ChangeCollection> for Collections {
    async fn handle(&self, _: &Context, request: CollectionChange) -> Result<Vec<Collection>> {
        let find_card = |text| self.workspace.find_card(text).map(|record| record.id.clone());
        let cards = request.cards.iter().map(|text| find_card(text)).collect::<Result<Vec<CardId>>>()?;
        self.change(|stored| {
            let known = find(stored, &request.collection)
                .or_else(|| is_favorites(&request.collection).then(|| FAVORITES.to_owned()));
            if !request.included {
                let Some(known) = known else { return Err(not_found(&request.collection)) };
                let all = stored.entry(known).or_default();
                all.retain(|card| !cards.contains(card));
                return Ok(());
            }
            let name = match known {
                Some(known) => known,
                None if stored.len() >= MAX_COLLECTIONS => {
                    return Err(invalid(
                        format!("there are {MAX_COLLECTIONS} collections already"),
                        "Delete one of them first, or use tags.",
                    ));
                }
                None => new_name(&request.collection)?,
            };
            stored.entry(name).or_default().extend(cards);
            Ok(())
        })
        .await
    }
}

#[async_trait]
impl Handle<RenameCollection> for Collections {
    async fn handle(&self, _: &Context, request: CollectionRename) -> Result<Vec<Collection>> {
        not_favorites(&request.collection)?;
        let name = new_name(&request.name)?;
        self.change(|stored| {
            let known = find(stored, &request.collection).ok_or_else(|| not_found(&request.collection))?;
            // Another spelling of its own name is a new name too.
            let taken = find(stored, &name).filter(|other| *other != known);
            if taken.is_some() || is_favorites(&name) {
                return Err(ApiError::new(
                    ErrorCode::Conflict,
                    format!("there is a collection {name:?} already"),
                    "Choose another name.",
                ));
            }
            let cards = stored.remove(&known).unwrap_or_default();
            stored.insert(name, cards);
            Ok(())
        })
        .await
    }
}

#[async_trait]
impl Handle<RemoveCollection> for Collections {
    async fn handle(&self, _: &Context, request: CollectionRef) -> Result<Vec<Collection>> {
        not_favorites(&request.collection)?;
        self.change(|stored| {
            let known = find(stored, &request.collection).ok_or_else(|| not_found(&request.collection))?;
            stored.remove(&known);
            Ok(())
        })
        .await
    }
}
