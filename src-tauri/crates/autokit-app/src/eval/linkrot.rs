//! Broken cards, examined (stand-in until the engine's own job is there).
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use autokit_fuel::{Case, Fuel, Pages};
use autokit_toolcard::{CardId, Toolcard};
use autokit_web::search::{Provider, Service};
use futures_util::StreamExt;
use serde_json::{Map, Value, json};

use super::{Meaning, embedder};
use crate::engine::Vectors;
use crate::error::{ApiError, Result};

/// Examines.
pub async fn linkrot(cases: &Path, base: &str, vectors: &Vectors) -> Result<Vec<Value>> {
    let text = std::fs::read_to_string(cases).map_err(|e| ApiError::internal(e.to_string()))?;
    let cases: Vec<Map<String, Value>> =
        serde_json::from_str(&text).map_err(|e| ApiError::internal(e.to_string()))?;
    let base = base.trim_end_matches('/');
    let site = url::Url::parse(base).map_err(|e| ApiError::internal(e.to_string()))?;
    let fetcher = autokit_web::Fetcher::new(
        autokit_web::NetworkPolicy::default().allowing(site.host_str().unwrap_or_default().to_owned()),
        autokit_web::Limits::default(),
    )?;
    let provider = Provider::new(fetcher.clone(), Service::Searxng, Some(base), None)
        .map_err(|e| ApiError::internal(e.to_string()))?;
    let fuel = Fuel {
        fetcher,
        providers: vec![provider],
        senses: Some(Arc::new(Meaning(Arc::new(embedder(vectors)?)))),
        pages: Pages::default(),
        patience: Duration::from_secs(10),
        attempts: 1,
    };
    let fuel = &fuel;
    let lines = futures_util::stream::iter(cases.into_iter().map(|case| async move {
        let id = case["id"].as_str().unwrap_or_default().to_owned();
        let mut object = case["card"].as_object().cloned().unwrap_or_default();
        if let Some(url) = object.get("documentation").and_then(Value::as_str).filter(|u| u.starts_with('/')) {
            let url = format!("{base}{url}");
            object.insert("documentation".into(), Value::from(url));
        }
        let card = Toolcard::new(object.clone()).expect("a card");
        let key = CardId::new(&id);
        let case = Case { id: &key, revision: 1, card: &card, attempts: 0, now: "2026-01-01T00:00:00Z" };
        let examined = fuel.examine(&case).await.expect("examined");
        let applied = examined.draft.as_ref().map(|d| d.applied(&object, |_| true)).unwrap_or_else(|| object.clone());
        let changed = ["documentation", "module", "class"].iter().any(|f| applied.get(*f) != object.get(*f));
        let status = if changed { "repaired" } else if matches!(examined.report.state, autokit_fuel::CardState::Verified | autokit_fuel::CardState::Stale) { "healthy" } else { "unrepaired" };
        json!({"id": id, "documentation": applied.get("documentation"), "module": applied.get("module"), "class": applied.get("class"), "status": status, "report": examined.report, "card": object})
    }))
    .buffer_unordered(8)
    .collect::<Vec<_>>()
    .await;
    Ok(lines)
}
