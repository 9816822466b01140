//! Adjusts rankings by a person's feedback on earlier answers.
//!
//! A tool that helped with a question is raised for similar questions, and one that did not is lowered; the
//! adjustment shrinks as the questions get less similar. It is bounded: it reorders tools with close scores,
//! and never moves a tool ahead of one that the request names.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use autokit_adapter::Adapter;
use autokit_embed::Embedder;
use lru::LruCache;

use crate::index::Hit;
use crate::query_embedder::dot;

/// Questions with a lower cosine similarity than this do not affect each other.
const MIN_SIMILARITY: f32 = 0.5;
/// Largest change of a score between 0 and 1.
const MAX_SHIFT: f32 = 0.15;
/// Upper bound for tools without a name match, so that they stay below every tool with one.
const MAX_SCORE: f32 = 0.9;
/// Most question vectors cached, 1.5 kB each.
const CACHE_SIZE: NonZeroUsize = NonZeroUsize::new(4096).expect("not zero");

/// Feedback on an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// The question that was asked.
    pub question: String,
    /// Id of the recommended card.
    pub card: String,
    /// Whether the answer helped.
    pub helpful: bool,
}

/// What is known of a profile that asks.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Personal {
    /// Its feedback on earlier answers.
    pub opinions: Vec<Opinion>,
    /// Correction of its request vectors, learned from use; ignored with another model than its own.
    pub adapter: Option<Adapter>,
}

/// A model id and a text.
type CacheKey = (String, String);

/// A cache of the vectors of questions that feedback is about, by model and text.
#[derive(Debug)]
pub(crate) struct QuestionVectors(Mutex<LruCache<CacheKey, Arc<Vec<f32>>>>);

impl Default for QuestionVectors {
    fn default() -> QuestionVectors {
        QuestionVectors(Mutex::new(LruCache::new(CACHE_SIZE)))
    }
}

impl QuestionVectors {
    fn vector_of(&self, embedder: &Embedder, question: &str) -> autokit_embed::Result<Arc<Vec<f32>>> {
        let key = (embedder.id().to_owned(), question.to_owned());
        if let Some(cached) = self.0.lock().expect("no holder panics").get(&key) {
            return Ok(Arc::clone(cached));
        }
        let vector = Arc::new(embedder.embed_query(question)?);
        self.0.lock().expect("no holder panics").put(key, Arc::clone(&vector));
        Ok(vector)
    }

    /// Adjusts the scores of hits by feedback and sorts them again.
    pub(crate) fn shift(
        &self,
        embedder: &Embedder,
        hits: &mut [Hit],
        question: &[f32],
        opinions: &[Opinion],
    ) -> autokit_embed::Result<()> {
        let found = |opinion: &&Opinion| hits.iter().any(|hit| hit.id == opinion.card);
        let opinions = opinions
            .iter()
            .filter(found)
            .map(|opinion| Ok((self.vector_of(embedder, &opinion.question)?, opinion)))
            .collect::<autokit_embed::Result<Vec<_>>>()?;
        if !opinions.is_empty() {
            shift(hits, question, &opinions);
        }
        Ok(())
    }
}

fn shift(hits: &mut [Hit], question: &[f32], opinions: &[(Arc<Vec<f32>>, &Opinion)]) {
    for hit in hits.iter_mut().filter(|hit| hit.parts.name_match.is_none()) {
        // Only the opinion on the most similar question counts (the latest one on ties), not the number of
        // opinions.
        let closest = opinions
            .iter()
            .filter(|(_, opinion)| opinion.card == hit.id)
            .map(|(vector, opinion)| (dot(vector, question), opinion.helpful))
            .filter(|(similarity, _)| *similarity >= MIN_SIMILARITY)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((similarity, helpful)) = closest {
            let shift = MAX_SHIFT * ((similarity - MIN_SIMILARITY) / (1.0 - MIN_SIMILARITY)).clamp(0.0, 1.0);
            let score = (hit.score + if helpful { shift } else { -shift }).clamp(0.0, MAX_SCORE);
            hit.parts.feedback = score - hit.score;
            hit.score = score;
        }
    }
    hits.sort_by(|a, b| {
        b.parts.name_match.cmp(&a.parts.name_match).then(b.score.total_cmp(&a.score)).then(a.id.cmp(&b.id))
    });
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::ScoreParts;
    use crate::names::NameMatch;

    fn hit(id: &str, score: f32, name_match: Option<NameMatch>) -> Hit {
        Hit { id: id.into(), score, parts: ScoreParts { name_match, ..ScoreParts::default() } }
    }

    fn opinion(card: &str, helpful: bool) -> Opinion {
        Opinion { question: String::new(), card: card.to_owned(), helpful }
    }

    fn order(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.id.as_str()).collect()
    }

    #[test]
    fn helpful_tools_rise_only_for_similar_questions() {
        let all = || vec![hit("a", 0.55, None), hit("b", 0.5, None), hit("c", 0.2, None)];
        let vector = || Arc::new(vec![1.0, 0.0]);
        let (b, c, a) = (opinion("b", true), opinion("c", true), opinion("a", false));
        let helped = [(vector(), &b), (vector(), &c)];
        let mut hits = all();
        shift(&mut hits, &[1.0, 0.0], &helped);
        assert_eq!(order(&hits), ["b", "a", "c"], "the shift is bounded: c stays last");
        let mut hits = all();
        shift(&mut hits, &[0.0, 1.0], &helped);
        assert_eq!(order(&hits), ["a", "b", "c"], "another question");
        let mut hits = all();
        shift(&mut hits, &[1.0, 0.0], &[(vector(), &a)]);
        assert_eq!(order(&hits), ["b", "a", "c"]);
    }

    #[test]
    fn a_tool_that_is_named_stays_first() {
        let mut hits = vec![hit("named", 0.99, Some(NameMatch::Exact)), hit("liked", 0.89, None)];
        let (liked, named) = (opinion("liked", true), opinion("named", false));
        let opinions = [(Arc::new(vec![1.0, 0.0]), &liked), (Arc::new(vec![1.0, 0.0]), &named)];
        shift(&mut hits, &[1.0, 0.0], &opinions);
        assert_eq!(order(&hits), ["named", "liked"]);
        assert!(hits[1].score <= MAX_SCORE);
    }
}
