//! Proposals as text.

use std::io::{self, Write};

use autokit_api::{AcceptPreview, FieldSide, FlaggedText, ProposalDetail, ProposalRow, Proposals};
use autokit_toolcard::{FieldDiff, FieldVerdict, InjectionKind, ProposalState, Risk, fields};
use owo_colors::OwoColorize;
use serde_json::Value;

use crate::cards::{one_line, write_diff};
use crate::output::{format_time, printable, width};

fn state(state: ProposalState) -> String {
    match state {
        ProposalState::Pending => "pending".yellow().to_string(),
        ProposalState::Accepted => "accepted".green().to_string(),
        ProposalState::Rejected => "rejected".red().to_string(),
        ProposalState::Withdrawn => "withdrawn".dimmed().to_string(),
    }
}

fn risk(risk: Risk) -> String {
    match risk {
        Risk::Low => "low risk".green().to_string(),
        Risk::Medium => "medium risk".yellow().to_string(),
        Risk::High => "high risk".red().to_string(),
    }
}

pub(super) fn write_list(
    out: &mut dyn Write,
    proposals: &Proposals,
    rows: &[&ProposalRow],
) -> io::Result<()> {
    if rows.is_empty() {
        return writeln!(out, "No pending proposals.");
    }
    for group in &proposals.groups {
        let mut has_heading = false;
        for row in rows.iter().filter(|row| row.group == *group) {
            if !has_heading {
                writeln!(out, "{}", group.bold().underline())?;
                has_heading = true;
            }
            write_row(out, row)?;
        }
    }
    writeln!(out, "{}", format!("{} pending", proposals.waiting).dimmed())
}

fn write_row(out: &mut dyn Write, row: &ProposalRow) -> io::Result<()> {
    write!(
        out,
        "{:>4}  {}  {} · {} · {}",
        row.id,
        one_line(&row.title, width().saturating_sub(38).max(20)).bold(),
        state(row.state),
        risk(row.risk),
        format!("{:.0}%", row.confidence * 100.0).dimmed()
    )?;
    if row.suspect {
        write!(out, " · {}", "flagged text".red())?;
    }
    if row.conflicts > 0 {
        write!(out, " · {}", "conflicts".red())?;
    }
    if row.approvals > 0 {
        write!(out, " · {} of {} approvals", row.approvals, row.needed)?;
    }
    if let Some(member) = &row.assigned_to {
        write!(out, " · {}", one_line(member, 40))?;
    }
    writeln!(out)?;
    let room = width().saturating_sub(7);
    writeln!(out, "      {}", one_line(&format!("{}: {}", row.fields.join(", "), row.reason), room).dimmed())
}

/// Writes a proposal's title and state in one line.
pub(crate) fn write_headline(out: &mut dyn Write, detail: &ProposalDetail) -> io::Result<()> {
    let proposal = &detail.proposal;
    writeln!(
        out,
        "{} {}  {} · {} · {}",
        format!("#{}", proposal.id).dimmed(),
        printable(&detail.title).bold(),
        proposal.draft.origin.group().to_lowercase(),
        state(proposal.state),
        risk(proposal.risk)
    )
}

pub(crate) fn write_detail(out: &mut dyn Write, detail: &ProposalDetail) -> io::Result<()> {
    let proposal = &detail.proposal;
    write_headline(out, detail)?;
    writeln!(out, "{}", printable(&proposal.draft.reason).dimmed())?;
    for (id, name) in &detail.similar {
        writeln!(
            out,
            "{} {} ({})",
            "possible duplicate of".yellow(),
            printable(name),
            printable(id.as_str())
        )?;
    }
    for proposed in &proposal.draft.fields {
        writeln!(out)?;
        match detail.diff.iter().find(|diff| diff.field == proposed.field) {
            Some(diff) if write_code(out, diff)? => {}
            Some(diff) => write_diff(out, diff)?,
            None => writeln!(out, "  = {} unchanged", printable(&proposed.field).cyan())?,
        }
        let confidence = format!("{:.0}% confidence", proposed.confidence * 100.0);
        match detail.risks.get(&proposed.field) {
            Some(Risk::Low) | None => writeln!(out, "      {}", confidence.dimmed())?,
            Some(higher) => writeln!(out, "      {} · {}", confidence.dimmed(), risk(*higher))?,
        }
        for text in detail.suspect.iter().filter(|text| text.field == proposed.field) {
            write_flagged(out, text, proposed.value.as_ref())?;
        }
        for evidence in &proposed.evidence {
            // What checks of code showed is read to its end.
            let is_code = proposed.field == fields::FUNCTION;
            let quote = format!("“{}”", one_line(&evidence.quote, if is_code { usize::MAX } else { 80 }));
            let read = format!("{} read {}", printable(&evidence.url), format_time(evidence.fetched_at));
            writeln!(out, "      {} {}", quote.dimmed(), read.dimmed())?;
            if evidence.chain.len() > 1 {
                let chain: Vec<String> = evidence
                    .chain
                    .iter()
                    .map(|visit| format!("{} {}", visit.status, printable(&visit.url)))
                    .collect();
                writeln!(out, "      {}", chain.join(" → ").dimmed())?;
            }
        }
        if proposal.conflicts.contains(&proposed.field) {
            writeln!(out, "      {}", "changed on the card since; override it with --set".red())?;
        }
        let decision = proposal.decisions.iter().find(|decision| decision.field == proposed.field);
        match decision.map(|decision| decision.verdict) {
            Some(FieldVerdict::Accepted) => writeln!(out, "      {}", "accepted".green())?,
            Some(FieldVerdict::Edited) => writeln!(out, "      {}", "accepted with edits".green())?,
            Some(FieldVerdict::Rejected) => writeln!(out, "      {}", "rejected".red())?,
            None => {}
        }
    }
    write_history(out, detail)
}

