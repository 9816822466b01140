//! MCP servers behind AutoKit: real processes, kind and unkind.

use std::collections::BTreeMap;
use std::io::BufRead as _;
use std::time::Duration;

use anyhow::{Context as _, Result, ensure};
use autokit_mcp_client::{Limits, Pool, Progress, ResolvedTransport, UpstreamError};
use rmcp::model::CallToolResult;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

fn server(words: &[&str]) -> Result<ResolvedTransport> {
    Ok(ResolvedTransport::Stdio {
        command: autokit_tests::program("tools-server")?.display().to_string(),
        args: words.iter().map(|word| (*word).to_owned()).collect(),
        env: BTreeMap::from([("FOR_THE_SERVER".to_owned(), "yes".to_owned())]),
        folder: None,
    })
}

fn pool(limits: Limits) -> Pool {
    Pool::new(limits).0
}

async fn call(
    pool: &Pool,
    reach: &ResolvedTransport,
    tool: &str,
    arguments: Value,
) -> Result<CallToolResult, UpstreamError> {
    let (progress, _) = mpsc::channel(8);
    let arguments = arguments.as_object().cloned().unwrap_or_default();
    pool.call("s", reach, tool, arguments, &progress, &CancellationToken::new()).await
}

fn text(result: &CallToolResult) -> &str {
    result.content.first().and_then(|block| block.as_text()).map_or("", |text| &text.text)
}

#[tokio::test]
async fn a_server_is_started_once_and_shared() -> Result<()> {
    let (pool, reach) = (pool(Limits::default()), server(&[])?);
    ensure!(pool.running().await.is_empty());
    let tools = pool.tools("s", &reach).await?;
    ensure!(tools.tools.iter().any(|tool| tool.name == "echo"), "{tools:?}");
    let calls = (0..50).map(|_| call(&pool, &reach, "count", json!({})));
    let mut counts: Vec<u64> = Vec::new();
    for result in futures_util::future::join_all(calls).await {
        counts.push(text(&result?).parse()?);
    }
    counts.sort_unstable();
    ensure!(counts == (1..=50).collect::<Vec<u64>>(), "one process answered each call once: {counts:?}");
    ensure!(pool.running().await == ["s"]);
    // Otherwise configured, it is another process.
    let other = server(&["--changed"])?;
    ensure!(text(&call(&pool, &other, "count", json!({})).await?) == "1");
    pool.stop_all().await;
    ensure!(pool.running().await.is_empty());
    Ok(())
}

