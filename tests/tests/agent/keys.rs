//! A planted key: it reaches the service it is for, and nothing else.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use autokit_api::commands::{NAMES, SetSecret};
use autokit_api::{KeyName, SecretSet};
use autokit_app::engine::Vectors;
use autokit_app::node::Node;
use autokit_app::secrets::KeyStorage;
use autokit_tests::agent::{ask, give_feedback, set_providers, start, wait_for_jobs, wait_for_session};
use autokit_tests::commands::every_command;
use autokit_tests::log::Log;
use autokit_tests::model::{ModelRequest, Reply, RequestKind, ScriptedModel};
use autokit_tests::{Workplace, program};
use autokit_toolcard::SessionId;
use serde_json::json;

use autokit_tests::calendar::{NEED, cards, site, stock};

/// Says something to everything.
fn chatty(request: &ModelRequest) -> Reply {
    let wanted = request.schema_name();
    match wanted {
        Some("tool_specify") => {
            return Reply::Json(json!({
                "name": "count_words", "purpose": "Counts words.", "returns": "A number.", "limits": "",
                "parameters": { "type": "object", "properties": { "text": { "type": "string" } } }, "side_effects": [],
            }));
        }
        Some("tool_write") => {
            return Reply::Json(json!({
                "source": "def run(text):\n    return len(text.split())", "tests": "",
                "examples": [
                    { "arguments": { "text": "a b" }, "result": 2 },
                    { "arguments": { "text": "a" }, "result": 1 },
                ],
            }));
        }
        _ => {}
    }
    match request.kind() {
        RequestKind::Claims | RequestKind::Description => Reply::status(400, "not asked here"),
        RequestKind::Scores => Reply::scores(request, "NewsAPI"),
        RequestKind::Answer => {
            Reply::answer(request.id_of("NewsAPI").as_deref(), "Finds news.", "It finds news.", "")
        }
        RequestKind::Grade => Reply::grade(request.prompt().contains("news"), "it is about news"),
        RequestKind::Rewrite => Reply::query("calendar"),
        RequestKind::Starter => {
            Reply::Json(json!({ "code": "from news_kit import NewsTool", "language": "python" }))
        }
        RequestKind::Web => Reply::call("finish", json!({ "pages": [] })),
        RequestKind::Text => Reply::Text("Yes.".into()),
    }
}

/// The files below a folder.
fn files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        if path.is_dir() {
            found.extend(files(&path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}

fn holds(bytes: &[u8], key: &str) -> bool {
    bytes.windows(key.len()).any(|window| window == key.as_bytes())
}

/// Keeps the key, asks with it, calls everything; gives what was answered and told.
async fn use_it(node: &Node, place: &Workplace, key: &str) -> Result<String> {
    let model = ScriptedModel::with_key(key, chatty).await?;
    let site = site().await?;
    let mut events = node.events();
    stock(node, &cards()).await?;
    let secret = SecretSet { name: KeyName::Openai, value: key.to_owned() };
    let mut heard = format!("{secret:?}");
    heard.push_str(&serde_json::to_string(&node.call::<SetSecret>(secret).await?)?);
    set_providers(node, Some(&model), Some(&site)).await?;

    let session = ask(node, "find news").await?;
    heard.push_str(&serde_json::to_string(&give_feedback(node, &session.id, true, "a letter").await?)?);
    // Refused keys and stopped questions go ways of their own.
    let stopped = start(node, NEED).await?;
    heard.push_str(&node.call_json("sessions_cancel", json!({ "session": stopped })).await?.to_string());
    let requests = every_command(&session.id, &place.path(""), &program("tools-server")?);
    for name in NAMES {
        let excused = matches!(*name, "providers_set" | "secrets_set");
        ensure!(excused || requests.iter().any(|(asked, _)| asked == name), "{name} is not tried");
    }
    let mut answered = 0;
    for (name, request) in requests {
        match node.call_json(name, request).await {
            Ok(answer) => {
                answered += 1;
                heard.push_str(&answer.to_string());
                if let Some(session) = answer["session"].as_str() {
                    wait_for_session(node, &SessionId::new(session)).await?;
                }
            }
            Err(error) => write!(heard, "{error:?}")?,
        }
    }
    ensure!(answered > 28, "most requests fit: {answered}");
    wait_for_jobs(node).await?;
    ensure!(
        model.authorized_requests() >= 5,
        "the service got the key {} times",
        model.authorized_requests()
    );
    while let Ok(event) = events.try_recv() {
        heard.push_str(&serde_json::to_string(&event)?);
    }
    write!(heard, "{node:?}")?;
    Ok(heard)
}

async fn planted(keep: KeyStorage, key: &str) -> Result<()> {
    let log = Log::of_this_process();
    let place = Workplace::with_stand_in()?;
    let node = place.node_with(Vectors::StandIn(64), keep).await?;
    let heard = Box::pin(use_it(&node, &place, key)).await?;
    node.close().await?;
    ensure!(
        heard.len() > 10_000 && !holds(heard.as_bytes(), key),
        "an answer, an event or Debug output holds it"
    );
    let exported = std::fs::read(place.path("export.json"))?;
    ensure!(exported.len() > 100, "something was exported");
    let saved = files(&place.path(""))?;
    ensure!(saved.len() > 3, "{saved:?}");
    for file in saved {
        ensure!(!holds(&std::fs::read(&file)?, key), "{} holds it", file.display());
    }
    // The log reaches down to the client that sends the header.
    for who in ["hyper_util", "reqwest"] {
        ensure!(!log.lines_with(&[who]).is_empty(), "{who} logs nothing, so this would prove nothing");
    }
    let lines = log.lines_with(&[key]);
    ensure!(lines.is_empty(), "logged: {lines:?}");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_memory_is_seen_by_its_service_alone() -> Result<()> {
    Box::pin(planted(KeyStorage::Memory, "sk-planted-in-memory-4711")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_key_in_a_file_is_seen_by_its_service_alone() -> Result<()> {
    Box::pin(planted(KeyStorage::File, "sk-planted-in-a-file-4712")).await
}
