//! Starter cards: some can be called at once, and every card has code to start with.

use std::collections::HashSet;
use std::sync::{Arc, Mutex};

use anyhow::{Context, Result, ensure};
use autokit_api::commands::{CreateCard, GetCard, GetStarter, GetTool, ListCards, LoadStarter, SetProviders};
use autokit_api::{
    CardCreate, CardList, CardRef, CardSummary, CardsQuery, Nothing, ProviderSettings, ToolRef,
};
use autokit_app::engine::Vectors;
use autokit_app::node::Node;
use autokit_app::secrets::KeyStorage;
use autokit_tests::Workplace;
use autokit_tests::agent::wait_for_job;
use autokit_tests::tools::call_by_hand;
use axum::Router;
use axum::extract::State;
use reqwest::Url;
use serde_json::{Value, json};

/// Addresses that were asked for: path and query.
type Asked = Arc<Mutex<Vec<String>>>;

async fn api() -> Result<(String, Asked)> {
    let asked = Asked::default();
    let answer = |State(asked): State<Asked>, uri: axum::http::Uri| async move {
        asked.lock().expect("no holder panics").push(uri.to_string());
        axum::Json(json!({ "ok": true }))
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await?;
    let address = format!("http://{}", listener.local_addr()?);
    let router = Router::new().fallback(answer).with_state(Arc::clone(&asked));
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok((address, asked))
}

async fn starter_cards(node: &Node) -> Result<Vec<CardSummary>> {
    let job = node.call::<LoadStarter>(Nothing {}).await?;
    wait_for_job(node, &job.job).await?;
    let list = CardList { query: CardsQuery::default(), offset: 0, limit: 1000 };
    Ok(node.call::<ListCards>(list).await?.rows)
}

/// Returns the path and the query of an address, as a set of names and values.
fn parts(address: &str) -> Result<(String, HashSet<(String, String)>)> {
    let url = Url::parse(address)?;
    Ok((url.path().to_owned(), url.query_pairs().into_owned().collect()))
}

/// Without a key and without an import: a call by hand of each sends what the command on its card sends.
#[tokio::test(flavor = "multi_thread")]
async fn operations_without_a_key_can_be_called_at_once() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node_with(Vectors::StandIn(32), KeyStorage::Memory).await?;
    let (address, asked) = api().await?;
    let host = address.trim_start_matches("http://").to_owned();
    let mut settings = ProviderSettings::default();
    settings.network.allowed_hosts = vec![host];
    node.call::<SetProviders>(settings).await?;
    let callable: Vec<CardSummary> =
        starter_cards(&node).await?.into_iter().filter(|card| card.callable).collect();
    ensure!(callable.len() >= 8, "{} callable", callable.len());
    for card in callable {
        // The card itself is called, but for its server, which is one on this machine.
        let mut fields = node.call::<GetCard>(CardRef { card: card.id.to_string() }).await?.fields;
        let command = fields["usage"].as_str().context("a command")?.to_owned();
        fields["call"]["servers"][0]["url"] = address.clone().into();
        fields.insert("provider".to_owned(), format!("{} here", card.provider).into());
        let create = CardCreate { fields, reason: String::new(), flagged_too: false };
        let tool = node.call::<CreateCard>(create).await?.summary.id.to_string();
        let view = node.call::<GetTool>(ToolRef { tool: tool.clone(), profile: String::new() }).await?;
        let outcome = call_by_hand(&node, &tool, Value::Object(view.example), Vec::new()).await?;
        ensure!(!outcome.failed, "{}: {outcome:?}", card.name);
        let sent = asked.lock().expect("no holder panics").pop().context("a request")?;
        let (path, query) = parts(&format!("{address}{sent}"))?;
        let (wanted_path, wanted) = parts(command.split('\'').nth(1).context("a quoted address")?)?;
        ensure!(path == wanted_path && query.is_superset(&wanted), "{}: {sent} for {command}", card.name);
    }
    node.close().await?;
    Ok(())
}

/// What to install is on every card of a package or program, and no key is part of any code.
#[tokio::test(flavor = "multi_thread")]
async fn every_card_has_code_to_start_with() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node_with(Vectors::StandIn(32), KeyStorage::Memory).await?;
    let cards = starter_cards(&node).await?;
    for card in &cards {
        let starter = node.call::<GetStarter>(CardRef { card: card.id.to_string() }).await?;
        let starter = starter.with_context(|| format!("{} has no starter code", card.name))?;
        let installed = matches!(card.kind.as_str(), "class" | "cli");
        ensure!(starter.install.is_some() == installed, "{}: {:?}", card.name, starter.install);
        if starter.language == "python" {
            ensure!(!starter.code.contains("${"), "{}: {}", card.name, starter.code);
            ensure!(
                starter.variables.is_empty() || starter.code.starts_with("import os\n"),
                "{}",
                starter.code
            );
        }
    }
    node.close().await?;
    Ok(())
}
