//! Tools of published APIs, compiled in; `tools/NOTICE.md` lists their sources.

use std::io::Read as _;
use std::sync::Arc;

use autokit_error::{ApiError, Result};
use rmcp::model::Tool;
use serde::Deserialize;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};

const PACKED: &[u8] = include_bytes!("../../tools/tools.jsonl.br");
/// Maximum number of bytes read from the decompressed corpus.
const MAX_BYTES: u64 = 64 << 20;
/// Seed that determines the order in which tools are drawn.
const SEED: &str = "1";

/// A tool of an API.
#[derive(Clone, Debug, Deserialize)]
pub(super) struct Offered {
    pub(super) name: String,
    /// The provider of the API, which is also the tool's server.
    pub(super) provider: String,
    pub(super) description: String,
    #[serde(rename = "inputSchema")]
    schema: Map<String, Value>,
}

impl Offered {
    pub(super) fn tool(&self) -> Tool {
        Tool::new(self.name.clone(), self.description.clone(), Arc::new(self.schema.clone()))
    }
}

/// The sort key of a tool for drawing, the same forever.
pub(super) fn shuffle_key(seed: &str, name: &str) -> [u8; 32] {
    Sha256::digest(format!("{seed}\0{name}")).into()
}

/// The first `count` tools in a fixed pseudorandom order, so that a smaller sample is always part of a larger
/// one.
///
/// # Errors
/// When the compiled-in file is invalid, which a test rules out.
pub(super) fn sample(count: usize) -> Result<Vec<Offered>> {
    let mut text = String::new();
    let unpacked = brotli_decompressor::Decompressor::new(PACKED, 1 << 16);
    let broken = |error: &dyn std::fmt::Display| ApiError::internal(format!("the tools to count: {error}"));
    unpacked.take(MAX_BYTES).read_to_string(&mut text).map_err(|error| broken(&error))?;
    let read: std::result::Result<Vec<Offered>, _> = text.lines().map(serde_json::from_str).collect();
    let mut tools = read.map_err(|error| broken(&error))?;
    tools.sort_by_cached_key(|tool| shuffle_key(SEED, &tool.name));
    tools.truncate(count);
    Ok(tools)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn there_are_enough_tools_and_each_is_one() {
        let all = sample(usize::MAX).expect("tools");
        assert!(all.len() >= 10_000, "{}", all.len());
        let names: HashSet<&str> = all.iter().map(|tool| tool.name.as_str()).collect();
        assert_eq!(names.len(), all.len());
        assert!(all.iter().all(|tool| !tool.description.is_empty() && tool.schema["type"] == "object"));
        let providers: HashSet<&str> = all.iter().map(|tool| tool.provider.as_str()).collect();
        assert!(providers.len() >= 200 && providers.contains("GitHub"), "{}", providers.len());
    }

    #[test]
    fn fewer_are_among_more() {
        let names =
            |count| sample(count).expect("tools").into_iter().map(|tool| tool.name).collect::<Vec<_>>();
        assert_eq!(names(25)[..10], names(10)[..]);
    }
}
