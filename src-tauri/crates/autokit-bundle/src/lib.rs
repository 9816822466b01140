//! Toolcards on their way between libraries: bundles, other formats, three-way merge.

pub mod formats;
mod visible;

pub use visible::visible;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
