//! Tests of the crate against a local service, with both protocols.

mod chat;
mod fake;
mod react;
