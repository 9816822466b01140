//! Queries to all sources at once, with a deadline and a cache of the answers.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use autokit_api::{MarketFound, MarketKind, MarketOffer, MarketSource, ServerTransport};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_mcp_client::market::{Listing, Registry, Transport};
use autokit_search::{Scored, dot, is_generic_word, is_stop_word, score_of_evidence};
use autokit_toolcard::CardKey;
use autokit_upstream::tools::SavedServer;
use autokit_workspace::background::in_background;
use futures_util::future::join_all;

use super::{Market, shared};

/// How long an answer is cached.
const ANSWER_TTL: Duration = Duration::from_mins(5);
/// How long a failure is cached for agents, which then do not wait for that source again.
const FAILURE_TTL: Duration = Duration::from_mins(1);
/// Most cached answers.
const MAX_CACHED: usize = 200;
/// Most words of a query that are searched, one by one, because registries match a part of the name.
const MAX_WORDS: usize = 4;
/// Most servers taken from one registry for one word.
const MAX_LISTINGS: usize = 30;
/// Results compared by meaning; embedding more would be noticeably slow.
const MAX_COMPARED: usize = 32;
/// What an offer with all words of a query is worth beside cards without a model, in units of cosine.
const MATCHED_WORDS: f32 = 0.03;
/// Most notes in an answer.
const MAX_NOTES: usize = 8;

/// The offers and notes a source returned for one word, or why it failed.
type SourceAnswer = std::result::Result<(Vec<ListedOffer>, Vec<String>), String>;

/// An offer of a source, with what is needed to tell whether it is already installed.
#[derive(Clone, Debug)]
pub(super) struct ListedOffer {
    pub(super) offer: MarketOffer,
    /// How the server is reached, if it is one.
    pub(super) reaches: Vec<ServerTransport>,
    /// Provider and name, if it is a card.
    pub(super) key: Option<CardKey>,
}

/// The address of a source and the word searched there.
type QueryKey = (String, String);

/// A cache of recent answers.
#[derive(Debug, Default)]
pub(super) struct AnswerCache {
    entries: Mutex<HashMap<QueryKey, (Instant, Arc<SourceAnswer>)>>,
}

impl AnswerCache {
    pub(crate) fn get(&self, key: &QueryKey, with_failures: bool) -> Option<Arc<SourceAnswer>> {
        let entries = self.entries.lock().expect("no holder panics");
        let (at, answer) = entries.get(key)?;
        let ttl = if answer.is_ok() { ANSWER_TTL } else { FAILURE_TTL };
        (at.elapsed() < ttl && (answer.is_ok() || with_failures)).then(|| Arc::clone(answer))
    }

    fn insert(&self, key: QueryKey, answer: &Arc<SourceAnswer>) {
        let mut entries = self.entries.lock().expect("no holder panics");
        if entries.len() >= MAX_CACHED {
            entries.retain(|_, (at, _)| at.elapsed() < ANSWER_TTL);
        }
        if entries.len() >= MAX_CACHED {
            entries.clear();
        }
        entries.insert(key, (Instant::now(), Arc::clone(answer)));
    }
}

/// Returns the words of a query that the name of a tool could contain.
fn search_words(query: &str) -> Vec<String> {
    let words = || {
        let split = query.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
        // `emails` is not a substring of `email-server`.
        split.map(str::to_lowercase).map(|word| match word.strip_suffix('s') {
            Some(one) if one.len() >= 4 && !one.ends_with('s') => one.to_owned(),
            _ => word,
        })
    };
    let mut seen = HashSet::new();
    let mut selected: Vec<String> = words()
        .filter(|word| word.len() > 2 && !is_stop_word(word) && !is_generic_word(word))
        .filter(|word| seen.insert(word.clone()))
        .take(MAX_WORDS)
        .collect();
    if selected.is_empty() {
        selected = words().take(1).collect();
    }
    selected
}

