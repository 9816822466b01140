//! Extracts imports and constructor calls from a page's code.

use std::collections::HashSet;

use autokit_web::{Block, Document};
use serde_json::{Map, Value};
use tree_sitter::{Node, Parser};

use crate::value::{named_arguments, value_of};

/// Maximum size of a code block that is parsed, in bytes; a longer one is data, not an example.
const LONGEST: usize = 200_000;
/// Maximum number of distinct imports kept per page. The longest documentation shows a few hundred; a page
/// with more is not meant to be read, and each import costs time wherever imports are examined.
pub(crate) const MAX_IMPORTS: usize = 2_000;
/// Maximum number of calls kept per page.
const MAX_CALLS: usize = 5_000;
/// Maximum number of characters kept of a line, enough to see what it says.
const LINE: usize = 1_000;

/// A language whose code is parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Language {
    /// Python.
    Python,
    /// JavaScript and TypeScript.
    JavaScript,
}

impl Language {
    /// The name used on cards.
    pub fn name(self) -> &'static str {
        match self {
            Language::Python => "python",
            Language::JavaScript => "javascript",
        }
    }

    /// The language of a code block, from its label or its content.
    fn of(label: Option<&str>, code: &str) -> Option<Language> {
        match label {
            Some("python" | "py" | "python3" | "ipython" | "ipython3" | "pycon" | "jupyter") => {
                Some(Language::Python)
            }
            Some("javascript" | "js" | "jsx" | "typescript" | "ts" | "tsx" | "mjs") => {
                Some(Language::JavaScript)
            }
            Some("bash" | "sh" | "shell" | "console" | "json" | "yaml" | "toml" | "html" | "css" | "xml") => {
                None
            }
            // Other labels are often wrong, so the content decides.
            _ => {
                let line = |starts: &[&str]| {
                    code.lines().any(|line| starts.iter().any(|start| line.trim_start().starts_with(start)))
                };
                if code.contains("require(") || line(&["const ", "let ", "import {", "import type "]) {
                    Some(Language::JavaScript)
                } else if line(&["from ", "import ", "def ", "print(", ">>> "]) || code.contains(" = ") {
                    Some(Language::Python)
                } else {
                    None
                }
            }
        }
    }
}

/// Whether the current section shows something deprecated, according to its heading or to the paragraph right
/// before the code.
#[derive(Debug, Default)]
struct Section {
    /// Level of the heading that says so.
    heading: Option<u8>,
    words: bool,
}

impl Section {
    fn read(&mut self, block: &Block) {
        let says = |text: &str| {
            let lower = text.to_lowercase();
            ["deprecated", "legacy", "no longer supported", "no longer maintained"]
                .iter()
                .any(|word| lower.contains(word))
        };
        match block {
            Block::Heading { level, text, .. } => {
                if self.heading.is_none_or(|above| *level <= above) {
                    self.heading = says(text).then_some(*level);
                }
                self.words = false;
            }
            // A paragraph that ends in a colon introduces the code; others do not refer to it.
            Block::Text { text } => self.words = text.trim_end().ends_with(':') && says(text),
            Block::Code { .. } => {}
        }
    }

    fn is_deprecated(&self) -> bool {
        self.heading.is_some() || self.words
    }
}

/// An imported name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Import {
    /// Language of the code.
    pub language: Language,
    /// The module it is imported from, e.g. `langchain_community.tools` or `@scope/package`.
    pub module: String,
    /// The imported name, before any renaming.
    pub name: String,
    /// The statement on one line.
    pub line: String,
    /// Whether it is shown in a section about something deprecated.
    pub deprecated: bool,
}

/// A call of something named, e.g. of a constructor.
#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// The last part of the callee: `b` of `a.b(…)`.
    pub callee: String,
    /// Named arguments. Values that are not literals become placeholders.
    pub arguments: Map<String, Value>,
    /// The line of the call.
    pub line: String,
}

