//! Measures what tools cost an agent in tokens: all definitions at once, compared with the tools every
//! session has plus one search (Kaman, section 11.1).
//!
//! The tools are those of published APIs, the search is that of the gateway over an in-memory library, and
//! tokens are characters divided by four, as in the paper (equation 3). The searches look for some of the
//! tools themselves, with a query as an agent would write it: up to six words of the first sentence of the
//! description, without stop words.

mod corpus;

use std::collections::BTreeMap;

use autokit_api::commands::{Context, Handle, WaitJob};
use autokit_api::{JobState, JobWait};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::Storage;
use autokit_search::is_stop_word;
use rmcp::model::Tool;
use serde::Serialize;
use tokio::sync::broadcast;

use autokit_app::engine::{Engine, EngineOptions, Vectors};
use autokit_app::secrets::KeyStorage;

use corpus::{Offered, sample, shuffle_key};

/// Number of searches per size.
const SEARCHES: usize = 50;
/// Seed that determines which tools are searched for.
const SEED: &str = "searches 1";
/// Maximum number of words in a query: more than people type, as many as models do.
const WORDS: usize = 6;
/// The paper's figures (table 1): tools, static tokens, dynamic tokens.
const PAPER: [(u32, u64, u64); 5] = [
    (10, 4_200, 1_800),
    (25, 10_500, 2_100),
    (50, 21_000, 2_400),
    (100, 42_000, 2_800),
    (200, 84_000, 3_200),
];

/// Token costs of tools, by size of the library.
#[derive(Clone, Debug, Serialize)]
pub struct TokensReport {
    /// Why only lexical search was used, if so.
    pub keyword_only_reason: Option<String>,
    /// Number of searches per size; fewer where there are fewer tools.
    pub searches: usize,
    /// One row per size, smallest first.
    pub rows: Vec<TokensRow>,
}

/// Token costs of tools at one size of the library.
#[derive(Clone, Debug, Serialize)]
pub struct TokensRow {
    /// Number of tools in the library.
    pub tools: u32,
    /// Tokens of all definitions at once.
    pub static_tokens: u64,
    /// Tokens of the tools that every session has.
    pub own_tokens: u64,
    /// Tokens of a search reply including the schemas: median.
    pub reply_tokens: u64,
    /// Tokens of a search reply including the schemas: 95th percentile.
    pub reply_p95: u64,
    /// Own tokens plus the median of a reply and the tools it adds to the session's list: everything a model
    /// reads for one search, in a client that lists tools again. In a client that does not, the listed tools
    /// are saved.
    pub dynamic_tokens: u64,
    /// Share of the static tokens that is saved.
    pub saved: f64,
    /// Tokens of the tools that a search adds to the session's list: median.
    pub listed_tokens: u64,
    /// Share of the searches that found the tool they were derived from.
    pub found: f64,
    /// The paper's figure for all definitions at once, for the sizes it measured.
    pub paper_static: Option<u64>,
    /// The paper's figure for search, for the sizes it measured.
    pub paper_dynamic: Option<u64>,
}

/// Measures each size. `progress` receives the number of tools done and the total.
///
/// # Errors
/// When a size is zero or exceeds the number of tools; errors of opening the engine.
pub async fn tokens(sizes: &[usize], vectors: &Vectors, progress: impl Fn(u64, u64)) -> Result<TokensReport> {
    let mut sizes = sizes.to_vec();
    sizes.sort_unstable();
    sizes.dedup();
    let most = sizes.last().copied().unwrap_or_default();
    let all = sample(most)?;
    if sizes.first().is_none_or(|size| *size == 0) || all.len() < most {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            format!("the sizes must be from 1 to {} tools", sample(usize::MAX)?.len()),
            "Choose other sizes, e.g. --sizes 10,100,1000.",
        ));
    }
    let options = EngineOptions {
        vectors: vectors.clone(),
        starter: false,
        key_storage: Some(KeyStorage::Memory),
        ..EngineOptions::new()
    };
    let (events, _) = broadcast::channel(1024);
    let engine = Engine::open(Storage::Memory, &options, events).await?;
    let (mut rows, mut offered) = (Vec::new(), 0);
    for size in sizes {
        let on_progress = |done: u64| progress(offered as u64 + done, most as u64);
        offer(&engine, &all[offered..size], on_progress).await?;
        offered = size;
        rows.push(measure(&engine, &all[..size]).await?);
    }
    let keyword_only_reason = engine.keyword_only_reason();
    engine.close().await?;
    Ok(TokensReport { keyword_only_reason, searches: SEARCHES, rows })
}

