//! SurrealDB's own server: takes the arguments of `surreal`, such as `start --bind 127.0.0.1:8000 surrealkv://folder`.

#![recursion_limit = "256"] // Its futures nest deeper than the default when they are optimized.

use std::process::ExitCode;

use surrealdb_server::core::CommunityComposer;

fn main() -> ExitCode {
    surrealdb_server::init(CommunityComposer())
}
