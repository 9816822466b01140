//! Options every command takes.

use std::path::PathBuf;

use clap::Args;

/// Options every command takes.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    pub json: bool,
    /// Library folder (a new folder starts empty).
    #[arg(long, global = true, value_name = "DIR")]
    pub data_dir: Option<PathBuf>,
    /// Use the library of this team; see `autokit team list`.
    #[arg(long, global = true, value_name = "ID", env = "AUTOKIT_TEAM")]
    pub team: Option<String>,
    /// Load the starter cards into a new library; the default without --data-dir.
    #[arg(long, global = true)]
    pub starter: bool,
    /// Load the default model from this folder.
    #[arg(long, global = true, value_name = "DIR", env = "AUTOKIT_MODEL_FOLDER")]
    pub model_folder: Option<PathBuf>,
    /// Keyword search only, without an embedding model.
    #[arg(long, global = true)]
    pub no_model: bool,
    /// Use the deterministic test embedder with vectors of this length.
    #[arg(long, global = true, hide = true, value_name = "N")]
    pub stand_in: Option<usize>,
}
