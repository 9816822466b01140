//! A model that does not manage: the answer comes by rules, says so, and the model is given up.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use anyhow::{Result, ensure};
use async_trait::async_trait;
use autokit_agent::ask::{
    AgentAnswer, AgentDeps, MODEL_IDLE_TIMEOUT, Question, Retrieval, Retrieved, Retriever, Verdict,
};
use autokit_llm::prompts::Prompts;
use autokit_llm::{Ledger, Limits, Model, ModelConfig, Protocol};
use autokit_search::Thresholds;
use autokit_tests::Workplace;
use autokit_tests::agent::{answer_of, ask, set_providers};
use autokit_tests::model::{ModelRequest, Reply, RequestKind, ScriptedModel};
use autokit_toolcard::{CardId, Timestamp};
use serde_json::json;

use autokit_tests::calendar::{NEED, PYTHON_PAGE, QUESTION, SCRIPT_PAGE, card, cards, site, stock};

/// Asks for something the library has, and for something only the web has.
async fn both(
    script: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static,
) -> Result<(AgentAnswer, AgentAnswer)> {
    let place = Workplace::with_stand_in()?;
    let (model, site) = (ScriptedModel::with_script(script).await?, site().await?);
    // Long vectors: with short ones of the stand-in everything is a little like everything.
    let node = place.node(1024).await?;
    let translate = card("Translator", "Translates text between languages.", "translator_kit", "Translator");
    stock(&node, &[cards(), vec![translate]].concat()).await?;
    set_providers(&node, Some(&model), Some(&site)).await?;
    let library = answer_of(&ask(&node, "translate text between languages").await?)?.clone();
    let web = answer_of(&ask(&node, NEED).await?)?.clone();
    for answer in [&library, &web] {
        let is_mentioned =
            answer.notes.iter().any(|note| note.contains("locally") || note.contains("ran without"));
        ensure!(is_mentioned, "nothing says that rules answered: {:?}", answer.notes);
    }
    node.close().await?;
    Ok((library, web))
}

