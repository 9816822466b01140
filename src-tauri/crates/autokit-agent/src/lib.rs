//! The agent: what it does with a question that the library answers, and with one it does not.
//!
//! | module | what it holds |
//! |---|---|
//! | [`ask`] | from a question to one recommended tool; [`ask::graph`] says in which steps |
//! | [`ask::ground`] | what of a model's words is supported by what was read |
//! | [`describe`] | a card from words a person gives |
//! | [`discover`] | finding tools on the web, with evidence |
//! | [`prompts`] | what language models are told |

pub mod ask;
mod describe;
pub mod discover;
mod error;
mod outlier;

pub use describe::{describe, describe_with};
pub use error::{Error, Result};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
