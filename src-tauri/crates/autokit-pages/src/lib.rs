//! Finding and reading pages that may document a tool: for discovery, when the library does not answer a
//! request, and for repair, when a card's page is gone.
//!
//! | module | contents |
//! |---|---|
//! | [`PageReader`] | fetches, parses and embeds pages |
//! | [`PageCache`] | a cache of parsed pages, shared by everything that reads pages |
//! | [`FusedHits`] | what search services found for several queries, as one list |
//! | [`PageFeatures`] | features of a page; one set of weights for requests, one for cards |
//! | [`WebTools`] | searching and reading as tools of a language model |

mod error;
mod features;
mod found;
mod reader;
mod reading;
mod subject;
mod tools;
mod words;

pub use error::{Error, Result, run_blocking};
pub use features::{PageFeature, PageFeatures, ParsedRequest, likeness};
pub use found::{FusedHits, without_fragment};
pub use reader::{Page, PageReader, Visit};
pub use reading::{PageCache, PagePart, ParsedPage};
pub use subject::Subject;
pub use tools::{HITS, Opened, WebTools, text_tool};
pub use words::{agreement, content_words, distinctive_words};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
