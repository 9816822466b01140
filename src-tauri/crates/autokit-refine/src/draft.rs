//! The loop of DRAFT with a language model (§2, algorithm 1).
//!
//! In each round an explorer makes up a request and the arguments for it, the tool is really called, an analyzer compares
//! the documentation with what happened, and a rewriter changes the documentation and says what to explore next. A request
//! that is too similar to an earlier one is discarded, with a reflection on why (§2.2); the loop ends when a rewrite
//! changes little (§2.4).

use async_trait::async_trait;
use autokit_text::bleu;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::tool::{Outcome, ToolCaller, ToolDocument, Trial};

/// How the loop runs.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DraftOptions {
    /// Most rounds (the paper's I).
    pub rounds: usize,
    /// Cosine from which on two requests are too similar (φ).
    pub similarity: f64,
    /// Mean of cosine and BLEU of two versions above which the loop ends (τ).
    pub termination: f64,
    /// Requests that are discarded in one round before the loop is given up: a model may have nothing new to ask.
    pub reflections: usize,
    /// Whether the loop also goes on while calls show something new. In the paper it ends with the first rewrite that
    /// changes little, and a wrong limit is corrected by a few words of a long description.
    pub until_nothing_new: bool,
}

impl Default for DraftOptions {
    /// The paper's values (§3.1); it does not say how often the explorer reflects, and has no `until_nothing_new`.
    fn default() -> DraftOptions {
        DraftOptions {
            rounds: 5,
            similarity: 0.9,
            termination: 0.75,
            reflections: 3,
            until_nothing_new: true,
        }
    }
}

/// A request that a person could make, with the arguments that answer it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Instance {
    /// The request in words.
    pub query: String,
    /// The arguments of the call.
    pub arguments: Map<String, Value>,
}

/// What an explorer is told.
#[derive(Clone, Copy, Debug)]
pub struct Exploring<'a> {
    /// The tool, with its documentation as it is now.
    pub tool: &'a ToolDocument,
    /// What to explore next, from the last rewrite.
    pub direction: Option<&'a str>,
    /// Calls so far.
    pub history: &'a [Trial],
    /// A discarded request and the earlier one it is too similar to.
    pub too_similar: Option<(&'a Instance, &'a str)>,
}

/// What an analyzer says of a call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Analysis {
    /// What the documentation should say.
    pub suggestion: String,
    /// Whether the call shows something that the documentation leaves out or has wrong.
    #[serde(default)]
    pub shows_something_new: bool,
}

/// A new version of the documentation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rewrite {
    /// The description.
    pub description: String,
    /// What to explore next.
    pub direction: String,
}

/// The three roles of the model.
#[async_trait]
pub trait DraftModel: Send + Sync {
    /// Makes up a request and its arguments (equation 1).
    ///
    /// # Errors
    /// Returns why there is none.
    async fn explore(&self, exploring: Exploring<'_>) -> Result<Instance, DraftError>;

    /// Says what the documentation should say, given a call and all earlier versions (equation 3).
    ///
    /// # Errors
    /// Returns why there is no answer.
    async fn analyze(
        &self,
        tool: &ToolDocument,
        trial: &Trial,
        versions: &[String],
    ) -> Result<Analysis, DraftError>;

    /// Rewrites the description, given a call, what the analyzer said of it and all earlier versions (equation 4).
    ///
    /// # Errors
    /// Returns why there is no answer.
    async fn rewrite(
        &self,
        tool: &ToolDocument,
        trial: &Trial,
        suggestion: &str,
        versions: &[String],
    ) -> Result<Rewrite, DraftError>;
}

/// Compares texts by meaning.
pub trait Similarity: Send + Sync {
    /// Returns the cosine of two texts.
    ///
    /// # Errors
    /// Returns the message of the embedding model.
    fn cosine(&self, a: &str, b: &str) -> Result<f64, DraftError>;
}

/// Why the loop cannot go on. What was done so far is kept in the [`Draft`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// The language model failed, or the spending limit is reached.
    #[error("{0}")]
    Model(String),
    /// The embedding model failed.
    #[error("{0}")]
    Embedding(String),
}

/// Why the loop ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum DraftEnd {
    /// A rewrite changed little (equation 5), and the call showed nothing new where that matters.
    Converged,
    /// The rounds are used up.
    OutOfRounds,
    /// The explorer had no new request.
    NothingNew,
    /// The tool cannot be called.
    Unavailable,
}

