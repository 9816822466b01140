//! Tests of the library's public API, in one program, because each program that links the database takes as
//! long to compile.

mod common;
mod health;
mod proposals;
mod review;
mod snapshots;
mod store;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
