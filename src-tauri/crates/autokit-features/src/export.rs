//! Export of cards as a bundle or in another format, and a preview of it.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io::{BufWriter, Write};
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use autokit_api::commands::{Context, Export, Handle, PreviewExport, SignBundle};
use autokit_api::{
    BundlePath, EntryKind, ExportOutcome, ExportPreview, ExportRequest, Format, ImportSource, SecretFound,
};
use autokit_bundle::{
    BundleCard, BundleContents, BundleInfo, PastRevision, Provenance, RevisionMeta, SigningKey, VectorModel,
    secrets_in_bundle,
};
use autokit_bundle::{formats, limits};
use autokit_error::{ApiError, ErrorCode, Result, file_problem};
use autokit_library::CardRecord;
use autokit_toolcard::{CardId, LineageEntry, Operation, RevisionId, Toolcard, write_cards};
use autokit_workspace::background::in_background;
use autokit_workspace::models::Models;
use autokit_workspace::workspace::Workspace;

use crate::catalogue::Catalogue;
use crate::keys::comparable_name;
use crate::sources::Sources;

/// Most names of cards in a preview.
const MAX_NAMES: usize = 200;

/// Exports cards. Clones share state.
#[derive(Clone, Debug)]
pub struct Exports {
    workspace: Workspace,
    models: Models,
    catalogue: Catalogue,
    sources: Sources,
}

impl Exports {
    /// Exports the cards of this library.
    pub fn new(workspace: Workspace, models: Models, catalogue: Catalogue, sources: Sources) -> Exports {
        Exports { workspace, models, catalogue, sources }
    }

    /// Returns the cards a request selects. For a bundle they are sorted by id.
    async fn select_cards(&self, request: &ExportRequest) -> Result<Vec<Arc<CardRecord>>> {
        let mut records: Vec<Arc<CardRecord>> = match &request.cards {
            Some(cards) => cards.iter().map(|card| self.workspace.find_card(card)).collect::<Result<_>>()?,
            None => self.catalogue.select(&request.query).await?.to_vec(),
        };
        // An unknown name is an error: a misspelt exclusion would let that card be exported.
        let without: HashSet<CardId> = request
            .without
            .iter()
            .map(|card| self.workspace.find_card(card).map(|record| record.id.clone()))
            .collect::<Result<_>>()?;
        records.retain(|record| !without.contains(&record.id));
        if matches!(request.format, Format::Bundle | Format::Folder) {
            // The same cards make the same bundle, whatever order they were listed in.
            records.sort_by(|a, b| a.id.cmp(&b.id));
            records.dedup_by(|a, b| a.id == b.id);
        }
        Ok(records)
    }

