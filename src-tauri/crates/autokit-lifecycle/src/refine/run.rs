//! A run over tools.

use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autokit_api::{JobTally, Setting};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_library::CardRecord;
use autokit_policy::Need;
use autokit_refine::draft::{Draft as Rewriting, DraftEnd, DraftOptions};
use autokit_refine::explore::{ExploreOptions, Stop, explore};
use autokit_refine::{
    Outcome as CallOutcome, ToolCaller, ToolDocument, ValuePool, refined_description, refined_parameters,
};
use autokit_serving::explored::ExploredTool;
use autokit_toolcard::Author;
use autokit_workspace::jobs::{Outcome, Progress};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::Refining;
use super::caller::Caller;
use super::document::{document_of, nested};
use super::model::ByEmbedding;
use super::proposal::proposal;
use crate::budget::BudgetedModel;

/// Most bytes of a result that are stored with a round.
const STORED: usize = 8_000;

/// How a run was started.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct RunOptions {
    pub profile: String,
    pub allow_changes: bool,
    /// Most calls of each tool.
    pub calls: u32,
    /// Most that language models may cost, in US dollars.
    pub budget: Option<f64>,
}

/// A run, as stored while it has tools left. What a person granted is not stored, so it is asked for again.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Run {
    pub options: RunOptions,
    /// Ids of the cards whose tools are left, the one in progress first.
    pub left: Vec<String>,
    /// Number of tools at the beginning.
    pub total: u32,
    /// What language models cost so far, in US dollars.
    pub spent: f64,
    /// The paper's loop over the first tool that is left.
    pub draft: Option<Rewriting>,
}

/// A tool of a run.
pub(super) struct RunTool {
    pub explored: ExploredTool,
    pub record: Arc<CardRecord>,
}

/// How a tool ended.
enum Explored {
    Proposed,
    Unchanged,
    /// With the reason.
    NotReached(String),
}

/// Records calls and answers each as if it had succeeded.
struct DryCaller<'a> {
    in_address: &'a [String],
    calls: Mutex<Vec<String>>,
}

#[async_trait]
impl ToolCaller for DryCaller<'_> {
    async fn call(&self, arguments: &Map<String, Value>) -> CallOutcome {
        if let Some(part) = self.in_address.iter().find(|name| !arguments.contains_key(*name)) {
            return CallOutcome::NotMade { reason: format!("the address needs `{part}`") };
        }
        let shown = Value::Object(nested(arguments)).to_string();
        self.calls.lock().expect("no holder panics").push(shown);
        CallOutcome::Success { result: Value::Null }
    }
}

/// Returns the arguments of the calls that would be made if each succeeded.
pub(super) async fn planned_calls(tool: &RunTool, calls: u32) -> Vec<String> {
    let caller = DryCaller { in_address: &tool.explored.in_address, calls: Mutex::default() };
    let document = document_of(&tool.record.card());
    let options = ExploreOptions { calls: calls as usize };
    explore(&document, &caller, &mut ValuePool::default(), options, &|_| {}).await;
    caller.calls.into_inner().expect("no holder panics")
}

impl Refining {
    async fn save(&self, run: &Run) -> Result<()> {
        if run.left.is_empty() {
            self.workspace.clear_setting(Setting::RefineRun).await
        } else {
            self.workspace.save_setting(Setting::RefineRun, run).await
        }
    }

    /// Explores one tool after the other.
    pub(super) async fn run(
        &self,
        mut run: Run,
        tools: Vec<RunTool>,
        granted: Vec<Need>,
        progress: &Progress,
    ) -> Result<Outcome> {
        let (mut proposed, mut unchanged, mut unreached) = (0_u32, 0_u32, Vec::new());
        let done_before = run.total.saturating_sub(tools.len() as u32);
        let mut pool = ValuePool::default();
        self.save(&run).await?;
        for (at, tool) in tools.iter().enumerate() {
            progress.set_done(u64::from(done_before) + at as u64, u64::from(run.total));
            // Whatever is dropped here was not finished, and is done again when the run is resumed.
            let explored = tokio::select! {
                explored = self.refine_one(&mut run, tool, &granted, &mut pool, progress) => explored?,
                () = progress.wait_until_cancelled() => return Err(ApiError::cancelled()),
            };
            match explored {
                Explored::Proposed => proposed += 1,
                Explored::Unchanged => unchanged += 1,
                Explored::NotReached(why) => unreached.push(format!("{}: {why}", tool.record.key.name)),
            }
            run.left.retain(|id| *id != tool.record.id.to_string());
            run.draft = None;
            self.save(&run).await?;
        }
        if let ([why], 0, 0) = (unreached.as_slice(), proposed, unchanged) {
            return Err(ApiError::new(
                ErrorCode::Provider,
                format!("the tool could not be explored: {why}"),
                "Call it by hand to see what it answers; check its server, key and permissions.",
            ));
        }
        let mut summary = match proposed {
            0 => "Nothing to change".to_owned(),
            1 => "1 proposal in Review".to_owned(),
            _ => format!("{proposed} proposals in Review"),
        };
        if unchanged > 0 && proposed > 0 {
            summary = format!("{summary}, {unchanged} unchanged");
        }
        if let Some(first) = unreached.first() {
            summary = format!("{summary}, {} not explored ({first})", unreached.len());
        }
        let tally = JobTally { proposed, unchanged, rejected: unreached.len() as u32, ..JobTally::default() };
        Ok(Outcome { summary, tally: Some(tally) })
    }

