//! Reranking candidates by scores from a language model (AutoAgent: a score from 0 to 1 with a justification), for
//! questions of people and searches of agents.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autokit_llm::prompts::{self, Prompt, Prompts};
use autokit_llm::{Code, Model, Usage};
use futures_util::FutureExt as _;
use futures_util::future::{BoxFuture, Shared};
use lru::LruCache;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tokio::time::Instant;

use crate::ask::model::structured;
use crate::outlier::is_outlier;

/// Number of candidates a model compares.
pub const CANDIDATES: usize = 20;
/// How long a service that failed is not asked again.
const PAUSE: Duration = Duration::from_mins(1);
/// Most responses that are kept, of about 2 kB each.
const CACHED: NonZeroUsize = NonZeroUsize::new(256).expect("not zero");
/// Most characters of a justification.
const MAX_JUSTIFICATION: usize = 200;
/// Standard deviations below zero from which an order counts as reversed: one in a hundred unrelated orders is that far.
const REVERSED: f64 = -2.326;

/// A candidate as a model sees it, with the score it has without one.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its id.
    pub id: String,
    /// Its name.
    pub name: String,
    /// What it does.
    pub description: String,
    /// Score of the ranking, 0 to 1.
    pub score: f32,
}

/// What a model says about a candidate.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// How well it serves the request, 0 to 1.
    pub score: f32,
    /// Why.
    pub justification: String,
}

/// What a model says about candidates, in their order; nothing about those it left out.
pub type Judgements = Vec<Option<Judgement>>;

#[derive(Deserialize)]
struct Scores {
    scores: Vec<Score>,
}

#[derive(Deserialize)]
struct Score {
    id: String,
    #[serde(rename = "score")]
    value: f32,
    #[serde(default)]
    justification: String,
}

/// Has a model judge candidates and say why. Ids that are none of theirs are dropped; of two scores for one candidate the
/// first counts.
///
/// # Errors
/// When the request fails or the response does not follow the schema.
pub async fn judge(
    model: &Model,
    prompts: &Prompts,
    question: &str,
    candidates: &[Candidate],
) -> autokit_llm::Result<(Judgements, Usage)> {
    let prompt = fill(prompts, &prompts::RERANK, question, candidates);
    let (scores, usage) = request(model, prompt, true).await?;
    Ok((judgements(candidates, scores), usage))
}

fn fill(prompts: &Prompts, prompt: &Prompt, question: &str, candidates: &[Candidate]) -> String {
    let shown: Vec<Value> = candidates
        .iter()
        .map(|card| json!({ "id": card.id, "name": card.name, "description": card.description }))
        .collect();
    let candidates = Value::from(shown).to_string();
    prompts.fill(prompt, &[("question", question), ("candidates", &candidates)])
}

async fn request(model: &Model, prompt: String, justified: bool) -> autokit_llm::Result<(Vec<Score>, Usage)> {
    let mut properties = json!({
        "id": { "type": "string" },
        "score": { "type": "number", "minimum": 0, "maximum": 1 },
    });
    let mut required = vec!["id", "score"];
    if justified {
        properties["justification"] = json!({ "type": "string" });
        required.push("justification");
    }
    let schema = json!({
        "type": "object",
        "properties": { "scores": { "type": "array", "items": {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": false,
        } } },
        "required": ["scores"],
        "additionalProperties": false,
    });
    let (Scores { scores }, usage) = structured(model, prompt, "scores", &schema).await?;
    Ok((scores, usage))
}

fn judgements(candidates: &[Candidate], scores: Vec<Score>) -> Judgements {
    let mut judged: Judgements = vec![None; candidates.len()];
    for score in scores {
        if let Some(at) = candidates.iter().position(|card| card.id == score.id)
            && judged[at].is_none()
        {
            judged[at] = Some(Judgement {
                score: score.value.clamp(0.0, 1.0),
                justification: score.justification.chars().take(MAX_JUSTIFICATION).collect(),
            });
        }
    }
    judged
}