    /// Builds the contents of a bundle of these cards.
    async fn contents(
        &self,
        records: &[Arc<CardRecord>],
        request: &ExportRequest,
        author: &str,
    ) -> Result<BundleContents> {
        let ids: Vec<CardId> = records.iter().map(|record| record.id.clone()).collect();
        let mut lineages = self.workspace.library.lineages(&ids).await?;
        let mut provenances = self.workspace.library.provenances(&ids).await?;
        let embedder = if request.vectors {
            self.models.wait_until_ready().await;
            let missing = || {
                ApiError::new(
                    ErrorCode::BadRequest,
                    "exporting vectors needs an embedding model, and none is installed",
                    "Export without vectors, or check the model in Settings, Embedding model.",
                )
            };
            Some(self.models.embedder().ok_or_else(missing)?)
        } else {
            None
        };
        let mut vectors: HashMap<CardId, (u32, Vec<f32>)> = HashMap::new();
        if let Some(embedder) = &embedder {
            let stored = self.workspace.library.vectors(&autokit_search::vector_recipe(embedder)).await?;
            // Others do not have what was added here about names: those vectors they compute themselves.
            let portable = stored.into_iter().filter(|one| one.names.is_none());
            vectors.extend(portable.map(|one| (one.card, (one.number, one.values))));
        }
        let mut cards = Vec::with_capacity(records.len());
        for (at, record) in records.iter().enumerate() {
            let lineage = lineages.remove(&record.id).unwrap_or_default();
            let provenance = provenances.remove(&record.id);
            let mut entry = bundle_card(at + 1, record, lineage, provenance.as_deref(), request.history)?;
            let current = vectors.remove(&record.id).filter(|(number, _)| *number == record.number);
            entry.vectors = current.map(|(_, values)| values);
            cards.push(entry);
        }
        let (mut names, mut synonyms) = (Vec::new(), Vec::new());
        if request.vocabulary {
            for added in self.workspace.library.vocabulary().await? {
                let list = match added.entry.kind() {
                    EntryKind::Name => &mut names,
                    EntryKind::Synonym => &mut synonyms,
                };
                list.push(added.entry.to_string());
            }
            let (count, most) = (names.len() + synonyms.len(), limits::VOCABULARY);
            if count > most {
                return Err(ApiError::new(
                    ErrorCode::BadRequest,
                    format!("{count} names and synonyms were added; a bundle holds at most {most}"),
                    "Export without names and synonyms, or remove some of them.",
                ));
            }
        }
        Ok(BundleContents {
            names,
            synonyms,
            about: BundleInfo {
                name: export_name(request),
                author: author.to_owned(),
                created_at: Some(self.workspace.clock.stamp()),
                licence: request.licence.clone().filter(|licence| !licence.trim().is_empty()),
                note: request.note.trim().to_owned(),
            },
            vectors: embedder.map(|embedder| VectorModel {
                model: autokit_search::vector_recipe(&embedder),
                dim: embedder.dim() as u32,
            }),
            cards,
            history: request.history,
        })
    }

    /// Makes an export continue the bundle already in its folder, as version control does: versions of
    /// others that this library has not seen are not overwritten, and the date stays if nothing changes.
    async fn continue_folder(&self, path: &str, contents: &mut BundleContents) -> Result<()> {
        let folder = Path::new(path).to_owned();
        // An unreadable folder is left to the writer: it may hold no bundle, or an unfinished one.
        let existing = in_background(move || Ok(autokit_bundle::read_folder(&folder).ok())).await?;
        let Some(existing) = existing else { return Ok(()) };
        let ids: Vec<CardId> = existing.contents.cards.iter().map(|entry| entry.id.clone()).collect();
        let lineages = self.workspace.library.lineages(&ids).await?;
        let is_ours = |entry: &BundleCard| {
            let names = lineages.get(&entry.id).into_iter().flatten();
            let mut names = names.flat_map(|named| std::iter::once(&named.id).chain(&named.revision.merged));
            names.any(|id| *id == entry.revision.id)
        };
        let others: Vec<&BundleCard> =
            existing.contents.cards.iter().filter(|entry| !is_ours(entry)).collect();
        let states: Vec<RevisionId> = others.iter().map(|entry| entry.revision.id.clone()).collect();
        let seen = self.workspace.library.foreign_states(&states).await?;
        let unseen: Vec<&&BundleCard> =
            others.iter().filter(|entry| !seen.contains_key(&entry.revision.id)).collect();
        if let Some(first) = unseen.first() {
            let more = match unseen.len() - 1 {
                0 => String::new(),
                more => format!(" and of {more} more"),
            };
            return Err(ApiError::new(
                ErrorCode::Conflict,
                format!(
                    "{path} contains a version of `{}`{more} that this library has never imported",
                    first.card.name()
                ),
                "Import the folder first, then export into it again.",
            ));
        }
        let (old, new) = (&existing.contents.about, &contents.about);
        let same_info = (&old.name, &old.licence, &old.note) == (&new.name, &new.licence, &new.note);
        if same_info && have_same_content(&existing.contents, contents) {
            contents.about = existing.contents.about;
        }
        Ok(())
    }
}

