//! Names of products and synonyms that people add.

use async_trait::async_trait;
use autokit_api::commands::{Context, Handle, ListVocabulary, RemoveVocabulary, SetVocabulary};
use autokit_api::{
    AddedEntry, EntryKind, VocabularyChanged, VocabularyItem, VocabularyList, VocabularyQuery,
    VocabularyRemove, VocabularyRemoved, VocabularySet,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{VocabularyEntry, entry_id};
use autokit_search::Vocabulary;
use autokit_toolcard::{Author, fields};
use autokit_vocabulary::{Entry, EntryError};
use autokit_workspace::background::in_background;
use autokit_workspace::models::Models;
use autokit_workspace::workspace::Workspace;

/// Entries returned if a request names no limit.
const DEFAULT_LIMIT: u32 = 100;
/// Most entries that can be added; search knows all of them, so each makes it a little slower.
const MAX_ADDED: usize = 10_000;

/// Names and synonyms of a library. Clones share state.
#[derive(Clone, Debug)]
pub struct NamesAndSynonyms {
    workspace: Workspace,
    models: Models,
}

impl NamesAndSynonyms {
    /// Edits those of this library, and makes the index of these models know them.
    pub fn new(workspace: Workspace, models: Models) -> NamesAndSynonyms {
        NamesAndSynonyms { workspace, models }
    }

    /// Returns the text of the entries that were added.
    pub(crate) async fn added(&self) -> Result<Vec<VocabularyEntry>> {
        Ok(self.workspace.library.vocabulary().await?)
    }

    /// Adds entries that came with a bundle. Returns how many are new.
    pub(crate) async fn add_from_bundle(
        &self,
        bundle: &str,
        entries: Vec<Entry>,
        by: &Author,
    ) -> Result<usize> {
        let known = self.added().await?;
        let at = self.workspace.clock.stamp();
        let new: Vec<VocabularyEntry> = entries
            .into_iter()
            .filter(|entry| !known.iter().any(|known| known.entry == *entry))
            .map(|entry| VocabularyEntry {
                entry,
                bundle: Some(bundle.to_owned()),
                added_by: by.clone(),
                added_at: at,
            })
            .collect();
        check_count(known.len() + new.len())?;
        if !new.is_empty() {
            self.workspace.library.change_vocabulary(&[], &new).await?;
            self.models.apply_vocabulary().await?;
        }
        Ok(new.len())
    }

    /// Returns the number of cards that an entry applies to.
    async fn cards_named(&self, entry: &Entry) -> Result<u32> {
        let Entry::Name(name) = entry else { return Ok(0) };
        let (what, vocabulary) = (name.what.clone(), self.models.vocabulary());
        let library = std::sync::Arc::clone(&self.workspace.library);
        in_background(move || {
            Ok(library.read(|replica| {
                let applies = |record: &&std::sync::Arc<autokit_library::CardRecord>| {
                    let card = record.card();
                    let text = |field| card.text(field).unwrap_or_default();
                    let known =
                        vocabulary.known_of(text(fields::NAME), text(fields::PROVIDER), card.description());
                    known.contains(&what.as_str())
                };
                replica.iter().filter(applies).count() as u32
            }))
        })
        .await
    }
}

fn check_count(count: usize) -> Result<()> {
    if count > MAX_ADDED {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            format!("a library has at most {MAX_ADDED} added names and synonyms"),
            "Remove some that are not needed.",
        ));
    }
    Ok(())
}

fn no_entry(error: &EntryError) -> ApiError {
    ApiError::new(ErrorCode::BadRequest, error.to_string(), "Check the entry, then save it again.")
}

fn item(added: &VocabularyEntry) -> VocabularyItem {
    VocabularyItem {
        text: added.entry.to_string(),
        added: Some(AddedEntry {
            id: entry_id(&added.entry),
            bundle: added.bundle.clone(),
            by: added.added_by.0.clone(),
            at: added.added_at,
        }),
    }
}

