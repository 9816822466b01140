//! Options an engine is started with.

use std::path::PathBuf;
use std::time::Duration;

use autokit_library::Clock;
use autokit_mcp_client::Limits;

use crate::secrets::KeyStorage;

/// How long an agent's search waits for marketplace sources; the rest of a search takes a tenth of it.
pub const MARKET_TIMEOUT: Duration = Duration::from_millis(1_500);

/// Where embeddings come from.
#[derive(Clone, Debug, Default)]
pub enum Vectors {
    /// The model chosen by the library, from the store of downloaded models.
    #[default]
    Model,
    /// A model in a folder, whatever the library chooses.
    Folder {
        /// Name in the manifest.
        model: String,
        /// The folder.
        folder: PathBuf,
    },
    /// The deterministic test model, with vectors of this length.
    StandIn(usize),
    /// No embeddings: keywords only.
    Off,
}

/// Options of an engine.
#[derive(Clone, Debug)]
pub struct EngineOptions {
    /// Folder of downloaded models.
    pub models_dir: PathBuf,
    /// Where embeddings come from.
    pub vectors: Vectors,
    /// Whether to load the starter cards into a new library.
    pub starter: bool,
    /// The source of the current time.
    pub clock: Clock,
    /// Where keys are stored; `None` for the library's own setting.
    pub key_storage: Option<KeyStorage>,
    /// The person's configuration folder, which holds the file of keys if they are stored in one.
    pub config_dir: PathBuf,
    /// Limits on the time and size of calls to MCP servers.
    pub server_limits: Limits,
    /// How long an agent's search waits for marketplace sources.
    pub market_timeout: Duration,
    /// A program that reads a document when it is started with `read-document`; by default this one.
    pub document_reader: PathBuf,
}

impl EngineOptions {
    /// The defaults: the person's folder of models, the model chosen by the library, the system clock, no
    /// starter cards.
    pub fn new() -> EngineOptions {
        EngineOptions {
            models_dir: autokit_api::paths::models_dir(),
            vectors: Vectors::default(),
            starter: false,
            clock: Clock::system(),
            key_storage: None,
            config_dir: autokit_api::paths::config_dir(),
            server_limits: Limits::default(),
            market_timeout: MARKET_TIMEOUT,
            document_reader: std::env::current_exe().unwrap_or_else(|_| PathBuf::from("autokit")),
        }
    }
}

impl Default for EngineOptions {
    fn default() -> EngineOptions {
        EngineOptions::new()
    }
}
