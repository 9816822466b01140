//! How long a process waits for an owner to respond.

use std::time::{Duration, Instant};

use crate::host::Endpoint;

/// How long a published endpoint may not respond. An owner that was killed keeps the store, and its port, until
/// the system has finished what it was writing, which takes a while on a busy disk.
const RESPONSE_TIMEOUT: Duration = Duration::from_secs(30);
/// How long an owner may take in total, including startup and shutdown: a large library on a busy machine
/// is opened, or written back, in that time.
const TOTAL_TIMEOUT: Duration = Duration::from_mins(2);

/// The failures observed so far, starting with the first failed attempt.
#[derive(Debug, Default)]
pub(super) struct OwnerTimeout {
    began: Option<Instant>,
    /// The endpoint that does not respond, and since when.
    unresponsive: Option<(Endpoint, Instant)>,
}

impl OwnerTimeout {
    /// Returns whether to give up after an attempt that failed at `now`: at the endpoint `published`, or
    /// because none is published while somebody owns the store.
    pub(super) fn is_over(&mut self, now: Instant, published: Option<&Endpoint>) -> bool {
        let began = *self.began.get_or_insert(now);
        let unresponsive = published.map(|endpoint| match self.unresponsive.take() {
            Some((known, since)) if known == *endpoint => (known, since),
            _ => (endpoint.clone(), now),
        });
        let silence = unresponsive.as_ref().map_or(Duration::ZERO, |(_, since)| now - *since);
        self.unresponsive = unresponsive;
        silence > RESPONSE_TIMEOUT || now - began > TOTAL_TIMEOUT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(port: u16) -> Endpoint {
        Endpoint { pid: 1, port, token: "t".into(), version: "0".into(), protocol: 1 }
    }

    /// Returns after how many seconds it gives up, if it tries what is published once a second.
    fn gives_up_after(published: impl Fn(u64) -> Option<Endpoint>) -> u64 {
        let (mut timeout, now) = (OwnerTimeout::default(), Instant::now());
        (0..240)
            .find(|second| timeout.is_over(now + Duration::from_secs(*second), published(*second).as_ref()))
            .expect("times out within four minutes")
    }

    #[test]
    fn an_owner_that_starts_or_ends_gets_more_time_than_one_that_does_not_respond() {
        assert_eq!(gives_up_after(|_| Some(endpoint(1))), 31);
        assert_eq!(gives_up_after(|_| None), 121);
        // Unresponsive, then withdrawn: it is shutting down.
        assert_eq!(gives_up_after(|second| (second < 29).then(|| endpoint(1))), 121);
        // Each owner gets its own time, but not forever.
        assert_eq!(gives_up_after(|second| Some(endpoint(u16::from(second >= 8)))), 39);
        assert_eq!(gives_up_after(|second| Some(endpoint((second / 8) as u16))), 121);
    }

    #[test]
    fn the_timeout_starts_with_the_first_failure() {
        let now = Instant::now();
        let mut timeout = OwnerTimeout::default();
        let later = now + Duration::from_mins(5);
        assert!(!timeout.is_over(later, Some(&endpoint(1))));
        assert!(!timeout.is_over(later + RESPONSE_TIMEOUT, Some(&endpoint(1))));
        assert!(timeout.is_over(later + RESPONSE_TIMEOUT + Duration::from_millis(1), Some(&endpoint(1))));
    }
}
