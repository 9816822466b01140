//! Reads the servers in the settings of an MCP client (Claude Desktop, Cursor, VS Code and others): one card
//! per server.
//!
//! Settings are private. Only the names of environment variables and headers are kept, secrets in arguments
//! and URLs are replaced (see [`super::redact`]), and unknown keys are left out with a warning rather than
//! copied.

use std::io::Read;

use autokit_toolcard::{Candidate, Kind, Problem, ReadCards, Rejected, fields, read_exact_value, read_items};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::error::{self, FormatError};
use super::json::{self, Entries};
use super::redact::{self, PLACEHOLDER};
use super::run;

/// Known keys of a server; some clients call `url` `serverUrl` or `httpUrl`.
const URL: [&str; 3] = ["url", "serverUrl", "httpUrl"];
const TRANSPORT: [&str; 2] = ["type", "transport"];
const OTHERS: [&str; 5] = ["command", "args", "env", "headers", "description"];

/// Reads the servers of `{"mcpServers": {…}}`, of VS Code's `{"servers": {…}}` and of its older
/// `{"mcp": {"servers": {…}}}`. Positions count the servers in file order.
///
/// # Errors
/// [`FormatError`] when the input is not JSON or has no such object.
pub fn read_mcp_servers(reader: impl Read) -> Result<ReadCards, FormatError> {
    let text = error::text(reader)?;
    let no_servers = || FormatError::NoServers { found: json::type_name(&text) };
    let settings: Entries<'_> = match serde_json::from_str(&text) {
        Ok(settings) => settings,
        Err(error) if error.is_data() => return Err(no_servers()),
        Err(error) => return Err(FormatError::Syntax(error)),
    };
    let servers = settings
        .object("mcpServers")
        .or_else(|| settings.object("servers"))
        .or_else(|| settings.object("mcp")?.object("servers"))
        .ok_or_else(no_servers)?;
    Ok(read_items(servers.0.iter().enumerate().map(|(index, (name, entry))| {
        server(index + 1, name, entry).map_err(|problem| Rejected {
            position: index + 1,
            name: Some(name.chars().take(80).collect()),
            problems: vec![problem],
        })
    })))
}

fn server(position: usize, name: &str, entry: &RawValue) -> Result<Candidate, Problem> {
    let value = read_exact_value(entry.get()).map_err(|reason| Problem::error("", reason))?;
    let Value::Object(entry) = value else {
        let found = json::type_name(entry.get());
        let reason = format!("is {found}; a server is an object with \"command\" or \"url\"");
        return Err(Problem::error("", reason));
    };
    let mut notes = Vec::new();
    let command = string(&entry, "command")?.map(|command| concealed("command", command, &mut notes));
    let args = arguments(&entry, &mut notes)?;
    let mut url = None;
    for key in URL {
        if let Some(written) = string(&entry, key)? {
            url = url.or_else(|| Some(concealed("url", written, &mut notes)));
        }
    }
    if command.is_none() && url.is_none() {
        return Err(Problem::error("", "has neither a \"command\" to run nor a \"url\" to reach it at"));
    }
    let transport =
        json::text(&entry, &TRANSPORT).unwrap_or(if command.is_some() { "stdio" } else { "http" });
    let usage = command.as_deref().map(|command| {
        // Some people write the whole command line into `command`.
        let rest = run::line(args.iter().map(String::as_str));
        let start =
            if command.contains(' ') && args.is_empty() { command.to_owned() } else { run::line([command]) };
        if rest.is_empty() { start } else { format!("{start} {rest}") }
    });
    let described =
        json::text(&entry, &["description"]).map(|text| concealed("description", text, &mut notes));
    let description = described.unwrap_or_else(|| match (&usage, &url) {
        (Some(usage), _) => format!("MCP server that runs `{usage}`."),
        (None, url) => format!("MCP server at {} over {transport}.", url.as_deref().unwrap_or_default()),
    });

    let mut object = Map::new();
    let mut put = |field: &str, value: Option<Value>| {
        if let Some(value) = value {
            object.insert(field.to_owned(), value);
        }
    };
    put(fields::NAME, Some(name.into()));
    put(fields::KIND, Some(Kind::McpTool.as_str().into()));
    put(fields::DESCRIPTION, Some(description.into()));
    put(fields::USAGE, usage.map(Value::from));
    put("transport", Some(transport.into()));
    put("command", command.map(Value::from));
    put("args", (!args.is_empty()).then(|| args.into()));
    put("url", url.map(Value::from));
    put("env", names(&entry, "env", &mut notes));
    put("headers", names(&entry, "headers", &mut notes));
    note_skipped_settings(&entry, &mut notes);
    Ok(Candidate { position, object, notes })
}

