//! Feeds broken bundles and files of other formats to their readers for a while: none may panic, hang or
//! take what it cannot write again. `fuzz SECONDS [SEED]`.
#![allow(clippy::print_stdout, reason = "its output is what it is for")]

use std::io::{Cursor, Write as _};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail, ensure};
use autokit_bundle::{
    BundleCard, BundleContents, BundleInfo, PastRevision, RevisionMeta, SigningKey, VectorModel, formats,
    read_file, write_file,
};
use autokit_tests::bundle::{Files, unpack};
use autokit_tests::{SeededRng, made_up_cards};
use autokit_toolcard::{Author, Operation, ReadItem, RevisionId, Timestamp, Toolcard};
use sha2::{Digest as _, Sha256};
use zip::write::SimpleFileOptions;
// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;

/// Longest time one input may take.
const TIMEOUT: Duration = Duration::from_secs(5);
/// What values are replaced by: the ends of ranges, other types, what means something elsewhere.
const ODD: [&str; 16] = [
    "null",
    "true",
    "-1",
    "0",
    "1e999",
    "18446744073709551616",
    "\"\"",
    "[]",
    "{}",
    "\"../../x\"",
    "\"\\u202e\"",
    "\"\\ud800\"",
    "[[[[[[[[[[[[[[[[",
    "\"0000-00-00T00:00:00.000Z\"",
    "\"autokit.toolcards\"",
    "{\"name\":\"a\"}",
];

fn main() -> Result<()> {
    let mut arguments = std::env::args().skip(1);
    let seconds: u64 = arguments.next().context("fuzz SECONDS [SEED]")?.parse()?;
    let seed: u64 = arguments.next().map_or(Ok(1), |seed| seed.parse())?;
    let mut chance = SeededRng::new(seed);
    let base = base()?;
    let until = Instant::now() + Duration::from_secs(seconds);
    let (mut inputs, mut taken, mut slowest) = (0u64, 0u64, Duration::ZERO);
    // A panic is told with the input that caused it, once, at the end.
    std::panic::set_hook(Box::new(|_| {}));
    while Instant::now() < until {
        let kind = chance.below(8);
        let input = if kind < 5 { broken_bundle(&base, &mut chance)? } else { broken_text(&mut chance) };
        let began = Instant::now();
        let outcome = catch_unwind(AssertUnwindSafe(|| if kind < 5 { bundle(&input) } else { text(&input) }));
        let took = began.elapsed();
        slowest = slowest.max(took);
        inputs += 1;
        let failure = match outcome {
            Err(_) => Some("a panic".to_owned()),
            Ok(Err(error)) => Some(error.to_string()),
            Ok(Ok(_)) if took > TIMEOUT => Some(format!("{took:?}")),
            Ok(Ok(was_taken)) => {
                taken += u64::from(was_taken);
                None
            }
        };
        if let Some(failure) = failure {
            let path = std::env::temp_dir().join(format!("autokit-fuzz-{seed}-{inputs}"));
            std::fs::write(&path, &input)?;
            bail!("{failure}, with {}", path.display());
        }
    }
    println!("{inputs} inputs, {taken} of them read, slowest {} ms, no crash", slowest.as_millis());
    ensure!(taken > 0 && taken < inputs, "a run in which all or none is read tries nothing");
    Ok(())
}

/// A good bundle, file by file.
fn base() -> Result<Files> {
    let author = Author("Alice".to_owned());
    let at: Timestamp = "2026-01-02T03:04:05.678Z".parse()?;
    let mut cards = Vec::new();
    for (n, card) in made_up_cards(4).into_iter().enumerate() {
        let card = Toolcard::from_json(&card.to_string()).ok().context("a card")?;
        let mut entry =
            BundleCard::from_item(ReadItem { position: n + 1, card, warnings: Vec::new() }, &author, at);
        let revision = RevisionMeta {
            id: RevisionId::first(&entry.id, Some("{}")),
            operation: Operation::Create,
            author: author.clone(),
            at,
            reason: String::new(),
            merged: Vec::new(),
        };
        entry.history.push(PastRevision { revision, body: entry.card.to_json() });
        entry.vectors = Some(vec![1.0, 0.0]);
        cards.push(entry);
    }
    cards.sort_by(|a, b| a.id.cmp(&b.id));
    let about = BundleInfo {
        name: "n".into(),
        author: "Alice".into(),
        created_at: Some(at),
        ..BundleInfo::default()
    };
    let vectors = Some(VectorModel { model: "m".to_owned(), dim: 2 });
    let contents = BundleContents { about, cards, history: true, vectors, ..BundleContents::default() };
    let mut out = Cursor::new(Vec::new());
    write_file(&mut out, &contents, Some(&SigningKey::generate()))?;
    unpack(out)
}

