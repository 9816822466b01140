//! Documents by address: a PDF is read like one on disk, and what is no document says so.

use std::fmt::Write as _;

use anyhow::{Result, ensure};
use autokit_api::ProviderSettings;
use autokit_api::commands::SetProviders;
use autokit_tests::Workplace;
use axum::Router;
use axum::http::header::CONTENT_TYPE;
use axum::routing::get;
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