/// Writes the code of a tool, its tests and its examples in full, and returns whether the field is one. Nobody can decide on
/// code of which the end is cut off.
fn write_code(out: &mut dyn Write, diff: &FieldDiff) -> io::Result<bool> {
    let text = |value: Option<&Value>, key: &str| Some(value?.get(key)?.as_str()?.to_owned());
    let sides = [("before", diff.before.as_ref()), ("after", diff.after.as_ref())];
    if diff.field != fields::FUNCTION || sides.iter().all(|(_, value)| text(*value, "source").is_none()) {
        return Ok(false);
    }
    for (side, value) in sides {
        let Some(source) = text(value, "source") else { continue };
        let language = text(value, "language").unwrap_or_default();
        writeln!(out, "  {} {} ({side})", printable(&diff.field).cyan(), printable(&language))?;
        let tests = text(value, "tests").unwrap_or_default();
        for (title, code) in [("", source), ("tests", tests)] {
            if !title.is_empty() && !code.is_empty() {
                writeln!(out, "    {}", title.cyan())?;
            }
            for line in code.lines() {
                writeln!(out, "    {}", printable(line))?;
            }
        }
        for example in value.and_then(|value| value.get("examples")?.as_array()).into_iter().flatten() {
            writeln!(out, "    {} {}", "example".cyan(), printable(&example.to_string()))?;
        }
    }
    Ok(true)
}

/// Writes the flagged parts of a text, with excerpts.
pub(super) fn write_flagged(
    out: &mut dyn Write,
    text: &FlaggedText,
    proposed: Option<&Value>,
) -> io::Result<()> {
    let place = match (text.side, text.pointer.as_str()) {
        (FieldSide::After, "") => String::new(),
        (FieldSide::After, inside) => format!(" at {}", one_line(inside, 60)),
        (FieldSide::Before, "") => " before".to_owned(),
        (FieldSide::Before, inside) => format!(" before, at {}", one_line(inside, 60)),
    };
    let full_text = proposed.and_then(|value| value.pointer(&text.pointer)).and_then(Value::as_str);
    let shown = full_text.filter(|_| text.side == FieldSide::After && !text.in_name);
    let units: Vec<u16> = shown.unwrap_or_default().encode_utf16().collect();
    for mark in &text.marks {
        let kind = match mark.sort {
            InjectionKind::Invisible => "invisible",
            InjectionKind::Hidden => "hidden",
            InjectionKind::Instruction => "instruction",
            InjectionKind::Encoded => "encoded",
            InjectionKind::Stuffed => "stuffed",
            InjectionKind::Code => "code",
        };
        write!(out, "      {} {}", format!("{kind}{place}").red().bold(), printable(&mark.why))?;
        let excerpt = units.get(mark.start as usize..mark.end as usize).map(String::from_utf16_lossy);
        // Invisible text has no excerpt to show.
        match excerpt.filter(|_| mark.sort != InjectionKind::Invisible) {
            Some(excerpt) => writeln!(out, " {}", format!("“{}”", one_line(&excerpt, 80)).dimmed())?,
            None => writeln!(out)?,
        }
    }
    Ok(())
}

fn write_history(out: &mut dyn Write, detail: &ProposalDetail) -> io::Result<()> {
    let proposal = &detail.proposal;
    if proposal.state == ProposalState::Pending && detail.needed > 1 {
        let by: Vec<String> = proposal.approvals.iter().map(|approval| printable(&approval.by)).collect();
        let reviewers = if by.is_empty() { "none yet".to_owned() } else { by.join(", ") };
        writeln!(out, "\n{} of {} approvals: {reviewers}", by.len(), detail.needed)?;
    }
    writeln!(out)?;
    for event in &detail.events {
        let reason = one_line(&event.why, 100);
        let colon = if reason.is_empty() { "" } else { ": " };
        let line = format!(
            "{} {} by {}{colon}{reason}",
            format_time(event.at),
            event.kind.as_str(),
            printable(&event.by)
        );
        writeln!(out, "{}", line.dimmed())?;
    }
    Ok(())
}

pub(super) fn write_preview(out: &mut dyn Write, preview: &AcceptPreview) -> io::Result<()> {
    for one in &preview.safe {
        writeln!(out, "{} {}", format!("#{}", one.id).dimmed(), printable(&one.title).bold())?;
        writeln!(out, "  {}", printable(&one.reason).dimmed())?;
        one.diff.iter().try_for_each(|diff| write_diff(out, diff))?;
    }
    for one in &preview.left {
        let line = format!("#{} {} left: {}", one.id, printable(&one.title), printable(&one.why));
        writeln!(out, "{}", line.dimmed())?;
    }
    writeln!(out, "{} would be accepted, {} left", preview.safe.len(), preview.left.len())
}
