//! What is behind the tools that can be called: MCP servers and web APIs.
//!
//! | module | contents |
//! |---|---|
//! | [`servers`] | the MCP servers of a library: which are configured, how each is reached |
//! | [`tools`] | tools of MCP servers as cards |
//! | `bindings` | which cards are bound to a tool of a server |
//! | [`api_keys`] | keys for web APIs whose operations are cards |
//!
//! Both the features that add tools and those that call them stand on it.

pub mod api_keys;
mod bindings;
pub mod servers;
pub mod tools;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
