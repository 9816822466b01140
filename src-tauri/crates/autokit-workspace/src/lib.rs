//! What every feature works on: an open library with its clock, jobs, events and settings; the embedding
//! model and its index; providers and their keys.
//!
//! | module | contents |
//! |---|---|
//! | [`workspace`] | the library with its clock, events and settings |
//! | [`jobs`] | background jobs |
//! | [`models`], [`indexing`], [`page_vectors`] | the embedding model, and the search index |
//! | [`search`] | search of the cards |
//! | [`cards`], [`collections`] | cards as shown to people, and named sets of them |
//! | [`providers`] | web search, language models, and what they cost |
//! | [`secrets`] | keys of providers, and where they are stored |
//! | [`options`] | what an engine is started with |

pub mod background;
pub mod cards;
pub mod collections;
pub mod elapsed;
pub mod indexing;
pub mod jobs;
pub mod models;
pub mod options;
pub mod page_vectors;
pub mod personal;
pub mod providers;
pub mod search;
pub mod secrets;
mod shared_vectors;
mod token;
pub mod workspace;

pub use shared_vectors::are_units;
pub use token::token;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
