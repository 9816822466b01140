//! AutoKit's own tools, which every agent has beside `search_tools`.

use std::sync::Arc;

use autokit_api::{Turn, TurnKind, TurnState};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::{Call, Definition, Refusal};
use autokit_library::Feedback;
use autokit_toolcard::Author;
use autokit_workspace::search::Search;
use autokit_workspace::workspace::Workspace;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::{Map, Value, json};

use crate::assistant::{Assistant, TurnRequest};
use crate::find::feedback_profile;
use crate::profiles::{AgentProfiles, no_profile};
use crate::refusal::refused_or_cancelled;

fn tool(name: &str, description: &str, properties: Value, required: &[&str]) -> Definition {
    let mut schema = Map::new();
    schema.insert("type".to_owned(), "object".into());
    schema.insert("properties".to_owned(), properties);
    schema.insert("required".to_owned(), required.into());
    Definition {
        id: name.to_owned(),
        name: name.to_owned(),
        provider: "AutoKit".to_owned(),
        description: description.to_owned(),
        schema,
        annotations: None,
    }
}

/// Returns the definitions of these tools. They are short, because every session pays for their tokens.
pub(crate) fn tools() -> Vec<Definition> {
    vec![
        tool(
            "ask",
            "Recommends one library, class or API to use in code, with its import and a link to its documentation.",
            json!({"question": {"type": "string", "maxLength": 4000}}),
            &["question"],
        ),
        tool(
            "discover",
            "Searches the web for a tool that is not in the library. Results are proposed to the user for review.",
            json!({"need": {"type": "string", "maxLength": 4000}}),
            &["need"],
        ),
        tool(
            "propose_card",
            "Proposes adding a tool to the library, from a description in plain text; the user decides.",
            json!({"description": {"type": "string", "maxLength": 4000, "description": "Starts with the tool's name"}}),
            &["description"],
        ),
        tool(
            "report_outcome",
            "Reports whether a tool worked for a task, to improve later searches.",
            json!({
                "tool": {"type": "string", "description": "`id` from the search result"},
                "task": {"type": "string", "maxLength": 1000},
                "worked": {"type": "boolean"},
                "note": {"type": "string", "maxLength": 2000}
            }),
            &["tool", "task", "worked"],
        ),
    ]
}

/// Returns the tool of this name, if it is one of these.
pub(crate) fn by_name(name: &str) -> Option<Definition> {
    tools().into_iter().find(|tool| tool.name == name)
}

/// Returns a turn that ended well.
///
/// # Errors
/// The error that ended it otherwise.
pub(crate) fn finished(turn: Turn) -> Result<Turn> {
    match turn.state {
        TurnState::Failed => {
            Err(turn.error.unwrap_or_else(|| ApiError::internal("the turn failed for an unknown reason")))
        }
        TurnState::Cancelled => Err(ApiError::cancelled()),
        TurnState::Running | TurnState::Done => Ok(turn),
    }
}

fn text_result(text: impl Into<String>) -> CallToolResult {
    CallToolResult::success(vec![ContentBlock::text(text)])
}

/// Executes these tools.
#[derive(Clone, Debug)]
pub struct OwnTools {
    workspace: Workspace,
    profiles: AgentProfiles,
    assistant: Arc<dyn Assistant>,
    search: Search,
}

impl OwnTools {
    /// Creates the executor, with the agent and the search that people use too.
    pub fn new(
        workspace: Workspace,
        profiles: AgentProfiles,
        assistant: Arc<dyn Assistant>,
        search: Search,
    ) -> OwnTools {
        OwnTools { workspace, profiles, assistant, search }
    }

    pub(crate) async fn call(&self, name: &str, call: Call) -> Result<CallToolResult, Refusal> {
        let argument =
            |key: &str| call.arguments.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
        let outcome = match name {
            "ask" => self.turn(TurnKind::Ask, &argument("question"), &call).await,
            "discover" => self.turn(TurnKind::Discover, &argument("need"), &call).await,
            "propose_card" => self.propose(&argument("description"), &call).await,
            _ => self.report(&call, &argument("tool"), &argument("task"), &argument("note")).await,
        };
        outcome.map_err(|error| refused_or_cancelled(&error))
    }

