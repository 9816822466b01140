//! Watching the files of sources, so that what changes is read again.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use notify::event::EventKind;
use notify::{Event, RecommendedWatcher, RecursiveMode, Watcher as _};
use tokio::sync::mpsc;

/// Editors write a file in several steps: changes this close together are one.
const SETTLE: Duration = Duration::from_millis(300);

/// Watches the places of sources.
pub(crate) struct Watcher {
    system: RecommendedWatcher,
    /// Places by the id of their source, shared with the thread that gets events.
    places: Arc<Mutex<HashMap<String, PathBuf>>>,
}

impl Watcher {
    /// Starts watching. `changed` is called on the current tokio runtime with the id of a source when some of its files
    /// changed, as long as `owner` lives.
    ///
    /// # Errors
    /// When the system cannot watch files.
    pub(crate) fn new<T: Send + Sync + 'static>(
        owner: &Arc<T>,
        changed: impl Fn(Arc<T>, String) + Send + 'static,
    ) -> notify::Result<Watcher> {
        let places: Arc<Mutex<HashMap<String, PathBuf>>> = Arc::default();
        let (sender, receiver) = mpsc::unbounded_channel();
        let known = Arc::clone(&places);
        let system = notify::recommended_watcher(move |event: notify::Result<Event>| {
            let Ok(event) = event else { return };
            if matches!(event.kind, EventKind::Access(_)) {
                return;
            }
            for (source, place) in known.lock().expect("no holder panics").iter() {
                if event.paths.iter().any(|path| path.starts_with(place)) {
                    // The receiver is gone when the memory is.
                    let _ = sender.send(source.clone());
                }
            }
        })?;
        tokio::spawn(follow(receiver, Arc::downgrade(owner), changed));
        Ok(Watcher { system, places })
    }

    /// Watches a file or folder for a source.
    ///
    /// # Errors
    /// When it cannot be watched.
    pub(crate) fn watch(&mut self, source: &str, location: &str) -> notify::Result<()> {
        let place = PathBuf::from(location);
        let mut places = self.places.lock().expect("no holder panics");
        if places.contains_key(source) {
            return Ok(());
        }
        // A file is replaced by renaming: its folder is watched.
        let (watched, mode) = if place.is_file() {
            (place.parent().unwrap_or(Path::new("/")).to_owned(), RecursiveMode::NonRecursive)
        } else {
            (place.clone(), RecursiveMode::Recursive)
        };
        places.insert(source.to_owned(), place);
        drop(places);
        self.system.watch(&watched, mode)
    }

    /// Stops reporting changes of a source.
    pub(crate) fn stop(&mut self, source: &str) {
        let Some(place) = self.places.lock().expect("no holder panics").remove(source) else { return };
        if place.is_dir() && self.system.unwatch(&place).is_err() {
            tracing::debug!(place = %place.display(), "was not watched");
        }
    }
}

/// Calls `changed` once for changes that follow each other closely.
async fn follow<T: Send + Sync>(
    mut receiver: mpsc::UnboundedReceiver<String>,
    owner: Weak<T>,
    changed: impl Fn(Arc<T>, String),
) {
    while let Some(source) = receiver.recv().await {
        let mut sources = vec![source];
        loop {
            match tokio::time::timeout(SETTLE, receiver.recv()).await {
                Ok(Some(source)) => sources.push(source),
                Ok(None) => return,
                Err(_) => break,
            }
        }
        sources.sort_unstable();
        sources.dedup();
        let Some(owner) = owner.upgrade() else { return };
        for source in sources {
            changed(Arc::clone(&owner), source);
        }
    }
}
