//! Manual changes to cards. Each creates a revision and can be undone.

use std::collections::HashSet;
use std::sync::Arc;

use async_trait::async_trait;
use autokit_api::commands::{
    Context, CreateCard, DeleteCards, EditCards, GetHistory, Handle, Redo, RestoreCard, Undo, UndoImport,
    UpdateCard,
};
use autokit_api::{
    CardChange, CardCreate, CardDetail, CardRef, CardRestore, CardUpdate, CardsDelete, CardsEdit, ImportRef,
    RedoRequest, RevisionView, UndoOutcome, UndoRequest,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{CardRecord, Committed, LibraryError, Meta, PackedVectors, PutMode, Write};
use autokit_toolcard::{Author, CardId, Operation, Toolcard, diff_cards, fields, marks_in_field};
use autokit_upstream::servers::KnownServers;
use autokit_workspace::cards::detail;
use autokit_workspace::models::Models;
use autokit_workspace::workspace::Workspace;
use serde_json::{Map, Value};

use crate::duplicates::{Duplicate, Duplicates};
use crate::flagged::has_new_flagged_text;

/// Makes a card of the fields that a person entered.
///
/// # Errors
/// `invalid`, with all problems.
pub fn card_from(fields: Map<String, Value>) -> Result<Toolcard> {
    Toolcard::new(fields).map_err(|problems| {
        let reasons: Vec<String> = problems.iter().map(ToString::to_string).collect();
        ApiError::new(ErrorCode::Invalid, reasons.join("; "), "Correct the field and save again.")
    })
}

/// Rejects a card with flagged texts that the library's card does not have. An import would wait in Review
/// instead, but whoever types a card can correct it at once.
///
/// # Errors
/// `flagged`.
pub fn check_texts(card: &Toolcard, ours: Option<&CardRecord>) -> Result<()> {
    if !has_new_flagged_text(card, ours) {
        return Ok(());
    }
    let ours = ours.map(|ours| ours.card().into_object()).unwrap_or_default();
    let new = card.object().keys().filter(|field| ours.get(*field) != card.object().get(*field));
    let why = new.filter_map(|field| {
        let marked = marks_in_field(card.object(), field).into_iter().next()?;
        let why = marked.marks.into_iter().next()?.why;
        Some(format!("`{field}`: {}", why.trim_end_matches('.')))
    });
    let why: Vec<String> = why.collect();
    Err(ApiError::new(
        ErrorCode::Flagged,
        format!("the card is flagged: {}", why.join("; ")),
        "Remove that text, or confirm that you want to keep it.",
    ))
}

fn meta(context: &Context, operation: Operation, reason: &str, fallback: &str) -> Meta {
    let reason = if reason.trim().is_empty() { fallback } else { reason };
    Meta {
        operation,
        author: Author(context.author.clone()),
        reason: reason.to_owned(),
        change: None,
        request: context.request.clone(),
    }
}

/// Which way to step through the changes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Direction {
    Undo,
    Redo,
}

/// Makes a person's own changes to cards. Clones share state.
#[derive(Clone, Debug)]
pub struct Editing {
    workspace: Workspace,
    models: Models,
    duplicates: Duplicates,
    servers: KnownServers,
    /// Serializes undo: which change is the newest depends on the undo before.
    undoing: Arc<tokio::sync::Mutex<()>>,
}

impl Editing {
    /// Edits the cards of this library.
    pub fn new(
        workspace: Workspace,
        models: Models,
        duplicates: Duplicates,
        servers: KnownServers,
    ) -> Editing {
        Editing { workspace, models, duplicates, servers, undoing: Arc::default() }
    }

    /// Returns the cards named by a request, each once.
    fn find_cards(&self, named: &[String]) -> Result<Vec<Arc<CardRecord>>> {
        let mut records: Vec<Arc<CardRecord>> = Vec::with_capacity(named.len());
        let mut seen = HashSet::new();
        for text in named {
            let record = self.workspace.find_card(text)?;
            if seen.insert(record.id.clone()) {
                records.push(record);
            }
        }
        Ok(records)
    }

