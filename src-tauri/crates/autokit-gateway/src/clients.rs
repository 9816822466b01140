//! AutoKit in the settings of agent programs (MCP clients).
//!
//! Each program keeps its MCP servers in a file of its own. The rest of that file is somebody's work: it
//! stays as it is, down to comments and spaces, or else nothing is written and the lines to paste are shown
//! instead. JSON is edited with `jsonc-parser`, TOML with `toml_edit`; both preserve what they do not
//! touch.

use std::path::{Path, PathBuf};

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{CstInputValue, CstRootNode};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toml_edit::{Array, DocumentMut, Item, Table, value};

/// Name of AutoKit's entry in these files.
pub const SERVER: &str = "autokit";

/// An agent program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Client {
    /// Claude Desktop.
    ClaudeDesktop,
    /// Claude Code, in the settings for all of a person's projects.
    ClaudeCode,
    /// Codex, in the terminal and in editors.
    Codex,
    /// Cursor.
    Cursor,
    /// Gemini CLI.
    Gemini,
    /// Visual Studio Code.
    VsCode,
    /// Windsurf.
    Windsurf,
}

/// Folders in which a person's settings are.
#[derive(Clone, Debug)]
pub struct Folders {
    /// The home directory.
    pub home: PathBuf,
    /// Where programs keep settings: `~/.config`, `~/Library/Application Support`, `%APPDATA%`.
    pub config: PathBuf,
}

/// The command that starts AutoKit as an MCP server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchCommand {
    /// The `autokit` program.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
}

/// Why a file cannot be changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ClientError {
    /// It does not have the expected format, or has comments that would be lost.
    #[error("{path} cannot be changed without losing content: {why}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why.
        why: String,
    },
}

