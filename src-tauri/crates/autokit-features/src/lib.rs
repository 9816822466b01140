//! The features of AutoKit but for what agents reach over MCP: each a struct with its own state and two to five
//! dependencies, which carries out its own commands.
//!
//! | module | what it holds |
//! |---|---|
//! | [`catalogue`], [`edit`], [`duplicates`], [`pages`] | cards, and their documentation pages |
//! | [`review`], [`decide`] | proposals, and decisions on them |
//! | [`verify`] | checks of cards: FUEL |
//! | [`agent`], [`sessions`], [`library_retriever`] | questions to the agent |
//! | [`import`], [`export`], [`keys`], [`sources`], [`subscriptions`] | cards from and for other libraries |
//! | [`servers`], [`market`], [`api_keys`] | what tools that can be called come from |
//! | [`starter`] | the cards AutoKit comes with |

pub mod agent;
pub mod api_keys;
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
pub mod review;
pub mod servers;
pub mod sessions;
pub mod sources;
pub mod starter;
pub mod subscriptions;
pub mod verify;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
