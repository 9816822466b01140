//! Toolcards on their way between libraries: bundles, other formats, three-way merge.
//!
//! A **bundle** holds cards with where they come from, and if wanted their history and their vectors.
//! It has two forms that hold the same thing:
//!
//! * one file, `name.toolcards`: a ZIP with `bundle.json`, `cards.jsonl`, and where there are any
//!   `history.jsonl`, `vectors.jsonl` and `signature.json`. The same content makes the same bytes.
//! * a folder for version control: `bundle.json`, one file a card in `cards/`, its earlier revisions in
//!   `history/`.
//!
//! `bundle.schema.json` beside this file describes every line of them. What is read was made by
//! somebody else: sizes are bounded before anything is unpacked, names of files are never used as
//! paths, a card that is wrong is refused alone, a file that is wrong is refused whole.
//!
//! [`merge`] brings two people's changes of a card together, starting from the last state both had.

mod bundle;
pub mod content;
mod error;
mod file;
mod folder;
pub mod formats;
pub mod limits;
mod lines;
pub mod merge;
pub mod plan;
mod secrets;
mod sign;
mod words;

pub use bundle::Bundle;
pub use content::{About, Contents, Entry, FORMAT, Manifest, Past, Provenance, Step, VERSION, VectorModel};
pub use error::{Error, Result, Secret};
pub use file::{digest_of, read_file, write_file};
pub use folder::{read_folder, write_folder};
pub use secrets::{is_secret, may_be_secret, secrets_in, secrets_in_about, secrets_of};
pub use sign::{PublicKey, Signature, SigningKey};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// The schema of everything in a bundle, as it is published.
pub const SCHEMA: &str = include_str!("bundle.schema.json");
