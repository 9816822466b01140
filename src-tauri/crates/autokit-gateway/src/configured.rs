//! Reads the MCP servers from the settings of an agent program, so that AutoKit can be put in front of
//! them: `mcpServers` (Claude, Cursor, Windsurf, Gemini CLI), `servers` (VS Code), and `mcp.servers` (VS
//! Code before it had a separate file). Like those programs, it accepts comments and trailing commas.
//!
//! The result contains secrets. It must only be passed on to the store of keys.

use std::collections::BTreeMap;
use std::fmt;

use jsonc_parser::{CollectOptions, ParseOptions, parse_to_ast};
use serde_json::{Map, Value};

use crate::clients::SERVER;

/// A server in a program's settings.
#[derive(Clone, PartialEq, Eq)]
pub struct ConfiguredServer {
    /// Its name in the settings.
    pub name: String,
    /// How it is reached.
    pub reach: ConfiguredTransport,
    /// Environment variables of its program, or headers for its address; they may contain keys.
    pub secrets: BTreeMap<String, String>,
}

/// Omits variables and headers.
impl fmt::Debug for ConfiguredServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ConfiguredServer").field("name", &self.name).finish_non_exhaustive()
    }
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConfiguredTransport {
    /// A program that is started.
    Stdio {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Its working directory; empty if none is given.
        folder: String,
    },
    /// Streamable HTTP.
    Http {
        /// Its address.
        url: String,
    },
}

/// The servers in a program's settings.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// The servers that can be reached from here, in the order of the settings, without AutoKit itself.
    pub servers: Vec<ConfiguredServer>,
    /// Why each of the other servers cannot be reached.
    pub problems: Vec<String>,
}

/// Reads the servers from a program's settings.
///
/// # Errors
/// A sentence, if the text is not JSON or contains no servers.
pub fn parse_servers(text: &str) -> Result<Settings, String> {
    let parsed = parse_to_ast(text, &CollectOptions::default(), &ParseOptions::default())
        .map_err(|error| format!("these settings are not valid JSON: {error}"))?;
    let value: Value = parsed.value.map_or(Value::Null, Value::from);
    let servers = value
        .get("mcpServers")
        .or_else(|| value.get("servers"))
        .or_else(|| value.get("mcp")?.get("servers"))
        .and_then(Value::as_object)
        .ok_or("these settings have neither \"mcpServers\" nor \"servers\"")?;
    let mut settings = Settings::default();
    for (name, entry) in servers {
        match parse_server(name, entry) {
            Ok(Some(server)) => settings.servers.push(server),
            Ok(None) => {}
            Err(why) => settings.problems.push(format!("{name:?} {why}")),
        }
    }
    Ok(settings)
}

fn parse_server(name: &str, entry: &Value) -> Result<Option<ConfiguredServer>, String> {
    let entry = entry.as_object().ok_or("is not an object")?;
    let text = |key: &str| entry.get(key).and_then(Value::as_str).unwrap_or_default();
    let url = ["url", "serverUrl", "httpUrl"].into_iter().map(text).find(|url| !url.is_empty());
    let kind = if text("type").is_empty() { text("transport") } else { text("type") };
    if kind == "sse" {
        return Err("uses the older HTTP transport (SSE), which AutoKit does not support".to_owned());
    }
    let (reach, secrets) = match (text("command"), url) {
        ("", None) => return Err("has neither a command nor a URL".to_owned()),
        ("", Some(url)) => (ConfiguredTransport::Http { url: url.to_owned() }, texts(entry, "headers")?),
        (command, _) => {
            let args = match entry.get("args") {
                None | Some(Value::Null) => Vec::new(),
                Some(Value::Array(args)) => {
                    let args = args.iter().map(|arg| arg.as_str().map(str::to_owned));
                    args.collect::<Option<_>>().ok_or("has an argument that is not a string")?
                }
                Some(_) => return Err("has arguments that are not a list".to_owned()),
            };
            // Behind AutoKit, AutoKit would find itself.
            let program = command.rsplit(['/', '\\']).next().unwrap_or(command).trim_end_matches(".exe");
            if program == SERVER && args.first().is_some_and(|arg| arg == "mcp") {
                return Ok(None);
            }
            let folder = text("cwd").to_owned();
            (ConfiguredTransport::Stdio { command: command.to_owned(), args, folder }, texts(entry, "env")?)
        }
    };
    let has_placeholder = secrets.values().chain(arguments(&reach)).any(|text| text.contains("${"));
    if has_placeholder {
        return Err("has a placeholder (`${…}`) that its client fills in; add it manually".to_owned());
    }
    Ok(Some(ConfiguredServer { name: name.to_owned(), reach, secrets }))
}