    /// Returns a card after the change that was made to it, if there was one.
    async fn card_detail(&self, id: &CardId, change: Option<String>) -> Result<CardDetail> {
        let detail = detail(&*self.workspace.library.card(id)?, &*self.workspace.library.checks().await?);
        Ok(CardDetail { change, ..detail })
    }
}

#[async_trait]
impl Handle<CreateCard> for Editing {
    async fn handle(&self, context: &Context, request: CardCreate) -> Result<CardDetail> {
        let card = card_from(request.fields)?;
        if !request.flagged_too {
            check_texts(&card, None)?;
        }
        let key = card.key();
        let meta = meta(context, Operation::Create, &request.reason, &format!("Added {key}"));
        // Without the model the card could not be compared with others by meaning.
        self.models.wait_until_ready().await;
        let vectors = self.models.embed_card(&card).await?;
        let vector = vectors.as_ref().map(PackedVectors::first);
        // Searched before the card is written, or it would be found as its own duplicate.
        let duplicates = self.duplicates.find(&card, vector).await?;
        let write = Write::Put { card: Box::new(card), mode: PutMode::Create, vectors };
        let committed = self.workspace.commit(&meta, &[write]).await?;
        let id = self.workspace.library.read(|replica| replica.by_key(&key).map(|record| record.id.clone()));
        let id = id.ok_or_else(|| ApiError::internal("the new card was not found"))?;
        let mut detail = self.card_detail(&id, committed.change).await?;
        // On a retry after a lost response the card itself is already in the library.
        let others = duplicates.iter().filter(|duplicate| duplicate.id != id);
        detail.warnings.extend(others.map(Duplicate::warning));
        Ok(detail)
    }
}

#[async_trait]
impl Handle<UpdateCard> for Editing {
    async fn handle(&self, context: &Context, request: CardUpdate) -> Result<CardDetail> {
        // A retry after a lost response: by now the card may have another name.
        if let Some(outcome) = self.workspace.library.outcome_of(context.request.as_deref()).await?
            && let Some(id) = outcome.changed.first().or(outcome.unchanged.first())
        {
            return self.card_detail(id, outcome.change.clone()).await;
        }
        let record = self.workspace.find_card(&request.card)?;
        let card = card_from(request.fields)?;
        if !request.flagged_too {
            check_texts(&card, Some(&record))?;
        }
        let meta = meta(context, Operation::Edit, &request.reason, &format!("Edited {}", record.key));
        let vectors = self.models.embed_card(&card).await?;
        let write =
            Write::Edit { id: record.id.clone(), expected: request.expected, card: Box::new(card), vectors };
        let committed = self.workspace.commit(&meta, &[write]).await?;
        self.card_detail(&record.id, committed.change).await
    }
}

/// Returns a card's fields after an edit that is made to several cards.
fn edited(mut fields: Map<String, Value>, edit: &CardsEdit) -> Map<String, Value> {
    for (field, value) in &edit.fields {
        if value.is_null() {
            fields.shift_remove(field);
        } else {
            fields.insert(field.clone(), value.clone());
        }
    }
    if edit.add_tags.is_empty() && edit.remove_tags.is_empty() {
        return fields;
    }
    let mut tags = match fields.get(fields::TAGS) {
        Some(Value::Array(tags)) => tags.clone(),
        _ => Vec::new(),
    };
    let is = |tag: &Value, all: &[String]| all.iter().any(|other| tag.as_str() == Some(other.trim()));
    tags.retain(|tag| !is(tag, &edit.remove_tags));
    for tag in &edit.add_tags {
        let tag = Value::from(tag.trim());
        if tag != "" && !tags.contains(&tag) {
            tags.push(tag);
        }
    }
    if tags.is_empty() {
        fields.shift_remove(fields::TAGS);
    } else {
        fields.insert(fields::TAGS.to_owned(), Value::Array(tags));
    }
    fields
}

