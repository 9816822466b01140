//! Part of build scripts: a hash of the code that decides the form of stored data, so that no version has to be raised by
//! hand. It is no crate: a build script that depends on one of the workspace has everything compiled for the host again.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// Sets the environment variable `variable` of the crate being built to a hash of the source of these crates, which lie
/// beside it, and of the compiler.
///
/// # Errors
/// When a file cannot be read.
#[allow(clippy::print_stdout, reason = "this is how a build script talks to cargo")]
pub(crate) fn export(variable: &str, crates: &[&str]) -> io::Result<()> {
    let mut hasher = DefaultHasher::new();
    for name in crates {
        let source = Path::new("..").join(name).join("src");
        println!("cargo::rerun-if-changed={}", source.display());
        let mut files = BTreeSet::new();
        list(&source, &mut files)?;
        for file in files {
            file.hash(&mut hasher);
            fs::read(&file)?.hash(&mut hasher);
        }
    }
    // Versions of what splits words and writes bytes.
    let lock = Path::new("../../../Cargo.lock");
    println!("cargo::rerun-if-changed={}", lock.display());
    fs::read(lock)?.hash(&mut hasher);
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rerun-if-changed=../autokit-replica/source_hash.rs");
    // The standard library's hash of a text may be another with the next compiler.
    println!("cargo::rerun-if-env-changed=RUSTUP_TOOLCHAIN");
    std::env::var_os("RUSTUP_TOOLCHAIN").as_deref().map(OsStr::as_encoded_bytes).hash(&mut hasher);
    println!("cargo::rustc-env={variable}={:016x}", hasher.finish());
    Ok(())
}

fn list(folder: &Path, files: &mut BTreeSet<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            list(&entry.path(), files)?;
        } else {
            files.insert(entry.path());
        }
    }
    Ok(())
}
