//! Import of cards from other sources: the preview, and the import itself.
//!
//! | module | contents |
//! |---|---|
//! | [`plan`] | how each card of a source compares with the library |
//! | [`preview`] | the plan, page by page |
//! | [`options`] | what the person chose |
//! | [`batch`] | the cards to write and the proposals to make, given those choices |
//! | [`vectors`] | embeddings that came with the source, and whether they can be trusted |

mod batch;
pub(crate) mod options;
mod plan;
mod preview;
mod vectors;

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Instant;

use async_trait::async_trait;
use autokit_api::commands::{Context, Handle, ListImports, LoadStarter, PreviewImport, StartImport};
use autokit_api::{
    ExistingCards, ImportNote, ImportPreview, ImportPreviewRequest, ImportRequest, ImportSource, ImportView,
    JobKind, JobRef, JobTally, Landing, Nothing, Trust,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{LibraryImport, PackedVectors};
use autokit_toolcard::{Author, CardKey, Kind, MatchKey};
use autokit_upstream::servers::KnownServers;
use autokit_workspace::background::in_background;
use autokit_workspace::jobs::{Outcome, Progress};
use autokit_workspace::models::Models;
use autokit_workspace::workspace::Workspace;
use batch::ImportBatch;
use options::ImportOptions;
use plan::{ImportPlan, PlanCache};

use crate::catalogue::PAGE_ROWS;
use crate::duplicates::Duplicates;
use crate::incoming::SourceContents;
use crate::keys::SignedBy;
use crate::sources::Sources;
use crate::vocabulary::{NamesAndSynonyms, parse_entries};

/// Imports cards. Clones share state.
#[derive(Clone, Debug)]
pub struct Imports {
    workspace: Workspace,
    models: Models,
    duplicates: Duplicates,
    sources: Sources,
    servers: KnownServers,
    names: NamesAndSynonyms,
    plans: Arc<Mutex<PlanCache>>,
}

impl Imports {
    /// Imports cards into this library.
    pub fn new(
        workspace: Workspace,
        models: Models,
        duplicates: Duplicates,
        sources: Sources,
        servers: KnownServers,
        names: NamesAndSynonyms,
    ) -> Imports {
        Imports { workspace, models, duplicates, sources, servers, names, plans: Arc::default() }
    }

    /// Loads the starter cards that ship with AutoKit, in the background.
    pub fn start_starter(&self) -> JobRef {
        let imports = self.clone();
        self.workspace.jobs.start(
            JobKind::Starter,
            "Loading the starter cards",
            "cards",
            |progress| async move {
                let at = imports.workspace.clock.stamp();
                let options = ImportOptions {
                    existing: ExistingCards::Keep,
                    landing: Landing::Library,
                    flagged_too: true,
                    choices: HashMap::new(),
                    reason: "Loaded the starter cards".to_owned(),
                    by: Author::autokit(),
                    at,
                };
                let read = in_background(crate::starter::cards).await?;
                let incoming = Arc::new(SourceContents::from_starter(read, &options.by, at));
                imports.run_import(incoming, options, None, &progress).await
            },
        )
    }

    /// Carries out an import, all or nothing.
    pub(crate) async fn run_import(
        &self,
        incoming: Arc<SourceContents>,
        options: ImportOptions,
        request: Option<String>,
        progress: &Progress,
    ) -> Result<Outcome> {
        // Without this, cards imported while the model loads would have to be embedded later.
        self.models.wait_until_ready().await;
        let began = Instant::now();
        let plan = self.plan(Arc::clone(&incoming)).await?;
        tracing::debug!(ms = began.elapsed().as_millis() as u64, "import planned");
        let (library, planned) = (Arc::clone(&self.workspace.library), Arc::clone(&plan));
        let options = Arc::new(options);
        let plan_options = Arc::clone(&options);
        let mut batch = in_background(move || planned.batch(&plan_options, &library)).await?;
        progress.set_done(0, batch.arrivals.len() as u64);
        self.set_vectors(&incoming, &mut batch, progress).await?;
        tracing::debug!(ms = began.elapsed().as_millis() as u64, "import vectors ready");
        // Searched before the cards are written, or they would be found as their own duplicates.
        let similar = self.similar_imports(&plan, &batch).await?;
        // The preview's caches are not needed any more: a large source is not kept in memory beside what is
        // made of it.
        self.sources.clear();
        self.plans.lock().expect("no holder panics").clear();
        drop(plan);
        let count = (batch.arrivals.len() + batch.drafts.len()) as u32;
        let note = ImportNote {
            source: incoming.source.clone(),
            name: incoming.about.name.clone(),
            author: incoming.about.author.clone(),
            digest: incoming.digest.clone(),
            fingerprint: incoming.signature.as_ref().map_or_else(String::new, |s| s.key.fingerprint()),
            at: options.at,
            by: options.by.0.clone(),
            cards: count,
        };
        let (rejected, seen) = (incoming.rejected.len() as u32, SignedBy::of(&incoming));
        drop(incoming);
        let import = LibraryImport {
            note: serde_json::to_string(&note).map_err(|error| ApiError::internal(error.to_string()))?,
            reason: options.reason.clone(),
            cards: batch.arrivals,
            drafts: batch.drafts,
            foreign: batch.foreign,
            request,
        };
        let keep_going = |_| !progress.is_cancelled();
        let imported = self.workspace.library.import_cards(import, &options.by, &keep_going).await?;
        tracing::debug!(ms = began.elapsed().as_millis() as u64, "import written and indexed");
        if imported.import.is_some() {
            self.workspace.notify_library_changed();
            self.workspace.notify_proposals_changed().await?;
            self.sources.keys.remember_key(&seen).await?;
        }
        // Each card counts once. One that changes may have fields in conflict that wait in Review as well, and a
        // proposal that was pending already leaves its card unchanged.
        let ignored: HashSet<u32> = imported.ignored.into_iter().collect();
        let (mut proposed, mut conflicting, mut unchanged) = (0, 0, batch.unchanged);
        for (at, beside_arrival) in batch.beside_arrival.iter().enumerate() {
            match (ignored.contains(&(at as u32)), beside_arrival) {
                (false, false) => proposed += 1,
                (false, true) => conflicting += 1,
                (true, false) => unchanged += 1,
                (true, true) => {}
            }
        }
        let tally = JobTally {
            added: imported.added.len() as u32,
            changed: imported.changed.len() as u32,
            unchanged,
            rejected: rejected + batch.invalid,
            proposed,
            conflicting,
            similar: similar.len() as u32,
            change: imported.import.clone(),
        };
        Ok(Outcome { summary: summary(&tally, &similar), tally: Some(tally) })
    }

    /// Returns the new cards that may already be in the library under another name, each with that card.
    async fn similar_imports(
        &self,
        plan: &Arc<ImportPlan>,
        batch: &ImportBatch,
    ) -> Result<Vec<(String, String)>> {
        let new = batch.arrivals.iter().zip(&batch.from).filter(|(arrival, _)| arrival.expected.is_none());
        let new: Vec<(usize, Option<Vec<f32>>)> =
            new.map(|(arrival, at)| (*at, arrival.vectors.as_ref().map(PackedVectors::first))).collect();
        let (duplicates, plan) = (self.duplicates.clone(), Arc::clone(plan));
        in_background(move || {
            let mut similar = Vec::new();
            // Cards of the same source are compared with each other by their descriptions only.
            let mut descriptions: HashMap<MatchKey, String> = HashMap::new();
            for (at, vector) in new {
                let card = &plan.incoming.entries[at].card;
                let name = card.key().to_string();
                // Operations of one API and tools of one server often share the same sentence.
                let is_distinctive = !matches!(card.kind(), Kind::RestOperation | Kind::McpTool);
                let text = card
                    .match_keys()
                    .into_iter()
                    .find(|key| is_distinctive && matches!(key, MatchKey::Description(_)));
                let in_source = text.and_then(|text| match descriptions.entry(text) {
                    Entry::Occupied(first) => Some(first.get().clone()),
                    Entry::Vacant(free) => {
                        free.insert(name.clone());
                        None
                    }
                });
                let known = match (plan.planned[at].similar.first(), vector) {
                    (Some(known), _) => Some(known.key.to_string()),
                    (None, Some(vector)) if in_source.is_none() => {
                        duplicates.nearest_in_meaning(card, vector)?.map(|known| known.key.to_string())
                    }
                    (None, _) => None,
                };
                similar.extend(known.or(in_source).map(|known| (name, known)));
            }
            Ok(similar)
        })
        .await
    }
}

/// Most cards named in a summary as possible duplicates.
const MAX_NAMES: usize = 3;

fn summary(tally: &JobTally, similar: &[(String, String)]) -> String {
    let parts: Vec<String> = [
        (tally.added, "added"),
        (tally.changed, "changed"),
        (tally.conflicting, "of them with fields pending review"),
        (tally.proposed, "pending review"),
        (tally.unchanged, "unchanged"),
        (tally.rejected, "rejected"),
    ]
    .iter()
    .filter(|(count, _)| *count > 0)
    .map(|(count, what)| format!("{count} {what}"))
    .collect();
    let text = if parts.is_empty() { "No cards".to_owned() } else { parts.join(", ") };
    if similar.is_empty() {
        return text;
    }
    let named: Vec<String> =
        similar.iter().take(MAX_NAMES).map(|(new, known)| format!("{new} (as {known})")).collect();
    let more = match similar.len().saturating_sub(MAX_NAMES) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{text}; possible duplicates: {}{more}", named.join(", "))
}

#[async_trait]
impl Handle<PreviewImport> for Imports {
    async fn handle(&self, context: &Context, request: ImportPreviewRequest) -> Result<ImportPreview> {
        if request.limit > PAGE_ROWS {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{} items requested, but a page has at most {PAGE_ROWS}", request.limit),
                "Request the next page with `offset`.",
            ));
        }
        let incoming = self.sources.read(request.source, &context.author).await?;
        let plan = self.plan(incoming).await?;
        let signature = self.sources.keys.signature_view(&plan.incoming).await?;
        in_background(move || Ok(plan.preview(request.status, request.offset, request.limit, signature)))
            .await
    }
}

