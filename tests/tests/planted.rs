//! How much of a wrong documentation trial calls find: a loopback API of 64 operations with 97 planted defects, by
//! somebody who had not seen how tools are explored. `fixtures/planted-api/sealed.json` is only for figures that are
//! reported.
//!
//! The scripted model knows which call shows each defect (`calls.json`, written by `check.mjs --calls`). It says what a
//! defect is only if the answer that it is shown has the status of that call, so that what is measured is whether the
//! loop makes the calls a model asks for, shows what they returned and keeps what the model writes.

#![allow(clippy::print_stdout, reason = "a measurement is printed")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context as _, Result, ensure};
use autokit_api::commands::{GetProposal, ListProposals, SetProviders, StartRefine};
use autokit_api::{JobState, ProposalGet, ProposalsQuery, RefineRequest, RefineScope, RefineStart};
use autokit_tests::Workplace;
use autokit_tests::agent::{job_end, provider_settings};
use autokit_tests::model::{ModelRequest, Reply, ScriptedModel};
use autokit_tests::tools::node_with_api;
use serde_json::{Map, Value, json};

/// Fewest defects of the open half that are found and rightly described, in percent.
const FOUND: usize = 60;
/// The same with the scripted model, of each half.
const FOUND_WITH_MODEL: usize = 90;

fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/planted-api")
}

/// The API, until it is dropped: it ends when its standard input closes.
struct Api {
    child: Child,
    port: u16,
}

impl Api {
    fn start() -> Result<Api> {
        let mut child = Command::new("node")
            .arg(fixture().join("server.mjs"))
            .arg("0")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("node starts")?;
        let mut line = String::new();
        BufReader::new(child.stdout.take().context("an output")?).read_line(&mut line)?;
        let port = line.trim().rsplit(' ').next().and_then(|port| port.parse().ok());
        Ok(Api { port: port.with_context(|| format!("a port in {line:?}"))?, child })
    }
}

