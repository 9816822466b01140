//! Limits concurrent requests per host, and pauses between requests if the site asks for it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// Most hosts remembered; beyond that, idle ones are evicted.
const MAX_HOSTS: usize = 1024;

/// Longest pause granted to a site that asks for one (`Crawl-delay`).
const LONGEST_PAUSE: Duration = Duration::from_secs(10);

/// How long a completed request still counts as running, because the host has to clean up.
const COOL_DOWN: Duration = Duration::from_millis(15);

/// How long an aborted connection still counts as running: it continues on the other side until the host
/// notices, and a host too slow to respond should not be asked again at once.
const ABORT_COOL_DOWN: Duration = Duration::from_secs(1);

#[derive(Debug)]
struct Host {
    permits: Arc<Semaphore>,
    /// When the next request may start.
    next: Arc<tokio::sync::Mutex<Instant>>,
}

/// The request queue of every host.
#[derive(Debug)]
pub(crate) struct Hosts {
    at_once: usize,
    hosts: Mutex<HashMap<String, Host>>,
}

impl Hosts {
    pub(crate) fn new(at_once: usize) -> Hosts {
        Hosts { at_once, hosts: Mutex::default() }
    }

    /// Waits for a permit for `host` (name and port); hold it until the response is read.
    pub(crate) async fn acquire(&self, host: &str, pause: Option<Duration>) -> HostPermit {
        let (permits, next) = {
            let mut hosts = self.hosts.lock().unwrap_or_else(PoisonError::into_inner);
            if hosts.len() >= MAX_HOSTS && !hosts.contains_key(host) {
                let at_once = self.at_once;
                hosts.retain(|_, host| host.permits.available_permits() < at_once);
            }
            let host = hosts.entry(host.to_owned()).or_insert_with(|| Host {
                permits: Arc::new(Semaphore::new(self.at_once)),
                next: Arc::new(tokio::sync::Mutex::new(Instant::now())),
            });
            (Arc::clone(&host.permits), Arc::clone(&host.next))
        };
        let permit =
            permits.acquire_owned().await.unwrap_or_else(|_| unreachable!("the semaphore is never closed"));
        if let Some(pause) = pause {
            // The lock is held while waiting, so that each request behind starts one pause later.
            let mut next = next.lock().await;
            tokio::time::sleep_until(*next).await;
            *next = Instant::now() + pause.min(LONGEST_PAUSE);
        }
        HostPermit(Some(permit))
    }
}

/// A permit to make a request to a host.
#[derive(Debug)]
pub(crate) struct HostPermit(Option<OwnedSemaphorePermit>);

impl HostPermit {
    /// Releases the permit after a response was read completely.
    pub(crate) fn release(mut self) {
        if let Some(permit) = self.0.take() {
            release_after(permit, COOL_DOWN);
        }
    }
}

impl Drop for HostPermit {
    /// Releases a permit that was not passed to `release`: the connection was aborted.
    fn drop(&mut self) {
        if let Some(permit) = self.0.take() {
            release_after(permit, ABORT_COOL_DOWN);
        }
    }
}

/// Releases a permit after a delay. Without a runtime nobody is waiting for it.
fn release_after(permit: OwnedSemaphorePermit, after: Duration) {
    if let Ok(runtime) = tokio::runtime::Handle::try_current() {
        runtime.spawn(async move {
            tokio::time::sleep(after).await;
            drop(permit);
        });
    }
}
