//! The features of AutoKit other than those for agents over MCP. Each is a struct with its own state and
//! two to five dependencies, and handles its own commands. FUEL and Kaman are explained in the section
//! *Systems* of `ARCHITECTURE.md`.
//!
//! | module | contents |
//! |---|---|
//! | [`catalogue`], [`edit`], [`duplicates`], [`pages`] | cards, and their documentation pages |
//! | [`review`], [`decide`] | proposals, and decisions on them |
//! | [`verify`] | checks of cards against their pages (FUEL) |
//! | [`agent`], [`sessions`], [`library_retriever`], `research` | questions to the agent |
//! | [`import`], [`export`], [`keys`], [`sources`], [`subscriptions`] | exchange with other libraries |
//! | [`servers`], [`market`] | adding tools that can be called |
//! | [`starter`] | the cards that ship with AutoKit |

pub mod agent;
pub mod catalogue;
pub mod decide;
pub mod duplicates;
pub mod edit;
pub mod export;
mod flagged;
mod health;
pub mod import;
mod incoming;
pub mod keys;
pub mod library_retriever;
pub mod market;
pub mod pages;
mod research;
pub mod review;
pub mod servers;
pub mod sessions;
pub mod sources;
pub mod starter;
pub mod starter_code;
pub mod subscriptions;
pub mod verify;
pub mod vocabulary;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
