//! Embedding models: loading, downloading and switching them, and computing missing embeddings of cards.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, Mutex, PoisonError, Weak};

use async_trait::async_trait;
use autokit_api::commands::{Context, Handle, ListModels, PullModel, UseModel};
use autokit_api::{
    Event, JobKind, JobRef, ModelChoice, ModelEntry, ModelState, Models as ModelList, Nothing,
};
use autokit_embed::{Embedder, EmbedderOptions, ModelFiles, ModelStore};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{CardRecord, PackedVectors};
use autokit_search::{
    CardIndex, CardPassages, QueryEmbedder, Searcher, Vocabulary, embed_by_card, passages_of, vector_recipe,
};
use autokit_toolcard::{CardId, Toolcard};
use tokio::sync::{oneshot, watch};

use crate::background::in_background;
use crate::indexing::{Indexing, StoredIndex, set_chunks, without_vector};
use crate::jobs::{Outcome, Progress};
use crate::options::{EngineOptions, Vectors};
use crate::page_vectors::embed_page;
use crate::workspace::Workspace;

/// Cards embedded between two checks for cancellation.
pub const BATCH: usize = 100;

/// The state of the embedding model.
#[derive(Clone, Debug)]
pub struct Model {
    /// Name in the manifest.
    pub name: String,
    /// Whether it is ready, loading or missing.
    pub state: ModelState,
    /// Why it cannot be used.
    pub error: Option<ApiError>,
}

/// Setting: name of the model.
const MODEL_SETTING: &str = "model";
/// Setting: folder of the model's files; empty for the store of downloaded models.
const MODEL_FOLDER_SETTING: &str = "model_folder";

/// Whether a library keeps the model it switches to when the default changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Pin {
    Yes,
    No,
}

/// A change of the default model that a library follows.
struct DefaultChange {
    /// Name and model of the earlier default while it has more vectors: it serves until then.
    earlier: Option<(String, Arc<Embedder>)>,
}

/// The embedding model and the index built with it. Clones share state.
#[derive(Clone, Debug)]
pub struct Models {
    workspace: Workspace,
    store: ModelStore,
    vectors: Arc<Vectors>,
    indexing: Arc<Indexing>,
    model: watch::Sender<Model>,
    /// One embedding job at a time.
    embedding: Arc<tokio::sync::Mutex<()>>,
    /// The index is replaced by one task at a time.
    switching: Arc<tokio::sync::Mutex<()>>,
    /// Until the library's own model is known.
    probable: Arc<Mutex<Option<ProbableModel>>>,
}

/// The model that a library most probably uses, which is loaded while the library is still being opened.
#[derive(Debug)]
pub struct ProbableModel {
    name: String,
    /// Its [`Embedder::id`], which is known before it is loaded.
    id: oneshot::Receiver<String>,
    loading: tokio::task::JoinHandle<Result<Arc<Embedder>>>,
}

impl ProbableModel {
    /// Starts to load the default model, if models of this machine are used.
    pub fn load(options: &EngineOptions) -> Option<ProbableModel> {
        let Vectors::Model = options.vectors else { return None };
        let store = ModelStore::new(&options.models_dir);
        let name = store.manifest().default.clone();
        let named = name.clone();
        // So that parsing the shipped names does not wait for it either.
        tokio::task::spawn_blocking(|| {
            Vocabulary::shipped();
        });
        let (known, id) = oneshot::channel();
        let loading = tokio::task::spawn_blocking(move || {
            let files = resolve(&store, &named, None)?;
            // Nobody waits for it if the library has another model.
            let _ = known.send(files.id());
            load_embedder(&files)
        });
        Some(ProbableModel { name, id, loading })
    }
}

