//! Tools that a model writes: checked in the sandbox, reviewed, called by agents, watched, improved and retired. Code that
//! reaches for more than its arguments is stopped, and the reviewer sees why.

#![cfg(target_os = "linux")]

use std::sync::Mutex;

use anyhow::{Context as _, Result, ensure};
use autokit_api::commands::{
    AcceptProposal, CreateCard, GenerateTool, GetGeneration, GetProposal, ListGeneratedTools, RetireTool,
    RunTool, SetProfile, SetProviders, UpdateCard,
};
use autokit_api::{
    CardCreate, CardRef, CardUpdate, CodeCheckKind, CodeCheckState, GenerateRequest, Generation,
    GenerationRef, Job, JobState, Nothing, Profile, ProposalAccept, ProposalGet, ToolAdvice, ToolRun,
    ToolRunStart,
};
use autokit_app::engine::Vectors;
use autokit_app::node::Node;
use autokit_app::secrets::KeyStorage;
use autokit_app::{ErrorCode, Need, Permission};
use autokit_tests::Workplace;
use autokit_tests::agent::{job_end, provider_settings};
use autokit_tests::mcp::{Agent, Generation as Protocol};
use autokit_tests::model::{ModelRequest, Reply, ScriptedModel};
use autokit_tests::tools::call_by_hand;
use serde_json::{Value, json};

const GOOD: &str = "def run(text):\n    words = text.split()\n    return {'words': len(words)}\n";
const TESTS: &str = "def test_two():\n    assert run('a b') == {'words': 2}\n\ndef test_none():\n    assert run('') == {'words': 0}\n";

fn specification(side_effects: &[&str]) -> Reply {
    Reply::Json(json!({
        "name": "count_words",
        "purpose": "Counts the words of a text.",
        "parameters": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
        "returns": "An object with `words`, a number.",
        "limits": "Words are what is between blanks.",
        "side_effects": side_effects,
    }))
}

fn code(source: &str) -> Reply {
    Reply::Json(json!({
        "source": source,
        "tests": TESTS,
        "examples": [
            {"arguments": {"text": "one two three"}, "result": {"words": 3}},
            {"arguments": {"text": "one"}, "result": {"words": 1}},
        ],
    }))
}

/// A model that specifies one tool and writes these one after the other, the last one again and again.
async fn writer(codes: &'static [&'static str]) -> Result<ScriptedModel> {
    let written = Mutex::new(0);
    ScriptedModel::with_script(move |request| match request.schema_name().unwrap_or_default() {
        "tool_specify" => specification(&[]),
        "tool_write" => {
            let mut at = written.lock().expect("no holder panics");
            let reply = code(codes[(*at).min(codes.len() - 1)]);
            *at += 1;
            reply
        }
        other => Reply::status(500, other),
    })
    .await
}

async fn node_with(place: &Workplace, model: &ScriptedModel) -> Result<Node> {
    let node = place.node_with(Vectors::StandIn(32), KeyStorage::Memory).await?;
    node.call::<SetProviders>(provider_settings(Some(model), None)).await?;
    Ok(node)
}

async fn generate(node: &Node, request: GenerateRequest) -> Result<(Job, Generation)> {
    let job = node.call::<GenerateTool>(request).await?.job;
    let ended = job_end(node, &job).await?;
    Ok((ended, node.call::<GetGeneration>(GenerationRef { job: Some(job) }).await?))
}

fn need(text: &str) -> GenerateRequest {
    GenerateRequest { need: text.to_owned(), ..GenerateRequest::default() }
}

async fn accept(node: &Node, generation: &Generation) -> Result<()> {
    let id = generation.proposal.context("a proposal")?;
    node.call::<AcceptProposal>(ProposalAccept { id, ..ProposalAccept::default() }).await?;
    Ok(())
}

