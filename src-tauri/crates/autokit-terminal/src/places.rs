//! Remedies of errors, rewritten for the terminal.
//!
//! The engine's remedies mention locations in the window; here each is replaced by a command.

/// Locations in the window, as remedies mention them, and the corresponding commands. Longer ones come first,
/// because they are replaced in order.
const REPLACEMENTS: &[(&str, &str)] = &[
    (
        "choose the encrypted file in Settings, Keys",
        "keep keys in an encrypted file with `autokit providers keys --keep file`",
    ),
    ("choose it in Settings, Keys", "`autokit providers keys --keep file`"),
    ("Allow GitHub search in Settings, Web search", "Allow it with `autokit providers search KIND --github`"),
    (
        "Raise the spending limit in Settings, Language model",
        "Raise the spending limit with `autokit providers llm KIND --cap DOLLARS`",
    ),
    (
        "Create a new signing key in Settings, Bundles",
        "Create a new signing key with `autokit bundle keys create`",
    ),
    ("in Settings, Keys", "with `autokit providers key NAME`"),
    ("API key again in Settings, Language model", "API key again with `autokit providers key NAME`"),
    ("API key again in Settings, Web search", "API key again with `autokit providers key NAME`"),
    ("Enter the API key in Settings, Language model", "Enter the API key with `autokit providers key NAME`"),
    ("Enter the API key in Settings, Web search", "Enter the API key with `autokit providers key NAME`"),
    ("in Settings, Language model", "with `autokit providers llm`"),
    (
        "in Settings, Permissions, or leave the profile out",
        "with `autokit profiles add`, or leave the profile out",
    ),
    ("Check your API keys in Settings, Web API keys", "List your API keys with `autokit api-keys list`"),
    ("in Settings, Web API keys", "with `autokit api-keys set ORIGIN SCHEME`"),
    ("in Settings, Permissions", "with `autokit profiles`"),
    ("in Settings, Team", "with `autokit --team ID team policy`"),
    ("in Settings, Web search", "with `autokit providers search`"),
    ("in Settings, Network", "with `autokit providers allow HOST`"),
    ("in Settings, Embedding model", "with `autokit models pull`"),
    (
        "continue without the missing changes in Settings, Diagnostics",
        "continue without the missing changes with `autokit doctor --accept-missing`",
    ),
    ("check Settings, Diagnostics", "run `autokit doctor`"),
    ("Check Settings, Diagnostics", "Run `autokit doctor`"),
    (
        "Save its output to a file first",
        "Save its output to a file first, or pipe it into `autokit import -`",
    ),
    ("Import a file in the Library", "Import a file with `autokit import FILE`"),
    ("Add its documentation link in the Library", "Add its documentation link with `autokit cards edit`"),
    ("Add documentation links in the Library", "Add documentation links with `autokit cards edit`"),
    ("in the Library", "with `autokit cards list`"),
    ("Check the list of tools", "Run `autokit tools list`"),
    ("Check the list of servers", "Run `autokit servers list`"),
    ("Check the list of libraries", "Run `autokit libraries list`"),
    ("Check the list of MCP clients", "Run `autokit clients list`"),
    ("Review the change again.", "Review the change again with `autokit clients show CLIENT`."),
    ("See what is pending in Review", "See what is pending with `autokit review list`"),
    (
        "Accept only the other fields, or enter your own value",
        "Accept only the other fields with `--field NAME`, or set your own value with `--set NAME=VALUE`",
    ),
    (
        "Undo an import under Bundles, Imports",
        "Undo an import by its id with `autokit undo ID`; `autokit bundle imports` lists them",
    ),
    ("Undo the decision first, in Review", "Undo the decision first with `autokit review undo`"),
    ("Check your previous questions", "Run `autokit sessions`"),
    ("Restore the newest good backup: ", "Restore the newest good backup: autokit backup restore "),
    ("Restore a backup, or", "Restore a backup with `autokit backup restore`, or"),
    (
        "Choose one of the existing collections",
        "Choose one of the existing collections, which `autokit collections list` shows",
    ),
    ("Create a backup now", "Create a backup now with `autokit backup create`"),
    ("Check the list of backups", "Run `autokit backup list`"),
    ("another data directory", "another --data-dir"),
    ("find tools in Discover", "find tools with `autokit discover`"),
    ("to upgrade the team's tables", "to run `autokit team upgrade`"),
];

/// Replaces the locations in a remedy by commands.
pub fn with_commands(remedy: &str) -> String {
    let mut text = remedy.to_owned();
    for (location, command) in REPLACEMENTS {
        if text.contains(location) {
            text = text.replace(location, command);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::with_commands;

    fn collect_sources(folder: &Path, files: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                collect_sources(&path, files);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                files.push(path);
            }
        }
    }

    /// Returns the source lines, without comments, of the crates that the hosts depend on.
    fn code_lines() -> Vec<(PathBuf, String)> {
        let manifest_dir = std::env::var("CARGO_MANIFEST_DIR").unwrap();
        let crates = Path::new(&manifest_dir).parent().unwrap();
        // Evaluation is available in the terminal only.
        let hosts = ["autokit-cli", "autokit-eval", "autokit-terminal", "xtask", "workspace-hack"];
        let mut files = Vec::new();
        for entry in fs::read_dir(crates).unwrap() {
            let folder = entry.unwrap().path();
            if !hosts.iter().any(|host| folder.ends_with(host)) {
                collect_sources(&folder.join("src"), &mut files);
            }
        }
        let mut lines = Vec::new();
        for file in files {
            let text = fs::read_to_string(&file).unwrap();
            let text = text.lines().filter(|line| !line.trim_start().starts_with("//"));
            lines.extend(text.map(|line| (file.clone(), line.to_owned())));
        }
        lines
    }

    #[test]
    fn the_engine_mentions_no_cli_commands() {
        // The token of a web page is printed by a command.
        let is_allowed = |file: &Path| file.ends_with("src/host.rs");
        for (file, line) in code_lines() {
            assert!(!line.contains("`autokit ") || is_allowed(&file), "{}: {line}", file.display());
        }
    }

    #[test]
    fn every_ui_location_in_a_remedy_has_a_command() {
        let mut seen = 0;
        for (file, line) in code_lines().iter().filter(|(_, line)| line.contains("Settings, ")) {
            if !line.contains('"') || line.contains("contains(") {
                continue;
            }
            seen += 1;
            // A remedy that is composed from parts has only the location in its string.
            let line = line.replace("\"Settings, ", "\"in Settings, ");
            assert!(!with_commands(&line).contains("Settings, "), "{}: {line}", file.display());
        }
        assert!(seen > 15, "only {seen} remedies were found");
    }

    #[test]
    fn remedies_are_rewritten_in_full() {
        let text = with_commands("Choose one in Settings, Web search; DuckDuckGo needs no API key.");
        assert_eq!(text, "Choose one with `autokit providers search`; DuckDuckGo needs no API key.");
        let text = with_commands("Unlock the keyring, or choose the encrypted file in Settings, Keys.");
        assert_eq!(
            text,
            "Unlock the keyring, or keep keys in an encrypted file with `autokit providers keys --keep file`."
        );
    }
}
