//! Documents and code as people and agents reach them: a PDF by its address, and the tools of agents, which reach no further
//! than their profile.

use std::fmt::Write as _;

use anyhow::{Context as _, Result, ensure};
use autokit_api::commands::{SetProfile, SetProviders};
use autokit_api::{Profile, ProviderSettings};
use autokit_app::{Need, Permission};
use autokit_tests::Workplace;
use autokit_tests::mcp::{Agent, Generation};
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
use serde_json::{Value, json};
use tokio::net::TcpListener;

/// A PDF of one page with one line of text.
fn pdf(line: &str) -> Vec<u8> {
    let content = format!("BT /F1 12 Tf 72 720 Td ({line}) Tj ET");
    let objects = [
        "<< /Type /Catalog /Pages 2 0 R >>".to_owned(),
        "<< /Type /Pages /Kids [3 0 R] /Count 1 >>".to_owned(),
        "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents 4 0 R /Resources << /Font << /F1 5 0 R >> >> >>"
            .to_owned(),
        format!("<< /Length {} >>\nstream\n{content}\nendstream", content.len()),
        "<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >>".to_owned(),
    ];
    let (mut file, mut offsets) = (String::from("%PDF-1.4\n"), Vec::new());
    for (at, object) in objects.iter().enumerate() {
        offsets.push(file.len());
        let _ = write!(file, "{} 0 obj\n{object}\nendobj\n", at + 1);
    }
    let start = file.len();
    let _ = write!(file, "xref\n0 {}\n0000000000 65535 f \n", offsets.len() + 1);
    for offset in &offsets {
        let _ = writeln!(file, "{offset:010} 00000 n ");
    }
    let _ =
        write!(file, "trailer\n<< /Size {} /Root 1 0 R >>\nstartxref\n{start}\n%%EOF\n", offsets.len() + 1);
    file.into_bytes()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_pdf_is_read_from_its_address() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let at = listener.local_addr()?;
    let manual = pdf("The spare key of the boathouse hangs behind the red lantern.");
    let app = Router::new()
        .route("/manual", get(move || async move { ([(CONTENT_TYPE, "application/pdf")], manual) }))
        .route(
            "/picture",
            get(|| async { ([(CONTENT_TYPE, "image/png")], b"\x89PNG\r\n\x1a\n\0\0\0".to_vec()) }),
        );
    tokio::spawn(async move { axum::serve(listener, app).await });

    let place = Workplace::with_stand_in()?;
    let node = place.node(64).await?;
    let mut settings = ProviderSettings::default();
    settings.network.allowed_hosts = vec![at.to_string()];
    node.call::<SetProviders>(settings).await?;
    node.close().await?;
    let manual = format!("http://{at}/manual");
    place.json(&["docs", "add", &manual])?;
    let found = place.json(&["docs", "search", "where is the spare key of the boathouse"])?;
    let hit = &found["hits"][0];
    ensure!(hit["text"].as_str().is_some_and(|text| text.contains("behind the red lantern")), "{found}");
    ensure!(
        hit["page"] == 1 && hit["citation"].as_str().is_some_and(|cited| cited.starts_with(&manual)),
        "{found}"
    );

    let (_, error) = place.failure(&["docs", "add", &format!("http://{at}/picture")])?;
    ensure!(error.to_string().contains("not text"), "{error}");
    Ok(())
}

#[test]
fn a_process_that_just_started_has_the_vectors_of_documents() -> Result<()> {
    let place = Workplace::with_model()?;
    let folder = place.path("manuals");
    std::fs::create_dir_all(&folder)?;
    std::fs::write(
        folder.join("boats.md"),
        "# Keys\n\nThe spare key of the boathouse hangs behind the lantern.\n",
    )?;
    place.json(&["docs", "add", &folder.display().to_string()])?;
    let list = place.json(&["docs", "list"])?;
    let source = &list["sources"][0];
    ensure!(source["passages"] == 1 && source["embedded"] == 1, "{list}");
    // One that cannot be read is not called unchanged, the second time either.
    std::fs::write(folder.join("broken.pdf"), "not a PDF")?;
    for _ in 0..2 {
        let refreshed =
            String::from_utf8(place.run(&["docs", "refresh", &folder.display().to_string()])?.stdout)?;
        ensure!(refreshed.contains("1 unchanged, 1 not readable"), "{refreshed}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn agents_add_and_search_what_their_profile_may_read() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let (notes, private) = (place.path("notes"), place.path("private"));
    for folder in [&notes, &private] {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(
        notes.join("boats.md"),
        "# Boats\n\n## Keys\n\nThe spare key hangs behind the red lantern.\n",
    )?;
    std::fs::write(private.join("diary.md"), "# Diary\n\nNobody reads this.\n")?;
    let code = place.path("tides");
    std::fs::create_dir_all(&code)?;
    let source = "def next_high_water(harbour):\n    \"\"\"Returns the time of the next high water.\"\"\"\n    return harbour\n";
    std::fs::write(code.join("tides.py"), source)?;
    place.json(&["code", "index", &code.display().to_string()])?;

    let node = place.node(64).await?;
    let mut profile = Profile::default();
    profile.permissions.set(&Need::Files { folder: notes.display().to_string() }, Permission::Allow);
    node.call::<SetProfile>(profile).await?;
    for generation in Generation::BOTH {
        let mut agent = Agent::over_stdio(&place, generation).await?;
        agent.search("add a document").await?;
        let boats = json!({"location": notes.join("boats.md").display().to_string()});
        let (text, failed) = agent.use_tool("add_document", boats).await?;
        ensure!(!failed, "{text}");
        let diary = json!({"location": private.join("diary.md").display().to_string()});
        let (text, failed) = agent.use_tool("add_document", diary).await?;
        ensure!(failed && text.contains("not in a folder you can read"), "{text}");

        agent.search("search my documents").await?;
        let question = json!({"question": "where does the spare key hang", "limit": 1});
        let (text, failed) = agent.use_tool("rag_search", question).await?;
        ensure!(!failed, "{text}");
        let found: Value = serde_json::from_str(&text)?;
        let piece = found["pieces"].get(0).context("a piece")?;
        ensure!(piece["under"] == "Boats > Keys", "{found}");
        ensure!(piece["source"].as_str().is_some_and(|source| source.contains("boats.md#")), "{found}");

        agent.search("search code for a function").await?;
        let description = json!({"description": "time of the next high water", "limit": 1});
        let (text, failed) = agent.use_tool("code_search", description).await?;
        ensure!(!failed, "{text}");
        let found: Value = serde_json::from_str(&text)?;
        let function = found["pieces"].get(0).context("a function")?;
        ensure!(function["name"] == "next_high_water" && function["kind"] == "function", "{found}");
        agent.disconnect().await?;
    }
    node.close().await?;
    Ok(())
}