/// Returns the order in which a model puts candidates, which are given in that of the ranking. Those with the same judgement, and those without one behind them, keep their order, and those far
/// behind the best in the ranking come last, whatever the model says.
///
/// `None` if the model turns the ranking upside down: it was then more likely misled, or takes 0 for the best score, than
/// right about all of them.
pub fn order(candidates: &[Candidate], judged: &[Option<Judgement>]) -> Option<Vec<usize>> {
    let scores: Vec<f32> = candidates.iter().map(|candidate| candidate.score).collect();
    let judged: Vec<Option<f32>> = judged.iter().map(|one| one.as_ref().map(|one| one.score)).collect();
    by_scores(&scores, &judged)
}

fn by_scores(scores: &[f32], judged: &[Option<f32>]) -> Option<Vec<usize>> {
    if is_reversed(judged) {
        return None;
    }
    let best = scores.iter().copied().fold(0.0, f32::max);
    let mut order: Vec<usize> = (0..scores.len()).collect();
    order.sort_by(|&a, &b| {
        let key = |at: usize| judged[at].unwrap_or(-1.0);
        is_outlier(scores[a], best).cmp(&is_outlier(scores[b], best)).then(key(b).total_cmp(&key(a)))
    });
    Some(order)
}

/// Whether scores rise along a ranking by more than chance explains (Kendall, "A new measure of rank correlation", 1938).
/// Never with fewer than five scores.
fn is_reversed(judged: &[Option<f32>]) -> bool {
    let scores: Vec<f32> = judged.iter().flatten().copied().collect();
    let n = scores.len() as f64;
    let mut agreement = 0.0;
    for (at, score) in scores.iter().enumerate() {
        for lower in &scores[at + 1..] {
            agreement += f64::from(score.total_cmp(lower) as i8);
        }
    }
    let deviation = (n * (n - 1.0) * (2.0 * n + 5.0) / 18.0).sqrt();
    agreement <= REVERSED * deviation && scores.len() > 1
}

/// Why there is no order by a model.
#[derive(Clone, Debug, thiserror::Error)]
pub enum NotReranked {
    /// It does not respond in time; the response is kept for when the search is repeated.
    #[error("the language model takes longer than {} s", .0.as_secs_f32())]
    Late(Duration),
    /// The spending limit is reached.
    #[error("the spending limit for the language model is reached")]
    OverBudget,
    /// It failed, now or a moment ago.
    #[error("the language model fails")]
    Failed,
    /// Its order is the ranking upside down.
    #[error("the language model returned the order upside down")]
    Reversed,
}

/// A request that several searches may wait for.
type Pending = Shared<BoxFuture<'static, Result<Arc<Judgements>, autokit_llm::Error>>>;

/// Reranks for searches of agents: each request is sent once, waited for within a time budget, and kept.
#[derive(Debug)]
pub struct Reranker {
    /// By service, model and prompt.
    requests: Mutex<LruCache<[u8; 32], Pending>>,
    /// A service that failed, and until when it is left alone.
    paused: Mutex<Option<(String, Instant)>>,
}

impl Default for Reranker {
    fn default() -> Reranker {
        Reranker { requests: Mutex::new(LruCache::new(CACHED)), paused: Mutex::default() }
    }
}

impl Reranker {
    /// Returns the order in which a model puts candidates, as [`order`].
    ///
    /// # Errors
    /// See [`NotReranked`].
    pub async fn order(
        &self,
        model: &Model,
        prompts: &Prompts,
        question: &str,
        candidates: &[Candidate],
        budget: Duration,
    ) -> Result<Vec<usize>, NotReranked> {
        let numbered: Vec<Candidate> = candidates
            .iter()
            .enumerate()
            .map(|(at, candidate)| Candidate { id: (at + 1).to_string(), ..candidate.clone() })
            .collect();
        let prompt = fill(prompts, &prompts::SCORE, question, &numbered);
        let config = model.config();
        let service = format!("{:?}\0{}\0{}", config.protocol, config.base, config.model);
        let key: [u8; 32] =
            Sha256::new().chain_update(&service).chain_update([0]).chain_update(&prompt).finalize().into();
        let pending = self.pending(key, model, &service, prompt, numbered)?;
        let judged = match tokio::time::timeout(budget, pending).await {
            Ok(Ok(judged)) => judged,
            Ok(Err(error)) => {
                self.requests.lock().expect("no holder panics").pop(&key);
                return Err(self.failed(service, &error));
            }
            Err(_) => return Err(NotReranked::Late(budget)),
        };
        order(candidates, &judged).ok_or(NotReranked::Reversed)
    }

