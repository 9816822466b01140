//! What an engine is started with.

use std::path::PathBuf;
use std::time::Duration;

use autokit_library::Clock;
use autokit_mcp_client::Limits;

use crate::secrets::KeyStorage;

/// How long an agent that searches waits for the sources of tools: the rest of a search takes a tenth of it.
pub const MARKET_DEADLINE: Duration = Duration::from_millis(1_500);

/// Where vectors come from.
#[derive(Clone, Debug, Default)]
pub enum Vectors {
    /// The model the library names, from the store of models.
    #[default]
    Model,
    /// A model in a folder, whatever the library names.
    Folder {
        /// Name in the manifest.
        model: String,
        /// The folder.
        folder: PathBuf,
    },
    /// The deterministic stand-in of tests, with vectors of this length.
    StandIn(usize),
    /// None: keywords only.
    Off,
}

/// What an engine needs to start.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Folder of downloaded models.
    pub models_dir: PathBuf,
    /// Where vectors come from.
    pub vectors: Vectors,
    /// Load the starter cards into a library that is new.
    pub starter: bool,
    /// Where the time comes from.
    pub clock: Clock,
    /// Where keys are kept; the library's own choice when not given.
    pub keep: Option<KeyStorage>,
    /// The person's configuration: the file of keys, if they are kept in one.
    pub config_dir: PathBuf,
    /// What MCP servers may take, in time and in size.
    pub servers: Limits,
    /// How long an agent that searches waits for the sources of tools.
    pub market: Duration,
}

impl EngineOptions {
    /// The person's models, the library's own choice of one, the system's clock, no starter cards.
    pub fn new() -> EngineOptions {
        EngineOptions {
            models_dir: crate::paths::models_dir(),
            vectors: Vectors::default(),
            starter: false,
            clock: Clock::system(),
            keep: None,
            config_dir: crate::paths::config_dir(),
            servers: Limits::default(),
            market: MARKET_DEADLINE,
        }
    }
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions::new()
    }
}