/// Returns the name of a source for the title of a job.
fn source_name(source: &ImportSource, incoming: &SourceContents) -> String {
    let named = Some(&incoming.about.name).filter(|name| !name.trim().is_empty());
    match (source, named) {
        (_, Some(name)) => name.clone(),
        (ImportSource::Path(path) | ImportSource::Url(path), None) => {
            let end = path.trim_end_matches('/').rsplit(['/', '\\']).next();
            end.filter(|name| !name.is_empty()).unwrap_or(path).to_owned()
        }
        (ImportSource::Text(_), None) => "pasted text".to_owned(),
    }
}

#[async_trait]
impl Handle<StartImport> for Imports {
    async fn handle(&self, context: &Context, request: ImportRequest) -> Result<JobRef> {
        let incoming = self.sources.read(request.source.clone(), &context.author).await?;
        if let Some(digest) = request.digest.as_ref().filter(|digest| **digest != incoming.digest) {
            tracing::info!(%digest, found = %incoming.digest, "source changed after the preview");
            return Err(ApiError::new(
                ErrorCode::Conflict,
                "the source changed after the preview",
                "Open the preview again, then import.",
            ));
        }
        let signature = self.sources.keys.signature_view(&incoming).await?;
        if request.landing == Landing::Library && matches!(signature.trust, Trust::Stripped | Trust::OtherKey)
        {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                "earlier bundles by this author were signed with a different key",
                "Check with the author. Importing into Review is safe: nothing changes until you accept it.",
            ));
        }
        let from = source_name(&request.source, &incoming);
        let by = Some(incoming.about.author.trim()).filter(|author| !author.is_empty());
        let reason = match (request.reason.trim(), by) {
            ("", Some(author)) => format!("Imported {from} by {author}"),
            ("", None) => format!("Imported {from}"),
            (reason, _) => reason.to_owned(),
        };
        let options = ImportOptions {
            existing: request.existing,
            landing: request.landing,
            flagged_too: false,
            choices: request.choices.into_iter().map(|choice| (choice.position, choice)).collect(),
            reason,
            by: Author(context.author.clone()),
            at: self.workspace.clock.stamp(),
        };
        let (imports, key) = (self.clone(), context.request.clone());
        let keys: Vec<CardKey> = incoming.entries.iter().map(|entry| entry.card.key()).collect();
        let title = format!("Importing {from}");
        let (entries, by) = (parse_entries(&incoming.names, &incoming.synonyms).0, options.by.clone());
        let names = (request.vocabulary && !entries.is_empty()).then(|| self.names.clone());
        Ok(self.workspace.jobs.start(JobKind::Import, &title, "cards", |progress| async move {
            let outcome = imports.run_import(incoming, options, key, &progress).await?;
            let of_key = |key: &CardKey| {
                imports.workspace.library.read(|replica| Some(replica.by_key(key)?.id.clone()))
            };
            imports.servers.request_rescan(&keys.iter().filter_map(of_key).collect::<Vec<_>>()).await?;
            if let Some(names) = names {
                let added = names.add_from_bundle(&from, entries, &by).await?;
                let summary = format!("{}; {added} names and synonyms added", outcome.summary);
                return Ok(Outcome { summary, ..outcome });
            }
            Ok(outcome)
        }))
    }
}

#[async_trait]
impl Handle<LoadStarter> for Imports {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<JobRef> {
        Ok(self.start_starter())
    }
}

#[async_trait]
impl Handle<ListImports> for Imports {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<ImportView>> {
        let imports = self.workspace.library.imports().await?;
        imports
            .into_iter()
            .map(|import| {
                let note = serde_json::from_str(&import.note)
                    .map_err(|error| ApiError::internal(format!("import {}: {error}", import.import)))?;
                Ok(ImportView { import: import.import, undone: import.undone, note })
            })
            .collect()
    }
}
