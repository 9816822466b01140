//! Hashes the code that decides what an index looks like.

#[path = "../autokit-replica/source_hash.rs"]
mod source_hash;

fn main() -> std::io::Result<()> {
    source_hash::export("INDEX_FORMAT", &["autokit-search", "autokit-toolcard", "autokit-vocabulary"])
}
