//! Cards with broken links, put through the product: the very engine, a library in memory, a clock
//! that is moved on where a page has to be tried again.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use autokit_library::{Clock, Place};
use autokit_toolcard::{ProposalState, fields};
use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use tokio::sync::broadcast;

use crate::api::{
    CardCreate, CardRef, JobRef, JobState, JobWait, ProposalLook, ProposalsQuery, ProviderSettings,
    SearchKind, VerifyScope, VerifyStart,
};
use crate::commands::{
    Context, CreateCard, GetProposal, GetVerification, Handle, ListProposals, SetProviders, StartVerify,
    WaitJob,
};
use crate::engine::{Engine, EngineOptions, Vectors};
use crate::error::{ApiError, ErrorCode, Result};
use crate::secrets::Keep;

/// A card as the person has it.
#[derive(Clone, Debug, Deserialize)]
struct BrokenCard {
    id: String,
    card: Map<String, Value>,
}

/// What became of a card.
#[derive(Clone, Debug, Serialize)]
pub struct LinkrotLine {
    /// Identity in its set.
    pub id: String,
    /// The documentation page it would have if what is proposed were accepted.
    pub documentation: Option<String>,
    /// The module.
    pub module: Option<String>,
    /// The class.
    pub class: Option<String>,
    /// `healthy`, `repaired` or `unrepaired`.
    pub status: &'static str,
    /// What the verifier found, for whoever tunes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Value>,
}

/// Times a page is tried again before the clock is moved no further.
const ROUNDS: usize = 10;

/// Verifies and repairs the cards of a file against a site that searches as SearXNG does. No language
/// model is asked.
///
/// # Errors
/// When the file cannot be read, a card is none, or the engine fails.
pub async fn linkrot(cases: &Path, site: &str, vectors: &Vectors, explain: bool) -> Result<Vec<LinkrotLine>> {
    let bad = |reason: String, remedy: &str| ApiError::new(ErrorCode::BadRequest, reason, remedy);
    let text = std::fs::read_to_string(cases).map_err(|error| {
        let reason = format!("{}: {error}", cases.display());
        ApiError::new(ErrorCode::UnreadableFile, reason, "Name a file of cards with --cases.")
    })?;
    let cases: Vec<BrokenCard> = serde_json::from_str(&text)
        .map_err(|error| bad(error.to_string(), "The file holds an array of objects with id and card."))?;
    let site = site.trim_end_matches('/');
    let host = url::Url::parse(site)
        .ok()
        .and_then(|url| url.host_str().map(str::to_owned))
        .ok_or_else(|| bad(format!("{site} is no address"), "Name the site with --site."))?;

    // Moved by hand: what has to wait a day need not take one.
    let ahead = Arc::new(AtomicI64::new(0));
    let clock = {
        let ahead = Arc::clone(&ahead);
        Clock::from_fn(move || {
            let ahead = SignedDuration::from_secs(ahead.load(Ordering::Relaxed));
            Timestamp::now().checked_add(ahead).unwrap_or(Timestamp::MAX)
        })
    };
    let options = EngineOptions {
        vectors: vectors.clone(),
        starter: false,
        clock: clock.clone(),
        keep: Some(Keep::Memory),
        ..EngineOptions::new()
    };
    let (events, _) = broadcast::channel(1024);
    let engine = Engine::open(Place::Memory, &options, events).await?;
    let context = Context { request: None, author: "eval".to_owned() };
    let mut settings = ProviderSettings::default();
    settings.search.kind = SearchKind::Searxng;
    site.clone_into(&mut settings.search.base);
    settings.network.allowed_hosts = vec![host];
    Handle::<SetProviders>::handle(&engine, &context, settings).await?;

    let mut cards: Vec<(BrokenCard, String)> = Vec::with_capacity(cases.len());
    for mut case in cases {
        let given = case.card.get(fields::DOCUMENTATION).and_then(Value::as_str);
        if let Some(url) = given.filter(|url| url.starts_with('/')).map(|path| format!("{site}{path}")) {
            case.card.insert(fields::DOCUMENTATION.to_owned(), Value::from(url));
        }
        let mut fields = case.card.clone();
        // Two cards of one name are two tools of a set; a provider keeps them apart.
        let named = |other: &(BrokenCard, String)| other.0.card.get("name") == fields.get("name");
        if cards.iter().any(named) {
            fields.insert("provider".to_owned(), Value::from(case.id.as_str()));
        }
        let create = CardCreate { fields, reason: "A card of the set".to_owned() };
        let made = Handle::<CreateCard>::handle(&engine, &context, create).await?;
        cards.push((case, made.summary.id));
    }

    run(&engine, &context, VerifyScope::All).await?;
    for _ in 0..ROUNDS {
        let mut next = None;
        for (_, id) in &cards {
            let asked = CardRef { card: id.clone() };
            let found = Handle::<GetVerification>::handle(&engine, &context, asked).await?;
            next = next.max(found.checked.and_then(|checked| checked.next_at));
        }
        let Some(next) = next.and_then(|next| next.parse::<Timestamp>().ok()) else { break };
        let wait = next.duration_since(clock.now()).as_secs() + 1;
        ahead.fetch_add(wait.max(1), Ordering::Relaxed);
        run(&engine, &context, VerifyScope::Due).await?;
    }

    let mut lines = Vec::with_capacity(cards.len());
    let waiting = ProposalsQuery { state: Some(ProposalState::Pending) };
    let waiting = Handle::<ListProposals>::handle(&engine, &context, waiting).await?;
    for (case, id) in cards {
        let mut after = case.card.clone();
        for row in waiting.rows.iter().filter(|row| row.card.as_ref() == Some(&id)) {
            let detail = Handle::<GetProposal>::handle(&engine, &context, ProposalLook::from(row.id)).await?;
            after = detail.proposal.draft.applied(&after, |_| true);
        }
        let found = Handle::<GetVerification>::handle(&engine, &context, CardRef { card: id }).await?;
        let repaired = [fields::DOCUMENTATION, fields::MODULE, fields::CLASS]
            .iter()
            .any(|field| after.get(*field) != case.card.get(*field));
        let state = found.checked.as_ref().map(|checked| checked.state);
        let status = match state {
            _ if repaired => "repaired",
            Some(autokit_fuel::CardState::Verified | autokit_fuel::CardState::Stale) => "healthy",
            _ => "unrepaired",
        };
        let text = |field: &str| after.get(field).and_then(Value::as_str).map(str::to_owned);
        lines.push(LinkrotLine {
            id: case.id,
            documentation: text(fields::DOCUMENTATION),
            module: text(fields::MODULE),
            class: text(fields::CLASS),
            status,
            report: found
                .checked
                .filter(|_| explain)
                .map(|checked| serde_json::to_value(checked.report))
                .transpose()
                .map_err(|error| ApiError::internal(error.to_string()))?,
        });
    }
    engine.stop_jobs().await;
    engine.close().await?;
    Ok(lines)
}

/// Runs a job to its end.
async fn run(engine: &Engine, context: &Context, scope: VerifyScope) -> Result<()> {
    let JobRef { job } = Handle::<StartVerify>::handle(engine, context, VerifyStart { scope }).await?;
    let mut after = 0;
    loop {
        let state = Handle::<WaitJob>::handle(engine, context, JobWait { job: job.clone(), after }).await?;
        match (state.state, state.error) {
            (JobState::Running, _) => after = state.version,
            (JobState::Done, _) => return Ok(()),
            (_, error) => return Err(error.unwrap_or_else(ApiError::cancelled)),
        }
    }
}
