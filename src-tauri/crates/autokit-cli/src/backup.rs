//! `autokit backup`; works even if the library cannot be opened.

use std::path::Path;

use autokit_api::commands::CreateBackup;
use autokit_api::{Backup, Nothing};
use autokit_app::backups;
use autokit_app::node::Node;
use clap::Subcommand;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, format_time, printable};

#[derive(Debug, Subcommand)]
pub(crate) enum BackupCommand {
    /// Create a backup now. One is created daily when there are changes; seven are kept.
    Create,
    /// List the backups, newest first.
    List,
    /// Load a backup into memory and verify it against its change log.
    Verify {
        /// Backup name; defaults to the newest.
        name: Option<String>,
    },
    /// Restore a backup. The current library is kept next to the backups.
    Restore {
        /// Backup name.
        name: String,
    },
}

/// Runs a command that needs no open library; `None` if it needs one.
pub(crate) async fn without_library(
    data_dir: &Path,
    out: &Output,
    command: &BackupCommand,
) -> Option<Result<Outcome>> {
    match command {
        BackupCommand::Create => None,
        BackupCommand::List => Some(list(data_dir, out)),
        BackupCommand::Verify { name } => Some(verify(data_dir, out, name.as_deref()).await),
        BackupCommand::Restore { name } => Some(restore(data_dir, out, name).await),
    }
}

pub(crate) async fn create(node: &Node, out: &Output) -> Result<Outcome> {
    let backup = node.call::<CreateBackup>(Nothing {}).await?;
    out.show(&backup, |text| writeln!(text, "Created backup {}", format_backup(&backup)))?;
    Ok(Outcome::Done)
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

async fn restore(data_dir: &Path, out: &Output, name: &str) -> Result<Outcome> {
    let restored = backups::restore(data_dir, name).await?;
    out.show(&restored, |text| {
        writeln!(text, "Restored backup {}", format_backup(&backups::to_api(restored.backup.clone())))?;
        writeln!(text, "The previous library is in {}", printable(&restored.replaced.display().to_string()))
    })?;
    Ok(Outcome::Done)
}

fn format_backup(backup: &Backup) -> String {
    let size = autokit_app::format_bytes(backup.bytes);
    format!(
        "{}  {}  {}  {size}",
        printable(&backup.name),
        format_time(backup.created_at),
        count(backup.cards, "card")
    )
}
