//! The commands of the terminal: what they are called, what they ask the library for, and what they print.
//!
//! Everything here sends commands through [`Client`] and knows nothing of the engine that carries them out, so that
//! a change of the engine does not compile it again. `autokit-cli` is the program: it opens the library, and has
//! the commands that need more than an open one.
//!
//! | module | contents |
//! |---|---|
//! | [`args`], [`global`] | the command line |
//! | [`output`], [`outcome`] | text and JSON, results and exit codes |
//! | [`places`] | remedies that name panes of the window, in commands of the terminal |
//! | the others | the commands, a module for each area |

mod agent;
mod api_keys;
mod args;
mod ask;
mod asks;
pub mod backup;
mod bundle;
mod cards;
mod checks;
mod clients;
mod collections;
mod duplicates;
mod eval;
mod filter;
mod generated;
mod global;
mod jobs;
mod libraries;
mod macros;
mod market;
mod mcp_http;
mod memory;
mod models;
mod outcome;
pub mod output;
mod personalization;
pub mod places;
mod profiles;
mod providers;
mod refine;
mod report;
mod research;
mod review;
mod secret;
mod servers;
pub mod signals;
mod starter_code;
mod team;
mod team_server;
mod tools;
mod transfer;
mod variants;
mod verify;
mod vocabulary;

use autokit_api::commands::{AcceptMissingChanges, GetStatus, ListJobs, Redo, RunDoctor};
use autokit_api::{
    CheckState, Client, Doctor, DoctorRequest, EntryKind, ExistingCards, JobKind, JobState, Nothing,
    RedoRequest, Status, VerifyScope,
};

pub use args::{Cli, Command};
pub use backup::BackupCommand;
pub use eval::{EvalCommand, Precision};
pub use global::Global;
pub use outcome::{Failure, Outcome, Result};
pub use report::ReportCommand;
pub use team::{LeaveOptions, TeamCommand};

use output::Output;

// Unifies the features of dependencies across the workspace; it exports nothing.
use workspace_hack as _;

/// Waits until the starter cards are loaded, so that the first answer uses all of them, and warns of damage.
pub async fn ready(library: &dyn Client, out: &Output, command: &Command) -> Result<Status> {
    for job in library.call::<ListJobs>(Nothing {}).await? {
        if job.kind == JobKind::Starter && job.state == JobState::Running {
            jobs::watch(library, out, &job.id).await?;
        }
    }
    let status = library.call::<GetStatus>(Nothing {}).await?;
    // With --json, stderr has only errors; `doctor --json` reports damage.
    let warns = !out.json() && !matches!(command, Command::Doctor { .. });
    if let Some(damage) = status.damage.as_ref().filter(|_| warns) {
        // A closed stderr does not fail the command.
        let _ = output::warn(
            &format!("This library is damaged: {damage}"),
            "Run `autokit doctor` to verify it and find the newest good backup.",
        );
    }
    Ok(status)
}

