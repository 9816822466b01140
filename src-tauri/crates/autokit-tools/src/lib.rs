//! Tools that can be called: where they come from, how they run, what they may do.
//!
//! | module | what it holds |
//! |---|---|
//! | [`audit`] | arguments as they may be written down |
//! | [`files`] | text below one folder, read by nobody who leaves it |
//! | [`market`] | MCP servers that are not here yet, as registries list them |
//! | [`openapi`] | OpenAPI documents as cards, and requests made from such a card |
//! | [`output`] | what a tool says, cut to a number of tokens, with what was cut |
//! | [`permissions`] | what tools may do when an agent calls them |
//! | [`rest`] | requests to web APIs: guarded, bounded, with access tokens fetched where one is needed |
//! | [`sandbox`] | Python, JavaScript or shell with no network, no files and hard limits, or not at all |
//! | [`upstream`] | MCP servers behind AutoKit: started when needed, shared, stopped when idle |

pub mod audit;
pub mod files;
pub mod market;
pub mod openapi;
pub mod output;
pub mod permissions;
pub mod rest;
pub mod sandbox;
pub mod upstream;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
