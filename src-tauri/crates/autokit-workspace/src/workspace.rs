//! What every part of the engine works on: the library, its clock, events and settings.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use autokit_api::{Event, Setting};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{
    CardRecord, Clock, Committed, Library, LibraryError, Meta, Problem, Replica, StoreError, Write,
};
use autokit_text::did_you_mean;
use autokit_toolcard::CardId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::{CancellationToken, DropGuard, WaitForCancellationFuture};

use crate::jobs::Jobs;

/// An open library with its jobs and events. Clones share state.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The cards, proposals and settings.
    pub library: Arc<Library>,
    /// The source of the current time.
    pub clock: Clock,
    /// The background jobs.
    pub jobs: Jobs,
    events: broadcast::Sender<Event>,
    /// Incremented whenever the tools that agents may call may have changed.
    tools: watch::Sender<u64>,
    /// Number of pending proposals, for the status.
    pending_proposals: Arc<AtomicU32>,
    /// Cancelled when the process begins to end.
    stopping: CancellationToken,
    /// Cancelled when the engine is dropped.
    shutdown: CancellationToken,
    /// Whether this library is new.
    first_run: bool,
}

impl Workspace {
    /// Wraps a library that was just opened. `first_run` says that it is new.
    pub fn new(
        library: Library,
        clock: Clock,
        events: broadcast::Sender<Event>,
        first_run: bool,
    ) -> Workspace {
        Workspace {
            library: Arc::new(library),
            clock,
            jobs: Jobs::new(events.clone()),
            events,
            tools: watch::Sender::default(),
            pending_proposals: Arc::default(),
            stopping: CancellationToken::new(),
            shutdown: CancellationToken::new(),
            first_run,
        }
    }

    /// Tells what waits or takes long that the process begins to end.
    pub fn begin_shutdown(&self) {
        self.stopping.cancel();
    }

    /// Returns a token that is cancelled when the process begins to end: what nobody would wait for stops then. Background
    /// tasks that have something to finish go on until [`Self::wait_for_shutdown`].
    pub fn stopping(&self) -> &CancellationToken {
        &self.stopping
    }

    /// Returns a guard that ends background tasks when it is dropped.
    pub fn shutdown_guard(&self) -> DropGuard {
        self.shutdown.clone().drop_guard()
    }

    /// Waits until the engine is dropped; background tasks end then.
    pub fn wait_for_shutdown(&self) -> WaitForCancellationFuture<'_> {
        self.shutdown.cancelled()
    }

    /// Returns whether this library is new.
    pub fn first_run(&self) -> bool {
        self.first_run
    }

    /// Describes known damage: what is missing or was altered.
    pub fn damage(&self) -> Option<String> {
        let problems = self.library.known_problems();
        (!problems.is_empty()).then(|| problem_summary(&problems, problems.len() as u64))
    }

    /// Returns why nothing can be changed now, including a disk without room for even the smallest change.
    pub fn read_only_reason(&self) -> Option<&'static str> {
        match self.library.ensure_writable() {
            Ok(()) => None,
            Err(LibraryError::Store(StoreError::DiskFull { .. })) => {
                Some("the disk is full; changes are not saved")
            }
            Err(_) => Some("the library is read-only; changes are not saved"),
        }
    }

    /// Commits a batch and notifies listeners.
    ///
    /// # Errors
    /// If the batch is rejected; then nothing of it is stored.
    pub async fn commit(&self, meta: &Meta, writes: &[Write]) -> Result<Committed> {
        let committed = self.library.commit(meta, writes).await?;
        if committed.change.is_some() {
            self.notify_library_changed();
        }
        Ok(committed)
    }

    /// Returns a number that changes whenever a card changes or is forgotten, for what is kept of the cards. Forgetting one
    /// leaves the journal where it is, and one card less.
    pub fn library_version(&self) -> u64 {
        const CARDS: u32 = 24;
        self.library.read(|replica| (replica.cursor() << CARDS) | (replica.len() as u64 & ((1 << CARDS) - 1)))
    }

    /// Finds a card by a person's input: by id, or by name if it is unique.
    ///
    /// # Errors
    /// `not_found` if there is none, or several.
    pub fn find_card(&self, text: &str) -> Result<Arc<CardRecord>> {
        self.library.read(|replica| find_card(replica, text))
    }

    /// Returns the cards whose JSON contains one of these strings.
    pub fn cards_containing(&self, strings: &[&str]) -> Vec<Arc<CardRecord>> {
        self.library.read(|replica| replica.containing(strings).cloned().collect())
    }

    /// Returns the channel of this library's events.
    pub fn events(&self) -> &broadcast::Sender<Event> {
        &self.events
    }

    /// Sends an event to all listeners.
    pub fn publish(&self, event: Event) {
        // Fails only if nobody listens.
        let _ = self.events.send(event);
    }

    /// Announces that cards changed.
    pub fn notify_library_changed(&self) {
        self.publish(Event::Library { cursor: self.library.read(Replica::cursor) });
        self.notify_tools_changed();
    }

    /// Announces how many proposals are pending.
    pub async fn notify_proposals_changed(&self) -> Result<()> {
        let waiting = self.library.count_pending().await?;
        self.pending_proposals.store(waiting, Ordering::Relaxed);
        self.publish(Event::Proposals { waiting });
        Ok(())
    }

    /// Returns the number of pending proposals as last announced.
    pub fn pending_proposals(&self) -> u32 {
        self.pending_proposals.load(Ordering::Relaxed)
    }

    /// Makes all agents' sessions reload their tools, after a change that affects them.
    pub fn notify_tools_changed(&self) {
        self.tools.send_modify(|version| *version += 1);
    }

    /// Returns a counter that grows with each of those changes.
    pub fn subscribe_to_tools(&self) -> watch::Receiver<u64> {
        self.tools.subscribe()
    }

    /// Reads a setting; `None` if it is not set.
    pub async fn load_setting<T: DeserializeOwned>(&self, setting: Setting) -> Result<Option<T>> {
        match self.library.setting(key(setting)).await?.as_deref() {
            None | Some("") => Ok(None),
            Some(text) => serde_json::from_str(text).map(Some).map_err(|error| {
                ApiError::internal(format!("the setting {:?} cannot be read: {error}", key(setting)))
            }),
        }
    }

    /// Saves a setting and notifies listeners.
    pub async fn save_setting<T: Serialize + ?Sized>(&self, setting: Setting, value: &T) -> Result<()> {
        let text = serde_json::to_string(value).map_err(|error| ApiError::internal(error.to_string()))?;
        self.library.set_setting(key(setting), &text).await?;
        self.publish(Event::Setting { setting });
        Ok(())
    }

    /// Clears a setting and notifies listeners.
    pub async fn clear_setting(&self, setting: Setting) -> Result<()> {
        self.library.set_setting(key(setting), "").await?;
        self.publish(Event::Setting { setting });
        Ok(())
    }
}

