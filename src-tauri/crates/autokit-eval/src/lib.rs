//! Evaluation on judged sets with the model the product uses.
//!
//! | module | what it measures |
//! |---|---|
//! | `ask` | answers to questions, and the thresholds of their verdicts |
//! | `discover` | what is discovered on the web |
//! | `libraries` | the one ranking of several libraries |
//! | `linkrot`, `improve` | repaired links and improved descriptions, through the engine itself (`setup`) |
//! | `retrieval` | ranking alone |
//! | `tokens` | what tools cost an agent in tokens |

mod ask;
mod discover;
mod improve;
mod inputs;
mod libraries;
mod linkrot;
mod refine;
mod retrieval;
mod setup;
mod tokens;

// Pins one feature set for the whole workspace; nothing is imported from it.
use workspace_hack as _;

pub use ask::{AskEvaluation, AskRow, ask, calibrate};
pub use autokit_metrics::RetrievalReport;
pub use autokit_search::Calibrations;
pub use discover::{DiscoverLine, DiscoverMeasures, DiscoverReport, Need, Ratio, discover};
pub use improve::{ImproveEvaluation, improve};
pub use libraries::{LibrariesEvaluation, LibrariesRow, libraries};
pub use linkrot::{LinkrotLine, linkrot};
pub use refine::{PAPER, PaperRow, RefinedSet, refine};
pub use retrieval::retrieval;
pub use tokens::{TokensReport, TokensRow, tokens};
