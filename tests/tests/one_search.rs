//! Whoever asks, and wherever: the same first tool and the same verdict, and every tool that is named.

use anyhow::{Context, Result, ensure};
use autokit_api::commands::{Ask, CreateCard, LoadStarter};
use autokit_api::{AskRequest, CardCreate, Nothing};
use autokit_app::engine::Vectors;
use autokit_tests::agent::{answer_of, ask, wait_for_job};
use autokit_tests::mcp::{Agent, Generation};
use autokit_tests::{Workplace, on_deep_stack};
use serde_json::{Value, json};

const SETS: [&str; 3] = [
    include_str!("../sets/ask-blind.jsonl"),
    include_str!("../sets/ask-questions.jsonl"),
    include_str!("../sets/ask-own-words.jsonl"),
];
const QUESTIONS: usize = 300;
/// Length of the stand-in's vectors: with shorter ones no question is far from everything.
const WIDTH: usize = 1024;

/// The first tool, if there is one, and the verdict.
type Said = (Option<String>, String);

fn questions() -> Result<Vec<String>> {
    let lines = SETS.iter().flat_map(|set| set.lines());
    let all: Result<Vec<String>> = lines
        .map(|line| {
            let value: Value = serde_json::from_str(line)?;
            value["q"].as_str().map(str::to_owned).context("a question")
        })
        .collect();
    // From all three sets.
    let all = all?;
    Ok((0..QUESTIONS).map(|at| all[at * all.len() / QUESTIONS].clone()).collect())
}

/// Nothing is recommended where the verdict is that nothing fits.
fn said(first: Option<&str>, verdict: &Value) -> Result<Said> {
    let verdict = verdict.as_str().context("a verdict")?.to_owned();
    let first = first.filter(|_| verdict != "nothing").map(str::to_owned);
    Ok((first, verdict))
}

#[test]
fn five_callers_get_one_answer() -> Result<()> {
    on_deep_stack(|| async {
        let place = Workplace::with_stand_in_of(WIDTH)?;
        let node = place.node(WIDTH).await?;
        let job = node.call::<LoadStarter>(Nothing {}).await?;
        wait_for_job(&node, &job.job).await?;
        let agent = Agent::over_http(&place, Generation::Session).await?;

        // What evaluation measures is the same library, from a file.
        let cards = place.path("cards.json");
        tokio::task::block_in_place(|| place.json(&["export", &cards.display().to_string()]))?;
        let file = place.path("questions.jsonl");
        let questions = questions()?;
        let lines =
            questions.iter().map(|question| json!({ "q": question, "gold": ["nobody knows"] }).to_string());
        std::fs::write(&file, lines.collect::<Vec<_>>().join("\n"))?;
        let measured = autokit_eval::ask(
            Some(&cards),
            std::slice::from_ref(&file),
            &Vectors::StandIn(WIDTH),
            None,
            None,
        )
        .await?;
        ensure!(measured.answers.len() == QUESTIONS);

        let (mut answered, mut refused) = (0, 0);
        for (question, measured) in questions.iter().zip(&measured.answers) {
            let window =
                node.call::<Ask>(AskRequest { question: question.clone(), ..AskRequest::default() }).await?;
            let first = window.candidates.first().map(|best| best.card.name.as_str());
            let window = said(first, &json!(window.verdict))?;

            let session = ask(&node, question).await?;
            let answer = answer_of(&session)?;
            let of_agent = said(answer.name.as_deref(), &json!(answer.verdict))?;

            let output = tokio::task::block_in_place(|| place.run(&["ask", "--json", question]))?;
            let printed: Value = serde_json::from_slice(&output.stdout)?;
            let terminal = said(printed["answer"]["name"].as_str(), &printed["verdict"])?;

            let (text, failed) = agent.call("ask", json!({ "question": question })).await?;
            ensure!(!failed, "{question}: {text}");
            let heard: Value = serde_json::from_str(&text)?;
            let over_mcp = said(heard["tool"]["name"].as_str(), &heard["verdict"])?;

            let evaluated = said(measured.first.as_deref(), &json!(measured.verdict))?;
            let all = [&window, &of_agent, &terminal, &over_mcp, &evaluated];
            ensure!(all.iter().all(|one| **one == window), "{question}: {all:?}");
            if window.1 == "nothing" { refused += 1 } else { answered += 1 }
        }
        ensure!(answered >= 30 && refused >= 30, "{answered} answered, {refused} refused");
        agent.disconnect().await?;
        node.close().await?;
        Ok(())
    })
}

#[test]
fn an_agent_gets_every_tool_its_query_names() -> Result<()> {
    const NAMES: [&str; 4] = ["Quorvex", "Zelphane", "Brimloch", "Tavrune"];
    on_deep_stack(|| async {
        let place = Workplace::with_stand_in_of(WIDTH)?;
        let node = place.node(WIDTH).await?;
        for name in NAMES {
            let card =
                json!({ "name": name, "provider": "Acme", "description": format!("{name} grinds coffee.") });
            let fields = card.as_object().context("an object")?.clone();
            let reason = "A tool".to_owned();
            node.call::<CreateCard>(CardCreate { fields, reason, flagged_too: false }).await?;
        }
        let agent = Agent::over_http(&place, Generation::Session).await?;
        // AutoKit's own come first, and there are more names than results wanted.
        let names: Vec<String> = NAMES.iter().map(|name| format!("`{name}`")).collect();
        let query = format!("web_search, get_time, {}", names.join(", "));
        let (text, failed) = agent.call("search_tools", json!({ "query": query, "limit": 2 })).await?;
        ensure!(!failed, "{text}");
        let found: Value = serde_json::from_str(&text)?;
        let results = found["results"].as_array().context("results")?;
        let names: Vec<&str> = results.iter().filter_map(|row| row["name"].as_str()).collect();
        let expected = ["web_search", "get_time"].into_iter().chain(NAMES);
        ensure!(expected.clone().all(|name| names.contains(&name)), "{names:?}");
        agent.disconnect().await?;
        node.close().await?;
        Ok(())
    })
}

#[test]
fn as_many_phrases_are_searched_as_cards_may_have() {
    assert_eq!(autokit_search::MAX_ASKS_FOR, autokit_toolcard::Limits::CARD.asks_for);
}