impl Drop for Api {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        // It may have ended already.
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// What is said of one operation after it was explored.
#[derive(Default)]
struct Said {
    /// Its description and those of its parameters.
    text: String,
    /// What is claimed, a sentence each.
    claims: Vec<String>,
}

fn texts(value: &Value, found: &mut String) {
    match value {
        Value::Object(object) => {
            for (key, value) in object {
                match value {
                    Value::String(text) if key == "description" => {
                        found.push_str(text);
                        found.push('\n');
                    }
                    _ => texts(value, found),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| texts(item, found)),
        _ => {}
    }
}

fn shown(value: &Value) -> String {
    format!("`{}`", value.as_str().map_or_else(|| value.to_string(), str::to_owned))
}

/// Returns texts of which one says rightly what a defect is.
fn right(defect: &Value) -> Vec<String> {
    let text = |key: &str| defect[key].as_str().unwrap_or_default().to_owned();
    let (parameter, other, field) = (text("parameter"), text("other"), text("field"));
    let number = defect["actual"].as_str().map_or_else(|| defect["actual"].to_string(), str::to_owned);
    let values: Vec<Value> = defect["values"].as_array().cloned().unwrap_or_default();
    match text("kind").as_str() {
        "required" => {
            vec![
                format!("`{parameter}` is required"),
                format!("further parameter is required: `{parameter}`"),
            ]
        }
        "optional" => vec![format!("`{parameter}` may be omitted")],
        "value_refused" => {
            values.iter().map(|value| format!("`{parameter}` does not accept {}", shown(value))).collect()
        }
        "values_accepted" => {
            values.iter().map(|value| format!("`{parameter}` accepts {}", shown(value))).collect()
        }
        "maximum" => vec![format!("`{parameter}` is at most {number}.")],
        "minimum" => vec![format!("`{parameter}` is at least {number}.")],
        "capped" => vec![format!("At most {number} items are returned, whatever `{parameter}` asks for")],
        "maximum_length" => vec![format!("`{parameter}` has at most {number} characters")],
        "format" => vec![format!("`{parameter}` has the format ")],
        "unknown" => vec![format!("`{parameter}` is not accepted")],
        "needs" => vec![format!("`{parameter}` is only accepted together with `{other}`")],
        "excludes" => vec![
            format!("`{parameter}` and `{other}` cannot be used together"),
            format!("`{other}` and `{parameter}` cannot be used together"),
        ],
        "default" => vec![format!("Without `{parameter}`, `{number}` is used")],
        "field_renamed" => vec![format!("The result has `{number}` instead of `{field}`")],
        "field_absent" => vec![format!("The result has no `{field}`")],
        "field_undocumented" => vec![format!("The result also has `{field}`")],
        "field_type" => vec![format!("`{field}` in the result is of type {number}")],
        "error_shape" => values
            .iter()
            .map(|status| format!("the call fails with status {}", status.as_str().unwrap_or_default()))
            .collect(),
        "example" => vec!["Example: `{".to_owned()],
        _ => Vec::new(),
    }
}

/// Reads a list of the fixture.
fn list(file: &str) -> Result<Vec<Value>> {
    Ok(serde_json::from_str(&std::fs::read_to_string(fixture().join(file))?)?)
}

async fn explore(
    api: &Api,
    place: &Workplace,
    model: Option<&ScriptedModel>,
) -> Result<BTreeMap<String, Said>> {
    let at = format!("127.0.0.1:{}", api.port);
    let document = std::fs::read_to_string(fixture().join("openapi.json"))?;
    let document = document.replace("PORT", &api.port.to_string());
    let node = node_with_api(place, &document, vec![at.clone()]).await?;
    if let Some(model) = model {
        let mut settings = provider_settings(Some(model), None);
        settings.network.allowed_hosts.push(at);
        node.call::<SetProviders>(settings).await?;
    }
    let mut request = RefineRequest {
        scope: RefineScope::All,
        profile: String::new(),
        allow_changes: true,
        calls: None,
        budget: None,
        granted: Vec::new(),
        dry_run: false,
    };
    let job = loop {
        match node.call::<StartRefine>(request.clone()).await? {
            RefineStart::Started { job, .. } => break job,
            RefineStart::Asks { needs, .. } => request.granted = needs,
            RefineStart::Planned { .. } => anyhow::bail!("nothing was to be planned"),
        }
    };
    let ended = job_end(&node, &job).await?;
    ensure!(ended.state == JobState::Done, "{ended:?}");
    println!("{}", ended.summary.unwrap_or_default());
    let mut said: BTreeMap<String, Said> = BTreeMap::new();
    for row in node.call::<ListProposals>(ProposalsQuery::default()).await?.rows {
        let detail = node.call::<GetProposal>(ProposalGet::from(row.id)).await?;
        let name = detail.title.rsplit(['/', ' ']).next().unwrap_or_default().to_owned();
        let one = said.entry(name).or_default();
        for field in &detail.proposal.draft.fields {
            match &field.value {
                Some(Value::String(text)) => one.text.push_str(text),
                Some(value) => texts(value, &mut one.text),
                None => {}
            }
            one.text.push('\n');
            let claims = field.evidence.iter().filter_map(|evidence| evidence.quote.lines().next());
            one.claims.extend(claims.map(str::to_owned));
        }
    }
    node.close().await?;
    Ok(said)
}

fn is_said(said: &BTreeMap<String, Said>, defect: &Value) -> bool {
    let one = said.get(defect["operation"].as_str().unwrap_or_default());
    one.is_some_and(|one| {
        let is_claimed = |text: &String| one.claims.iter().any(|claim| claim.contains(text.as_str()));
        right(defect).iter().any(|text| one.text.contains(text.as_str()) || is_claimed(text))
    })
}

/// A call that shows a defect.
struct Showing {
    operation: String,
    text: String,
    arguments: Map<String, Value>,
    status: u16,
    /// Sentences of which one says rightly what the defect is.
    says: Vec<String>,
}

/// A model that asks for the calls that show defects, and says what a defect is once it has seen its call.
struct Informed {
    calls: Vec<Showing>,
    asked: Mutex<BTreeSet<usize>>,
}

/// Returns the part of a prompt that follows a heading, up to another one.
fn part<'a>(prompt: &'a str, heading: &str, end: &str) -> &'a str {
    let from = prompt.find(heading).map_or(prompt.len(), |at| at + heading.len());
    prompt[from..].split(end).next().unwrap_or_default()
}

impl Informed {
    fn new(defects: &[Value]) -> Result<Informed> {
        let mut calls = Vec::new();
        for call in list("calls.json")? {
            let is_it = |defect: &&Value| ["operation", "text"].iter().all(|key| defect[*key] == call[*key]);
            let text = |key: &str| call[key].as_str().unwrap_or_default().to_owned();
            let defect = defects.iter().find(is_it).context("a defect of that text")?;
            let mut says = right(defect);
            for sentence in &mut says {
                match defect["kind"].as_str() {
                    Some("format") => sentence.push_str(&shown(&defect["actual"])),
                    Some("example") => *sentence = format!("Example: `{}`", call["arguments"]),
                    _ => {}
                }
            }
            calls.push(Showing {
                operation: text("operation"),
                text: text("text"),
                arguments: call["arguments"].as_object().context("arguments")?.clone(),
                status: call["status"].as_u64().context("a status")? as u16,
                says,
            });
        }
        Ok(Informed { calls, asked: Mutex::default() })
    }

