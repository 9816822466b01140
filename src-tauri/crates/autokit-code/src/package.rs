//! What a repository offers to others: its packages, by their manifests, their commands, and how their public functions are
//! imported.

use std::io::Read as _;
use std::path::Path;

use serde_json::Value as Json;
use toml::Value as Toml;

use crate::language::Language;
use crate::symbols::{Symbol, SymbolKind};

/// Largest manifest that is read, in bytes.
const MAX_MANIFEST: u64 = 1 << 20;

/// A package that a repository publishes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Package {
    /// Its name.
    pub name: String,
    /// Folder of its manifest from the root of the repository, with `/`; empty for the root.
    pub folder: String,
    /// The manifest from the root of the repository.
    pub manifest: String,
    /// What it says it is for.
    pub description: String,
    /// The programs it installs.
    pub commands: Vec<String>,
}

/// How others use a function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// The module, package or header it is in.
    pub module: String,
    /// Lines that import it.
    pub code: String,
}

fn read(root: &Path, manifest: &str) -> Option<String> {
    let path = root.join(manifest);
    // A link may lead out of the repository, or to a device that never ends.
    if !std::fs::symlink_metadata(&path).ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    std::fs::File::open(path).ok()?.take(MAX_MANIFEST + 1).read_to_string(&mut text).ok()?;
    (text.len() as u64 <= MAX_MANIFEST).then_some(text)
}

fn toml_text(value: Option<&Toml>) -> String {
    value.and_then(Toml::as_str).unwrap_or_default().trim().to_owned()
}

fn keys(value: Option<&Toml>) -> Vec<String> {
    value.and_then(Toml::as_table).map(|table| table.keys().cloned().collect()).unwrap_or_default()
}

fn cargo(text: &str) -> Option<(String, String, Vec<String>)> {
    let manifest: Toml = toml::from_str(text).ok()?;
    let package = manifest.get("package")?;
    let bins = manifest.get("bin").and_then(Toml::as_array);
    let commands =
        bins.into_iter().flatten().map(|bin| toml_text(bin.get("name"))).filter(|name| !name.is_empty());
    Some((toml_text(package.get("name")), toml_text(package.get("description")), commands.collect()))
}

fn pyproject(text: &str) -> Option<(String, String, Vec<String>)> {
    let manifest: Toml = toml::from_str(text).ok()?;
    let poetry = manifest.get("tool").and_then(|tool| tool.get("poetry"));
    let project = manifest.get("project").or(poetry)?;
    Some((
        toml_text(project.get("name")),
        toml_text(project.get("description")),
        keys(project.get("scripts")),
    ))
}

fn package_json(text: &str) -> Option<(String, String, Vec<String>)> {
    let manifest: Json = serde_json::from_str(text).ok()?;
    let name = manifest.get("name")?.as_str()?.to_owned();
    let description = manifest.get("description").and_then(Json::as_str).unwrap_or_default().to_owned();
    let commands = match manifest.get("bin") {
        Some(Json::Object(bins)) => bins.keys().cloned().collect(),
        // One program has the name of the package, without its scope.
        Some(Json::String(_)) => vec![name.rsplit('/').next().unwrap_or(&name).to_owned()],
        _ => Vec::new(),
    };
    Some((name, description, commands))
}

fn go_mod(text: &str) -> Option<(String, String, Vec<String>)> {
    let module = text.lines().find_map(|line| line.trim().strip_prefix("module "))?;
    let module = module.split("//").next()?.trim().trim_matches('"');
    Some((module.to_owned(), String::new(), Vec::new()))
}

fn pom(text: &str) -> Option<(String, String, Vec<String>)> {
    // The parent's coordinates come first in many files.
    let own = text.find("</parent>").map_or(text, |at| &text[at..]);
    let tag = |name: &str| {
        let (open, close) = (format!("<{name}>"), format!("</{name}>"));
        let from = own.find(&open)? + open.len();
        let to = own[from..].find(&close)? + from;
        Some(own[from..to].split_whitespace().collect::<Vec<_>>().join(" "))
    };
    Some((tag("artifactId")?, tag("description").unwrap_or_default(), Vec::new()))
}

type ReadManifest = fn(&str) -> Option<(String, String, Vec<String>)>;

/// Manifests by the name of the file, with the languages whose packages they describe.
const MANIFESTS: [(&str, ReadManifest, &[Language]); 5] = [
    ("Cargo.toml", cargo, &[Language::Rust]),
    ("pyproject.toml", pyproject, &[Language::Python]),
    ("package.json", package_json, &[Language::TypeScript, Language::JavaScript]),
    ("go.mod", go_mod, &[Language::Go]),
    ("pom.xml", pom, &[Language::Java]),
];