#[tokio::test]
async fn both_generations_over_both_transports() -> Result<()> {
    let pool = pool(Limits::default());
    for newest in [false, true] {
        let words: &[&str] = if newest { &["--newest"] } else { &[] };
        let result = call(&pool, &server(words)?, "echo", json!({"text": "hi"})).await?;
        ensure!(text(&result) == r#"{"text":"hi"}"#);
        let mut program = std::process::Command::new(autokit_tests::program("tools-server")?)
            .arg("--http")
            .args(words)
            .stdout(std::process::Stdio::piped())
            .spawn()?;
        let mut url = String::new();
        std::io::BufReader::new(program.stdout.take().context("output")?).read_line(&mut url)?;
        let reach = ResolvedTransport::Http { url: url.trim().to_owned(), headers: BTreeMap::new() };
        let result = call(&pool, &reach, "echo", json!({"text": "hi"})).await;
        let tools = pool.tools("s", &reach).await;
        program.kill()?;
        program.wait()?;
        ensure!(text(&result?) == r#"{"text":"hi"}"#);
        ensure!(tools?.tools.len() == 10);
        // It is gone now.
        let gone = call(&pool, &reach, "echo", json!({})).await;
        ensure!(gone.as_ref().is_err_and(UpstreamError::is_retryable), "{gone:?}");
    }
    Ok(())
}

#[tokio::test]
async fn a_crash_fails_its_calls_and_the_next_call_restarts_the_server() -> Result<()> {
    let (pool, reach) = (pool(Limits::default()), server(&[])?);
    ensure!(text(&call(&pool, &reach, "count", json!({})).await?) == "1");
    let (slow, crash) =
        tokio::join!(call(&pool, &reach, "slow", json!({})), call(&pool, &reach, "crash", json!({})),);
    for failed in [slow, crash] {
        ensure!(matches!(failed, Err(UpstreamError::Ended { .. })), "{failed:?}");
    }
    ensure!(text(&call(&pool, &reach, "count", json!({})).await?) == "1");
    Ok(())
}

/// What the server counts, asked for again where a busy machine was slower than the pool is patient.
async fn counted(pool: &Pool, reach: &ResolvedTransport) -> Result<u64> {
    for _ in 0..200 {
        match call(pool, reach, "count", json!({})).await {
            Err(UpstreamError::Timeout { .. }) => {}
            counted => return Ok(text(&counted?).parse()?),
        }
    }
    anyhow::bail!("the server never answers")
}

#[tokio::test]
async fn a_server_that_never_answers_times_out() -> Result<()> {
    let limits = Limits { call: Duration::from_millis(300), ..Limits::default() };
    let (pool, reach) = (pool(limits), server(&[])?);
    let before = counted(&pool, &reach).await?;
    let silent = call(&pool, &reach, "slow", json!({})).await;
    ensure!(matches!(silent, Err(UpstreamError::Timeout { .. })), "{silent:?}");
    // The server itself goes on, and is the one it was.
    ensure!(counted(&pool, &reach).await? > before);
    Ok(())
}

#[tokio::test]
async fn a_cancelled_call_ends_at_once() -> Result<()> {
    let (pool, reach) = (pool(Limits::default()), server(&[])?);
    call(&pool, &reach, "count", json!({})).await?;
    let (progress, _) = mpsc::channel(8);
    let cancel = CancellationToken::new();
    let slow = pool.call("s", &reach, "slow", Map::new(), &progress, &cancel);
    let (answer, ()) = tokio::join!(slow, async { cancel.cancel() });
    ensure!(answer == Err(UpstreamError::Cancelled), "{answer:?}");
    ensure!(text(&call(&pool, &reach, "count", json!({})).await?).parse::<u64>()? >= 2);
    Ok(())
}

/// Returns once the process has been stopped.
async fn stopped(process: &str) -> Result<()> {
    let is_stopped =
        || std::fs::read_to_string(format!("/proc/{process}/stat")).map(|stat| stat.contains(") T "));
    while !is_stopped()? {
        tokio::task::yield_now().await;
    }
    Ok(())
}

#[tokio::test]
async fn a_server_that_does_not_read_keeps_nobody_waiting() -> Result<()> {
    let (pool, reach) = (pool(Limits::default()), server(&[])?);
    let process = text(&call(&pool, &reach, "process", json!({})).await?).to_owned();
    let id = rustix::process::Pid::from_raw(process.parse()?).context("an id")?;
    rustix::process::kill_process(id, rustix::process::Signal::STOP)?;
    stopped(&process).await?;
    // More than a pipe holds, so that nothing can be written after it.
    let large = Map::from_iter([("text".to_owned(), Value::from("x".repeat(4 << 20)))]);
    let (progress, _) = mpsc::channel(8);
    let cancel = CancellationToken::new();
    let echo = pool.call("s", &reach, "echo", large, &progress, &cancel);
    let (answer, ()) = tokio::join!(echo, async { cancel.cancel() });
    ensure!(answer == Err(UpstreamError::Cancelled), "{answer:?}");
    // It was ended, and the next call starts it again.
    ensure!(text(&call(&pool, &reach, "process", json!({})).await?) != process);
    Ok(())
}

#[tokio::test]
async fn large_answers_many_tools_pictures_and_progress_pass() -> Result<()> {
    let (pool, reach) = (pool(Limits::default()), server(&["--many", "5000"])?);
    ensure!(pool.tools("s", &reach).await?.tools.len() == 5_010);
    let huge = call(&pool, &reach, "huge", json!({"mib": 50})).await?;
    ensure!(text(&huge).len() > 49 << 20, "{}", text(&huge).len());
    let picture = call(&pool, &reach, "picture", json!({})).await?;
    ensure!(picture.content[0].as_image().is_some_and(|image| image.mime_type == "image/png"));
    let (progress, mut events) = mpsc::channel::<Progress>(8);
    pool.call("s", &reach, "step", Map::new(), &progress, &CancellationToken::new()).await?;
    drop(progress);
    let mut steps = Vec::new();
    while let Some(event) = events.recv().await {
        steps.push((event.progress as u32, event.message.unwrap_or_default()));
    }
    ensure!(steps.len() == 3 && steps[2] == (3, "step 3".to_owned()), "{steps:?}");
    let small = Pool::new(Limits { tools: 5_000, ..Limits::default() }).0;
    let many = small.tools("s", &reach).await;
    ensure!(matches!(many, Err(UpstreamError::TooManyTools { most: 5_000, .. })), "{many:?}");
    Ok(())
}

#[tokio::test]
async fn failures_are_reported_in_the_servers_own_words() -> Result<()> {
    let pool = pool(Limits::default());
    let wrong = call(&pool, &server(&[])?, "wrong", json!({})).await;
    ensure!(
        wrong.as_ref().is_err_and(|error| error.to_string().contains("this is never right")),
        "{wrong:?}"
    );
    let failed = call(&pool, &server(&["--fail"])?, "echo", json!({})).await;
    ensure!(
        failed.as_ref().is_err_and(|error| error.to_string().contains("no licence was found")),
        "{failed:?}"
    );
    // Every time, however soon it ends and whichever side notices first.
    for _ in 0..20 {
        let failed =
            call(&pool, &server(&["--fail"])?, "echo", json!({})).await.err().context("it failed")?;
        let expected = "the MCP server \"s\" could not be started: it exited immediately with code 1; its output: no licence was found";
        ensure!(failed.to_string() == expected, "{failed}");
    }
    for _ in 0..20 {
        let ended = call(&pool, &server(&[])?, "crash", json!({})).await.err().context("it ended")?;
        let expected = "the MCP server \"s\" ended: the disk of this server is on fire";
        ensure!(ended.to_string() == expected, "{ended}");
    }
    let reach = ResolvedTransport::Stdio {
        command: "no-such-program-here".to_owned(),
        args: Vec::new(),
        env: BTreeMap::new(),
        folder: None,
    };
    let missing = call(&pool, &reach, "echo", json!({})).await;
    ensure!(missing.as_ref().is_err_and(|error| error.to_string().contains("was not found")), "{missing:?}");
    Ok(())
}

#[tokio::test]
async fn a_server_sees_only_the_variables_meant_for_it() -> Result<()> {
    let pool = pool(Limits::default());
    let names = call(&pool, &server(&[])?, "secrets", json!({})).await?;
    let names: Vec<&str> = text(&names).split(' ').collect();
    ensure!(names.contains(&"FOR_THE_SERVER") && names.contains(&"PATH"), "{names:?}");
    let meant = [
        "FOR_THE_SERVER",
        "PATH",
        "HOME",
        "USER",
        "LOGNAME",
        "SHELL",
        "TERM",
        "LANG",
        "LC_ALL",
        "TMPDIR",
        "TZ",
    ];
    ensure!(names.iter().all(|name| meant.contains(name)), "{names:?}");
    Ok(())
}

#[tokio::test]
async fn a_server_that_changes_its_tools_is_noticed_and_idle_ones_stop() -> Result<()> {
    let (pool, mut changes) = Pool::new(Limits { idle: Duration::ZERO, ..Limits::default() });
    let reach = server(&[])?;
    call(&pool, &reach, "morph", json!({})).await?;
    ensure!(changes.recv().await.as_deref() == Some("s"));
    let tools = pool.tools("s", &reach).await?;
    ensure!(
        tools.tools[0].description.as_deref().is_some_and(|text| text.contains("send them here")),
        "{tools:?}"
    );
    pool.stop_idle().await;
    ensure!(pool.running().await.is_empty());
    Ok(())
}