fn arguments(reach: &ConfiguredTransport) -> Vec<&String> {
    match reach {
        ConfiguredTransport::Stdio { command, args, folder } => {
            std::iter::once(command).chain(args).chain([folder]).collect()
        }
        ConfiguredTransport::Http { url } => vec![url],
    }
}

fn texts(entry: &Map<String, Value>, key: &str) -> Result<BTreeMap<String, String>, String> {
    let Some(Value::Object(map)) = entry.get(key) else { return Ok(BTreeMap::new()) };
    map.iter()
        .map(|(name, value)| match value {
            Value::String(text) => Ok((name.clone(), text.clone())),
            Value::Number(_) | Value::Bool(_) => Ok((name.clone(), value.to_string())),
            _ => Err(format!("has a value that is not a string for {name:?} in \"{key}\"")),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_servers_of_each_program_are_read() {
        let read = parse_servers(
            r#"{
            // mine
            "mcpServers": {
                "files": {"command": "npx", "args": ["-y", "files"], "env": {"KEY": "k", "PORT": 8}, "cwd": "/srv"},
                "web": {"type": "http", "url": "https://mcp.example.org/mcp", "headers": {"X-Key": "k"}},
                "autokit": {"command": "/opt/autokit", "args": ["mcp"]},
            },
        }"#,
        )
        .expect("settings");
        assert_eq!(read.problems, [""; 0]);
        let (files, web) = (&read.servers[0], &read.servers[1]);
        let args = ["-y", "files"].map(str::to_owned).to_vec();
        let reach = ConfiguredTransport::Stdio { command: "npx".to_owned(), args, folder: "/srv".to_owned() };
        assert_eq!((files.name.as_str(), &files.reach), ("files", &reach));
        assert_eq!((files.secrets["KEY"].as_str(), files.secrets["PORT"].as_str()), ("k", "8"));
        let reach = ConfiguredTransport::Http { url: "https://mcp.example.org/mcp".to_owned() };
        assert_eq!((&web.reach, web.secrets["X-Key"].as_str()), (&reach, "k"));
        assert_eq!(read.servers.len(), 2);
        assert!(!format!("{read:?}").contains("\"k\""));
        for other in
            [r#"{"servers": {"a": {"command": "x"}}}"#, r#"{"mcp": {"servers": {"a": {"command": "x"}}}}"#]
        {
            assert_eq!(parse_servers(other).expect("settings").servers.len(), 1, "{other}");
        }
    }

    #[test]
    fn unusable_servers_are_reported_and_the_others_are_read() {
        let read = parse_servers(
            r#"{"mcpServers": {
                "a": 7, "b": {}, "c": {"command": "x", "args": [1]}, "d": {"type": "sse", "url": "https://x.y"},
                "e": {"command": "x", "env": {"K": "${input:key}"}}, "f": {"command": "x"}
            }}"#,
        )
        .expect("settings");
        assert_eq!(read.servers.iter().map(|server| server.name.as_str()).collect::<Vec<_>>(), ["f"]);
        let problems = read.problems.join("\n");
        for (name, why) in
            [("a", "not an object"), ("b", "neither"), ("c", "argument"), ("d", "SSE"), ("e", "manually")]
        {
            assert!(problems.contains(&format!("{name:?} ")) && problems.contains(why), "{problems}");
        }
        assert!(parse_servers("{").is_err() && parse_servers("{\"x\": {}}").is_err());
    }
}