/// Returns whether two bundles hold the same cards with the same history.
fn have_same_content(a: &BundleContents, b: &BundleContents) -> bool {
    let same = |(a, b): (&BundleCard, &BundleCard)| {
        a.id == b.id
            && a.revision == b.revision
            && a.ancestors == b.ancestors
            && a.history == b.history
            && a.provenance == b.provenance
            && a.vectors == b.vectors
            && a.card.to_json() == b.card.to_json()
    };
    let shape = |contents: &BundleContents| {
        let vocabulary = (contents.names.clone(), contents.synonyms.clone());
        (contents.history, contents.vectors.clone(), contents.cards.len(), vocabulary)
    };
    shape(a) == shape(b) && a.cards.iter().zip(&b.cards).all(same)
}

/// Returns the name of an export: the one given, or else that of its file.
fn export_name(request: &ExportRequest) -> String {
    let name = request.name.trim();
    let stem = request.path.as_deref().and_then(|path| Path::new(path).file_stem());
    match stem {
        Some(stem) if name.is_empty() => stem.to_string_lossy().into_owned(),
        _ => name.to_owned(),
    }
}

/// Builds the bundle entry of a card.
fn bundle_card(
    position: usize,
    record: &CardRecord,
    mut lineage: Vec<LineageEntry>,
    saved_provenance: Option<&str>,
    history: bool,
) -> Result<BundleCard> {
    let newest = lineage
        .pop()
        .ok_or_else(|| ApiError::internal(format!("card {} has no revision to export", record.id)))?;
    let deleted = lineage.iter().rposition(|named| named.revision.body.is_none());
    let oldest = deleted.map(|at| lineage.get(at + 1).unwrap_or(&newest));
    // A card created again after it was deleted originates here, wherever the deleted one came from.
    let created_here = oldest.filter(|oldest| oldest.revision.operation == Operation::Create);
    let first = created_here.or(lineage.first()).unwrap_or(&newest);
    let provenance = match saved_provenance.filter(|_| created_here.is_none()) {
        Some(text) => serde_json::from_str(text)
            .map_err(|error| ApiError::internal(format!("the provenance of {}: {error}", record.id)))?,
        None => Provenance {
            author: first.revision.author.clone(),
            at: first.revision.at,
            operation: first.revision.operation,
            licence: licence_of(&record.card()),
        },
    };
    let mut revision = RevisionMeta::of(&newest.revision, newest.id);
    let (mut ancestors, mut past) = (Vec::new(), Vec::new());
    if history {
        for named in lineage {
            let Some(body) = named.revision.body.clone() else { continue };
            past.push(PastRevision { revision: RevisionMeta::of(&named.revision, named.id), body });
        }
    } else {
        // The ids of all earlier revisions: enough to tell which of two cards is ahead.
        ancestors.append(&mut revision.merged);
        for named in lineage.into_iter().rev() {
            ancestors.push(named.id);
            ancestors.extend(named.revision.merged);
        }
        let mut seen: HashSet<RevisionId> = HashSet::new();
        ancestors.retain(|id| seen.insert(id.clone()));
    }
    Ok(BundleCard {
        position,
        id: record.id.clone(),
        card: record.card(),
        revision,
        ancestors,
        history: past,
        provenance,
        vectors: None,
        warnings: Vec::new(),
    })
}

/// Returns the licence a card names itself, under either spelling of the field.
fn licence_of(card: &Toolcard) -> Option<String> {
    ["licence", "license"].iter().find_map(|field| card.text(field)).map(str::to_owned)
}

fn export_error(error: &autokit_bundle::Error, place: &str) -> ApiError {
    match error {
        autokit_bundle::Error::Secrets(secrets) => {
            let remedy = if secrets.iter().all(|secret| secret.card.as_str().is_empty()) {
                "Remove the secret from the description of the export."
            } else {
                "Remove the secret from the card, or export without the card. If it is in the history, export without history."
            };
            ApiError::new(ErrorCode::Invalid, error.to_string(), remedy)
        }
        autokit_bundle::Error::Io(error) => unwritable(place, error),
        other => {
            ApiError::new(ErrorCode::BadRequest, format!("{place}: {other}"), "Choose another location.")
        }
    }
}

