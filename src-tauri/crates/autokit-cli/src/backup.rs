//! `autokit backup list`, `verify` and `restore`, which work also if the library cannot be opened.

use std::path::Path;

use autokit_app::node::{Node, NodeOptions};
use autokit_app::{ApiError, ErrorCode, backups, restore};
use autokit_terminal::backup::format_backup;
use autokit_terminal::output::{Output, count, printable};
use autokit_terminal::{BackupCommand, Outcome, Result};

/// Runs a command that needs no open library; `None` if it needs one.
pub(crate) async fn without_library(
    options: NodeOptions,
    data_dir: &Path,
    out: &Output,
    command: &BackupCommand,
) -> Option<Result<Outcome>> {
    match command {
        BackupCommand::Create => None,
        BackupCommand::List => Some(list(data_dir, out)),
        BackupCommand::Verify { name } => Some(verify(data_dir, out, name.as_deref()).await),
        BackupCommand::Restore { name } => Some(run_restore(options, data_dir, out, name).await),
    }
}

fn list(data_dir: &Path, out: &Output) -> Result<Outcome> {
    let backups = backups::list(data_dir);
    out.show(&backups, |text| {
        if backups.is_empty() {
            return writeln!(text, "No backups yet. Create one with `autokit backup create`.");
        }
        for backup in &backups {
            writeln!(text, "{}", format_backup(backup))?;
        }
        Ok(())
    })?;
    Ok(if backups.is_empty() { Outcome::NothingFound } else { Outcome::Done })
}

async fn verify(data_dir: &Path, out: &Output, name: Option<&str>) -> Result<Outcome> {
    let newest = || backups::list(data_dir).into_iter().next().map(|backup| backup.name);
    let Some(name) = name.map(str::to_owned).or_else(newest) else { return list(data_dir, out) };
    let verification = backups::verify(data_dir, &name).await?;
    out.show(&verification, |text| {
        if verification.is_ok() {
            return writeln!(
                text,
                "{}: {}, {}, nothing missing or altered",
                printable(&name),
                count(verification.cards, "card"),
                count(verification.commits, "change")
            );
        }
        writeln!(text, "{}: {}", printable(&name), count(verification.problem_count, "problem"))?;
        for problem in &verification.problems {
            writeln!(text, "  {}", printable(&problem.to_string()))?;
        }
        Ok(())
    })?;
    Ok(if verification.is_ok() { Outcome::Done } else { Outcome::Unhealthy })
}

async fn run_restore(options: NodeOptions, data_dir: &Path, out: &Output, name: &str) -> Result<Outcome> {
    let restored = match restore::restore(data_dir, name).await {
        Err(ApiError { code: ErrorCode::Conflict, .. }) => {
            let node = Node::open(options).await?;
            let restored = restore::restore_open(&node, data_dir, name).await;
            node.close().await?;
            restored?
        }
        restored => restored?,
    };
    out.show(&restored, |text| {
        writeln!(text, "Restored backup {}", format_backup(&restored.backup))?;
        writeln!(text, "The previous library is in {}", printable(&restored.replaced.display().to_string()))
    })?;
    Ok(Outcome::Done)
}
