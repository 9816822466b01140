//! Research end to end: questions over a web on this machine, written blind (`fixtures/research-web`), a language model
//! that lies, a run that is stopped and resumed, and the tool that agents have.

#![allow(clippy::print_stdout, reason = "a measurement is printed")]

use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use autokit_agent::research::Research;
use autokit_api::commands::{CancelSession, SetProfile, StartResearch};
use autokit_api::{Profile, ResearchRequest, Session, SessionRef, TurnState};
use autokit_app::engine::Vectors;
use autokit_app::node::Node;
use autokit_app::secrets::KeyStorage;
use autokit_app::{Need, Permission};
use autokit_tests::Workplace;
use autokit_tests::agent::{set_providers, wait_for_session};
use autokit_tests::mcp::{Agent, Generation};
use autokit_tests::model::{Reply, ScriptedModel};
use autokit_tests::site::Site;
use serde_json::{Value, json};

fn fixture(name: &str) -> std::path::PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/research-web").join(name)
}

async fn web() -> Result<Site> {
    autokit_tests::web::serve(&fixture("pages")).await
}

/// Researches a question and waits for the result.
async fn research(node: &Node, question: &str) -> Result<Research> {
    let request = ResearchRequest { question: question.to_owned(), ..ResearchRequest::default() };
    let session = node.call::<StartResearch>(request).await?.session;
    result_of(&wait_for_session(node, &session).await?)
}

fn result_of(session: &Session) -> Result<Research> {
    let turn = session.turns.last().context("a turn")?;
    if let Some(error) = &turn.error {
        anyhow::bail!("{error}");
    }
    turn.research.clone().context("a research")
}

struct Question {
    text: String,
    answers: Vec<String>,
    sources: Vec<String>,
    kind: String,
}

fn questions(file: &str) -> Result<Vec<Question>> {
    let text = std::fs::read_to_string(fixture(file))?;
    text.lines()
        .map(|line| {
            let value: Value = serde_json::from_str(line)?;
            let list = |key: &str| -> Vec<String> {
                let all = value[key].as_array().into_iter().flatten();
                all.filter_map(|one| one.as_str().map(str::to_owned)).collect()
            };
            Ok(Question {
                text: value["question"].as_str().context("a question")?.to_owned(),
                answers: list("answers"),
                sources: list("sources"),
                kind: value["kind"].as_str().unwrap_or_default().to_owned(),
            })
        })
        .collect()
}

fn plain(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase()
}

/// Whether a sentence of the summary has an accepted answer and cites one of the accepted sources.
fn answers(found: &Research, question: &Question, base: &str) -> bool {
    let sources: Vec<String> =
        question.sources.iter().map(|url| url.replacen("https://", &format!("{base}/"), 1)).collect();
    found.summary.iter().any(|&at| {
        let passage = &found.passages[at as usize];
        let location = &found.sources[passage.source as usize].location;
        let text = plain(&passage.text);
        sources.iter().any(|source| source.trim_end_matches('/') == location.trim_end_matches('/'))
            && question.answers.iter().any(|answer| text.contains(&plain(answer)))
    })
}

/// Counts of one half of the questions.
#[derive(Debug, Default)]
struct Tally {
    answerable: usize,
    right: usize,
    unanswerable: usize,
    answered_wrongly: usize,
}

async fn measure(node: &Node, site: &Site, file: &str, show: bool) -> Result<Tally> {
    let mut tally = Tally::default();
    for question in questions(file)? {
        let found = research(node, &question.text).await?;
        for passage in &found.passages {
            ensure!(found.sources.get(passage.source as usize).is_some(), "a passage without a source");
        }
        let best = found.passages.first().map_or(0.0, |best| best.score);
        if question.answers.is_empty() {
            tally.unanswerable += 1;
            tally.answered_wrongly += usize::from(found.answered);
            if show {
                println!("none {} {best:.3} r{} {}", found.answered, found.rounds, question.text);
            }
            continue;
        }
        tally.answerable += 1;
        let right = answers(&found, &question, &site.base);
        tally.right += usize::from(right);
        if show {
            println!("{} {right} {best:.3} r{} {}", question.kind, found.rounds, question.text);
            if !right {
                for passage in found.passages.iter().take(4) {
                    let source = &found.sources[passage.source as usize].location;
                    println!("      {:.3} {} [{source}]", passage.score, passage.text.replace('\n', " / "));
                }
                let read = question.sources.iter().any(|url| {
                    let url = url.replacen("https://", &format!("{}/", site.base), 1);
                    found.visited.contains(&url)
                });
                println!("      wanted {:?}; read: {read}", question.answers);
            }
        }
    }
    Ok(tally)
}

#[tokio::test(flavor = "multi_thread")]
async fn questions_over_a_web_are_answered_by_rules() -> Result<()> {
    Box::pin(answered(&[("open.jsonl", true), ("second-open.jsonl", true)])).await
}

/// Only for figures that are reported: which questions were missed is not shown.
#[tokio::test(flavor = "multi_thread")]
async fn sealed_questions_over_a_web_are_answered_by_rules() -> Result<()> {
    Box::pin(answered(&[("sealed.jsonl", false), ("second-sealed.jsonl", false)])).await
}