fn unwritable(place: &str, error: &std::io::Error) -> ApiError {
    let code = match error.kind() {
        std::io::ErrorKind::StorageFull => ErrorCode::DiskFull,
        // The library is not at fault: the person chose the path.
        _ => ErrorCode::BadRequest,
    };
    ApiError::new(code, format!("{place}: {}", file_problem(error)), "Choose another location.")
}

fn to_api_secrets(secrets: Vec<autokit_bundle::Secret>) -> Vec<SecretFound> {
    let view = |secret: autokit_bundle::Secret| SecretFound {
        card: secret.card,
        name: secret.name,
        field: secret.field,
        kind: secret.kind.to_owned(),
        in_history: secret.in_history,
    };
    secrets.into_iter().map(view).collect()
}

#[async_trait]
impl Handle<PreviewExport> for Exports {
    async fn handle(&self, context: &Context, request: ExportRequest) -> Result<ExportPreview> {
        let records = self.select_cards(&request).await?;
        let contents = self.contents(&records, &request, &context.author).await?;
        in_background(move || {
            let cards = &contents.cards;
            let text = |entry: &BundleCard| {
                let past: usize = entry.history.iter().map(|past| past.body.len()).sum();
                let vectors = entry.vectors.as_ref().map_or(0, |values| values.len() * 16 / 3);
                (entry.card.to_json().len() + past + vectors) as u64
            };
            Ok(ExportPreview {
                cards: cards.len() as u32,
                revisions: cards.iter().map(|entry| entry.history.len() as u32).sum(),
                vectors: cards.iter().filter(|entry| entry.vectors.is_some()).count() as u32,
                bytes: cards.iter().map(text).sum(),
                names: cards.iter().take(MAX_NAMES).map(|entry| entry.card.name().to_owned()).collect(),
                vocabulary: (contents.names.len() + contents.synonyms.len()) as u32,
                secrets: to_api_secrets(secrets_in_bundle(&contents)),
            })
        })
        .await
    }
}

#[async_trait]
impl Handle<Export> for Exports {
    async fn handle(&self, context: &Context, request: ExportRequest) -> Result<ExportOutcome> {
        let records = self.select_cards(&request).await?;
        if records.is_empty() && request.path.is_some() {
            // Nothing is written, so an older export stays as it is.
            let (message, remedy) = if self.workspace.library.read(autokit_library::Replica::is_empty) {
                ("the library is empty; nothing was written", "Import a file in the Library first.")
            } else {
                (
                    "no card matches; nothing was written",
                    "Check the filter, or find the cards in the Library.",
                )
            };
            return Err(ApiError::new(ErrorCode::NotFound, message, remedy));
        }
        let bundled = matches!(request.format, Format::Bundle | Format::Folder);
        // Other formats cannot hold these, so none is exported (or scanned for secrets).
        let history = request.history && bundled;
        let request_with_options = ExportRequest {
            history,
            vectors: request.vectors && bundled,
            vocabulary: request.vocabulary && bundled,
            ..request.clone()
        };
        let mut contents = self.contents(&records, &request_with_options, &context.author).await?;
        if let (Format::Folder, Some(path)) = (request.format, &request.path) {
            self.continue_folder(path, &mut contents).await?;
        }
        let key = if bundled && request.sign { Some(self.sources.keys.signing_key().await?) } else { None };
        in_background(move || write(&request, &contents, key.as_ref())).await
    }
}

#[async_trait]
impl Handle<SignBundle> for Exports {
    async fn handle(&self, context: &Context, request: BundlePath) -> Result<ExportOutcome> {
        let source = ImportSource::Path(request.path.clone());
        let incoming = self.sources.read(source, &context.author).await?;
        if !incoming.bundled || !incoming.rejected.is_empty() {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{} is not a bundle, or contains unreadable cards", request.path),
                "Export a bundle and sign it.",
            ));
        }
        let author = &incoming.about.author;
        if !author.is_empty() && comparable_name(author) != comparable_name(&context.author) {
            // A signature says whose bundle it is: readers would take this key for the author's.
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{} is by {author:?}, and only its author can sign it", request.path),
                "Import it, then export it as your own.",
            ));
        }
        let key = self.sources.keys.signing_key().await?;
        let request =
            ExportRequest { path: Some(request.path), format: incoming.format, ..ExportRequest::default() };
        in_background(move || {
            let contents = BundleContents {
                about: incoming.about.clone(),
                cards: incoming.entries.clone(),
                history: incoming.history,
                vectors: incoming.vectors.clone(),
                names: incoming.names.clone(),
                synonyms: incoming.synonyms.clone(),
            };
            write(&request, &contents, Some(&key))
        })
        .await
    }
}