fn state_of(generation: &Generation, attempt: usize, kind: CodeCheckKind) -> Option<CodeCheckState> {
    let checks = &generation.attempts.get(attempt)?.checks;
    checks.iter().find(|check| check.kind == kind).map(|check| check.state)
}

#[tokio::test(flavor = "multi_thread")]
async fn a_written_tool_is_checked_reviewed_and_called() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    // It reads a file first, then miscounts, then works.
    let model = writer(&[
        "def run(text):\n    return {'words': len(open('/etc/hostname').read())}\n",
        "def run(text):\n    return {'words': len(text)}\n",
        GOOD,
    ])
    .await?;
    let node = node_with(&place, &model).await?;
    let (job, generation) = generate(&node, need("I count words of texts all day")).await?;
    ensure!(job.state == JobState::Done, "{job:?} {generation:?}");
    ensure!(generation.attempts.len() == 3, "{generation:?}");
    ensure!(
        state_of(&generation, 0, CodeCheckKind::Access) == Some(CodeCheckState::Failed),
        "{generation:?}"
    );
    ensure!(
        state_of(&generation, 1, CodeCheckKind::Examples) == Some(CodeCheckState::Failed),
        "{generation:?}"
    );
    ensure!(state_of(&generation, 2, CodeCheckKind::Tests) == Some(CodeCheckState::Passed), "{generation:?}");
    // Each attempt is told what the one before showed.
    let asked: Vec<String> = model.requests().iter().map(ModelRequest::prompt).collect();
    ensure!(asked[2].contains("opens the file '/etc/hostname'"), "{}", asked[2]);
    ensure!(asked[3].contains("expected {\"words\":3}"), "{}", asked[3]);

    // The reviewer sees the code, its tests, what they showed, and the permission it needs.
    let id = generation.proposal.context("a proposal")?;
    let detail = node.call::<GetProposal>(ProposalGet::from(id)).await?;
    let fields = &detail.proposal.draft.fields;
    let function = fields.iter().find(|field| field.field == "function").context("the code")?;
    ensure!(function.value.as_ref().is_some_and(|value| value["source"] == GOOD.trim()), "{function:?}");
    let quotes: Vec<&str> = function.evidence.iter().map(|evidence| evidence.quote.as_str()).collect();
    for said in
        ["Tests passed: 2 of 2 passed.", "Examples passed", "Access passed", "Permission: to run python"]
    {
        ensure!(quotes.iter().any(|quote| quote.contains(said)), "{said}: {quotes:?}");
    }

    let run = ToolRun {
        tool: "count_words".to_owned(),
        profile: String::new(),
        arguments: serde_json::Map::from_iter([("text".to_owned(), json!("a b c d"))]),
        granted: Vec::new(),
    };
    ensure!(node.call::<RunTool>(run.clone()).await.is_err(), "nothing can be called before it is accepted");
    accept(&node, &generation).await?;
    // A person is asked before code runs.
    let ToolRunStart::Asks { needs, .. } = node.call::<RunTool>(run).await? else { anyhow::bail!("it asks") };
    ensure!(needs == [Need::Code { language: "python".to_owned() }], "{needs:?}");
    let outcome = call_by_hand(&node, "count_words", json!({"text": "a b c d"}), needs.clone()).await?;
    ensure!(!outcome.failed && serde_json::to_string(&outcome.blocks)?.contains('4'), "{outcome:?}");

    let mut profile = Profile::default();
    profile.permissions.set(&needs[0], Permission::Allow);
    node.call::<SetProfile>(profile).await?;
    for protocol in Protocol::BOTH {
        let mut agent = Agent::over_stdio(&place, protocol).await?;
        let found = agent.search("count_words").await?;
        let tool = found["results"][0]["name"].as_str().context("a name")?.to_owned();
        let (text, failed) = agent.use_tool(&tool, json!({"text": "a b c"})).await?;
        ensure!(!failed && text.contains("{\"words\":3}"), "{text}");
        let (text, failed) = agent.use_tool(&tool, json!({"text": 7})).await?;
        ensure!(failed, "{text}");
        agent.disconnect().await?;
    }
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn code_that_reaches_for_more_is_not_proposed() -> Result<()> {
    let reaching: [(&'static [&'static str], &str); 3] = [
        (&["import socket\ndef run(text):\n    return socket.gethostbyname(text)\n"], "uses the network"),
        (
            &["import os\ndef run(text):\n    os.remove('/job/tool.py')\n    return {'words': 3}\n"],
            "uses files",
        ),
        (
            &["import subprocess\ndef run(text):\n    return subprocess.getoutput('wc -w')\n"],
            "other programs",
        ),
    ];
    for (codes, why) in reaching {
        let place = Workplace::with_stand_in()?;
        let model = writer(codes).await?;
        let node = node_with(&place, &model).await?;
        let (job, generation) = generate(&node, need("count words")).await?;
        ensure!(job.state == JobState::Failed, "{job:?}");
        ensure!(generation.proposal.is_none(), "{generation:?}");
        let told = generation.attempts.iter().flat_map(|attempt| &attempt.checks);
        let told = told
            .filter(|check| check.state == CodeCheckState::Failed)
            .any(|check| check.output.contains(why));
        ensure!(told, "{why}: {generation:?}");
        ensure!(generation.problem.is_some_and(|problem| problem.contains("after 3 attempts")), "a reason");
        node.close().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_needs_more_than_its_arguments_is_not_written() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let model = ScriptedModel::with_script(|_| specification(&["network"])).await?;
    let node = node_with(&place, &model).await?;
    let (job, generation) = generate(&node, need("fetch the weather")).await?;
    ensure!(job.error.as_ref().is_some_and(|error| error.code == ErrorCode::Refused), "{job:?}");
    ensure!(generation.attempts.is_empty() && generation.problem.is_some(), "{generation:?}");
    ensure!(model.requests().len() == 1, "no code was asked for");
    // Without a model there is nobody to write.
    node.call::<SetProviders>(provider_settings(None, None)).await?;
    let error = node.call::<GenerateTool>(need("count words")).await.err().context("refused")?;
    ensure!(error.remedy.contains("Settings"), "{error:?}");
    // A budget of nothing asks no model.
    node.call::<SetProviders>(provider_settings(Some(&model), None)).await?;
    let (job, _) = generate(&node, GenerateRequest { budget: Some(0.0), ..need("count words") }).await?;
    ensure!(job.state == JobState::Failed && model.requests().len() == 1, "{job:?}");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_fails_is_improved_or_retired() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    // The first version passes its checks and fails on texts in capitals; the second one works.
    let model =
        writer(&["def run(text):\n    assert text.islower() or not text, 'capitals'\n    return {'words': len(text.split())}\n", GOOD])
            .await?;
    let node = node_with(&place, &model).await?;
    let (_, generation) = generate(&node, need("count words")).await?;
    accept(&node, &generation).await?;
    let granted = || vec![Need::Code { language: "python".to_owned() }];
    for number in 0..10 {
        let outcome =
            call_by_hand(&node, "count_words", json!({"text": format!("TEXT {number}")}), granted()).await?;
        ensure!(outcome.failed, "{outcome:?}");
    }
    let listed = node.call::<ListGeneratedTools>(Nothing {}).await?;
    let tool = listed.tools.first().context("a tool")?;
    ensure!(tool.is_code && tool.failures == 10 && tool.advice == Some(ToolAdvice::Improve), "{tool:?}");
    ensure!(tool.p50_ms.is_some_and(|ms| ms > 0.0) && tool.last_called.is_some(), "{tool:?}");

    let improve = GenerateRequest { card: Some("count_words".to_owned()), ..GenerateRequest::default() };
    let (job, generation) = generate(&node, improve).await?;
    ensure!(job.state == JobState::Done, "{job:?}");
    let asked: Vec<String> = model.requests().iter().map(ModelRequest::prompt).collect();
    ensure!(asked[2].contains("TEXT 9") && asked[2].contains("capitals"), "{}", asked[2]);
    accept(&node, &generation).await?;
    let outcome = call_by_hand(&node, "count_words", json!({"text": "TWO WORDS"}), granted()).await?;
    ensure!(!outcome.failed, "{outcome:?}");
    // It is not blamed for what the version before did.
    let listed = node.call::<ListGeneratedTools>(Nothing {}).await?;
    let tool = listed.tools.first().context("a tool")?;
    ensure!(tool.advice.is_none() && (tool.successes, tool.failures) == (1, 0), "{tool:?}");

    let proposed = node.call::<RetireTool>(CardRef { card: "count_words".to_owned() }).await?;
    let accept = ProposalAccept { id: proposed.proposal, ..ProposalAccept::default() };
    node.call::<AcceptProposal>(accept).await?;
    let called = call_by_hand(&node, "count_words", json!({"text": "a"}), granted()).await;
    ensure!(called.is_err(), "{called:?}");
    ensure!(node.call::<ListGeneratedTools>(Nothing {}).await?.tools.is_empty());
    node.close().await?;
    Ok(())
}

