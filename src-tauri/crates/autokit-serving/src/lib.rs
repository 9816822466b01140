//! What agents reach over MCP: AutoKit's own tools, and everything in the library that can be called; what they may,
//! and what they did.
//!
//! | module | what it holds |
//! |---|---|
//! | [`serving`] | the engine as agents reach it: the gateway's toolbox |
//! | [`find`] | what a search finds |
//! | [`tools`] | the cards whose tools can be called |
//! | [`own`] | the tools every session has: ask, discover, propose a card, report an outcome |
//! | [`builtin`], [`outward`] | the tools of AutoKit that a search finds; those that reach out: web, files, sandbox |
//! | [`plan`] | what a call is of, what it needs, and how it is carried out |
//! | [`permit`], [`approvals`], [`profiles`] | whether a call may be made: by rules, or by a person's word |
//! | [`arguments`], [`capped`], [`rest`] | arguments held against a schema, answers at most, operations of web APIs |
//! | [`hand`] | the list of tools that can be called, and calls a person makes |
//! | [`journal`], [`report`], [`audit`], [`days`], [`measure`] | what agents did, written down and counted |
//! | [`address`], [`tokens`], [`listen`], [`http`], [`messages`] | MCP over HTTP |
//! | [`clients`] | AutoKit in the settings of the programs agents run in |

pub mod address;
pub mod approvals;
mod arguments;
mod audit;
pub mod builtin;
mod capped;
pub mod clients;
mod days;
pub mod find;
pub mod hand;
pub mod http;
pub mod journal;
pub mod listen;
mod measure;
pub mod messages;
pub mod outward;
pub mod own;
mod permit;
pub mod plan;
pub mod profiles;
mod refusal;
pub mod report;
pub mod rest;
pub mod serving;
pub mod tokens;
pub mod tools;

pub use measure::Searched;
pub use serving::Serving;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
