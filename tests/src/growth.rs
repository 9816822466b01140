//! Whether a process keeps memory for each request it has answered.

use anyhow::{Result, ensure};

/// Rounds of equal work after which the size of a process is compared.
pub const ROUNDS: usize = 5;

/// Fails if a process has grown by more than a twentieth because of its work. `sizes_kib` are its sizes before
/// the first round and after each.
///
/// Memory that is lost with each request grows in every round alike; threads, buffers and the allocator's arenas
/// grow in some of them, depending on how busy the machine is. So the round of the smallest growth counts, as
/// often as there are rounds.
///
/// # Errors
/// When it has grown, with all sizes.
pub fn ensure_steady(sizes_kib: &[u64]) -> Result<()> {
    let [first, .., _] = sizes_kib else { anyhow::bail!("fewer than two sizes: {sizes_kib:?}") };
    let growths = sizes_kib.windows(2).map(|pair| pair[1].saturating_sub(pair[0]));
    let smallest = growths.min().unwrap_or_default();
    let steady = smallest * (sizes_kib.len() as u64 - 1);
    ensure!(steady * 20 <= *first, "KiB after each round of equal work: {sizes_kib:?}");
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::ensure_steady;

    #[test]
    fn what_grows_in_every_round_is_lost() {
        assert!(ensure_steady(&[1000, 1011, 1022, 1033, 1044, 1060]).is_err());
        assert!(ensure_steady(&[1000, 1001, 1100, 1102, 1200, 1201]).is_ok());
        assert!(ensure_steady(&[1000, 990, 1200, 1201, 1201, 1201]).is_ok());
        assert!(ensure_steady(&[1000]).is_err());
    }
}