/// By rules all the way: the card that fits, and the pages that do.
async fn answered_by_rules(script: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static) -> Result<()> {
    let (library, web) = both(script).await?;
    ensure!(library.name.as_deref() == Some("Translator"), "{library:?}");
    ensure!(library.stub.is_some_and(|stub| stub.code.contains("translator_kit")), "the card's own lines");
    ensure!(web.verdict == Verdict::Nothing && web.tool.is_none(), "{web:?}");
    ensure!(
        web.findings.iter().any(|found| found.url.ends_with(PYTHON_PAGE) || found.url.ends_with(SCRIPT_PAGE)),
        "{web:?}"
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_does_not_exist() -> Result<()> {
    answered_by_rules(|_| Reply::call("no_such_tool", json!({}))).await
}

#[tokio::test(flavor = "multi_thread")]
async fn json_that_is_none() -> Result<()> {
    answered_by_rules(|_| Reply::Text("{\"scores\": [".into())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_broken_stream() -> Result<()> {
    answered_by_rules(|_| Reply::Broken).await
}

#[tokio::test(flavor = "multi_thread")]
async fn nothing_at_all() -> Result<()> {
    answered_by_rules(|_| Reply::Text(String::new())).await
}

#[tokio::test(flavor = "multi_thread")]
async fn ten_megabytes() -> Result<()> {
    answered_by_rules(|_| Reply::Long(10 << 20)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_fails() -> Result<()> {
    answered_by_rules(|_| Reply::status(500, "out of order")).await
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_that_asks_for_a_long_pause() -> Result<()> {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    answered_by_rules(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Reply::Status(429, "slow down".into(), Some(120))
    })
    .await?;
    // After the pause it would have been asked again.
    assert_eq!(calls.load(Ordering::Relaxed), 2, "one attempt for each of two questions");
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failing_service_is_asked_once_per_question() -> Result<()> {
    let calls = Arc::new(AtomicU32::new(0));
    let counted = Arc::clone(&calls);
    answered_by_rules(move |_| {
        counted.fetch_add(1, Ordering::Relaxed);
        Reply::status(503, "out of order")
    })
    .await?;
    assert_eq!(calls.load(Ordering::Relaxed), 6, "three attempts for each of two questions");
    Ok(())
}

/// Does everything well but looking on the web.
fn lost_on_the_web(request: &ModelRequest, step: impl Fn() -> Reply) -> Reply {
    match request.kind() {
        RequestKind::Scores => Reply::scores(request, "Translator"),
        RequestKind::Answer => {
            let tool = request.id_of("Translator").filter(|_| request.prompt().contains("translate text"));
            Reply::answer(tool.as_deref(), "Translates text between languages.", "It translates text.", "")
        }
        RequestKind::Rewrite => Reply::query("calendar"),
        RequestKind::Web => step(),
        _ => Reply::grade(true, "fine"),
    }
}

async fn goes_on_without(step: impl Fn() -> Reply + Send + Sync + 'static, message: &str) -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let model = ScriptedModel::with_script(move |request| lost_on_the_web(request, &step)).await?;
    let site = site().await?;
    let node = place.node(64).await?;
    stock(&node, &cards()).await?;
    set_providers(&node, Some(&model), Some(&site)).await?;
    let session = ask(&node, QUESTION).await?;
    let result = answer_of(&session)?;
    ensure!(!result.findings.is_empty(), "the rules go on with what is there: {result:?}");
    ensure!(result.notes.iter().any(|note| note.contains(message)), "{:?}", result.notes);
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn an_endless_search() -> Result<()> {
    let count = AtomicU32::new(0);
    let step = move || {
        let number = count.fetch_add(1, Ordering::Relaxed);
        Reply::call("search", json!({ "query": format!("calendar {number}") }))
    };
    goes_on_without(step, "took too many steps").await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_same_search_again_and_again() -> Result<()> {
    goes_on_without(|| Reply::call("search", json!({ "query": "calendar" })), "kept repeating itself").await
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_its_own() -> Result<()> {
    goes_on_without(|| Reply::call("no_such_tool", json!({})), "could not use the tools").await
}

/// A library of one card.
struct OneCard;

#[async_trait]
impl Retriever for OneCard {
    fn keyword_only_reason(&self) -> Option<String> {
        None
    }

    async fn search(&self, _: &str, _: &str, _: &[CardId], _: usize) -> autokit_agent::Result<Retrieval> {
        let card = Retrieved {
            id: CardId::new("one"),
            name: "One".into(),
            description: "One is a tool.".into(),
            body: r#"{"name":"One","description":"One is a tool."}"#.into(),
            stub: None,
            callable: false,
            score: 0.9,
            parts: autokit_app::ScoreParts::default(),
            cited: None,
        };
        Ok(Retrieval {
            cards: vec![card],
            thresholds: Thresholds::for_hit(None, None, None),
            confidence: None,
            constraints: Vec::new(),
        })
    }

    fn is_word(&self, _: &str) -> bool {
        true
    }
}

/// Asks [`OneCard`] with a model that is given up when it is silent for so long. Everything else would wait for hours.
/// Gives the answer, and how often the model was asked.
async fn with_idle_timeout(
    idle_timeout: Duration,
    script: impl Fn(&ModelRequest) -> Reply + Send + Sync + 'static,
) -> Result<(AgentAnswer, usize)> {
    let scripted = ScriptedModel::with_script(script).await?;
    let hours = Duration::from_hours(3);
    let config = ModelConfig {
        limits: Limits { idle: hours, total: hours, ..Limits::default() },
        ..ModelConfig::new(Protocol::Openai, scripted.base.clone(), "slow-1")
    };
    let model = Model::new(config, Ledger::default())?;
    let deps = AgentDeps {
        small: Some(model.clone()),
        large: Some(model),
        web: None,
        prompts: Prompts::default(),
        idle_timeout,
        deadline: 2 * hours,
    };
    let question = Question { text: "which tool is it?".into(), ..Question::default() };
    let result = deps.ask(&OneCard, &question, &|| Timestamp::EPOCH, &mut |_| {}).await?;
    Ok((result, scripted.requests().len()))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_hanging_model_times_out_once_and_rules_answer() -> Result<()> {
    assert_eq!(MODEL_IDLE_TIMEOUT, Duration::from_secs(5));
    for (script, most) in [
        // Never answers; begins to answer and stops; does the first step and hangs at the second.
        ((|_| Reply::Never) as fn(&ModelRequest) -> Reply, 1),
        (|_| Reply::Stall, 1),
        (
            |request| match request.kind() {
                RequestKind::Scores => Reply::scores(request, "One"),
                _ => Reply::Never,
            },
            2,
        ),
    ] {
        let (result, requests) = with_idle_timeout(Duration::from_millis(50), script).await?;
        assert_eq!(result.name.as_deref(), Some("One"));
        let notes = &result.notes;
        assert!(notes.iter().any(|note| note.contains("did not respond within 50 ms")), "{notes:?}");
        // On a busy machine its first answer may come too late as well.
        assert!(requests <= most, "a model that hung was asked again: {requests} times");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_retry_delay_beyond_the_idle_timeout_is_not_waited_for() -> Result<()> {
    let busy = |_: &ModelRequest| Reply::Status(429, "slow down".into(), Some(9));
    let (result, requests) = with_idle_timeout(MODEL_IDLE_TIMEOUT, busy).await?;
    assert_eq!((result.name.as_deref(), requests), (Some("One"), 1));
    assert!(result.notes.iter().any(|note| note.contains("is rate limiting")), "{:?}", result.notes);
    Ok(())
}