fn broken_bundle(base: &Files, chance: &mut SeededRng) -> Result<Vec<u8>> {
    let mut files = base.clone();
    if chance.below(2) == 0 {
        files.retain(|(name, _)| name != "signature.json");
    }
    for _ in 0..chance.below(4) {
        let at = chance.below(files.len() as u64) as usize;
        match chance.below(8) {
            0 => drop(files.remove(at)),
            1 => {
                let names = ["../x", "cards.jsonl", "a/b", "", "CARDS.jsonl"];
                files[at].0 = names[chance.below(5) as usize].into();
            }
            2 => {
                let twin = files[at].clone();
                files.push(twin);
            }
            _ => break_json(&mut files[at].1, chance),
        }
        if files.is_empty() {
            break;
        }
    }
    if chance.below(3) > 0 {
        seal(&mut files);
    }
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in &files {
        // The writer refuses a name twice, which is tried elsewhere.
        if zip.start_file(name.as_str(), SimpleFileOptions::default()).is_ok() {
            zip.write_all(content)?;
        }
    }
    let mut bytes = zip.finish()?.into_inner();
    if chance.below(4) == 0 {
        break_bytes(&mut bytes, chance);
    }
    Ok(bytes)
}

/// Makes the list of files fit what they have become.
fn seal(files: &mut Files) {
    let sums: Vec<serde_json::Value> = files
        .iter()
        .filter(|(name, _)| name.contains(".jsonl"))
        .map(|(name, content)| {
            let sha256 = hex::encode(Sha256::digest(content));
            serde_json::json!({ "name": name, "bytes": content.len(), "sha256": sha256 })
        })
        .collect();
    for (name, content) in files {
        if name == "bundle.json"
            && let Ok(mut manifest) = serde_json::from_slice::<serde_json::Value>(content)
            && manifest.is_object()
        {
            manifest["files"] = serde_json::Value::Array(sums.clone());
            *content = manifest.to_string().into_bytes();
        }
    }
}

/// Replaces a value, or a few bytes, or repeats or takes away a piece.
fn break_json(content: &mut Vec<u8>, chance: &mut SeededRng) {
    let marks: Vec<usize> =
        content.iter().enumerate().filter(|(_, byte)| b":,[{".contains(byte)).map(|(at, _)| at + 1).collect();
    if marks.is_empty() || chance.below(4) == 0 {
        break_bytes(content, chance);
        return;
    }
    let from = marks[chance.below(marks.len() as u64) as usize];
    let to =
        content[from..].iter().position(|byte| b",}]\n".contains(byte)).map_or(content.len(), |n| from + n);
    let odd = ODD[chance.below(ODD.len() as u64) as usize];
    content.splice(from..to, odd.bytes());
}

fn break_bytes(content: &mut Vec<u8>, chance: &mut SeededRng) {
    for _ in 0..=chance.below(6) {
        if content.is_empty() {
            return;
        }
        let at = chance.below(content.len() as u64) as usize;
        let end = (at + 1 + chance.below(40) as usize).min(content.len());
        match chance.below(4) {
            0 => content[at] = chance.below(256) as u8,
            1 => drop(content.drain(at..end)),
            2 => {
                let piece = content[at..end].to_vec();
                content.splice(at..at, piece);
            }
            _ => content.truncate(at + 1),
        }
    }
}

fn broken_text(chance: &mut SeededRng) -> Vec<u8> {
    let mut text = match chance.below(4) {
        0 => b"name;description;tags\r\na;\"b;\nc\";x|y\r\n=1+1;d;\r\n".to_vec(),
        1 => br#"{"mcpServers":{"a":{"command":"npx","args":["-y","x"],"env":{"K":"v"}},"b":{"url":"https://e.org/m"}}}"#
            .to_vec(),
        2 => br#"{"name":"io.github.a/b","description":"d","version":"1.0","packages":[{"registryType":"npm","identifier":"x"}]}"#
            .to_vec(),
        _ => br#"[{"name":"a","init_args":{"k":1}},{"name":"b"}]"#.to_vec(),
    };
    for _ in 0..=chance.below(3) {
        break_json(&mut text, chance);
    }
    text
}

/// Reads a bundle; what can be read can be written, and is then the same.
fn bundle(bytes: &[u8]) -> Result<bool> {
    let Ok(bundle) = read_file(Cursor::new(bytes)) else { return Ok(false) };
    let mut once = Cursor::new(Vec::new());
    match write_file(&mut once, &bundle.contents, None) {
        // Keys are read, to be told; they are never written.
        Err(autokit_bundle::Error::Secrets(_)) => return Ok(true),
        written => written.context("what was read cannot be written")?,
    };
    let again = read_file(Cursor::new(once.get_ref())).context("what was written cannot be read")?;
    ensure!(again.rejected.is_empty(), "what was written is refused");
    let mut twice = Cursor::new(Vec::new());
    write_file(&mut twice, &again.contents, None)?;
    ensure!(once.get_ref() == twice.get_ref(), "written twice it is another");
    Ok(true)
}

/// Reads a file of another format, whichever it is taken for.
fn text(bytes: &[u8]) -> Result<bool> {
    let read = match formats::detect(bytes, None) {
        formats::Format::Csv => formats::read_csv(bytes).ok(),
        formats::Format::McpServers => formats::read_mcp_servers(bytes).ok(),
        formats::Format::ServerJson => formats::read_server_json(bytes).ok(),
        _ => autokit_toolcard::read_cards(bytes).ok(),
    };
    let Some(read) = read else { return Ok(false) };
    let cards: Vec<Toolcard> = read.cards.into_iter().map(|item| item.card).collect();
    let about = BundleInfo::default();
    formats::write_csv(&mut Vec::new(), &cards)?;
    formats::write_markdown(&mut Vec::new(), &cards, &about)?;
    formats::write_html(&mut Vec::new(), &cards, &about)?;
    Ok(true)
}
