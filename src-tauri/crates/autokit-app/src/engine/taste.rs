//! What a person said about earlier answers, and how that moves later ones.
//!
//! A tool that helped with a question is lifted for questions like it, one that did not is lowered,
//! by less the less alike the questions are. The shift is bounded: it reorders tools that are close,
//! and never puts one before a tool the request names.

use std::sync::Mutex;

use autokit_embed::Embedder;
use autokit_library::Feedback;
use autokit_retrieve::{Hit, NameMatch};

use super::Core;
use super::background::in_background;
use crate::error::Result;

/// Questions less alike than this (cosine) say nothing about each other.
const ALIKE: f32 = 0.5;
/// Largest shift of a score between 0 and 1.
const SHIFT: f32 = 0.15;

/// Feedback of one profile with the vectors of its questions, as of one model.
#[derive(Debug, Default)]
pub(crate) struct Taste {
    known: Mutex<Option<Known>>,
}

#[derive(Clone, Debug)]
struct Known {
    profile: String,
    model: String,
    said: std::sync::Arc<Vec<(Vec<f32>, Feedback)>>,
}

impl Taste {
    /// Feedback was added: what is known is old.
    pub(crate) fn forget(&self) {
        *self.known.lock().expect("no holder panics") = None;
    }
}

fn dot(a: &[f32], b: &[f32]) -> f32 {
    a.iter().zip(b).map(|(x, y)| x * y).sum()
}

/// Moves hits by what was said about them, and puts them in order again.
fn shift(hits: &mut [Hit], question: &[f32], said: &[(Vec<f32>, Feedback)]) {
    for hit in hits.iter_mut() {
        // The last word on a tool for a question counts, not the number of words.
        let closest = said
            .iter()
            .filter(|(_, feedback)| feedback.card.as_str() == hit.id)
            .map(|(vector, feedback)| (dot(vector, question), feedback.helpful))
            .filter(|(alike, _)| *alike >= ALIKE)
            .max_by(|a, b| a.0.total_cmp(&b.0));
        if let Some((alike, helpful)) = closest
            && hit.parts.name_match.is_none()
        {
            let by = SHIFT * ((alike - ALIKE) / (1.0 - ALIKE)).clamp(0.0, 1.0);
            // A tool without a match of the name stays below every tool with one.
            let most = 0.9;
            hit.score = (hit.score + if helpful { by } else { -by }).clamp(0.0, most);
        }
    }
    let tier = |hit: &Hit| {
        hit.parts.name_match.map_or(0, |name| match name {
            NameMatch::Typo => 1,
            NameMatch::Near => 2,
            NameMatch::Exact => 3,
        })
    };
    hits.sort_by(|a, b| tier(b).cmp(&tier(a)).then(b.score.total_cmp(&a.score)));
}

impl Core {
    /// Moves hits by the feedback of a profile.
    pub(crate) async fn personalise(
        &self,
        profile: &str,
        embedder: &std::sync::Arc<Embedder>,
        question: &[f32],
        hits: &mut [Hit],
    ) -> Result<()> {
        let known = {
            let known = self.taste.known.lock().expect("no holder panics");
            known.clone().filter(|known| known.profile == profile && known.model == embedder.id())
        };
        let known = if let Some(known) = known {
            known
        } else {
            let said = self.library.feedback(profile).await?;
            let model = std::sync::Arc::clone(embedder);
            let said = in_background(move || {
                said.into_iter()
                    .map(|feedback| Ok((model.embed_query(&feedback.question)?, feedback)))
                    .collect::<Result<Vec<_>>>()
            })
            .await?;
            let known = Known {
                profile: profile.to_owned(),
                model: embedder.id().to_owned(),
                said: std::sync::Arc::new(said),
            };
            *self.taste.known.lock().expect("no holder panics") = Some(known.clone());
            known
        };
        if !known.said.is_empty() {
            shift(hits, question, &known.said);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use autokit_retrieve::ScoreParts;
    use autokit_toolcard::CardId;

    use super::*;

    fn hit(id: &str, score: f32, name_match: Option<NameMatch>) -> Hit {
        Hit { id: id.into(), score, parts: ScoreParts { name_match, ..ScoreParts::default() } }
    }

    fn said(card: &str, helpful: bool, vector: [f32; 2]) -> (Vec<f32>, Feedback) {
        let feedback = Feedback {
            at: String::new(),
            profile: "ann".into(),
            question: String::new(),
            card: CardId::new(card),
            helpful,
            said: String::new(),
        };
        (vector.to_vec(), feedback)
    }

    fn order(hits: &[Hit]) -> Vec<&str> {
        hits.iter().map(|hit| hit.id.as_str()).collect()
    }

    #[test]
    fn what_helped_rises_for_like_questions_alone() {
        let all = || vec![hit("a", 0.55, None), hit("b", 0.5, None), hit("c", 0.2, None)];
        let helped = [said("b", true, [1.0, 0.0]), said("c", true, [1.0, 0.0])];
        let mut hits = all();
        shift(&mut hits, &[1.0, 0.0], &helped);
        assert_eq!(order(&hits), ["b", "a", "c"], "the shift is bounded: c stays last");
        let mut hits = all();
        shift(&mut hits, &[0.0, 1.0], &helped);
        assert_eq!(order(&hits), ["a", "b", "c"], "another question");
        let mut hits = all();
        shift(&mut hits, &[1.0, 0.0], &[said("a", false, [1.0, 0.0])]);
        assert_eq!(order(&hits), ["b", "a", "c"]);
    }

    #[test]
    fn a_tool_that_is_named_stays_first() {
        let mut hits = vec![hit("named", 0.99, Some(NameMatch::Exact)), hit("liked", 0.89, None)];
        shift(&mut hits, &[1.0, 0.0], &[said("liked", true, [1.0, 0.0]), said("named", false, [1.0, 0.0])]);
        assert_eq!(order(&hits), ["named", "liked"]);
        assert!(hits[1].score <= 0.9);
    }
}
