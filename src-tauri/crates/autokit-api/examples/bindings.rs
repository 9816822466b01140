//! Prints the window's TypeScript: `cargo xtask bindings` keeps it in the window's sources.
#![allow(clippy::print_stdout, reason = "printing is what this does")]

fn main() {
    print!("{}", autokit_api::commands::typescript());
}
