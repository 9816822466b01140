//! AutoKit put together: the engine that carries out the commands of [`autokit_api`] for every host,
//! background jobs, and the rules by which processes share one library.
//!
//! | module | what it holds |
//! |---|---|
//! | [`engine`] | how they are carried out, by the process that owns the store |
//! | [`node`] | owner or client, hand-over |
//! | [`host`] | the loopback HTTP host |
//! | [`jobs`] | work in the background |
//! | [`secrets`] | keys of services, and where they are kept |

pub mod backups;
pub mod engine;
pub mod host;
pub mod jobs;
mod listen;
pub mod mcp;
mod mcp_http_server;
pub mod node;
pub mod paths;
mod remote;
pub mod secrets;
pub mod starter;

pub use autokit_error::{ApiError, ErrorCode, Result, file_problem};
pub use autokit_fuel as fuel;
pub use autokit_policy::{BUILT_IN, Need, Permission, Permissions, Policy, Rule, Rules};
pub use autokit_search::eval::{AskReport, RetrievalReport};
pub use autokit_search::{Depth, Field, Mode, ScoreParts, Thresholds};
pub use autokit_toolcard::{
    CardState, ChangeKind, FieldDiff, FieldVerdict, Kind, MarkSort, Origin, ProposalState, Risk, SpanOp,
    TextMark, is_web_address, visible,
};
pub use engine::bytes;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// Version of AutoKit.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// `bytes` random bytes as hexadecimal text.
///
/// # Panics
/// When the system has no randomness to give, which leaves nothing safe to do.
pub fn token(bytes: usize) -> String {
    let mut buffer = vec![0u8; bytes];
    getrandom::fill(&mut buffer).expect("the system gives random bytes");
    hex::encode(buffer)
}

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
