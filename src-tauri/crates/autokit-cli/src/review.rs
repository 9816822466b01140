//! `autokit review`: deciding on proposals.

use std::io::{self, Write};
use std::path::PathBuf;

use autokit_app::api::{
    CardDescribe, ProposalAccept, ProposalDetail, ProposalRef, ProposalReject, Proposals, ProposalsQuery,
};
use autokit_app::commands::{
    AcceptProposal, DescribeCard, GetProposal, ListProposals, RejectProposal, ReopenProposal,
};
use autokit_app::node::Node;
use autokit_app::{ApiError, ChangeKind, ErrorCode, FieldDiff, Origin, ProposalState, SpanOp};
use owo_colors::OwoColorize;
use serde_json::{Map, Value};

use crate::args::ReviewCommand;
use crate::cards::one_line;
use crate::output::{Output, printable};
use crate::{End, Result};

pub(crate) async fn run(node: &Node, out: &Output, command: ReviewCommand) -> Result<End> {
    let detail = match command {
        ReviewCommand::List { all } => {
            let state = (!all).then_some(ProposalState::Pending);
            let proposals = node.call::<ListProposals>(ProposalsQuery { state }).await?;
            out.show(&proposals, |text| write_list(text, &proposals))?;
            return Ok(if proposals.rows.is_empty() { End::Nothing } else { End::Done });
        }
        ReviewCommand::Show { id } => node.call::<GetProposal>(ProposalRef { id }).await?,
        ReviewCommand::Accept { id, fields, edits, reason } => {
            let edits = edits.iter().map(|edit| edit_of(edit)).collect::<Result<Map<String, Value>>>()?;
            let fields = Some(fields).filter(|fields| !fields.is_empty());
            node.call::<AcceptProposal>(ProposalAccept { id, fields, edits, reason }).await?
        }
        ReviewCommand::Reject { id, reason } => {
            node.call::<RejectProposal>(ProposalReject { id, reason }).await?
        }
        ReviewCommand::Undo { id } => node.call::<ReopenProposal>(ProposalRef { id }).await?,
    };
    out.show(&detail, |text| write_detail(text, &detail))?;
    Ok(End::Done)
}

pub(crate) async fn describe(node: &Node, out: &Output, file: Option<PathBuf>) -> Result<End> {
    let text = match &file {
        Some(file) => std::fs::read_to_string(file),
        None => io::read_to_string(io::stdin()),
    };
    let text = text.map_err(|error| {
        let what =
            file.as_ref().map_or_else(|| "standard input".to_owned(), |file| file.display().to_string());
        ApiError::new(ErrorCode::UnreadableFile, format!("{what}: {error}"), "Give a text file in UTF-8.")
    })?;
    let detail = node.call::<DescribeCard>(CardDescribe { text }).await?;
    out.show(&detail, |text| {
        write_detail(text, &detail)?;
        writeln!(
            text,
            "\n{}",
            format!("Accept it with `autokit review accept {}`.", detail.proposal.id).dimmed()
        )
    })?;
    Ok(End::Done)
}

/// `field=value`; the value is JSON where it reads as such, else text.
fn edit_of(edit: &str) -> Result<(String, Value)> {
    let (field, value) = edit.split_once('=').ok_or_else(|| {
        ApiError::new(
            ErrorCode::BadRequest,
            format!("{edit:?} is not FIELD=VALUE"),
            "Write --set name=value.",
        )
    })?;
    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
    Ok((field.trim().to_owned(), value))
}

fn origin(origin: Origin) -> &'static str {
    match origin {
        Origin::Discovery => "new card",
        Origin::Description => "described",
        Origin::Repair => "broken link",
        Origin::Refresh => "stale field",
        Origin::Improvement => "enrichment",
    }
}

fn state(state: ProposalState) -> String {
    match state {
        ProposalState::Pending => "waits".yellow().to_string(),
        ProposalState::Accepted => "accepted".green().to_string(),
        ProposalState::Rejected => "rejected".red().to_string(),
    }
}

fn write_list(out: &mut dyn Write, proposals: &Proposals) -> io::Result<()> {
    if proposals.rows.is_empty() {
        return writeln!(out, "Nothing waits for review.");
    }
    for row in &proposals.rows {
        writeln!(
            out,
            "{:>4}  {}  {} · {} · {}",
            row.id,
            printable(&row.title).bold(),
            origin(row.origin),
            state(row.state),
            format!("{:.0} %", row.confidence * 100.0).dimmed()
        )?;
        writeln!(out, "      {}", one_line(&row.reason, 90).dimmed())?;
    }
    writeln!(out, "{}", format!("{} waiting", proposals.waiting).dimmed())
}

pub(crate) fn write_detail(out: &mut dyn Write, detail: &ProposalDetail) -> io::Result<()> {
    let proposal = &detail.proposal;
    writeln!(
        out,
        "{} {}  {} · {}",
        format!("#{}", proposal.id).dimmed(),
        printable(&detail.title).bold(),
        origin(proposal.draft.origin),
        state(proposal.state)
    )?;
    writeln!(out, "{}", printable(&proposal.draft.reason).dimmed())?;
    for (id, name) in &detail.similar {
        writeln!(out, "{} {} ({})", "looks like".yellow(), printable(name), printable(id))?;
    }
    for field in &detail.diff {
        write_field(out, field)?;
        let proposed = proposal.draft.fields.iter().find(|proposed| proposed.field == field.field);
        for evidence in proposed.iter().flat_map(|proposed| &proposed.evidence) {
            let quote = format!("“{}”", one_line(&evidence.quote, 80));
            writeln!(out, "      {} {}", quote.dimmed(), printable(&evidence.url).dimmed())?;
        }
        if detail.conflicts.contains(&field.field) {
            writeln!(out, "      {}", "changed in the card since: cannot be accepted".red())?;
        }
    }
    if let (Some(by), Some(at)) = (&proposal.decided_by, &proposal.decided_at) {
        let why = proposal.decision.as_deref().unwrap_or_default();
        writeln!(
            out,
            "\n{} by {} at {at} {}",
            state(proposal.state),
            printable(by),
            printable(why).dimmed()
        )?;
    }
    Ok(())
}

/// A field before and after: removed words struck in red, new ones in green.
fn write_field(out: &mut dyn Write, field: &FieldDiff) -> io::Result<()> {
    let mark = match field.kind {
        ChangeKind::Added => "+".green().to_string(),
        ChangeKind::Removed => "-".red().to_string(),
        ChangeKind::Changed => "~".yellow().to_string(),
    };
    write!(out, "\n  {mark} {}  ", printable(&field.field).bold())?;
    let shown = |value: &Value| match value {
        Value::String(text) => printable(text),
        other => printable(&other.to_string()),
    };
    if field.spans.is_empty() {
        match (&field.before, &field.after) {
            (Some(before), Some(after)) => {
                writeln!(out, "{} → {}", shown(before).red(), shown(after).green())
            }
            (None, Some(after)) => writeln!(out, "{}", shown(after).green()),
            (Some(before), None) => writeln!(out, "{}", shown(before).red()),
            (None, None) => writeln!(out),
        }
    } else {
        for span in &field.spans {
            let text = printable(&span.text);
            match span.op {
                SpanOp::Equal => write!(out, "{text}")?,
                SpanOp::Delete => write!(out, "{}", text.red().strikethrough())?,
                SpanOp::Insert => write!(out, "{}", text.green())?,
            }
        }
        writeln!(out)
    }
}