/// An optional text.
fn string<'a>(entry: &'a Map<String, Value>, key: &str) -> Result<Option<&'a str>, Problem> {
    match entry.get(key) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) if text.trim().is_empty() => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(other) => Err(Problem::error(
            key,
            format!("is {}; it must be a string", json::type_name(&other.to_string())),
        )),
    }
}

fn arguments(entry: &Map<String, Value>, notes: &mut Vec<Problem>) -> Result<Vec<String>, Problem> {
    let list = match entry.get("args") {
        None | Some(Value::Null) => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return Err(Problem::error("args", "is not a list; it must be a list of strings")),
    };
    let plain: Vec<String> = list
        .iter()
        .map(|item| match item {
            Value::String(text) => Ok(text.clone()),
            // A number, such as a port, becomes the text that a shell would pass.
            Value::Number(_) | Value::Bool(_) => Ok(item.to_string()),
            _ => Err(Problem::error("args", "contains values that are not strings")),
        })
        .collect::<Result<_, _>>()?;
    let (concealed, found) = redact::redact_args(&plain.iter().map(String::as_str).collect::<Vec<_>>());
    if !found.is_empty() {
        let places: Vec<String> = found.iter().map(usize::to_string).collect();
        notes.push(redaction_note("args", &format!(" (argument {})", places.join(", "))));
    }
    Ok(concealed)
}

fn concealed(field: &str, text: &str, notes: &mut Vec<Problem>) -> String {
    let concealed = redact::redact(text);
    if concealed != text {
        notes.push(redaction_note(field, ""));
    }
    concealed.into_owned()
}

/// The warning about a secret that was replaced.
pub(super) fn redaction_note(field: &str, place: &str) -> Problem {
    Problem::warning(field, format!("contained what looks like a key{place}; replaced with {PLACEHOLDER}"))
}

/// The names of variables or headers. Their values are ignored.
fn names(entry: &Map<String, Value>, key: &str, notes: &mut Vec<Problem>) -> Option<Value> {
    let name = |text: &str| text.split(['=', ':']).next().unwrap_or("").trim().to_owned();
    let names: Vec<String> = match entry.get(key)? {
        Value::Null => return None,
        Value::Object(map) => map.keys().map(|key| name(key)).collect(),
        // `["NAME=value"]`, as in Compose files.
        Value::Array(list) => list.iter().filter_map(Value::as_str).map(name).collect(),
        _ => {
            notes.push(Problem::warning(key, "is neither an object nor a list; skipped"));
            return None;
        }
    };
    // A secret in place of a name must not be copied as one.
    let concealed: Vec<String> = names.iter().map(|name| redact::redact(name).into_owned()).collect();
    if concealed != names {
        notes.push(redaction_note(key, ""));
    }
    (!concealed.is_empty()).then(|| concealed.into())
}

