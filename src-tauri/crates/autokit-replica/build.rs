//! Hashes the code that decides what a replica looks like.

fn main() -> std::io::Result<()> {
    autokit_source_hash::export("REPLICA_FORMAT", &["autokit-replica", "autokit-toolcard"])
}
