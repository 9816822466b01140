//! Hashes what determines the content of a snapshot, so that no version has to be raised by hand.

use std::collections::BTreeSet;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};

/// The crates whose types are stored or decide what is.
const CRATES: [&str; 4] = ["autokit-replica", "autokit-search", "autokit-toolcard", "autokit-vocabulary"];

fn main() -> io::Result<()> {
    let crates = PathBuf::from("..");
    let mut hasher = DefaultHasher::new();
    for name in CRATES {
        let source = crates.join(name).join("src");
        println!("cargo::rerun-if-changed={}", source.display());
        let mut files = BTreeSet::new();
        list(&source, &mut files)?;
        for file in files {
            fs::read(&file)?.hash(&mut hasher);
        }
    }
    // Hashes of the standard library may change with the compiler.
    std::env::var_os("RUSTUP_TOOLCHAIN").hash(&mut hasher);
    println!("cargo::rustc-env=SNAPSHOT_FORMAT={:016x}", hasher.finish());
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
