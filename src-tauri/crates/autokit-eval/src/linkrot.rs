//! Runs cards with broken links through the product's verification and repair.

use std::path::Path;

use autokit_app::engine::Vectors;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_toolcard::fields;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::setup::EvalEngine;

/// A card as the user has it.
#[derive(Clone, Debug, Deserialize)]
struct BrokenCard {
    id: String,
    card: Map<String, Value>,
}

/// The result for a card.
#[derive(Clone, Debug, Serialize)]
pub struct LinkrotLine {
    /// Id within the set.
    pub id: String,
    /// The documentation URL after accepting all proposals.
    pub documentation: Option<String>,
    /// The module after accepting all proposals.
    pub module: Option<String>,
    /// The class after accepting all proposals.
    pub class: Option<String>,
    /// `healthy`, `repaired` or `unrepaired`.
    pub status: &'static str,
    /// The verification report, for tuning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub report: Option<Value>,
}

/// Verifies and repairs the cards of a file against a site with a SearXNG-compatible search. No language
/// model is used.
///
/// # Errors
/// When the file cannot be read, a card is invalid, or the engine fails.
pub async fn linkrot(cases: &Path, site: &str, vectors: &Vectors, explain: bool) -> Result<Vec<LinkrotLine>> {
    let text = std::fs::read_to_string(cases).map_err(|error| {
        let reason = format!("{}: {error}", cases.display());
        ApiError::new(ErrorCode::UnreadableFile, reason, "Set a card file with --cards.")
    })?;
    let cases: Vec<BrokenCard> = serde_json::from_str(&text).map_err(|error| {
        let remedy = "The file must contain an array of objects with id and card.";
        ApiError::new(ErrorCode::BadRequest, error.to_string(), remedy)
    })?;
    let setup = EvalEngine::open(site, vectors).await?;
    let mut cards = Vec::with_capacity(cases.len());
    let mut names: Vec<Option<Value>> = Vec::new();
    for case in &cases {
        let mut card = case.card.clone();
        // Cards of the same name are different tools of a set; a provider distinguishes them.
        let name = card.get(fields::NAME).cloned();
        if names.contains(&name) {
            card.insert(fields::PROVIDER.to_owned(), Value::from(case.id.as_str()));
        }
        names.push(name);
        cards.push(setup.add(card).await?);
    }
    setup.verify(&cards, false).await?;
    let proposed = setup.proposed(&cards).await?;
    let mut lines = Vec::with_capacity(cards.len());
    for ((case, card), after) in cases.into_iter().zip(&cards).zip(proposed) {
        let checked = setup.verification(card).await?.checked;
        let repaired = [fields::DOCUMENTATION, fields::MODULE, fields::CLASS]
            .iter()
            .any(|field| after.get(*field) != card.card.get(*field));
        let status = match checked.as_ref().map(|checked| checked.state) {
            _ if repaired => "repaired",
            Some(autokit_toolcard::CardState::Verified | autokit_toolcard::CardState::Stale) => "healthy",
            _ => "unrepaired",
        };
        let text = |field: &str| after.get(field).and_then(Value::as_str).map(str::to_owned);
        let report = checked.filter(|_| explain).map(|checked| serde_json::to_value(checked.report));
        lines.push(LinkrotLine {
            id: case.id,
            documentation: text(fields::DOCUMENTATION),
            module: text(fields::MODULE),
            class: text(fields::CLASS),
            status,
            report: report.transpose().map_err(|error| ApiError::internal(error.to_string()))?,
        });
    }
    setup.close().await?;
    Ok(lines)
}
