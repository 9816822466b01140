//! `autokit approvals`: approval of agents' calls in a terminal.

use std::io::{BufRead as _, Write as _};

use autokit_api::Client;
use autokit_api::commands::{AnswerApproval, WaitApprovals};
use autokit_api::{ApprovalAnswer, ApprovalDecision, ApprovalRequest, ApprovalsWait};
use autokit_toolcard::Timestamp;
use clap::{Subcommand, ValueEnum};
use owo_colors::OwoColorize as _;
use tokio::sync::mpsc;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, printable};
use crate::signals::interrupted;

/// A person's approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ReplyChoice {
    /// This time.
    Once,
    /// For the rest of the session.
    Session,
    /// From now on, for all agents of the profile.
    Always,
    /// Not this time.
    No,
    /// Never, for all agents of the profile.
    Never,
}

#[derive(Debug, Subcommand)]
pub enum AsksCommand {
    /// List pending calls. Calls wait only while someone is watching.
    List,
    /// Prompt for each call until interrupted.
    Watch,
    /// Answer a pending call.
    Answer {
        /// Call ID, as listed.
        id: String,
        /// The decision.
        #[arg(value_enum)]
        reply: ReplyChoice,
    },
}

fn decision_of(choice: ReplyChoice) -> ApprovalDecision {
    match choice {
        ReplyChoice::Once => ApprovalDecision::Once,
        ReplyChoice::Session => ApprovalDecision::Session,
        ReplyChoice::Always => ApprovalDecision::Always,
        ReplyChoice::No => ApprovalDecision::No,
        ReplyChoice::Never => ApprovalDecision::Never,
    }
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: AsksCommand) -> Result<Outcome> {
    let pending = match command {
        AsksCommand::List => library.call::<WaitApprovals>(ApprovalsWait { after: 0 }).await?,
        AsksCommand::Answer { id, reply } => {
            library.call::<AnswerApproval>(ApprovalAnswer { id, reply: decision_of(reply) }).await?
        }
        AsksCommand::Watch => {
            tokio::select! {
                watched = watch(library) => watched?,
                ended = interrupted() => ended?,
            }
            return Ok(Outcome::Done);
        }
    };
    out.show(&pending, |text| {
        for ask in &pending.asks {
            write(text, ask)?;
        }
        if pending.asks.is_empty() {
            writeln!(text, "No pending calls.")?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

/// Returns the lines of standard input, read by a separate thread, so that lines typed before a call was
/// shown can be discarded.
fn stdin_lines() -> mpsc::UnboundedReceiver<String> {
    let (sender, receiver) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if sender.send(line).is_err() {
                return;
            }
        }
    });
    receiver
}

async fn watch(library: &dyn Client) -> Result<()> {
    writeln!(anstream::stderr(), "Waiting for agent calls. Press Ctrl-C to stop.")?;
    let mut input = stdin_lines();
    let mut after = 0;
    loop {
        let pending = library.call::<WaitApprovals>(ApprovalsWait { after }).await?;
        after = pending.version;
        let Some(ask) = pending.asks.first() else { continue };
        let mut out = anstream::stdout();
        write(&mut out, ask)?;
        while input.try_recv().is_ok() {}
        let reply = loop {
            write!(
                out,
                "  {}: [o]nce, this [s]ession, [a]lways, [n]o, ne[v]er? ",
                printable(&ask.name).bold()
            )?;
            out.flush()?;
            // Keeps watching, because calls wait only while someone watches.
            let line = loop {
                tokio::select! {
                    line = input.recv() => break line,
                    pending = library.call::<WaitApprovals>(ApprovalsWait { after }) => after = pending?.version,
                }
            };
            let Some(line) = line else { return Ok(()) };
            match line.trim().to_lowercase().as_str() {
                "o" | "once" => break ApprovalDecision::Once,
                "s" | "session" => break ApprovalDecision::Session,
                "a" | "always" => break ApprovalDecision::Always,
                "n" | "no" => break ApprovalDecision::No,
                "v" | "never" => break ApprovalDecision::Never,
                _ => {}
            }
        };
        match library.call::<AnswerApproval>(ApprovalAnswer { id: ask.id.clone(), reply }).await {
            Ok(pending) => after = pending.version.saturating_sub(1),
            Err(error) => writeln!(anstream::stderr(), "{}", printable(&error.sentence()))?,
        }
    }
}

/// Describes when a call is denied if nobody responds.
fn time_left(until: Timestamp) -> String {
    let remaining = until.instant().duration_since(jiff::Timestamp::now());
    format!("in {} s if no one responds", remaining.as_secs().max(0))
}

fn write(text: &mut dyn std::io::Write, ask: &ApprovalRequest) -> std::io::Result<()> {
    let client = if ask.client.is_empty() { "An agent" } else { &ask.client };
    let source =
        if ask.provider.is_empty() { String::new() } else { format!(" from {}", printable(&ask.provider)) };
    writeln!(
        text,
        "{} wants to call {}{source} and needs {}",
        printable(client).bold(),
        printable(&ask.name).bold(),
        printable(&ask.words.join(" and "))
    )?;
    let profile = if ask.profile.is_empty() { "everyone" } else { &ask.profile };
    writeln!(
        text,
        "  id {}, profile {}, tool {}, denied {}",
        printable(&ask.id),
        printable(profile),
        printable(&ask.tool),
        time_left(ask.until)
    )?;
    for (name, value) in ask.arguments.as_object().into_iter().flatten() {
        match value.as_str() {
            // Code and other long texts are shown line by line.
            Some(lines) if lines.contains('\n') => {
                writeln!(text, "  {}:", printable(name))?;
                for line in lines.lines() {
                    writeln!(text, "    {}", printable(line))?;
                }
            }
            _ => writeln!(text, "  {}: {}", printable(name), printable(&value.to_string()))?,
        }
    }
    Ok(())
}
