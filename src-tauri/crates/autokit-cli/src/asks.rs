//! `autokit asks`: calls of agents that need a person's approval, where there is no window to give it in.

use std::io::{BufRead as _, Write as _};

use autokit_api::commands::{AnswerApproval, WaitApprovals};
use autokit_api::{ApprovalAnswer, ApprovalDecision, ApprovalRequest, ApprovalsWait};
use autokit_app::Timestamp;
use autokit_app::node::Node;
use clap::{Subcommand, ValueEnum};
use owo_colors::OwoColorize as _;
use tokio::sync::mpsc;

use crate::outcome::{End, Result};
use crate::output::{Output, printable};
use crate::serve::interrupted;

/// A person's approval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(crate) enum ReplyChoice {
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
pub(crate) enum AsksCommand {
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

fn reply_of(choice: ReplyChoice) -> ApprovalDecision {
    match choice {
        ReplyChoice::Once => ApprovalDecision::Once,
        ReplyChoice::Session => ApprovalDecision::Session,
        ReplyChoice::Always => ApprovalDecision::Always,
        ReplyChoice::No => ApprovalDecision::No,
        ReplyChoice::Never => ApprovalDecision::Never,
    }
}

pub(crate) async fn run(node: &Node, out: &Output, command: AsksCommand) -> Result<End> {
    let asks = match command {
        AsksCommand::List => node.call::<WaitApprovals>(ApprovalsWait { after: 0 }).await?,
        AsksCommand::Answer { id, reply } => {
            node.call::<AnswerApproval>(ApprovalAnswer { id, reply: reply_of(reply) }).await?
        }
        AsksCommand::Watch => {
            tokio::select! {
                watched = watch(node) => watched?,
                ended = interrupted() => ended?,
            }
            return Ok(End::Done);
        }
    };
    out.show(&asks, |text| {
        for ask in &asks.asks {
            write(text, ask)?;
        }
        if asks.asks.is_empty() {
            writeln!(text, "No pending calls.")?;
        }
        Ok(())
    })?;
    Ok(End::Done)
}

/// The lines a person types, read by a thread of its own: what was typed before a call was shown is no answer
/// to it.
fn typed() -> mpsc::UnboundedReceiver<String> {
    let (lines, typed) = mpsc::unbounded_channel();
    std::thread::spawn(move || {
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            if lines.send(line).is_err() {
                return;
            }
        }
    });
    typed
}

async fn watch(node: &Node) -> Result<()> {
    writeln!(anstream::stderr(), "Waiting for agent calls. Press Ctrl-C to stop.")?;
    let mut typed = typed();
    let mut after = 0;
    loop {
        let asks = node.call::<WaitApprovals>(ApprovalsWait { after }).await?;
        after = asks.version;
        let Some(ask) = asks.asks.first() else { continue };
        let mut out = anstream::stdout();
        write(&mut out, ask)?;
        while typed.try_recv().is_ok() {}
        let reply = loop {
            write!(
                out,
                "  {}: [o]nce, this [s]ession, [a]lways, [n]o, ne[v]er? ",
                printable(&ask.name).bold()
            )?;
            out.flush()?;
            // While a person thinks, somebody is there: the agent's call goes on waiting.
            let line = loop {
                tokio::select! {
                    line = typed.recv() => break line,
                    asks = node.call::<WaitApprovals>(ApprovalsWait { after }) => after = asks?.version,
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
        match node.call::<AnswerApproval>(ApprovalAnswer { id: ask.id.clone(), reply }).await {
            Ok(asks) => after = asks.version.saturating_sub(1),
            Err(error) => writeln!(anstream::stderr(), "{}", printable(&error.sentence()))?,
        }
    }
}

/// When a call is refused that nobody answers.
fn left(until: Timestamp) -> String {
    let left = until.instant().duration_since(jiff::Timestamp::now());
    format!("in {} s if no one responds", left.as_secs().max(0))
}

fn write(text: &mut dyn std::io::Write, ask: &ApprovalRequest) -> std::io::Result<()> {
    let client = if ask.client.is_empty() { "An agent" } else { &ask.client };
    let of =
        if ask.provider.is_empty() { String::new() } else { format!(" from {}", printable(&ask.provider)) };
    writeln!(
        text,
        "{} wants to call {}{of} and needs {}",
        printable(client).bold(),
        printable(&ask.name).bold(),
        printable(&ask.words.join(" and "))
    )?;
    let profile = if ask.profile.is_empty() { "everybody" } else { &ask.profile };
    writeln!(
        text,
        "  id {}, profile {}, tool {}, denied {}",
        printable(&ask.id),
        printable(profile),
        printable(&ask.tool),
        left(ask.until)
    )?;
    for (name, value) in ask.arguments.as_object().into_iter().flatten() {
        match value.as_str() {
            // Code and other long texts stand as they are.
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
