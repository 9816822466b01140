//! What a person said about earlier answers, and how that moves later ones.
//!
//! A tool that helped with a question is lifted for questions like it, one that did not is lowered,
//! by less the less alike the questions are. The shift is bounded: it reorders tools that are close,
//! and never puts one before a tool the request names.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};

use autokit_embed::Embedder;
use lru::LruCache;

use crate::index::Hit;
use crate::query_embedder::dot;

/// Questions less alike than this (cosine) say nothing about each other.
const ALIKE: f32 = 0.5;
/// Largest shift of a score between 0 and 1.
const SHIFT: f32 = 0.15;
/// A tool without a match of the name stays below every tool with one.
const HIGHEST: f32 = 0.9;
/// Questions whose vectors are kept: 1.5 kB each.
const KEPT: NonZeroUsize = NonZeroUsize::new(4096).expect("not zero");

/// What somebody said about an answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Opinion {
    /// The question that was asked.
    pub question: String,
    /// Id of the card that was the answer.
    pub card: String,
    /// Whether it helped.
    pub helpful: bool,
}

/// The id of a model and a text.
type Embedded = (String, String);

/// Vectors of the questions opinions are about, by model and text.
#[derive(Debug)]
pub(crate) struct QuestionVectors(Mutex<LruCache<Embedded, Arc<Vec<f32>>>>);

impl Default for QuestionVectors {
    fn default() -> QuestionVectors {
        QuestionVectors(Mutex::new(LruCache::new(KEPT)))
    }
}

impl QuestionVectors {
    fn of(&self, embedder: &Embedder, question: &str) -> autokit_embed::Result<Arc<Vec<f32>>> {
        let key = (embedder.id().to_owned(), question.to_owned());
        if let Some(kept) = self.0.lock().expect("no holder panics").get(&key) {
            return Ok(Arc::clone(kept));
        }
        let made = Arc::new(embedder.embed_query(question)?);
        self.0.lock().expect("no holder panics").put(key, Arc::clone(&made));
        Ok(made)
    }

    /// Moves hits by what was said about them, and puts them in order again.
    pub(crate) fn shift(
        &self,
        embedder: &Embedder,
        hits: &mut [Hit],
        question: &[f32],
        opinions: &[Opinion],
    ) -> autokit_embed::Result<()> {
        let found = |opinion: &&Opinion| hits.iter().any(|hit| hit.id == opinion.card);
        let said = opinions
            .iter()
            .filter(found)
            .map(|opinion| Ok((self.of(embedder, &opinion.question)?, opinion)))
            .collect::<autokit_embed::Result<Vec<_>>>()?;
        if !said.is_empty() {
            shift(hits, question, &said);
        }
        Ok(())
    }
}

fn shift(hits: &mut [Hit], question: &[f32], said: &[(Arc<Vec<f32>>, &Opinion)]) {
    for hit in hits.iter_mut().filter(|hit| hit.parts.name_match.is_none()) {
        // The last word on a tool for a question counts, not the number of words.
        let closest = said
            .iter()
            .filter(|(_, opinion)| opinion.card == hit.id)
            .map(|(vector, opinion)| (dot(vector, question), opinion.helpful))
            .filter(|(alike, _)| *alike >= ALIKE)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((alike, helpful)) = closest {
            let by = SHIFT * ((alike - ALIKE) / (1.0 - ALIKE)).clamp(0.0, 1.0);
            let score = (hit.score + if helpful { by } else { -by }).clamp(0.0, HIGHEST);
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
    fn what_helped_rises_for_like_questions_alone() {
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
        let said = [(Arc::new(vec![1.0, 0.0]), &liked), (Arc::new(vec![1.0, 0.0]), &named)];
        shift(&mut hits, &[1.0, 0.0], &said);
        assert_eq!(order(&hits), ["named", "liked"]);
        assert!(hits[1].score <= HIGHEST);
    }
}