/// Scores an offer by its words, 0 to 1; words in its name count more than those in its description.
fn word_score(words: &[String], offer: &MarketOffer) -> f32 {
    let name = format!("{} {} {}", offer.id, offer.name, offer.functions.join(" ")).to_lowercase();
    let description = offer.description.to_lowercase();
    let score = |word: &String| {
        if name.contains(word.as_str()) {
            1.0
        } else if description.contains(word.as_str()) {
            0.7
        } else {
            0.0
        }
    };
    words.iter().map(score).sum::<f32>() / words.len().max(1) as f32
}

/// Converts how a registry says a server is reached to how servers are saved here.
pub(super) fn reach_of(transport: &Transport) -> ServerTransport {
    match transport {
        Transport::Program { command, args } => {
            ServerTransport::Stdio { command: command.clone(), args: args.clone(), folder: String::new() }
        }
        Transport::Address(url) => ServerTransport::Http { url: url.clone() },
    }
}

impl Market {
    /// Returns what all sources offer for a query, best first. A source that fails adds a note. With
    /// `retry_failures`, sources that failed recently are queried again.
    pub(super) async fn query(
        &self,
        sources: &[MarketSource],
        query: &str,
        timeout: Duration,
        retry_failures: bool,
    ) -> Result<MarketFound> {
        let answers = self.query_words(sources, query, timeout, retry_failures).await;
        let mut found = self.by_words(query, &answers).await?;
        if let Some(cosines) = self.cosines(query, &found.offers).await? {
            for (offer, cosine) in found.offers.iter_mut().zip(cosines) {
                offer.score = f32::midpoint(offer.score, cosine.clamp(0.0, 1.0));
            }
            by_score(&mut found.offers);
        }
        Ok(found)
    }

