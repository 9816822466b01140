//! `autokit feedback`, `discover`, `sessions` and `pages`, and the agent's trace as it happens.

use std::io::{self, Write};

use autokit_agent::ask::graph::Step;
use autokit_agent::ask::{AgentAnswer, Phase, StepEvent};
use autokit_agent::discover::{Finding, Trace};
use autokit_api::Client;
use autokit_api::commands::{
    CancelSession, DeleteSessions, FetchPages, GetPage, GetSession, GiveFeedback, ListSessions,
    ProposeFinding, StartDiscover, WaitSession,
};
use autokit_api::{
    AddFinding, AgentQuestion, CardRef, FeedbackRequest, Nothing, PagesFetch, Session, SessionRef,
    SessionWait, SessionsDelete, Turn, TurnKind, TurnState,
};
use autokit_error::{ApiError, ErrorCode};
use autokit_toolcard::{CardId, SessionId};
use clap::{Subcommand, ValueEnum};
use owo_colors::OwoColorize;

use crate::cards::one_line;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, format_time, printable};
use crate::places::with_commands;
use crate::starter_code::write_starter;
use crate::{jobs, review};

/// Yes or no.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum YesNo {
    /// It helps.
    Yes,
    /// It does not.
    No,
}

#[derive(Debug, Subcommand)]
pub enum PagesCommand {
    /// Read documentation pages so that answers can cite them.
    Fetch {
        /// Card names or IDs; defaults to all cards.
        cards: Vec<String>,
        /// Include pages read recently.
        #[arg(long)]
        again: bool,
    },
    /// Show a card's page as last read.
    Show {
        /// Card name or ID.
        card: String,
    },
}

/// Waits until the current turn of a session ends, with its trace on stderr. Ctrl-C cancels the turn.
pub(crate) async fn follow(library: &dyn Client, out: &Output, session: &SessionId) -> Result<Session> {
    use std::io::IsTerminal as _;
    let show_trace = !out.json() && io::stderr().is_terminal();
    let (mut seen, mut shown) = (0, 0);
    loop {
        let next = library.call::<WaitSession>(SessionWait { session: session.clone(), after: seen });
        let state = tokio::select! {
            state = next => state?,
            _ = tokio::signal::ctrl_c() => {
                library.call::<CancelSession>(SessionRef { session: session.clone() }).await?;
                continue;
            }
        };
        seen = state.version;
        let Some(turn) = state.turns.last() else { continue };
        if show_trace {
            let mut err = anstream::stderr();
            // Steps by rules take milliseconds; the answer says what came of them.
            let is_by_rules = |event: &&StepEvent| {
                let ended = matches!(event.phase, Phase::Result { .. });
                ended && event.model.is_none() && !matches!(event.step, Step::Web | Step::Add)
            };
            for event in turn.events.iter().skip(shown).filter(|event| !is_by_rules(event)) {
                // A closed stderr does not fail the command.
                let _ = write_event(&mut err, event);
            }
            shown = turn.events.len();
        }
        match (turn.state, &turn.error) {
            (TurnState::Running, _) => {}
            (TurnState::Cancelled, _) => return Err(ApiError::cancelled().into()),
            (TurnState::Failed, Some(error)) => return Err(error.clone().into()),
            _ => return Ok(state),
        }
    }
}

/// Writes one line of the trace.
fn write_event(out: &mut dyn Write, event: &StepEvent) -> io::Result<()> {
    let step = match event.step {
        Step::Search => "Search",
        Step::Generate => "Answer",
        Step::GradeGrounded => "Check sources",
        Step::GradeAnswers => "Check answer",
        Step::Rewrite => "Reword",
        Step::Web => "Web search",
        Step::Finalize => "Choose",
        Step::Feedback => "Feedback",
        Step::Add => "Add card",
    };
    match &event.phase {
        Phase::Start => Ok(()),
        Phase::Result { .. } => {
            let mut by = format!("{} ms", event.ms);
            if let Some(model) = &event.model {
                by = format!("{}, {} + {} tokens, {by}", printable(model), event.tokens.0, event.tokens.1);
            }
            let what = one_line(&event.text, 90);
            writeln!(out, "{} {what} {}", format!("{step:>13}").cyan(), by.dimmed())
        }
        Phase::Trace { trace } => {
            let (mark, text) = match trace {
                Trace::Thought { text } => ("…", text),
                Trace::Action { text } => ("→", text),
                Trace::Observation { text, failed: false } => ("←", text),
                Trace::Observation { text, failed: true } => ("✗", text),
            };
            writeln!(out, "{:>15} {}", mark.dimmed(), one_line(&with_commands(text), 100).dimmed())
        }
    }
}

