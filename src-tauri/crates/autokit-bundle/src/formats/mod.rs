//! Cards from and for other programs: spreadsheets, MCP clients, the MCP registry, readers without
//! AutoKit.
//!
//! Every reader gives [`ReadCards`](autokit_toolcard::ReadCards): the good cards with their position
//! and the rejected ones with what is wrong, sorted out by the same rules as an AutoKit file. Every
//! writer gives the same bytes for the same cards. What comes in is somebody else's text: keys in
//! it are not kept, and what goes out cannot act in the program that opens it.

mod catalogue;
mod conceal;
mod csv;
mod detect;
mod error;
mod html;
mod json;
mod markdown;
mod mcp;
mod registry;
mod run;

pub use self::csv::{read_csv, write_csv};
pub use self::detect::{Format, detect};
pub use self::error::FormatError;
pub use self::html::write_html;
pub use self::markdown::write_markdown;
pub use self::mcp::read_mcp_servers;
pub use self::registry::{Start, StartInput, Transport, read_server_json, starts_of};