/// Adds tools to the library, as trusted servers would.
async fn offer(engine: &Engine, tools: &[Offered], on_progress: impl Fn(u64)) -> Result<()> {
    let mut servers: BTreeMap<String, Vec<Tool>> = BTreeMap::new();
    for tool in tools {
        servers.entry(tool.provider.clone()).or_default().push(tool.tool());
    }
    let job = engine.start_tool_import(servers).job;
    let context = Context { request: None, author: "report".to_owned() };
    let mut after = 0;
    loop {
        let now = Handle::<WaitJob>::handle(engine, &context, JobWait { job: job.clone(), after }).await?;
        on_progress(now.done);
        match (now.state, now.error) {
            (JobState::Running, _) => after = now.version,
            (JobState::Done, _) => return Ok(()),
            (_, error) => return Err(error.unwrap_or_else(ApiError::cancelled)),
        }
    }
}

/// A query that an agent might use to find a tool.
fn request(description: &str) -> String {
    let first = description.split_inclusive(['.', '\n']).next().unwrap_or(description);
    let words = first.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase);
    let words_of_request: Vec<String> =
        words.filter(|word| word.len() > 2 && !is_stop_word(word)).take(WORDS).collect();
    // A description that consists only of stop words is used as it is.
    if words_of_request.is_empty() { description.to_owned() } else { words_of_request.join(" ") }
}

async fn measure(engine: &Engine, tools: &[Offered]) -> Result<TokensRow> {
    let mut targets: Vec<&Offered> = tools.iter().collect();
    targets.sort_by_cached_key(|tool| shuffle_key(SEED, &tool.name));
    targets.truncate(SEARCHES);
    let (mut replies, mut listed, mut both, mut found) = (Vec::new(), Vec::new(), Vec::new(), 0);
    for tool in &targets {
        let searched = engine.search_as_agent(&request(&tool.description)).await?;
        replies.push(u64::from(searched.reply_tokens));
        listed.push(searched.listed_tokens);
        both.push(u64::from(searched.reply_tokens) + searched.listed_tokens);
        found += usize::from(searched.names.contains(&(tool.provider.clone(), tool.name.clone())));
    }
    let (static_tokens, own_tokens) = (engine.static_tokens().await, engine.own_tokens());
    let reply_tokens = at(&mut replies, 0.5);
    let dynamic_tokens = own_tokens + at(&mut both, 0.5);
    let size = tools.len() as u32;
    let paper = PAPER.iter().find(|(tools, ..)| *tools == size);
    Ok(TokensRow {
        tools: size,
        static_tokens,
        own_tokens,
        reply_tokens,
        reply_p95: at(&mut replies, 0.95),
        dynamic_tokens,
        saved: 1.0 - dynamic_tokens as f64 / static_tokens.max(1) as f64,
        listed_tokens: at(&mut listed, 0.5),
        found: found as f64 / targets.len().max(1) as f64,
        paper_static: paper.map(|(_, fixed, _)| *fixed),
        paper_dynamic: paper.map(|(.., dynamic)| *dynamic),
    })
}

/// A quantile by the nearest-rank method.
fn at(figures: &mut [u64], share: f64) -> u64 {
    figures.sort_unstable();
    let rank = (share * figures.len() as f64).ceil() as usize;
    figures.get(rank.saturating_sub(1)).copied().unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_a_few_distinctive_words() {
        assert_eq!(
            request("Deletes a branch protection rule of the repository. Needs admin rights."),
            "deletes branch protection rule repository"
        );
        assert_eq!(request("Do it."), "Do it.");
    }

    #[tokio::test(flavor = "multi_thread")]
    async fn a_search_costs_less_than_the_paper_says_at_every_small_size() {
        let report = tokens(&[10, 50, 200], &Vectors::Off, |_, _| {}).await.expect("a report");
        assert!(report.keyword_only_reason.is_some() && report.rows.len() == 3);
        for row in &report.rows {
            assert!(Some(row.dynamic_tokens) <= row.paper_dynamic, "{row:?}");
            assert!(row.saved > 0.5 && row.found > 0.8, "{row:?}");
            // However long the tools are, a reply stays within its budget, except for the best result.
            assert!(row.reply_p95 <= 2_000, "{row:?}");
        }
        assert!(report.rows[2].static_tokens > 50_000, "{:?}", report.rows[2]);
        let refused = tokens(&[0], &Vectors::Off, |_, _| {}).await.expect_err("refused");
        assert_eq!(refused.code, ErrorCode::BadRequest);
    }
}