impl Models {
    /// Opens the model chosen by the library, without loading it, and an empty index.
    pub async fn open(
        workspace: Workspace,
        options: &EngineOptions,
        probable: Option<ProbableModel>,
    ) -> Result<Models> {
        let store = ModelStore::new(&options.models_dir);
        let name = match &options.vectors {
            Vectors::Folder { model, .. } => model.clone(),
            Vectors::StandIn(_) => "stand-in".to_owned(),
            Vectors::Off => "none".to_owned(),
            Vectors::Model => {
                let named = workspace.library.setting(MODEL_SETTING).await?;
                named.unwrap_or_else(|| store.manifest().default.clone())
            }
        };
        let indexing = Arc::new(Indexing::default());
        workspace.library.set_observer(Arc::clone(&indexing) as Arc<_>);
        Ok(Models {
            workspace,
            store,
            vectors: Arc::new(options.vectors.clone()),
            indexing,
            model: watch::Sender::new(Model { name, state: ModelState::Loading, error: None }),
            embedding: Arc::default(),
            switching: Arc::default(),
            probable: Arc::new(Mutex::new(probable)),
        })
    }

    /// Returns the only searcher, which uses the index of this model's vectors.
    pub fn searcher(&self) -> &Arc<Searcher> {
        self.indexing.searcher()
    }

    /// Returns the names and synonyms that search knows.
    pub fn vocabulary(&self) -> Arc<Vocabulary> {
        self.indexing.vocabulary()
    }

    /// Makes search know the names and synonyms in the library from now on. Cards whose texts change by them are
    /// embedded in the background, and found by their earlier vectors until then.
    pub async fn apply_vocabulary(&self) -> Result<()> {
        let library = &self.workspace.library;
        let switching = self.switching.lock().await;
        if self.model().state == ModelState::Loading {
            // `load` reads them.
            return Ok(());
        }
        self.indexing.load_vocabulary(library).await?;
        let index = self.indexing.build(library, self.embedder(), None).await?;
        self.indexing.replace(library, index).await;
        drop(switching);
        self.start_embedding_missing(false);
        Ok(())
    }

    /// Stores snapshots of what is in memory, so that the next process need not compute it.
    pub async fn write_snapshots(&self) -> Result<()> {
        self.indexing.write_snapshots(&self.workspace.library).await
    }

    /// Returns the model, if it is loaded.
    pub fn embedder(&self) -> Option<Arc<Embedder>> {
        self.searcher().embedder()
    }

    /// Returns the model, if it is loaded, for code that only embeds queries and passages.
    pub fn query_embedder(&self) -> Option<Arc<dyn QueryEmbedder>> {
        self.embedder().map(|embedder| embedder as Arc<_>)
    }

    /// Returns the state of the model.
    pub fn model(&self) -> Model {
        self.model.borrow().clone()
    }

    /// Waits until the model is loaded, missing or failed.
    pub async fn wait_until_ready(&self) -> Model {
        let mut model = self.model.subscribe();
        // The sender lives as long as `self`.
        let ready = model.wait_for(|model| model.state != ModelState::Loading).await;
        ready.map_or_else(|_| self.model(), |model| model.clone())
    }

    /// Returns why search uses keywords only, if there is no model.
    pub fn keyword_only_reason(&self) -> Option<String> {
        if self.embedder().is_some() {
            return None;
        }
        let model = self.model();
        Some(match model.state {
            ModelState::Missing if matches!(*self.vectors, Vectors::Off) => {
                "the embedding model is turned off".to_owned()
            }
            ModelState::Missing => format!("{} is not installed", model.name),
            ModelState::Failed => {
                model.error.map_or_else(|| "the embedding model failed".to_owned(), |error| error.message)
            }
            ModelState::Loading | ModelState::Ready => "no embedding model is selected".to_owned(),
        })
    }