/// Code that arrives in a file is read by a person first, whoever sent it.
#[test]
fn imported_code_waits_in_review() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let card = json!({
        "name": "count_words", "provider": "Elsewhere", "description": "Counts the words of a text.",
        "function": {"language": "python", "source": GOOD},
    });
    let plain = json!({"name": "other", "provider": "Elsewhere", "description": "Does something else."});
    let file = place.cards_file("cards.json", &[card, plain])?;
    place.json(&["import", &file.display().to_string()])?;
    ensure!(place.json(&["cards", "show", "other"]).is_ok());
    let (_, missing) = place.failure(&["cards", "show", "count_words"])?;
    ensure!(missing.to_string().contains("not_found"), "{missing}");
    ensure!(place.json(&["review", "list"])?["waiting"] == 1);
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_asked_or_edited_again_and_again_is_a_need() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let model = writer(&[GOOD]).await?;
    let node = node_with(&place, &model).await?;
    ensure!(node.call::<ListGeneratedTools>(Nothing {}).await?.unanswered.is_empty());
    for protocol in Protocol::BOTH.into_iter().cycle().take(3) {
        let mut agent = Agent::over_stdio(&place, protocol).await?;
        let found = agent.search("transpose sheet music into another key").await?;
        ensure!(found["results"].as_array().is_some_and(Vec::is_empty), "{found}");
        agent.disconnect().await?;
    }
    for number in 0..3 {
        let fields = |scheme: &str| {
            json!({
                "name": format!("Tool {number}"), "provider": "Shop", "description": "It does something.",
                "documentation": format!("{scheme}://docs.example/tools/{number}"),
            })
        };
        let object = |value: Value| value.as_object().cloned().unwrap_or_default();
        let created = node
            .call::<CreateCard>(CardCreate {
                fields: object(fields("http")),
                reason: String::new(),
                flagged_too: false,
            })
            .await?;
        let update = CardUpdate {
            card: created.summary.id.to_string(),
            expected: None,
            fields: object(fields("https")),
            reason: String::new(),
            flagged_too: false,
        };
        node.call::<UpdateCard>(update).await?;
    }
    let listed = node.call::<ListGeneratedTools>(Nothing {}).await?;
    let asked = listed.unanswered.first().context("a need")?;
    ensure!(asked.question == "transpose sheet music into another key" && asked.times == 3, "{asked:?}");
    let edit = listed.edits.first().context("an edit")?;
    ensure!((edit.from.as_str(), edit.to.as_str(), edit.cards) == ("http", "https", 3), "{edit:?}");
    ensure!(listed.can_write);
    node.close().await?;
    Ok(())
}
