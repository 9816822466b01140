//! Sentence embeddings on the CPU.
//!
//! - [`Manifest`]: the models on offer (`models/manifest.toml`).
//! - [`ModelStore`]: finds a model's files on this machine or fetches them, verified by sha256.
//! - [`Embedder`]: tokenizer and encoder of one model; texts in, vectors out.
//! - [`Encoder`]: the network itself. [`encoder::BertEncoder`] is this crate's own, for BERT-shaped models;
//!   other networks are provided from outside, see [`Backend`].
//!
//! ```
//! let embedder = autokit_embed::Embedder::stand_in(32); // a test double, no model file
//! let question = embedder.embed_query("send a message to a channel")?;
//! let passages = embedder.embed_passages(&["Post a message", "Resize an image"])?;
//! assert_eq!((question.len(), passages.len()), (32, 2));
//! # Ok::<(), autokit_embed::Error>(())
//! ```

mod delta;
mod embedder;
pub mod encoder;
mod error;
mod kernel;
mod manifest;
mod pooling;
mod precision;
mod progress;
mod source;
mod stand_in;
mod store;
mod token_vectors;
mod tokenize;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

pub use delta::Delta;
pub use embedder::{Backend, Embedder, EmbedderOptions, OnProgress};
pub use encoder::Encoder;
pub use error::{Attempt, Error, Result};
pub use manifest::{
    Architecture, CONFIG_FILE, Manifest, ModelFile, ModelSpec, TOKENIZER_FILE, WEIGHTS_FILE, Wheel,
};
pub use pooling::{Pooling, normalise};
pub use progress::{OnPull, PullProgress};
pub use store::{ModelFiles, ModelInfo, ModelStore, Network};
pub use token_vectors::TokenVectors;