/// Writes what follows the recommendation: removed lines, tools from the web and hints. `read_only` is the
/// reason why the session was not saved.
pub(crate) fn write_follow_up(
    out: &mut dyn Write,
    answer: &AgentAnswer,
    read_only: Option<&str>,
) -> io::Result<()> {
    for line in &answer.removed {
        writeln!(out, "{} {}", "removed, unsupported:".yellow(), printable(line))?;
    }
    if !answer.findings.is_empty() {
        writeln!(out, "\n{}", "Found on the web".bold())?;
        write_findings(out, &answer.findings)?;
    }
    if let Some(substitute) = &answer.substitute {
        writeln!(out)?;
        write_substitute(out, substitute)?;
    }
    if let Some(reason) = read_only {
        return writeln!(out, "{} {reason}", "This session wasn't saved:".yellow());
    }
    if !answer.findings.is_empty() {
        let hint = "Propose one as a card: autokit discover --add N | autokit feedback no \"why not\"";
        writeln!(out, "{}", hint.dimmed())?;
    }
    if answer.tool.is_some() {
        writeln!(
            out,
            "{}",
            "Does this help? autokit feedback yes \"what for\" | autokit feedback no \"why not\"".dimmed()
        )?;
    }
    Ok(())
}

fn write_findings(out: &mut dyn Write, findings: &[Finding]) -> io::Result<()> {
    for (at, finding) in findings.iter().enumerate() {
        let duplicates = if finding.similar.is_empty() {
            String::new()
        } else {
            let ids: Vec<&str> = finding.similar.iter().map(CardId::as_str).collect();
            format!("  possible duplicate of {}", printable(&ids.join(", "))).yellow().to_string()
        };
        writeln!(
            out,
            "{:>3}. {}  {}{duplicates}",
            at + 1,
            printable(&finding.name).bold(),
            format!("{:.0}%", finding.score * 100.0).dimmed()
        )?;
        writeln!(out, "     {}", printable(&finding.url).cyan())?;
        if !finding.description.is_empty() {
            writeln!(out, "     {}", one_line(&finding.description, 90))?;
        }
        if !finding.excerpt.is_empty() {
            writeln!(out, "     {}", format!("“{}”", one_line(&finding.excerpt, 90)).dimmed())?;
        }
    }
    Ok(())
}

