//! The `autokit` program of the terminal: opens the library and carries out a command of [`autokit_terminal`].

mod backup;
mod eval;
mod global;
mod serve;
mod team;
mod tokens;

use std::io::Write as _;
use std::process::ExitCode;

use autokit_app::engine::EngineOptions;
use autokit_app::node::{Node, NodeOptions, Purpose};
use autokit_app::{ApiError, ErrorCode};
use autokit_terminal::output::{self, Output};
use autokit_terminal::{Cli, Command, EvalCommand, Failure, Global, Outcome, ReportCommand, Result, places};
use clap::{CommandFactory, Parser};

// Unifies the features of dependencies across the workspace; it exports nothing.
use workspace_hack as _;

/// The default log filter, which `AUTOKIT_LOG` overrides: only errors of AutoKit itself. Errors of
/// dependencies surface as errors of commands.
const LOG_FILTER: &str = "off,autokit=error";

fn main() -> ExitCode {
    if let Some(exit) = autokit_app::read_document_if_asked() {
        return exit;
    }
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
        Command::Man { folder } => {
            clap_mangen::generate_to(Cli::command().name("autokit"), &folder).map_err(|error| {
                let message = format!("{}: {error}", folder.display());
                ApiError::new(ErrorCode::BadRequest, message, "Name an existing folder.")
            })?;
            return Ok(Outcome::Done);
        }
        // Other evaluations open no library.
        Command::Eval(command) if !matches!(command, EvalCommand::Sessions { .. }) => {
            return Box::pin(eval::run(&cli.global, &out, command)).await;
        }
        Command::Report(ReportCommand::Tokens { sizes }) => {
            return Box::pin(tokens::measure(&cli.global, &out, &sizes)).await;
        }
        command => command,
    };
    if matches!(command, Command::Engine) {
        Box::pin(serve::engine(node_options(&cli.global, Purpose::Process))).await?;
        return Ok(Outcome::Done);
    }
    let data_dir = global::data_dir(&cli.global)?;
    if let Command::Backup(command) = &command
        && let Some(result) = Box::pin(backup::without_library(
            node_options(&cli.global, Purpose::Process)?,
            &data_dir,
            &out,
            command,
        ))
        .await
    {
        return result;
    }
    if let Command::Team(command) = &command
        && let Some(leaving) = command.leaving()
        && (leaving.keep.is_some() || !leaving.discard)
    {
        let global = Global { team: Some(leaving.id.to_owned()), ..cli.global.clone() };
        Box::pin(team::prepare_leaving(node_options(&global, Purpose::Command)?, leaving)).await?;
    }
    let stays = matches!(command, Command::Serve | Command::Mcp { .. });
    let opened = open(&cli.global, if stays { Purpose::Process } else { Purpose::Command }).await;
    let node = match opened {
        Err(Failure::Api(error)) if error.code == ErrorCode::Damaged => {
            if matches!(command, Command::Doctor { .. }) {
                let doctor = autokit_app::backups::diagnose_unopened(&data_dir, &error).await;
                return autokit_terminal::show_doctor(&out, doctor);
            }
            let remedy = autokit_app::backups::remedy(&data_dir).await;
            return Err(Failure::Api(ApiError { remedy, ..error }));
        }
        opened => opened?,
    };
    let outcome = match command {
        // Does not wait for the starter cards, and writes nothing but MCP messages to standard output.
        Command::Mcp { profile } => Box::pin(serve::mcp(&node, profile.as_deref().unwrap_or_default())).await,
        command => Box::pin(with_library(&node, &out, command)).await,
    };
    let closed = tokio::select! {
        closed = node.close() => closed,
        // A second interrupt exits at once; acknowledged writes are durable.
        Ok(()) = autokit_terminal::signals::interrupted() => Ok(()),
    };
    let end = outcome?;
    closed?;
    Ok(end)
}

async fn open(global: &Global, purpose: Purpose) -> Result<Node> {
    Ok(Node::open(node_options(global, purpose)?).await?)
}

fn node_options(global: &Global, purpose: Purpose) -> Result<NodeOptions> {
    Ok(NodeOptions {
        data_dir: global::data_dir(global)?,
        engine: EngineOptions {
            vectors: global::vectors(global),
            // A library at an explicit path starts empty; the default one has the starter cards.
            starter: global.starter || global.data_dir.is_none() && global.team.is_none(),
            ..EngineOptions::new()
        },
        purpose,
        author: autokit_app::person(),
    })
}

async fn with_library(node: &Node, out: &Output, command: Command) -> Result<Outcome> {
    let status = autokit_terminal::ready(node, out, &command).await?;
    match command {
        Command::Serve => serve::run(node, out, &status).await,
        command => autokit_terminal::run(node, out, command).await,
    }
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