#[async_trait]
impl Handle<EditCards> for Editing {
    async fn handle(&self, context: &Context, request: CardsEdit) -> Result<CardChange> {
        let changed =
            |committed: Committed| CardChange { change: committed.change, cards: committed.changed };
        // A retry after a lost response: the cards may have other names by now.
        if let Some(outcome) = self.workspace.library.outcome_of(context.request.as_deref()).await? {
            return Ok(changed(outcome));
        }
        if request.fields.contains_key(fields::NAME) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "several cards cannot have one name",
                "Edit the card itself to rename it.",
            ));
        }
        let (mut edits, mut writes) = (Vec::new(), Vec::new());
        for record in self.find_cards(&request.cards)? {
            let before = record.card();
            let card = card_from(edited(before.object().clone(), &request)).map_err(|error| ApiError {
                message: format!("{}: {}", record.key, error.message),
                ..error
            })?;
            if card == before {
                continue;
            }
            if !request.flagged_too {
                check_texts(&card, Some(&record))?;
            }
            // The revision it was computed from: another edit in between is not overwritten.
            let expected = Some(record.number);
            writes.push(Write::Edit { id: record.id.clone(), expected, card: Box::new(card), vectors: None });
            edits.push(record);
        }
        if writes.is_empty() {
            return Ok(CardChange { change: None, cards: Vec::new() });
        }
        let what = named(edits.iter().map(Arc::as_ref));
        let meta = meta(context, Operation::Edit, &request.reason, &format!("Edited {what}"));
        let committed = self.workspace.commit(&meta, &writes).await?;
        self.models.refresh(&committed.changed).await?;
        Ok(changed(committed))
    }
}

#[async_trait]
impl Handle<DeleteCards> for Editing {
    async fn handle(&self, context: &Context, request: CardsDelete) -> Result<CardChange> {
        // A retry after a lost response: the cards are already deleted.
        if let Some(outcome) = self.workspace.library.outcome_of(context.request.as_deref()).await? {
            return Ok(removed(outcome));
        }
        let records = self.find_cards(&request.cards)?;
        let what = named(records.iter().map(Arc::as_ref));
        let meta = meta(context, Operation::Delete, &request.reason, &format!("Removed {what}"));
        let writes: Vec<Write> =
            records.iter().map(|record| Write::Delete { id: record.id.clone() }).collect();
        let committed = self.workspace.commit(&meta, &writes).await?;
        self.servers.unbind_removed(&records).await?;
        Ok(removed(committed))
    }
}

/// Names the cards of a change: one by its name, several by their number.
fn named<'a>(records: impl ExactSizeIterator<Item = &'a CardRecord>) -> String {
    let count = records.len();
    match records.into_iter().next() {
        Some(one) if count == 1 => one.key.to_string(),
        _ => format!("{count} cards"),
    }
}

fn removed(committed: Committed) -> CardChange {
    CardChange { change: committed.change, cards: committed.deleted }
}

#[async_trait]
impl Handle<GetHistory> for Editing {
    async fn handle(&self, _: &Context, request: CardRef) -> Result<Vec<RevisionView>> {
        // A deleted card is no longer found by name; its id still has a history.
        let id = self
            .workspace
            .find_card(&request.card)
            .map_or_else(|_| CardId::new(&request.card), |record| record.id.clone());
        let revisions = self.workspace.library.history(&id).await?;
        let object = |body: &Option<String>| -> Result<Option<Map<String, Value>>> {
            body.as_deref()
                .map(|text| serde_json::from_str(text).map_err(|error| ApiError::internal(error.to_string())))
                .transpose()
        };
        let empty = Map::new();
        let mut views = Vec::with_capacity(revisions.len());
        for (index, revision) in revisions.iter().enumerate() {
            let fields = object(&revision.body)?;
            // Newest first: the revision before this one comes next.
            let before = revisions.get(index + 1).map(|older| object(&older.body)).transpose()?.flatten();
            let diff = diff_cards(before.as_ref().unwrap_or(&empty), fields.as_ref().unwrap_or(&empty));
            views.push(RevisionView {
                number: revision.number,
                operation: revision.operation,
                author: revision.author.0.clone(),
                reason: revision.reason.clone(),
                at: revision.at,
                fields,
                diff,
            });
        }
        Ok(views)
    }
}