    /// Loads the library's model and builds the index. Never fails: an error becomes the state of the
    /// model, and search continues with keywords.
    pub async fn load(&self) {
        let switching = self.switching.lock().await;
        let library = &self.workspace.library;
        if let Err(error) = self.indexing.load_vocabulary(library).await {
            tracing::error!(%error, "failed to read added names and synonyms");
        }
        let (loaded, stored) = self.load_embedder().await;
        let (mut embedder, error) = match loaded {
            Ok(embedder) => (embedder, None),
            Err(error) => (None, Some(error)),
        };
        let mut index = self.indexing.build(library, embedder.clone(), stored).await;
        let default = self.model().name;
        let mut earlier = None;
        if let Ok(built) = &index {
            let change = self.advance_default(built).await.unwrap_or_else(|error| {
                tracing::warn!(%error, "failed to move to another default model");
                None
            });
            if let Some(change) = change {
                earlier = change.earlier;
                if let Some((name, model)) = &earlier {
                    embedder = Some(Arc::clone(model));
                    self.model.send_modify(|model| model.name.clone_from(name));
                }
                index = self.indexing.build(library, embedder.clone(), None).await;
            }
        }
        let error = match index {
            Ok(index) => {
                self.indexing.replace(&self.workspace.library, index).await;
                error
            }
            Err(failed) => Some(failed),
        };
        self.model.send_modify(|model| {
            model.state = match (&embedder, &error) {
                (_, Some(error)) if error.code == ErrorCode::NoModel => ModelState::Missing,
                (_, Some(_)) => ModelState::Failed,
                (None, None) => ModelState::Missing,
                (Some(_), None) => ModelState::Ready,
            };
            model.error = error;
        });
        drop(switching);
        self.publish_model_state();
        let pages = match self.embedder() {
            Some(embedder) => self.workspace.library.pages_without_vectors(embedder.id()).await,
            None => Ok(Vec::new()),
        };
        let pages = pages.unwrap_or_else(|error| {
            tracing::warn!(%error, "failed to list pages without embeddings");
            Vec::new()
        });
        if earlier.is_some() {
            self.start_switch(ModelChoice { name: default, folder: None }, Pin::No);
        } else {
            self.start_embedding_missing(!pages.is_empty());
        }
    }

    /// Where the default model changed, embeds some cards with the new one, so that also commands that end at once
    /// bring it forward. `None` where it did not change. `index` is of the new model.
    async fn advance_default(&self, index: &CardIndex) -> Result<Option<DefaultChange>> {
        let library = &self.workspace.library;
        let Some(embedder) = index.embedder().filter(|_| matches!(*self.vectors, Vectors::Model)) else {
            return Ok(None);
        };
        let missing = without_vector(index, library);
        let is_default = library.setting(MODEL_SETTING).await?.is_none();
        if missing.is_empty() || !is_default || library.read_only().is_some() {
            return Ok(None);
        }
        let Some(recipe) = library.another_vector_model(&format!("{}@", embedder.name())).await? else {
            return Ok(None);
        };
        let batch = &missing[..missing.len().min(BATCH)];
        self.embed_records(embedder, &self.records(batch)).await?;
        if missing.len() == batch.len() {
            library.drop_other_vectors(&vector_recipe(embedder), embedder.id()).await?;
        }
        let name = recipe.split('@').next().unwrap_or_default().to_owned();
        let has_fewer = missing.len() - batch.len() > index.embedded_count() + batch.len();
        if !has_fewer || self.store.manifest().get(&name).is_err() {
            return Ok(Some(DefaultChange { earlier: None }));
        }
        // It may have been removed from this machine since.
        let model = self.open_embedder(name.clone(), None).await.ok();
        let earlier = model.filter(|model| recipe.starts_with(model.id())).map(|model| (name, model));
        Ok(Some(DefaultChange { earlier }))
    }

    fn records(&self, ids: &[CardId]) -> Vec<Arc<CardRecord>> {
        self.workspace.library.read(|replica| ids.iter().filter_map(|id| replica.get(id).cloned()).collect())
    }

    fn publish_model_state(&self) {
        let state = self.model.borrow().state;
        self.workspace.publish(Event::Model { state });
    }

