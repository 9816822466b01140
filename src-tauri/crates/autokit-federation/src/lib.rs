//! Several libraries searched at once: the open one, the others on this machine (the person's own, their teams'), published
//! bundles and registries of MCP servers.
//!
//! | module | contents |
//! |---|---|
//! | [`federation`] | the commands, and which libraries take part |
//! | `answers` | what a library answers, as hits |
//! | `gather` | asking all at once, with a time limit for all but the open one |
//!
//! The libraries on this machine rank with their own engines, so that each shows what its reader may see and nothing else.
//! Their scores are on one scale and are merged as they are ([`autokit_search::merge`]). What a bundle or registry offers is
//! compared by meaning alone.

mod answers;
pub mod federation;
mod gather;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