/// The code shown on a page.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Code {
    /// Imports in the order of the page, without duplicates.
    pub imports: Vec<Import>,
    /// Calls in the order of the page.
    pub calls: Vec<Call>,
    /// All identifiers in the code.
    pub names: HashSet<String>,
    /// Whether there are more imports or calls than are kept.
    pub cut: bool,
}

/// State while the code of a page is read.
#[derive(Default)]
struct CodeScan {
    /// Module and name of every import found so far.
    imports: HashSet<(String, String)>,
}

impl Code {
    /// Reads the code blocks of a page.
    pub fn of(page: &Document) -> Code {
        let mut code = Code::default();
        let mut seen = CodeScan::default();
        let mut section = Section::default();
        for block in &page.blocks {
            let Block::Code { language: label, text: block } = block else {
                section.read(block);
                continue;
            };
            if block.len() > LONGEST {
                continue;
            }
            let Some(language) = Language::of(label.as_deref(), block) else { continue };
            let source = without_prompts(block, language);
            let mut parser = Parser::new();
            let grammar = match language {
                Language::Python => tree_sitter_python::LANGUAGE,
                Language::JavaScript => tree_sitter_typescript::LANGUAGE_TSX,
            };
            // Both grammars are built for this version of the parser; otherwise a test would fail.
            if parser.set_language(&grammar.into()).is_err() {
                continue;
            }
            let known = code.imports.len();
            if let Some(tree) = parser.parse(&source, None) {
                code.walk(tree.root_node(), &source, language, &mut seen);
            }
            code.imports[known..].iter_mut().for_each(|import| import.deprecated = section.is_deprecated());
        }
        code
    }

    /// Whether the code contains this exact identifier.
    pub fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The imports of a name.
    pub fn imports_of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Import> {
        self.imports.iter().filter(move |import| import.name == name)
    }

    /// The named arguments of all calls of a name together, with the first value of each; and the lines of
    /// the calls that add to them.
    pub fn arguments_of(&self, name: &str) -> Option<(Map<String, Value>, Vec<&str>)> {
        let mut arguments = Map::new();
        let mut lines = Vec::new();
        let mut called = false;
        for call in self.calls.iter().filter(|call| call.callee == name) {
            called = true;
            let before = arguments.len();
            for (name, value) in &call.arguments {
                if !arguments.contains_key(name) {
                    arguments.insert(name.clone(), value.clone());
                }
            }
            if arguments.len() > before || lines.is_empty() {
                lines.push(call.line.as_str());
            }
        }
        called.then_some((arguments, lines))
    }

