//! Options every command takes.

use std::path::PathBuf;

use autokit_app::engine::Vectors;
use autokit_app::paths;
use clap::Args;

/// Options every command takes.
#[derive(Debug, Args)]
pub(crate) struct Global {
    /// Print JSON instead of text.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Library folder (a new folder starts empty).
    #[arg(long, global = true, value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Load the starter cards into a new library; the default without --data-dir.
    #[arg(long, global = true)]
    pub(crate) starter: bool,
    /// Load the default model from this folder.
    #[arg(long, global = true, value_name = "DIR", env = "AUTOKIT_MODEL_FOLDER")]
    pub(crate) model_folder: Option<PathBuf>,
    /// Keyword search only, without an embedding model.
    #[arg(long, global = true)]
    pub(crate) no_model: bool,
    /// Use the deterministic test embedder with vectors of this length.
    #[arg(long, global = true, hide = true, value_name = "N")]
    pub(crate) stand_in: Option<usize>,
}

impl Global {
    /// Returns where vectors come from, as given by the options.
    pub(crate) fn vectors(&self) -> Vectors {
        if let Some(dim) = self.stand_in {
            Vectors::StandIn(dim)
        } else if self.no_model {
            Vectors::Off
        } else if let Some(folder) = &self.model_folder {
            Vectors::Folder { model: autokit_app::default_model().to_owned(), folder: folder.clone() }
        } else {
            Vectors::Model
        }
    }

    /// Returns the library folder.
    pub(crate) fn data_dir(&self) -> PathBuf {
        self.data_dir.clone().unwrap_or_else(paths::data_dir)
    }
}
