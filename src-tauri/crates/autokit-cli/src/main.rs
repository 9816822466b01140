//! The `autokit` command-line interface.

mod agent;
mod api_keys;
mod args;
mod ask;
mod asks;
mod backup;
mod bundle;
mod cards;
mod checks;
mod clients;
mod eval;
mod filter;
mod global;
mod jobs;
mod market;
mod mcp;
mod mcp_http;
mod models;
mod outcome;
mod output;
mod places;
mod profiles;
mod providers;
mod report;
mod review;
mod serve;
mod tools;
mod transfer;
mod verify;

use std::io::Write as _;
use std::process::ExitCode;

use autokit_api::commands::{AcceptMissingChanges, GetStatus, ListJobs, RunDoctor, Undo};
use autokit_api::{CheckState, Doctor, DoctorRequest, VerifyScope};
use autokit_app::engine::EngineOptions;
use autokit_app::node::{Node, NodeOptions};
use autokit_app::{ApiError, ErrorCode};
use clap::{CommandFactory, Parser};

use args::{Cli, Command};
use global::Global;
use outcome::{Failure, Outcome, Result};
use output::{Output, printable};

// Unifies the features of dependencies across the workspace; it exports nothing.
use workspace_hack as _;

/// The default log filter, which `AUTOKIT_LOG` overrides: only errors of AutoKit itself. Errors of
/// dependencies surface as errors of commands.
const LOG_FILTER: &str = "off,autokit=error";

fn main() -> ExitCode {
    let cli = Cli::parse();
    tracing_subscriber::fmt()
        .with_env_filter(
            tracing_subscriber::EnvFilter::try_from_env("AUTOKIT_LOG")
                .unwrap_or_else(|_| tracing_subscriber::EnvFilter::new(LOG_FILTER)),
        )
        .with_writer(std::io::stderr)
        .init();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .enable_all()
        // The database's query executor nests deeply.
        .thread_stack_size(8 << 20)
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => {
            return report(cli.global.json, &ApiError::internal(format!("couldn't start threads: {error}")));
        }
    };
    let json = cli.global.json;
    let result = runtime.block_on(run(cli));
    // In the background, because a thread that reads standard input may never end.
    runtime.shutdown_background();
    match result {
        Ok(Outcome::Done) | Err(Failure::ClosedPipe) => ExitCode::SUCCESS,
        Ok(Outcome::NothingFound) => ExitCode::from(3),
        Ok(Outcome::Rejected) => ExitCode::from(4),
        Ok(Outcome::Unhealthy) => ExitCode::FAILURE,
        Err(Failure::Api(error)) => report(json, &error),
    }
}

fn report(json: bool, error: &ApiError) -> ExitCode {
    let mut err = anstream::stderr();
    // Nothing can be reported if stderr is closed.
    let _ = if json {
        let error = ApiError { remedy: places::with_commands(&error.remedy), ..error.clone() };
        writeln!(err, "{}", serde_json::to_string(&error).unwrap_or_default())
    } else {
        output::write_error(&mut err, error)
    };
    ExitCode::from(exit_code(error.code))
}

/// Returns the exit code of an error, as documented in `--help`.
fn exit_code(code: ErrorCode) -> u8 {
    match code {
        ErrorCode::BadRequest => 2,
        ErrorCode::NotFound => 3,
        ErrorCode::Conflict
        | ErrorCode::Duplicate
        | ErrorCode::Invalid
        | ErrorCode::Flagged
        | ErrorCode::UnreadableFile => 4,
        ErrorCode::ReadOnly
        | ErrorCode::DiskFull
        | ErrorCode::NewerSchema
        | ErrorCode::Damaged
        | ErrorCode::OwnerUnreachable
        | ErrorCode::VersionMismatch
        | ErrorCode::Unauthorized => 5,
        ErrorCode::NoSearch
        | ErrorCode::WrongKey
        | ErrorCode::WrongAddress
        | ErrorCode::WrongModel
        | ErrorCode::NoConnection
        | ErrorCode::RateLimited
        | ErrorCode::Timeout
        | ErrorCode::OverBudget
        | ErrorCode::Refused
        | ErrorCode::Provider => 6,
        ErrorCode::Cancelled => 130,
        ErrorCode::NoModel | ErrorCode::BadModel | ErrorCode::NoKeychain | ErrorCode::Internal => 1,
    }
}