/// How a file stores its servers.
enum Layout {
    /// JSON: an object of servers under this key. `typed` is whether each has a `type` field for its
    /// transport.
    Json { key: &'static str, typed: bool },
    /// TOML: one table per server in this table.
    Toml { table: &'static str },
}

impl Client {
    /// All clients, sorted by name.
    pub const ALL: [Client; 7] = [
        Client::ClaudeCode,
        Client::ClaudeDesktop,
        Client::Codex,
        Client::Cursor,
        Client::Gemini,
        Client::VsCode,
        Client::Windsurf,
    ];

    /// Parses an id as serde serializes it.
    pub fn parse(id: &str) -> Option<Client> {
        serde_json::from_value(id.into()).ok()
    }

    /// Returns the id used in requests.
    pub fn id(self) -> String {
        serde_json::to_value(self).ok().and_then(|id| id.as_str().map(str::to_owned)).unwrap_or_default()
    }

    /// Returns the display name.
    pub fn name(self) -> &'static str {
        match self {
            Client::ClaudeDesktop => "Claude Desktop",
            Client::ClaudeCode => "Claude Code",
            Client::Codex => "Codex",
            Client::Cursor => "Cursor",
            Client::Gemini => "Gemini CLI",
            Client::VsCode => "Visual Studio Code",
            Client::Windsurf => "Windsurf",
        }
    }

    /// Returns the file in which the program keeps its servers.
    pub fn file(self, folders: &Folders) -> PathBuf {
        let Folders { home, config } = folders;
        match self {
            Client::ClaudeDesktop => config.join("Claude").join("claude_desktop_config.json"),
            Client::ClaudeCode => home.join(".claude.json"),
            Client::Codex => home.join(".codex").join("config.toml"),
            Client::Cursor => home.join(".cursor").join("mcp.json"),
            Client::Gemini => home.join(".gemini").join("settings.json"),
            Client::VsCode => config.join("Code").join("User").join("mcp.json"),
            Client::Windsurf => home.join(".codeium").join("windsurf").join("mcp_config.json"),
        }
    }

    /// Returns whether the program seems to be used on this machine: whether the folder of its file exists
    /// or, if that is the home directory, the file itself.
    pub fn is_installed(self, folders: &Folders) -> bool {
        let file = self.file(folders);
        let own_folder = file.parent().filter(|parent| *parent != folders.home);
        own_folder.map_or_else(|| file.is_file(), Path::is_dir)
    }

    fn layout(self) -> Layout {
        match self {
            Client::VsCode => Layout::Json { key: "servers", typed: true },
            Client::ClaudeCode => Layout::Json { key: "mcpServers", typed: true },
            Client::Codex => Layout::Toml { table: "mcp_servers" },
            Client::ClaudeDesktop | Client::Cursor | Client::Gemini | Client::Windsurf => {
                Layout::Json { key: "mcpServers", typed: false }
            }
        }
    }

    /// Returns the lines to paste into its file by hand.
    pub fn snippet(self, launch: &LaunchCommand) -> String {
        // An empty file can always be changed.
        self.with_server(None, Path::new(""), launch).unwrap_or_default()
    }

    /// Returns the file with AutoKit among its servers, updating an existing entry.
    ///
    /// # Errors
    /// [`ClientError`] if the file cannot be changed without losing something.
    pub fn with_server(
        self,
        before: Option<&str>,
        path: &Path,
        launch: &LaunchCommand,
    ) -> Result<String, ClientError> {
        let unreadable = |why: String| ClientError::Unreadable { path: path.display().to_string(), why };
        let before = before.unwrap_or_default();
        match self.layout() {
            Layout::Json { key, typed } => json_with(before, key, typed, launch).map_err(unreadable),
            Layout::Toml { table } => toml_with(before, table, launch).map_err(unreadable),
        }
    }

    /// Returns the file without AutoKit among its servers; `None` if AutoKit is not in it.
    ///
    /// # Errors
    /// [`ClientError`] if the file cannot be changed without losing something.
    pub fn without_server(self, before: &str, path: &Path) -> Result<Option<String>, ClientError> {
        let unreadable = |why: String| ClientError::Unreadable { path: path.display().to_string(), why };
        if before.trim().is_empty() {
            return Ok(None);
        }
        match self.layout() {
            Layout::Json { key, .. } => json_without(before, key).map_err(unreadable),
            Layout::Toml { table } => toml_without(before, table).map_err(unreadable),
        }
    }

    /// Returns whether a file already starts AutoKit with this command.
    pub fn has_server(self, text: &str, launch: &LaunchCommand) -> bool {
        let expected = json!({"command": launch.command, "args": launch.args});
        let entry = match self.layout() {
            Layout::Json { key, .. } => CstRootNode::parse(text, &ParseOptions::default())
                .ok()
                .and_then(|file| file.to_serde_value()?.get(key)?.get(SERVER).cloned()),
            Layout::Toml { table } => text
                .parse::<DocumentMut>()
                .ok()
                .and_then(|file| Some(command_and_args(file.get(table)?.get(SERVER)?))),
        };
        entry
            .is_some_and(|entry| entry["command"] == expected["command"] && entry["args"] == expected["args"])
    }
}

fn command_and_args(item: &Item) -> Value {
    let text = |key: &str| item.get(key).and_then(Item::as_str).map(Value::from);
    let args = item.get("args").and_then(Item::as_array);
    let args =
        args.map(|args| args.iter().filter_map(|arg| arg.as_str()).map(Value::from).collect::<Vec<_>>());
    json!({"command": text("command"), "args": args})
}

fn json_with(before: &str, key: &str, typed: bool, launch: &LaunchCommand) -> Result<String, String> {
    let empty = before.trim().is_empty();
    let file = CstRootNode::parse(if empty { "{}\n" } else { before }, &ParseOptions::default())
        .map_err(|error| format!("it is not valid JSON ({error})"))?;
    let servers = file.object_value_or_create().ok_or("it is not a JSON object")?;
    let servers = servers.object_value_or_create(key).ok_or_else(|| format!("`{key}` is not an object"))?;
    let entry =
        servers.object_value_or_create(SERVER).ok_or_else(|| format!("`{SERVER}` is not an object"))?;
    let set = |name: &str, value: CstInputValue| match entry.get(name) {
        // Other fields that somebody set, such as a timeout, stay.
        Some(field) => field.set_value(value),
        None => drop(entry.append(name, value)),
    };
    if typed {
        set("type", "stdio".into());
    }
    set("command", launch.command.as_str().into());
    set("args", CstInputValue::Array(launch.args.iter().map(|arg| arg.as_str().into()).collect()));
    Ok(file.to_string())
}

fn json_without(before: &str, key: &str) -> Result<Option<String>, String> {
    let file = CstRootNode::parse(before, &ParseOptions::default())
        .map_err(|error| format!("it is not valid JSON ({error})"))?;
    let servers = file.object_value().and_then(|file| file.object_value(key));
    let Some(entry) = servers.and_then(|servers| servers.get(SERVER)) else { return Ok(None) };
    entry.remove();
    Ok(Some(file.to_string()))
}

fn toml_without(before: &str, table: &str) -> Result<Option<String>, String> {
    let mut file: DocumentMut =
        before.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let servers = file.get_mut(table).and_then(Item::as_table_like_mut);
    let removed = servers.and_then(|servers| servers.remove(SERVER));
    Ok(removed.map(|_| file.to_string()))
}

fn toml_with(before: &str, table: &str, launch: &LaunchCommand) -> Result<String, String> {
    let mut file: DocumentMut =
        before.parse().map_err(|error: toml_edit::TomlError| error.message().to_owned())?;
    let mut implicit = Table::new();
    // Implicit, so that only the tables of servers get a heading.
    implicit.set_implicit(true);
    let servers = file.entry(table).or_insert(Item::Table(implicit));
    let servers = servers.as_table_like_mut().ok_or_else(|| format!("`{table}` is not a table"))?;
    let entry = servers.entry(SERVER).or_insert(Item::Table(Table::new()));
    let entry = entry.as_table_like_mut().ok_or_else(|| format!("`{SERVER}` is not a table"))?;
    entry.insert("command", value(launch.command.as_str()));
    entry.insert("args", value(launch.args.iter().map(String::as_str).collect::<Array>()));
    Ok(file.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn launch() -> LaunchCommand {
        LaunchCommand { command: "/opt/autokit".to_owned(), args: vec!["mcp".to_owned()] }
    }

    #[test]
    fn every_client_reads_back_its_snippet() {
        for client in Client::ALL {
            let text = client.snippet(&launch());
            assert!(client.has_server(&text, &launch()), "{client:?}: {text}");
            assert!(!client.has_server(&text, &LaunchCommand { args: Vec::new(), ..launch() }), "{client:?}");
            assert!(!client.has_server("", &launch()), "{client:?}");
            // Changing the file is idempotent.
            assert_eq!(
                client.with_server(Some(&text), Path::new("x"), &launch()).as_ref(),
                Ok(&text),
                "{client:?}"
            );
        }
        assert_eq!(
            Client::VsCode.snippet(&launch()),
            "{\n  \"servers\": {\n    \"autokit\": {\n      \"type\": \"stdio\",\n      \"command\": \"/opt/autokit\",\n      \"args\": [\"mcp\"]\n    }\n  }\n}\n"
        );
        assert_eq!(
            Client::Codex.snippet(&launch()),
            "[mcp_servers.autokit]\ncommand = \"/opt/autokit\"\nargs = [\"mcp\"]\n"
        );
    }

    #[test]
    fn existing_content_is_preserved() {
        // Preserved down to tabs, comments and the spelling of numbers.
        let before = "{\n\t// mine\n\t\"z\": 1.50,\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"},\n\t\t\"autokit\": {\"timeout\": 9}\n\t}\n}\n";
        let after = Client::Cursor.with_server(Some(before), Path::new("x"), &launch()).expect("changed");
        let (kept, changed) = before.split_once("\"autokit\"").expect("parts");
        assert!(after.starts_with(kept) && after.contains("\"timeout\": 9"), "{after}");
        assert!(after.ends_with("\n\t}\n}\n") && changed.ends_with("\n\t}\n}\n"), "{after}");
        assert!(Client::Cursor.has_server(&after, &launch()), "{after}");

        let before = "# mine\nmodel = \"x\" # the best\n\n[mcp_servers.other]\ncommand = 'y' # why\n";
        let after = Client::Codex.with_server(Some(before), Path::new("x"), &launch()).expect("changed");
        assert!(after.starts_with(before) && after.ends_with("args = [\"mcp\"]\n"), "{after}");
    }

    #[test]
    fn removing_autokit_restores_the_file() {
        for client in Client::ALL {
            let text = client.snippet(&launch());
            let without =
                client.without_server(&text, Path::new("x")).expect("changed").expect("it was there");
            assert!(
                !client.has_server(&without, &launch()) && !without.contains(SERVER),
                "{client:?}: {without}"
            );
            assert_eq!(client.without_server(&without, Path::new("x")), Ok(None), "{client:?}");
            assert_eq!(client.without_server("", Path::new("x")), Ok(None), "{client:?}");
        }
        let before = "{\n\t// mine\n\t\"mcpServers\": {\n\t\t\"other\": {\"command\": \"x\"}\n\t},\n\t\"z\": 1.50\n}\n";
        let with = Client::Cursor.with_server(Some(before), Path::new("x"), &launch()).expect("changed");
        let after =
            Client::Cursor.without_server(&with, Path::new("x")).expect("changed").expect("it was there");
        assert_eq!(after, before);
        let before = "# mine\nmodel = \"x\" # the best\n\n[mcp_servers.other]\ncommand = 'y' # why\n";
        let with = Client::Codex.with_server(Some(before), Path::new("x"), &launch()).expect("changed");
        let after =
            Client::Codex.without_server(&with, Path::new("x")).expect("changed").expect("it was there");
        assert_eq!(after, before);
        assert!(Client::VsCode.without_server("{ mine", Path::new("f")).is_err());
    }

    #[test]
    fn invalid_files_are_not_changed() {
        let refused = |client: Client, text: &str| {
            client.with_server(Some(text), Path::new("f"), &launch()).expect_err("refused").to_string()
        };
        assert!(refused(Client::VsCode, "{ mine").contains("not valid JSON"));
        assert!(refused(Client::Cursor, "[1]").contains("not a JSON object"));
        assert!(refused(Client::Cursor, "{\"mcpServers\": 7}").contains("not an object"));
        assert!(refused(Client::Codex, "= 1").starts_with("f cannot be changed"));
        assert!(refused(Client::Codex, "mcp_servers = 1").contains("not a table"));
    }

    #[test]
    fn files_are_where_the_programs_look() {
        let folders = Folders { home: "/h".into(), config: "/h/.config".into() };
        let files: Vec<String> =
            Client::ALL.iter().map(|client| client.file(&folders).display().to_string()).collect();
        assert_eq!(
            files,
            [
                "/h/.claude.json",
                "/h/.config/Claude/claude_desktop_config.json",
                "/h/.codex/config.toml",
                "/h/.cursor/mcp.json",
                "/h/.gemini/settings.json",
                "/h/.config/Code/User/mcp.json",
                "/h/.codeium/windsurf/mcp_config.json",
            ]
        );
        assert!(Client::ALL.iter().all(|client| !client.is_installed(&folders)));
    }
}
