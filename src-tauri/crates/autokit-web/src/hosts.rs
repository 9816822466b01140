//! At most a few connections to one host at a time, and a pause where the site asks for one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Hosts remembered; idle ones are forgotten beyond that.
const REMEMBERED: usize = 1024;

/// Longest pause granted to a site that asks for one (`Crawl-delay`).
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How long a request that was answered counts as one still: the host has to put it away.
const BREATH: Duration = Duration::from_millis(15);

/// How long a connection that was broken off counts as one still: it goes on at the other end until the
/// host notices, and a host too slow to answer is not to be asked again at once.
const AFTERMATH: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Host {
    places: Arc<Semaphore>,
    /// When the next request may start.
    next: Arc<tokio::sync::Mutex<Instant>>,
}

/// The queue in front of every host.
#[derive(Debug)]
pub(crate) struct Hosts {
    at_once: usize,
    hosts: Mutex<HashMap<String, Host>>,
}

impl Hosts {
    pub(crate) fn new(at_once: usize) -> Hosts {
        Hosts { at_once, hosts: Mutex::default() }
    }

    /// Waits for a place at `host` (name and port); keep it until the answer is read.
    pub(crate) async fn enter(&self, host: &str, pause: Option<Duration>) -> Place {
        let (places, next) = {
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            if hosts.len() >= REMEMBERED && !hosts.contains_key(host) {
                let at_once = self.at_once;
                hosts.retain(|_, host| host.places.available_permits() < at_once);
            }
            let host = hosts.entry(host.to_owned()).or_insert_with(|| Host {
                places: Arc::new(Semaphore::new(self.at_once)),
                next: Arc::new(tokio::sync::Mutex::new(Instant::now())),
            });
            (Arc::clone(&host.places), Arc::clone(&host.next))
        };
        let place = places.acquire_owned().await.unwrap_or_else(|_| unreachable!("never closed"));
        if let Some(pause) = pause {
            // Held while waiting: those behind start one pause later each.
            let mut next = next.lock().await;
            tokio::time::sleep_until(*next).await;
            *next = Instant::now() + pause.min(LONGEST_PAUSE);
        }
        Place(Some(place))
    }
}

/// A place in front of a host.
#[derive(Debug)]
pub(crate) struct Place(Option<OwnedSemaphorePermit>);

impl Place {
    /// Gives the place back after an answer that was read to its end.
    pub(crate) fn leave(mut self) {
        if let Some(place) = self.0.take() {
            hold(place, BREATH);
        }
    }
}

impl Drop for Place {
    /// Not left in order: the connection was broken off.
    fn drop(&mut self) {
        if let Some(place) = self.0.take() {
            hold(place, AFTERMATH);
        }
    }
}

/// Gives a place back after a while. Without a runtime nobody is waiting for it.
fn hold(place: OwnedSemaphorePermit, after: Duration) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move {
            tokio::time::sleep(after).await;
            drop(place);
        });
    }
}