async fn run(cli: Cli) -> Result<Outcome> {
    let out = Output::new(cli.global.json);
    let command = match cli.command {
        Command::Completions { shell } => {
            let mut text = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "autokit", &mut text);
            Output::raw(&text)?;
            return Ok(Outcome::Done);
        }
        // Evaluation opens no library.
        Command::Eval(command) => return Box::pin(eval::run(&cli.global, &out, command)).await,
        Command::Report(report::ReportCommand::Tokens { sizes }) => {
            return Box::pin(report::measure(&cli.global, &out, &sizes)).await;
        }
        command => command,
    };
    let data_dir = cli.global.data_dir();
    if let Command::Backup(command) = &command
        && let Some(result) = Box::pin(backup::without_library(&data_dir, &out, command)).await
    {
        return result;
    }
    let opened = open(&cli.global, matches!(command, Command::Serve | Command::Mcp { .. })).await;
    let node = match opened {
        Err(Failure::Api(error)) if error.code == ErrorCode::Damaged => {
            if matches!(command, Command::Doctor { .. }) {
                let doctor = autokit_app::backups::diagnose_unopened(&data_dir, &error).await;
                return show_doctor(&out, doctor);
            }
            let remedy = autokit_app::backups::remedy(&data_dir).await;
            return Err(Failure::Api(ApiError { remedy, ..error }));
        }
        opened => opened?,
    };
    let outcome = match command {
        // Does not wait for the starter cards, and writes nothing but MCP messages to standard output.
        Command::Mcp { profile } => Box::pin(mcp::serve(&node, profile.as_deref().unwrap_or_default())).await,
        command => Box::pin(with_library(&node, &out, command)).await,
    };
    let closed = tokio::select! {
        closed = node.close() => closed,
        // A second interrupt exits at once; acknowledged writes are durable.
        Ok(()) = serve::interrupted() => Ok(()),
    };
    let end = outcome?;
    closed?;
    Ok(end)
}

async fn open(global: &Global, standby: bool) -> Result<Node> {
    let options = NodeOptions {
        data_dir: global.data_dir(),
        engine: EngineOptions {
            vectors: global.vectors(),
            // A library at an explicit path starts empty; the default one has the starter cards.
            starter: global.starter || global.data_dir.is_none(),
            ..EngineOptions::new()
        },
        standby,
        author: autokit_app::person(),
    };
    Ok(Node::open(options).await?)
}

