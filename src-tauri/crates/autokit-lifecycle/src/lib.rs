//! How tools get better by use (DRAFT, and Elyra's bootstrapping; see *Systems* in `ARCHITECTURE.md`).
//!
//! | module | contents |
//! |---|---|
//! | [`macros`] | one tool made of recorded calls |
//! | [`variants`] | descriptions of one tool that compete |
//! | [`refine`] | documentation refined by trial calls: runs over tools, with and without a language model |

pub mod macros;
pub mod refine;
pub mod variants;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
