//! The agent: answers a question from the library, or finds a tool elsewhere.
//!
//! | module | contents |
//! |---|---|
//! | [`ask`] | from a question to one recommended tool; [`ask::graph`] defines the steps |
//! | [`ask::ground`] | which parts of a model's text are supported by what was read |
//! | [`describe`] | a card from a person's text |
//! | [`rerank`] | the order in which a language model puts candidates |
//! | [`discover`] | finding tools on the web, with evidence |
//! | [`research`] | a question researched over several sources, with a summary of quotes |
//! | [`autokit_llm::prompts`] | prompts for language models |

pub mod ask;
mod describe;
pub mod discover;
mod error;
mod outlier;
pub mod rerank;
pub mod research;

pub use describe::{describe, describe_with};
pub use error::{Error, Result};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