    /// Runs a turn of the agent and returns its outcome.
    async fn turn(&self, kind: TurnKind, query: &str, call: &Call) -> Result<CallToolResult> {
        let scoped = self.profiles.scoped(&call.profile).ok_or_else(|| no_profile(&call.profile))?;
        let request = TurnRequest {
            kind,
            query: query.to_owned(),
            feedback_profile: feedback_profile(&call.profile),
            allowed: scoped.allowed.clone(),
            // For discovery, web access was decided on as a whole. An answer may use the web only if all hosts
            // are allowed.
            web: kind == TurnKind::Discover || scoped.policy().allows_all_hosts(),
            // Agents have a tool of its own for documents, with a permission of its own.
            documents: false,
            code: false,
        };
        let turn = self.assistant.run_turn(request, &call.cancel).await?;
        let turn = finished(turn)?;
        Ok(text_result(self.outcome(&turn).await?))
    }

    /// Returns the outcome of a turn, as JSON.
    async fn outcome(&self, turn: &Turn) -> Result<String> {
        let mut answer = Map::new();
        let mut findings = Vec::new();
        let mut substitute = None;
        if let Some(recommended) = &turn.answer {
            let limits = recommended.limits.iter().map(String::as_str);
            let said: Vec<&str> =
                [&*recommended.sentence].into_iter().chain(limits).chain([&*recommended.why]).collect();
            answer.insert("answer".to_owned(), said.join(" ").trim().into());
            answer.insert("verdict".to_owned(), json!(recommended.verdict));
            if let Some(confidence) = recommended.confidence {
                answer.insert("confidence".to_owned(), json!(confidence));
            }
            if let Some(id) = &recommended.tool {
                let record = self.workspace.library.card(id)?;
                answer.insert(
                    "tool".to_owned(),
                    json!({"id": id, "name": record.key.name, "provider": record.key.provider}),
                );
                if let Some(stub) = &recommended.stub {
                    answer.insert("code".to_owned(), stub.code.as_str().into());
                }
                if let Some(url) = record.card().text(autokit_toolcard::fields::DOCUMENTATION) {
                    answer.insert("documentation".to_owned(), url.into());
                }
            }
            if !recommended.citations.is_empty() {
                let citations = recommended.citations.iter().map(|cited| {
                    json!({"tool": cited.card, "under": cited.title, "source": cited.url, "text": cited.text})
                });
                answer.insert("citations".to_owned(), citations.collect());
            }
            findings.extend(recommended.findings.iter().cloned());
            substitute = recommended.substitute.as_deref();
        }
        if let Some(discovered) = &turn.discovered {
            answer.insert("answer".to_owned(), discovered.summary().into());
            findings.extend(discovered.findings.iter().cloned());
            substitute = substitute.or(discovered.substitute.as_deref());
        }
        if let Some(other) = substitute {
            let label = "not made for this, but may be used in its place";
            let found = json!({"name": other.name, "documentation": other.url, "note": label});
            answer.insert("substitute".to_owned(), found);
        }
        let mut found = Vec::new();
        for finding in findings {
            let (name, url) = (finding.name.clone(), finding.url.clone());
            let proposal = self.assistant.propose(finding.draft, &Author("Discovery".to_owned())).await?;
            found.push(json!({"name": name, "documentation": url, "proposal": proposal}));
        }
        if !found.is_empty() {
            answer.insert("found".to_owned(), found.into());
            answer.insert("note".to_owned(), "The results are pending the user's review.".into());
        }
        Ok(Value::Object(answer).to_string())
    }

    async fn propose(&self, description: &str, call: &Call) -> Result<CallToolResult> {
        let draft = self.assistant.draft(description).await?;
        let name = draft.key().map(|key| key.to_string()).unwrap_or_default();
        let by =
            if call.profile.is_empty() { "an agent".to_owned() } else { format!("agent {}", call.profile) };
        let proposal = self.assistant.propose(draft, &Author(by)).await?;
        let message = format!("{name} is pending in Review as proposal {proposal}.");
        Ok(text_result(message))
    }

    async fn report(&self, call: &Call, tool: &str, task: &str, note: &str) -> Result<CallToolResult> {
        let record = self.workspace.find_card(tool)?;
        let scoped = self.profiles.scoped(&call.profile).ok_or_else(|| no_profile(&call.profile))?;
        if !scoped.may_find(&record.id) {
            return Err(ApiError::new(
                ErrorCode::NotFound,
                format!("card {tool:?} not found"),
                "Search for it.",
            ));
        }
        let helpful = call.arguments.get("worked").and_then(Value::as_bool).unwrap_or_default();
        let feedback = Feedback {
            at: self.workspace.clock.stamp(),
            profile: feedback_profile(&call.profile),
            question: task.to_owned(),
            card: record.id.clone(),
            helpful,
            said: note.to_owned(),
        };
        self.workspace.library.put_feedback(&feedback, None).await?;
        self.search.clear_profile_cache();
        let how = if helpful { "worked" } else { "did not work" };
        Ok(text_result(format!("Recorded that {} {how} for this task.", record.key)))
    }
}
