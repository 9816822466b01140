//! Text measured in tokens.

pub mod output;

// Pins one feature set for the whole workspace; nothing is imported from it.
use workspace_hack as _;