/// A round that was completed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Round {
    /// The call.
    pub trial: Trial,
    /// Requests that were discarded for being too similar to earlier ones.
    pub discarded: Vec<String>,
    /// What the analyzer said.
    #[serde(flatten)]
    pub analysis: Analysis,
    /// The new version.
    pub rewrite: Rewrite,
    /// Mean of cosine and BLEU of this version and the one before.
    pub similarity: f64,
}

/// The state of the loop. It can be stored after any round, and the loop resumed from it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Draft {
    /// The tool as documented at first.
    pub tool: ToolDocument,
    /// Completed rounds.
    pub rounds: Vec<Round>,
    /// Why it ended; absent while it goes on.
    pub end: Option<DraftEnd>,
}

impl Draft {
    /// Begins with a tool as documented.
    pub fn new(tool: ToolDocument) -> Draft {
        Draft { tool, rounds: Vec::new(), end: None }
    }

    /// Returns all versions of the description, the first one included.
    pub fn versions(&self) -> Vec<String> {
        let rewritten = self.rounds.iter().map(|round| round.rewrite.description.clone());
        std::iter::once(self.tool.description.clone()).chain(rewritten).collect()
    }

    /// Returns the calls of all rounds.
    pub fn trials(&self) -> Vec<Trial> {
        self.rounds.iter().map(|round| round.trial.clone()).collect()
    }

    /// Goes on until the loop ends. `watch` sees the state after each round.
    ///
    /// # Errors
    /// Returns an error if a model fails; completed rounds are kept, and the loop can be resumed.
    pub async fn run(
        &mut self,
        model: &dyn DraftModel,
        caller: &dyn ToolCaller,
        similarity: &dyn Similarity,
        options: DraftOptions,
        watch: &(dyn Fn(&Draft) + Sync),
    ) -> Result<(), DraftError> {
        while self.end.is_none() {
            if self.rounds.len() >= options.rounds {
                self.end = Some(DraftEnd::OutOfRounds);
                break;
            }
            match self.round(model, caller, similarity, options).await? {
                Ok(round) => {
                    let goes_on = options.until_nothing_new && round.analysis.shows_something_new;
                    let converged = round.similarity > options.termination && !goes_on;
                    self.rounds.push(round);
                    self.end = converged.then_some(DraftEnd::Converged);
                    watch(self);
                }
                Err(end) => self.end = Some(end),
            }
        }
        Ok(())
    }

    async fn round(
        &self,
        model: &dyn DraftModel,
        caller: &dyn ToolCaller,
        similarity: &dyn Similarity,
        options: DraftOptions,
    ) -> Result<Result<Round, DraftEnd>, DraftError> {
        let versions = self.versions();
        let before = versions.last().cloned().unwrap_or_default();
        let tool = ToolDocument { description: before.clone(), ..self.tool.clone() };
        let history = self.trials();
        let direction = self.rounds.last().map(|round| round.rewrite.direction.as_str());
        let mut discarded: Vec<(Instance, String)> = Vec::new();
        let instance = loop {
            let too_similar = discarded.last().map(|(instance, earlier)| (instance, earlier.as_str()));
            let exploring = Exploring { tool: &tool, direction, history: &history, too_similar };
            let instance = model.explore(exploring).await?;
            match nearest(&instance.query, &history, similarity, options.similarity)? {
                None => break instance,
                Some(_) if discarded.len() == options.reflections => return Ok(Err(DraftEnd::NothingNew)),
                Some(earlier) => discarded.push((instance, earlier)),
            }
        };
        let outcome = caller.call(&instance.arguments).await;
        if matches!(outcome, Outcome::Unavailable { .. }) {
            return Ok(Err(DraftEnd::Unavailable));
        }
        let trial = Trial { query: instance.query, arguments: instance.arguments, outcome };
        let analysis = model.analyze(&tool, &trial, &versions).await?;
        let rewrite = model.rewrite(&tool, &trial, &analysis.suggestion, &versions).await?;
        let cosine = similarity.cosine(&rewrite.description, &before)?;
        let similarity = f64::midpoint(cosine, bleu(&rewrite.description, &before));
        let discarded = discarded.into_iter().map(|(instance, _)| instance.query).collect();
        Ok(Ok(Round { trial, discarded, analysis, rewrite, similarity }))
    }
}