    /// Walks a tree without recursion: code on a page may be nested to any depth.
    fn walk(&mut self, root: Node<'_>, source: &str, language: Language, seen: &mut CodeScan) {
        let mut cursor = root.walk();
        loop {
            let node = cursor.node();
            match node.kind() {
                "import_from_statement" => self.python_from(node, source, seen),
                "import_statement" if language == Language::Python => self.python_import(node, source, seen),
                "import_statement" => self.script_import(node, source, seen),
                "variable_declarator" => self.require(node, source, seen),
                "call" | "new_expression" | "call_expression" => self.call(node, source),
                "identifier" | "type_identifier" | "property_identifier" => {
                    let name = &source[node.byte_range()];
                    if !self.names.contains(name) {
                        self.names.insert(name.to_owned());
                    }
                }
                _ => {}
            }
            if cursor.goto_first_child() {
                continue;
            }
            while !cursor.goto_next_sibling() {
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    fn add(&mut self, seen: &mut CodeScan, language: Language, module: &str, name: &str, line: &str) {
        if seen.imports.contains(&(module.to_owned(), name.to_owned())) {
            return;
        }
        if self.imports.len() == MAX_IMPORTS {
            self.cut = true;
            return;
        }
        seen.imports.insert((module.to_owned(), name.to_owned()));
        self.imports.push(Import {
            language,
            module: module.to_owned(),
            name: name.to_owned(),
            line: line.to_owned(),
            deprecated: false,
        });
    }

    fn python_from(&mut self, node: Node<'_>, source: &str, seen: &mut CodeScan) {
        let Some(module) = node.child_by_field_name("module_name") else { return };
        let module = &source[module.byte_range()];
        let mut cursor = node.walk();
        let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
        let statement = on_one_line(&source[node.byte_range()]);
        for name in names {
            let name = name.child_by_field_name("name").unwrap_or(name);
            self.add(seen, Language::Python, module, &source[name.byte_range()], &statement);
        }
    }

    fn python_import(&mut self, node: Node<'_>, source: &str, seen: &mut CodeScan) {
        let mut cursor = node.walk();
        let names: Vec<Node<'_>> = node.children_by_field_name("name", &mut cursor).collect();
        let statement = on_one_line(&source[node.byte_range()]);
        for name in names {
            let module = name.child_by_field_name("name").unwrap_or(name);
            self.add(seen, Language::Python, &source[module.byte_range()], "", &statement);
        }
    }

    fn script_import(&mut self, node: Node<'_>, source: &str, seen: &mut CodeScan) {
        let Some(module) = node.child_by_field_name("source").map(|from| unquoted(from, source)) else {
            return;
        };
        let statement = &on_one_line(&source[node.byte_range()]);
        let mut cursor = node.walk();
        let Some(clause) = node.children(&mut cursor).find(|child| child.kind() == "import_clause") else {
            return;
        };
        let mut cursor = clause.walk();
        for part in clause.named_children(&mut cursor) {
            match part.kind() {
                "identifier" => {
                    self.add(seen, Language::JavaScript, &module, &source[part.byte_range()], statement);
                }
                "named_imports" => {
                    let mut inner = part.walk();
                    for one in part.named_children(&mut inner) {
                        if let Some(name) = one.child_by_field_name("name") {
                            self.add(
                                seen,
                                Language::JavaScript,
                                &module,
                                &source[name.byte_range()],
                                statement,
                            );
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// `const { A } = require("package")`, `const A = require("package")`.
    fn require(&mut self, node: Node<'_>, source: &str, seen: &mut CodeScan) {
        let (Some(name), Some(value)) = (node.child_by_field_name("name"), node.child_by_field_name("value"))
        else {
            return;
        };
        let called = value.child_by_field_name("function").map(|function| &source[function.byte_range()]);
        let Some(argument) = value
            .child_by_field_name("arguments")
            .filter(|_| called == Some("require"))
            .and_then(|arguments| arguments.named_child(0))
        else {
            return;
        };
        let module = unquoted(argument, source);
        let statement = &on_one_line(&source[node.byte_range()]);
        if name.kind() == "identifier" {
            self.add(seen, Language::JavaScript, &module, &source[name.byte_range()], statement);
            return;
        }
        let mut cursor = name.walk();
        for part in name.named_children(&mut cursor) {
            let part = part.child_by_field_name("key").unwrap_or(part);
            self.add(seen, Language::JavaScript, &module, &source[part.byte_range()], statement);
        }
    }

    fn call(&mut self, node: Node<'_>, source: &str) {
        let function =
            node.child_by_field_name("function").or_else(|| node.child_by_field_name("constructor"));
        let (Some(function), Some(arguments)) = (function, node.child_by_field_name("arguments")) else {
            return;
        };
        let last = function
            .child_by_field_name("attribute")
            .or_else(|| function.child_by_field_name("property"))
            .unwrap_or(function);
        // The callee has no name of its own, e.g. it is the result of another call.
        if !matches!(last.kind(), "identifier" | "property_identifier" | "type_identifier") {
            return;
        }
        if self.calls.len() == MAX_CALLS {
            self.cut = true;
            return;
        }
        let start = source[..node.start_byte()].rfind('\n').map_or(0, |at| at + 1);
        let end = source[node.start_byte()..].find('\n').map_or(source.len(), |at| node.start_byte() + at);
        let mut given = Map::new();
        for (name, _) in named_arguments(arguments, source, 1) {
            given.insert(name, Value::Null);
        }
        let mut cursor = arguments.walk();
        for argument in arguments.named_children(&mut cursor) {
            if argument.kind() == "keyword_argument"
                && let (Some(name), Some(value)) =
                    (argument.child_by_field_name("name"), argument.child_by_field_name("value"))
            {
                let name = &source[name.byte_range()];
                given.insert(name.to_owned(), value_of(name, value, source));
            } else if argument.kind() == "object" {
                given.extend(named_arguments(arguments, source, 6));
            }
        }
        self.calls.push(Call {
            callee: source[last.byte_range()].to_owned(),
            arguments: given,
            line: truncate_line(source[start..end].trim()).to_owned(),
        });
    }
}

/// Joins a statement into one line of limited length.
fn on_one_line(statement: &str) -> String {
    // Leaves room for white space that is collapsed.
    let room = first_chars(statement, 4 * LINE);
    truncate_line(&room.split_whitespace().collect::<Vec<_>>().join(" ")).to_owned()
}

fn truncate_line(line: &str) -> &str {
    first_chars(line, LINE)
}

fn first_chars(text: &str, chars: usize) -> &str {
    text.char_indices().nth(chars).map_or(text, |(end, _)| &text[..end])
}

fn unquoted(node: Node<'_>, source: &str) -> String {
    source[node.byte_range()].trim_matches(['"', '\'', '`']).to_owned()
}

/// Removes what documentation adds to code: prompts, and commands of notebooks.
fn without_prompts(code: &str, language: Language) -> String {
    if language != Language::Python {
        return code.to_owned();
    }
    let mut out = String::with_capacity(code.len());
    for line in code.lines() {
        let start = line.trim_start();
        if !start.starts_with(['%', '!']) {
            let prompt = start.strip_prefix(">>> ").or_else(|| start.strip_prefix("... "));
            out.push_str(prompt.unwrap_or(line));
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use cpu_time::ThreadTime;
    use serde_json::json;

    use super::*;

    fn code(markdown: &str) -> Code {
        Code::of(&autokit_web::extract(markdown, Some("text/markdown"), "https://docs.example.org/a"))
    }

    fn pairs(code: &Code) -> Vec<(&str, &str)> {
        code.imports.iter().map(|import| (import.module.as_str(), import.name.as_str())).collect()
    }

    #[test]
    fn imports_are_read_in_the_forms_documentation_has() {
        let page = code(
            "```python\n%pip install kit\nfrom kit.tools import (\n    Weather,  # the tool\n    Place as P,\n)\nimport os, kit.util as u\n```\n\n```\n>>> from kit import Other\n>>> Other()\n```\n\n```ts\nimport Kit, { Weather as W, type Place } from \"@kit/weather\";\nconst { Old } = require('kit-old');\n```\n\n```bash\nfrom nothing import Nothing\n```\n",
        );
        assert_eq!(
            pairs(&page),
            [
                ("kit.tools", "Weather"),
                ("kit.tools", "Place"),
                ("os", ""),
                ("kit.util", ""),
                ("kit", "Other"),
                ("@kit/weather", "Kit"),
                ("@kit/weather", "Weather"),
                ("@kit/weather", "Place"),
                ("kit-old", "Old"),
            ]
        );
        assert!(page.imports[0].line.starts_with("from kit.tools import ( Weather,"));
    }

    #[test]
    fn constructor_arguments_are_read_as_json() {
        let page = code(
            "```python\nfrom kit import Weather, Wrapper\ntool = Weather(api_key=os.environ[\"KEY\"], days=3, units='metric', safe=True, tags=['a'], wrapper=Wrapper(k=2), other=thing)\nkit.Weather(-1, output=\"list\")\n```\n\n```js\nconst tool = new Calendar({ key: process.env.KEY, zone: \"UTC\", deep: { a: 1 }, id });\n```\n",
        );
        let (arguments, lines) = page.arguments_of("Weather").unwrap();
        assert_eq!(
            Value::Object(arguments),
            json!({"api_key": "${KEY}", "days": 3, "units": "metric", "safe": true, "tags": ["a"],
                "wrapper": {"k": 2}, "other": "${OTHER}", "output": "list"})
        );
        assert_eq!(lines.len(), 2);
        let (arguments, _) = page.arguments_of("Calendar").unwrap();
        assert_eq!(
            Value::Object(arguments),
            json!({"key": "${KEY}", "zone": "UTC", "deep": {"a": 1}, "id": "${ID}"})
        );
        assert!(page.arguments_of("Nothing").is_none());
    }

    #[test]
    fn code_in_a_section_about_the_past_is_marked_deprecated() {
        let page = code(
            "# Kit\n\n```python\nfrom kit import New\n```\n\n## Deprecated OldTool\n\nIt was this.\n\n```python\nfrom kit import Old\n```\n\n### More\n\n```python\nfrom kit import Older\n```\n\n## Usage\n\n```python\nfrom kit import Also\n```\n\nThe legacy way is:\n\n```python\nfrom kit import Oldest\n```\n",
        );
        let of_the_past: Vec<&str> = page
            .imports
            .iter()
            .filter(|import| import.deprecated)
            .map(|import| import.name.as_str())
            .collect();
        assert_eq!(of_the_past, ["Old", "Older", "Oldest"]);
    }

    #[test]
    fn a_page_of_imports_is_read_up_to_a_limit() {
        let pages = |times: usize| {
            let names: Vec<String> = (0..2_250 * times).map(|at| format!("Name{at}")).collect();
            let lines: Vec<String> =
                (0..1_000 * times).map(|at| format!("from kit{at} import A; A(x={at})")).collect();
            [
                format!("```python\nfrom kit import ({})\n```\n", names.join(", ")),
                format!("```python\n{}\n```\n", lines.join("\n")),
            ]
        };
        let (small, large) = (pages(1), pages(4));
        let took = |pages: &[String; 2], times: usize| {
            let began = ThreadTime::now();
            for _ in 0..times {
                std::hint::black_box(pages.each_ref().map(|page| code(page)));
            }
            began.elapsed()
        };
        // CPU time of this thread, and runs in alternation: a busy machine must not make a difference.
        let turns = (0..5).map(|_| (took(&small, 4), took(&large, 1)));
        let (pieces, whole) = turns.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))).expect("turns");
        let read = large.each_ref().map(|page| code(page));
        for page in read {
            assert_eq!((page.imports.len(), page.cut), (MAX_IMPORTS, true));
            assert!(page.imports.iter().all(|import| import.line.len() <= LINE));
        }
        assert!(!code("```python\nfrom kit import A\n```\n").cut);
        // With quadratic growth, the whole would take four times as long.
        assert!(whole < 3 * pieces, "{whole:?} for four pages in one, {pieces:?} for four pages");
    }

    #[test]
    fn broken_and_hostile_code_is_read_as_far_as_possible() {
        let page = code("```python\nfrom kit import Weather\nWeather(((\nfrom kit.more import Rain\n```\n");
        assert!(pairs(&page).contains(&("kit", "Weather")), "{:?}", page.imports);
        let deep =
            format!("```python\nfrom kit import A\nx = {}1{}\n```\n", "(".repeat(20_000), ")".repeat(20_000));
        assert_eq!(pairs(&code(&deep)), [("kit", "A")]);
        let nested = format!("```python\nA(x={}1{})\n```\n", "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(code(&nested).arguments_of("A").unwrap().0["x"], json!("${X}"));
    }
}
