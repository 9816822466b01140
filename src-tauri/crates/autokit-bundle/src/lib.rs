//! Toolcards on their way between libraries: bundles, other formats, three-way merge.

pub mod formats;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
