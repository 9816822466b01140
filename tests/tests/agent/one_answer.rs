//! One answer is about one tool, and is judged by the question that was asked, over many requests that were written
//! without looking at cards or rankings.

use std::collections::HashMap;

use anyhow::{Context, Result, ensure};
use autokit_agent::ask::graph::{Outcome, Step};
use autokit_agent::ask::{Phase, Verdict};
use autokit_api::commands::{Ask, GetCard, LoadStarter};
use autokit_api::{AskRequest, CardRef};
use autokit_app::node::Node;
use autokit_tests::agent::{answer_of, ask, last_turn, set_providers, wait_for_job};
use autokit_tests::calendar::stock;
use autokit_tests::mcp::{Agent, Generation};
use autokit_tests::model::{ModelRequest, Reply, RequestKind, ScriptedModel};
use autokit_tests::site::{Page, Site};
use autokit_tests::{Workplace, made_up_cards};
use autokit_toolcard::CardId;
use serde_json::{Value, json};

const REQUESTS: &str = include_str!("../../sets/ask-blind.jsonl");

/// The requests, with what sort each is.
fn requests() -> Result<Vec<(String, String)>> {
    REQUESTS
        .lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line)?;
            let text = |field: &str| value[field].as_str().map(str::to_owned).context("a text");
            Ok((text("q")?, text("kind")?))
        })
        .collect()
}

async fn with_starter_cards(place: &Workplace) -> Result<Node> {
    let node = place.node(1024).await?;
    let job = node.call::<LoadStarter>(autokit_api::Nothing {}).await?;
    wait_for_job(&node, &job.job).await?;
    Ok(node)
}

/// `autokit ask` as a person and a program read it.
#[tokio::test(flavor = "multi_thread")]
async fn the_terminal_prints_name_sentence_and_code_of_one_card() -> Result<()> {
    // With shorter vectors of the stand-in no request is far from everything, and none is rephrased or turned down.
    let place = Workplace::with_wide_stand_in()?;
    let run = |arguments: &[&str]| tokio::task::block_in_place(|| place.json(arguments));
    run(&["--starter", "cards", "list"])?;
    let owner = place.serve()?;
    let mut recommended = 0;
    for (question, _) in requests()? {
        let output = tokio::task::block_in_place(|| place.run(&["ask", "--json", &question]))?;
        let answer: Value = serde_json::from_slice(&output.stdout)?;
        let answered = &answer["answer"];
        let Some(tool) = answered["tool"].as_str() else {
            ensure!(answer["verdict"] == "nothing", "{question}: {answer}");
            continue;
        };
        recommended += 1;
        let best = &answer["candidates"][0];
        ensure!(best["card"]["id"] == tool, "{question}: {tool} with the name of {}", best["card"]["id"]);
        ensure!(best["card"]["name"] == answered["name"], "{question}: {best}");
        ensure!(best["sentence"] == answered["sentence"] && best["stub"] == answered["stub"], "{question}");
        let card = run(&["cards", "show", tool])?;
        let description = card["fields"]["description"].as_str().unwrap_or_default();
        let sentence = best["sentence"].as_str().context("a sentence")?;
        ensure!(description.trim_start().starts_with(sentence), "{question}: {sentence:?} is not of {tool}");
        ensure!(best["stub"] == card["stub"], "{question}: the code is not that of {tool}");
        let text = String::from_utf8(tokio::task::block_in_place(|| place.run(&["ask", &question]))?.stdout)?;
        let name = card["summary"]["name"].as_str().context("a name")?;
        ensure!(text.starts_with(name), "{question}: {text}");
        if let Some(code) = card["stub"]["code"].as_str() {
            let lines = code.lines().map(str::trim).filter(|line| !line.is_empty());
            for line in lines {
                ensure!(text.contains(line), "{question}: {line:?} is missing in {text}");
            }
        }
    }
    ensure!(recommended > 0, "nothing was recommended at all");
    owner.stop()
}

#[tokio::test(flavor = "multi_thread")]
async fn what_limits_a_tool_is_part_of_every_answer() -> Result<()> {
    const WARNING: &str = "No isolation: use only with trusted input.";
    let place = Workplace::with_stand_in()?;
    let node = place.node(1024).await?;
    let about = "It keeps variables between calls and returns what was printed. ".repeat(5);
    let interpreter = json!({
        "name": "Interpreter", "provider": "Shop", "description": format!("Runs Python code. {about}{WARNING}"),
    });
    // Words are worth something where there are many cards without them.
    stock(&node, &[made_up_cards(120), vec![interpreter]].concat()).await?;
    let question = "an interpreter that runs python code";
    let answer = answer_of(&ask(&node, question).await?)?.clone();
    ensure!(answer.name.as_deref() == Some("Interpreter") && answer.limits == [WARNING], "{answer:?}");
    let instant =
        node.call::<Ask>(AskRequest { question: question.to_owned(), ..AskRequest::default() }).await?;
    ensure!(instant.candidates[0].limits == [WARNING], "{instant:?}");
    let agent = Agent::over_http(&place, Generation::Session).await?;
    let (text, failed) = agent.call("ask", json!({ "question": question })).await?;
    ensure!(!failed && text.contains(WARNING), "{text}");
    agent.disconnect().await?;
    node.close().await?;
    // A person in the terminal.
    let output = place.command(&["ask", question])?.output()?;
    let printed = String::from_utf8(output.stdout)?;
    ensure!(printed.contains(WARNING), "{printed}");
    Ok(())
}

