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
use autokit_tests::log::Log;
use autokit_tests::model::{ModelRequest, Reply, RequestKind, ScriptedModel};
use autokit_tests::{Workplace, program};
use autokit_toolcard::SessionId;
use serde_json::{Value, json};

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

/// Every command there is, with a request that does something.
fn requests(session: &SessionId, folder: &Path, server: &Path) -> Vec<(&'static str, Value)> {
    let file = folder.join("export.json").display().to_string();
    let mut fields = cards()[0].clone();
    fields["name"] = json!("Another");
    let query = json!({});
    vec![
        ("status_get", json!({})),
        ("answers_get", json!({ "question": "news" })),
        ("cards_search", json!({ "query": "news" })),
        ("cards_list", json!({ "query": query, "offset": 0, "limit": 10 })),
        ("cards_facets", query),
        ("cards_get", json!({ "card": "NewsAPI" })),
        ("cards_starter", json!({ "card": "NewsAPI" })),
        ("cards_validate", json!({ "fields": fields })),
        ("cards_create", json!({ "fields": fields, "reason": "" })),
        ("cards_update", json!({ "card": "Another", "expected": null, "fields": fields, "reason": "again" })),
        ("cards_history", json!({ "card": "Another" })),
        ("cards_restore", json!({ "card": "Another", "number": 1 })),
        ("cards_edit", json!({ "cards": ["Another"], "add_tags": ["new"] })),
        ("collections_list", json!({})),
        ("collections_change", json!({ "collection": "Best", "cards": ["Another"], "included": true })),
        ("collections_rename", json!({ "collection": "Best", "name": "Better" })),
        ("collections_remove", json!({ "collection": "Better" })),
        ("duplicates_find", json!({})),
        ("duplicates_list", json!({})),
        ("duplicates_dismiss", json!({ "cards": ["Another", "NewsAPI"], "dismissed": true })),
        ("cards_merge_preview", json!({ "keep": "NewsAPI", "remove": "Another" })),
        ("cards_merge", json!({ "keep": "NewsAPI", "remove": "none" })),
        ("cards_delete", json!({ "cards": ["Another"] })),
        ("changes_undo", json!({})),
        ("changes_redo", json!({})),
        ("exports_write", json!({ "path": file })),
        ("imports_preview", json!({ "source": { "path": file }, "limit": 10 })),
        ("imports_start", json!({ "source": { "path": file } })),
        ("imports_list", json!({})),
        ("imports_undo", json!({ "import": "none" })),
        ("exports_preview", json!({ "history": true })),
        ("subscriptions_list", json!({})),
        ("subscriptions_add", json!({ "source": { "path": file }, "every_hours": 24 })),
        ("subscriptions_remove", json!({ "id": "none" })),
        ("subscriptions_check", json!({})),
        ("bundles_sign", json!({ "path": file })),
        ("bundle_keys_list", json!({})),
        ("bundle_keys_create", json!({})),
        ("bundle_keys_trust", json!({ "key": "none", "trusted": true })),
        ("bundle_keys_forget", json!({ "key": "none" })),
        ("starter_load", json!({})),
        ("jobs_list", json!({})),
        ("jobs_wait", json!({ "job": "none", "after": 0 })),
        ("jobs_cancel", json!({ "job": "none" })),
        ("jobs_pause", json!({ "job": "none", "paused": true })),
        ("checks_start", json!({ "scope": { "kind": "cards", "cards": ["none"] } })),
        ("checks_get", json!({ "card": "none" })),
        ("check_settings_get", json!({})),
        ("check_settings_set", json!({ "every_days": 30, "new_cards": true })),
        ("models_list", json!({})),
        // Of a name nobody has: a model of the list would be fetched from the network.
        ("models_pull", json!({ "name": "none" })),
        ("models_use", json!({ "name": "none" })),
        ("sessions_discover", json!({ "question": NEED })),
        ("sessions_ask", json!({ "question": "find news" })),
        ("sessions_research", json!({ "question": "find news", "rounds": 1 })),
        ("sessions_get", json!({ "session": session })),
        ("sessions_wait", json!({ "session": session, "after": 0 })),
        ("sessions_cancel", json!({ "session": session })),
        ("sessions_list", json!({})),
        ("sessions_feedback", json!({ "session": session, "helpful": true, "said": "a letter" })),
        ("sessions_delete", json!({ "sessions": ["none"] })),
        ("findings_propose", json!({ "session": session, "url": "https://none.example" })),
        ("cards_describe", json!({ "text": "Weather Kit is a library that gives forecasts." })),
        ("proposals_list", json!({})),
        ("proposals_get", json!({ "id": 1 })),
        ("proposals_accept", json!({ "id": 1, "edits": {}, "reason": "" })),
        ("proposals_reject", json!({ "id": 1, "reason": "" })),
        ("proposals_reopen", json!({ "id": 1 })),
        ("proposals_comment", json!({ "id": 1, "words": "is this so?" })),
        ("proposals_assign", json!({ "id": 1, "to": "ann" })),
        ("proposals_preview", json!({ "ids": [1] })),
        ("proposals_accept_safe", json!({ "ids": [], "seen": "" })),
        ("review_policy_get", json!({})),
        ("review_policy_set", json!({ "approvals": 1, "reviewer": "" })),
        ("health_get", json!({})),
        // Of one card: those AutoKit comes with name pages on the network.
        ("pages_fetch", json!({ "cards": ["NewsAPI"] })),
        ("pages_get", json!({ "card": "NewsAPI" })),
        ("memory_add", json!({ "kind": "documents", "location": "/nothing/is/here" })),
        ("memory_list", json!({})),
        ("memory_search", json!({ "query": "mail" })),
        ("memory_refresh", json!({ "source": "none" })),
        ("memory_remove", json!({ "source": "none" })),
        ("refine_start", json!({ "scope": { "of": "tools", "tools": ["none"] } })),
        ("refine_get", json!({})),
        ("code_tools_list", json!({ "folder": folder.display().to_string() })),
        ("code_tools_propose", json!({ "folder": folder.display().to_string() })),
        ("generated_list", json!({})),
        ("generated_start", json!({ "need": "count words", "language": "python" })),
        ("generated_get", json!({})),
        ("generated_retire", json!({ "card": "NewsAPI" })),
        ("macros_list", json!({})),
        ("macros_propose", json!({ "calls": [1] })),
        ("providers_get", json!({})),
        ("spending_reset", json!({})),
        ("providers_models", json!({ "kind": "openai", "base": "" })),
        ("providers_test", json!({ "connection": "llm" })),
        ("servers_list", json!({})),
        ("servers_add", json!({ "name": "none", "reach": { "transport": "stdio", "command": server } })),
        ("market_sources_list", json!({})),
        // The discard port, which nobody allowed: nothing is asked.
        ("market_sources_add", json!({ "url": "http://127.0.0.1:9" })),
        ("market_search", json!({ "query": "mail" })),
        ("market_install", json!({ "source": "none", "id": "io.example/none" })),
        ("market_sources_remove", json!({ "id": "none" })),
        ("servers_read", json!({ "text": "{\"mcpServers\": {}}" })),
        ("activity_get", json!({ "days": 7 })),
        ("audit_list", json!({ "days": 7, "limit": 10 })),
        ("profiles_list", json!({})),
        ("profiles_set", json!({ "name": "some" })),
        ("profiles_remove", json!({ "name": "some" })),
        ("variants_list", json!({})),
        ("variants_add", json!({ "card": "NewsAPI", "description": "Finds the news of a day." })),
        ("variants_set", json!({ "card": "NewsAPI", "variant": "v2", "withdrawn": true })),
        ("variants_end", json!({ "card": "NewsAPI" })),
        ("agent_sessions_set", json!({})),
        ("approvals_wait", json!({ "after": 0 })),
        ("approvals_answer", json!({ "id": "none", "reply": "no" })),
        ("tools_list", json!({ "limit": 10 })),
        ("tools_get", json!({ "tool": "get_time" })),
        ("tools_run", json!({ "tool": "get_time" })),
        ("tools_outcome", json!({ "job": "none" })),
        ("api_keys_list", json!({})),
        ("personalization_get", json!({})),
        ("personalization_set", json!({ "enabled": true })),
        ("personalization_learn", json!({})),
        ("personalization_reset", json!({})),
        ("personalization_export", json!({})),
        ("vocabulary_list", json!({ "kind": "name" })),
        ("vocabulary_set", json!({ "kind": "name", "text": "borealis = deployments" })),
        ("vocabulary_remove", json!({ "bundle": "none" })),
        (
            "api_keys_set",
            json!({ "origin": "https://x.test", "scheme": "k", "place": "header K", "secret": { "sort": "key", "key": "none" } }),
        ),
        ("api_keys_remove", json!({ "origin": "https://x.test", "scheme": "k" })),
        ("clients_list", json!({})),
        ("clients_connect", json!({ "id": "none", "seen": "" })),
        ("clients_disconnect", json!({ "id": "none", "seen": "" })),
        ("mcp_http_get", json!({})),
        ("mcp_http_set", json!({ "enabled": false })),
        ("mcp_http_renew", json!({})),
        ("servers_refresh", json!({ "name": "none" })),
        ("servers_remove", json!({ "name": "none" })),
        ("backups_list", json!({})),
        ("backups_create", json!({})),
        ("backups_inspect", json!({ "name": "none" })),
        ("backups_restore", json!({ "name": "none" })),
        ("missing_changes_accept", json!({})),
        ("profiles_change", json!({"before": {"name": "x"}, "after": {"name": "x"}})),
        ("diagnostics_run", json!({})),
        ("teams_list", json!({})),
        // Of the discard port, where nobody answers.
        (
            "teams_create",
            json!({
                "server": "ws://127.0.0.1:9", "owner": "root", "owner_password": "root",
                "id": "none", "name": "None", "member": "ann", "password": "a long password",
            }),
        ),
        (
            "teams_join",
            json!({
                "invitation": "autokit://join?server=ws%3A%2F%2F127.0.0.1%3A9&invitation=none.none",
                "member": "ann", "password": "a long password",
            }),
        ),
        ("teams_unsent", json!({ "id": "none" })),
        ("teams_leave", json!({ "id": "none" })),
        ("team_get", json!({})),
        ("team_sync", json!({})),
        ("team_members", json!({})),
        ("team_policy_get", json!({})),
        ("team_policy_set", json!({ "low": 1, "medium": 1, "high": 2 })),
        ("team_invite", json!({ "role": "reader", "days": 1 })),
        ("team_member_change", json!({ "name": "ann", "active": false })),
    ]
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
    let requests = requests(&session.id, &place.path(""), &program("tools-server")?);
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