fn write(
    request: &ExportRequest,
    contents: &BundleContents,
    key: Option<&SigningKey>,
) -> Result<ExportOutcome> {
    let mut outcome = ExportOutcome {
        cards: contents.cards.len() as u32,
        path: request.path.clone(),
        text: None,
        digest: String::new(),
        fingerprint: key.map_or_else(String::new, |key| key.public().fingerprint()),
    };
    let path = request.path.as_deref();
    match (request.format, path) {
        (Format::Folder, Some(path)) => {
            let digest = autokit_bundle::write_folder(Path::new(path), contents, key);
            outcome.digest = digest.map_err(|error| export_error(&error, path))?;
        }
        (Format::Bundle, Some(path)) => {
            let mut digest = String::new();
            replace_file(Path::new(path), |out| {
                digest = autokit_bundle::write_file(out, contents, key)?;
                Ok(())
            })
            .map_err(|error| export_error(&error, path))?;
            outcome.digest = digest;
        }
        (Format::Folder | Format::Bundle, None) => {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "a bundle cannot be printed as text",
                "Choose a file or folder to write to.",
            ));
        }
        (Format::McpServers | Format::ServerJson | Format::OpenApi | Format::RapidApi, _) => {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "this format can only be imported",
                "Export as a bundle, JSON, CSV, Markdown or HTML.",
            ));
        }
        (format, path) => {
            let secrets = secrets_in_bundle(contents);
            if !secrets.is_empty() {
                return Err(export_error(&autokit_bundle::Error::Secrets(secrets), path.unwrap_or_default()));
            }
            let cards: Vec<Toolcard> = contents.cards.iter().map(|entry| entry.card.clone()).collect();
            let Some(path) = path else {
                let mut text = Vec::new();
                write_text(format, &mut text, &cards, &contents.about)
                    .map_err(|error| ApiError::internal(error.to_string()))?;
                let text = String::from_utf8(text).map_err(|error| ApiError::internal(error.to_string()))?;
                outcome.text = Some(text);
                return Ok(outcome);
            };
            replace_file(Path::new(path), |out| Ok(write_text(format, out, &cards, &contents.about)?))
                .map_err(|error| export_error(&error, path))?;
        }
    }
    Ok(outcome)
}

fn write_text(
    format: Format,
    out: &mut impl Write,
    cards: &[Toolcard],
    about: &BundleInfo,
) -> std::io::Result<()> {
    match format {
        Format::Csv => formats::write_csv(out, cards),
        Format::Markdown => formats::write_markdown(out, cards, about),
        Format::Html => formats::write_html(out, cards, about),
        _ => write_cards(out, cards),
    }
}

/// Writes to a temporary file next to the target first, so that a failure leaves an older export intact.
fn replace_file(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<tempfile::NamedTempFile>) -> autokit_bundle::Result<()>,
) -> autokit_bundle::Result<()> {
    // Through a symlink, the file it points to is replaced, not the link.
    let path = &fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    match fs::metadata(path) {
        Ok(metadata) if !metadata.is_file() => {
            return Err(std::io::Error::other("it is not a regular file").into());
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => return Err(error.into()),
        _ => {}
    }
    let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt as _;
        // The mode of any new file, subject to the umask.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    let mut out = BufWriter::new(builder.prefix(".autokit-").tempfile_in(folder)?);
    write(&mut out)?;
    let partial = out.into_inner().map_err(std::io::IntoInnerError::into_error)?;
    partial.as_file().sync_all()?;
    partial.persist(path).map_err(|error| error.error)?;
    Ok(())
}
