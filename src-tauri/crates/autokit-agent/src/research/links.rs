//! Chooses the links of pages that may lead to the answer.

use std::collections::HashSet;
use std::sync::Arc;

use autokit_pages::{Page, PageReader, run_blocking, without_fragment};
use autokit_search::dot;

use super::passages::{Candidate, stems};
use super::question::ResearchQuestion;
use crate::error::Result;

/// Most links compared by meaning in one round.
const MAX_COMPARED: usize = 120;
/// Value from which on a link is followed.
const MIN_VALUE: f32 = 0.25;
/// Share of the passage that mentions the link in its value.
const CONTEXT: f32 = 0.5;
/// Added to the value of a passage that says that something is to be found there.
const POINTS: f32 = 0.2;
/// Added for links in the main text.
const MAIN: f32 = 0.05;

struct Rated {
    link: Promising,
    value: f32,
}

/// A link that may lead to the answer.
#[derive(Debug)]
pub(super) struct Promising {
    pub(super) url: String,
    /// The text of the link, and the sentence that mentions it.
    pub(super) via: String,
    text: String,
}

/// Returns the addresses of the best links not visited yet, best first: those whose text and address have the words or
/// the meaning of the question, or that a passage close to it mentions.
///
/// # Errors
/// When the embedding model fails.
pub(super) async fn best(
    question: &Arc<ResearchQuestion>,
    reader: &PageReader,
    pages: &[Arc<Page>],
    found: &[Candidate],
    visited: &[String],
    limit: usize,
) -> Result<Vec<Promising>> {
    let mut seen: HashSet<String> = visited.iter().cloned().collect();
    seen.extend(pages.iter().map(|page| without_fragment(&page.fetched.url)));
    let terms: HashSet<&str> = question.terms.iter().map(|term| term.term.as_str()).collect();
    let mut rated = Vec::new();
    for page in pages {
        let own: Vec<&Candidate> =
            found.iter().filter(|candidate| candidate.source.location == page.fetched.url).collect();
        let page_score = own.first().map_or(0.0, |best| best.score);
        for link in &page.document.links {
            let url = without_fragment(&link.url);
            if !seen.insert(url.clone()) {
                continue;
            }
            let path =
                url.split("://").nth(1).and_then(|rest| rest.split_once('/')).map_or("", |(_, path)| path);
            let words = stems(&format!("{} {}", link.text, path.replace(['-', '_', '/', '.'], " ")));
            let matched = words.iter().filter(|word| terms.contains(word.as_str())).count() as f32;
            let share = matched / terms.len().max(1) as f32;
            // Best first, so the first that mentions the link is the closest to the question.
            let mention =
                own.iter().find(|candidate| !link.text.is_empty() && candidate.text.contains(&link.text));
            let mentioned = mention.map_or(0.0, |candidate| {
                candidate.score + if candidate.points_elsewhere { POINTS } else { 0.0 }
            });
            let via = mention.map_or_else(String::new, |candidate| candidate.text.to_lowercase());
            let main = if link.in_main { MAIN } else { 0.0 };
            let value = CONTEXT * mentioned.max(0.3 * page_score) + 0.5 * share + main;
            let via = format!("{} {via}", link.text.to_lowercase());
            rated.push(Rated { link: Promising { url, via, text: link.text.clone() }, value });
        }
    }
    let by_value =
        |a: &Rated, b: &Rated| b.value.total_cmp(&a.value).then_with(|| a.link.url.cmp(&b.link.url));
    rated.sort_by(by_value);
    rated.truncate(MAX_COMPARED);
    if let (Some(vector), Some(embedder)) = (question.vector.clone(), reader.embedder.clone()) {
        let texts: Vec<String> = rated.iter().map(|one| one.link.text.clone()).collect();
        let vectors = run_blocking(move || embedder.passages(&texts)).await?;
        for (one, other) in rated.iter_mut().zip(vectors) {
            one.value += 0.5 * dot(&vector, &other).max(0.0);
        }
        rated.sort_by(by_value);
    }
    Ok(rated.into_iter().filter(|one| one.value >= MIN_VALUE).take(limit).map(|one| one.link).collect())
}
