//! Embedding models: loading, fetching, switching, and the vectors of cards that lack them.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use autokit_api::commands::{Context, Handle, ListModels, PullModel, UseModel};
use autokit_api::{Event, JobKind, JobRef, ModelChoice, ModelEntry, ModelState, Models, Nothing};
use autokit_embed::{Embedder, EmbedderOptions};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{CardRecord, PackedVectors};
use autokit_search::{CardIndex, passage_of, vector_recipe};
use autokit_toolcard::{CardId, Toolcard};

use crate::jobs::{Outcome, Progress};

use super::background::in_background;
use super::import::BATCH;
use super::indexing::{Stored, build_index, without_vector};
use super::{Core, Engine, MODEL_FOLDER_SETTING, MODEL_SETTING, Model, Vectors};

impl Core {
    /// Loads the model the library names and builds the index. Never fails: what went wrong is
    /// the model's state, and search goes on by keywords.
    pub(crate) async fn load_model(self: Arc<Self>) {
        let loaded = self.load_embedder().await;
        let (embedder, error) = match loaded {
            Ok(embedder) => (embedder, None),
            Err(error) => (None, Some(error)),
        };
        let built = self.build_index(embedder.clone()).await;
        let error = match built {
            Ok(index) => {
                self.searcher.replace_index(index);
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
        self.tell_model();
        let pages = match self.embedder() {
            Some(embedder) => self.library.pages_without_vectors(embedder.id()).await,
            None => Ok(Vec::new()),
        };
        let pages = pages.unwrap_or_else(|error| {
            tracing::warn!(%error, "pages cannot be looked at");
            Vec::new()
        });
        self.start_missing(!pages.is_empty());
    }

    pub(crate) fn tell_model(&self) {
        let state = self.model.borrow().state;
        self.tell(Event::Model { state });
    }

    async fn load_embedder(&self) -> Result<Option<Arc<Embedder>>> {
        let (name, folder) = match &self.options.vectors {
            Vectors::Off => return Ok(None),
            Vectors::StandIn(dim) => return Ok(Some(Arc::new(Embedder::stand_in(*dim)))),
            Vectors::Folder { model, folder } => (model.clone(), Some(folder.clone())),
            Vectors::Model => {
                let folder =
                    self.library.setting(MODEL_FOLDER_SETTING).await?.filter(|folder| !folder.is_empty());
                (self.model.borrow().name.clone(), folder.map(PathBuf::from))
            }
        };
        self.open_embedder(name, folder).await.map(Some)
    }

    async fn open_embedder(&self, name: String, folder: Option<PathBuf>) -> Result<Arc<Embedder>> {
        let models = self.models.clone();
        in_background(move || {
            let files = models.resolve(&name, folder.as_deref()).map_err(|error| {
                let missing = matches!(error, autokit_embed::Error::NotInstalled { .. });
                let mut error = ApiError::from(error);
                if missing {
                    error.code = ErrorCode::NoModel;
                }
                error
            })?;
            let options = EmbedderOptions { backend: autokit_candle::FASTEST, ..EmbedderOptions::default() };
            Ok(Arc::new(Embedder::load(&files, &options)?))
        })
        .await
    }

    /// The index over all cards, with the vectors the library has for this model.
    async fn build_index(&self, embedder: Option<Arc<Embedder>>) -> Result<CardIndex> {
        let _turn = self.writing.lock().await;
        let records: Vec<Arc<CardRecord>> = self.library.read(|replica| replica.iter().cloned().collect());
        let stored = match &embedder {
            Some(embedder) => {
                let vectors = self.library.vectors(&vector_recipe(embedder)).await?;
                let earlier = if vectors.len() < records.len() {
                    // What the first version made has the name of the model alone.
                    self.library.vectors(embedder.id()).await?
                } else {
                    Vec::new()
                };
                Stored { vectors, earlier, pages: self.library.page_vectors(embedder.id()).await? }
            }
            None => Stored::default(),
        };
        in_background(move || build_index(embedder, &records, stored)).await
    }

    /// Vectors of one card about to be written; `None` without a model.
    pub(crate) async fn embed_card(&self, card: &Toolcard) -> Result<Option<PackedVectors>> {
        let mut vectors = self.embed_cards(std::slice::from_ref(card)).await?;
        Ok(vectors.pop().flatten())
    }

    /// Vectors of cards about to be written, in their order.
    pub(crate) async fn embed_cards(&self, cards: &[Toolcard]) -> Result<Vec<Option<PackedVectors>>> {
        let Some(embedder) = self.embedder().filter(|_| !cards.is_empty()) else {
            return Ok(vec![None; cards.len()]);
        };
        let texts: Vec<String> = cards.iter().map(|card| passage_of(card.object())).collect();
        in_background(move || Ok(embed(&embedder, &texts)?.into_iter().map(Some).collect())).await
    }

    /// Makes the vectors of cards that were written without.
    pub(crate) async fn refresh(&self, ids: &[CardId]) -> Result<()> {
        let _one = self.embedding.lock().await;
        let Some(embedder) = self.embedder() else { return Ok(()) };
        for batch in ids.chunks(BATCH) {
            let records: Vec<Arc<CardRecord>> =
                self.library.read(|replica| batch.iter().filter_map(|id| replica.get(id).cloned()).collect());
            self.embed_records(&embedder, &records).await?;
            let _turn = self.writing.lock().await;
            self.index_cards(batch).await?;
        }
        Ok(())
    }

    async fn embed_records(&self, embedder: &Arc<Embedder>, records: &[Arc<CardRecord>]) -> Result<()> {
        if records.is_empty() {
            return Ok(());
        }
        let texts: Vec<String> = records.iter().map(|record| passage_of(record.card().object())).collect();
        let embedder = Arc::clone(embedder);
        let vectors = in_background(move || embed(&embedder, &texts)).await?;
        let rows: Vec<(CardId, u32, PackedVectors)> = records
            .iter()
            .zip(vectors)
            .map(|(record, vectors)| (record.id.clone(), record.number, vectors))
            .collect();
        Ok(self.library.put_vectors(&rows).await?)
    }

    /// Starts a job for the cards that have no vectors under the present model, and with `pages` for
    /// pages, if there are any.
    pub(crate) fn start_missing(self: &Arc<Self>, pages: bool) {
        let index = self.searcher.index();
        let nothing_to_do = without_vector(&index, &self.library).is_empty() && !pages;
        if index.embedder().is_none() || nothing_to_do || self.library.read_only().is_some() {
            return;
        }
        let core = Arc::clone(self);
        self.jobs.start(
            JobKind::Embed,
            "Preparing cards for search by meaning",
            "cards",
            |progress| async move {
                let missing = without_vector(&core.searcher.index(), &core.library);
                for (index, batch) in missing.chunks(BATCH).enumerate() {
                    progress.check()?;
                    core.refresh(batch).await?;
                    progress.at(((index + 1) * BATCH).min(missing.len()) as u64, missing.len() as u64);
                }
                if let Some(embedder) = core.embedder() {
                    core.embed_pages(&embedder, &core.searcher.index(), &progress).await?;
                    // What an earlier version made of other texts is of no more use.
                    let _turn = core.writing.lock().await;
                    core.library.drop_other_vectors(&vector_recipe(&embedder), embedder.id()).await?;
                }
                core.tell_model();
                Ok(Outcome {
                    summary: format!("{} cards can be found by meaning", missing.len()),
                    tally: None,
                })
            },
        );
    }

    /// Makes vectors for every card under a new model while the old index serves, then switches
    /// both at once.
    async fn switch_model(self: &Arc<Self>, choice: ModelChoice, progress: Progress) -> Result<Outcome> {
        let folder = choice.folder.as_deref().map(PathBuf::from);
        let embedder = self.open_embedder(choice.name.clone(), folder).await?;
        let _one = self.embedding.lock().await;
        let mut done = 0;
        let index = loop {
            // Cards changed while their vectors were made are caught by the next round.
            let index = self.build_index(Some(Arc::clone(&embedder))).await?;
            let missing = without_vector(&index, &self.library);
            if missing.is_empty() {
                break index;
            }
            let total = done + missing.len();
            for batch in missing.chunks(BATCH) {
                progress.check()?;
                let records: Vec<Arc<CardRecord>> = self
                    .library
                    .read(|replica| batch.iter().filter_map(|id| replica.get(id).cloned()).collect());
                self.embed_records(&embedder, &records).await?;
                done += batch.len();
                progress.at(done as u64, total as u64);
            }
        };
        self.embed_pages(&embedder, &index, &progress).await?;
        {
            let _turn = self.writing.lock().await;
            self.library.set_setting(MODEL_SETTING, &choice.name).await?;
            self.library.set_setting(MODEL_FOLDER_SETTING, choice.folder.as_deref().unwrap_or("")).await?;
            self.searcher.replace_index(index);
            self.library.drop_other_vectors(&vector_recipe(&embedder), embedder.id()).await?;
        }
        self.model.send_modify(|model| {
            *model = Model { name: choice.name.clone(), state: ModelState::Ready, error: None };
        });
        self.tell_model();
        // A card written between the last round and the switch was embedded by the old model.
        self.start_missing(false);
        Ok(Outcome { summary: format!("{} is in use", choice.name), tally: None })
    }
}

fn embed(embedder: &Embedder, texts: &[String]) -> Result<Vec<PackedVectors>> {
    let model = vector_recipe(embedder);
    let pack = |values| PackedVectors { model: model.clone(), dim: embedder.dim(), values };
    Ok(embedder.embed_passages(texts)?.into_iter().map(pack).collect())
}

impl Handle<ListModels> for Engine {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Models> {
        let core = Arc::clone(&self.core);
        in_background(move || {
            let current = core.model.borrow().name.clone();
            let models = core.models.list(Some(&current));
            Ok(Models {
                models: models
                    .into_iter()
                    .map(|model| ModelEntry { current: model.name == current, model })
                    .collect(),
                store: core.models.root().display().to_string(),
            })
        })
        .await
    }
}

impl Handle<PullModel> for Engine {
    async fn handle(&self, _: &Context, request: ModelChoice) -> Result<JobRef> {
        let core = Arc::clone(&self.core);
        core.models.manifest().get(&request.name)?;
        let title = format!("Downloading {}", request.name);
        Ok(self.core.jobs.start(JobKind::Download, &title, "bytes", |progress| async move {
            core.pull(&request, &progress).await?;
            let waiting = {
                let model = core.model.borrow();
                model.name == request.name && model.state != ModelState::Ready
            };
            if waiting && matches!(core.options.vectors, Vectors::Model) {
                Arc::clone(&core).load_model().await;
            }
            Ok(Outcome { summary: format!("{} is on this machine", request.name), tally: None })
        }))
    }
}

impl Handle<UseModel> for Engine {
    async fn handle(&self, _: &Context, request: ModelChoice) -> Result<JobRef> {
        if !matches!(self.core.options.vectors, Vectors::Model) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "the model was fixed when this process started",
                "Start without naming a model, then switch.",
            ));
        }
        self.core.models.manifest().get(&request.name)?;
        let core = Arc::clone(&self.core);
        let title = format!("Switching to {}", request.name);
        Ok(self.core.jobs.start(JobKind::Embed, &title, "cards", |progress| async move {
            core.pull(&request, &progress).await?;
            core.switch_model(request, progress).await
        }))
    }
}

impl Core {
    async fn pull(&self, choice: &ModelChoice, progress: &Progress) -> Result<()> {
        let report = |at: autokit_embed::PullProgress| {
            progress.at(at.done_bytes, at.total_bytes);
            if progress.cancelled() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        self.models.pull(&choice.name, choice.folder.as_deref().map(Path::new), &report).await?;
        Ok(())
    }
}
