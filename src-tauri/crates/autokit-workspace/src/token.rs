//! Random ids and secrets.

/// Returns `bytes` random bytes as hexadecimal text.
///
/// # Panics
/// If the system cannot provide random bytes, because nothing safe could be done then.
pub fn token(bytes: usize) -> String {
    let mut buffer = vec![0u8; bytes];
    getrandom::fill(&mut buffer).expect("the system provides random bytes");
    hex::encode(buffer)
}
