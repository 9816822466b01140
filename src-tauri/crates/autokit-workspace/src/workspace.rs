//! What every part of the engine works on: the library, its clock, its news, its settings.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};

use autokit_api::{Event, Setting};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{CardRecord, Clock, Committed, Library, LibraryError, Meta, Problem, Replica, Write};
use autokit_toolcard::CardId;
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::{broadcast, watch};
use tokio_util::sync::{CancellationToken, DropGuard, WaitForCancellationFuture};

use crate::jobs::Jobs;

/// An open library with what goes on in it; clones share it.
#[derive(Clone, Debug)]
pub struct Workspace {
    /// The cards, proposals and settings.
    pub library: Arc<Library>,
    /// Where the time comes from.
    pub clock: Clock,
    /// What goes on in the background.
    pub jobs: Jobs,
    events: broadcast::Sender<Event>,
    /// Grows whenever the tools agents may call may be others.
    tools: watch::Sender<u64>,
    /// Proposals that wait, for the status.
    waiting: Arc<AtomicU32>,
    given_up: CancellationToken,
    /// Whether nobody has used this library before.
    first_run: bool,
}

impl Workspace {
    /// What goes on with a library that was just opened. `first_run`: nobody has used it before.
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
            waiting: Arc::default(),
            given_up: CancellationToken::new(),
            first_run,
        }
    }

    /// Ends what goes on in the background when it is dropped.
    pub fn guard(&self) -> DropGuard {
        self.given_up.clone().drop_guard()
    }

    /// Waits until nobody needs the engine any more: what goes on in the background ends then.
    pub fn given_up(&self) -> WaitForCancellationFuture<'_> {
        self.given_up.cancelled()
    }

    /// Whether nobody has used this library before.
    pub fn first_run(&self) -> bool {
        self.first_run
    }

    /// What is known to be missing or altered, in a sentence.
    pub fn damage(&self) -> Option<String> {
        let problems = self.library.known_problems();
        (!problems.is_empty()).then(|| summary(&problems, problems.len() as u64))
    }

    /// Why nothing can be changed now, in a sentence: also while the disk of a library that is open has no
    /// room for the smallest change.
    pub fn why_read_only(&self) -> Option<&'static str> {
        match self.library.writable() {
            Ok(()) => None,
            Err(LibraryError::DiskFull { .. }) => Some("the disk is full: nothing can be changed"),
            Err(_) => Some("it cannot be written: nothing can be changed"),
        }
    }

    /// Commits a batch and tells of it.
    ///
    /// # Errors
    /// What refused the batch; nothing of it is stored then.
    pub async fn commit(&self, meta: &Meta, writes: &[Write]) -> Result<Committed> {
        let committed = self.library.commit(meta, writes).await?;
        if committed.change.is_some() {
            self.tell_library();
        }
        Ok(committed)
    }

    /// The card a person means: by id, or by name when one card alone has it.
    ///
    /// # Errors
    /// `not_found` when there is none, or several.
    pub fn find(&self, text: &str) -> Result<Arc<CardRecord>> {
        self.library.read(|replica| find(replica, text))
    }

    /// Cards in whose JSON one of these stands.
    pub fn cards_with(&self, quoted: &[&str]) -> Vec<Arc<CardRecord>> {
        self.library.read(|replica| replica.containing(quoted).cloned().collect())
    }

    /// Where news of this library goes out.
    pub fn events(&self) -> &broadcast::Sender<Event> {
        &self.events
    }

    /// Sends news to whoever listens.
    pub fn tell(&self, event: Event) {
        // Nobody listening is fine.
        let _ = self.events.send(event);
    }

    /// Tells that cards changed.
    pub fn tell_library(&self) {
        self.tell(Event::Library { cursor: self.library.read(Replica::cursor) });
        self.tools_changed();
    }

    /// Tells how many proposals wait.
    pub async fn tell_proposals(&self) -> Result<()> {
        let waiting = self.library.count_waiting().await?;
        self.waiting.store(waiting, Ordering::Relaxed);
        self.tell(Event::Proposals { waiting });
        Ok(())
    }

    /// How many proposals waited when that was told last.
    pub fn proposals_waiting(&self) -> u32 {
        self.waiting.load(Ordering::Relaxed)
    }

    /// Has the tools of all agents' sessions looked at again, now that what they depend on has changed.
    pub fn tools_changed(&self) {
        self.tools.send_modify(|version| *version += 1);
    }

    /// A number that grows with each of those changes.
    pub fn tools(&self) -> watch::Receiver<u64> {
        self.tools.subscribe()
    }

    /// What is saved under a setting, as JSON; none if nothing is.
    pub async fn saved<T: DeserializeOwned>(&self, setting: Setting) -> Result<Option<T>> {
        match self.library.setting(key(setting)).await?.as_deref() {
            None | Some("") => Ok(None),
            Some(text) => serde_json::from_str(text).map(Some).map_err(|error| {
                ApiError::internal(format!("the setting {:?} cannot be read: {error}", key(setting)))
            }),
        }
    }

    /// Saves something under a setting, and tells whoever shows it.
    pub async fn save<T: Serialize + ?Sized>(&self, setting: Setting, value: &T) -> Result<()> {
        let text = serde_json::to_string(value).map_err(|error| ApiError::internal(error.to_string()))?;
        self.library.set_setting(key(setting), &text).await?;
        self.tell(Event::Setting { setting });
        Ok(())
    }

    /// Saves nothing under a setting any more.
    pub async fn clear(&self, setting: Setting) -> Result<()> {
        self.library.set_setting(key(setting), "").await?;
        self.tell(Event::Setting { setting });
        Ok(())
    }
}