fn note_skipped_settings(entry: &Map<String, Value>, notes: &mut Vec<Problem>) {
    let known = |key: &str| URL.contains(&key) || TRANSPORT.contains(&key) || OTHERS.contains(&key);
    let unknown: Vec<String> = entry
        .keys()
        .filter(|key| !known(key))
        .map(|key| redact::redact(key).chars().take(40).collect())
        .collect();
    if !unknown.is_empty() {
        let reason = format!("skips settings that are not about the server: {}", unknown.join(", "));
        notes.push(Problem::warning("", reason));
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(text: &str) -> ReadCards {
        read_mcp_servers(text.as_bytes()).expect("servers")
    }

    fn object(read: &ReadCards, index: usize) -> Value {
        Value::Object(read.cards[index].card.object().clone())
    }

    #[test]
    fn one_card_a_server() {
        let read = read(
            r#"{"mcpServers": {
                "github": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github", "two words"],
                    "env": {"GITHUB_TOKEN": "planted-secret", "LOG": "1"}, "disabled": true},
                "docs": {"type": "sse", "url": "https://docs.example.com/sse", "headers": {"X-Api-Key": "planted-secret"}}
            }}"#,
        );
        assert_eq!(
            object(&read, 0),
            json!({"name": "github", "kind": "mcp_tool",
                "description": "MCP server that runs `npx -y @modelcontextprotocol/server-github 'two words'`.",
                "usage": "npx -y @modelcontextprotocol/server-github 'two words'", "transport": "stdio",
                "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github", "two words"],
                "env": ["GITHUB_TOKEN", "LOG"]})
        );
        assert_eq!(read.cards[0].warnings.len(), 1);
        assert!(read.cards[0].warnings[0].reason.ends_with("the server: disabled"));
        assert_eq!(
            object(&read, 1),
            json!({"name": "docs", "kind": "mcp_tool", "description": "MCP server at https://docs.example.com/sse over sse.",
                "transport": "sse", "url": "https://docs.example.com/sse", "headers": ["X-Api-Key"]})
        );
    }

    #[test]
    fn no_key_reaches_a_card_or_a_message() {
        let read = read(
            r#"{"mcpServers": {
                "a": {"command": "npx", "args": ["pkg", "--api-key", "planted-1", "--x=${KEEP}"], "env": ["TOKEN=planted-2"],
                    "oauth": {"clientSecret": "planted-3"}, "envFile": "/planted-4"},
                "b": {"url": "https://me:planted-5@h.io/mcp?token=planted-6", "headers": {"Authorization": "Bearer planted-7"}},
                "c": {"command": "npx pkg --token planted-8", "env": {"K=planted-9": ""}, "description": "password: planted-10"},
                "d": {"command": "docker", "args": ["run", "-e", "plain=planted-11", "img"], "headers": "planted-12"},
                "e": {"command": {"planted-13": 1}},
                "f": {"command": "x", "args": "planted-14"}
            }}"#,
        );
        let text = format!("{read:?}");
        assert_eq!(read.cards.len(), 4);
        assert_eq!(text.find("planted"), None, "{text}");
        assert!(text.contains("${KEEP}") && text.contains("(argument 3)"), "{text}");
        for item in &read.cards {
            assert!(
                item.warnings
                    .iter()
                    .any(|problem| problem.reason.contains(PLACEHOLDER) || item.card.name() == "c"),
                "{item:?}"
            );
        }
    }

    #[test]
    fn other_clients_and_bad_entries() {
        let vscode = read(
            r#"{"inputs": [{"id": "k"}], "servers": {"x": {"type": "http", "url": "https://a.b/mcp"}}}"#,
        );
        assert_eq!(vscode.cards[0].card.text("transport"), Some("http"));
        assert_eq!(read(r#"{"mcp": {"servers": {"x": {"command": "y"}}}}"#).cards.len(), 1);
        assert_eq!(
            read(r#"{"mcpServers": {"x": {"serverUrl": "https://a.b"}}}"#).cards[0].card.text("url"),
            Some("https://a.b")
        );
        let mixed = read(
            r#"{"mcpServers": {"a": 7, "b": {}, "c": {"command": 3}, "d": {"command": "x"}, "d": {"command": "y"}, "": {"command": "z"},
                "e": {"command": "x", "args": [["y"]]}, "f": {"command": "x", "port": 8080, "args": [8080]}}}"#,
        );
        let reasons: Vec<String> = mixed.rejected.iter().map(|r| r.problems[0].to_string()).collect();
        assert_eq!(
            reasons,
            [
                "the card is a number; a server is an object with \"command\" or \"url\"",
                "the card has neither a \"command\" to run nor a \"url\" to reach it at",
                "`command` is a number; it must be a string",
                "the card repeats item 4: same provider and name",
                "`name` is empty",
                "`args` contains values that are not strings",
            ]
        );
        assert_eq!(mixed.cards.iter().map(|item| item.position).collect::<Vec<_>>(), [4, 8]);
    }

    #[test]
    fn files_without_servers_say_so() {
        let error = |text: &str| read_mcp_servers(text.as_bytes()).expect_err("refused");
        assert!(matches!(error("[]"), FormatError::NoServers { found: "a list" }));
        assert!(matches!(error(r#"{"servers": [1]}"#), FormatError::NoServers { found: "an object" }));
        assert!(matches!(error("{\"mcpServers\": {}} x"), FormatError::Syntax(_)));
        let comment = error("{ // mine\n\"mcpServers\": {}}").remedy();
        assert!(comment.contains("comments"), "{comment}");
        assert!(read(r#"{"mcpServers": {}}"#).cards.is_empty());
    }
}
