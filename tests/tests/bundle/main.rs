//! Bundles between libraries: whole, merged, undone, hostile.
#![allow(clippy::large_futures, reason = "tests await whole engines; nothing else is on the stack")]

mod exchange;
mod guards;
mod hostile;
mod merge;
