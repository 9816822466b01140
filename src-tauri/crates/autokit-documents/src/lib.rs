//! Documents as text with structure: what a person keeps in Markdown, HTML, PDF, DOCX or plain text, read as
//! blocks and split into pieces that are searched and cited (AutoAgent §3, memory of documents).
//!
//! ```
//! use autokit_documents::{PieceOptions, pieces, read};
//!
//! let document = read("trip.md", b"# Trip\n\n## Hotel\n\nThe booking number is 4711.")?;
//! let pieces = pieces(&document, PieceOptions::default());
//! assert_eq!(pieces[0].path, ["Trip", "Hotel"]);
//! assert_eq!(pieces[0].text, "The booking number is 4711.");
//! # Ok::<(), autokit_documents::ReadError>(())
//! ```
//!
//! PDF is read by a process of its own with limits on memory and time ([`Reader`], [`worker`]): the format is
//! large, files come from anywhere, and one that cannot be read must not stop those that can.
//!
//! | module | contents |
//! |---|---|
//! | `format` | which format a file has |
//! | `markdown`, `html`, `docx`, `text`, `pdf` | one reader each |
//! | `pieces` | splitting a document along its structure |
//! | [`worker`] | reading in a process of its own |

mod document;
mod docx;
mod error;
mod format;
mod html;
mod markdown;
mod pdf;
mod pieces;
mod text;
pub mod worker;

pub use document::{Block, BlockKind, Document};
pub use error::ReadError;
pub use format::{Format, MAX_BYTES, has_known_ending};
pub use pieces::{Piece, PieceOptions, pieces};
pub use worker::Reader;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// Reads a document in this process. `name` is its file name or the last part of its address.
///
/// # Errors
/// Returns an error if the document cannot be read, or has no text.
pub fn read(name: &str, bytes: &[u8]) -> Result<Document, ReadError> {
    let format = Format::detect(name, bytes)?;
    let mut document = match format {
        Format::Markdown => markdown::read(&format::decode(bytes)),
        Format::Html => html::read(&format::decode(bytes)),
        Format::Text => text::read(&format::decode(bytes)),
        Format::Docx => docx::read(bytes)?,
        Format::Pdf => pdf::read(bytes)?,
    };
    if document.blocks.iter().all(|block| block.text.trim().is_empty()) {
        return Err(ReadError::NoText);
    }
    if document.title.is_empty() {
        name.clone_into(&mut document.title);
    }
    Ok(document)
}
