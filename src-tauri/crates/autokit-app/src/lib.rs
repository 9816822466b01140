//! AutoKit put together: the engine that carries out the commands of [`autokit_api`] for every host,
//! background jobs, and the rules by which processes share one library.
//!
//! | module | what it holds |
//! |---|---|
//! | [`engine`] | how they are carried out, by the process that owns the store |
//! | [`node`] | owner or client, hand-over |
//! | [`host`] | the loopback HTTP host |
//! | [`mcp`] | an agent at standard input and output |
//! | [`backups`] | backups of a library that is not open |

pub mod backups;
pub mod engine;
pub mod host;
pub mod mcp;
pub mod node;
mod remote;

pub use autokit_error::{ApiError, ErrorCode, Result, file_problem};
pub use autokit_features::starter;
pub use autokit_fuel as fuel;
pub use autokit_policy::{BUILT_IN, Need, Permission, Permissions, Policy, Rule, Rules};
pub use autokit_search::eval::{AskReport, RetrievalReport};
pub use autokit_search::{Depth, Field, Mode, ScoreParts, Thresholds};
pub use autokit_toolcard::{
    CardState, ChangeKind, FieldDiff, FieldVerdict, Kind, MarkSort, Origin, ProposalState, Risk, SpanOp,
    TextMark, is_web_address, visible,
};
pub use autokit_workspace::{paths, secrets};
pub use engine::bytes;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// Version of AutoKit.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The name of the person at this machine, for signing changes.
pub fn person() -> String {
    ["AUTOKIT_AUTHOR", "USER", "USERNAME", "LOGNAME"]
        .iter()
        .find_map(|name| std::env::var(name).ok().filter(|value| !value.trim().is_empty()))
        .unwrap_or_else(|| "someone".to_owned())
}

/// The model a new library uses.
pub fn default_model() -> &'static str {
    &autokit_embed::Manifest::built_in().default
}