#[async_trait]
impl Handle<ListVocabulary> for NamesAndSynonyms {
    async fn handle(&self, _: &Context, request: VocabularyQuery) -> Result<VocabularyList> {
        let added = self.added().await?;
        let of_kind = |added: &&VocabularyEntry| added.entry.kind() == request.kind;
        let words: Vec<String> = request.text.split_whitespace().map(str::to_lowercase).collect();
        let matches = |text: &str| {
            let text = text.to_lowercase();
            words.iter().all(|word| text.contains(word.as_str()))
        };
        let number = added.iter().filter(of_kind).count();
        // Own entries come last from the library, because they win; a reader wants the newest of them first.
        let mut entries: Vec<VocabularyItem> =
            added.iter().rev().filter(of_kind).map(item).filter(|item| matches(&item.text)).collect();
        if !request.added_only {
            let shipped = Vocabulary::shipped_entries(request.kind).filter(|text| matches(text));
            entries.extend(shipped.map(|text| VocabularyItem { text: text.to_owned(), added: None }));
        }
        let total = entries.len() as u32;
        entries.truncate(request.limit.unwrap_or(DEFAULT_LIMIT) as usize);
        Ok(VocabularyList { entries, total, added: number as u32 })
    }
}

#[async_trait]
impl Handle<SetVocabulary> for NamesAndSynonyms {
    async fn handle(&self, context: &Context, request: VocabularySet) -> Result<VocabularyChanged> {
        let entry = Entry::parse(request.kind, &request.text).map_err(|error| no_entry(&error))?;
        let known = self.added().await?;
        check_count(known.len() + 1)?;
        if let Some(id) = &request.replaces {
            find(&known, id)?;
        }
        let added = VocabularyEntry {
            entry,
            bundle: None,
            added_by: Author(context.author.clone()),
            added_at: self.workspace.clock.stamp(),
        };
        let removed: Vec<String> = request.replaces.into_iter().collect();
        self.workspace.library.change_vocabulary(&removed, std::slice::from_ref(&added)).await?;
        self.models.apply_vocabulary().await?;
        Ok(VocabularyChanged { entry: item(&added), cards: self.cards_named(&added.entry).await? })
    }
}

/// Returns the added entry with this id.
fn find<'a>(known: &'a [VocabularyEntry], id: &str) -> Result<&'a VocabularyEntry> {
    known.iter().find(|added| entry_id(&added.entry) == id).ok_or_else(|| {
        ApiError::new(
            ErrorCode::NotFound,
            format!("no added name or synonym has the id {id}"),
            "List them again: it may have been changed or removed meanwhile.",
        )
    })
}

#[async_trait]
impl Handle<RemoveVocabulary> for NamesAndSynonyms {
    async fn handle(&self, _: &Context, request: VocabularyRemove) -> Result<VocabularyRemoved> {
        let known = self.added().await?;
        let mut removed: Vec<&VocabularyEntry> =
            request.ids.iter().map(|id| find(&known, id)).collect::<Result<_>>()?;
        if let Some(bundle) = &request.bundle {
            removed.extend(known.iter().filter(|added| added.bundle.as_ref() == Some(bundle)));
        }
        let ids: Vec<String> = removed.iter().map(|added| entry_id(&added.entry)).collect();
        if !ids.is_empty() {
            self.workspace.library.change_vocabulary(&ids, &[]).await?;
            self.models.apply_vocabulary().await?;
        }
        Ok(VocabularyRemoved { removed: removed.into_iter().map(item).collect() })
    }
}

/// Parses the entries of a bundle. Returns those that can be read, and how many cannot.
pub(crate) fn parse_entries(names: &[String], synonyms: &[String]) -> (Vec<Entry>, u32) {
    let names = names.iter().map(|text| Entry::parse(EntryKind::Name, text));
    let synonyms = synonyms.iter().map(|text| Entry::parse(EntryKind::Synonym, text));
    let (mut entries, mut invalid) = (Vec::new(), 0);
    for parsed in names.chain(synonyms) {
        match parsed {
            Ok(entry) => entries.push(entry),
            Err(_) => invalid += 1,
        }
    }
    (entries, invalid)
}
