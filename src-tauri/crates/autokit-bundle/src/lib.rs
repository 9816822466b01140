//! Exchange of toolcards between libraries: bundles, other file formats and three-way merge.
//!
//! A **bundle** holds cards with their provenance and, optionally, their history and their vectors. It has
//! two equivalent forms:
//!
//! * one file, `name.toolcards`: a ZIP with `bundle.json`, `cards.jsonl` and, where present,
//!   `history.jsonl`, `vectors.jsonl` and `signature.json`. The same content gives the same bytes.
//! * a folder for version control: `bundle.json`, one file per card in `cards/`, its earlier revisions in
//!   `history/`.
//!
//! `bundle.schema.json` beside this file describes every line of them. Bundles are untrusted input: sizes are
//! limited before anything is unpacked, file names are never used as paths, an invalid card is rejected on
//! its own, and an invalid file is rejected as a whole.
//!
//! [`merge`] combines two people's changes to a card, starting from their last common state.

mod bundle;
pub mod compare;
pub mod content;
mod error;
mod file;
mod folder;
pub mod formats;
pub mod limits;
mod lines;
pub mod merge;
mod secrets;
mod sign;
mod words;

pub use bundle::Bundle;
pub use content::{
    BundleCard, BundleContents, BundleInfo, FORMAT, Manifest, PastRevision, Provenance, RevisionMeta,
    VERSION, VectorModel,
};
pub use error::{Error, Result, Secret};
pub use file::{digest_of, read_file, write_file};
pub use folder::{read_folder, write_folder};
pub use secrets::{is_secret, may_be_secret, secrets_in, secrets_in_bundle, secrets_of};
pub use sign::{PublicKey, Signature, SigningKey};

// Pins one feature set for the whole workspace; nothing is imported from it.
use workspace_hack as _;

/// The published JSON schema of everything in a bundle.
pub const SCHEMA: &str = include_str!("bundle.schema.json");