/// Returns the package a file belongs to: the one with the nearest manifest of its language. `None` if there is none.
pub fn package_of(root: &Path, language: Language, file: &str) -> Option<Package> {
    let (manifest, read_manifest, _) =
        MANIFESTS.into_iter().find(|(_, _, languages)| languages.contains(&language))?;
    let mut folder = file.rsplit_once('/').map_or("", |(folder, _)| folder);
    loop {
        let path = if folder.is_empty() { manifest.to_owned() } else { format!("{folder}/{manifest}") };
        if let Some((name, description, mut commands)) =
            read(root, &path).and_then(|text| read_manifest(&text))
            && !name.is_empty()
        {
            if language == Language::Rust && commands.is_empty() {
                let main = if folder.is_empty() {
                    "src/main.rs".to_owned()
                } else {
                    format!("{folder}/src/main.rs")
                };
                commands.extend(root.join(main).is_file().then(|| name.clone()));
            }
            if language == Language::Go {
                commands = go_commands(root, folder, &name);
            }
            return Some(Package { name, folder: folder.to_owned(), manifest: path, description, commands });
        }
        if folder.is_empty() {
            return None;
        }
        folder = folder.rsplit_once('/').map_or("", |(folder, _)| folder);
    }
}

/// Returns the programs that `go install` makes of a module: those in its folder and in folders of `cmd`, each named as its
/// folder.
fn go_commands(root: &Path, folder: &str, module: &str) -> Vec<String> {
    let is_program = |folder: &Path| {
        let files = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let mut names = files.filter_map(|file| file.file_name().into_string().ok());
        names.any(|name| {
            let is_source =
                Path::new(&name).extension().is_some_and(|kind| kind == "go") && !name.ends_with("_test.go");
            is_source
                && read(folder, &name)
                    .is_some_and(|text| text.lines().any(|line| line.trim() == "package main"))
        })
    };
    let at = root.join(folder);
    let own = is_program(&at).then(|| module.rsplit('/').next().unwrap_or(module).to_owned());
    let beside = std::fs::read_dir(at.join("cmd")).into_iter().flatten().flatten();
    let mut commands: Vec<String> = beside
        .filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()) && is_program(&entry.path()))
        .filter_map(|entry| entry.file_name().into_string().ok())
        .collect();
    commands.sort_unstable();
    own.into_iter().chain(commands).collect()
}

/// Returns whether a symbol is part of what its package offers: public, defined at the top of a file or as a static part
/// of a class, and in no test.
pub fn is_offered(language: Language, file: &str, symbol: &Symbol) -> bool {
    let is_test = |part: &str| {
        let part = part.to_ascii_lowercase();
        [
            "test",
            "tests",
            "testing",
            "example",
            "examples",
            "bench",
            "benches",
            "benchmark",
            "benchmarks",
            "docs",
            "fixtures",
        ]
        .contains(&part.as_str())
            || part.starts_with("test_")
            || part.contains("_test.")
            || part.contains(".test.")
            || part.contains(".spec.")
    };
    let at_top = match language {
        // Methods of a class are reached through it; of a namespace, by its name.
        Language::Java | Language::Cpp => symbol.inside.len() <= 1,
        // What a public module declares: nothing else of Rust that is public has something around it.
        Language::Rust => true,
        _ => symbol.inside.is_empty(),
    };
    symbol.kind == SymbolKind::Function
        && symbol.is_public
        && symbol.is_defined
        && at_top
        && symbol.name != "main"
        && is_exported(language, file, symbol)
        && !symbol.name.starts_with('_')
        && !file.split('/').any(is_test)
}

/// Whether a public function is visible outside of its package, as far as its signature says.
fn is_exported(language: Language, file: &str, symbol: &Symbol) -> bool {
    let starts = |words: &str| symbol.signature.trim_start().starts_with(words);
    let has = |word: &str| symbol.signature.split_whitespace().any(|one| one == word);
    match language {
        // `pub(crate)` and its like end at the package.
        Language::Rust => starts("pub "),
        Language::Java => has("static"),
        Language::Go => !file.split('/').any(|part| part == "internal"),
        _ => true,
    }
}