/// The first problems in words, and how many more there are.
pub fn summary(problems: &[Problem], count: u64) -> String {
    const NAMED: usize = 3;
    let named: Vec<String> = problems.iter().take(NAMED).map(ToString::to_string).collect();
    let more = count.saturating_sub(named.len() as u64);
    if more == 0 { named.join("; ") } else { format!("{}; and {more} more", named.join("; ")) }
}

/// The card a person means: by id, or by name when one card alone has it.
fn find(replica: &Replica, text: &str) -> Result<Arc<CardRecord>> {
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
            format!("there is no card {text:?}"),
            "See what there is in the Library.",
        )),
        several => {
            let ids: Vec<String> = several.iter().map(|record| record.id.to_string()).collect();
            Err(ApiError::new(
                ErrorCode::NotFound,
                format!("{} cards are named {text:?}", several.len()),
                format!("Use one of the ids: {}", ids.join(", ")),
            ))
        }
    }
}

/// The name of a setting in the store.
fn key(setting: Setting) -> &'static str {
    match setting {
        Setting::AgentsHttp => "agents_http",
        Setting::ApiKeys => "api_keys",
        Setting::BundleKeys => "bundle_keys",
        Setting::Checks => "checks",
        Setting::MarketSources => "market_sources",
        Setting::McpServers => "mcp_servers",
        Setting::Profiles => "profiles",
        Setting::Review => "review",
        Setting::Spending => "spending",
        Setting::Subscriptions => "subscriptions",
        Setting::VerifyRun => "verify_run",
        Setting::VouchedTools => "vouched_tools",
    }
}

/// A setting that is read from the library once. Whoever changes it has to see to it that nobody else does
/// meanwhile.
#[derive(Debug)]
pub struct Cached<T> {
    setting: Setting,
    value: Mutex<Option<Arc<T>>>,
}

impl<T: Default + Serialize + DeserializeOwned> Cached<T> {
    /// Nothing read yet.
    pub fn new(setting: Setting) -> Cached<T> {
        Cached { setting, value: Mutex::new(None) }
    }

    /// As it is saved; empty if nothing is.
    pub async fn read(&self, workspace: &Workspace) -> Result<Arc<T>> {
        if let Some(known) = &*self.value.lock().expect("no holder panics") {
            return Ok(Arc::clone(known));
        }
        let read = Arc::new(workspace.saved(self.setting).await?.unwrap_or_default());
        *self.value.lock().expect("no holder panics") = Some(Arc::clone(&read));
        Ok(read)
    }

    /// Saves it from now on.
    pub async fn write(&self, workspace: &Workspace, value: T) -> Result<()> {
        workspace.save(self.setting, &value).await?;
        *self.value.lock().expect("no holder panics") = Some(Arc::new(value));
        Ok(())
    }
}
