//! Keeping in step for as long as the library is open: at once when something changes, and again when the server answers
//! after it did not.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use autokit_library::{Clock, Library};
use autokit_team::{Address, Changed, Code, Connection, Session};
use autokit_toolcard::Timestamp;
use futures_util::StreamExt as _;
use sha2::{Digest as _, Sha256};
use tokio::sync::{Notify, watch};
use tokio::time::Instant;

use crate::embedding::Embedding;
use crate::error::{Result, SyncError};
use crate::send::unsent;
use crate::sync::{Report, SyncScope, TeamSync, forget_team};

/// How long to wait before connecting again, at first and at most.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_mins(1);
/// How long after looking at everything to do so again: a connection that ended says nothing of it, and what took long to
/// write is not among the news.
const WHOLE: Duration = Duration::from_secs(15);

/// Where a team's library is, and as whom to sign in.
#[derive(Clone)]
pub struct Membership {
    /// Where the team's databases are.
    pub address: Address,
    /// The database of this team.
    pub database: String,
    /// Name of the member.
    pub name: String,
    /// Their password.
    pub password: String,
}

impl std::fmt::Debug for Membership {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Membership")
            .field("address", &self.address)
            .field("database", &self.database)
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl Membership {
    /// Signs in.
    ///
    /// # Errors
    /// `Unreachable`; `SignIn` for a wrong password; `Removed`.
    pub async fn sign_in(&self) -> Result<Session> {
        let connection = Connection::open(&self.address, None).await?;
        Ok(Session::sign_in(&connection, &self.database, &self.name, &self.password).await?)
    }

    /// Signs in to keep a replica in step, which forgets everything if the member was removed.
    ///
    /// # Errors
    /// As [`Membership::sign_in`]; when the library cannot be read or written.
    pub async fn sync_of(
        &self,
        library: &Arc<Library>,
        embedding: Option<Arc<dyn Embedding>>,
    ) -> Result<TeamSync> {
        let sync = match self.sign_in().await {
            Err(SyncError::Team(error)) if error.code == Code::Removed => {
                forget_team(library).await?;
                return Err(error.into());
            }
            session => TeamSync::new(Arc::clone(library), session?).await?,
        };
        Ok(match embedding {
            Some(embedding) => sync.with_embedding(embedding),
            None => sync,
        })
    }
}

/// How a replica and its team stand.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct State {
    /// Whether changes arrive as they happen.
    pub is_connected: bool,
    /// Why not, if it was tried; or else what the team does not take.
    pub error: Option<String>,
    /// When this library last caught up with the team.
    pub synced_at: Option<Timestamp>,
    /// Cards with changes that the team does not have yet.
    pub unsent: usize,
    /// What was done since the library was opened.
    pub total: Report,
    /// Number of the last round that looked at everything; see [`Following::next_round`].
    pub round: u64,
}

/// A follower, as others see it.
#[derive(Clone, Debug)]
pub struct Following {
    state: watch::Receiver<State>,
    /// Number of rounds that began to look at everything.
    begun: Arc<AtomicU64>,
    changed: Arc<Notify>,
}

impl Following {
    /// Returns how the replica stands, now and whenever that changes.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.clone()
    }

    /// Returns the outcome of a round that begins after this call and looks at everything: one that is under way may have
    /// asked before.
    pub async fn next_round(&self) -> State {
        let next = self.begun.load(Ordering::Acquire) + 1;
        self.changed.notify_one();
        let mut state = self.state.clone();
        // Fails only if the follower ended, whose last state then stands.
        let outcome = state.wait_for(|state| state.round >= next).await.map(|state| state.clone());
        outcome.unwrap_or_else(|_| self.state.borrow().clone())
    }
}

/// How much longer or shorter a member waits than others, 0.5 to 1.5: after a server was gone, they do not all come at once.
fn spread(name: &str) -> f64 {
    let digest = Sha256::digest(name.as_bytes());
    0.5 + f64::from(digest[0]) / f64::from(u8::MAX)
}

/// Keeps a library in step with its team's.
#[derive(Debug)]
pub struct Follower {
    library: Arc<Library>,
    membership: Membership,
    clock: Clock,
    changed: Arc<Notify>,
    embedding: Option<Arc<dyn Embedding>>,
    state: watch::Sender<State>,
    begun: Arc<AtomicU64>,
}

