//! What to do about something, for a person at a terminal.
//!
//! The engine answers every host alike and names places of the window; here each has its command.

/// Places of the window as remedies name them, and what does the same here. Longer ones first: the first
/// that stands in a text is taken.
const PLACES: &[(&str, &str)] = &[
    (
        "choose the encrypted file in Settings, Keys",
        "keep keys in an encrypted file with `autokit providers keys --keep file`",
    ),
    ("choose it in Settings, Keys", "`autokit providers keys --keep file`"),
    (
        "Allow GitHub to be asked in Settings, Web search",
        "Allow it with `autokit providers search KIND --github`",
    ),
    (
        "Raise the cap in Settings, Language model",
        "Raise the cap with `autokit providers llm KIND --cap DOLLARS`",
    ),
    ("Make a new key in Settings, Bundles", "Make a new key with `autokit bundle keys make`"),
    ("in Settings, Keys", "with `autokit providers key NAME`"),
    ("in Settings, Language model", "with `autokit providers llm`"),
    (
        "in Settings, Permissions, or leave the profile out",
        "with `autokit profiles add`, or leave the profile out",
    ),
    ("See which there are in Settings, Permissions", "See which there are with `autokit api-keys list`"),
    ("in Settings, Web API keys", "with `autokit api-keys set ORIGIN SCHEME`"),
    ("in Settings, Permissions", "with `autokit profiles`"),
    ("in Settings, Web search", "with `autokit providers search`"),
    ("in Settings, Network", "with `autokit providers allow HOST`"),
    ("in Settings, Embedding model", "with `autokit models pull`"),
    (
        "go on without what is missing in Settings, Diagnostics",
        "go on without what is missing with `autokit doctor --accept-missing`",
    ),
    ("look into Settings, Diagnostics", "run `autokit doctor`"),
    ("See what is wrong in Settings, Diagnostics", "Run `autokit doctor`"),
    (
        "Save what it gives as a file first",
        "Save what it gives as a file first, or pipe it into `autokit import -`",
    ),
    ("Import a file in the Library", "Import a file with `autokit import FILE`"),
    ("Add its address in the Library", "Add its address with `autokit cards edit`"),
    ("Add their addresses in the Library", "Add their addresses with `autokit cards edit`"),
    ("in the Library", "with `autokit cards list`"),
    ("See which there are in the list of tools", "See which there are with `autokit tools list`"),
    ("See which there are in the list of servers", "See which there are with `autokit servers list`"),
    ("See which there are in the list of programs", "See which there are with `autokit clients list`"),
    ("Look at the change again.", "Look at the change again with `autokit clients list`."),
    ("See what waits in Review", "See what waits with `autokit review list`"),
    (
        "Accept the other fields alone, or give your own value for it",
        "Accept the other fields alone with `--field NAME`, or give your own value with `--set NAME=VALUE`",
    ),
    ("Take the decision back first, in Review", "Take the decision back first with `autokit review undo`"),
    ("See which there are under past questions", "See which there are with `autokit sessions`"),
    ("Restore the newest good backup: ", "Restore the newest good backup: autokit backup restore "),
    ("Restore a backup, or", "Restore a backup with `autokit backup restore`, or"),
    ("Make a backup now", "Make a backup now with `autokit backup create`"),
    ("See which there are in the list of backups", "See which there are with `autokit backup list`"),
    ("another data directory", "another --data-dir"),
    ("let discovery propose cards", "propose cards with `autokit discover`"),
];

/// A remedy in words of the terminal.
pub(crate) fn in_terminal(remedy: &str) -> String {
    let mut text = remedy.to_owned();
    for (place, command) in PLACES {
        if text.contains(place) {
            text = text.replace(place, command);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::path::{Path, PathBuf};

    use super::in_terminal;

    fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                sources(&path, found);
            } else if path.extension().is_some_and(|kind| kind == "rs") {
                found.push(path);
            }
        }
    }

    /// Strings of the crates below the hosts, with where they stand.
    fn lines() -> Vec<(PathBuf, String)> {
        let own = std::env::var("CARGO_MANIFEST_DIR").unwrap();
        let crates = Path::new(&own).parent().unwrap();
        // Measuring is a command of the terminal alone.
        let hosts = ["autokit-cli", "autokit-eval", "xtask", "workspace-hack"];
        let mut files = Vec::new();
        for entry in fs::read_dir(crates).unwrap() {
            let folder = entry.unwrap().path();
            if !hosts.iter().any(|host| folder.ends_with(host)) {
                sources(&folder.join("src"), &mut files);
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
    fn the_engine_names_no_commands_of_the_terminal() {
        // A page's token comes from a command.
        let own = |file: &Path| file.ends_with("src/host.rs");
        for (file, line) in lines() {
            assert!(!line.contains("`autokit ") || own(&file), "{}: {line}", file.display());
        }
    }

    #[test]
    fn every_place_a_remedy_names_has_its_command() {
        let mut seen = 0;
        for (file, line) in lines().iter().filter(|(_, line)| line.contains("Settings, ")) {
            if !line.contains('"') || line.contains("contains(") {
                continue;
            }
            seen += 1;
            // Where a remedy is put together from parts, the place alone is there.
            let line = line.replace("\"Settings, ", "\"in Settings, ");
            assert!(!in_terminal(&line).contains("Settings, "), "{}: {line}", file.display());
        }
        assert!(seen > 15, "only {seen} remedies were found");
    }

    #[test]
    fn remedies_read_well() {
        let said = in_terminal("Choose one in Settings, Web search; DuckDuckGo needs no key.");
        assert_eq!(said, "Choose one with `autokit providers search`; DuckDuckGo needs no key.");
        let said = in_terminal("Unlock the keyring, or choose the encrypted file in Settings, Keys.");
        assert_eq!(
            said,
            "Unlock the keyring, or keep keys in an encrypted file with `autokit providers keys --keep file`."
        );
    }
}
