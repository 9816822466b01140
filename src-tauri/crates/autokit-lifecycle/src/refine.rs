//! Documentation refined by trial calls (DRAFT §2): which tools are called, with whose consent, and what is proposed.
//!
//! A run calls one tool after the other. By rules, values are tried and what the answers show becomes documentation;
//! with a language model chosen, the paper's loop then rewrites the description. Both end in one proposal per tool,
//! with the calls as evidence. What a run has left is stored, so that it can be resumed.

mod caller;
mod document;
mod model;
mod proposal;
mod run;

use async_trait::async_trait;
use autokit_api::commands::{Context, GetRefineState, Handle, ListTools, StartRefine};
use autokit_api::{
    JobKind, Nothing, RefinePlan, RefineRequest, RefineScope, RefineStart, RefineState, Setting, ToolRef,
    ToolSource, ToolsQuery,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_features::review::Proposals;
use autokit_policy::Need;
use autokit_serving::explored::ExploredTool;
use autokit_serving::manual::ToolRuns;
use autokit_workspace::models::Models;
use autokit_workspace::providers::Providers;
use autokit_workspace::workspace::Workspace;

use crate::budget::check_budget;
use run::{Run, RunOptions, RunTool};

/// Calls of a tool when no number is given.
const CALLS: u32 = 150;
/// Most calls of a tool.
const MAX_CALLS: u32 = 2_000;
/// Tools per request of the list.
const PAGE: u32 = 1_000;

/// Refines the documentation of tools. Clones share state.
#[derive(Clone, Debug)]
pub struct Refining {
    workspace: Workspace,
    models: Models,
    providers: Providers,
    proposals: Proposals,
    tools: ToolRuns,
}

impl Refining {
    /// Refines the documentation of this library's callable tools.
    pub fn new(
        workspace: Workspace,
        models: Models,
        providers: Providers,
        proposals: Proposals,
        tools: ToolRuns,
    ) -> Refining {
        Refining { workspace, models, providers, proposals, tools }
    }

    async fn saved_run(&self) -> Result<Option<Run>> {
        self.workspace.load_setting(Setting::RefineRun).await
    }

    /// Returns the ids of the tools in scope.
    async fn in_scope(&self, scope: &RefineScope, profile: &str) -> Result<Vec<String>> {
        match scope {
            RefineScope::Tools { tools } => Ok(tools.clone()),
            RefineScope::Resume => Ok(self.saved_run().await?.map(|run| run.left).unwrap_or_default()),
            RefineScope::All => {
                let mut ids: Vec<String> = Vec::new();
                loop {
                    let query = ToolsQuery {
                        text: String::new(),
                        sources: vec![ToolSource::Server, ToolSource::Api],
                        profile: profile.to_owned(),
                        offset: ids.len() as u32,
                        limit: PAGE,
                    };
                    let context = Context { request: None, author: String::new() };
                    let page = Handle::<ListTools>::handle(&self.tools, &context, query).await?;
                    ids.extend(page.tools.iter().map(|tool| tool.id.clone()));
                    if page.tools.is_empty() || ids.len() as u32 >= page.total {
                        return Ok(ids);
                    }
                }
            }
        }
    }

    /// Splits the tools in scope into those to call and those that are left out.
    async fn select(&self, request: &RefineRequest) -> Result<(Vec<RunTool>, Vec<RefinePlan>)> {
        let named = matches!(request.scope, RefineScope::Tools { .. });
        let (mut tools, mut skipped): (Vec<RunTool>, Vec<RefinePlan>) = (Vec::new(), Vec::new());
        for id in self.in_scope(&request.scope, &request.profile).await? {
            let tool_ref = ToolRef { tool: id.clone(), profile: request.profile.clone() };
            let (explored, record) = match self.tools.explored(&tool_ref).await {
                Ok(found) => found,
                Err(error) if named => return Err(error),
                // A tool of a longer list may be gone or denied, which is no reason to stop.
                Err(error) => {
                    skipped.push(RefinePlan {
                        tool: id.clone(),
                        title: id,
                        place: String::new(),
                        may_change: false,
                        skipped: Some(error.message),
                        calls: Vec::new(),
                    });
                    continue;
                }
            };
            if tools.iter().any(|tool| tool.record.id == record.id) {
                continue;
            }
            if explored.may_change && !request.allow_changes {
                let why = "calls may change something, which needs your consent";
                skipped.push(plan_of(&explored, &record, Some(why.to_owned()), Vec::new()));
                continue;
            }
            tools.push(RunTool { explored, record });
        }
        // What one tool returns is what another takes: those that need least come first.
        tools.sort_by_cached_key(|tool| {
            let required = document::document_of(&tool.record.card()).parameters;
            let required = required.get("required").and_then(|all| all.as_array()).map_or(0, Vec::len);
            (tool.explored.in_address.len(), required, tool.record.key.to_string())
        });
        Ok((tools, skipped))
    }

    async fn start(&self, request: RefineRequest) -> Result<RefineStart> {
        check_budget(request.budget)?;
        let resumed = match request.scope {
            RefineScope::Resume => Some(self.saved_run().await?.ok_or_else(|| {
                ApiError::new(
                    ErrorCode::NotFound,
                    "there is no interrupted run of trial calls",
                    "Name the tools to refine.",
                )
            })?),
            _ => None,
        };
        // A run goes on as it was started.
        let request = match &resumed {
            Some(run) => RefineRequest {
                profile: run.options.profile.clone(),
                allow_changes: run.options.allow_changes,
                calls: Some(run.options.calls),
                budget: run.options.budget,
                ..request
            },
            None => request,
        };
        let (tools, mut skipped) = self.select(&request).await?;
        let options = RunOptions {
            profile: request.profile.clone(),
            allow_changes: request.allow_changes,
            calls: request.calls.unwrap_or(CALLS).clamp(1, MAX_CALLS),
            budget: request.budget,
        };
        if request.dry_run {
            let mut plans = Vec::new();
            for tool in &tools {
                let calls = run::planned_calls(tool, options.calls).await;
                plans.push(plan_of(&tool.explored, &tool.record, None, calls));
            }
            plans.append(&mut skipped);
            return Ok(RefineStart::Planned { tools: plans });
        }
        if tools.is_empty() {
            let why = skipped.first().and_then(|plan| plan.skipped.clone());
            return Err(ApiError::new(
                ErrorCode::Refused,
                why.map_or_else(
                    || "there are no tools to call".to_owned(),
                    |why| format!("no tool was called: {why}"),
                ),
                "Choose tools of MCP servers or web APIs; allow those that change something if that is safe.",
            ));
        }
        let mut needs: Vec<Need> = Vec::new();
        for tool in &tools {
            for need in tool.explored.missing_grants(&request.granted).await? {
                if !needs.contains(&need) {
                    needs.push(need);
                }
            }
        }
        if !needs.is_empty() {
            let words = needs.iter().map(Need::describe).collect();
            return Ok(RefineStart::Asks { needs, words });
        }
        let total = resumed.as_ref().map_or(tools.len() as u32, |run| run.total);
        let run = Run {
            options,
            left: tools.iter().map(|tool| tool.record.id.to_string()).collect(),
            total,
            spent: resumed.as_ref().map_or(0.0, |run| run.spent),
            draft: resumed.and_then(|run| run.draft),
        };
        let title = match tools.as_slice() {
            [one] => format!("Refining {}", one.record.key.name),
            _ => "Refining tools".to_owned(),
        };
        let (refining, granted) = (self.clone(), request.granted);
        let started = self.workspace.jobs.start(JobKind::Refine, &title, "tools", |progress| async move {
            progress.allow_pausing();
            refining.run(run, tools, granted, &progress).await
        });
        Ok(RefineStart::Started { job: started.job, skipped })
    }
}

fn plan_of(
    explored: &ExploredTool,
    record: &autokit_library::CardRecord,
    skipped: Option<String>,
    calls: Vec<String>,
) -> RefinePlan {
    RefinePlan {
        tool: record.id.to_string(),
        title: record.key.to_string(),
        place: explored.place.clone(),
        may_change: explored.may_change,
        skipped,
        calls,
    }
}

#[async_trait]
impl Handle<StartRefine> for Refining {
    async fn handle(&self, _: &Context, request: RefineRequest) -> Result<RefineStart> {
        self.start(request).await
    }
}

#[async_trait]
impl Handle<GetRefineState> for Refining {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<RefineState> {
        let run = self.saved_run().await?;
        Ok(RefineState {
            left: run.as_ref().map_or(0, |run| run.left.len() as u32),
            total: run.map_or(0, |run| run.total),
        })
    }
}
