//! Both protocols against a service that behaves well, and one that does not.

use std::time::{Duration, Instant};

use crate::fake::{Fake, call, events, failure, streamed, words};
use autokit_llm::{
    Code, Error, Ledger, Limits, Message, Model, ModelConfig, Part, Price, Protocol, Request, StopReason,
    Tool, ToolCall, Usage,
};
use axum::body::{Body, Bytes};
use axum::http::{StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use serde_json::{Value, json};
use tokio::net::TcpListener;

fn question() -> Request {
    Request::new("Be brief.", "Which tool?")
}

async fn ask(model: &Model) -> Result<(autokit_llm::Reply, String), Error> {
    let mut heard = String::new();
    let reply = model.chat(&question(), &mut |text| heard.push_str(text)).await?;
    Ok((reply, heard))
}

#[tokio::test]
async fn openai_streams_words_and_counts() {
    let fake = Fake::saying([words("A calendar tool, naïve ✓.")]).await;
    let (reply, heard) = ask(&fake.model(Protocol::Openai)).await.unwrap();
    assert_eq!(
        (reply.text.as_str(), heard.as_str()),
        ("A calendar tool, naïve ✓.", "A calendar tool, naïve ✓.")
    );
    assert_eq!((reply.usage, reply.stop), (Usage { input: 11, output: 5 }, StopReason::End));
    let asked = &fake.requests()[0];
    assert_eq!(asked.path, "/chat/completions");
    assert_eq!(asked.headers[header::AUTHORIZATION], "Bearer planted-key");
    assert_eq!(asked.body["messages"][0], json!({"role": "system", "content": "Be brief."}));
    assert_eq!(asked.body["messages"][1], json!({"role": "user", "content": "Which tool?"}));
    assert_eq!((&asked.body["model"], &asked.body["stream"]), (&json!("small-1"), &json!(true)));
}

#[tokio::test]
async fn openai_calls_come_in_pieces_and_go_back_with_their_results() {
    let fake = Fake::saying([call("look_up", r#"{"words":"calendar"}"#), words("done")]).await;
    let model = fake.model(Protocol::Openai);
    let mut request = question();
    request.tools = vec![Tool {
        name: "look_up".into(),
        description: "Looks up.".into(),
        schema: json!({"type": "object"}),
    }];
    let reply = model.chat(&request, &mut |_| {}).await.unwrap();
    let wanted =
        ToolCall { id: "c1".into(), name: "look_up".into(), arguments: r#"{"words":"calendar"}"#.into() };
    assert_eq!((reply.calls.as_slice(), reply.stop), ([wanted].as_slice(), StopReason::Tools));
    request.messages.push(reply.message());
    let result = Part::Result { call: "c1".into(), text: "found".into(), failed: false };
    request.messages.push(Message { role: autokit_llm::Role::User, parts: vec![result] });
    model.chat(&request, &mut |_| {}).await.unwrap();
    let body = &fake.requests()[1].body;
    assert_eq!(body["messages"][2]["tool_calls"][0]["function"]["name"], "look_up");
    assert_eq!(body["messages"][3], json!({"role": "tool", "tool_call_id": "c1", "content": "found"}));
    assert_eq!(body["tools"][0]["function"]["parameters"], json!({"type": "object"}));
}

fn anthropic_stream() -> Response {
    let list = [
        json!({"type": "message_start", "message": {"usage": {"input_tokens": 7, "cache_read_input_tokens": 3, "output_tokens": 1}}}),
        json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
        json!({"type": "ping"}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "Let me "}}),
        json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": "look."}}),
        json!({"type": "content_block_start", "index": 1, "content_block": {"type": "tool_use", "id": "t1", "name": "look_up", "input": {}}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": "{\"words\""}}),
        json!({"type": "content_block_delta", "index": 1, "delta": {"type": "input_json_delta", "partial_json": ": 1}"}}),
        json!({"type": "message_delta", "delta": {"stop_reason": "tool_use"}, "usage": {"output_tokens": 9}}),
        json!({"type": "message_stop"}),
    ];
    let list: Vec<String> =
        list.iter().map(|e| format!("event: {}\ndata: {e}\n\n", e["type"].as_str().unwrap())).collect();
    let text = list.concat();
    ([(header::CONTENT_TYPE, "text/event-stream")], text).into_response()
}

#[tokio::test]
async fn anthropic_streams_words_and_calls() {
    let fake = Fake::saying([anthropic_stream()]).await;
    let (reply, heard) = ask(&fake.model(Protocol::Anthropic)).await.unwrap();
    assert_eq!(heard, "Let me look.");
    assert_eq!(
        reply.calls,
        [ToolCall { id: "t1".into(), name: "look_up".into(), arguments: "{\"words\": 1}".into() }]
    );
    assert_eq!((reply.usage, reply.stop), (Usage { input: 10, output: 9 }, StopReason::Tools));
    let asked = &fake.requests()[0];
    assert_eq!(
        (asked.path.as_str(), &asked.headers["x-api-key"]),
        ("/v1/messages", &"planted-key".parse().unwrap())
    );
    assert_eq!(asked.headers["anthropic-version"], "2023-06-01");
    assert_eq!(asked.body["system"], "Be brief.");
}

#[tokio::test]
async fn servers_that_do_not_stream_are_read_whole() {
    let openai = json!({"choices": [{"message": {"content": "whole", "tool_calls": [
        {"function": {"name": "f", "arguments": {"a": 1}}}]}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 2, "completion_tokens": 3}});
    let anthropic = json!({"content": [{"type": "text", "text": "whole"}], "stop_reason": "max_tokens",
        "usage": {"input_tokens": 2, "output_tokens": 3}});
    for (protocol, answer, calls, stop) in [
        (Protocol::Openai, openai, 1, StopReason::End),
        (Protocol::Anthropic, anthropic, 0, StopReason::Length),
    ] {
        let fake = Fake::saying([axum::Json(answer).into_response()]).await;
        let (reply, heard) = ask(&fake.model(protocol)).await.unwrap();
        assert_eq!((heard.as_str(), reply.calls.len(), reply.stop), ("whole", calls, stop));
        assert_eq!(reply.usage, Usage { input: 2, output: 3 });
    }
}

async fn code(answers: Vec<Response>) -> (Code, usize) {
    let fake = Fake::saying(answers).await;
    let error = ask(&fake.model(Protocol::Openai)).await.unwrap_err();
    assert!(!error.remedy().is_empty());
    assert!(!format!("{error} {error:?}").contains("planted-key"));
    (error.code(), fake.requests().len())
}

#[tokio::test]
async fn mistakes_are_told_apart_and_not_repeated() {
    assert_eq!(code(vec![failure(401, "bad key")]).await, (Code::WrongKey, 1));
    assert_eq!(
        code(vec![failure(404, "model \"small-1\" not found, try pulling it first")]).await,
        (Code::WrongModel, 1)
    );
    assert_eq!(code(vec![failure(404, "no route")]).await, (Code::WrongAddress, 1));
    assert_eq!(code(vec![failure(400, "context length exceeded")]).await, (Code::BadRequest, 1));
    let moved = (StatusCode::FOUND, [(header::LOCATION, "https://elsewhere.example/")]).into_response();
    assert_eq!(code(vec![moved]).await, (Code::WrongAddress, 1));
    let page = ([(header::CONTENT_TYPE, "text/html")], "<html>router</html>").into_response();
    assert_eq!(code(vec![page]).await, (Code::WrongAddress, 1));
    let garbage = ([(header::CONTENT_TYPE, "text/event-stream")], "data: {not json\n\n").into_response();
    assert_eq!(code(vec![garbage]).await, (Code::BadReply, 1));
    // Nothing is listening there: tried as often as allowed.
    let free = TcpListener::bind("127.0.0.1:0").await.unwrap().local_addr().unwrap();
    let mut fake = Fake::saying([]).await;
    fake.base = format!("http://{free}");
    assert_eq!(ask(&fake.model(Protocol::Openai)).await.unwrap_err().code(), Code::NoConnection);
    let none = Model::new(ModelConfig::new(Protocol::Openai, "not an address", "m"), Ledger::default());
    assert_eq!(none.unwrap_err().code(), Code::WrongAddress);
}

#[tokio::test]
async fn what_may_pass_is_asked_again_after_the_pause_asked_for() {
    let busy = |seconds: &'static str| {
        (StatusCode::TOO_MANY_REQUESTS, [(header::RETRY_AFTER, seconds)], "slow down").into_response()
    };
    let fake = Fake::saying([failure(500, "oops"), busy("1"), words("at last")]).await;
    let began = Instant::now();
    let patient = fake.model(Protocol::Openai);
    let (reply, _) = ask(&patient).await.unwrap();
    assert_eq!((reply.text.as_str(), fake.requests().len()), ("at last", 3));
    assert!(began.elapsed() >= Duration::from_secs(1), "the pause was not kept");
    assert_eq!(
        code(vec![failure(529, "overloaded"), failure(503, "x"), failure(500, "x")]).await,
        (Code::Provider, 3)
    );
    // A requested pause that exceeds the total or idle timeout is not waited for.
    assert_eq!(code(vec![busy("3600")]).await, (Code::RateLimited, 1));
    let fake = Fake::saying([busy("9"), words("never asked")]).await;
    let model = fake.model(Protocol::Openai);
    let limits = Limits { idle: Duration::from_secs(5), ..model.config().limits };
    assert_eq!(ask(&model.with_limits(limits)).await.unwrap_err().code(), Code::RateLimited);
    assert_eq!(fake.requests().len(), 1);
}

#[tokio::test]
async fn an_answer_that_breaks_off_is_not_taken_for_a_whole_one_nor_asked_for_twice() {
    let half = json!({"choices": [{"delta": {"content": "The best tool is"}}]});
    let cut_off =
        ([(header::CONTENT_TYPE, "text/event-stream")], format!("data: {half}\n\n")).into_response();
    assert_eq!(code(vec![cut_off, words("never asked")]).await, (Code::NoConnection, 1));
    let trouble = events(&[half, json!({"error": {"message": "overloaded"}})]);
    assert_eq!(code(vec![trouble, words("never asked")]).await, (Code::Provider, 1));
}

#[tokio::test]
async fn ten_megabytes_and_silence_are_bounded() {
    let flood = |piece: &'static str| {
        let parts = futures_util::stream::repeat_with(move || {
            Ok::<_, std::io::Error>(Bytes::from(piece.repeat(1000)))
        });
        streamed(Body::from_stream(parts))
    };
    let event = "data: {\"choices\":[{\"delta\":{\"content\":\"aaaaaaaaaaaaaaaaaaaa\"}}]}\n\n";
    assert_eq!(code(vec![flood(event)]).await, (Code::TooLong, 1));
    // An endless line never completes an event.
    assert_eq!(code(vec![flood("aaaaaaaaaaaaaaaaaaaaaaaaaaaa")]).await, (Code::TooLong, 1));
    let silence =
        streamed(Body::from_stream(futures_util::stream::pending::<Result<Bytes, std::io::Error>>()));
    // The service stays silent, so only the timeout can end the wait.
    let fake = Fake::saying([silence]).await;
    let model = fake.model(Protocol::Openai);
    let limits = Limits { idle: Duration::from_millis(500), ..model.config().limits };
    let error = ask(&model.with_limits(limits)).await.unwrap_err();
    assert_eq!(error.code(), Code::Timeout);
    assert!(fake.requests().len() <= 1, "silence is not asked again");
}

#[tokio::test]
async fn dropping_the_question_closes_the_connection() {
    struct Gone(Option<tokio::sync::oneshot::Sender<()>>);
    impl Drop for Gone {
        fn drop(&mut self) {
            let _ = self.0.take().map(|gone| gone.send(()));
        }
    }
    let (gone, noticed) = tokio::sync::oneshot::channel();
    let guard = Gone(Some(gone));
    let drops = futures_util::stream::repeat(()).then(move |()| {
        let _held = &guard;
        async {
            tokio::time::sleep(Duration::from_millis(10)).await;
            let event = json!({"choices": [{"delta": {"content": "x"}}]});
            Ok::<_, std::io::Error>(Bytes::from(format!("data: {event}\n\n")))
        }
    });
    let fake = Fake::saying([streamed(Body::from_stream(drops))]).await;
    let model = fake.model(Protocol::Openai);
    let ledger = model.ledger().clone();
    let (heard, mut first) = tokio::sync::mpsc::unbounded_channel();
    let asking = tokio::spawn(async move {
        let mut on_text = move |_: &str| heard.send(()).unwrap();
        model.chat(&question(), &mut on_text).await
    });
    first.recv().await.unwrap();
    asking.abort();
    assert!(asking.await.unwrap_err().is_cancelled());
    // Text generated until then has to be paid for and is counted as well as possible.
    let usage = ledger.entries().first().expect("an entry").usage;
    assert!(usage.input > 0 && usage.output > 0, "{usage:?}");
    // The service would stream forever, so only the cancellation can end it. The timeout keeps a failing test
    // from hanging.
    tokio::time::timeout(Duration::from_mins(1), noticed).await.expect("it is noticed").unwrap();
}

fn schema() -> Value {
    json!({"type": "object", "properties": {"score": {"type": "number", "minimum": 0, "maximum": 1}},
           "required": ["score"], "additionalProperties": false})
}

#[tokio::test]
async fn structured_answers_are_checked_and_mended_once() {
    let fake =
        Fake::saying([words("Of course: ```json\n{\"score\": 7}\n```"), words("{\"score\": 0.7}")]).await;
    let answer = fake.model(Protocol::Openai).structured(&question(), "grade", &schema()).await.unwrap();
    assert_eq!((answer.value, answer.repaired, answer.usage.input), (json!({"score": 0.7}), true, 22));
    let asked = fake.requests();
    assert_eq!(asked[0].body["response_format"]["json_schema"]["schema"], schema());
    let complaint = asked[1].body["messages"].as_array().unwrap().last().unwrap()["content"].to_string();
    assert!(complaint.contains("/score") && complaint.contains("maximum"), "{complaint}");

    let fake = Fake::saying([words("no"), words("still no"), words("{\"score\": 1}")]).await;
    let error = fake.model(Protocol::Openai).structured(&question(), "grade", &schema()).await.unwrap_err();
    assert_eq!((error.code(), fake.requests().len()), (Code::Unstructured, 2));
}

#[tokio::test]
async fn structured_answers_work_where_schemas_are_unknown_and_by_anthropic_s_tool() {
    let old = failure(400, "unknown field response_format");
    let fake = Fake::saying([old, words("{\"score\": 1}")]).await;
    let answer = fake.model(Protocol::Openai).structured(&question(), "grade", &schema()).await.unwrap();
    assert_eq!((answer.value, answer.repaired), (json!({"score": 1}), false));
    assert!(fake.requests()[1].body.get("response_format").is_none());

    let whole = json!({"content": [{"type": "tool_use", "id": "t", "name": "grade", "input": {"score": 0.5}}],
        "stop_reason": "tool_use", "usage": {"input_tokens": 1, "output_tokens": 1}});
    let fake = Fake::saying([axum::Json(whole).into_response()]).await;
    let answer = fake.model(Protocol::Anthropic).structured(&question(), "grade", &schema()).await.unwrap();
    assert_eq!(answer.value, json!({"score": 0.5}));
    assert_eq!(fake.requests()[0].body["tool_choice"], json!({"type": "tool", "name": "grade"}));
}

#[tokio::test]
async fn the_books_are_kept_and_the_cap_holds() {
    let fake = Fake::saying([words("one"), words("two")]).await;
    let ledger = Ledger::new(Some(0.000_02));
    let config = ModelConfig { price: Price { input: 1.0, output: 2.0 }, ..fake.config(Protocol::Openai) };
    let model = Model::new(config, ledger.clone()).unwrap();
    ask(&model).await.unwrap();
    // 11 tokens at one dollar per million and 5 at two dollars.
    assert!((ledger.cost() - 21e-6).abs() < 1e-12, "{}", ledger.cost());
    assert_eq!(ask(&model).await.unwrap_err().code(), Code::OverBudget);
    assert_eq!(fake.requests().len(), 1, "nothing is sent over the cap");
    assert_eq!(ledger.entries()[0].calls, 1);
    assert!(!format!("{model:?}").contains("planted-key"));
}

#[tokio::test]
async fn what_a_service_says_of_its_failure_is_short_and_without_the_key() {
    let told = format!("key planted-key \u{1b}[31mis\u{202e} bad{}", "!".repeat(100_000));
    for (protocol, status) in [(Protocol::Openai, 400), (Protocol::Openai, 404), (Protocol::Anthropic, 529)] {
        let fake = Fake::saying((0..3).map(|_| failure(status, &told))).await;
        let error = ask(&fake.model(protocol)).await.unwrap_err().to_string();
        assert!(!error.contains("planted") && !error.contains(['\u{1b}', '\u{202e}']), "{error}");
        assert!(error.len() < 500, "{} characters", error.len());
    }
    let fake = Fake::saying((0..3).map(|_| events(&[json!({"error": {"message": told}})]))).await;
    let error = ask(&fake.model(Protocol::Openai)).await.unwrap_err().to_string();
    assert!(error.contains("is bad") && !error.contains("planted") && error.len() < 500, "{error}");
}

#[tokio::test]
async fn the_models_of_a_service_are_listed() {
    let list = |names: &[&str]| {
        let data: Vec<Value> = names.iter().map(|name| json!({ "id": name, "object": "model" })).collect();
        axum::Json(json!({ "object": "list", "data": data })).into_response()
    };
    for (protocol, path) in [(Protocol::Openai, "/models"), (Protocol::Anthropic, "/v1/models")] {
        let answers = [
            list(&["small-1", "large-1", "small-1", ""]),
            failure(401, "no"),
            axum::Json(json!({ "models": [] })).into_response(),
            "<html>".into_response(),
        ];
        let fake = Fake::saying(answers).await;
        let model = fake.model(protocol);
        assert_eq!(model.list().await.unwrap(), ["large-1", "small-1"]);
        let asked = &fake.requests()[0];
        assert_eq!(asked.path, path);
        assert!(asked.headers.contains_key("authorization") || asked.headers.contains_key("x-api-key"));
        assert_eq!(model.list().await.unwrap_err().code(), Code::WrongKey);
        assert!(matches!(model.list().await, Err(Error::BadReply { .. })));
        assert!(matches!(model.list().await, Err(Error::BadReply { .. })));
    }
}
