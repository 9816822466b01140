//! Polite web access for everything in AutoKit that needs it.
//!
//! * [`Fetcher`]: the product's only HTTP client for the web. It refuses private addresses after name
//!   resolution and on every redirect, respects robots.txt, makes at most two concurrent requests per host,
//!   and limits size and total time.
//! * [`extract`]: the main text of a page as blocks, with code kept as code; [`chunks`] splits it along its
//!   structure.
//! * [`search`]: Tavily, Brave, SearXNG, DuckDuckGo and GitHub with one result type.

mod address;
mod body;
mod cache;
mod chunk;
mod error;
mod extract;
mod fetch;
mod guard;
mod hop;
mod hosts;
mod policy;
mod robots;
pub mod search;
mod validators;

pub use address::is_confidential;
pub use body::{decode, not_text};
pub use chunk::{Chunk, ChunkOptions, chunks};
pub use error::{Code, Error, Result};
pub use extract::{Block, Document, Link, extract, looks_like_html};
pub use fetch::download::Download;
pub use fetch::send::{ApiAnswer, ApiRequest};
pub use fetch::{Fetched, Fetcher, Limits};
pub use hop::Hop;
pub use policy::NetworkPolicy;
pub use validators::Validators;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
