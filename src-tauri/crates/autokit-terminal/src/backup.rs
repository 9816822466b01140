//! `autokit backup`: what an open library does. The rest works also if the library cannot be opened.

use autokit_api::commands::CreateBackup;
use autokit_api::{Backup, Client, Nothing};
use clap::Subcommand;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, format_time, printable};

#[allow(missing_docs, reason = "a doc comment would replace the help of the command")]
#[derive(Debug, Subcommand)]
pub enum BackupCommand {
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

pub(crate) async fn create(library: &dyn Client, out: &Output) -> Result<Outcome> {
    let backup = library.call::<CreateBackup>(Nothing {}).await?;
    out.show(&backup, |text| writeln!(text, "Created backup {}", format_backup(&backup)))?;
    Ok(Outcome::Done)
}

/// Formats a backup as a line.
pub fn format_backup(backup: &Backup) -> String {
    let size = autokit_text::format_bytes(backup.bytes);
    format!(
        "{}  {}  {}  {size}",
        printable(&backup.name),
        format_time(backup.created_at),
        count(backup.cards, "card")
    )
}
