//! Macros: a tool made of recorded calls, proposed for review (Elyra, bootstrapping: need, specification, composition).

use std::collections::BTreeMap;
use std::sync::Arc;

use async_trait::async_trait;
use autokit_api::commands::{Context, Handle, ListRecordedCalls, ProposeMacro};
use autokit_api::{MacroPropose, MacroProposed, Nothing, RecordedCall, RecordedCalls, RepeatedCalls};
use autokit_bootstrap::{
    Argument, Macro, MacroStep, RecordedCall as Made, Sequence, SequenceOptions, recorded, sequences,
};
use autokit_bundle::may_be_secret;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_features::review::Proposals;
use autokit_serving::plan::Calls;
use autokit_serving::recordings::{Recording, text_of};
use autokit_toolcard::{Author, Draft, Evidence, Kind, Origin, ProposedField, fields};
use autokit_workspace::cards::shorten;
use serde_json::{Value, json};

/// Most characters of arguments or a result that are shown.
const SHOWN: usize = 200;
/// Most calls of a macro.
const MAX_CALLS: usize = 20;
/// Probability that a sequence a person chose is what they mean.
const CHOSEN: f32 = 0.9;
/// Provider on the cards of macros.
const PROVIDER: &str = "Macros";

/// Makes tools of recorded calls. Clones share state.
#[derive(Clone, Debug)]
pub struct Macros {
    proposals: Proposals,
    calls: Calls,
}

/// Recent calls by session, each session oldest first.
struct Sessions {
    calls: Vec<Vec<Arc<Recording>>>,
    made: Vec<Vec<Made>>,
}

impl Sessions {
    fn new(all: &[Arc<Recording>]) -> Sessions {
        let mut by_session: BTreeMap<&str, Vec<Arc<Recording>>> = BTreeMap::new();
        for call in all {
            by_session.entry(&call.session).or_default().push(Arc::clone(call));
        }
        let calls: Vec<Vec<Arc<Recording>>> = by_session.into_values().collect();
        let made = calls.iter().map(|calls| calls.iter().map(|call| made(call)).collect()).collect();
        Sessions { calls, made }
    }

    fn repeated(&self) -> Vec<Sequence> {
        sequences(&self.made, SequenceOptions::default())
    }

    /// Returns the calls of an occurrence.
    fn occurrence(&self, (session, at): (usize, usize), length: usize) -> &[Arc<Recording>] {
        self.calls.get(session).and_then(|calls| calls.get(at..at + length)).unwrap_or_default()
    }
}

fn made(call: &Recording) -> Made {
    Made { tool: call.name.clone(), arguments: call.arguments.clone(), result: call.result.clone() }
}

fn shown(value: &Value) -> String {
    shorten(&text_of(value), SHOWN)
}

impl Macros {
    /// Makes tools of the calls recorded in this process.
    pub fn new(proposals: Proposals, calls: Calls) -> Macros {
        Macros { proposals, calls }
    }

    fn list(&self) -> RecordedCalls {
        let all = self.calls.recordings().all();
        let sessions = Sessions::new(&all);
        let mut calls: Vec<RecordedCall> = Vec::new();
        for (session, made) in sessions.calls.iter().zip(&sessions.made) {
            // Where the arguments of a call come from depends on the calls before it only.
            let steps = recorded(made).map(|composed| composed.steps).unwrap_or_default();
            for (call, step) in session.iter().zip(&steps) {
                calls.push(RecordedCall {
                    number: call.number,
                    at: call.at,
                    session: call.session.clone(),
                    client: call.client.clone(),
                    name: call.name.clone(),
                    provider: call.provider.clone(),
                    arguments: shown(&Value::Object(call.arguments.clone())),
                    uses: uses(session, step),
                });
            }
        }
        calls.sort_by_key(|call| std::cmp::Reverse(call.number));
        let repeated = sessions
            .repeated()
            .into_iter()
            .map(|sequence| {
                let latest = sequence.occurrences.iter().map(|place| {
                    let calls = sessions.occurrence(*place, sequence.tools.len());
                    calls.iter().map(|call| call.number).collect::<Vec<u64>>()
                });
                RepeatedCalls {
                    occurrences: sequence.occurrences.len() as u32,
                    calls: latest.max_by_key(|calls| calls.last().copied()).unwrap_or_default(),
                    names: sequence.tools,
                }
            })
            .collect();
        RecordedCalls { calls, repeated }
    }

    async fn propose(&self, request: MacroPropose) -> Result<MacroProposed> {
        let all = self.calls.recordings().all();
        let calls = chosen(&all, &request.calls)?;
        let sessions = Sessions::new(&all);
        let is_this = |place: &(usize, usize)| {
            let found = sessions.occurrence(*place, calls.len());
            found.len() == calls.len()
                && found.iter().zip(&calls).all(|(one, other)| one.number == other.number)
        };
        // Calls that were repeated show what varies; calls made once leave everything open.
        let repeated = sessions
            .repeated()
            .into_iter()
            .find(|sequence| sequence.tools.len() == calls.len() && sequence.occurrences.iter().any(is_this));
        let occurrences = repeated.as_ref().map_or(1, |sequence| sequence.occurrences.len());
        let made: Vec<Made> = calls.iter().map(|call| made(call)).collect();
        let composed = repeated.map(|sequence| sequence.composed).or_else(|| recorded(&made));
        let mut composed = composed.ok_or_else(|| ApiError::internal("no macro was composed"))?;
        for (step, call) in composed.steps.iter_mut().zip(&calls) {
            step.tool.clone_from(&call.tool);
        }
        without_secrets(&mut composed);
        let names: Vec<&str> = calls.iter().map(|call| call.name.as_str()).collect();
        if !request.name.trim().is_empty() {
            request.name.trim().clone_into(&mut composed.name);
        }
        composed.description = match request.description.trim() {
            "" => format!("Calls {}.", names.join(", then ")),
            given => given.to_owned(),
        };
        let name = composed.name.clone();
        let draft = draft(&composed, &calls, occurrences);
        let proposed = self.proposals.propose(draft, &Author::autokit(), None).await?;
        Ok(MacroProposed { proposal: proposed.proposal.id, name })
    }
}

