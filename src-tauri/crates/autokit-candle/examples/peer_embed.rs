//! Measures embedding for the peer benchmark: input comes from `PEERS_*` environment variables, results go to
//! stdout as one line of JSON.
//!
//! `PEERS_TEXTS` is a JSON list of texts, `PEERS_SHORT` the number of them (from the start) in the short run,
//! `PEERS_QUESTIONS` a JSON list of individual questions, `PEERS_THREADS` the number of threads,
//! `PEERS_EMB_OUT` the file to write all vectors to as raw little-endian f32. The model is `all-MiniLM-L6-v2`, which the
//! others run too, or `AUTOKIT_MODEL`; its files come from `AUTOKIT_MODEL_DIR` or the user's store.
//! `AUTOKIT_BACKEND=candle` measures candle's network instead of the built-in encoder, `AUTOKIT_PRECISION=f32`, `bf16`
//! or `int8` the built-in one in another precision than it would choose.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use autokit_embed::encoder::Precision;
use autokit_embed::{Backend, Embedder, EmbedderOptions, ModelStore};

type Failure = Box<dyn std::error::Error>;

fn texts(variable: &str) -> Result<Vec<String>, Failure> {
    let path = std::env::var(variable).map_err(|_| format!("{variable} is not set"))?;
    Ok(serde_json::from_slice(&std::fs::read(path)?)?)
}

fn number(variable: &str) -> Result<usize, Failure> {
    Ok(std::env::var(variable).map_err(|_| format!("{variable} is not set"))?.parse()?)
}

/// Resident memory in MB, if the system reports it.
fn resident_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:"))?;
    let kilobytes: f64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(kilobytes / 1024.0)
}

#[allow(clippy::print_stdout, reason = "the result is a line on stdout")]
fn main() -> Result<(), Failure> {
    let all = texts("PEERS_TEXTS")?;
    let short = &all[..number("PEERS_SHORT")?.min(all.len())];
    let questions = texts("PEERS_QUESTIONS")?;
    let threads = NonZeroUsize::new(number("PEERS_THREADS")?);

    let started = Instant::now();
    let root = ModelStore::default_root().ok_or("neither HOME nor XDG_DATA_HOME is set")?;
    let folder = std::env::var_os("AUTOKIT_MODEL_DIR").map(PathBuf::from);
    let model = std::env::var("AUTOKIT_MODEL").unwrap_or_else(|_| "all-MiniLM-L6-v2".to_owned());
    let files = ModelStore::new(root).resolve(&model, folder.as_deref())?;
    let backend = match std::env::var("AUTOKIT_BACKEND").as_deref() {
        Ok("candle") => Backend::Other(autokit_candle::open),
        _ => Backend::Own,
    };
    let precision = match std::env::var("AUTOKIT_PRECISION").as_deref() {
        Ok("f32") => Some(Precision::F32),
        Ok("bf16") => Some(Precision::Bf16),
        Ok("int8") => Some(Precision::Int8),
        Ok(other) => return Err(format!("AUTOKIT_PRECISION={other} is none of f32, bf16, int8").into()),
        Err(_) => None,
    };
    let embedder = Embedder::load(&files, &EmbedderOptions { threads, backend, precision })?;
    let load_s = started.elapsed().as_secs_f64();

    for question in questions.iter().take(3) {
        embedder.embed_query(question)?;
    }
    let mut query_ms = Vec::new();
    for question in &questions {
        let at = Instant::now();
        embedder.embed_query(question)?;
        query_ms.push(at.elapsed().as_secs_f64() * 1e3);
    }
    let at = Instant::now();
    embedder.embed_passages(short)?;
    let short_texts_per_s = short.len() as f64 / at.elapsed().as_secs_f64();
    let at = Instant::now();
    let vectors = embedder.embed_passages(&all)?;
    let all_texts_per_s = all.len() as f64 / at.elapsed().as_secs_f64();

    if let Ok(path) = std::env::var("PEERS_EMB_OUT") {
        let bytes: Vec<u8> = vectors.iter().flatten().flat_map(|x| x.to_le_bytes()).collect();
        std::fs::write(path, bytes)?;
    }
    let mut report = serde_json::json!({
        "query_ms": query_ms,
        "short_texts_per_s": { "8": short_texts_per_s },
        "all_texts_per_s": all_texts_per_s,
        "load_s": load_s,
    });
    if let Some(mb) = resident_mb() {
        report["rss_mb"] = mb.into();
    }
    println!("{report}");
    Ok(())
}
