//! The proposal that ends the exploration of a tool.

use autokit_refine::draft::Draft as Rewriting;
use autokit_refine::{Observation, Outcome, ToolDocument, Trial, refined_description, refined_parameters};
use autokit_serving::recordings::text_of;
use autokit_toolcard::{Draft, Evidence, Origin, ProposedField, Timestamp, Visit, fields};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::document::unflattened;
use super::run::RunTool;

/// Probability that what calls showed holds for other calls.
const OBSERVED: f32 = 0.9;
/// The same of a model's words about calls that were made.
const WRITTEN: f32 = 0.6;
/// Most characters of an argument list, a result or an error in the evidence.
const QUOTED: usize = 240;
/// Most calls shown for one field.
const CALLS_SHOWN: usize = 12;

fn shortened(value: &Value) -> String {
    let text: String = text_of(value).split_whitespace().collect::<Vec<_>>().join(" ");
    match text.char_indices().nth(QUOTED) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Returns the evidence that calls are, with what they are evidence for.
fn evidence(tool: &RunTool, trials: &[&Trial], says: &str, now: Timestamp) -> Evidence {
    let mut quote = says.to_owned();
    let mut chain = Vec::new();
    for trial in trials {
        let (status, answer) = match &trial.outcome {
            Outcome::Success { result } => (200, shortened(result)),
            Outcome::Refused { status, error } => (status.unwrap_or(400), shortened(error)),
            Outcome::NotMade { reason } | Outcome::Unavailable { reason } => (0, reason.clone()),
        };
        let arguments = shortened(&Value::Object(trial.arguments.clone()));
        quote = format!("{quote}\n{arguments} → {answer}");
        chain.push(Visit { url: format!("{} {arguments}", tool.explored.place), status });
    }
    // An operation's address can be opened; a tool of a server has none.
    let url = tool.explored.place.split_whitespace().find(|part| part.contains("://"));
    let url = url.map_or_else(|| tool.explored.place.clone(), str::to_owned);
    Evidence { chain, ..Evidence::new(url, quote.trim(), now) }
}

/// Returns the proposal, or `None` if nothing is to be changed. `rewriting` is the paper's loop, if a model ran it.
pub(super) fn proposal(
    tool: &RunTool,
    document: &ToolDocument,
    observations: &[Observation],
    trials: &[Trial],
    rewriting: Option<&Rewriting>,
    now: Timestamp,
) -> Option<Draft> {
    let card = tool.record.card();
    let of = |observation: &Observation| -> Evidence {
        let calls: Vec<&Trial> = observation.trials.iter().filter_map(|at| trials.get(*at)).collect();
        evidence(tool, &calls, &observation.finding.sentence(), now)
    };
    let in_parameters = |observation: &&Observation| {
        observation.finding.parameter().is_some_and(|name| {
            document.property(name).is_some()
                || matches!(observation.finding, autokit_refine::Finding::Required { .. })
        })
    };
    let mut proposed = Vec::new();
    let described = refined_description(document, observations);
    let written = rewriting.filter(|draft| !draft.rounds.is_empty());
    let rewritten = written.and_then(|draft| draft.versions().pop()).filter(|text| !text.is_empty());
    let description = rewritten.unwrap_or_else(|| described.clone());
    if description != card.description() {
        let mut all: Vec<Evidence> =
            observations.iter().filter(|observation| !in_parameters(observation)).map(&of).collect();
        if let Some(draft) = written.filter(|_| description != described) {
            // A call that only confirmed the documentation supports no change of it.
            let any_new = draft.rounds.iter().any(|round| round.analysis.shows_something_new);
            let shown = draft.rounds.iter().filter(|round| !any_new || round.analysis.shows_something_new);
            all.extend(shown.map(|round| evidence(tool, &[&round.trial], &round.analysis.suggestion, now)));
        }
        all.truncate(CALLS_SHOWN);
        proposed.push(ProposedField {
            field: fields::DESCRIPTION.to_owned(),
            value: Some(description.into()),
            evidence: all,
            confidence: if written.is_some() { WRITTEN } else { OBSERVED },
        });
    }
    let before = card.object().get(fields::PARAMETERS).cloned().unwrap_or_default();
    let parameters = unflattened(&refined_parameters(document, observations), &before);
    let supporting: Vec<Evidence> =
        observations.iter().filter(in_parameters).map(&of).take(CALLS_SHOWN).collect();
    if parameters != before && !supporting.is_empty() {
        proposed.push(ProposedField {
            field: fields::PARAMETERS.to_owned(),
            value: Some(parameters),
            evidence: supporting,
            confidence: OBSERVED,
        });
    }
    if proposed.is_empty() {
        return None;
    }
    let calls = trials.len() + rewriting.map_or(0, |draft| draft.rounds.len());
    let differences = observations.len();
    let reason = match (differences, written.is_some()) {
        (0, _) => format!("Rewritten after {calls} trial calls."),
        (1, _) => format!("{calls} trial calls showed 1 thing its documentation does not say."),
        _ => format!("{calls} trial calls showed {differences} things its documentation does not say."),
    };
    let basis = serde_json::to_string(observations).unwrap_or_default();
    Some(Draft {
        card: Some(tool.record.id.clone()),
        base: Some(tool.record.number),
        basis: Some(hex::encode(Sha256::digest(basis))),
        ..Draft::new(Origin::Improvement, reason, proposed)
    })
}
