//! Bundles somebody made to do harm: refused with a clear message, and nothing of them is in the library.

use std::io::{Cursor, Write as _};
use std::path::Path;

use anyhow::{Context, Result, ensure};
use autokit_api::commands::{
    Export, ForgetKey, ListCards, ListImports, ListKeys, ListProposals, PreviewImport, SetKeyTrust,
    StartImport, WaitJob,
};
use autokit_api::{
    CardList, CardsQuery, ImportPreviewRequest, ImportRequest, ImportSource, JobState, JobWait, Landing,
    Nothing, ProposalsQuery, Trust,
};
use autokit_app::node::Node;
use autokit_app::{ErrorCode, ProposalState};
use autokit_tests::bundle::{Files, import, replace, unpack};
use autokit_tests::{Workplace, made_up_cards};
use autokit_toolcard::CardId;
use serde_json::{Value, json};
use zip::write::SimpleFileOptions;

/// A bundle of three cards, signed if wanted.
async fn bundle(place: &Workplace, node: &Node, name: &str, sign: bool) -> Result<Files> {
    let path = place.path(name);
    replace(node, &place.cards_file("cards.json", &made_up_cards(3))?).await?;
    let request = autokit_api::ExportRequest {
        path: Some(path.display().to_string()),
        format: autokit_api::Format::Bundle,
        history: true,
        sign,
        name: "cards".to_owned(),
        ..Default::default()
    };
    node.call::<Export>(request).await?;
    files(&path)
}

fn files(path: &Path) -> Result<Files> {
    unpack(std::fs::File::open(path)?)
}

fn pack(files: &Files) -> Result<Vec<u8>> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        zip.start_file(name.as_str(), SimpleFileOptions::default())?;
        zip.write_all(content)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// Changes a file of a bundle, and its checksums with it.
fn changed(files: &Files, name: &str, change: impl Fn(&str) -> String) -> Result<Files> {
    use sha2::Digest as _;
    let mut files = files.clone();
    for (file, content) in &mut files {
        if file == name {
            *content = change(std::str::from_utf8(content)?).into_bytes();
        }
    }
    let sums: Vec<Value> = files
        .iter()
        .filter(|(name, _)| name.contains(".jsonl"))
        .map(|(name, content)| {
            json!({"name": name, "bytes": content.len(), "sha256": hex::encode(sha2::Sha256::digest(content))})
        })
        .collect();
    let lines = files.iter().find(|(name, _)| name == "cards.jsonl").context("cards")?.1.clone();
    for (file, content) in &mut files {
        if file == "bundle.json" && name != "bundle.json" {
            let mut manifest: Value = serde_json::from_slice(content)?;
            manifest["files"] = Value::Array(sums.clone());
            manifest["cards"] = json!(String::from_utf8(lines.clone())?.lines().count());
            *content = manifest.to_string().into_bytes();
        }
    }
    Ok(files)
}

/// Tries to import it, which has to fail as a whole; gives what was said.
async fn refused(place: &Workplace, node: &Node, bytes: &[u8], what: &str) -> Result<String> {
    let path = place.path("hostile.toolcards");
    std::fs::write(&path, bytes)?;
    let source = ImportSource::Path(path.display().to_string());
    let mut output_text = Vec::new();
    for landing in [Landing::Review, Landing::Library] {
        let request = ImportRequest { landing, ..ImportRequest::new(source.clone()) };
        let error = match node.call::<StartImport>(request).await {
            Err(error) => error,
            Ok(job) => {
                let mut after = 0;
                loop {
                    let job = node.call::<WaitJob>(JobWait { job: job.job.clone(), after }).await?;
                    match job.state {
                        JobState::Running => after = job.version,
                        JobState::Failed => break job.error.context("an error")?,
                        _ => anyhow::bail!("{what} was imported: {job:?}"),
                    }
                }
            }
        };
        ensure!(!error.remedy.is_empty(), "{what}: {error:?}");
        ensure!(error.code != ErrorCode::Internal, "{what}: {error:?}");
        output_text.push(error.message);
    }
    let cards =
        node.call::<ListCards>(CardList { query: CardsQuery::default(), offset: 0, limit: 9 }).await?;
    ensure!(cards.total == 0, "{what}: {} cards are in the library", cards.total);
    let waiting = ProposalsQuery { state: Some(ProposalState::Pending) };
    ensure!(node.call::<ListProposals>(waiting).await?.rows.is_empty(), "{what}: proposals wait");
    ensure!(node.call::<ListImports>(Nothing {}).await?.is_empty(), "{what}: an import is noted");
    Ok(output_text.remove(0))
}

