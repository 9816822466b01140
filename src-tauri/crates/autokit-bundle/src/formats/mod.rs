//! Import and export of other formats: spreadsheets, MCP client settings, the MCP registry, and catalogues
//! for readers without AutoKit.
//!
//! Every reader returns [`ReadCards`](autokit_toolcard::ReadCards): valid cards with their position, and
//! rejected ones with what is wrong, decided by the same rules as for an AutoKit file. Every writer gives the
//! same bytes for the same cards. Input is untrusted: secrets in it are not kept, and nothing in the output
//! is executed by the program that opens it.

mod catalogue;
mod csv;
mod detect;
mod error;
mod html;
mod json;
mod markdown;
mod mcp;
mod redact;
mod registry;
mod run;

pub use self::csv::{read_csv, write_csv};
pub use self::detect::{Format, detect};
pub use self::error::FormatError;
pub use self::html::write_html;
pub use self::markdown::write_markdown;
pub use self::mcp::read_mcp_servers;
pub use self::registry::{LaunchInput, LaunchOption, Transport, launch_options, read_server_json};
