//! The crate against a service on this machine, by both protocols.

mod chat;
mod fake;
mod react;