#[async_trait]
impl Handle<RestoreCard> for Editing {
    async fn handle(&self, context: &Context, request: CardRestore) -> Result<CardDetail> {
        let id = self
            .workspace
            .find_card(&request.card)
            .map_or_else(|_| CardId::new(&request.card), |record| record.id.clone());
        let author = Author(context.author.clone());
        let committed =
            self.workspace.library.restore(&id, request.number, author, context.request.clone()).await?;
        self.models.refresh(std::slice::from_ref(&id)).await?;
        self.workspace.notify_library_changed();
        self.card_detail(&id, committed.change).await
    }
}

impl Editing {
    /// Undoes or redoes a change: the named one, or the newest.
    async fn step_through(
        &self,
        direction: Direction,
        change: Option<String>,
        context: &Context,
    ) -> Result<UndoOutcome> {
        let library = &self.workspace.library;
        let done = {
            let _undoing = self.undoing.lock().await;
            // A retry after a lost response: by now another change is the newest one.
            if let Some(outcome) = library.outcome_of(context.request.as_deref()).await? {
                let by = outcome.change.unwrap_or_default();
                let target = library.target_of(&by).await?;
                let (change, reason) = target
                    .clone()
                    .unwrap_or_else(|| (change.unwrap_or_default(), "the last change".to_owned()));
                return Ok(UndoOutcome {
                    change,
                    undo: (direction == Direction::Undo && target.is_some()).then_some(by),
                    reason,
                    cards: [outcome.added, outcome.changed, outcome.deleted].concat(),
                    kept: Vec::new(),
                });
            }
            let (author, request) = (Author(context.author.clone()), context.request.clone());
            match direction {
                Direction::Undo => {
                    let newest = library.undoable().await?.map(|(change, _)| change);
                    let change = change.or(newest).ok_or_else(|| ApiError {
                        remedy: "Undo an import under Bundles, Imports.".to_owned(),
                        ..LibraryError::NothingToUndo.into()
                    })?;
                    library.undo(&change, author, request).await?
                }
                Direction::Redo => {
                    let newest = library.redoable().await?.map(|(undo, _)| undo);
                    let undo = change.or(newest).ok_or(LibraryError::NothingToRedo)?;
                    library.redo(&undo, author, request).await?
                }
            }
        };
        self.servers.unbind(&done.cards).await?;
        self.models.refresh(&done.cards).await?;
        self.workspace.notify_library_changed();
        // Proposals whose acceptance was undone are pending again, or accepted again.
        self.workspace.notify_proposals_changed().await?;
        Ok(UndoOutcome {
            change: done.change,
            undo: done.by.filter(|_| direction == Direction::Undo),
            reason: done.reason,
            cards: done.cards,
            kept: done.kept,
        })
    }
}

#[async_trait]
impl Handle<Undo> for Editing {
    async fn handle(&self, context: &Context, request: UndoRequest) -> Result<UndoOutcome> {
        self.step_through(Direction::Undo, request.change, context).await
    }
}

#[async_trait]
impl Handle<Redo> for Editing {
    async fn handle(&self, context: &Context, request: RedoRequest) -> Result<UndoOutcome> {
        self.step_through(Direction::Redo, request.undo, context).await
    }
}

#[async_trait]
impl Handle<UndoImport> for Editing {
    async fn handle(&self, context: &Context, request: ImportRef) -> Result<UndoOutcome> {
        self.step_through(Direction::Undo, Some(request.import), context).await
    }
}
