//! Measures whether improved descriptions make cards easier to find.

use std::path::Path;

use autokit_app::engine::Vectors;
use autokit_error::Result;
use autokit_metrics::{self as retrieve, AskReport, AskSet, Embedder as Embeddings, evaluate_ask};
use autokit_search::ToolText;
use autokit_toolcard::fields;
use serde::Serialize;
use serde_json::{Map, Value};

use crate::inputs::{embedder, unreadable};
use crate::setup::EvalEngine;

/// The output of `autokit eval improve`: the same questions over the original and the improved cards.
#[derive(Clone, Debug, Serialize)]
pub struct ImproveEvaluation {
    /// Results over the cards of the file.
    pub before: AskReport,
    /// Results over the cards with improved descriptions.
    pub after: AskReport,
    /// Number of cards whose description changed.
    pub improved: u32,
    /// The changed descriptions: name, before, after.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<(String, String, String)>,
}

/// Improves the descriptions of cards from their pages on a site, and measures the questions over both
/// versions. With `thin`, descriptions are first truncated to that many words, like cards that people jot
/// down.
///
/// # Errors
/// When a file cannot be read, there is no model, or the site does not respond.
pub async fn improve(
    cards: &Path,
    questions: &Path,
    site: &str,
    vectors: &Vectors,
    thin: Option<usize>,
    explain: bool,
) -> Result<ImproveEvaluation> {
    let mut set = AskSet::load(cards, questions).map_err(|error| unreadable(&error))?;
    let mut objects = retrieve::card_objects(cards).map_err(|error| unreadable(&error))?;
    if let Some(words) = thin {
        for (tool, card) in set.cards.iter_mut().zip(&mut objects) {
            let description = card.get(fields::DESCRIPTION).and_then(Value::as_str).unwrap_or_default();
            let cut = description.split_whitespace().take(words).collect::<Vec<_>>().join(" ");
            card.insert(fields::DESCRIPTION.to_owned(), Value::from(cut));
            *tool = ToolText::from_card(tool.id.clone(), card);
        }
    }
    let setup = EvalEngine::open(site, vectors).await?;
    let mut added = Vec::with_capacity(objects.len());
    for card in &objects {
        added.push(setup.add(card.clone()).await?);
    }
    setup.verify(&added, true).await?;
    let proposed = setup.proposed(&added).await?;
    setup.close().await?;

    let embedder = embedder(vectors, None)?;
    let measure = |set: &AskSet| {
        let passages = |texts: &[String]| embedder.embed_passages(texts);
        let queries = |texts: &[String]| texts.iter().map(|text| embedder.embed_query(text)).collect();
        let embeddings = Embeddings { passages: &passages, queries: &queries };
        tokio::task::block_in_place(|| evaluate_ask(set, &embeddings)).map_err(|error| unreadable(&error))
    };
    let before = measure(&set)?;
    let text = |card: &Map<String, Value>, field: &str| {
        card.get(field).and_then(Value::as_str).unwrap_or_default().to_owned()
    };
    let mut changes = Vec::new();
    for ((tool, object), after) in set.cards.iter_mut().zip(&objects).zip(&proposed) {
        let (was, is) = (text(object, fields::DESCRIPTION), text(after, fields::DESCRIPTION));
        if was != is {
            // Only the description: other improvements are measured elsewhere.
            let mut card = object.clone();
            card.insert(fields::DESCRIPTION.to_owned(), Value::from(is.as_str()));
            *tool = ToolText::from_card(tool.id.clone(), &card);
            changes.push((text(object, fields::NAME), was, is));
        }
    }
    let after = measure(&set)?;
    let improved = changes.len() as u32;
    Ok(ImproveEvaluation { before, after, improved, changes: if explain { changes } else { Vec::new() } })
}
