//! `autokit personalization`: what search learned from use.

use std::io;
use std::path::PathBuf;

use autokit_api::commands::{
    ExportPersonalization, GetPersonalization, LearnPersonalization, ResetPersonalization, SetPersonalization,
};
use autokit_api::{
    Client, LearningState, Nothing, PersonalProfile, Personalization, PersonalizationProfiles,
    PersonalizationSet,
};
use autokit_error::{ApiError, ErrorCode};
use clap::Subcommand;
use owo_colors::OwoColorize as _;

use crate::jobs;
use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, printable};

#[derive(Debug, Subcommand)]
pub enum PersonalizationCommand {
    /// Show what was learned, by profile.
    Show,
    /// Personalize search results.
    On,
    /// Stop adapting searches; what was learned is kept.
    Off,
    /// Learn now, instead of waiting for the background run.
    Learn,
    /// Forget what was learned, for all profiles unless one is named; past use is not learned from again.
    Reset {
        /// Only this profile, as shown.
        #[arg(long)]
        profile: Option<String>,
    },
    /// Write what was learned to a file, as JSON.
    Export {
        /// The file; standard output if not given.
        file: Option<PathBuf>,
        /// Only this profile, as shown.
        #[arg(long)]
        profile: Option<String>,
    },
}

pub(crate) async fn run(
    library: &dyn Client,
    out: &Output,
    command: PersonalizationCommand,
) -> Result<Outcome> {
    let current = match command {
        PersonalizationCommand::Show => library.call::<GetPersonalization>(Nothing {}).await?,
        PersonalizationCommand::On => {
            library.call::<SetPersonalization>(PersonalizationSet { enabled: true }).await?
        }
        PersonalizationCommand::Off => {
            library.call::<SetPersonalization>(PersonalizationSet { enabled: false }).await?
        }
        PersonalizationCommand::Learn => {
            let started = library.call::<LearnPersonalization>(Nothing {}).await?;
            jobs::watch(library, out, &started.job).await?;
            library.call::<GetPersonalization>(Nothing {}).await?
        }
        PersonalizationCommand::Reset { profile } => {
            library.call::<ResetPersonalization>(PersonalizationProfiles { profile }).await?
        }
        PersonalizationCommand::Export { file, profile } => {
            let export = library.call::<ExportPersonalization>(PersonalizationProfiles { profile }).await?;
            let Some(file) = file else {
                Output::raw(export.text.as_bytes())?;
                return Ok(Outcome::Done);
            };
            std::fs::write(&file, &export.text).map_err(|error| {
                ApiError::new(
                    ErrorCode::BadRequest,
                    format!("{} cannot be written: {error}", file.display()),
                    "Pass a file in an existing folder.",
                )
            })?;
            let written = serde_json::json!({ "path": file });
            out.show(&written, |text| writeln!(text, "{} {}", "Saved".green(), file.display()))?;
            return Ok(Outcome::Done);
        }
    };
    out.show(&current, |text| write(text, &current))?;
    Ok(Outcome::Done)
}

fn write(text: &mut dyn io::Write, current: &Personalization) -> io::Result<()> {
    if current.enabled {
        writeln!(text, "Personalization is on.")?;
    } else {
        writeln!(text, "Personalization is off. Switch it on with `autokit personalization on`.")?;
    }
    if current.profiles.is_empty() {
        return writeln!(
            text,
            "There is nothing to learn from yet: rate answers with `autokit feedback`, or let agents find and call \
             tools."
        );
    }
    for profile in &current.profiles {
        write_profile(text, profile, current.needed)?;
    }
    Ok(())
}

fn write_profile(text: &mut dyn io::Write, profile: &PersonalProfile, needed: u32) -> io::Result<()> {
    writeln!(text, "\n{}", printable(&profile.profile).bold())?;
    let state = match profile.state {
        LearningState::Collecting => {
            format!("{} of {needed} different questions collected", profile.questions)
        }
        LearningState::Waiting => "ready; run `autokit personalization learn` to learn now".to_owned(),
        LearningState::NotBetter => "not in use: no improvement on past questions".to_owned(),
        LearningState::InUse => "in use".green().to_string(),
    };
    writeln!(text, "  {state}")?;
    let from = format!(
        "{}, {}, {}",
        count(profile.ratings, "rating"),
        count(profile.calls, "call"),
        count(profile.edits, "edit")
    );
    writeln!(text, "  {}", format!("from {from}").dimmed())?;
    if let Some(comparison) = &profile.comparison {
        writeln!(
            text,
            "  {}",
            format!(
                "right tool's mean reciprocal rank over {}: {:.3} without, {:.3} with (difference {:+.3} to {:+.3}); \
                 {} better, {} worse",
                count(comparison.questions, "question"),
                comparison.before,
                comparison.after,
                comparison.lower,
                comparison.upper,
                comparison.better,
                comparison.worse
            )
            .dimmed()
        )?;
    }
    Ok(())
}
