//! Text as models count it.

pub mod output;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
