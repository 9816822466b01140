//! Serves agents over MCP: one meta-tool, `search_tools`, in front of any number of tools.
//!
//! An agent begins with a handful of tools. What it needs beyond, it searches for; what is found is bound
//! to its session and can be called, until it was idle for too long, others need the room, or it was
//! called in a loop (Kaman, "Semantic Tool Discovery and Context-Aware Binding", 2026).
//!
//! Two generations of the protocol are spoken. Up to 2025-11-25 a connection is a session: the list of
//! tools changes with what was found, and the client is told. From 2026-07-28 every request stands
//! alone and the list is the same for everybody: a search gives a handle, with which `call_tool` calls
//! what it found.
//!
//! | module | what it holds |
//! |---|---|
//! | [`toolbox`] | what the gateway needs from whoever knows the tools |
//! | [`gateway`] | searches, calls and lists, whatever the connection |
//! | [`server`] | the MCP server: both generations of the protocol |
//! | [`context`] | the tools of a session: binding, time to live, least recently used, budget |
//! | [`guard`], [`arguments`] | loops, and when two calls are the same |
//! | [`searches`] | searches that find the same again |
//! | [`reply`], [`tokens`] | answers within a budget |
//! | [`session`] | sessions, bounded in number and age |
//! | [`clients`] | AutoKit in the settings of the programs agents run in |
//! | [`configured`] | the MCP servers in the settings of such a program |
//! | [`settings`] | every parameter, with why it is what it is |

pub mod arguments;
pub mod clients;
pub mod configured;
pub mod context;
mod following;
pub mod gateway;
pub mod guard;
mod names;
mod refresh;
pub mod reply;
mod schema;
pub mod searches;
pub mod server;
pub mod session;
pub mod settings;
pub mod tokens;
pub mod toolbox;

pub use context::{Definition, Gone};
pub use gateway::{Answered, Gateway, Now, Wish};
pub use names::{CALL_TOOL, OWN_TOOLS, SEARCH_TOOLS};
pub use server::Server;
pub use session::SessionRecord;
pub use settings::{GuardSettings, Settings};
pub use toolbox::{
    Audit, Call, CallOutcome, DecidedBy, Event, Found, Hit, Progress, Refusal, Search, Target, Tier, Toolbox,
    What,
};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
