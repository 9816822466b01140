//! What a site's robots.txt allows (RFC 9309), read by `texting_robots`.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use lru::LruCache;
use texting_robots::Robot;
use tokio::sync::OnceCell;
use tokio::time::Instant;

/// How long rules are cached; RFC 9309 2.4 allows a day at most.
const CACHE_TTL: Duration = Duration::from_hours(24);

/// How long a failed request for rules is cached.
const FAILURE_TTL: Duration = Duration::from_mins(5);

/// Most origins cached.
const CACHE_SIZE: NonZeroUsize = NonZeroUsize::new(1024).unwrap();

/// The rules of one origin.
#[derive(Debug)]
pub(crate) enum Rules {
    /// There are no rules.
    Open,
    /// The parsed rules.
    Listed(Box<Robot>),
    /// The site responds but cannot say; RFC 9309 2.3.1.4 requires treating this as a refusal.
    Unknown(String),
    /// The site does not respond. Nothing is refused here, because the page's own error explains it better.
    Unreachable,
}

impl Rules {
    /// Derives the rules from the site's response.
    pub(crate) fn read(agent: &str, status: u16, body: &[u8]) -> Rules {
        match status {
            200..=299 => match Robot::new(agent, body) {
                Ok(robot) => Rules::Listed(Box::new(robot)),
                Err(error) => {
                    tracing::debug!(%error, "failed to parse robots.txt; allowing all URLs");
                    Rules::Open
                }
            },
            500..=599 | 429 => Rules::Unknown(format!("robots.txt returned {status}")),
            _ => Rules::Open,
        }
    }

    /// Returns why a URL may not be read; `None` if it may.
    pub(crate) fn refusal(&self, url: &str) -> Option<String> {
        match self {
            Rules::Open | Rules::Unreachable => None,
            Rules::Listed(robot) => (!robot.allowed(url)).then(|| "robots.txt disallows it".to_owned()),
            Rules::Unknown(reason) => Some(reason.clone()),
        }
    }

    /// Returns the pause between requests that the site asks for.
    pub(crate) fn pause(&self) -> Option<Duration> {
        match self {
            Rules::Listed(robot) => robot.delay.and_then(|seconds| Duration::try_from_secs_f32(seconds).ok()),
            _ => None,
        }
    }
}

#[derive(Debug)]
struct CachedRules {
    since: Instant,
    rules: Arc<OnceCell<Arc<Rules>>>,
}

/// Rules by origin; requested once, however many tasks wait for them.
#[derive(Debug)]
pub(crate) struct RobotsCache(Mutex<LruCache<String, CachedRules>>);

impl Default for RobotsCache {
    fn default() -> RobotsCache {
        RobotsCache(Mutex::new(LruCache::new(CACHE_SIZE)))
    }
}

impl RobotsCache {
    /// Returns the rules of `origin`, calling `ask` if they are not cached.
    pub(crate) async fn rules<F>(&self, origin: &str, ask: impl FnOnce() -> F) -> Arc<Rules>
    where
        F: Future<Output = Rules>,
    {
        let cell = {
            let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            let old = known.get(origin).is_some_and(|entry| {
                let ttl = match entry.rules.get().map(|rules| &**rules) {
                    Some(Rules::Unreachable) => Duration::ZERO,
                    Some(Rules::Unknown(_)) => FAILURE_TTL,
                    _ => CACHE_TTL,
                };
                entry.since.elapsed() > ttl
            });
            if old {
                known.pop(origin);
            }
            let entry = known.get_or_insert_mut(origin.to_owned(), || CachedRules {
                since: Instant::now(),
                rules: Arc::default(),
            });
            Arc::clone(&entry.rules)
        };
        Arc::clone(cell.get_or_init(|| async { Arc::new(ask().await) }).await)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn robots_files_are_read_as_the_standard_says() {
        let text = b"User-agent: *\nDisallow: /private/\n\nUser-agent: autokit\nDisallow: /not-for-us\nCrawl-delay: 2\n";
        let rules = Rules::read("AutoKit", 200, text);
        assert!(rules.refusal("https://example.org/not-for-us/x").is_some());
        assert!(
            rules.refusal("https://example.org/private/x").is_none(),
            "our own group replaces the general one"
        );
        assert_eq!(rules.pause(), Some(Duration::from_secs(2)));
        assert!(Rules::read("AutoKit", 404, b"").refusal("https://example.org/").is_none());
        assert!(Rules::read("AutoKit", 503, b"").refusal("https://example.org/").is_some());
    }
}
