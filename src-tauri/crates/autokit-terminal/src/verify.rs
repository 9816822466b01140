//! `autokit verify`: checks cards against their documentation.

use std::io::{self, Write};

use autokit_api::Client;
use autokit_api::commands::{GetVerification, StartVerify};
use autokit_api::{CardRef, CardVerification, LatestCheck, VerifyScope, VerifyStart};
use autokit_error::ApiError;
use autokit_fuel::{Claim, ClaimVerdict, Condition, Judgement, PageSearchOutcome};
use autokit_toolcard::CardState;
use owo_colors::OwoColorize;

use crate::cards::one_line;
use crate::jobs::{self, JobEnd};
use crate::outcome::{Outcome, Result};
use crate::output::{Output, format_time, printable};
use crate::places::with_commands;

/// Restarts of a run whose process exited.
const MAX_RESTARTS: u32 = 9;

pub(crate) async fn run(
    library: &dyn Client,
    out: &Output,
    scope: VerifyScope,
    improve: bool,
    anew: bool,
) -> Result<Outcome> {
    let named = match &scope {
        VerifyScope::Cards { cards } => cards.clone(),
        _ => Vec::new(),
    };
    let mut start = VerifyStart { scope, improve, anew };
    let mut restarts = MAX_RESTARTS;
    let job = loop {
        let started = library.call::<StartVerify>(start.clone()).await?;
        match jobs::follow(library, out, &started.job).await? {
            JobEnd::Finished(job) => break job,
            // The process that ran it exited; the run is resumed here.
            JobEnd::Lost if restarts > 0 => (restarts, start.anew) = (restarts - 1, false),
            JobEnd::Lost => return Err(ApiError::owner_ended().into()),
        }
    };
    let mut found: Vec<(String, CardVerification)> = Vec::new();
    for card in named {
        let checked = library.call::<GetVerification>(CardRef { card: card.clone() }).await?;
        found.push((card, checked));
    }
    let summary = job.summary.as_deref().unwrap_or("Done");
    if out.json() && !found.is_empty() {
        let checks: Vec<&CardVerification> = found.iter().map(|(_, checked)| checked).collect();
        out.show(&checks, |_| Ok(()))?;
        return Ok(Outcome::Done);
    }
    out.show(&job, |text| {
        for (card, checked) in &found {
            if let Some(checked) = &checked.checked {
                write_checked(text, card, checked)?;
            }
        }
        if let Some(note) = &job.note {
            writeln!(text, "{}", printable(note).dimmed())?;
        }
        writeln!(text, "{}", printable(summary).bold())?;
        if job.tally.as_ref().is_some_and(|tally| tally.proposed > 0) {
            writeln!(text, "{}", "See them with `autokit review list`.".dimmed())?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// Returns host and port of a URL.
fn host(url: &str) -> Option<&str> {
    url.split_once("://")?.1.split(['/', '?', '#']).next()?.rsplit('@').next()
}

fn state(state: CardState) -> String {
    match state {
        CardState::Verified => "verified".green().to_string(),
        CardState::Stale => "stale".yellow().to_string(),
        CardState::Broken => "broken".red().to_string(),
        CardState::Unreachable => "unreachable".yellow().to_string(),
    }
}

fn write_checked(out: &mut dyn Write, card: &str, checked: &LatestCheck) -> io::Result<()> {
    let report = &checked.report;
    writeln!(out, "{}  {}", printable(card).bold(), state(checked.state))?;
    if checked.changed {
        writeln!(out, "  {}", "the card has changed since".yellow())?;
    }
    let link = &report.link;
    let url = link.url.as_deref().unwrap_or("no documentation page");
    writeln!(out, "  {}  {}", printable(url).cyan(), printable(&link.said).dimmed())?;
    if let Some(remedy) = &link.remedy {
        let host = link.url.as_deref().and_then(host).unwrap_or("HOST");
        writeln!(out, "  {} {}", "→".cyan(), printable(&with_commands(remedy).replace("HOST", host)))?;
    }
    for hop in link.hops.iter().skip(usize::from(link.hops.len() < 2)) {
        writeln!(out, "    {} {}", hop.status, printable(&hop.url).dimmed())?;
    }
    let was_not_judged =
        |page: &&Judgement| checked.state == CardState::Unreachable && page.condition == Condition::Empty;
    if let Some(page) = report.page.as_ref().filter(was_not_judged) {
        // The page may need a browser to render it.
        writeln!(out, "  {} {}", "·".dimmed(), printable(&page.why))?;
    } else if let Some(page) = &report.page {
        let mark = if page.about { "✓".green().to_string() } else { "✗".red().to_string() };
        let score = format!("{:.0}%", page.score * 100.0);
        writeln!(out, "  {mark} {} {}", printable(&page.why), score.dimmed())?;
        if !page.about && !page.quote.is_empty() {
            writeln!(out, "    “{}”", printable(&one_line(&page.quote, 90)).dimmed())?;
        }
    }
    match &report.search {
        Some(PageSearchOutcome::Found { page }) => writeln!(
            out,
            "  {} {}  {}",
            "found".green(),
            printable(&page.url).cyan(),
            format!("{:.0}%: {}", page.score * 100.0, page.why).dimmed()
        )?,
        Some(PageSearchOutcome::Gone) => writeln!(out, "  {}", "no page documents this tool anymore".red())?,
        Some(PageSearchOutcome::Unsure) => {
            writeln!(out, "  {}", "several possible pages, none certain:".yellow())?;
        }
        Some(PageSearchOutcome::NoSearch) => writeln!(
            out,
            "  {}",
            "didn't search for another page: no search service configured (see `autokit providers search --help`)".yellow()
        )?,
        Some(PageSearchOutcome::SearchFailed { why }) => {
            writeln!(out, "  {} {}", "couldn't search for another page:".yellow(), printable(why))?;
        }
        Some(PageSearchOutcome::NothingFound) => writeln!(out, "  {}", "nothing found".red())?,
        None => {}
    }
    if matches!(report.search, Some(PageSearchOutcome::Unsure | PageSearchOutcome::Gone)) {
        for page in &report.candidates {
            let score = format!("{:>3.0}%", page.score * 100.0);
            writeln!(
                out,
                "    {} {}  {}",
                score.dimmed(),
                printable(&page.title),
                printable(&page.url).dimmed()
            )?;
        }
    }
    if report.cut {
        writeln!(out, "  {}", "the page has more code than is read; the rest was skipped".yellow())?;
    }
    for claim in &report.claims {
        write_claim(out, claim)?;
    }
    if let Some(next) = checked.next_at {
        writeln!(out, "  {}", format!("next attempt after {}", format_time(next)).dimmed())?;
    }
    Ok(())
}

fn write_claim(out: &mut dyn Write, claim: &Claim) -> io::Result<()> {
    let (mark, field) = match claim.standing {
        ClaimVerdict::Supported => ("✓".green().to_string(), claim.field.clone()),
        ClaimVerdict::Contradicted => ("≠".yellow().to_string(), claim.field.clone()),
        ClaimVerdict::Unsaid => ("+".cyan().to_string(), claim.field.clone()),
        ClaimVerdict::NotFound => ("·".dimmed().to_string(), claim.field.dimmed().to_string()),
    };
    write!(out, "  {mark} {field}")?;
    if let Some(value) = &claim.value {
        let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        write!(out, "  {}", printable(&one_line(&value, 70)).yellow())?;
    }
    if claim.quote.is_empty() {
        return writeln!(out);
    }
    writeln!(out, "  {}", format!("“{}”", printable(&one_line(&claim.quote, 80))).dimmed())
}