pub(crate) async fn discover(
    library: &dyn Client,
    out: &Output,
    need: String,
    add: Option<usize>,
) -> Result<Outcome> {
    let session = if need.trim().is_empty() {
        let session = newest_session(library).await?;
        library.call::<GetSession>(SessionRef { session }).await?
    } else {
        let started = library
            .call::<StartDiscover>(AgentQuestion { question: need, session: None, limit: None })
            .await?;
        follow(library, out, &started.session).await?
    };
    if let Some(number) = add {
        return propose(library, out, &session, number).await;
    }
    let Some(found) = session.turns.last().and_then(|turn| turn.discovered.as_ref()) else {
        return Err(ApiError::internal("the search returned no result").into());
    };
    out.show(found, |text| {
        if let Some(unread) = found.failed() {
            writeln!(text, "{}", one_line(&found.summary(), 240).bold())?;
            writeln!(text, "  {}", with_commands(&unread.error.remedy))?;
        } else if found.findings.is_empty() {
            writeln!(text, "{}", "No suitable tool found.".bold())?;
            if let Some(substitute) = &found.substitute {
                write_substitute(text, substitute)?;
            } else if let Some(closest) = found.dismissed.first() {
                writeln!(
                    text,
                    "  The closest page is {} ({}).",
                    printable(&closest.name),
                    printable(&closest.url)
                )?;
            }
        } else {
            write_findings(text, &found.findings)?;
        }
        if !found.findings.is_empty() || found.substitute.is_some() {
            writeln!(text, "\n{}", "Propose one as a card with --add N.".dimmed())?;
        }
        writeln!(text, "{}", pages_read(found.read).dimmed())?;
        if let (None, Some(unread)) = (found.failed(), &found.unread) {
            let pages = count(unread.pages, "page");
            writeln!(text, "{}", format!("{pages} could not be read; see `autokit sessions`").dimmed())?;
        }
        Ok(())
    })?;
    Ok(if found.findings.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

/// Writes a tool that may be used in place of one that was not found.
fn write_substitute(out: &mut dyn Write, substitute: &Finding) -> io::Result<()> {
    writeln!(out, "{}", "Not made for this, but may be used in its place:".dimmed())?;
    write_findings(out, std::slice::from_ref(substitute))
}

fn pages_read(pages: u32) -> String {
    format!("{} read", count(pages, "page"))
}

/// Proposes one of the tools that the last turn of a session found on the web.
async fn propose(library: &dyn Client, out: &Output, session: &Session, number: usize) -> Result<Outcome> {
    let last = session.turns.last();
    let found = last.and_then(|turn| {
        let discovered = turn.discovered.as_ref().map(|found| (&found.findings, &found.substitute));
        discovered.or(turn.answer.as_ref().map(|answer| (&answer.findings, &answer.substitute)))
    });
    let found: Vec<&Finding> =
        found.into_iter().flat_map(|(findings, other)| findings.iter().chain(other.as_deref())).collect();
    let finding = number.checked_sub(1).and_then(|at| found.get(at)).ok_or_else(|| {
        ApiError::new(
            ErrorCode::NotFound,
            format!("no candidate {number}; {} found", found.len()),
            "Run it without --add first.",
        )
    })?;
    let request = AddFinding { session: session.id.clone(), url: finding.url.clone() };
    let detail = library.call::<ProposeFinding>(request).await?;
    out.show(&detail, |text| {
        review::write_detail(text, &detail)?;
        let accept = format!("Accept it with `autokit review accept {}`.", detail.proposal.id);
        writeln!(text, "\n{}", accept.dimmed())
    })?;
    Ok(Outcome::Done)
}

async fn newest_session(library: &dyn Client) -> Result<SessionId> {
    let sessions = library.call::<ListSessions>(Nothing {}).await?;
    let newest = sessions
        .into_iter()
        .next()
        .ok_or_else(|| ApiError::new(ErrorCode::NotFound, "no sessions yet", "Ask something first."))?;
    Ok(newest.id)
}

pub(crate) async fn feedback(
    library: &dyn Client,
    out: &Output,
    verdict: YesNo,
    text: String,
    session: Option<SessionId>,
) -> Result<Outcome> {
    let session = match session {
        Some(session) => session,
        None => newest_session(library).await?,
    };
    let helpful = verdict == YesNo::Yes;
    let request = FeedbackRequest { session: session.clone(), helpful, said: text };
    let mut state = library.call::<GiveFeedback>(request).await?;
    if !helpful {
        state = follow(library, out, &session).await?;
    }
    out.show(&state, |text| match state.turns.last() {
        Some(turn) => write_turn(text, turn),
        None => Ok(()),
    })?;
    let answer = state.turns.last().and_then(|turn| turn.answer.as_ref());
    let nothing = answer.is_some_and(|answer| answer.tool.is_none() && answer.findings.is_empty());
    Ok(if nothing { Outcome::NothingFound } else { Outcome::Done })
}

fn write_turn(out: &mut dyn Write, turn: &Turn) -> io::Result<()> {
    let kind = match turn.kind {
        TurnKind::Ask => "Asked",
        TurnKind::Refine => "Searched again without that tool:",
        TurnKind::Discover => "Searched the web for",
        TurnKind::Research => "Researched",
    };
    writeln!(out, "{} {}", kind.dimmed(), printable(&turn.asked).bold())?;
    if let Some(answer) = &turn.answer {
        match &answer.name {
            Some(name) => {
                writeln!(out, "{}", printable(name).bold())?;
                writeln!(out, "{}", printable(&answer.sentence))?;
                for limit in &answer.limits {
                    writeln!(out, "{}", printable(limit))?;
                }
                if let Some(stub) = &answer.stub {
                    writeln!(out)?;
                    printable(&stub.code).lines().try_for_each(|line| writeln!(out, "    {line}"))?;
                }
            }
            None => writeln!(out, "{}", "Nothing in your library clearly does this.".bold())?,
        }
        for note in &answer.notes {
            writeln!(out, "{}", printable(&with_commands(note)).dimmed())?;
        }
        if !answer.findings.is_empty() {
            writeln!(out, "\n{}", "Found on the web".bold())?;
            write_findings(out, &answer.findings)?;
        }
    }
    if let Some(found) = &turn.discovered {
        write_findings(out, &found.findings)?;
    }
    if let Some(found) = &turn.research {
        crate::research::write(out, found)?;
    }
    if let Some(error) = &turn.error {
        crate::output::write_error(out, error)?;
    }
    if let Some(feedback) = &turn.said {
        let label = if feedback.helpful { "Yes:" } else { "No:" };
        writeln!(out, "{} {}", label.cyan(), printable(&feedback.text))?;
        match &feedback.starter {
            Some(starter) => {
                writeln!(out)?;
                write_starter(out, starter)?;
            }
            None if feedback.helpful => {
                writeln!(out, "{}", "The card doesn't have enough detail for starter code.".dimmed())?;
            }
            None => {}
        }
    }
    Ok(())
}

pub(crate) async fn sessions(library: &dyn Client, out: &Output, id: Option<SessionId>) -> Result<Outcome> {
    // As the commands that list other things.
    let id = id.filter(|id| id.as_str() != "list");
    let Some(id) = id else {
        let sessions = library.call::<ListSessions>(Nothing {}).await?;
        out.show(&sessions, |text| {
            if sessions.is_empty() {
                writeln!(text, "No sessions yet.")?;
            }
            sessions.iter().try_for_each(|session| {
                writeln!(
                    text,
                    "{}  {}  {}",
                    session.id.bold(),
                    format_time(session.at).dimmed(),
                    one_line(&session.question, 80)
                )
            })
        })?;
        return Ok(if sessions.is_empty() { Outcome::NothingFound } else { Outcome::Done });
    };
    let session = library.call::<GetSession>(SessionRef { session: id }).await?;
    out.show(&session, |text| {
        for turn in &session.turns {
            turn.events.iter().try_for_each(|event| write_event(text, event))?;
            write_turn(text, turn)?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// Deletes sessions, or all that are not running.
pub(crate) async fn delete_sessions(
    library: &dyn Client,
    out: &Output,
    sessions: Option<Vec<SessionId>>,
) -> Result<Outcome> {
    // Deleting what is gone already is no error for programs, but people may have mistyped an id.
    for session in sessions.iter().flatten() {
        library.call::<GetSession>(SessionRef { session: session.clone() }).await?;
    }
    let left = library.call::<DeleteSessions>(SessionsDelete { sessions }).await?;
    out.show(&left, |text| writeln!(text, "Deleted. What search learned from feedback is kept."))?;
    Ok(Outcome::Done)
}

pub(crate) async fn pages(library: &dyn Client, out: &Output, command: PagesCommand) -> Result<Outcome> {
    match command {
        PagesCommand::Fetch { cards, again } => {
            let started = library.call::<FetchPages>(PagesFetch { cards, again }).await?;
            let job = jobs::watch(library, out, &started.job).await?;
            out.show(&job, |text| writeln!(text, "{}", printable(job.summary.as_deref().unwrap_or("Done"))))?;
            Ok(Outcome::Done)
        }
        PagesCommand::Show { card } => {
            let page = library.call::<GetPage>(CardRef { card }).await?;
            out.show(&page, |text| match &page.page {
                None => writeln!(text, "Its page hasn't been read yet. Read it with `autokit pages fetch`."),
                Some(page) => {
                    writeln!(text, "{}  {}", printable(&page.title).bold(), printable(&page.url).cyan())?;
                    writeln!(text, "{}", format!("read {}", format_time(page.fetched_at)).dimmed())?;
                    if let Some(failed) = &page.failed {
                        writeln!(text, "{} {}", "last attempt failed:".yellow(), printable(failed))?;
                    }
                    for piece in &page.pieces {
                        writeln!(text, "\n{}", printable(&piece.path.join(" › ")).bold())?;
                        writeln!(text, "{}", printable(&piece.text))?;
                    }
                    Ok(())
                }
            })?;
            Ok(if page.page.is_some() { Outcome::Done } else { Outcome::NothingFound })
        }
    }
}
