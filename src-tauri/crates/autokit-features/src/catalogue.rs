//! Lists of cards: filtered, sorted and paged.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autokit_api::commands::{CheckCard, Context, GetCard, GetFacets, GetStarter, Handle, ListCards};
use autokit_api::{
    CardCheck, CardDetail, CardList, CardRef, CardsPage, CardsQuery, Facet, Facets, HealthFilter, Sort,
    Starter,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::{CardRecord, Checks};
use autokit_toolcard::{Problem, check};
use autokit_workspace::cards::{detail, summary};
use autokit_workspace::collections::Collections;
use autokit_workspace::workspace::Workspace;

use crate::starter_code::starter_code;

/// Most rows in one response.
pub(crate) const PAGE_ROWS: u32 = 1000;

/// The last list that was selected, because scrolling requests it page by page.
#[derive(Debug, Default)]
struct ListCache {
    /// The query, the version of the library and, where the list depends on them, the versions of checks and collections.
    key: Option<(CardsQuery, u64, u64, u64)>,
    rows: Arc<Vec<Arc<CardRecord>>>,
}

/// Lists of the library's cards. Clones share the cache.
#[derive(Clone, Debug)]
pub struct Catalogue {
    workspace: Workspace,
    collections: Collections,
    list: Arc<Mutex<ListCache>>,
}

impl Catalogue {
    /// Lists the cards of this library.
    pub fn new(workspace: Workspace, collections: Collections) -> Catalogue {
        Catalogue { workspace, collections, list: Arc::default() }
    }

    /// Returns the cards a query selects, in its order.
    pub(crate) async fn select(&self, query: &CardsQuery) -> Result<Arc<Vec<Arc<CardRecord>>>> {
        let by_checks = query.health.is_some() || query.sort == Sort::Health;
        // Read before what they are versions of, so that a change in between invalidates the cache.
        let checked = if by_checks { self.workspace.library.checks_version() } else { 0 };
        let collected = if query.collection.is_some() { self.collections.version() } else { 0 };
        let version = self.workspace.library_version();
        let key = (query.clone(), version, checked, collected);
        {
            let cache = self.list.lock().expect("no holder panics");
            if cache.key.as_ref() == Some(&key) {
                return Ok(Arc::clone(&cache.rows));
            }
        }
        let checks = self.workspace.library.checks().await?;
        let members = match &query.collection {
            Some(name) => Some(self.collections.cards_of(name).await?),
            None => None,
        };
        let is_member =
            |record: &CardRecord| members.as_ref().is_none_or(|members| members.contains(&record.id));
        let mut rows: Vec<Arc<CardRecord>> = self.workspace.library.read(|replica| {
            let selected =
                replica.iter().filter(|record| is_member(record) && matches(query, record, &checks));
            selected.cloned().collect()
        });
        sort(&mut rows, query, &checks);
        let rows = Arc::new(rows);
        *self.list.lock().expect("no holder panics") = ListCache { key: Some(key), rows: Arc::clone(&rows) };
        Ok(rows)
    }
}

/// Returns the health of a card from its last check.
fn health(record: &CardRecord, checks: &Checks) -> HealthFilter {
    let last = checks.get(&record.id);
    HealthFilter::of(last.map(|last| last.state), last.is_some_and(|last| last.is_outdated(record.number)))
}

fn matches(query: &CardsQuery, record: &CardRecord, checks: &Checks) -> bool {
    let is = |wanted: &Option<String>, value: Option<&str>| {
        wanted.as_deref().is_none_or(|wanted| value == Some(wanted))
    };
    query.kind.is_none_or(|kind| kind == record.kind)
        && is(&query.language, record.language.as_deref())
        && is(&query.provider, Some(&record.key.provider))
        && query.verified.is_none_or(|verified| verified == record.verified)
        && query.documented.is_none_or(|documented| documented == record.documented)
        && query.health.is_none_or(|wanted| wanted == health(record, checks))
        && query.tag.as_deref().is_none_or(|tag| record.card().tags().any(|has| has == tag))
        && query.text.as_deref().is_none_or(|text| contains(record, text.trim()))
}

fn contains(record: &CardRecord, text: &str) -> bool {
    let text = text.to_lowercase();
    let has = |value: &str| value.to_lowercase().contains(&text);
    // The body is JSON text: searching it first rules out most cards without parsing them.
    has(&record.key.name)
        || has(&record.key.provider)
        || has(&record.body) && has(record.card().description())
}

fn sort(rows: &mut [Arc<CardRecord>], query: &CardsQuery, checks: &Checks) {
    let name = |record: &CardRecord| record.key.name.to_lowercase();
    match query.sort {
        Sort::Name => rows.sort_by_cached_key(|record| (name(record), record.id.clone())),
        Sort::Provider => rows.sort_by_cached_key(|record| {
            (
                record.key.provider.is_empty(),
                record.key.provider.to_lowercase(),
                name(record),
                record.id.clone(),
            )
        }),
        Sort::Kind => rows.sort_by_cached_key(|record| (record.kind, name(record), record.id.clone())),
        Sort::Health => rows.sort_by_cached_key(|record| {
            let found = health(record, checks);
            let rank = HealthFilter::ALL.iter().position(|state| *state == found);
            (rank, name(record), record.id.clone())
        }),
        Sort::Updated => rows.sort_by(|a, b| match b.updated_at.cmp(&a.updated_at) {
            Ordering::Equal => a.id.cmp(&b.id),
            other => other,
        }),
    }
    if query.descending {
        rows.reverse();
    }
}

#[async_trait]
impl Handle<ListCards> for Catalogue {
    async fn handle(&self, _: &Context, request: CardList) -> Result<CardsPage> {
        if request.limit > PAGE_ROWS {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{} rows requested, but a page has at most {PAGE_ROWS}", request.limit),
                "Request the next page with `offset`.",
            ));
        }
        let selected = self.select(&request.query).await?;
        let checks = self.workspace.library.checks().await?;
        let rows = selected.iter().skip(request.offset as usize).take(request.limit as usize);
        Ok(CardsPage {
            total: selected.len() as u32,
            offset: request.offset,
            rows: rows.map(|record| summary(record, &checks)).collect(),
        })
    }
}

