//! Command-line options.

use std::path::PathBuf;

use autokit_app::engine::{EngineOptions, Vectors};
use autokit_app::node::NodeOptions;
use autokit_app::paths;

/// The AutoKit window.
#[derive(Clone, Debug, clap::Parser)]
#[command(name = "autokit-desktop", version)]
pub(crate) struct Options {
    /// Keep the library in this folder (a new folder is an empty library).
    #[arg(long, value_name = "DIR")]
    data_dir: Option<PathBuf>,
    /// Load the starter cards if the library is new.
    #[arg(long, hide = true)]
    starter: bool,
    /// Use the default model from this folder instead of the store of models.
    #[arg(long, value_name = "DIR", env = "AUTOKIT_MODEL_FOLDER")]
    model_folder: Option<PathBuf>,
    /// Start in the tray, without showing the window.
    #[arg(long)]
    pub(crate) hidden: bool,
    /// Links or files that were opened: `autokit://import?url=…` and a bundle show what an import would do.
    #[arg(value_name = "LINK")]
    pub(crate) links: Vec<String>,
}

impl Options {
    /// Returns whether the default library is opened, which has only one window.
    pub(crate) fn is_own_library(&self) -> bool {
        self.data_dir.is_none()
    }

    /// Returns the options of this process's node.
    pub(crate) fn node(&self) -> NodeOptions {
        let vectors = match &self.model_folder {
            Some(folder) => {
                Vectors::Folder { model: autokit_app::default_model().to_owned(), folder: folder.clone() }
            }
            None => Vectors::Model,
        };
        NodeOptions {
            data_dir: self.data_dir.clone().unwrap_or_else(paths::data_dir),
            engine: EngineOptions {
                vectors,
                starter: self.starter || self.is_own_library(),
                ..EngineOptions::new()
            },
            // The window outlives commands that may own the library when it starts.
            standby: true,
            author: autokit_app::person(),
        }
    }
}
