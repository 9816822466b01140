//! AutoKit's application layer: the engine that executes the commands of [`autokit_api`] for every host,
//! and the rules by which processes share one library.
//!
//! | module | contents |
//! |---|---|
//! | [`engine`] | the execution of commands, in the process that owns the store |
//! | [`node`] | processes as owner or client, and hand-over between them |
//! | [`host`] | the loopback HTTP host |
//! | [`mcp`] | MCP over standard input and output |
//! | [`stdio`] | the commands over standard input and output, for the window |
//! | [`backups`] | backups of a library that is not open |

pub mod backups;
pub mod engine;
pub mod host;
pub mod mcp;
pub mod node;
mod others;
mod program_file;
mod remote;
pub mod restore;
pub mod stdio;

pub use autokit_api::paths;
pub use autokit_error::{ApiError, ErrorCode, Result};
pub use autokit_features::starter;
pub use autokit_fuel as fuel;
pub use autokit_policy::{Need, Permission, Permissions, Policy, Rule};
pub use autokit_search::{Mode, ScoreParts, Thresholds};
pub use autokit_toolcard::{CardState, ProposalState, Risk};
pub use autokit_workspace::secrets;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// Version of AutoKit.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Returns the name of the person at this machine, as the author of changes.
pub fn person() -> String {
    ["AUTOKIT_AUTHOR", "USER", "USERNAME", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
        .unwrap_or_else(|| "someone".to_owned())
}

/// Returns the default model of a new library.
pub fn default_model() -> &'static str {
    &autokit_embed::Manifest::built_in().default
}

/// Reads a document and ends, if this program was started for that by `autokit_documents::Reader`.
pub fn read_document_if_asked() -> Option<std::process::ExitCode> {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    let (first, limits) = arguments.split_first()?;
    (first == "read-document").then(|| autokit_documents::worker::run(limits))
}