impl Follower {
    /// Prepares to follow. `changed` is notified when something changed here.
    pub fn new(
        library: Arc<Library>,
        membership: Membership,
        clock: Clock,
        changed: Arc<Notify>,
    ) -> Follower {
        let (state, begun) = (watch::Sender::default(), Arc::default());
        Follower { library, membership, clock, changed, embedding: None, state, begun }
    }

    /// Shares vectors with the team.
    #[must_use]
    pub fn with_embedding(mut self, embedding: Arc<dyn Embedding>) -> Follower {
        self.embedding = Some(embedding);
        self
    }

    /// Returns how the replica stands, now and whenever that changes.
    pub fn state(&self) -> watch::Receiver<State> {
        self.state.subscribe()
    }

    /// Returns what others see of it.
    pub fn following(&self) -> Following {
        Following { state: self.state(), begun: Arc::clone(&self.begun), changed: Arc::clone(&self.changed) }
    }

    fn begin(&self) -> u64 {
        self.begun.fetch_add(1, Ordering::AcqRel) + 1
    }

    /// Follows until the future is dropped.
    pub async fn run(&self) {
        let mut pause = FIRST_PAUSE;
        loop {
            let before = self.state.borrow().synced_at;
            let ended = self.follow().await;
            if let Err(error) = &ended {
                tracing::warn!(%error, "the connection to the team ended");
            }
            // Whoever waits for the next round learns that it failed.
            let round = self.begin();
            self.state.send_modify(|state| {
                state.round = round;
                state.is_connected = false;
                state.error = ended.err().map(|error| error.to_string());
            });
            // Whoever was connected for a while tries again soon.
            pause = if self.state.borrow().synced_at == before {
                (pause * 2).min(LONGEST_PAUSE)
            } else {
                FIRST_PAUSE
            };
            tokio::select! {
                () = tokio::time::sleep(pause.mul_f64(spread(&self.membership.name))) => {}
                // Somebody edits: a good moment to see whether the server answers again.
                () = self.changed.notified() => self.count_unsent().await,
            }
        }
    }

    /// Synchronizes whenever something changed here or there, until the connection ends.
    async fn follow(&self) -> Result<()> {
        let mut sync = self.membership.sync_of(&self.library, self.embedding.clone()).await?;
        let changes = sync.session().watch().await?;
        let mut watched = sync.narrowed();
        let mut changes = changes.ready_chunks(usize::from(u8::MAX)).boxed();
        let mut look = SyncScope::Whole;
        let mut whole_at = Instant::now();
        loop {
            let round = if look == SyncScope::Whole { self.begin() } else { self.state.borrow().round };
            let report = sync.round(look).await?;
            if look == SyncScope::Whole {
                whole_at = Instant::now();
            }
            look = SyncScope::Whole;
            let (now, (unsent, problem)) = (self.clock.stamp(), sync.behind());
            // Not for each look at a library in which nothing changed: that would write all day.
            if report != Report::default() || self.state.borrow().synced_at.is_none() {
                sync.note_synced(now).await?;
            }
            self.state.send_modify(|state| {
                state.round = round;
                state.is_connected = true;
                state.error = problem;
                state.synced_at = Some(now);
                state.unsent = unsent;
                state.total.add(&report);
            });
            if sync.narrowed() != watched {
                // It was told of what could be seen when it began to listen.
                watched = sync.narrowed();
                // What it was told until now goes with the old stream.
                sync.mark_directory_stale();
                changes = sync.session().watch().await?.ready_chunks(usize::from(u8::MAX)).boxed();
                continue;
            }
            tokio::select! {
                // News do not put off what somebody waits for.
                biased;
                () = self.changed.notified() => {}
                () = tokio::time::sleep_until(whole_at + WHOLE) => {}
                next = changes.next() => match next {
                    Some(next) => {
                        look = SyncScope::News { proposals: false };
                        for changed in next {
                            let changed = changed?;
                            look = look.widened_for(changed);
                            if changed == Changed::Members {
                                sync.mark_directory_stale();
                            }
                        }
                    }
                    None => return Ok(()),
                },
            }
        }
    }

    async fn count_unsent(&self) {
        match unsent(&self.library).await {
            Ok(cards) => self.state.send_modify(|state| state.unsent = cards.len()),
            Err(error) => tracing::warn!(%error, "failed to count what the team does not have"),
        }
    }
}
