//! Documents and code that people add, searched and cited (AutoAgent §3, memory of documents and of code).
//!
//! A *source* is a file, a folder, a repository or an address. Its files are read into pieces of documents or symbols of
//! code, stored with a hash of the bytes they were read from, and searched in memory by words and by meaning. Words can be
//! searched as soon as a file is read; vectors follow.
//!
//! | module | contents |
//! |---|---|
//! | `documents`, `code` | what is searched of a piece and of a symbol |
//! | `content` | what a file was read into |
//! | `files` | the files of a source, and reading one |
//! | `rows` | tables |
//! | `index` | what is in memory of one kind of source |
//! | [`Memory`] | sources, reading them, and searching |
//! | `watch` | reading again what changes |
//! | `follower` | who is told what has been read, and stops it |

mod code;
mod content;
mod documents;
mod files;
mod follower;
mod index;
mod memory;
mod rows;
mod search;
mod watch;

pub use code::{SymbolText, cite_symbol};
pub use documents::{PieceText, WINDOW_WORDS, cite_piece};
pub use memory::Memory;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
