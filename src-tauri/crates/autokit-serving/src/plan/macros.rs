//! Macros: cards whose tool is a sequence of calls of other tools (Elyra, bootstrapping).
//!
//! A macro gives no permission: each of its calls is decided on like any other. What is known beforehand that its calls
//! need is asked for once, with the macro.

use std::pin::Pin;

use async_trait::async_trait;
use autokit_bootstrap::{Macro, StepRunner};
use autokit_gateway::{Call, DecidedBy, Definition, Refusal, Target};
use autokit_openapi as openapi;
use autokit_openapi::rest::needs;
use autokit_policy::{Need, Permission};
use autokit_toolcard::{CardId, Toolcard, fields};
use autokit_upstream::tools::Upstream;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value};
use tokio::sync::mpsc;

use super::{CallRecorder, Calls, Executor, PreparedCall, server_needs};
use crate::builtin;
use crate::function_card::function_of;
use crate::permit::not_permitted;
use crate::profiles::no_profile;
use crate::recordings::{text_of, value_of};
use crate::refusal::refused;

impl Calls {
    /// Returns the tool of a step and its card, if it can be called and is no macro itself. Built-in tools have no card.
    async fn step_tool(&self, tool: &str) -> Option<(Definition, Option<Toolcard>)> {
        if let Some(builtin) = builtin::by_id(tool) {
            return Some((builtin.clone(), None));
        }
        let id = CardId::new(tool);
        let record = self.tools.workspace.library.read(|replica| replica.get(&id).cloned())?;
        let card = record.card();
        if card.object().contains_key(fields::MACRO) {
            return None;
        }
        Some((self.tools.definition(&record).await?, Some(card)))
    }

    /// Returns what the calls of a macro need, as far as it does not depend on their arguments.
    ///
    /// # Errors
    /// When one of its tools can no longer be called.
    pub(super) async fn macro_needs(&self, composed: &Macro) -> Result<Vec<Need>, Refusal> {
        let mut all: Vec<Need> = Vec::new();
        for (at, step) in composed.steps.iter().enumerate() {
            let (definition, card) = self.step_tool(&step.tool).await.ok_or_else(|| {
                Refusal::Rejected(format!("the tool of step {} can no longer be called", at + 1))
            })?;
            let Definition { id, name, provider, .. } = definition;
            let mut own = vec![Need::Tool { id, name, provider }];
            if let Some(card) = card {
                if let Some(function) = function_of(&card) {
                    own.push(Need::Code { language: function.language.as_str().to_owned() });
                } else if let Some(upstream) = Upstream::of(&card) {
                    let server = self.tools.servers.get(&upstream.server).await;
                    own.extend(server_needs(&server.map_err(|error| refused(&error))?));
                } else if let Ok(Some(operation)) = openapi::Call::from_card(&card) {
                    let keys = self.executors.rest.keys_for(&operation).await;
                    own.extend(needs(&operation, &keys.map_err(|error| refused(&error))?));
                }
            }
            all.extend(own.into_iter().filter(|need| !all.contains(need)).collect::<Vec<_>>());
        }
        Ok(all)
    }

    /// Makes the calls of a macro and returns what the last one returned. `covered` was asked for with the macro.
    pub(super) async fn run_macro(
        &self,
        composed: &Macro,
        covered: &[Need],
        call: &Call,
    ) -> Result<CallToolResult, Refusal> {
        let steps = Steps { calls: self, covered, call };
        match composed.run(&call.arguments, &steps).await {
            Ok(value) => Ok(CallToolResult::success(vec![ContentBlock::text(text_of(&value))])),
            Err(_) if call.cancel.is_cancelled() => Err(Refusal::Cancelled),
            Err(error) => Ok(CallToolResult::error(vec![ContentBlock::text(error.to_string())])),
        }
    }

    /// Decides on a call of a macro and makes it. Boxed, because it may itself lead to any kind of call.
    fn run_step<'a>(
        &'a self,
        call: Call,
        covered: &'a [Need],
    ) -> Pin<Box<dyn Future<Output = Result<CallToolResult, Refusal>> + Send + 'a>> {
        Box::pin(async move {
            let PreparedCall { executor, request } = self.prepare(&call).await?;
            let policy = self.tools.profiles.policy(&call.profile);
            let decision =
                policy.ok_or_else(|| refused(&no_profile(&call.profile)))?.decide(&request.all_needs());
            let asked = decision.reasons.iter().all(|need| covered.contains(need));
            let mut recorder =
                CallRecorder::start(&self.journal, &call, request.audit(&call, DecidedBy::Rules));
            match decision.permission {
                Permission::Allow => {}
                Permission::Deny => return Err(recorder.refused(not_permitted(&decision.reasons))),
                Permission::Ask if asked => recorder.audit.decided = DecidedBy::Person,
                Permission::Ask => {
                    let (decided, permitted) = self.approvals.permit(&request, &call).await;
                    recorder.audit.decided = decided;
                    if let Err(refusal) = permitted {
                        return Err(recorder.refused(refusal));
                    }
                }
            }
            if matches!(executor, Executor::Macro(..)) {
                return Err(recorder.refused(Refusal::Rejected("a macro cannot call a macro".to_owned())));
            }
            let result = self.execute(executor, call).await;
            recorder.finish(result)
        })
    }
}

/// The calls of a macro in the session of whoever calls it.
struct Steps<'a> {
    calls: &'a Calls,
    covered: &'a [Need],
    call: &'a Call,
}

#[async_trait]
impl StepRunner for Steps<'_> {
    async fn run(&self, tool: &str, arguments: &Map<String, Value>) -> Result<Value, String> {
        let (definition, _) = self.calls.step_tool(tool).await.ok_or("it can no longer be called")?;
        // The macro's own progress is the number of its calls; those of its tools would run back and forth.
        let (progress, _) = mpsc::channel(1);
        let call = Call {
            tool: Target::Discovered(Box::new(definition)),
            arguments: arguments.clone(),
            progress,
            ..self.call.clone()
        };
        let result = self.calls.run_step(call, self.covered).await.map_err(|refusal| refusal.to_string())?;
        match (result.is_error, value_of(&result)) {
            (Some(true), value) => Err(text_of(&value)),
            (_, value) => Ok(value),
        }
    }
}
