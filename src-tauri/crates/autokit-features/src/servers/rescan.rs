//! Schedules when servers are scanned again.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use super::Servers;

/// Minimum time between two scans of a server that keeps reporting changes.
const MIN_SCAN_INTERVAL: Duration = Duration::from_secs(30);

/// The schedule of scans: at once when a server reports a change, and then not again for a while, however
/// often it reports one.
#[derive(Default)]
struct RescanSchedule {
    last: HashMap<String, Instant>,
    requested: HashSet<String>,
}

impl RescanSchedule {
    fn request(&mut self, server: String) {
        self.requested.insert(server);
    }

    fn wait(&self, server: &str) -> Duration {
        self.last.get(server).map_or(Duration::ZERO, |last| MIN_SCAN_INTERVAL.saturating_sub(last.elapsed()))
    }

    fn next(&self) -> Option<Duration> {
        self.requested.iter().map(|server| self.wait(server)).min()
    }

    fn due(&mut self) -> Vec<String> {
        let due: Vec<String> =
            self.requested.iter().filter(|server| self.wait(server).is_zero()).cloned().collect();
        for server in &due {
            self.requested.remove(server);
            self.last.insert(server.clone(), Instant::now());
        }
        due
    }
}

impl Servers {
    /// Watches the servers while this process runs: scans those that report changed tools, and stops those
    /// that are idle.
    pub fn watch_servers(&self) {
        let Some(mut changes) = self.known.take_changes() else { return };
        let servers = self.clone();
        tokio::spawn(async move {
            let mut pause = Duration::from_secs(1);
            let mut schedule = RescanSchedule::default();
            loop {
                let wait = schedule.next().map_or(pause, |next| next.min(pause));
                let change = tokio::select! {
                    change = tokio::time::timeout(wait, changes.recv()) => change,
                    () = servers.workspace.wait_for_shutdown() => return,
                };
                match change {
                    Ok(Some(server)) => {
                        servers.known.clear_live_digests(&server);
                        schedule.request(server);
                    }
                    // The pool was dropped, and the engine with it.
                    Ok(None) => return,
                    Err(_) => pause = servers.known.pool().stop_idle().await,
                }
                for server in schedule.due() {
                    // The server may have been removed meanwhile.
                    if servers.known.get(&server).await.is_ok() {
                        servers.start_scan(server);
                    }
                }
            }
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_keeps_changing_is_scanned_only_once_in_a_while() {
        let mut schedule = RescanSchedule::default();
        assert_eq!((schedule.next(), schedule.due().len()), (None, 0));
        schedule.request("a".to_owned());
        assert_eq!(schedule.next(), Some(Duration::ZERO));
        assert_eq!(schedule.due(), ["a"]);
        for _ in 0..100 {
            schedule.request("a".to_owned());
            assert!(schedule.due().is_empty());
        }
        assert!(schedule.next().is_some_and(|next| !next.is_zero() && next <= MIN_SCAN_INTERVAL));
        schedule.request("b".to_owned());
        assert_eq!(schedule.due(), ["b"]);
    }
}
