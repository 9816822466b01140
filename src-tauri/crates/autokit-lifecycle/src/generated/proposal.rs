//! What a reviewer sees of a tool that was written, or is to be retired.

use autokit_api::{CodeCheck, CodeCheckKind, CodeCheckState, ToolSpecification};
use autokit_library::CardRecord;
use autokit_sandbox::function::Function;
use autokit_serving::uses::ToolUses;
use autokit_toolcard::{Draft, Evidence, Kind, Origin, ProposedField, Timestamp, fields};
use serde_json::Value;

/// Provider on the cards of written tools.
pub(super) const PROVIDER: &str = "Generated";
/// Where the evidence for code comes from.
const SANDBOX: &str = "Sandbox";
/// Probability that code which passed all checks does what it says.
const CHECKED: f32 = 0.85;
/// The same if a type checker or a linter found something.
const REMARKED: f32 = 0.7;
/// Probability that a tool which fails or is not called is not needed.
const RETIRED: f32 = 0.9;

fn title(kind: CodeCheckKind) -> &'static str {
    match kind {
        CodeCheckKind::Syntax => "Syntax",
        CodeCheckKind::Access => "Access",
        CodeCheckKind::Examples => "Examples",
        CodeCheckKind::Tests => "Tests",
        CodeCheckKind::Limits => "Time and memory",
        CodeCheckKind::Types => "Types",
        CodeCheckKind::Lint => "Lint",
    }
}

/// Returns the checks of an attempt, one a line.
pub(super) fn checks_in_words(checks: &[CodeCheck]) -> String {
    let state = |check: &CodeCheck| match check.state {
        CodeCheckState::Passed => "passed",
        CodeCheckState::Failed => "failed",
        CodeCheckState::NotRun => "not run",
    };
    let lines =
        checks.iter().map(|check| format!("{} {}: {}", title(check.kind), state(check), check.output.trim()));
    lines.collect::<Vec<_>>().join("\n")
}

fn proposed_field(field: &str, value: Value, evidence: Vec<Evidence>, confidence: f32) -> ProposedField {
    ProposedField { field: field.to_owned(), value: Some(value), evidence, confidence }
}

/// Drafts a card for a written tool, or the new code of `earlier`.
pub(super) fn written(
    earlier: Option<&CardRecord>,
    need: &str,
    specification: &ToolSpecification,
    function: &Function,
    checks: &[CodeCheck],
    now: Timestamp,
) -> Draft {
    let mut evidence: Vec<Evidence> = checks
        .iter()
        .map(|check| Evidence::new(SANDBOX, checks_in_words(std::slice::from_ref(check)), now))
        .collect();
    let permissions = format!(
        "Permission: to run {} in the sandbox, asked for with every call unless a profile allows it. No files, network or other programs.",
        function.language.as_str()
    );
    evidence.push(Evidence::new(SANDBOX, permissions, now));
    let reported = "What the checks show is reported from inside of the sandbox: code that means to deceive could report it wrongly. It cannot leave the sandbox.";
    evidence.push(Evidence::new(SANDBOX, reported, now));
    let remarked = checks.iter().any(|check| check.state == CodeCheckState::Failed);
    let confidence = if remarked { REMARKED } else { CHECKED };
    let asked = || if need.is_empty() { Vec::new() } else { vec![Evidence::new("Need", need, now)] };
    let code = serde_json::to_value(function).unwrap_or_default();
    let said = [&specification.purpose, &specification.returns, &specification.limits];
    let description = said.iter().map(|text| text.trim()).filter(|text| !text.is_empty());
    let description: Value = description.collect::<Vec<_>>().join(" ").into();
    let mut proposed = Vec::new();
    match earlier {
        None => proposed.extend([
            proposed_field(fields::NAME, specification.name.clone().into(), asked(), confidence),
            proposed_field(fields::PROVIDER, PROVIDER.into(), Vec::new(), confidence),
            proposed_field(fields::KIND, Kind::Other.as_str().into(), Vec::new(), confidence),
            proposed_field(fields::DESCRIPTION, description, asked(), confidence),
            proposed_field(fields::PARAMETERS, specification.parameters.clone(), asked(), confidence),
        ]),
        Some(record) => {
            let card = record.card();
            if card.description() != description.as_str().unwrap_or_default() {
                proposed.push(proposed_field(fields::DESCRIPTION, description, asked(), confidence));
            }
            if card.object().get(fields::PARAMETERS) != Some(&specification.parameters) {
                proposed.push(proposed_field(
                    fields::PARAMETERS,
                    specification.parameters.clone(),
                    asked(),
                    confidence,
                ));
            }
        }
    }
    proposed.push(proposed_field(fields::FUNCTION, code, evidence, confidence));
    let (origin, written) = match earlier {
        None => (Origin::Use, "Written for a need"),
        Some(_) => (Origin::Improvement, "Written anew"),
    };
    let reason = format!("{written}, and checked in the sandbox. Read the code before you accept it.");
    Draft {
        card: earlier.map(|record| record.id.clone()),
        base: earlier.map(|record| record.number),
        ..Draft::new(origin, reason, proposed)
    }
}

/// Drafts that the tool of a card can no longer be called.
pub(super) fn retirement(
    record: &CardRecord,
    field: &str,
    uses: &ToolUses,
    why: &str,
    now: Timestamp,
) -> Draft {
    let calls = uses.successes + uses.failures;
    let mut evidence =
        vec![Evidence::new("Calls", format!("{} of {calls} calls succeeded.", uses.successes), now)];
    evidence.extend(
        uses.failed
            .iter()
            .map(|(arguments, error)| Evidence::new("Calls", format!("{arguments} → {error}"), now)),
    );
    let why = if why.is_empty() { "It is no longer needed." } else { why };
    let reason = format!("{why} Without this field the tool can no longer be called; its card stays.");
    let removed = ProposedField { field: field.to_owned(), value: None, evidence, confidence: RETIRED };
    Draft {
        card: Some(record.id.clone()),
        base: Some(record.number),
        ..Draft::new(Origin::Refresh, reason, vec![removed])
    }
}
