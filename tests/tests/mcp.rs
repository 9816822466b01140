//! Agents of both generations, over standard input and output and over HTTP: find a tool, call it, get
//! the result; whatever ends meanwhile.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use anyhow::{Context as _, Result, ensure};
use autokit_tests::Workplace;
use autokit_tests::mcp::{Agent, Generation, add_server};
use serde_json::{Value, json};

const OWN: [&str; 6] = ["search_tools", "call_tool", "ask", "discover", "propose_card", "report_outcome"];

#[tokio::test(flavor = "multi_thread")]
async fn an_agent_finds_a_tool_and_calls_it() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    add_server(&place, "fixture", &[], true)?;
    let owner = place.serve()?;
    for generation in Generation::BOTH {
        for http in [false, true] {
            let agent = if http {
                Agent::over_http(&place, generation).await
            } else {
                Agent::over_stdio(&place, generation).await
            };
            let mut agent = agent.with_context(|| format!("{generation:?}, over HTTP: {http}"))?;
            ensure!(agent.tools().await? == OWN);
            let found = agent.search("echo").await?;
            let first = &found["results"][0];
            ensure!(first["name"] == "echo" && first["callable"] == true, "{found}");
            ensure!(first["input_schema"]["properties"]["text"]["type"] == "string", "{found}");
            if generation == Generation::Session {
                agent.told(1).await?;
                ensure!(agent.tools().await?.contains(&"echo".to_owned()));
            } else {
                ensure!(agent.tools().await? == OWN);
            }
            let (text, failed) = agent.use_tool("echo", json!({"text": "hi"})).await?;
            ensure!(!failed && text == r#"{"text":"hi"}"#, "{text}");
            let (text, failed) = agent.use_tool("echo", json!({"times": 0})).await?;
            ensure!(failed && text.contains("minimum"), "checked before it is called: {text}");
            agent.leave().await?;
        }
    }
    let report = place.json(&["report", "activity"])?;
    ensure!(report["sessions"] == 4 && report["searches"] == 4, "{report}");
    ensure!(
        report["calls"] == 8 && report["failed_calls"] == 4 && report["clients"]["test agent 1.0"] == 4,
        "{report}"
    );
    ensure!(report["accuracy"].as_f64().is_some_and(|share| share > 0.0), "{report}");
    ensure!(
        report["static_tokens"].as_u64() > Some(0) && report["own_tokens"].as_u64() > Some(0),
        "{report}"
    );
    owner.stop()?;
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn the_owner_ends_and_the_agent_goes_on() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    add_server(&place, "fixture", &[], true)?;
    for generation in Generation::BOTH {
        // One that is closed has written down what its agents found.
        let owner = place.serve()?;
        let mut agent = Agent::over_stdio(&place, generation).await?;
        agent.search("echo").await?;
        owner.stop()?;
        let (text, failed) = agent.use_tool("echo", json!({"text": "2"})).await?;
        ensure!(!failed && text == r#"{"text":"2"}"#, "{generation:?}: {text}");
        agent.leave().await?;
        // One that is killed may have had no time for it: then a search brings it back.
        let owner = place.serve()?;
        let mut agent = Agent::over_stdio(&place, generation).await?;
        ensure!(agent.tools().await? == OWN);
        owner.kill()?;
        agent.search("echo").await?;
        let (text, failed) = agent.use_tool("echo", json!({"text": "3"})).await?;
        ensure!(!failed && text == r#"{"text":"3"}"#, "{generation:?}: {text}");
        agent.leave().await?;
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn what_a_server_says_is_reviewed_before_an_agent_reads_it() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let added = add_server(&place, "fixture", &[], false)?;
    ensure!(added["tools"] == 0, "{added}");
    let waiting = place.json(&["review", "list"])?;
    ensure!(waiting["waiting"] == 10, "{waiting}");
    let mut agent = Agent::over_stdio(&place, Generation::Session).await?;
    ensure!(agent.search("echo").await?["results"] == json!([]));
    let echo =
        waiting["rows"].as_array().context("rows")?.iter().find(|row| row["title"] == "fixture / echo");
    let id = echo.context("a proposal for echo")?["id"].to_string();
    place.json(&["review", "accept", &id])?;
    let found = agent.search("echo").await?;
    ensure!(found["results"][0]["about"] == "Gives back what it is given.", "{found}");
    ensure!(!agent.use_tool("echo", json!({"text": "hi"})).await?.1);
    agent.leave().await?;

    // The same server, with another word in its description: nobody reads or calls it unseen.
    let changed = add_server(&place, "fixture", &["--changed"], false)?;
    ensure!(changed["tools"] == 1, "{changed}");
    let mut agent = Agent::over_stdio(&place, Generation::Session).await?;
    let found = agent.search("echo").await?;
    ensure!(!found.to_string().contains("read all files"), "{found}");
    let (text, failed) = agent.use_tool("echo", json!({"text": "hi"})).await?;
    ensure!(failed && text.contains("Review"), "{text}");
    agent.leave().await?;
    let waiting = place.json(&["review", "list"])?;
    let rows = waiting["rows"].as_array().context("rows")?;
    let change = rows.iter().find(|row| row["title"] == "fixture / echo").context("a proposal for echo")?;
    let shown = place.json(&["review", "show", &change["id"].to_string()])?;
    ensure!(shown["diff"].to_string().contains("read all files"), "{shown}");
    place.json(&["review", "accept", &change["id"].to_string()])?;
    let mut agent = Agent::over_stdio(&place, Generation::Session).await?;
    agent.search("echo").await?;
    ensure!(!agent.use_tool("echo", json!({"text": "hi"})).await?.1);
    agent.leave().await
}

#[tokio::test(flavor = "multi_thread")]
async fn own_tools_ask_propose_and_report() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let cards =
        [json!({"name": "Kettle", "provider": "Acme", "description": "Boils water.", "module": "kettle",
        "class": "Kettle", "programming_language": "python", "documentation": "https://kettle.example.org"})];
    let file = place.cards_file("cards.json", &cards)?;
    place.json(&["import", &file.display().to_string()])?;
    let mut agent = Agent::over_stdio(&place, Generation::Session).await?;
    let found = agent.search("Kettle").await?;
    let first = &found["results"][0];
    ensure!(
        first["callable"] == false && first["stub"].as_str().is_some_and(|stub| stub.contains("from kettle")),
        "{found}"
    );
    ensure!(agent.tools().await? == OWN, "a reference is never bound");
    let (answer, failed) = agent.call("ask", json!({"question": "Kettle"})).await?;
    ensure!(!failed && answer.contains("from kettle import Kettle"), "{answer}");
    let proposal = json!({"description": "Toaster Kit is a Python library that toasts bread."});
    let (text, failed) = agent.call("propose_card", proposal).await?;
    ensure!(!failed && text.contains("Toaster Kit"), "{text}");
    ensure!(place.json(&["review", "list"])?["waiting"] == 1);
    let report = json!({"tool": first["id"], "task": "boil water", "worked": true});
    let (text, failed) = agent.call("report_outcome", report).await?;
    ensure!(!failed && text.contains("Kettle worked"), "{text}");
    for (tool, arguments) in
        [("ask", json!({})), ("report_outcome", json!({"tool": "x", "task": "y", "worked": "yes"}))]
    {
        let (text, failed) = agent.call(tool, arguments).await?;
        ensure!(failed && text.contains("do not fit"), "{text}");
    }
    agent.leave().await
}

/// One line in, one line out, as no client of the SDK would write it.
#[test]
fn what_is_no_protocol_is_answered_or_refused() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let mut process = place.command(&["mcp"])?.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = process.stdin.take().context("input")?;
    let mut output = BufReader::new(process.stdout.take().context("output")?);
    let mut say = |line: &str| -> Result<()> { Ok(writeln!(input, "{line}").and_then(|()| input.flush())?) };
    let mut hear = || -> Result<Value> {
        let mut line = String::new();
        output.read_line(&mut line)?;
        Ok(serde_json::from_str(&line)?)
    };
    say(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"raw","version":"0"}}}"#,
    )?;
    let hello = hear()?;
    ensure!(hello["result"]["serverInfo"]["name"] == "autokit", "{hello}");
    ensure!(hello["result"]["capabilities"]["tools"]["listChanged"] == true, "{hello}");
    say(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#)?;
    say("{this is no JSON")?;
    let wrong = hear()?;
    ensure!(wrong["error"]["code"] == -32700, "{wrong}");
    say(r#"{"jsonrpc":"2.0","id":2,"method":"no/such"}"#)?;
    let unknown = hear()?;
    ensure!(unknown["error"]["code"] == -32601 && unknown["id"] == 2, "{unknown}");
    say(r#"{"jsonrpc":"2.0","id":"three","method":"tools/list"}"#)?;
    let list = hear()?;
    ensure!(list["id"] == "three" && list["result"]["tools"][0]["name"] == "search_tools", "{list}");
    drop(input);
    ensure!(process.wait()?.success());
    Ok(())
}

#[test]
fn a_program_is_connected_as_previewed_and_only_when_told_to() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let home = place.path("home");
    std::fs::create_dir_all(home.join(".cursor"))?;
    let file = home.join(".cursor/mcp.json");
    std::fs::write(
        &file,
        "{\n  \"mcpServers\": {\n    \"mine\": {\"env\": {\"KEY\": \"planted\"}}\n  },\n  \"far\": [\n    1,\n    2,\n    3,\n    \"planted too\"\n  ]\n}\n",
    )?;
    let run = |words: &[&str]| -> Result<std::process::Output> {
        Ok(place.command(words)?.env("HOME", &home).env_remove("XDG_CONFIG_HOME").output()?)
    };
    let listed: Value = serde_json::from_slice(&run(&["clients", "list", "--json"])?.stdout)?;
    let cursor = listed.as_array().context("a list")?.iter().find(|client| client["id"] == "cursor");
    let cursor = cursor.context("Cursor")?;
    ensure!(cursor["here"] == true && cursor["connected"] == false, "{cursor}");
    ensure!(!listed.to_string().contains("planted too"), "only what is around the change is shown: {listed}");
    let before = std::fs::read_to_string(&file)?;
    let shown = String::from_utf8(run(&["clients", "show", "cursor"])?.stdout)?;
    ensure!(shown.contains("+     \"autokit\": {") && shown.contains("\"mcp\""), "{shown}");
    // Nobody said yes.
    ensure!(!run(&["clients", "connect", "cursor"])?.status.success());
    ensure!(!std::fs::read_to_string(&file)?.contains("autokit"));
    let done: Value =
        serde_json::from_slice(&run(&["clients", "connect", "cursor", "--yes", "--json"])?.stdout)?;
    ensure!(done["client"]["connected"] == true, "{done}");
    let text = std::fs::read_to_string(&file)?;
    let after: Value = serde_json::from_str(&text)?;
    ensure!(before.lines().all(|line| text.contains(line.trim_end_matches('}'))), "{text}");
    let backup = std::fs::read_to_string(done["backup"].as_str().context("a backup")?)?;
    ensure!(backup.contains("planted too") && !backup.contains("autokit"), "{backup}");
    // What it says is what starts the server.
    let args: Vec<String> = serde_json::from_value(after["mcpServers"]["autokit"]["args"].clone())?;
    ensure!(
        args.last().map(String::as_str) == Some("mcp")
            && args.contains(&place.data_dir().display().to_string())
    );
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_of_autokit_itself_are_found_before_the_library() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    for generation in Generation::BOTH {
        let mut agent = Agent::over_stdio(&place, generation).await?;
        let found = agent.search("what time is it in a time zone").await?;
        ensure!(
            found["results"][0]["name"] == "get_time" && found["results"][0]["tier"] == "system",
            "{found}"
        );
        let (text, failed) = agent.use_tool("get_time", json!({"zone": "Asia/Tokyo"})).await?;
        ensure!(!failed && text.ends_with("+09:00[Asia/Tokyo]"), "{text}");
        let (text, failed) = agent.use_tool("get_time", json!({"zone": "Mars/Base"})).await?;
        ensure!(failed && text.contains("no time zone"), "{text}");
        agent.search("summarize a text").await?;
        let long = json!({"text": "Tea is hot. Tea is good. Dogs bark.", "sentences": 2});
        ensure!(agent.use_tool("summarize_text", long).await?.0 == "Tea is hot. Tea is good.");
        agent.search("search documentation pages").await?;
        let (text, failed) = agent.use_tool("docs_search", json!({"query": "tea"})).await?;
        ensure!(!failed && text.contains("No documentation page"), "{text}");
        agent.leave().await?;
    }
    Ok(())
}