    async fn refine_one(
        &self,
        run: &mut Run,
        tool: &RunTool,
        granted: &[Need],
        pool: &mut ValuePool,
        progress: &Progress,
    ) -> Result<Explored> {
        let document = document_of(&tool.record.card());
        let caller = Caller { tool: &tool.explored, granted, progress, calls: AtomicU32::new(0) };
        let options = ExploreOptions { calls: run.options.calls as usize };
        let exploration = explore(&document, &caller, pool, options, &|_| {}).await;
        let is_cancelled = progress.wait_while_paused().await.is_err();
        if is_cancelled {
            return Err(ApiError::cancelled());
        }
        let unreached = match &exploration.stopped {
            Some(Stop::Unavailable { reason }) => Some(reason.clone()),
            Some(Stop::NoWorkingCall) => Some("no arguments were found that it accepts".to_owned()),
            Some(Stop::OutOfCalls) | None => None,
        };
        let described = ToolDocument {
            description: refined_description(&document, &exploration.observations),
            parameters: refined_parameters(&document, &exploration.observations),
            ..document.clone()
        };
        // A tool that does not answer has nothing to show a model either; one that refuses what the rules think of may
        // accept what a model thinks of.
        let rewriting = match &exploration.stopped {
            Some(Stop::Unavailable { .. }) => None,
            _ => self.rewrite(run, described, &caller).await?,
        };
        let now = self.workspace.clock.stamp();
        let draft = proposal(
            tool,
            &document,
            &exploration.observations,
            &exploration.trials,
            rewriting.as_ref(),
            now,
        );
        match (draft, unreached) {
            (Some(draft), _) => {
                self.proposals.propose(draft, &Author::autokit(), None).await?;
                Ok(Explored::Proposed)
            }
            (None, Some(why)) => Ok(Explored::NotReached(why)),
            (None, None) => Ok(Explored::Unchanged),
        }
    }

    /// Runs the paper's loop, if a language model is chosen. A model that fails leaves what the rules found.
    async fn rewrite(
        &self,
        run: &mut Run,
        document: ToolDocument,
        caller: &Caller<'_>,
    ) -> Result<Option<Rewriting>> {
        let (costs, spent) = (self.providers.spent(), run.spent);
        let budget = run.options.budget.map(|budget| budget - spent);
        let (Some(writer), Some(embedder)) =
            (BudgetedModel::new(&self.providers, budget), self.models.embedder())
        else {
            return Ok(None);
        };
        let options = DraftOptions::default();
        let similarity = ByEmbedding(embedder);
        let mut rewriting = match run.draft.take() {
            Some(begun) if begun.tool.name == document.name => begun,
            _ => Rewriting::new(document),
        };
        while rewriting.end.is_none() && rewriting.rounds.len() < options.rounds {
            // One round at a time, so that what is stored is never more than a round behind.
            let one = DraftOptions { rounds: rewriting.rounds.len() + 1, ..options };
            let result = rewriting.run(&writer, caller, &similarity, one, &|_| {}).await;
            run.spent = spent + self.providers.spent() - costs;
            if let Err(error) = result {
                tracing::info!(%error, tool = rewriting.tool.name, "the model failed to refine a tool");
                break;
            }
            if rewriting.end == Some(DraftEnd::OutOfRounds) {
                rewriting.end = None;
            }
            shorten_results(&mut rewriting);
            run.draft = Some(rewriting.clone());
            self.save(run).await?;
        }
        Ok(Some(rewriting))
    }
}

/// Shortens what was returned to what is shown of it, because it is stored after every round.
fn shorten_results(rewriting: &mut Rewriting) {
    for round in &mut rewriting.rounds {
        if let CallOutcome::Success { result: value } | CallOutcome::Refused { error: value, .. } =
            &mut round.trial.outcome
        {
            let text = value.to_string();
            if text.len() > STORED {
                *value = Value::from(&text[..text.floor_char_boundary(STORED)]);
            }
        }
    }
}