/// Returns the recordings of these calls, in the order they were made in.
fn chosen(all: &[Arc<Recording>], numbers: &[u64]) -> Result<Vec<Arc<Recording>>> {
    let mut numbers = numbers.to_vec();
    numbers.sort_unstable();
    numbers.dedup();
    if numbers.is_empty() || numbers.len() > MAX_CALLS {
        return Err(ApiError::new(
            ErrorCode::BadRequest,
            format!("a macro is made of 1 to {MAX_CALLS} calls"),
            "Choose the calls that belong together.",
        ));
    }
    let found: Vec<Arc<Recording>> =
        all.iter().filter(|call| numbers.contains(&call.number)).cloned().collect();
    if found.len() != numbers.len() {
        return Err(ApiError::new(
            ErrorCode::NotFound,
            "some of these calls are no longer remembered",
            "Recent calls are kept in memory only; make them again.",
        ));
    }
    Ok(found)
}

/// Returns the numbers of the calls of a session that returned what a step is given.
fn uses(session: &[Arc<Recording>], step: &MacroStep) -> Vec<u64> {
    let mut numbers: Vec<u64> = step
        .arguments
        .iter()
        .filter_map(|(_, argument)| match argument {
            Argument::Result { step, .. } => session.get(*step).map(|call| call.number),
            _ => None,
        })
        .collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers
}

/// Makes parameters of values that may be secrets, and drops their defaults: a card is shared.
fn without_secrets(composed: &mut Macro) {
    let mut secret: Vec<(String, Value)> = Vec::new();
    for step in &mut composed.steps {
        for (name, argument) in &mut step.arguments {
            let Argument::Constant(value) = argument else { continue };
            if value.as_str().is_some_and(|text| may_be_secret(name, text)) {
                let parameter = name.clone();
                secret.push((parameter.clone(), json!({"type": "string", "writeOnly": true})));
                *argument = Argument::Parameter(parameter);
            }
        }
    }
    let Some(properties) = composed.parameters.get_mut("properties").and_then(Value::as_object_mut) else {
        return;
    };
    for (name, schema) in properties.iter_mut() {
        let text = |key: &str| schema.get(key).and_then(Value::as_str).unwrap_or_default();
        if may_be_secret(name, text("default")) || may_be_secret(name, text("example")) {
            secret.push((name.clone(), json!({"type": "string", "writeOnly": true})));
        }
    }
    let mut names: Vec<Value> = Vec::new();
    for (name, schema) in secret {
        names.push(name.clone().into());
        properties.insert(name, schema);
    }
    if let Some(required) = composed.parameters.get_mut("required").and_then(Value::as_array_mut) {
        required.extend(names.into_iter().filter(|name| !required.contains(name)).collect::<Vec<_>>());
    }
}

fn draft(composed: &Macro, calls: &[Arc<Recording>], occurrences: usize) -> Draft {
    let evidence: Vec<Evidence> = calls
        .iter()
        .map(|call| {
            let arguments = shown(&Value::Object(call.arguments.clone()));
            let quote = format!("{} {arguments} → {}", call.name, shown(&call.result));
            Evidence::new(call.provider.clone(), quote, call.at)
        })
        .collect();
    let field = |field: &str, value: Value, evidence: Vec<Evidence>| ProposedField {
        field: field.to_owned(),
        value: Some(value),
        evidence,
        confidence: CHOSEN,
    };
    let written = serde_json::to_value(composed).unwrap_or_default();
    let times = if occurrences > 1 { format!(", made {occurrences} times") } else { String::new() };
    let reason = format!("Composed from {} recorded calls{times}. Each is permitted by itself.", calls.len());
    let proposed = vec![
        field(fields::NAME, composed.name.clone().into(), Vec::new()),
        field(fields::PROVIDER, PROVIDER.into(), Vec::new()),
        field(fields::KIND, Kind::Other.as_str().into(), Vec::new()),
        field(fields::DESCRIPTION, composed.description.clone().into(), evidence.clone()),
        field(fields::PARAMETERS, composed.parameters.clone(), evidence.clone()),
        field(fields::MACRO, written, evidence),
    ];
    Draft::new(Origin::Use, reason, proposed)
}

#[async_trait]
impl Handle<ListRecordedCalls> for Macros {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<RecordedCalls> {
        Ok(self.list())
    }
}

#[async_trait]
impl Handle<ProposeMacro> for Macros {
    async fn handle(&self, _: &Context, request: MacroPropose) -> Result<MacroProposed> {
        self.propose(request).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_become_parameters() {
        let key = "sk-live-0123456789abcdef0123456789abcdef";
        let mut composed = Macro {
            name: "m".to_owned(),
            description: String::new(),
            parameters: json!({"type": "object", "properties": {"token": {"type": "string", "default": key}}, "required": []}),
            steps: vec![MacroStep {
                tool: "t".to_owned(),
                arguments: vec![
                    ("api_key".to_owned(), Argument::Constant(json!(key))),
                    ("token".to_owned(), Argument::Parameter("token".to_owned())),
                ],
            }],
        };
        without_secrets(&mut composed);
        assert!(!serde_json::to_string(&composed).unwrap().contains(key), "{composed:?}");
        assert_eq!(composed.parameters["required"], json!(["api_key", "token"]));
        assert!(composed.is_sound());
    }
}