/// Returns the earlier request that a new one is most similar to, if it is too similar to it (equation 2).
fn nearest(
    query: &str,
    history: &[Trial],
    similarity: &dyn Similarity,
    threshold: f64,
) -> Result<Option<String>, DraftError> {
    let mut nearest: Option<(f64, &str)> = None;
    for trial in history {
        let cosine = similarity.cosine(query, &trial.query)?;
        if nearest.is_none_or(|(known, _)| cosine > known) {
            nearest = Some((cosine, &trial.query));
        }
    }
    Ok(nearest.filter(|(cosine, _)| *cosine > threshold).map(|(_, query)| query.to_owned()))
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::sync::Mutex;

    use serde_json::json;

    use super::*;

    /// Answers as it is told, and writes down what it was asked.
    #[derive(Default)]
    struct Scripted {
        queries: Mutex<VecDeque<&'static str>>,
        descriptions: Mutex<VecDeque<&'static str>>,
        trace: Mutex<Vec<String>>,
        fails_at_analysis: bool,
        /// How many calls show something new.
        new: Mutex<usize>,
    }

    impl Scripted {
        fn new(queries: &[&'static str], descriptions: &[&'static str]) -> Scripted {
            Scripted {
                queries: Mutex::new(queries.iter().copied().collect()),
                descriptions: Mutex::new(descriptions.iter().copied().collect()),
                ..Scripted::default()
            }
        }

        fn note(&self, text: String) {
            self.trace.lock().unwrap().push(text);
        }
    }

    #[async_trait]
    impl DraftModel for Scripted {
        async fn explore(&self, exploring: Exploring<'_>) -> Result<Instance, DraftError> {
            let similar = exploring.too_similar.map(|(new, old)| format!(" ({} ~ {old})", new.query));
            let direction = exploring.direction.map(|text| format!(" towards {text}"));
            self.note(format!("explore{}{}", direction.unwrap_or_default(), similar.unwrap_or_default()));
            let query = self.queries.lock().unwrap().pop_front();
            let query = query.ok_or_else(|| DraftError::Model("the spending limit is reached".to_owned()))?;
            Ok(Instance { query: query.to_owned(), arguments: Map::new() })
        }

        async fn analyze(
            &self,
            _: &ToolDocument,
            trial: &Trial,
            versions: &[String],
        ) -> Result<Analysis, DraftError> {
            self.note(format!("analyze {} after {} versions", trial.query, versions.len()));
            if self.fails_at_analysis {
                return Err(DraftError::Model("no answer".to_owned()));
            }
            let mut new = self.new.lock().unwrap();
            let shows_something_new = *new > 0;
            *new = new.saturating_sub(1);
            Ok(Analysis { suggestion: "say more".to_owned(), shows_something_new })
        }

        async fn rewrite(
            &self,
            tool: &ToolDocument,
            _: &Trial,
            suggestion: &str,
            _: &[String],
        ) -> Result<Rewrite, DraftError> {
            self.note(format!("rewrite {:?}: {suggestion}", tool.description));
            let description = self.descriptions.lock().unwrap().pop_front().unwrap_or("same").to_owned();
            Ok(Rewrite { description, direction: "errors".to_owned() })
        }
    }

    struct Echo(bool);

    #[async_trait]
    impl ToolCaller for Echo {
        async fn call(&self, _: &Map<String, Value>) -> Outcome {
            if self.0 {
                Outcome::Success { result: json!({}) }
            } else {
                Outcome::Unavailable { reason: "refused".to_owned() }
            }
        }
    }

    /// Share of words two texts have in common.
    struct Words;

    impl Similarity for Words {
        fn cosine(&self, a: &str, b: &str) -> Result<f64, DraftError> {
            let common = a.split(' ').filter(|word| b.split(' ').any(|other| other == *word)).count();
            Ok(common as f64 / a.split(' ').count().max(b.split(' ').count()) as f64)
        }
    }

    async fn run(model: &Scripted, options: DraftOptions) -> (Draft, Result<(), DraftError>) {
        let mut draft = Draft::new(ToolDocument { description: "raw".to_owned(), ..ToolDocument::default() });
        let result = draft.run(model, &Echo(true), &Words, options, &|_| {}).await;
        (draft, result)
    }

    #[tokio::test]
    async fn the_loop_ends_when_a_rewrite_changes_little() {
        let long = "finds the albums of an artist by name and year";
        let model = Scripted::new(&["a b", "c d", "e f"], &[long, long]);
        let (draft, result) = run(&model, DraftOptions::default()).await;
        assert_eq!((result, draft.end, draft.rounds.len()), (Ok(()), Some(DraftEnd::Converged), 2));
        assert!(draft.rounds[0].similarity < 0.1 && draft.rounds[1].similarity > 0.99);
        assert_eq!(
            *model.trace.lock().unwrap(),
            [
                "explore",
                "analyze a b after 1 versions",
                "rewrite \"raw\": say more",
                "explore towards errors",
                "analyze c d after 2 versions",
                "rewrite \"finds the albums of an artist by name and year\": say more",
            ]
        );
    }

    #[tokio::test]
    async fn small_corrections_do_not_end_the_loop_while_calls_show_something_new() {
        let scripted = || Scripted {
            new: Mutex::new(2),
            ..Scripted::new(&["a b", "c d", "e f"], &["same", "same", "same"])
        };
        let (draft, _) = run(&scripted(), DraftOptions::default()).await;
        assert_eq!((draft.end, draft.rounds.len()), (Some(DraftEnd::Converged), 3));
        let of_the_paper = DraftOptions { until_nothing_new: false, ..DraftOptions::default() };
        let (draft, _) = run(&scripted(), of_the_paper).await;
        assert_eq!((draft.end, draft.rounds.len()), (Some(DraftEnd::Converged), 2));
    }

    #[tokio::test]
    async fn requests_that_are_too_similar_are_discarded() {
        let model = Scripted::new(&["a b", "a b", "c d"], &["one version of it", "another text entirely"]);
        let options = DraftOptions { rounds: 2, ..DraftOptions::default() };
        let (draft, _) = run(&model, options).await;
        assert_eq!(draft.rounds[1].discarded, ["a b"]);
        assert_eq!(draft.rounds[1].trial.query, "c d");
        assert!(model.trace.lock().unwrap().contains(&"explore towards errors (a b ~ a b)".to_owned()));
        assert_eq!(draft.end, Some(DraftEnd::OutOfRounds));
    }

    #[tokio::test]
    async fn a_model_with_nothing_new_ends_the_loop() {
        let model = Scripted::new(&["a b", "a b", "a b", "a b", "a b", "a b"], &["one version of it"]);
        let (draft, result) = run(&model, DraftOptions::default()).await;
        assert_eq!((result, draft.end, draft.rounds.len()), (Ok(()), Some(DraftEnd::NothingNew), 1));
    }

    #[tokio::test]
    async fn the_loop_goes_on_where_a_model_failed() {
        let model = Scripted::new(&["a b"], &["one version of it"]);
        let (mut draft, result) = run(&model, DraftOptions::default()).await;
        assert_eq!(result, Err(DraftError::Model("the spending limit is reached".to_owned())));
        assert_eq!((draft.end, draft.rounds.len()), (None, 1));
        let text = serde_json::to_string(&draft).unwrap();
        draft = serde_json::from_str(&text).unwrap();
        let model = Scripted::new(&["c d"], &["one version of it"]);
        draft.run(&model, &Echo(true), &Words, DraftOptions::default(), &|_| {}).await.unwrap();
        assert_eq!((draft.end, draft.rounds.len()), (Some(DraftEnd::Converged), 2));
    }

    #[tokio::test]
    async fn a_failed_round_leaves_no_half_of_it() {
        let model = Scripted { fails_at_analysis: true, ..Scripted::new(&["a b"], &[]) };
        let (draft, result) = run(&model, DraftOptions::default()).await;
        assert!(result.is_err() && draft.rounds.is_empty());
    }

    #[tokio::test]
    async fn a_tool_that_cannot_be_called_is_not_described() {
        let model = Scripted::new(&["a b"], &["invented"]);
        let mut draft = Draft::new(ToolDocument::default());
        draft.run(&model, &Echo(false), &Words, DraftOptions::default(), &|_| {}).await.unwrap();
        assert_eq!((draft.end, draft.rounds.len()), (Some(DraftEnd::Unavailable), 0));
    }
}
