//! Tools that can be called: where they come from, how they run, what they may do.

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
