//! Reads a PDF from standard input: the process of `autokit_documents::Reader`, for tests of this crate.

use std::process::ExitCode;

fn main() -> ExitCode {
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    autokit_documents::worker::run(&arguments)
}
