//! What agents reach over MCP: AutoKit's own tools and every callable tool of the library, what agents may
//! do, and what they did. AutoAgent, Elyra and Kaman are explained in the section *Systems* of
//! `ARCHITECTURE.md`.
//!
//! | module | contents |
//! |---|---|
//! | [`serving`] | the gateway's toolbox, implemented by the engine |
//! | [`assistant`] | what agents reach of the features for people |
//! | [`find`] | search |
//! | [`tools`] | the cards whose tools can be called |
//! | [`own`] | the tools every session has: ask, discover, propose a card, report an outcome |
//! | [`builtin`], [`external`] | built-in tools that a search finds; those for web and files |
//! | [`code_runs`] | code in the sandbox |
//! | [`macro_card`] | cards whose tool is a sequence of calls |
//! | [`function_card`] | cards whose tool is code |
//! | [`plan`] | a call: what it calls, the permissions it needs, and its execution |
//! | [`permit`], [`approvals`], [`profiles`] | whether a call may be made: by rules or by approval |
//! | [`arguments`], [`capped`], [`rest`] | validation of arguments, capped results, operations of web APIs |
//! | [`manual`], [`explored`] | the list of callable tools, manual calls by a person, and trial calls |
//! | [`past`] | past sessions, for preloading |
//! | [`variants`] | descriptions of a tool that compete by outcomes |
//! | [`recordings`] | recent calls with their results, in memory |
//! | [`uses`] | how tools fared, and what was searched for |
//! | [`journal`], [`report`], [`audit`], [`days`], [`measure`] | what agents did, recorded and counted |
//! | [`address`], [`tokens`], [`listen`], [`http`], [`messages`] | MCP over HTTP |
//! | [`clients`] | AutoKit in the settings of agent programs |

mod activity_rows;
pub mod address;
pub mod approvals;
pub mod arguments;
pub mod assistant;
mod audit;
pub mod builtin;
mod capped;
pub mod clients;
pub mod code_runs;
mod days;
pub mod explored;
pub mod external;
pub mod find;
pub mod function_card;
pub mod http;
pub mod journal;
pub mod listen;
pub mod macro_card;
pub mod manual;
mod measure;
pub mod messages;
pub mod own;
mod past;
mod permit;
pub mod plan;
pub mod profiles;
pub mod recordings;
mod refusal;
pub mod report;
pub mod rest;
pub mod serving;
pub mod tokens;
pub mod tools;
pub mod uses;
pub mod variants;

pub use activity_rows::{Activity, activity_since, record_activity};
pub use find::feedback_profile;
pub use measure::Searched;
pub use serving::Serving;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
