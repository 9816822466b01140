//! Hashes the code that decides what an index looks like.

fn main() -> std::io::Result<()> {
    autokit_source_hash::export("INDEX_FORMAT", &["autokit-search", "autokit-vocabulary"])
}
