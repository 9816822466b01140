//! Documents and code as passages to search (AutoAgent §3).
//!
//! What a passage is made of is said here and nowhere else: its words, and the texts of which its vectors are made.

mod code;
mod documents;

pub use code::{SymbolText, symbol_id};
pub use documents::{PieceText, WINDOW_WORDS, piece_id};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