#[tokio::test(flavor = "multi_thread")]
async fn an_invalid_bundle_changes_nothing_and_is_explained() -> Result<()> {
    let (maker, victim) = (Workplace::with_stand_in()?, Workplace::with_stand_in()?);
    let signed = {
        let node = maker.node(64).await?;
        bundle(&maker, &node, "good.toolcards", true).await?
    };
    let good: Files = signed.iter().filter(|(name, _)| name != "signature.json").cloned().collect();
    let node = victim.node(64).await?;
    let with = |name: &str, content: &[u8]| {
        let mut files = good.clone();
        files.push((name.to_owned(), content.to_vec()));
        files
    };
    let line = |n: usize| json!({"id": format!("card-{n}")}).to_string();
    let cases: Vec<(&str, Vec<u8>, &str)> = vec![
        ("a path", pack(&with("../../.bashrc", b"x"))?, "is not allowed"),
        ("an absolute path", pack(&with("/etc/cron.d/x", b"x"))?, "is not allowed"),
        (
            "a later version",
            pack(&changed(&good, "bundle.json", |text| text.replace("\"version\": 1", "\"version\": 9"))?)?,
            "version 9",
        ),
        (
            "a million cards",
            pack(&changed(&good, "bundle.json", |text| text.replace("\"cards\": 3", "\"cards\": 1000000"))?)?,
            "too large",
        ),
        (
            "a bomb",
            pack(&changed(&good, "cards.jsonl", |text| format!("{text}{}", " ".repeat(200 << 20)))?)?,
            "too large",
        ),
        (
            "a field of 100 MB",
            pack(&changed(&good, "cards.jsonl", |text| {
                text.replacen("Lets a program", &"x".repeat(100 << 20), 1)
            })?)?,
            "too large",
        ),
        (
            "a signature for something else",
            pack(&changed(&signed, "cards.jsonl", |text| {
                text.replacen("Lets a program", "Lets nobody", 1)
            })?)?,
            "signature",
        ),
        ("lines that are none", pack(&changed(&good, "cards.jsonl", |_| line(1))?)?, "damaged"),
        ("nothing at all", b"PK\x03\x04".to_vec(), "not a bundle"),
    ];
    for (what, bytes, says) in cases {
        let output_text = refused(&victim, &node, &bytes, what).await?;
        ensure!(output_text.contains(says), "{what}: {output_text}");
        ensure!(output_text.len() < 600, "{what}: a message of {} letters", output_text.len());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn signers_are_remembered_and_another_key_is_reported() -> Result<()> {
    let (alice, mallory, bob) =
        (Workplace::with_stand_in()?, Workplace::with_stand_in()?, Workplace::with_stand_in()?);
    let signed = |place: &Workplace, files: &Files| -> Result<std::path::PathBuf> {
        let path = place.path("sent.toolcards");
        std::fs::write(&path, pack(files)?)?;
        Ok(path)
    };
    let first = {
        let node = alice.node(64).await?;
        signed(&alice, &bundle(&alice, &node, "a.toolcards", true).await?)?
    };
    let forged = {
        // The same author's name, another key.
        let node = mallory.node(64).await?;
        signed(&mallory, &bundle(&mallory, &node, "m.toolcards", true).await?)?
    };
    let node = bob.node(64).await?;
    let trust = async |path: &Path| -> Result<(Trust, String)> {
        let source = ImportSource::Path(path.display().to_string());
        let request = ImportPreviewRequest { source, status: None, offset: 0, limit: 1 };
        let signature = node.call::<PreviewImport>(request).await?.about.signature;
        Ok((signature.trust, signature.key))
    };
    let (new, key) = trust(&first).await?;
    assert_eq!(new, Trust::New);
    assert!(node.call::<ListKeys>(Nothing {}).await?.known.is_empty(), "looking is not meeting");
    import(&node, &first, Landing::Review).await?;
    assert_eq!(trust(&first).await?.0, Trust::Known);
    assert_eq!(trust(&forged).await?.0, Trust::OtherKey);
    let source = ImportSource::Path(forged.display().to_string());
    let at_once = ImportRequest { landing: Landing::Library, ..ImportRequest::new(source) };
    let refused = node.call::<StartImport>(at_once).await.expect_err("whoever signed it is not the author");
    assert_eq!(refused.code, ErrorCode::Conflict);
    let mut stripped = files(&first)?;
    stripped.retain(|(name, _)| name != "signature.json");
    let bare = bob.path("bare.toolcards");
    std::fs::write(&bare, pack(&stripped)?)?;
    assert_eq!(trust(&bare).await?.0, Trust::Stripped);
    let trusted = autokit_api::KeyTrust { key: key.clone(), trusted: true, signer: String::new() };
    node.call::<SetKeyTrust>(trusted).await?;
    assert_eq!(trust(&first).await?.0, Trust::Trusted);
    node.call::<ForgetKey>(autokit_api::KeyRef { key }).await?;
    assert_eq!(trust(&first).await?.0, Trust::New);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn vectors_of_other_texts_are_not_used() -> Result<()> {
    let (maker, victim) = (Workplace::with_stand_in()?, Workplace::with_stand_in()?);
    let path = maker.path("made.toolcards");
    {
        let node = maker.node(64).await?;
        let file = maker.cards_file("cards.json", &made_up_cards(40))?;
        replace(&node, &file).await?;
        let request = autokit_api::ExportRequest {
            path: Some(path.display().to_string()),
            format: autokit_api::Format::Bundle,
            vectors: true,
            ..Default::default()
        };
        node.call::<Export>(request).await?;
    }
    // Every card gets the vectors of another one: unit vectors, whole, and wrong.
    let swapped = changed(&files(&path)?, "vectors.jsonl", |text| {
        let lines: Vec<Value> = text.lines().filter_map(|line| serde_json::from_str(line).ok()).collect();
        let data = |at: usize| lines[(at + 1) % lines.len()]["data"].clone();
        let swap = |(at, line): (usize, &Value)| json!({ "id": line["id"], "data": data(at) }).to_string();
        lines.iter().enumerate().map(swap).collect::<Vec<_>>().join("\n") + "\n"
    })?;
    let sent = victim.path("swapped.toolcards");
    std::fs::write(&sent, pack(&swapped)?)?;
    let node = victim.node(64).await?;
    import(&node, &sent, Landing::Library).await?;
    let query = "create invoices 1";
    let search = |text: &str| autokit_api::SearchRequest {
        query: text.to_owned(),
        limit: Some(40),
        mode: Some(autokit_app::Mode::Vector),
    };
    let honest = maker.node(64).await?;
    let ranked = async |node: &Node| -> Result<Vec<CardId>> {
        let found = node.call::<autokit_api::commands::Search>(search(query)).await?;
        Ok(found.results.iter().map(|hit| hit.id.clone()).collect())
    };
    assert_eq!(ranked(&node).await?, ranked(&honest).await?);
    Ok(())
}