async fn answered(files: &[(&str, bool)]) -> Result<()> {
    let place = Workplace::with_model()?;
    let node = place.node_with(Vectors::Model, KeyStorage::Memory).await?;
    let site = web().await?;
    set_providers(&node, None, Some(&site)).await?;
    let mut all = Tally::default();
    for (file, show) in files {
        let tally = measure(&node, &site, file, *show).await?;
        println!("{file}: {tally:?}");
        all.answerable += tally.answerable;
        all.right += tally.right;
        all.unanswerable += tally.unanswerable;
        all.answered_wrongly += tally.answered_wrongly;
    }
    ensure!(all.right * 100 >= all.answerable * 75, "too few questions answered: {all:?}");
    node.close().await?;
    Ok(())
}

/// Every sentence of a summary is a quote of a page that was read, whatever the model says.
#[tokio::test(flavor = "multi_thread")]
async fn a_lying_model_adds_no_sentence() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let model = ScriptedModel::with_script(|_| {
        let lie = json!({
            "passages": [7, -4, 0, 999, 2], "complete": true,
            "queries": ["Everything is free, says nobody."],
        });
        Reply::Json(lie)
    });
    let model = model.await?;
    let node = place.node(64).await?;
    let site = web().await?;
    set_providers(&node, Some(&model), Some(&site)).await?;
    for question in questions("open.jsonl")?.into_iter().take(8) {
        let found = research(&node, &question.text).await?;
        for &at in &found.summary {
            let passage = &found.passages[at as usize];
            let source = &found.sources[passage.source as usize];
            let page = reqwest::get(&source.location).await?.text().await?;
            let page = autokit_web::extract(&page, Some("text/html"), &source.location).text();
            for line in passage.text.lines() {
                ensure!(plain(&page).contains(&plain(line)), "{line:?} is not on {}", source.location);
            }
        }
    }
    ensure!(!model.requests().is_empty(), "the model was not asked");
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_search_service_this_machine_is_searched() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node(64).await?;
    let found = research(&node, "What is the request limit?").await?;
    assert!(!found.answered && found.complete, "{found:?}");
    assert!(found.notes[0].contains("no search service"), "{:?}", found.notes);
    node.close().await?;
    Ok(())
}

/// Agents read what people read, as far as their profile may reach it.
#[tokio::test(flavor = "multi_thread")]
async fn agents_get_quotes_and_no_page_their_profile_may_not_reach() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node(64).await?;
    let site = web().await?;
    set_providers(&node, None, Some(&site)).await?;
    let mut profile = Profile::default();
    profile.permissions.hosts.otherwise = Some(Permission::Allow);
    node.call::<SetProfile>(profile.clone()).await?;
    let question =
        json!({"question": "What is the request limit of the Larkspur API per minute on a paid plan?"});
    let mut agent = Agent::over_stdio(&place, Generation::BOTH[0]).await?;
    agent.search("research").await?;
    let (text, failed) = agent.use_tool("research", question.clone()).await?;
    ensure!(!failed, "{text}");
    let answer: Value = serde_json::from_str(&text)?;
    let quotes = answer["summary"].as_array().or(answer["closest"].as_array()).context("quotes")?;
    ensure!(!quotes.is_empty() && quotes.iter().all(|quote| quote["source"].is_string()), "{answer}");
    let searches = site.searches();
    ensure!(searches > 0, "the web is searched");

    // Neither where the web is denied nor where one host of it is stricter than the rest.
    for (otherwise, of_one) in [(Permission::Deny, Permission::Allow), (Permission::Allow, Permission::Ask)] {
        let mut profile = Profile::default();
        profile.permissions.hosts.otherwise = Some(otherwise);
        profile.permissions.set(&Need::Host { host: "docs.private.example".to_owned() }, of_one);
        node.call::<SetProfile>(profile).await?;
        let (text, failed) = agent.use_tool("research", question.clone()).await?;
        ensure!(!failed && text.contains("may not reach all hosts"), "{text}");
        ensure!(site.searches() == searches, "nothing is sent");
    }
    agent.disconnect().await?;
    node.close().await?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_stopped_research_continues_where_it_was() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let node = place.node(64).await?;
    let site = web().await?;
    set_providers(&node, None, Some(&site)).await?;
    let question = "How many moons does the planet Xyzzq have?";
    let request = ResearchRequest { question: question.to_owned(), resume: None, rounds: Some(1) };
    let session = node.call::<StartResearch>(request).await?.session;
    let first = result_of(&wait_for_session(&node, &session).await?)?;
    assert!(!first.answered && first.rounds == 1, "{first:?}");
    let request = ResearchRequest { question: String::new(), resume: Some(session.clone()), rounds: Some(1) };
    node.call::<StartResearch>(request).await?;
    let ended = wait_for_session(&node, &session).await?;
    let second = result_of(&ended)?;
    assert_eq!((ended.turns.len(), second.rounds), (2, 2));
    assert_eq!(ended.turns[1].asked, question);
    assert!(second.visited.starts_with(&first.visited), "no page is opened twice");
    let mut once = second.visited.clone();
    once.sort();
    once.dedup();
    assert_eq!(once.len(), second.visited.len());

    let request = ResearchRequest { question: String::new(), resume: Some(session.clone()), rounds: Some(5) };
    node.call::<StartResearch>(request).await?;
    node.call::<CancelSession>(SessionRef { session: session.clone() }).await?;
    let stopped = wait_for_session(&node, &session).await?;
    let turn = stopped.turns.last().context("a turn")?;
    assert_eq!(turn.state, TurnState::Cancelled);
    let kept = turn.research.as_ref().context("what was found before")?;
    assert!(kept.rounds >= 2 && kept.visited.len() >= second.visited.len());
    node.close().await?;
    Ok(())
}
