//! Cards against their pages: verified, repaired, improved, with a scripted model and without one.
#![allow(clippy::large_futures, reason = "tests await whole engines; nothing else is on the stack")]

mod appendix;
mod faults;
mod linkrot;
mod lists;
mod models;
mod overtaken;
mod place;
mod runs;
mod terminal;
mod turns;
