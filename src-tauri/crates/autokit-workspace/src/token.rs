//! Names and secrets by chance.

/// `bytes` random bytes as hexadecimal text.
///
/// # Panics
/// When the system has no randomness to give, which leaves nothing safe to do.
pub fn token(bytes: usize) -> String {
    let mut buffer = vec![0u8; bytes];
    getrandom::fill(&mut buffer).expect("the system gives random bytes");
    hex::encode(buffer)
}
