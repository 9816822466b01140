//! The vector index as a contestant in a comparison with other databases: build and query phases over raw
//! vectors.
//!
//! Configured by environment variables: `PEERS_PHASE` (`build` or `query`), `PEERS_N`, `PEERS_DIM`,
//! `PEERS_K`, `PEERS_NORG`, `PEERS_BASE` and `PEERS_QUERIES` (raw little-endian f32), `PEERS_DIR`. Row i
//! belongs to organisation `i mod PEERS_NORG`; query i is filtered by `i mod PEERS_NORG`. Prints one JSON
//! object.
#![allow(clippy::print_stdout, reason = "the answer is what this program prints")]

use std::error::Error;
use std::io::{BufReader, Read as _};
use std::path::PathBuf;
use std::time::Instant;

use autokit_search::{BitSet, VectorIndex};
// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

fn number(name: &str) -> Result<usize, Box<dyn Error>> {
    Ok(std::env::var(name)?.parse()?)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    bytes.chunks_exact(4).map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect()
}

fn main() -> Result<(), Box<dyn Error>> {
    let (n, dimension) = (number("PEERS_N")?, number("PEERS_DIM")?);
    let stored = PathBuf::from(std::env::var("PEERS_DIR")?).join("vectors.f32");
    if std::env::var("PEERS_PHASE")? == "build" {
        let start = Instant::now();
        let base = std::fs::read(std::env::var("PEERS_BASE")?)?;
        std::fs::write(&stored, &base[..n * dimension * 4])?;
        println!("{}", serde_json::json!({ "build_s": start.elapsed().as_secs_f64() }));
        return Ok(());
    }
    let (k, organisations) = (number("PEERS_K")?, number("PEERS_NORG")?);
    let start = Instant::now();
    let mut index = VectorIndex::new();
    index.keep_large_in(&PathBuf::from(std::env::var("PEERS_DIR")?));
    {
        let mut base = BufReader::new(std::fs::File::open(&stored)?);
        index.reserve(n, dimension);
        let mut row = vec![0; dimension * 4];
        for key in 0..u32::try_from(n)? {
            base.read_exact(&mut row)?;
            index.upsert(key, &floats(&row))?;
        }
    }
    let open = start.elapsed().as_secs_f64();
    let members: Vec<BitSet> = (0..organisations)
        .map(|organisation| {
            (0..n as u32).filter(|key| *key as usize % organisations == organisation).collect()
        })
        .collect();
    let queries = floats(&std::fs::read(std::env::var("PEERS_QUERIES")?)?);
    let (mut times, mut ids, mut filtered_times, mut filtered_ids) =
        (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    for (at, query) in queries.chunks_exact(dimension).enumerate() {
        let start = Instant::now();
        let found = index.top_k(query, k, None)?;
        times.push(start.elapsed().as_secs_f64() * 1e3);
        ids.push(found.iter().map(|row| row.key).collect::<Vec<u32>>());
        let start = Instant::now();
        let found = index.top_k(query, k, Some(&members[at % organisations]))?;
        filtered_times.push(start.elapsed().as_secs_f64() * 1e3);
        filtered_ids.push(found.iter().map(|row| row.key).collect::<Vec<u32>>());
    }
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let megabytes = |name: &str| -> Option<f64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1024.0)
    };
    println!(
        "{}",
        serde_json::json!({
            "query_ms": times, "ids": ids, "filter_ms": filtered_times, "filter_ids": filtered_ids,
            "open_s": open, "first_ms": times.first(), "rss_mb": megabytes("VmRSS:"), "anon_mb": megabytes("RssAnon:"),
        })
    );
    Ok(())
}
