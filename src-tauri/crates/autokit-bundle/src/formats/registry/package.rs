//! A package of a server: its origin and the command line that runs it.

use serde_json::{Map, Value};

use crate::formats::json;
use crate::formats::redact::{self, PLACEHOLDER};
use crate::formats::run;

/// An entry of `packages`.
pub(super) struct Package<'a>(pub(super) &'a Map<String, Value>);

/// The command line that runs a package.
pub(super) struct Run {
    /// The line, quoted for a shell.
    pub(super) line: String,
    /// Whether something that looked like a secret was replaced.
    pub(super) concealed: bool,
}

impl<'a> Package<'a> {
    fn registry(&self) -> &'a str {
        json::text(self.0, &["registryType", "registry_type", "registry_name", "registryName"]).unwrap_or("")
    }

    fn identifier(&self) -> &'a str {
        json::text(self.0, &["identifier", "name"]).unwrap_or("")
    }

    fn version(&self) -> Option<&'a str> {
        json::text(self.0, &["version"])
    }

    /// The transport of the running server.
    pub(super) fn transport(&self) -> &'a str {
        let transport = self.0.get("transport").and_then(Value::as_object);
        transport.and_then(|transport| json::text(transport, &["type"])).unwrap_or("stdio")
    }

    /// The environment variables it needs.
    pub(super) fn variables(&self) -> &'a [Value] {
        json::list(self.0, &["environmentVariables", "environment_variables"])
    }

    /// Registry, identifier and version, as far as they are known.
    pub(super) fn summary(&self) -> Value {
        let mut short = Map::new();
        for (key, value) in [
            ("registry", Some(self.registry())),
            ("identifier", Some(self.identifier())),
            ("version", self.version()),
        ] {
            if let Some(value) = value.filter(|value| !value.is_empty()) {
                short.insert(key.into(), value.into());
            }
        }
        Value::Object(short)
    }

    /// The command line that fetches and runs the package; `None` if no known program does both.
    pub(super) fn run(&self) -> Option<Run> {
        let words = self.words()?;
        let (concealed, found) = redact::redact_args(&words.iter().map(String::as_str).collect::<Vec<_>>());
        Some(Run { line: run::line(concealed.iter().map(String::as_str)), concealed: !found.is_empty() })
    }

    /// The program that fetches and runs the package, and its arguments, without replacing secrets.
    pub(super) fn words(&self) -> Option<Vec<String>> {
        let identifier = self.identifier();
        // A leading `-` would make it an option of the program.
        if identifier.is_empty() || identifier.starts_with('-') {
            return None;
        }
        let hint = json::text(self.0, &["runtimeHint", "runtime_hint"]);
        let runtime = hint.or(match self.registry() {
            "npm" => Some("npx"),
            "pypi" => Some("uvx"),
            "oci" | "docker" => Some("docker"),
            "nuget" => Some("dnx"),
            _ => None,
        })?;
        let mut words: Vec<String> = vec![runtime.to_owned()];
        let given = arguments(self.0, &["runtimeArguments", "runtime_arguments"]);
        match runtime {
            "npx" if !given.iter().any(|word| word == "-y" || word == "--yes") => words.push("-y".into()),
            "docker" | "podman" => {
                words.push("run".into());
                words.extend(
                    ["-i", "--rm"]
                        .into_iter()
                        .filter(|flag| !given.iter().any(|word| word == flag))
                        .map(Into::into),
                );
                for name in
                    self.variables().iter().filter_map(|input| json::text(input.as_object()?, &["name"]))
                {
                    words.extend(["-e".into(), name.into()]);
                }
            }
            _ => {}
        }
        words.extend(
            given.into_iter().filter(|word| !(matches!(runtime, "docker" | "podman") && word == "run")),
        );
        words.push(self.pinned(identifier, runtime));
        if runtime == "dnx" {
            words.push("--yes".into());
        }
        words.extend(arguments(self.0, &["packageArguments", "package_arguments"]));
        Some(words)
    }

    /// The identifier with its version, unless it already includes one.
    fn pinned(&self, identifier: &str, runtime: &str) -> String {
        let last = identifier.rsplit('/').next().unwrap_or(identifier);
        // The first character may be the `@` of an npm scope.
        let has_version = last.chars().skip(1).any(|c| matches!(c, '@' | ':' | '='));
        match self.version().filter(|_| !has_version) {
            None => identifier.to_owned(),
            Some(version) if matches!(runtime, "docker" | "podman") => format!("{identifier}:{version}"),
            Some(version) => format!("{identifier}@{version}"),
        }
    }
}

/// The arguments that have to be given. Optional ones without a fixed value are left to their default.
fn arguments(package: &Map<String, Value>, keys: &[&str]) -> Vec<String> {
    let mut words = Vec::new();
    for argument in json::list(package, keys).iter().filter_map(Value::as_object) {
        let name = json::text(argument, &["name"]);
        let fixed = json::text(argument, &["value"]);
        let required = json::flag(argument, &["isRequired", "is_required"]);
        if fixed.is_none() && !required {
            continue;
        }
        let named = json::text(argument, &["type"]) == Some("named");
        if let Some(name) = name.filter(|_| named) {
            words.push(name.to_owned());
        }
        let secret = json::flag(argument, &["isSecret", "is_secret"]);
        let hint = json::text(argument, &["valueHint", "value_hint"]).or(name);
        match (fixed, hint) {
            _ if secret => words.push(PLACEHOLDER.to_owned()),
            (Some(value), _) => words.push(value.to_owned()),
            // A named argument without a value or format is a flag.
            (None, _) if named && !argument.contains_key("valueHint") && !argument.contains_key("format") => {
            }
            (None, hint) => words.push(format!("<{}>", hint.unwrap_or("value").trim_start_matches('-'))),
        }
    }
    words
}
