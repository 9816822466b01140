//! Refines the documentation of tools by calling them (DRAFT, see *Systems* in `ARCHITECTURE.md`).
//!
//! Two ways lead from a documented tool to better documentation:
//!
//! * [`draft`]: the paper's loop. A language model plays explorer, analyzer and rewriter; queries must differ from
//!   earlier ones, and the loop ends when a rewrite changes little (§2, algorithm 1).
//! * [`explore`]: without a model. Typical, boundary and invalid values are tried, and what the answers show
//!   becomes [`Finding`]s, each with the calls that prove it.
//!
//! Nothing here sends a request: whoever uses it passes a [`ToolCaller`], which asks for the permissions that calls need.
//!
//! | module | contents |
//! |---|---|
//! | `tool` | a tool as documented, and calling it |
//! | [`draft`] | the loop with a model |
//! | [`explore`] | the rules |
//! | `parsed_error` | what an error message says about arguments |
//! | `values` | values to try for a parameter |
//! | `finding` | what calls showed, as sentences and as changes to the parameters' schema |

pub mod draft;
pub mod explore;
mod finding;
mod parsed_error;
mod tool;
mod values;

pub use finding::{Finding, Observation, refined_description, refined_parameters};
pub use tool::{Outcome, ToolCaller, ToolDocument, Trial};
pub use values::ValuePool;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
