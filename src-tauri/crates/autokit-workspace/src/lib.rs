//! What every feature works on: an open library with its clock, jobs, news and settings; the embedding model and its
//! index; services and their keys.
//!
//! | module | what it holds |
//! |---|---|
//! | [`workspace`] | the library, its clock, its news, its settings |
//! | [`jobs`] | work in the background |
//! | [`models`], [`indexing`], [`page_vectors`] | the embedding model, and the index that follows the library |
//! | [`search`] | questions to the one search |
//! | [`cards`] | cards as people see them |
//! | [`providers`] | web search, language model, and what they cost |
//! | [`secrets`] | keys of services, and where they are kept |
//! | [`options`], [`paths`] | what an engine is started with, where things live |

pub mod background;
pub mod cards;
pub mod elapsed;
pub mod indexing;
pub mod jobs;
pub mod models;
pub mod options;
pub mod page_vectors;
pub mod paths;
pub mod providers;
pub mod search;
pub mod secrets;
mod token;
pub mod workspace;

pub use token::token;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
