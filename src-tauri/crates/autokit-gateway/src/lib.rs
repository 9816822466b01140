//! Serves agents over MCP: one meta-tool, `search_tools`, in front of any number of tools.
//!
//! An agent starts with a handful of tools and searches for whatever else it needs. What it finds is bound
//! to its session and can be called, until it has been idle for too long, others need the room, or it was
//! called in a loop (Kaman, "Semantic Tool Discovery and Context-Aware Binding", 2026; see the section
//! *Systems* of `ARCHITECTURE.md`).
//!
//! Two generations of the protocol are supported. Up to 2025-11-25 a connection is a session: the list of
//! tools changes with what was found, and the client is notified. From 2026-07-28 every request stands
//! alone and the list is the same for everybody: a search returns a handle, with which `call_tool` calls
//! what it found.
//!
//! | module | contents |
//! |---|---|
//! | [`toolbox`] | what the gateway requires of the engine that finds and calls tools |
//! | [`gateway`] | searches, calls and lists, independent of the transport |
//! | [`server`] | the MCP server for both generations of the protocol |
//! | [`context`] | the tools of a session: binding, time to live, least recently used, budget |
//! | [`guard`], [`arguments`] | detection of loops, and normalization of arguments for it |
//! | [`searches`] | detection of repeated searches |
//! | [`reply`], [`tokens`] | responses within a token budget |
//! | [`preload`] | tools that past sessions make likely in a new one |
//! | [`session`] | sessions, limited in number and age |
//! | [`clients`] | AutoKit in the settings of agent programs |
//! | [`configured`] | the MCP servers in the settings of such a program |
//! | [`settings`] | every parameter, with the reason for its default |

pub mod arguments;
pub mod clients;
pub mod configured;
pub mod context;
pub mod gateway;
pub mod guard;
mod names;
pub mod preload;
mod refresh;
pub mod reply;
mod schema;
pub mod searches;
pub mod server;
pub mod session;
pub mod settings;
mod subscribers;
pub mod tokens;
pub mod toolbox;
pub mod transport;

pub use context::{Definition, EvictionReason};
pub use gateway::{CallResponse, Gateway, Now, ToolCallRequest};
pub use names::{CALL_TOOL, OWN_TOOLS, SEARCH_TOOLS};
pub use server::Server;
pub use session::{McpSessionId, SessionRecord};
pub use settings::{GuardSettings, MAX_RERANK_MS, Settings};
pub use toolbox::{
    Audit, Call, CallOutcome, DecidedBy, Event, Hit, HitKind, Progress, Refusal, Search, SearchResults,
    Target, Tier, Toolbox,
};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
