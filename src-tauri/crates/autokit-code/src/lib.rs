//! Code as symbols: the functions, methods and types of a repository, each with its signature, its comment and
//! what it calls (AutoAgent §3, memory of code).
//!
//! ```
//! use autokit_code::{Language, SymbolKind, symbols};
//!
//! let found = symbols(Language::Rust, "/// Adds two numbers.\npub fn add(a: u8, b: u8) -> u8 { a + b }");
//! assert_eq!(found[0].kind, SymbolKind::Function);
//! assert_eq!(found[0].signature, "pub fn add(a: u8, b: u8) -> u8");
//! assert_eq!(found[0].documentation, "Adds two numbers.");
//! ```
//!
//! | module | contents |
//! |---|---|
//! | `language` | languages by file name, and the nodes of their syntax trees that matter |
//! | `symbols` | from a syntax tree to symbols |
//! | `comment` | the words of a comment without its marks |
//! | `package` | what a repository offers: packages, commands, imports of public functions |
//! | `repository` | the files of a repository, and which symbols call which |

mod comment;
mod language;
mod package;
mod repository;
mod symbols;

pub use language::Language;
pub use package::{Import, Package, import_of, is_offered, package_of};
pub use repository::{Callers, CodeFile, MAX_FILE_BYTES, RepositoryError, Skipped, read_file, source_files};
pub use symbols::{Symbol, SymbolKind, symbols};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