    /// Loads the library's model. If it is the one that was expected, its index is read from the snapshot meanwhile.
    async fn load_embedder(&self) -> (Result<Option<Arc<Embedder>>>, Option<StoredIndex>) {
        let (name, folder) = match self.choice().await {
            Ok(Some(choice)) => choice,
            Ok(None) => {
                let stand_in = match &*self.vectors {
                    Vectors::StandIn(dim) => Some(Arc::new(Embedder::stand_in(*dim))),
                    _ => None,
                };
                return (Ok(stand_in), None);
            }
            Err(error) => return (Err(error), None),
        };
        let probable = self.probable.lock().expect("no holder panics").take();
        let expected = probable.filter(|probable| folder.is_none() && probable.name == name);
        let Some(ProbableModel { id, loading, .. }) = expected else {
            return (self.open_embedder(name, folder).await.map(Some), None);
        };
        let mut stored = None;
        // There is none if the model is not installed.
        if let Ok(id) = id.await {
            let reading = self.indexing.read_stored(&self.workspace.library, Some(&id)).await;
            stored = reading.unwrap_or_else(|error| {
                tracing::warn!(%error, "failed to read the snapshot of the index");
                None
            });
        }
        let loaded = loading.await.map_err(|error| ApiError::internal(error.to_string()));
        (loaded.flatten().map(Some), stored)
    }

    /// Returns the name and the folder of the library's model; `None` if it has none from a file.
    async fn choice(&self) -> Result<Option<(String, Option<PathBuf>)>> {
        Ok(match &*self.vectors {
            Vectors::Off | Vectors::StandIn(_) => None,
            Vectors::Folder { model, folder } => Some((model.clone(), Some(folder.clone()))),
            Vectors::Model => {
                let folder = self.workspace.library.setting(MODEL_FOLDER_SETTING).await?;
                let folder = folder.filter(|folder| !folder.is_empty());
                Some((self.model.borrow().name.clone(), folder.map(PathBuf::from)))
            }
        })
    }

    async fn open_embedder(&self, name: String, folder: Option<PathBuf>) -> Result<Arc<Embedder>> {
        let store = self.store.clone();
        in_background(move || load_embedder(&resolve(&store, &name, folder.as_deref())?)).await
    }

    /// Computes the embeddings of a card about to be written; `None` without a model.
    pub async fn embed_card(&self, card: &Toolcard) -> Result<Option<PackedVectors>> {
        let mut vectors = self.embed_cards(std::slice::from_ref(card)).await?;
        Ok(vectors.pop().flatten())
    }

    /// Computes the embeddings of cards about to be written, in their order.
    pub async fn embed_cards(&self, cards: &[Toolcard]) -> Result<Vec<Option<PackedVectors>>> {
        let Some(embedder) = self.embedder().filter(|_| !cards.is_empty()) else {
            return Ok(vec![None; cards.len()]);
        };
        let vocabulary = self.vocabulary();
        let texts = cards.iter().map(|card| passages_of(card.object(), &vocabulary)).collect();
        in_background(move || Ok(embed(&embedder, texts)?.into_iter().map(Some).collect())).await
    }

    /// Computes the embeddings of cards that were written without them.
    pub async fn refresh(&self, ids: &[CardId]) -> Result<()> {
        let _embedding = self.embedding.lock().await;
        let Some(embedder) = self.embedder() else { return Ok(()) };
        for batch in ids.chunks(BATCH) {
            self.embed_records(&embedder, &self.records(batch)).await?;
            self.indexing.index_cards(&self.workspace.library, batch).await?;
        }
        Ok(())
    }

