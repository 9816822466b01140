//! An engine for measurements: an in-memory library, a SearXNG-compatible search, and a clock that can be
//! advanced.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use autokit_api::commands::{
    Context, CreateCard, GetProposal, GetVerification, Handle, ListProposals, SetProviders, StartVerify,
    WaitJob,
};
use autokit_api::{
    CardCreate, CardRef, CardVerification, JobRef, JobState, JobWait, ProposalGet, ProposalsQuery,
    ProviderSettings, SearchKind, VerifyScope, VerifyStart,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{Clock, Storage};
use autokit_toolcard::{CardId, ProposalState, fields};
use jiff::{SignedDuration, Timestamp};
use serde_json::{Map, Value};
use tokio::sync::broadcast;

use autokit_app::engine::{Engine, EngineOptions, Vectors};
use autokit_app::secrets::KeyStorage;

/// How often the clock is advanced at most to try pages again.
const MAX_ROUNDS: usize = 10;

/// An engine for measurements.
#[derive(Debug)]
pub(super) struct EvalEngine {
    engine: Arc<Engine>,
    context: Context,
    clock: Clock,
    clock_offset: Arc<AtomicI64>,
    site: String,
}

/// A card in the setup: its id there, and the card as it was added, with an absolute URL.
#[derive(Clone, Debug)]
pub(super) struct AddedCard {
    pub(super) id: CardId,
    pub(super) card: Map<String, Value>,
}

impl EvalEngine {
    /// An empty library and a site. URLs without a host are resolved against the site.
    ///
    /// # Errors
    /// `bad_request` when the site is not a valid URL; errors of opening the engine.
    pub(super) async fn open(site: &str, vectors: &Vectors) -> Result<EvalEngine> {
        let site = site.trim_end_matches('/').to_owned();
        let host = url::Url::parse(&site).ok().and_then(|url| url.host_str().map(str::to_owned));
        let host = host.ok_or_else(|| {
            ApiError::new(ErrorCode::BadRequest, format!("{site} is not a URL"), "Set the site with --site.")
        })?;
        // The clock is advanced by hand, so that a retry after a day does not take a day.
        let clock_offset = Arc::new(AtomicI64::new(0));
        let clock = {
            let clock_offset = Arc::clone(&clock_offset);
            Clock::from_fn(move || {
                let clock_offset = SignedDuration::from_secs(clock_offset.load(Ordering::Relaxed));
                Timestamp::now().checked_add(clock_offset).unwrap_or(Timestamp::MAX)
            })
        };
        let options = EngineOptions {
            vectors: vectors.clone(),
            starter: false,
            clock: clock.clone(),
            key_storage: Some(KeyStorage::Memory),
            ..EngineOptions::new()
        };
        let (events, _) = broadcast::channel(1024);
        let engine = Engine::open(Storage::Memory, &options, events).await?;
        let context = Context { request: None, author: "eval".to_owned() };
        let mut settings = ProviderSettings::default();
        settings.search.kind = SearchKind::Searxng;
        settings.search.base.clone_from(&site);
        settings.network.allowed_hosts = vec![host];
        Handle::<SetProviders>::handle(&*engine, &context, settings).await?;
        Ok(EvalEngine { engine, context, clock, clock_offset, site })
    }

    /// Adds a card.
    ///
    /// # Errors
    /// When the card is invalid.
    pub(super) async fn add(&self, mut card: Map<String, Value>) -> Result<AddedCard> {
        let given = card.get(fields::DOCUMENTATION).and_then(Value::as_str);
        if let Some(url) = given.filter(|url| url.starts_with('/')).map(|path| format!("{}{path}", self.site))
        {
            card.insert(fields::DOCUMENTATION.to_owned(), Value::from(url));
        }
        let create =
            CardCreate { fields: card.clone(), reason: "A card of the set".to_owned(), flagged_too: false };
        let made = Handle::<CreateCard>::handle(&*self.engine, &self.context, create).await?;
        Ok(AddedCard { id: made.summary.id, card })
    }

    /// Verifies all cards, advancing the clock for pages that have to be tried again.
    ///
    /// # Errors
    /// When the job fails.
    pub(super) async fn verify(&self, cards: &[AddedCard], improve: bool) -> Result<()> {
        self.run(VerifyScope::All, improve).await?;
        for _ in 0..MAX_ROUNDS {
            let mut next = None;
            for card in cards {
                next = next.max(self.verification(card).await?.checked.and_then(|checked| checked.next_at));
            }
            let Some(next) = next else { break };
            let wait = next.instant().duration_since(self.clock.now()).as_secs() + 1;
            self.clock_offset.fetch_add(wait.max(1), Ordering::Relaxed);
            self.run(VerifyScope::Due, improve).await?;
        }
        Ok(())
    }

    /// Runs a job to completion.
    async fn run(&self, scope: VerifyScope, improve: bool) -> Result<()> {
        let start = VerifyStart { scope, improve, anew: false };
        let JobRef { job } = Handle::<StartVerify>::handle(&*self.engine, &self.context, start).await?;
        let mut after = 0;
        loop {
            let wait = JobWait { job: job.clone(), after };
            let state = Handle::<WaitJob>::handle(&*self.engine, &self.context, wait).await?;
            match (state.state, state.error) {
                (JobState::Running, _) => after = state.version,
                (JobState::Done, _) => return Ok(()),
                (_, error) => return Err(error.unwrap_or_else(ApiError::cancelled)),
            }
        }
    }

    /// The latest verification of a card.
    ///
    /// # Errors
    /// When it cannot be read.
    pub(super) async fn verification(&self, card: &AddedCard) -> Result<CardVerification> {
        let query = CardRef { card: card.id.to_string() };
        Handle::<GetVerification>::handle(&*self.engine, &self.context, query).await
    }

    /// The cards as they would be with all pending proposals accepted.
    ///
    /// # Errors
    /// When the proposals cannot be read.
    pub(super) async fn proposed(&self, cards: &[AddedCard]) -> Result<Vec<Map<String, Value>>> {
        let pending = ProposalsQuery { state: Some(ProposalState::Pending) };
        let pending = Handle::<ListProposals>::handle(&*self.engine, &self.context, pending).await?;
        let mut all = Vec::with_capacity(cards.len());
        for card in cards {
            let mut after = card.card.clone();
            for row in pending.rows.iter().filter(|row| row.card.as_ref() == Some(&card.id)) {
                let query = ProposalGet::from(row.id);
                let detail = Handle::<GetProposal>::handle(&*self.engine, &self.context, query).await?;
                after = detail.proposal.draft.apply_to(&after, |_| true);
            }
            all.push(after);
        }
        Ok(all)
    }

    /// Closes the engine.
    ///
    /// # Errors
    /// When the store cannot be closed.
    pub(super) async fn close(self) -> Result<()> {
        self.engine.stop_jobs().await;
        self.engine.close().await.map(drop)
    }
}
