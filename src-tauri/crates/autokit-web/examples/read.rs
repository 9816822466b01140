//! Shows how the client reads pages: prints one JSON object per line for every URL given.
//!
//!     cargo run -p autokit-web --example read -- --allow 127.0.0.1:8765 URL…
#![allow(clippy::print_stdout, reason = "the answer is what this program prints")]

use autokit_web::{ChunkOptions, Fetcher, Limits, NetworkPolicy, chunks, extract};
use serde_json::json;
// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut policy = NetworkPolicy::default();
    let mut urls = Vec::new();
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        if word == "--allow" {
            policy = policy.allowing(words.next().ok_or("--allow needs a host")?);
        } else {
            urls.push(word);
        }
    }
    let fetcher = Fetcher::new(policy, Limits::default())?;
    for url in urls {
        match fetcher.get(&url).await {
            Ok(page) => {
                let document = extract(&page.text, page.content_type.as_deref(), &page.url);
                let pieces = chunks(&document, ChunkOptions::default());
                println!(
                    "{}",
                    json!({ "url": url, "status": page.status, "hops": page.hops, "ms": page.ms,
                            "title": document.title, "text": document.text(), "chunks": pieces })
                );
            }
            Err(error) => {
                println!("{}", json!({ "url": url, "code": error.code(), "error": error.to_string() }));
            }
        }
    }
    Ok(())
}