    async fn embed_records(&self, embedder: &Arc<Embedder>, records: &[Arc<CardRecord>]) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let vocabulary = self.indexing.vocabulary();
        let texts = records.iter().map(|record| passages_of(record.card().object(), &vocabulary)).collect();
        let embedder = Arc::clone(embedder);
        let vectors = in_background(move || embed(&embedder, texts)).await?;
        let rows: Vec<(CardId, u32, PackedVectors)> = records
            .iter()
            .zip(vectors)
            .map(|(record, vectors)| (record.id.clone(), record.number, vectors))
            .collect();
        Ok(self.workspace.library.put_vectors(&rows).await?)
    }

    /// Starts a job for the cards without embeddings of the current model and, with `pages`, for such
    /// pages.
    fn start_embedding_missing(&self, pages: bool) {
        let index = self.searcher().index();
        let nothing_to_do = without_vector(&index, &self.workspace.library).is_empty() && !pages;
        if index.embedder().is_none() || nothing_to_do || self.workspace.library.read_only().is_some() {
            return;
        }
        let models = self.clone();
        self.workspace.jobs.start(
            JobKind::Embed,
            "Preparing cards for semantic search",
            "cards",
            |progress| async move {
                let missing = without_vector(&models.searcher().index(), &models.workspace.library);
                for (index, batch) in missing.chunks(BATCH).enumerate() {
                    progress.check_cancelled()?;
                    models.refresh(batch).await?;
                    progress.set_done(((index + 1) * BATCH).min(missing.len()) as u64, missing.len() as u64);
                }
                if let Some(embedder) = models.embedder() {
                    models.embed_pages(&embedder, &models.searcher().index(), &progress).await?;
                    // Vectors that an earlier version computed from other texts are obsolete now.
                    models
                        .workspace
                        .library
                        .drop_other_vectors(&vector_recipe(&embedder), embedder.id())
                        .await?;
                }
                models.publish_model_state();
                Ok(Outcome {
                    summary: format!("{} cards ready for semantic search", missing.len()),
                    tally: None,
                })
            },
        );
    }

    /// Computes the embeddings of every card with a new model while the old index serves, then switches
    /// model and index together.
    async fn switch(&self, choice: ModelChoice, pin: Pin, progress: Progress) -> Result<Outcome> {
        let folder = choice.folder.as_deref().map(PathBuf::from);
        let embedder = self.open_embedder(choice.name.clone(), folder).await?;
        let _embedding = self.embedding.lock().await;
        let mut done = 0;
        let index = loop {
            // Cards that change meanwhile are embedded in the next round.
            let library = &self.workspace.library;
            let index = self.indexing.build(library, Some(Arc::clone(&embedder)), None).await?;
            let missing = without_vector(&index, &self.workspace.library);
            if missing.is_empty() {
                break index;
            }
            let total = done + missing.len();
            for batch in missing.chunks(BATCH) {
                progress.check_cancelled()?;
                self.embed_records(&embedder, &self.records(batch)).await?;
                done += batch.len();
                progress.set_done(done as u64, total as u64);
            }
        };
        self.embed_pages(&embedder, &index, &progress).await?;
        let library = &self.workspace.library;
        if pin == Pin::Yes {
            library.set_setting(MODEL_SETTING, &choice.name).await?;
            library.set_setting(MODEL_FOLDER_SETTING, choice.folder.as_deref().unwrap_or("")).await?;
        }
        let switching = self.switching.lock().await;
        let is_current = Arc::ptr_eq(index.vocabulary(), &self.vocabulary());
        self.indexing.replace(library, index).await;
        drop(switching);
        library.drop_other_vectors(&vector_recipe(&embedder), embedder.id()).await?;
        self.model.send_modify(|model| {
            *model = Model { name: choice.name.clone(), state: ModelState::Ready, error: None };
        });
        self.publish_model_state();
        if is_current {
            // A card written between the last round and the switch was embedded with the old model.
            self.start_embedding_missing(false);
        } else {
            self.apply_vocabulary().await?;
        }
        Ok(Outcome { summary: format!("{} is in use", choice.name), tally: None })
    }

    /// Computes the embeddings of pages that have none of this model, and adds them to `index`.
    async fn embed_pages(
        &self,
        embedder: &Arc<Embedder>,
        index: &CardIndex,
        progress: &Progress,
    ) -> Result<usize> {
        let missing = self.workspace.library.pages_without_vectors(embedder.id()).await?;
        for card in &missing {
            progress.check_cancelled()?;
            let Some(page) = self.workspace.library.page(card).await? else { continue };
            let (model, url, pieces) = (Arc::clone(embedder), page.found.clone(), page.chunks.clone());
            let vectors = in_background(move || embed_page(&model, &url, &pieces)).await?;
            self.workspace.library.put_page(&page, Some(&vectors)).await?;
            set_chunks(index, card, &vectors.values, vectors.dim)?;
        }
        Ok(missing.len())
    }
}

/// Finds the files of a model.
fn resolve(store: &ModelStore, name: &str, folder: Option<&Path>) -> Result<ModelFiles> {
    store.resolve(name, folder).map_err(|error| {
        let missing = matches!(error, autokit_embed::Error::NotInstalled { .. });
        let mut error = ApiError::from(error);
        if missing {
            error.code = ErrorCode::NoModel;
        }
        error
    })
}

