//! Tools that a language model writes for a need that use shows (Elyra, bootstrapping: need, specification, code and
//! tests, sandbox, review, monitoring, improvement or retirement).
//!
//! Nothing that was written runs outside the sandbox, and nothing can be called before a person accepted it.

mod needs;
mod proposal;
mod watch;
mod write;

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use autokit_api::commands::{Context, GenerateTool, GetGeneration, Handle, ListGeneratedTools, RetireTool};
use autokit_api::{
    CardRef, GenerateRequest, GeneratedToolList, Generation, GenerationRef, JobId, JobKind, JobRef, Nothing,
    RetirementProposed,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_features::review::Proposals;
use autokit_serving::code_runs::CodeRunner;
use autokit_serving::report::Activity;
use autokit_toolcard::Author;
use autokit_workspace::models::Models;
use autokit_workspace::providers::Providers;
use autokit_workspace::workspace::Workspace;

use crate::budget::{BudgetedModel, check_budget};

/// Generations that are remembered with their code and checks.
const REMEMBERED: usize = 20;
/// Longest need, in characters.
const MAX_NEED: usize = 4_000;

/// Writes tools, and watches those that grew here. Clones share state.
#[derive(Clone, Debug)]
pub struct GeneratedTools {
    workspace: Workspace,
    models: Models,
    providers: Providers,
    proposals: Proposals,
    code: CodeRunner,
    activity: Activity,
    generations: Arc<Mutex<VecDeque<(JobId, Generation)>>>,
    /// Held while a tool is written: one after the other.
    writing: Arc<tokio::sync::Mutex<()>>,
}

impl GeneratedTools {
    /// Writes tools for this library; their code is checked by `code`, and `activity` tells how tools fare.
    pub fn new(
        workspace: Workspace,
        models: Models,
        providers: Providers,
        proposals: Proposals,
        code: CodeRunner,
        activity: Activity,
    ) -> GeneratedTools {
        GeneratedTools {
            workspace,
            models,
            providers,
            proposals,
            code,
            activity,
            generations: Arc::default(),
            writing: Arc::default(),
        }
    }

    /// Changes what is remembered of a generation.
    fn note(&self, job: &JobId, change: impl FnOnce(&mut Generation)) {
        let mut all = self.generations.lock().expect("no holder panics");
        if !all.iter().any(|(id, _)| id == job) {
            all.push_back((job.clone(), Generation::default()));
            if all.len() > REMEMBERED {
                all.pop_front();
            }
        }
        if let Some((_, generation)) = all.iter_mut().find(|(id, _)| id == job) {
            change(generation);
        }
    }

    async fn start(&self, request: &GenerateRequest) -> Result<JobRef> {
        self.workspace.library.ensure_writable()?;
        let need = request.need.trim().to_owned();
        if (need.is_empty() && request.card.is_none()) || need.chars().count() > MAX_NEED {
            let message = format!("a need has 1 to {MAX_NEED} characters");
            return Err(ApiError::new(ErrorCode::BadRequest, message, "Say what the tool is needed for."));
        }
        check_budget(request.budget)?;
        let earlier = match &request.card {
            Some(card) => Some(self.written_tool(card)?),
            None => None,
        };
        let Some(model) = BudgetedModel::new(&self.providers, request.budget) else {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "no language model is chosen, and rules cannot write a tool",
                "Choose one in Settings, Language model, or make a tool of recorded calls.",
            ));
        };
        // Before a model is paid for code that nobody could check.
        self.code.ensure_sandbox().await?;
        let language = request.language;
        let title = earlier.as_ref().map_or_else(
            || "Writing a tool".to_owned(),
            |(record, _)| format!("Improving {}", record.key.name),
        );
        let writing = self.clone();
        Ok(self.workspace.jobs.start(JobKind::Generate, &title, "attempts", |progress| async move {
            let job = progress.id();
            writing.note(&job, |generation| generation.need.clone_from(&need));
            let written = async {
                let _writing = writing.writing.lock().await;
                writing.write(&need, language, earlier, &model, &progress).await
            };
            tokio::select! {
                written = written => {
                    if let Err(error) = &written {
                        writing.note(&job, |generation| generation.problem = Some(error.message.clone()));
                    }
                    written
                }
                () = progress.wait_until_cancelled() => {
                    writing.note(&job, |generation| generation.problem = Some("It was cancelled.".to_owned()));
                    Err(ApiError::cancelled())
                }
            }
        }))
    }
}

#[async_trait]
impl Handle<ListGeneratedTools> for GeneratedTools {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<GeneratedToolList> {
        let experience = self.activity.experience().await?;
        Ok(GeneratedToolList {
            tools: self.watched(&experience),
            unanswered: self.unanswered(&experience).await?,
            edits: self.repeated_edits().await?,
            can_write: self.providers.services().large.is_some() && self.code.ensure_sandbox().await.is_ok(),
        })
    }
}

#[async_trait]
impl Handle<GenerateTool> for GeneratedTools {
    async fn handle(&self, _: &Context, request: GenerateRequest) -> Result<JobRef> {
        self.start(&request).await
    }
}

#[async_trait]
impl Handle<GetGeneration> for GeneratedTools {
    async fn handle(&self, _: &Context, request: GenerationRef) -> Result<Generation> {
        let all = self.generations.lock().expect("no holder panics");
        let found = match &request.job {
            Some(job) => all.iter().find(|(id, _)| id == job),
            None => all.back(),
        };
        found.map(|(_, generation)| generation.clone()).ok_or_else(|| {
            ApiError::new(
                ErrorCode::NotFound,
                "nothing is remembered of this",
                "The code and its checks are kept in memory until AutoKit is closed.",
            )
        })
    }
}

#[async_trait]
impl Handle<RetireTool> for GeneratedTools {
    async fn handle(&self, context: &Context, request: CardRef) -> Result<RetirementProposed> {
        self.workspace.library.ensure_writable()?;
        let draft = self.retirement(&request.card).await?;
        let proposed = self.proposals.propose(draft, &Author::autokit(), context.request.as_deref()).await?;
        Ok(RetirementProposed { proposal: proposed.proposal.id })
    }
}
