//! Lists: filtered, sorted, in windows.

use std::cmp::Ordering;
use std::collections::HashMap;
use std::sync::Arc;

use autokit_library::{CardRecord, Replica};

use crate::api::{CardList, CardsPage, CardsQuery, Facet, Facets, Sort};
use crate::commands::{Context, GetFacets, Handle, ListCards};
use crate::error::{ApiError, ErrorCode, Result};

use super::cards::summary;
use super::{Core, Engine};

/// Rows in one answer.
pub(crate) const PAGE_ROWS: u32 = 1000;

/// The list looked at last: scrolling asks for window after window of the same one.
#[derive(Debug, Default)]
pub(crate) struct ListCache {
    key: Option<(CardsQuery, u64)>,
    rows: Arc<Vec<Arc<CardRecord>>>,
}

impl Core {
    /// The cards a query selects, in its order.
    pub(crate) fn select(&self, query: &CardsQuery) -> Arc<Vec<Arc<CardRecord>>> {
        let cursor = self.library.read(Replica::cursor);
        let key = (query.clone(), cursor);
        let mut cache = self.list.lock().expect("no holder panics");
        if cache.key.as_ref() != Some(&key) {
            let mut rows: Vec<Arc<CardRecord>> = self
                .library
                .read(|replica| replica.iter().filter(|record| matches(query, record)).cloned().collect());
            sort(&mut rows, query);
            *cache = ListCache { key: Some(key), rows: Arc::new(rows) };
        }
        Arc::clone(&cache.rows)
    }
}

fn matches(query: &CardsQuery, record: &CardRecord) -> bool {
    let is = |wanted: &Option<String>, value: Option<&str>| {
        wanted.as_deref().is_none_or(|wanted| value == Some(wanted))
    };
    query.kind.is_none_or(|kind| kind == record.kind)
        && is(&query.language, record.language.as_deref())
        && is(&query.provider, Some(&record.key.provider))
        && query.verified.is_none_or(|verified| verified == record.verified)
        && query.documented.is_none_or(|documented| documented == record.documented)
        && query.tag.as_deref().is_none_or(|tag| record.card().tags().any(|has| has == tag))
        && query.text.as_deref().is_none_or(|text| contains(record, text.trim()))
}

fn contains(record: &CardRecord, text: &str) -> bool {
    let text = text.to_lowercase();
    let has = |value: &str| value.to_lowercase().contains(&text);
    // The body is JSON text: a quick look there decides for nearly every card without parsing it.
    has(&record.key.name)
        || has(&record.key.provider)
        || has(&record.body) && has(record.card().description())
}

fn sort(rows: &mut [Arc<CardRecord>], query: &CardsQuery) {
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
        Sort::Updated => rows.sort_by(|a, b| match b.updated_at.cmp(&a.updated_at) {
            Ordering::Equal => a.id.cmp(&b.id),
            other => other,
        }),
    }
    if query.descending {
        rows.reverse();
    }
}

impl Handle<ListCards> for Engine {
    async fn handle(&self, _: &Context, request: CardList) -> Result<CardsPage> {
        if request.limit > PAGE_ROWS {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("{} rows were asked for; one answer holds at most {PAGE_ROWS}", request.limit),
                "Ask for the next window with `offset`.",
            ));
        }
        let selected = self.core.select(&request.query);
        let rows = selected.iter().skip(request.offset as usize).take(request.limit as usize);
        Ok(CardsPage {
            total: selected.len() as u32,
            offset: request.offset,
            rows: rows.map(|record| summary(record)).collect(),
        })
    }
}

impl Handle<GetFacets> for Engine {
    async fn handle(&self, _: &Context, query: CardsQuery) -> Result<Facets> {
        let selected = self.core.select(&query);
        let mut counts: [HashMap<String, u32>; 4] = Default::default();
        let (mut verified, mut documented) = (0, 0);
        for record in selected.iter() {
            *counts[0].entry(record.kind.as_str().to_owned()).or_default() += 1;
            if let Some(language) = &record.language {
                *counts[1].entry(language.to_string()).or_default() += 1;
            }
            if !record.key.provider.is_empty() {
                *counts[2].entry(record.key.provider.clone()).or_default() += 1;
            }
            if record.body.contains("\"tags\"") {
                for tag in record.card().tags() {
                    *counts[3].entry(tag.to_owned()).or_default() += 1;
                }
            }
            verified += u32::from(record.verified);
            documented += u32::from(record.documented);
        }
        let [kinds, languages, providers, tags] = counts.map(facets);
        Ok(Facets { kinds, languages, providers, tags, verified, documented, total: selected.len() as u32 })
    }
}

fn facets(counts: HashMap<String, u32>) -> Vec<Facet> {
    let mut all: Vec<Facet> = counts.into_iter().map(|(value, count)| Facet { value, count }).collect();
    all.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.value.cmp(&b.value)));
    all
}
