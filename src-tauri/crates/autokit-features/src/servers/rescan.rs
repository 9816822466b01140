//! Schedules when servers are scanned again.

use std::collections::{HashMap, HashSet};
use std::time::{Duration, Instant};

use super::Servers;

/// Minimum time between two scans of a server that keeps reporting changes.
const LOOK_EVERY: Duration = Duration::from_secs(30);

/// The schedule of scans: at once when a server reports a change, and then not again for a while, however
/// often it reports one.
#[derive(Default)]
struct RescanSchedule {
    last: HashMap<String, Instant>,
    wanted: HashSet<String>,
}

impl RescanSchedule {
    fn wanted(&mut self, server: String) {
        self.wanted.insert(server);
    }

    fn wait(&self, server: &str) -> Duration {
        self.last.get(server).map_or(Duration::ZERO, |last| LOOK_EVERY.saturating_sub(last.elapsed()))
    }

    fn next(&self) -> Option<Duration> {
        self.wanted.iter().map(|server| self.wait(server)).min()
    }

    fn due(&mut self) -> Vec<String> {
        let due: Vec<String> =
            self.wanted.iter().filter(|server| self.wait(server).is_zero()).cloned().collect();
        for server in &due {
            self.wanted.remove(server);
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
            let mut looks = RescanSchedule::default();
            loop {
                let wait = looks.next().map_or(pause, |next| next.min(pause));
                let news = tokio::select! {
                    news = tokio::time::timeout(wait, changes.recv()) => news,
                    () = servers.workspace.given_up() => return,
                };
                match news {
                    Ok(Some(server)) => {
                        servers.known.clear_live_digests(&server);
                        looks.wanted(server);
                    }
                    // The pool was dropped, and the engine with it.
                    Ok(None) => return,
                    Err(_) => pause = servers.known.pool().stop_idle().await,
                }
                for server in looks.due() {
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
    fn a_server_that_never_stops_changing_is_looked_at_now_and_then() {
        let mut looks = RescanSchedule::default();
        assert_eq!((looks.next(), looks.due().len()), (None, 0));
        looks.wanted("a".to_owned());
        assert_eq!(looks.next(), Some(Duration::ZERO));
        assert_eq!(looks.due(), ["a"]);
        for _ in 0..100 {
            looks.wanted("a".to_owned());
            assert!(looks.due().is_empty());
        }
        assert!(looks.next().is_some_and(|next| !next.is_zero() && next <= LOOK_EVERY));
        looks.wanted("b".to_owned());
        assert_eq!(looks.due(), ["b"]);
    }
}
