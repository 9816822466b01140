//! An embedded SurrealDB in a data directory.
//!
//! * [`DataDir`] describes the layout of the directory and decides which process owns it.
//! * [`Database`] serializes writes, refuses those for which there is no disk space, and recovers from those that fail.

pub mod crash;
mod data_dir;
mod database;
mod error;
mod files;
mod size;
mod space;

pub use data_dir::{DataDir, Ownership};
pub use database::{Database, Instance, ReadOnlyReason, connect};
pub use error::{Result, StoreError};
pub use files::copy_tree;
pub use size::{bytes_of, id_bytes, parts};

// Unifies the features of dependencies across the workspace; it exports nothing.
use workspace_hack as _;
