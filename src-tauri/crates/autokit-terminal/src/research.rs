//! `autokit research`: a question researched over the library, documents, code and the web.

use std::io::{self, Write};

use autokit_agent::research::{Research, ResearchPassage};
use autokit_api::commands::{GetSession, ListSessions, StartResearch};
use autokit_api::{Client, Nothing, ResearchRequest, SessionRef, TurnKind};
use autokit_error::{ApiError, ErrorCode};
use autokit_toolcard::SessionId;
use clap::Args;
use owo_colors::OwoColorize as _;

use crate::agent::follow;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, printable};
use crate::places::with_commands;

/// Passages shown when the question was not answered.
const CLOSEST: usize = 3;
/// Sessions looked through for one to continue.
const RECENT: usize = 50;

#[derive(Debug, Args)]
pub struct ResearchArgs {
    /// Question.
    #[arg(required_unless_present = "resume", conflicts_with = "resume")]
    question: Vec<String>,
    /// Maximum number of rounds on the web (0 to 10).
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=10))]
    rounds: Option<u32>,
    /// Search the library, documents and code only.
    #[arg(long, conflicts_with = "rounds")]
    offline: bool,
    /// Continue where the last one stopped or found too little.
    #[arg(long)]
    resume: bool,
    /// Session to continue; defaults to the newest one with research.
    #[arg(long, value_name = "ID", requires = "resume")]
    session: Option<SessionId>,
}

pub(crate) async fn run(library: &dyn Client, out: &Output, args: ResearchArgs) -> Result<Outcome> {
    let resume = match args.session {
        Some(session) => Some(session),
        None if args.resume => Some(last_research(library).await?),
        None => None,
    };
    let rounds = if args.offline { Some(0) } else { args.rounds };
    let request = ResearchRequest { question: args.question.join(" "), resume, rounds };
    let started = library.call::<StartResearch>(request).await?;
    let session = follow(library, out, &started.session).await?;
    let Some(found) = session.turns.last().and_then(|turn| turn.research.as_ref()) else {
        return Err(ApiError::internal("the research returned no result").into());
    };
    out.show(found, |text| write(text, found))?;
    Ok(if found.answered { Outcome::Done } else { Outcome::NothingFound })
}

/// Returns the session of the last research.
async fn last_research(library: &dyn Client) -> Result<SessionId> {
    for note in library.call::<ListSessions>(Nothing {}).await?.into_iter().take(RECENT) {
        let session = library.call::<GetSession>(SessionRef { session: note.id }).await?;
        // Agents' sessions have no author; they are not continued with a person's permissions.
        if session.turns.iter().any(|turn| turn.kind == TurnKind::Research && turn.by.is_some()) {
            return Ok(session.id);
        }
    }
    let message = format!("none of the last {RECENT} sessions has research to resume");
    let remedy = "Pass a session from `autokit sessions`, or ask a question.";
    Err(ApiError::new(ErrorCode::NotFound, message, remedy).into())
}

/// Writes the summary with the sources of its sentences, or the closest passages.
pub(crate) fn write(out: &mut dyn Write, found: &Research) -> io::Result<()> {
    let passages: Vec<&ResearchPassage> = if found.answered {
        found.summary.iter().filter_map(|&at| found.passages.get(at as usize)).collect()
    } else {
        writeln!(out, "{}", "No answer found.".bold())?;
        let closest: Vec<_> = found.passages.iter().take(CLOSEST).collect();
        if !closest.is_empty() {
            writeln!(out, "{}", "Closest passages:".dimmed())?;
        }
        closest
    };
    let mut cited: Vec<u32> = Vec::new();
    for passage in passages {
        let number = cited.iter().position(|&source| source == passage.source).unwrap_or_else(|| {
            cited.push(passage.source);
            cited.len() - 1
        });
        let mark = format!("[{}]", number + 1);
        let outdated = if passage.outdated { " (from an outdated page)" } else { "" };
        if passage.code {
            printable(&passage.text).lines().try_for_each(|line| writeln!(out, "    {line}"))?;
            writeln!(out, "    {}{}", mark.cyan(), outdated.yellow())?;
        } else {
            writeln!(out, "{} {}{}", printable(&passage.text), mark.cyan(), outdated.yellow())?;
        }
    }
    if !cited.is_empty() {
        writeln!(out)?;
    }
    for (at, source) in cited.iter().enumerate() {
        let Some(source) = found.sources.get(*source as usize) else { continue };
        let number = format!("[{}]", at + 1);
        writeln!(
            out,
            "{} {}  {}",
            number.cyan(),
            printable(&source.title),
            printable(&source.location).cyan()
        )?;
    }
    for note in &found.notes {
        writeln!(out, "{}", printable(&with_commands(note)).yellow())?;
    }
    let by = match &found.model {
        Some(model) => format!("chosen by {}", printable(model)),
        None => "chosen by rules".to_owned(),
    };
    if found.rounds == 0 && found.read == 0 {
        return writeln!(out, "{}", "Searched on this machine only.".dimmed());
    }
    let read = count(u64::from(found.read), "page");
    writeln!(
        out,
        "{}",
        format!("{read} read in {}; passages {by}.", count(u64::from(found.rounds), "round")).dimmed()
    )?;
    if !found.answered && found.rounds > 0 {
        writeln!(out, "{}", "Search further with `autokit research --resume`.".dimmed())?;
    }
    Ok(())
}