/// Lists the first problems in words, and how many more there are.
pub fn problem_summary(problems: &[Problem], count: u64) -> String {
    const MAX_NAMED: usize = 3;
    let named: Vec<String> = problems.iter().take(MAX_NAMED).map(ToString::to_string).collect();
    let more = count.saturating_sub(named.len() as u64);
    if more == 0 { named.join("; ") } else { format!("{}; and {more} more", named.join("; ")) }
}

/// Finds a card by a person's input: by id, or by name if it is unique.
fn find_card(replica: &Replica, text: &str) -> Result<Arc<CardRecord>> {
    if let Some(record) = replica.get(&CardId::new(text)) {
        return Ok(Arc::clone(record));
    }
    let same = |record: &&Arc<CardRecord>| {
        record.key.name.eq_ignore_ascii_case(text) || record.key.to_string().eq_ignore_ascii_case(text)
    };
    let mut named: Vec<&Arc<CardRecord>> = replica.iter().filter(same).collect();
    named.sort_by(|a, b| a.id.cmp(&b.id));
    match named.as_slice() {
        [one] => Ok(Arc::clone(one)),
        [] => Err(ApiError::new(
            ErrorCode::NotFound,
            format!("card {text:?} not found"),
            did_you_mean(text, replica.iter().map(|record| record.key.name.as_str()))
                .unwrap_or_else(|| "Look it up in the Library.".to_owned()),
        )),
        several => {
            let ids: Vec<String> = several.iter().map(|record| record.id.to_string()).collect();
            Err(ApiError::new(
                ErrorCode::NotFound,
                format!("{} cards are named {text:?}", several.len()),
                format!("Use one of these ids: {}", ids.join(", ")),
            ))
        }
    }
}

/// Returns the key of a setting in the database.
fn key(setting: Setting) -> &'static str {
    match setting {
        Setting::AgentsHttp => "agents_http",
        Setting::ApiKeys => "api_keys",
        Setting::BundleKeys => "bundle_keys",
        Setting::Checks => "checks",
        Setting::Collections => "collections",
        Setting::Duplicates => "duplicates",
        Setting::Libraries => "libraries",
        Setting::MarketSources => "market_sources",
        Setting::McpServers => "mcp_servers",
        Setting::Personalization => "personalization",
        Setting::Profiles => "profiles",
        Setting::RefineRun => "refine_run",
        Setting::Review => "review",
        Setting::Spending => "spending",
        Setting::Subscriptions => "subscriptions",
        Setting::Variants => "variants",
        Setting::VerifyRun => "verify_run",
        Setting::VouchedTools => "vouched_tools",
    }
}

/// A setting that is read from the library once and cached. The caller of [`CachedSetting::write`] has to
/// rule out concurrent writers.
#[derive(Debug)]
pub struct CachedSetting<T> {
    setting: Setting,
    cached: Mutex<Cached<T>>,
}

/// A value and how often it was written by this process. What was read while it was written may be older, and is not
/// cached.
#[derive(Debug)]
struct Cached<T> {
    value: Option<Arc<T>>,
    writes: u64,
}

impl<T: Default + Serialize + DeserializeOwned> CachedSetting<T> {
    /// Creates an empty cache.
    pub fn new(setting: Setting) -> CachedSetting<T> {
        CachedSetting { setting, cached: Mutex::new(Cached { value: None, writes: 0 }) }
    }

    /// Returns the saved value, or the default if there is none.
    pub async fn read(&self, workspace: &Workspace) -> Result<Arc<T>> {
        let writes = {
            let cached = self.cached.lock().expect("no holder panics");
            if let Some(known) = &cached.value {
                return Ok(Arc::clone(known));
            }
            cached.writes
        };
        let read = Arc::new(workspace.load_setting(self.setting).await?.unwrap_or_default());
        let mut cached = self.cached.lock().expect("no holder panics");
        if cached.writes == writes {
            cached.value = Some(Arc::clone(&read));
        }
        Ok(read)
    }

    /// Saves a value and caches it.
    pub async fn write(&self, workspace: &Workspace, value: T) -> Result<()> {
        workspace.save_setting(self.setting, &value).await?;
        let mut cached = self.cached.lock().expect("no holder panics");
        cached.value = Some(Arc::new(value));
        cached.writes += 1;
        Ok(())
    }
}