    fn reply(&self, request: &ModelRequest) -> Reply {
        let prompt = request.prompt();
        let tool = part(&prompt, "\nTool:\n", "\nArguments: ");
        let (operation, description) = tool.split_once('\n').unwrap_or((tool, ""));
        match request.schema_name() {
            Some("refine_explore") => {
                let mut asked = self.asked.lock().unwrap();
                let unsaid = self.calls.iter().enumerate().find(|(at, call)| {
                    let is_said = |text: &String| prompt.contains(text.as_str());
                    call.operation == operation && !asked.contains(at) && !call.says.iter().any(is_said)
                });
                let (query, arguments) =
                    unsaid.map_or(("Call it as it is documented", Map::new()), |(at, call)| {
                        asked.insert(at);
                        (call.text.as_str(), call.arguments.clone())
                    });
                Reply::Json(json!({"query": query, "arguments": arguments}))
            }
            Some("refine_analyze") => {
                let call = part(&prompt, "\nCall:\n", "\n\nVersions");
                let line =
                    |start: &str| call.lines().find_map(|line| line.strip_prefix(start)).unwrap_or_default();
                let shown = self.calls.iter().find(|showing| {
                    let arguments = serde_json::from_str::<Map<String, Value>>(line("Arguments: "));
                    let as_expected = match showing.status {
                        200..300 => call.contains("\nIt returned: "),
                        status => call.contains(&format!("\nIt failed with status {status}: ")),
                    };
                    showing.operation == operation
                        && line("Request: ") == showing.text
                        && arguments.is_ok_and(|arguments| arguments == showing.arguments)
                        && as_expected
                });
                let says = shown.and_then(|shown| shown.says.first());
                let suggestion = says.map_or("It is as documented.", String::as_str);
                Reply::Json(json!({"suggestion": suggestion, "shows_something_new": says.is_some()}))
            }
            Some("refine_rewrite") => {
                let suggestion = part(&prompt, "\nSuggestion:\n", "\n\nVersions");
                let description = match suggestion {
                    "It is as documented." => description.to_owned(),
                    new => format!("{description}\n{new}."),
                };
                Reply::Json(
                    json!({"description": description, "direction": "What else is not as documented?"}),
                )
            }
            other => Reply::status(500, &format!("{other:?}")),
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_model_that_knows_what_to_try_finds_what_rules_miss() -> Result<()> {
    let (open, sealed) = (list("open.json")?, list("sealed.json")?);
    let informed = Informed::new(&[open.as_slice(), sealed.as_slice()].concat())?;
    let model = ScriptedModel::with_script(move |request| informed.reply(request)).await?;
    let (api, place) = (Api::start()?, Workplace::with_stand_in()?);
    let said = explore(&api, &place, Some(&model)).await?;
    check(&said, &open, &sealed)?;
    for (half, all) in [("open", &open), ("sealed", &sealed)] {
        let found = all.iter().filter(|defect| is_said(&said, defect)).count();
        ensure!(100 * found >= FOUND_WITH_MODEL * all.len(), "{half} half: found {found} of {}", all.len());
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn defects_are_found_and_none_is_invented() -> Result<()> {
    let (api, place) = (Api::start()?, Workplace::with_stand_in()?);
    let said = explore(&api, &place, None).await?;
    let (open, sealed) = (list("open.json")?, list("sealed.json")?);
    check(&said, &open, &sealed)?;
    let found = open.iter().filter(|defect| is_said(&said, defect)).count();
    ensure!(100 * found >= FOUND * open.len(), "found {found} of {}", open.len());
    Ok(())
}

/// Prints what was found, and fails if anything was invented.
fn check(said: &BTreeMap<String, Said>, open: &[Value], sealed: &[Value]) -> Result<()> {
    let found = |all: &[Value]| all.iter().filter(|defect| is_said(said, defect)).count();
    println!("found {} of {} (sealed half: {} of {})", found(open), open.len(), found(sealed), sealed.len());
    for defect in open.iter().filter(|defect| !is_said(said, defect)) {
        println!("missed: {} {} {}", defect["operation"], defect["kind"], defect["text"]);
    }
    // Examples that work and what errors look like are facts, whether or not the documentation was wrong about them.
    let is_claim = |claim: &&String| !claim.starts_with("Example: ") && !claim.starts_with("If ");
    let is_planted = |operation: &str, claim: &str| {
        let mut all = open.iter().chain(sealed).filter(|defect| defect["operation"] == operation);
        all.any(|defect| {
            // A field with another name is absent under the one and undocumented under the other.
            let mut texts = right(defect);
            if defect["kind"] == "field_renamed" {
                for (key, says) in [("field", "The result has no"), ("actual", "The result also has")] {
                    let path = defect[key].as_str().unwrap_or_default();
                    let outer = path.split('.').next().unwrap_or_default();
                    texts.extend([path, outer].map(|name| format!("{says} `{name}`")));
                }
            }
            texts.iter().any(|text| claim.contains(text.as_str()))
        })
    };
    let mut invented = Vec::new();
    for (operation, one) in said {
        for claim in one.claims.iter().filter(is_claim).filter(|claim| !is_planted(operation, claim)) {
            invented.push(format!("{operation}: {claim}"));
        }
    }
    let total: usize = said.values().map(|one| one.claims.len()).sum();
    println!("{} of {total} claims are not planted: {invented:#?}", invented.len());
    ensure!(invented.is_empty(), "{invented:?}");
    Ok(())
}