#[async_trait]
impl Handle<GetFacets> for Catalogue {
    async fn handle(&self, _: &Context, query: CardsQuery) -> Result<Facets> {
        let selected = self.select(&query).await?;
        let checks = self.workspace.library.checks().await?;
        let mut counts: [HashMap<String, u32>; 4] = Default::default();
        let mut found = [0; HealthFilter::ALL.len()];
        let (mut verified, mut documented) = (0, 0);
        for record in selected.iter() {
            *counts[0].entry(record.kind.as_str().to_owned()).or_default() += 1;
            if let Some(language) = &record.language {
                *counts[1].entry(language.to_string()).or_default() += 1;
            }
            if !record.key.provider.is_empty() {
                *counts[2].entry(record.key.provider.clone()).or_default() += 1;
            }
            if record.tagged {
                for tag in record.card().tags() {
                    *counts[3].entry(tag.to_owned()).or_default() += 1;
                }
            }
            found[health(record, &checks) as usize] += 1;
            verified += u32::from(record.verified);
            documented += u32::from(record.documented);
        }
        let [kinds, languages, providers, tags] = counts.map(facets);
        let health = HealthFilter::ALL.map(|state| (state.as_str().to_owned(), found[state as usize]));
        let health = facets(health.into_iter().filter(|(_, count)| *count > 0).collect());
        let total = selected.len() as u32;
        Ok(Facets { kinds, languages, providers, tags, health, verified, documented, total })
    }
}

#[async_trait]
impl Handle<GetCard> for Catalogue {
    async fn handle(&self, _: &Context, request: CardRef) -> Result<CardDetail> {
        let record = self.workspace.find_card(&request.card)?;
        Ok(detail(&record, &*self.workspace.library.checks().await?))
    }
}

#[async_trait]
impl Handle<GetStarter> for Catalogue {
    async fn handle(&self, _: &Context, request: CardRef) -> Result<Option<Starter>> {
        Ok(starter_code(&self.workspace.find_card(&request.card)?.card()))
    }
}

#[async_trait]
impl Handle<CheckCard> for Catalogue {
    async fn handle(&self, _: &Context, request: CardCheck) -> Result<Vec<Problem>> {
        Ok(check(&request.fields))
    }
}

fn facets(counts: HashMap<String, u32>) -> Vec<Facet> {
    let mut all: Vec<Facet> = counts.into_iter().map(|(value, count)| Facet { value, count }).collect();
    all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
    all
}