/// Carries out a command. Those that need more than an open library are the program's own and do nothing here.
pub async fn run(library: &dyn Client, out: &Output, command: Command) -> Result<Outcome> {
    match command {
        Command::Ask { question, limit, session } => {
            Box::pin(ask::ask(library, out, question.join(" "), limit, session)).await
        }
        Command::Feedback { verdict, said, session } => {
            Box::pin(agent::feedback(library, out, verdict, said.join(" "), session)).await
        }
        Command::Sessions { id: Some(id), delete: true, .. } => {
            agent::delete_sessions(library, out, Some(vec![id])).await
        }
        Command::Sessions { delete_all: true, .. } => agent::delete_sessions(library, out, None).await,
        Command::Sessions { id, .. } => Box::pin(agent::sessions(library, out, id)).await,
        Command::Discover { need, add } => Box::pin(agent::discover(library, out, need.join(" "), add)).await,
        Command::Describe { file } => Box::pin(review::describe(library, out, file)).await,
        Command::Review(command) => Box::pin(review::run(library, out, command)).await,
        Command::Providers(command) => Box::pin(providers::run(library, out, command)).await,
        Command::Pages(command) => Box::pin(agent::pages(library, out, command)).await,
        Command::Docs(command) => Box::pin(memory::docs(library, out, command)).await,
        Command::Code(command) => Box::pin(memory::code(library, out, command)).await,
        Command::Verify { cards, all, stale, due, improve, anew } => {
            let scope = match stale {
                Some(days) => VerifyScope::Older { days },
                None if all => VerifyScope::All,
                None if due => VerifyScope::Due,
                None => VerifyScope::Cards { cards },
            };
            Box::pin(verify::run(library, out, scope, improve, anew)).await
        }
        Command::Generated(command) => generated::run(library, out, command).await,
        Command::Macros(command) => macros::run(library, out, command).await,
        Command::Variants(command) => variants::run(library, out, command).await,
        Command::Refine(args) => Box::pin(refine::run(library, out, args)).await,
        Command::Research(args) => Box::pin(research::run(library, out, args)).await,
        Command::Checks(command) => Box::pin(checks::run(library, out, command)).await,
        Command::Search { query, limit, all_libraries: true, wait, .. } => {
            libraries::search(library, out, query.join(" "), limit, wait).await
        }
        Command::Libraries(command) => libraries::run(library, out, command).await,
        Command::Search { query, limit, mode, .. } => {
            ask::search(library, out, query.join(" "), limit, mode).await
        }
        Command::Cards(command) => Box::pin(cards::run(library, out, command)).await,
        Command::Collections(command) => collections::run(library, out, command).await,
        Command::Duplicates(command) => duplicates::run(library, out, command).await,
        Command::Undo { change } => cards::undo(library, out, change).await,
        Command::Redo { undo } => {
            let redone = library.call::<Redo>(RedoRequest { undo }).await?;
            cards::show_undo(out, "Redone", &redone)
        }
        Command::Bundle(command) => bundle::run(library, out, command).await,
        Command::Import { files, preview, keep_existing, replace_existing } => {
            let existing = match (keep_existing, replace_existing) {
                (true, _) => ExistingCards::Keep,
                (_, true) => ExistingCards::Replace,
                _ => ExistingCards::Merge,
            };
            transfer::import(library, out, &files, preview, existing).await
        }
        Command::Export { file, format, filter } => {
            transfer::export(library, out, file, format, filter).await
        }
        Command::Models(command) => models::run(library, out, command).await,
        Command::Doctor { accept_missing } => {
            if accept_missing {
                library.call::<AcceptMissingChanges>(Nothing {}).await?;
            }
            let doctor = library.call::<RunDoctor>(DoctorRequest { verify: true }).await?;
            show_doctor(out, doctor)
        }
        Command::Report(ReportCommand::Activity { days }) => report::activity(library, out, days).await,
        Command::Clients(command) => clients::run(library, out, command).await,
        Command::Market(command) => market::run(library, out, command).await,
        Command::McpHttp(command) => mcp_http::run(library, out, command).await,
        Command::Servers(command) => servers::run(library, out, command).await,
        Command::Report(ReportCommand::Audit { days, limit }) => {
            report::audit(library, out, days, limit).await
        }
        Command::Profiles(command) => profiles::run(library, out, command).await,
        Command::Asks(command) => asks::run(library, out, command).await,
        Command::Tools(command) => tools::run(library, out, command).await,
        Command::ApiKeys(command) => api_keys::run(library, out, command).await,
        Command::Personalization(command) => personalization::run(library, out, command).await,
        Command::Names(command) => vocabulary::run(library, out, EntryKind::Name, command).await,
        Command::Synonyms(command) => vocabulary::run(library, out, EntryKind::Synonym, command).await,
        Command::Team(command) => Box::pin(team::run(library, out, command)).await,
        Command::Backup(_) => backup::create(library, out).await,
        Command::Eval(EvalCommand::Sessions { days }) => report::preloading(library, out, days).await,
        Command::Completions { .. }
        | Command::Man { .. }
        | Command::Engine
        | Command::Eval(_)
        | Command::Mcp { .. }
        | Command::Serve
        | Command::Report(ReportCommand::Tokens { .. }) => Ok(Outcome::Done),
    }
}

/// Shows what diagnostics found.
pub fn show_doctor(out: &Output, mut doctor: Doctor) -> Result<Outcome> {
    for remedy in doctor.checks.iter_mut().filter_map(|check| check.remedy.as_mut()) {
        *remedy = places::with_commands(remedy);
    }
    out.show(&doctor, |text| output::write_doctor(text, &doctor))?;
    let bad = doctor.checks.iter().any(|check| check.state == CheckState::Bad);
    Ok(if bad { Outcome::Unhealthy } else { Outcome::Done })
}