async fn with_library(node: &Node, out: &Output, command: Command) -> Result<Outcome> {
    // Waits until the starter cards are loaded, so that the first answer uses all of them.
    for job in node.call::<ListJobs>(autokit_api::Nothing {}).await? {
        if job.kind == autokit_api::JobKind::Starter && job.state == autokit_api::JobState::Running {
            jobs::watch(node, out, &job.id).await?;
        }
    }
    let status = node.call::<GetStatus>(autokit_api::Nothing {}).await?;
    // With --json, stderr has only errors; `doctor --json` reports damage.
    let warns = !out.json() && !matches!(command, Command::Doctor { .. });
    if let Some(damage) = status.damage.as_ref().filter(|_| warns) {
        // A closed stderr does not fail the command.
        let _ = output::warn(
            &format!("This library is damaged: {damage}"),
            "Run `autokit doctor` to verify it and find the newest good backup.",
        );
    }
    match command {
        Command::Ask { question, limit, session } => {
            Box::pin(ask::ask(node, out, question.join(" "), limit, session)).await
        }
        Command::Feedback { verdict, said, session } => {
            Box::pin(agent::feedback(node, out, verdict, said.join(" "), session)).await
        }
        Command::Sessions { id } => Box::pin(agent::sessions(node, out, id)).await,
        Command::Discover { need, add } => Box::pin(agent::discover(node, out, need.join(" "), add)).await,
        Command::Describe { file } => Box::pin(review::describe(node, out, file)).await,
        Command::Review(command) => Box::pin(review::run(node, out, command)).await,
        Command::Providers(command) => Box::pin(providers::run(node, out, command)).await,
        Command::Pages(command) => Box::pin(agent::pages(node, out, command)).await,
        Command::Verify { cards, all, stale, due, improve, anew } => {
            let scope = match stale {
                Some(days) => VerifyScope::Older { days },
                None if all => VerifyScope::All,
                None if due => VerifyScope::Due,
                None => VerifyScope::Cards { cards },
            };
            Box::pin(verify::run(node, out, scope, improve, anew)).await
        }
        Command::Checks(command) => Box::pin(checks::run(node, out, command)).await,
        Command::Search { query, limit, mode } => ask::search(node, out, query.join(" "), limit, mode).await,
        Command::Cards(command) => Box::pin(cards::run(node, out, command)).await,
        Command::Undo => {
            let undone = node.call::<Undo>(autokit_api::Nothing {}).await?;
            out.show(&undone, |text| {
                writeln!(
                    text,
                    "Undone: {} ({})",
                    printable(&undone.reason),
                    output::count(undone.cards.len() as u64, "card")
                )?;
                for id in &undone.kept {
                    writeln!(text, "  kept, because it changed since: {}", printable(id.as_str()))?;
                }
                Ok(())
            })?;
            Ok(Outcome::Done)
        }
        Command::Bundle(command) => bundle::run(node, out, command).await,
        Command::Import { files, preview, keep_existing } => {
            transfer::import(node, out, &files, preview, keep_existing).await
        }
        Command::Export { file, format, filter } => transfer::export(node, out, file, format, filter).await,
        Command::Models(command) => models::run(node, out, command).await,
        Command::Doctor { accept_missing } => {
            if accept_missing {
                node.call::<AcceptMissingChanges>(autokit_api::Nothing {}).await?;
            }
            let doctor = node.call::<RunDoctor>(DoctorRequest { verify: true }).await?;
            show_doctor(out, doctor)
        }
        Command::Serve => serve::run(node, out, &status).await,
        Command::Report(report::ReportCommand::Activity { days }) => report::activity(node, out, days).await,
        Command::Clients(command) => clients::run(node, out, command).await,
        Command::Market(command) => market::run(node, out, command).await,
        Command::McpHttp(command) => mcp_http::run(node, out, command).await,
        Command::Servers(command) => mcp::run(node, out, command).await,
        Command::Report(report::ReportCommand::Audit { days, limit }) => {
            report::audit(node, out, days, limit).await
        }
        Command::Profiles(command) => profiles::run(node, out, command).await,
        Command::Asks(command) => asks::run(node, out, command).await,
        Command::Tools(command) => tools::run(node, out, command).await,
        Command::ApiKeys(command) => api_keys::run(node, out, command).await,
        Command::Backup(_) => backup::create(node, out).await,
        Command::Completions { .. }
        | Command::Eval(_)
        | Command::Mcp { .. }
        | Command::Report(report::ReportCommand::Tokens { .. }) => Ok(Outcome::Done),
    }
}

fn show_doctor(out: &Output, mut doctor: Doctor) -> Result<Outcome> {
    for remedy in doctor.checks.iter_mut().filter_map(|check| check.remedy.as_mut()) {
        *remedy = places::with_commands(remedy);
    }
    out.show(&doctor, |text| output::write_doctor(text, &doctor))?;
    let bad = doctor.checks.iter().any(|check| check.state == CheckState::Bad);
    Ok(if bad { Outcome::Unhealthy } else { Outcome::Done })
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::sync::{Arc, Mutex};

    use super::LOG_FILTER;

    #[derive(Clone, Default)]
    struct Terminal(Arc<Mutex<Vec<u8>>>);

    impl io::Write for Terminal {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn log_lines_of_dependencies_do_not_reach_the_terminal() {
        let terminal = Terminal::default();
        let writer = terminal.clone();
        let subscriber = tracing_subscriber::fmt()
            .with_env_filter(tracing_subscriber::EnvFilter::new(LOG_FILTER))
            .with_writer(move || writer.clone())
            .finish();
        tracing::subscriber::with_default(subscriber, || {
            tracing::error!(target: "surrealkv::wal", "corrupted record");
            tracing::error!(target: "rmcp::service", "input stream terminated");
            tracing::warn!(target: "autokit_app::engine", "a detail");
            tracing::error!(target: "autokit_app::engine", "a failure");
        });
        let text = String::from_utf8(terminal.0.lock().unwrap().clone()).unwrap();
        assert_eq!((text.lines().count(), text.contains("a failure")), (1, true), "{text}");
    }
}
