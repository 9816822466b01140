//! Searches that adapt to use (the future work of the FUEL paper: learning from feedback over time).
//!
//! Rated answers, tools that agents called after they found them, and cards that were edited after they were found say
//! how the requests of one profile relate to cards. From them a small adapter of request vectors
//! ([`autokit_adapter`]) is fitted in the background. It is used only if it ranks the profile's own past questions
//! better in cross-validation, measured with the whole search.
//!
//! | module | contents |
//! |---|---|
//! | `evidence` | what happened, as pairs of a question and a card |
//! | `learning` | fitting and comparing, and the commands |

mod evidence;
mod learning;

pub use crate::learning::Learning;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
