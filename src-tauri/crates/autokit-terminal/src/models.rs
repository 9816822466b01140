//! `autokit models`.

use std::path::PathBuf;

use autokit_api::Client;
use autokit_api::commands::{ListModels, PullModel, UseModel};
use autokit_api::{JobId, ModelChoice, Nothing};
use clap::Subcommand;
use owo_colors::OwoColorize;

use crate::jobs;
use crate::outcome::{Outcome, Result};
use crate::output::Output;

#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// List available models.
    List,
    /// Download a model.
    Pull {
        /// Model name; defaults to the default model.
        name: Option<String>,
    },
    /// Switch this library to a model.
    Use {
        /// Name.
        name: String,
        /// Folder with the model's files, instead of downloading them.
        #[arg(long)]
        folder: Option<PathBuf>,
    },
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: ModelsCommand) -> Result<Outcome> {
    match command {
        ModelsCommand::List => {
            let models = library.call::<ListModels>(Nothing {}).await?;
            out.show(&models, |text| {
                for entry in &models.models {
                    let model = &entry.model;
                    let state = match (entry.current, model.installed, model.folder_only) {
                        (true, true, _) => "in use".green().to_string(),
                        (true, false, _) => "selected, not downloaded".yellow().to_string(),
                        (false, true, _) => "downloaded".to_owned(),
                        (false, false, true) => "from a local folder only".dimmed().to_string(),
                        (false, false, false) => "not downloaded".dimmed().to_string(),
                    };
                    writeln!(text, "{}  {state}", model.name.bold())?;
                    // Models without checksums have no size either.
                    let size = match model.size_bytes {
                        0 => String::new(),
                        bytes => format!(" · {:.0} MB", bytes as f64 / 1e6),
                    };
                    writeln!(text, "  {} · {} dimensions{size} · {}", model.title, model.dim, model.licence)?;
                }
                writeln!(text, "{}", format!("Stored in {}", models.store).dimmed())
            })?;
        }
        ModelsCommand::Pull { name } => {
            let name = name.unwrap_or_else(|| autokit_embed::Manifest::built_in().default.clone());
            let started = library.call::<PullModel>(ModelChoice { name, folder: None }).await?;
            finish(library, out, &started.job).await?;
        }
        ModelsCommand::Use { name, folder } => {
            let folder =
                folder.map(|folder| std::path::absolute(&folder).unwrap_or(folder).display().to_string());
            let started = library.call::<UseModel>(ModelChoice { name, folder }).await?;
            finish(library, out, &started.job).await?;
        }
    }
    Ok(Outcome::Done)
}

async fn finish(library: &dyn Client, out: &Output, job: &JobId) -> Result<()> {
    let job = jobs::watch(library, out, job).await?;
    out.show(&job, |text| writeln!(text, "{}", job.summary.as_deref().unwrap_or("Done")))
}