/// A model that rephrases every question and turns every answer down until nothing is left to try, so that the
/// tools retrieved change several times within one ask.
fn restless(request: &ModelRequest) -> Reply {
    let words = ["send a message", "query a database", "weather forecast"];
    match request.kind() {
        RequestKind::Scores => {
            let last = request.facts().last().and_then(|fact| fact["name"].as_str().map(str::to_owned));
            Reply::scores(request, last.as_deref().unwrap_or_default())
        }
        RequestKind::Rewrite => {
            let new = words.iter().find(|words| !request.prompt().contains(**words));
            Reply::query(new.unwrap_or(&words[0]))
        }
        // No words of its own: the card's are taken.
        RequestKind::Answer => Reply::Text("no JSON".into()),
        _ => Reply::grade(request.prompt().contains("ends with this"), "it is something else"),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_about_one_card_whatever_was_searched_in_between() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = with_starter_cards(&place).await?;
    let model = ScriptedModel::with_script(restless).await?;
    for services in [None, Some(&model)] {
        set_providers(&node, services, None).await?;
        for (question, _) in requests()?.into_iter().step_by(3) {
            let session = ask(&node, &question).await?;
            let answer = answer_of(&session)?;
            let Some(tool) = &answer.tool else {
                ensure!(answer.name.is_none() && answer.stub.is_none() && answer.citations.is_empty());
                continue;
            };
            let card = node.call::<GetCard>(CardRef { card: tool.to_string() }).await?;
            ensure!(answer.name.as_deref() == Some(card.summary.name.as_str()), "{question}: {answer:?}");
            let description = card.fields["description"].as_str().unwrap_or_default().trim_start();
            ensure!(description.starts_with(&answer.sentence), "{question}: {answer:?}");
            ensure!(answer.stub == card.stub, "{question}: {answer:?}");
            ensure!(answer.citations.iter().all(|cited| cited.card == *tool), "{question}: {answer:?}");
            ensure!(
                answer.candidates.first().is_some_and(|first| first.id == *tool),
                "{question}: {answer:?}"
            );
        }
    }
    node.close().await?;
    Ok(())
}

/// Words that were put in for the question's may find a card, but do not make it fit: no score is above the one the
/// question itself gives, and where that is low the web is asked.
#[tokio::test(flavor = "multi_thread")]
async fn an_answer_is_judged_by_the_question_that_was_asked() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = with_starter_cards(&place).await?;
    let site =
        Site::serve([("/blog/holidays", Page::new("Holidays").paragraph("Where our team went."))]).await?;
    let model = ScriptedModel::with_script(restless).await?;
    let mut searched = 0;
    for services in [None, Some(&model)] {
        set_providers(&node, services, Some(&site)).await?;
        for (question, kind) in requests()?.into_iter().step_by(3) {
            let request =
                AskRequest { question: question.clone(), limit: Some(200), ..AskRequest::default() };
            let own = node.call::<Ask>(request).await?.candidates.into_iter();
            let own: HashMap<CardId, f32> = own.map(|one| (one.card.id, one.score)).collect();
            let before = site.searches();
            let session = ask(&node, &question).await?;
            let answer = answer_of(&session)?;
            for candidate in &answer.candidates {
                let fits = own.get(&candidate.id).copied().unwrap_or_default();
                ensure!(candidate.score <= fits + 1e-4, "{question}: {candidate:?} fits by {fits}");
            }
            let ended = |outcome: Outcome| {
                let mut events = last_turn(&session)?.events.iter().map(|event| (event.step, &event.phase));
                anyhow::Ok(events.any(|event| event == (Step::GradeAnswers, &Phase::Result { outcome })))
            };
            if !ended(Outcome::Answers)? {
                ensure!(site.searches() > before, "{question}: the web was not asked");
                ensure!(answer.verdict != Verdict::Answered, "{question} ({kind}): {answer:?}");
                searched += 1;
            }
        }
    }
    ensure!(searched > 0, "every request was answered");
    node.close().await?;
    Ok(())
}