    /// Returns the request for a prompt, which is sent unless it was before.
    fn pending(
        &self,
        key: [u8; 32],
        model: &Model,
        service: &str,
        prompt: String,
        candidates: Vec<Candidate>,
    ) -> Result<Pending, NotReranked> {
        let mut requests = self.requests.lock().expect("no holder panics");
        if let Some(known) = requests.get(&key) {
            return Ok(known.clone());
        }
        let paused = self.paused.lock().expect("no holder panics").clone();
        if paused.is_some_and(|(failed, until)| failed == service && Instant::now() < until) {
            return Err(NotReranked::Failed);
        }
        let model = model.clone();
        let sent: BoxFuture<'static, _> = Box::pin(async move {
            let (scores, _) = request(&model, prompt, false).await?;
            Ok(Arc::new(judgements(&candidates, scores)))
        });
        let pending = sent.shared();
        requests.put(key, pending.clone());
        // Goes on where nobody waits any more, so that the next search finds the response.
        tokio::spawn(pending.clone());
        Ok(pending)
    }

    fn failed(&self, service: String, error: &autokit_llm::Error) -> NotReranked {
        tracing::warn!(%error, "failed to rerank");
        let code = error.code();
        if code == Code::OverBudget {
            return NotReranked::OverBudget;
        }
        if !code.is_of_one_response() {
            *self.paused.lock().expect("no holder panics") = Some((service, Instant::now() + PAUSE));
        }
        NotReranked::Failed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(id: &str) -> Candidate {
        Candidate { id: id.into(), name: id.into(), description: String::new(), score: 0.5 }
    }

    #[test]
    fn unknown_ids_are_dropped_and_the_first_of_two_scores_counts() {
        let score = |id: &str, value| Score { id: id.into(), value, justification: "because".into() };
        let judged = judgements(
            &["a", "b", "c"].map(candidate),
            vec![score("c", 0.4), score("nobody", 1.0), score("a", 7.0), score("a", 0.0)],
        );
        let scores: Vec<Option<f32>> = judged.iter().map(|one| one.as_ref().map(|one| one.score)).collect();
        assert_eq!(scores, [Some(1.0), None, Some(0.4)]);
    }

    #[test]
    fn unjudged_candidates_and_equal_scores_keep_their_order() {
        assert_eq!(
            by_scores(&[0.5; 5], &[None, Some(0.4), Some(0.9), Some(0.4), None]),
            Some(vec![2, 1, 3, 0, 4])
        );
        assert_eq!(by_scores(&[], &[]), Some(vec![]));
    }

    #[test]
    fn outliers_come_last_whatever_the_model_says() {
        assert_eq!(
            by_scores(&[0.8, 0.4, 0.31, 0.1], &[Some(0.1), Some(0.9), Some(0.2), Some(1.0)]),
            Some(vec![1, 0, 3, 2])
        );
        // Without scores there are no outliers.
        assert_eq!(by_scores(&[0.0, 0.0], &[Some(0.1), Some(0.2)]), Some(vec![1, 0]));
    }

    #[test]
    fn a_ranking_upside_down_is_noticed_and_a_changed_one_is_not() {
        let reversed: Vec<Option<f32>> = (0..20_u8).map(|at| Some(f32::from(at) / 20.0)).collect();
        assert_eq!(by_scores(&[0.5; 20], &reversed), None);
        assert_eq!(by_scores(&[0.5; 5], &reversed[..5]), None);
        assert!(by_scores(&[0.5; 4], &reversed[..4]).is_some(), "four in this order may be chance");
        assert!(by_scores(&[0.5; 20], &[Some(0.5); 20]).is_some());
        // The last one is the best, the others are as ranked.
        let mut one: Vec<Option<f32>> = (0..19_u8).map(|at| Some(0.9 - f32::from(at) / 20.0)).collect();
        one.push(Some(1.0));
        assert_eq!(by_scores(&[0.5; 20], &one).expect("trusted")[..2], [19, 0]);
        // Only a few are of use: no order among the others.
        let few: Vec<Option<f32>> = (0..20).map(|at| Some(if at == 12 { 0.9 } else { 0.0 })).collect();
        assert_eq!(by_scores(&[0.5; 20], &few).expect("trusted")[0], 12);
    }
}
