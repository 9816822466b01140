//! Hashes the code that decides what a replica looks like.

#[path = "source_hash.rs"]
mod source_hash;

fn main() -> std::io::Result<()> {
    source_hash::export("REPLICA_FORMAT", &["autokit-replica", "autokit-toolcard"])
}