/// Models that libraries of this process use, by [`Embedder::id`].
static LOADED: LazyLock<Mutex<HashMap<String, Weak<Embedder>>>> = LazyLock::new(Mutex::default);

/// Loads a model unless another library of this process uses it.
fn load_embedder(files: &ModelFiles) -> Result<Arc<Embedder>> {
    // Held while a model is loaded, so that none is loaded twice.
    let mut loaded = LOADED.lock().unwrap_or_else(PoisonError::into_inner);
    let id = files.id();
    if let Some(known) = loaded.get(&id).and_then(Weak::upgrade) {
        return Ok(known);
    }
    loaded.retain(|_, model| model.strong_count() > 0);
    let options = EmbedderOptions { backend: autokit_candle::FASTEST, ..EmbedderOptions::default() };
    let embedder = Arc::new(Embedder::load(files, &options)?);
    loaded.insert(id, Arc::downgrade(&embedder));
    Ok(embedder)
}

/// Embeds the texts of each card.
fn embed(embedder: &Embedder, cards: Vec<CardPassages>) -> Result<Vec<PackedVectors>> {
    let model = vector_recipe(embedder);
    let (names, texts): (Vec<_>, Vec<_>) = cards.into_iter().map(|card| (card.names, card.texts)).unzip();
    let vectors = embed_by_card(&texts, |texts| embedder.embed_passages(texts))?;
    let pack = |(values, names)| PackedVectors { model: model.clone(), names, dim: embedder.dim(), values };
    Ok(vectors.into_iter().zip(names).map(pack).collect())
}

#[async_trait]
impl Handle<ListModels> for Models {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<ModelList> {
        let models = self.clone();
        in_background(move || {
            let current = models.model().name;
            let entries = models.store.list(Some(&current));
            Ok(ModelList {
                models: entries
                    .into_iter()
                    .map(|model| ModelEntry { current: model.name == current, model })
                    .collect(),
                store: models.store.root().display().to_string(),
            })
        })
        .await
    }
}

#[async_trait]
impl Handle<PullModel> for Models {
    async fn handle(&self, _: &Context, request: ModelChoice) -> Result<JobRef> {
        let models = self.clone();
        models.store.manifest().get(&request.name)?;
        let title = format!("Downloading {}", request.name);
        Ok(self.workspace.jobs.start(JobKind::Download, &title, "bytes", |progress| async move {
            models.pull(&request, &progress).await?;
            let waiting = {
                let model = models.model();
                model.name == request.name && model.state != ModelState::Ready
            };
            if waiting && matches!(*models.vectors, Vectors::Model) {
                models.load().await;
            }
            Ok(Outcome { summary: format!("{} is installed", request.name), tally: None })
        }))
    }
}

#[async_trait]
impl Handle<UseModel> for Models {
    async fn handle(&self, _: &Context, request: ModelChoice) -> Result<JobRef> {
        if !matches!(*self.vectors, Vectors::Model) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "the embedding model was set when this process started",
                "Start AutoKit without a model option, then switch.",
            ));
        }
        self.store.manifest().get(&request.name)?;
        Ok(self.start_switch(request, Pin::Yes))
    }
}

impl Models {
    fn start_switch(&self, choice: ModelChoice, pin: Pin) -> JobRef {
        let models = self.clone();
        let title = format!("Switching to {}", choice.name);
        self.workspace.jobs.start(JobKind::Embed, &title, "cards", |progress| async move {
            models.pull(&choice, &progress).await?;
            models.switch(choice, pin, progress).await
        })
    }

    async fn pull(&self, choice: &ModelChoice, progress: &Progress) -> Result<()> {
        let report = |at: autokit_embed::PullProgress| {
            progress.set_done(at.done_bytes, at.total_bytes);
            if progress.is_cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        self.store.pull(&choice.name, choice.folder.as_deref().map(Path::new), &report).await?;
        Ok(())
    }
}