/// Returns how others import a function of a package. Modules that are private or re-export under another name are not
/// told from the file alone, so this is a suggestion.
pub fn import_of(language: Language, package: &Package, file: &str, symbol: &Symbol) -> Import {
    let inside = file.strip_prefix(&package.folder).unwrap_or(file).trim_start_matches('/');
    let stem = inside.rsplit_once('.').map_or(inside, |(stem, _)| stem);
    let name = &symbol.name;
    match language {
        Language::Python => {
            let module = stem.strip_prefix("src/").unwrap_or(stem).replace('/', ".");
            let module = module.strip_suffix(".__init__").unwrap_or(&module).to_owned();
            Import { code: format!("from {module} import {name}"), module }
        }
        Language::Rust => {
            let path = stem.strip_prefix("src/").unwrap_or(stem);
            let parts = path.split('/').filter(|part| !["lib", "mod", "main"].contains(part));
            let module = [package.name.replace('-', "_")]
                .into_iter()
                .chain(parts.map(str::to_owned))
                .chain(symbol.inside.iter().cloned())
                .collect::<Vec<_>>();
            let module = module.join("::");
            Import { code: format!("use {module}::{name};"), module }
        }
        Language::TypeScript | Language::JavaScript => {
            let path =
                ["src/", "lib/", "dist/"].iter().find_map(|root| stem.strip_prefix(root)).unwrap_or(stem);
            let is_entry = ["index", "main"].contains(&path);
            let module = if is_entry { package.name.clone() } else { format!("{}/{stem}", package.name) };
            let imported = if symbol.is_default { name.clone() } else { format!("{{ {name} }}") };
            Import { code: format!("import {imported} from \"{module}\";"), module }
        }
        Language::Go => {
            let folder = inside.rsplit_once('/').map_or("", |(folder, _)| folder);
            let module =
                if folder.is_empty() { package.name.clone() } else { format!("{}/{folder}", package.name) };
            Import { code: format!("import \"{module}\""), module }
        }
        Language::Java => {
            let path = stem.split_once("java/").map_or(stem, |(_, path)| path).replace('/', ".");
            Import { code: format!("import static {path}.{name};"), module: path }
        }
        // No manifest here describes packages of these.
        Language::C | Language::Cpp => Import { code: String::new(), module: String::new() },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::symbols::symbols;

    fn file(root: &Path, path: &str, text: &str) {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a folder")).expect("made");
        std::fs::write(path, text).expect("written");
    }

    #[test]
    fn a_function_is_imported_from_its_package() {
        let root = tempfile::tempdir().expect("a folder");
        let root = root.path();
        file(
            root,
            "Cargo.toml",
            "[package]\nname = \"date-kit\"\ndescription = \"Dates.\"\n[[bin]]\nname = \"dates\"",
        );
        file(
            root,
            "py/pyproject.toml",
            "[project]\nname = \"datekit\"\n[project.scripts]\ndatekit = \"datekit.cli:main\"",
        );
        file(root, "web/package.json", r#"{"name": "@date/kit", "bin": "cli.js"}"#);
        file(root, "go/go.mod", "module example.org/date // a kit\n\ngo 1.22");
        let imported = |language, path: &str, code: &str| {
            let symbol = symbols(language, code).into_iter().next().expect("a symbol");
            assert!(is_offered(language, path, &symbol), "{symbol:?}");
            let package = package_of(root, language, path).expect("a package");
            (import_of(language, &package, path, &symbol).code, package.commands)
        };
        assert_eq!(
            imported(Language::Rust, "src/parse/iso.rs", "pub fn read(text: &str) -> u8 { 1 }"),
            ("use date_kit::parse::iso::read;".to_owned(), vec!["dates".to_owned()])
        );
        assert_eq!(
            imported(Language::Python, "py/src/datekit/parse.py", "def read(text):\n    return 1\n"),
            ("from datekit.parse import read".to_owned(), vec!["datekit".to_owned()])
        );
        assert_eq!(
            imported(
                Language::TypeScript,
                "web/src/index.ts",
                "export function read(text: string) { return 1; }"
            ),
            ("import { read } from \"@date/kit\";".to_owned(), vec!["kit".to_owned()])
        );
        assert_eq!(
            imported(
                Language::Go,
                "go/parse/iso.go",
                "package parse\n\n// Read reads.\nfunc Read(text string) int { return 1 }"
            )
            .0,
            "import \"example.org/date/parse\""
        );
        file(root, "go/main.go", "package main\n\nfunc main() {}");
        file(root, "go/cmd/isodate/main.go", "package main\n\nfunc main() {}");
        file(root, "go/cmd/helper/helper.go", "package helper");
        let package = package_of(root, Language::Go, "go/parse/iso.go").expect("a package");
        assert_eq!(package.commands, ["date", "isodate"]);
        assert_eq!(
            imported(Language::Rust, "src/parse.rs", "pub mod iso { pub fn read(text: &str) -> u8 { 1 } }").0,
            "use date_kit::parse::iso::read;"
        );
        assert_eq!(
            imported(Language::JavaScript, "web/read.js", "export default function read(text) { return 1; }")
                .0,
            "import read from \"@date/kit/read\";"
        );
        assert!(package_of(root, Language::Java, "src/main/java/A.java").is_none());
    }

    #[test]
    fn tests_and_private_functions_are_not_offered() {
        let of = |language, path, code| {
            symbols(language, code).iter().filter(|symbol| is_offered(language, path, symbol)).count()
        };
        assert_eq!(of(Language::Rust, "src/lib.rs", "fn own() {} pub fn offered() {}"), 1);
        assert_eq!(of(Language::Rust, "tests/all.rs", "pub fn helper() {}"), 0);
        assert_eq!(
            of(Language::Python, "pkg/a.py", "def _own():\n    pass\n\ndef offered():\n    pass\n"),
            1
        );
        assert_eq!(of(Language::Go, "a_test.go", "package a\n\nfunc Offered() {}"), 0);
    }
}
