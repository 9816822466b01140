//! What the terminal says about a check: in plain words, with a way on, and by exit code.

use anyhow::{Context, Result, ensure};
use autokit_api::commands::SetProviders;
use autokit_api::{NetworkSettings, ProviderSettings};
use autokit_tests::Workplace;
use autokit_tests::agent::{provider_settings, set_providers};
use autokit_tests::site::Site;
use serde_json::json;

use crate::place::{Ahead, add, open};

/// What `autokit verify Widget` says, and its exit code.
fn said(place: &Workplace) -> Result<(String, Option<i32>)> {
    let output = place.run(&["verify", "Widget"])?;
    let text = [output.stdout, output.stderr].map(|part| String::from_utf8_lossy(&part).into_owned());
    Ok((text.concat(), output.status.code()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_card_that_could_not_be_judged_keeps_its_state() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = Site::serve([]).await?;
    site.html(
        "/app",
        "<html><title>App</title><body><div id=\"root\"></div><script>run()</script></body></html>",
    );
    let node = open(&place, &Ahead::default(), false).await?;
    let card = json!({ "name": "Widget", "description": "Draws charts.", "documentation": site.url("/app") });
    add(&node, &card).await?;
    node.close().await?;
    drop(node);

    // Nobody allowed this host: said once, with the way to allow it.
    let (text, code) = said(&place)?;
    let host = site.url("").trim_start_matches("http://").trim_end_matches('/').to_owned();
    ensure!(code == Some(0), "{code:?}: {text}");
    ensure!(text.contains(&format!("autokit providers allow {host}")), "{text}");
    ensure!(text.contains("unreachable") && text.matches("(127.0.0.1)").count() == 0, "{text}");

    let node = open(&place, &Ahead::default(), false).await?;
    set_providers(&node, None, Some(&site)).await?;
    node.close().await?;
    drop(node);
    let (text, code) = said(&place)?;
    ensure!(code == Some(0), "{code:?}: {text}");
    ensure!(text.contains("almost no text without JavaScript, so it was not checked"), "{text}");
    ensure!(!text.contains('✗') && !text.contains(" 0%"), "{text}");
    let listed = String::from_utf8(place.run(&["cards", "list", "--health", "unreachable"])?.stdout)?;
    ensure!(listed.contains("unreachable"), "{listed}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_gone_is_a_finding_and_no_network_a_failure() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = Site::serve([]).await?;
    let node = open(&place, &Ahead::default(), false).await?;
    set_providers(&node, None, Some(&site)).await?;
    let card =
        json!({ "name": "Widget", "description": "Draws charts.", "documentation": site.url("/none") });
    let id = add(&node, &card).await?;
    node.close().await?;
    drop(node);
    let (text, code) = said(&place)?;
    ensure!(code == Some(0) && text.contains("broken"), "{code:?}: {text}");

    let node = open(&place, &Ahead::default(), false).await?;
    let network = NetworkSettings { allowed_hosts: vec!["127.0.0.1".into()], proxy: None };
    node.call::<SetProviders>(ProviderSettings { network, ..provider_settings(None, None) }).await?;
    let card = node.call::<autokit_api::commands::GetCard>(autokit_api::CardRef { card: id.to_string() });
    let mut fields = card.await?.fields;
    fields.insert("documentation".into(), json!("http://127.0.0.1:9/docs"));
    let update = autokit_api::CardUpdate {
        card: id.to_string(),
        expected: None,
        fields,
        reason: String::new(),
        flagged_too: false,
    };
    node.call::<autokit_api::commands::UpdateCard>(update).await?;
    node.close().await?;
    drop(node);
    let (code, error) = place.failure(&["verify", "Widget"])?;
    ensure!(code == 6, "{code}: {error}");
    ensure!(error["message"].as_str().context("a message")?.contains("no network connection"), "{error}");
    Ok(())
}
