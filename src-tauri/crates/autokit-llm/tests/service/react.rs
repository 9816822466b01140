//! The loop with models that behave well and models that do not.

use std::sync::Mutex;

use crate::fake::{Fake, call, words};
use autokit_llm::{
    GaveUp, Ledger, Model, ModelConfig, Observation, Protocol, React, Request, RunOutcome, Step, Tool,
    Toolbox,
};
use axum::response::Response;
use serde_json::{Value, json};

#[derive(Default)]
struct Shelf(Mutex<Vec<Value>>);

impl Toolbox for Shelf {
    fn tools(&self) -> Vec<Tool> {
        let schema =
            json!({"type": "object", "properties": {"words": {"type": "string"}}, "required": ["words"]});
        vec![Tool { name: "look_up".into(), description: "Looks in the library.".into(), schema }]
    }

    async fn call(&self, _: &str, arguments: Value) -> Observation {
        let text = format!("nothing for {}", arguments["words"].as_str().unwrap_or_default());
        self.0.lock().unwrap().push(arguments);
        Observation { text, failed: false }
    }
}

fn finish() -> Tool {
    let schema = json!({"type": "object", "properties": {"url": {"type": "string"}}, "required": ["url"]});
    Tool { name: "finish".into(), description: "Hands in the answer.".into(), schema }
}

struct Run {
    ended: RunOutcome,
    steps: Vec<Step>,
    calls: Vec<Value>,
    asked: Vec<crate::fake::Asked>,
}

async fn run(tools: bool, script: Vec<Response>) -> Run {
    let fake = Fake::saying(script).await;
    let config = ModelConfig { tools, ..fake.config(Protocol::Openai) };
    let model = Model::new(config, Ledger::default()).unwrap();
    let shelf = Shelf::default();
    let mut steps = Vec::new();
    let request = Request::new("Find a tool.", "calendar");
    let outcome = React::default().run(&model, request, &shelf, &finish(), |step| steps.push(step)).await;
    Run { ended: outcome.unwrap().0, steps, calls: shelf.0.into_inner().unwrap(), asked: fake.requests() }
}

fn answer() -> RunOutcome {
    RunOutcome::Answer(json!({"url": "https://x.example/"}))
}

fn observations(run: &Run) -> Vec<String> {
    let text =
        |step: &'_ Step| if let Step::Observation(seen) = step { Some(seen.text.clone()) } else { None };
    run.steps.iter().filter_map(text).collect()
}

#[tokio::test]
async fn a_model_looks_and_answers() {
    let done = run(
        true,
        vec![call("look_up", r#"{"words":"calendar"}"#), call("finish", r#"{"url":"https://x.example/"}"#)],
    )
    .await;
    assert_eq!((done.ended.clone(), done.calls.len()), (answer(), 1));
    assert_eq!(observations(&done), ["nothing for calendar"]);
}

#[tokio::test]
async fn a_model_without_tools_does_the_same_in_words() {
    let done = run(
        false,
        vec![
            words(r#"{"thought":"look first","tool":"look_up","arguments":{"words":"calendar"}}"#),
            words("Here you are:\n```json\n{\"tool\":\"finish\",\"arguments\":{\"url\":\"https://x.example/\"}}\n```"),
        ],
    )
    .await;
    assert_eq!(done.ended, answer());
    assert_eq!(done.steps[0], Step::Thought("look first".into()));
    assert!(done.asked[0].body.get("tools").is_none());
    let system = done.asked[0].body["messages"][0]["content"].as_str().unwrap();
    assert!(system.contains("look_up") && system.contains("finish"), "{system}");
    let seen =
        done.asked[1].body["messages"].as_array().unwrap().last().unwrap()["content"].as_str().unwrap();
    assert_eq!(seen, "Observation: nothing for calendar");
}

#[tokio::test]
async fn wrong_tools_bad_json_and_wrong_arguments_become_observations() {
    let done = run(
        true,
        vec![
            call("google", r#"{"q":"x"}"#),
            call("look_up", r#"{"words": "#),
            call("look_up", r#"{"words":"calendar"}"#),
            call("look_up", r#"{"words":7}"#),
            call("finish", "{}"),
            call("finish", r#"{"url":"https://x.example/"}"#),
        ],
    )
    .await;
    assert_eq!(done.ended, answer());
    assert_eq!(done.calls.len(), 1, "only what fits is carried out");
    let seen = observations(&done);
    assert!(seen[0].contains("no tool \"google\"") && seen[0].contains("look_up"), "{seen:?}");
    assert!(
        seen[1].contains("not valid JSON") && seen[3].contains("do not fit") && seen[4].contains("url"),
        "{seen:?}"
    );
}

#[tokio::test]
async fn loops_chatter_and_silence_end() {
    let circling = run(true, (0..12).map(|_| call("look_up", r#"{"words":"same"}"#)).collect()).await;
    assert_eq!((circling.ended, circling.calls.len()), (RunOutcome::GaveUp(GaveUp::Circling), 1));
    let endless =
        run(true, (0..20).map(|i| call("look_up", &format!("{{\"words\":\"w{i}\"}}"))).collect()).await;
    assert_eq!((endless.ended, endless.asked.len()), (RunOutcome::GaveUp(GaveUp::Steps), 12));
    let chatter = run(true, (0..5).map(|_| words("I think it is a calendar.")).collect()).await;
    assert_eq!((chatter.ended, chatter.asked.len()), (RunOutcome::GaveUp(GaveUp::Confused), 3));
    let silence = run(true, (0..5).map(|_| words("")).collect()).await;
    assert_eq!(silence.ended, RunOutcome::GaveUp(GaveUp::Confused));
}

#[tokio::test]
async fn one_answer_cannot_call_for_ever_or_fill_the_conversation() {
    let calls: Vec<Value> = (0..2000)
        .map(|i| {
            let arguments = format!("{{\"words\":\"w{i}\"}}");
            json!({"index": i, "id": format!("c{i}"), "function": {"name": "look_up", "arguments": arguments}})
        })
        .collect();
    let flood = crate::fake::events(&[
        json!({"choices": [{"delta": {"content": "x".repeat(500_000)}}]}),
        json!({"choices": [{"delta": {"tool_calls": calls}}]}),
    ]);
    let done = run(true, vec![flood, call("finish", r#"{"url":"https://x.example/"}"#)]).await;
    assert_eq!((done.ended.clone(), done.calls.len()), (answer(), React::default().calls));
    let sent = done.asked[1].body["messages"].to_string();
    assert!(sent.len() < 20_000, "{} characters go back to the model", sent.len());
}
