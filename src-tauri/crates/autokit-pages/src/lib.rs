//! Finding and reading pages that may document a tool: for discovery, when the library does not answer a
//! need, and for repair, when a card's page is gone.
//!
//! | module | contents |
//! |---|---|
//! | [`PageReader`] | fetches, parses and embeds pages |
//! | [`PageCache`] | a cache of parsed pages, shared by everything that reads pages |
//! | [`FoundPages`] | what search services found for several queries, as one list |
//! | [`PageMarks`] | features of a page; one set of weights for needs, one for cards |
//! | [`WebTools`] | searching and reading as tools of a language model |

mod error;
mod found;
mod marks;
mod reader;
mod reading;
mod subject;
mod tools;
mod words;

pub use error::{Error, Result, run_blocking};
pub use found::{FoundPages, without_fragment};
pub use marks::{Need, PageMark, PageMarks, likeness};
pub use reader::{Page, PageReader, Visit};
pub use reading::{PageCache, ParsedPage, Part};
pub use subject::Subject;
pub use tools::{HITS, Opened, WebTools, text_tool};
pub use words::{agreement, content_words, telling};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