    /// Returns the best offers of one source for a query with the scores they would have as cards that share no words with
    /// it: offers are compared by meaning alone, or by words without a model, and come after cards that fit as well. Those
    /// that are installed or deprecated are left out. When the caller stops waiting, the source's answer is still cached.
    ///
    /// # Errors
    /// Why the source failed, now or within the last minute.
    pub async fn offers_scored_as_cards(
        &self,
        source: &MarketSource,
        query: &str,
        wait: Duration,
        limit: usize,
    ) -> Result<Vec<Scored<MarketOffer>>> {
        let (market, sources, words) = (self.clone(), [source.clone()], query.to_owned());
        // Whoever waits for longer than agents do wants to know whether it answers by now.
        let (timeout, again) = (self.deadline.max(wait), wait > self.deadline);
        let querying =
            tokio::spawn(async move { market.query_words(&sources, &words, timeout, again).await });
        let answers = querying.await.map_err(|error| ApiError::internal(error.to_string()))?;
        if let Some(why) = answers.iter().find_map(|answer| answer.as_ref().as_ref().err()) {
            return Err(ApiError::new(
                ErrorCode::NoConnection,
                why.clone(),
                "Check its address, and the network.",
            ));
        }
        let mut offers = self.by_words(query, &answers).await?.offers;
        offers.retain(|offer| !offer.installed && !offer.deprecated);
        offers.truncate(MAX_COMPARED);
        let cosines = self.cosines(query, &offers).await?;
        let by_words = || offers.iter().map(|offer| MATCHED_WORDS * offer.score).collect();
        let evidence: Vec<f32> = cosines.unwrap_or_else(by_words);
        let mut scored: Vec<Scored<MarketOffer>> = offers
            .into_iter()
            .zip(evidence)
            .map(|(item, evidence)| Scored { score: score_of_evidence(evidence), item })
            .collect();
        scored.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.item.id.cmp(&b.item.id)));
        scored.truncate(limit);
        Ok(scored)
    }

    /// Queries all sources at once.
    async fn query_words(
        &self,
        sources: &[MarketSource],
        query: &str,
        timeout: Duration,
        retry_failures: bool,
    ) -> Vec<Arc<SourceAnswer>> {
        let words = search_words(query);
        let everything = vec![String::new()];
        let queries = sources.iter().flat_map(|source| {
            // A bundle is downloaded whole and searched here.
            let parts = if source.kind == MarketKind::Bundle { &everything } else { &words };
            parts.iter().map(move |part| (source, part.as_str()))
        });
        join_all(queries.map(|(source, part)| self.query_source(source, part, timeout, retry_failures))).await
    }

    /// Returns the offers that share words with a query, best first.
    async fn by_words(&self, query: &str, answers: &[Arc<SourceAnswer>]) -> Result<MarketFound> {
        let words = search_words(query);
        let servers = self.servers.all().await?;
        let (mut found, mut seen) = (MarketFound::default(), HashSet::new());
        for answer in answers {
            match &**answer {
                Ok((offers, notes)) => {
                    for offered in offers {
                        let offer = &offered.offer;
                        let score = word_score(&words, offer);
                        if score > 0.0 && seen.insert((offer.source.clone(), offer.id.clone())) {
                            let installed = self.is_installed(&servers, offered);
                            found.offers.push(MarketOffer { installed, score, ..offer.clone() });
                        }
                    }
                    found.notes.extend(notes.iter().cloned());
                }
                Err(why) => found.notes.push(why.clone()),
            }
        }
        let mut seen = HashSet::new();
        found.notes.retain(|note| seen.insert(note.clone()));
        found.notes.truncate(MAX_NOTES);
        by_score(&mut found.offers);
        Ok(found)
    }

    async fn query_source(
        &self,
        source: &MarketSource,
        part: &str,
        timeout: Duration,
        retry_failures: bool,
    ) -> Arc<SourceAnswer> {
        let key = (source.url.clone(), part.to_owned());
        if let Some(cached) = self.answers.get(&key, !retry_failures) {
            return cached;
        }
        let querying = async {
            match source.kind {
                MarketKind::Registry => self.query_registry(source, part).await,
                MarketKind::Bundle => shared::offers(self, source).await,
            }
        };
        let answer = match tokio::time::timeout(timeout, querying).await {
            Ok(answer) => answer.map_err(|error| error.message),
            Err(_) => Err(format!("{} did not respond within {:.1} s", source.url, timeout.as_secs_f32())),
        };
        let answer = Arc::new(answer);
        self.answers.insert(key, &answer);
        answer
    }

    async fn query_registry(
        &self,
        source: &MarketSource,
        part: &str,
    ) -> Result<(Vec<ListedOffer>, Vec<String>)> {
        let registry = Registry::new(self.providers.services().fetcher.clone(), &source.url)?;
        let listed = registry.search(part, MAX_LISTINGS).await?;
        // Listings that cannot be started from here are left out.
        let usable = listed.listings.into_iter().filter(|listing| !listing.launch_options.is_empty());
        Ok((usable.map(|listing| offer_of(source, listing)).collect(), listed.notes))
    }

    /// Returns whether an offer is already installed.
    fn is_installed(&self, servers: &[SavedServer], offered: &ListedOffer) -> bool {
        let has_card = |key: &CardKey| self.workspace.library.read(|replica| replica.by_key(key).is_some());
        offered.key.as_ref().is_some_and(has_card)
            || servers
                .iter()
                .any(|server| offered.reaches.iter().any(|reach| same_server(server.reach(), reach)))
    }

    /// Returns the cosines of the first offers with a query; `None` without a model.
    async fn cosines(&self, query: &str, offers: &[MarketOffer]) -> Result<Option<Vec<f32>>> {
        let Some(embedder) = self.models.query_embedder() else { return Ok(None) };
        let compared = offers.len().min(MAX_COMPARED);
        let texts: Vec<String> =
            offers[..compared].iter().map(|offer| format!("{}. {}", offer.name, offer.description)).collect();
        if texts.is_empty() {
            return Ok(Some(Vec::new()));
        }
        let query = query.to_owned();
        in_background(move || {
            let failed = ApiError::internal;
            let queries = embedder.queries(&[query]).map_err(failed)?;
            let passages = embedder.passages(&texts).map_err(failed)?;
            let Some(query) = queries.first() else { return Ok(Some(Vec::new())) };
            Ok(Some(passages.iter().map(|passage| dot(query, passage)).collect()))
        })
        .await
    }
}

