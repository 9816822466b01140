//! How tools get better by use (DRAFT, and Elyra's bootstrapping; see *Systems* in `ARCHITECTURE.md`).
//!
//! | module | contents |
//! |---|---|
//! | [`duplicates`] | cards that may describe one tool, and merging them |
//! | [`macros`] | one tool made of recorded calls |
//! | [`code_cards`] | cards of the public functions and commands of a repository |
//! | [`generated`] | needs that use shows, and tools a language model writes for them |
//! | [`variants`] | descriptions of one tool that compete |
//! | [`refine`] | documentation refined by trial calls: runs over tools, with and without a language model |

mod budget;
pub mod code_cards;
pub mod duplicates;
pub mod generated;
pub mod macros;
pub mod refine;
pub mod variants;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