fn by_score(offers: &mut [MarketOffer]) {
    offers.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.id.cmp(&b.id)));
}

fn offer_of(source: &MarketSource, listing: Listing) -> ListedOffer {
    let reaches = listing.launch_options.iter().map(|start| reach_of(&start.transport)).collect();
    let (provider, name) = listing.name.split_once('/').unwrap_or(("", &listing.name));
    let offer = MarketOffer {
        source: source.id.clone(),
        id: listing.name.clone(),
        name: one_line(listing.title.as_deref().unwrap_or(name)),
        provider: one_line(provider),
        description: listing.description,
        version: listing.version,
        page: listing.page,
        category: listing.facts.category,
        price: listing.facts.price,
        rating: listing.facts.rating,
        functions: listing.facts.functions,
        deprecated: listing.deprecated,
        installed: false,
        suspect: listing.flagged,
        score: 0.0,
    };
    ListedOffer { offer, reaches, key: None }
}

/// Returns a name as one line: a registry may return anything.
fn one_line(name: &str) -> String {
    name.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Returns a package name without its version.
fn unversioned(word: &str) -> &str {
    let last = word.rfind('/').map_or(0, |at| at + 1);
    // The first character may be the `@` of a scope.
    let from = last + usize::from(last == 0 && word.starts_with('@'));
    word[from..].find(['@', ':']).map_or(word, |at| &word[..from + at])
}

/// Returns whether two ways of reaching a server lead to the same one, whatever its version.
fn same_server(ours: &ServerTransport, theirs: &ServerTransport) -> bool {
    match (ours, theirs) {
        (ServerTransport::Http { url: a }, ServerTransport::Http { url: b }) => {
            a.trim_end_matches('/') == b.trim_end_matches('/')
        }
        (
            ServerTransport::Stdio { command: ours, args: our_args, .. },
            ServerTransport::Stdio { command: theirs, args: their_args, .. },
        ) => {
            let package = |args: &[String]| -> Option<String> {
                let word =
                    args.iter().find(|word| !word.starts_with('-') && !matches!(word.as_str(), "run"))?;
                Some(unversioned(word).to_owned())
            };
            ours == theirs && package(our_args).is_some() && package(our_args) == package(their_args)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_words_that_could_be_in_a_name_are_searched() {
        assert_eq!(
            search_words("send emails with Gmail, and the emails of others"),
            ["send", "email", "gmail"]
        );
        assert_eq!(search_words("a tool"), ["a"]);
        assert_eq!(search_words("address"), ["address"]);
    }

    #[test]
    fn a_server_is_the_same_in_another_version() {
        let reach = |command: &str, args: &str| ServerTransport::Stdio {
            command: command.to_owned(),
            args: args.split(' ').map(str::to_owned).collect(),
            folder: String::new(),
        };
        let npx = |args: &str| reach("npx", args);
        assert!(same_server(&npx("-y @acme/mail@1.0.0"), &npx("-y @acme/mail@2.0.0 --fast")));
        assert!(same_server(&npx("-y mail"), &npx("-y mail@2")));
        assert!(!same_server(&npx("-y @acme/mail@1.0.0"), &npx("-y @acme/post@1.0.0")));
        assert!(!same_server(&npx("-y mail"), &reach("uvx", "mail")));
        assert!(same_server(&reach("docker", "run acme/mail:1"), &reach("docker", "run acme/mail:2")));
        let http = |url: &str| ServerTransport::Http { url: url.to_owned() };
        assert!(same_server(&http("https://a.example/mcp"), &http("https://a.example/mcp/")));
    }
}
