//! From the syntax tree of a file to its symbols.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use rustc_hash::FxHashSet;
use serde::{Deserialize, Serialize};
use tree_sitter::{Node, ParseOptions, Parser, Tree};

use crate::comment::words;
use crate::language::{Definition, Language, is_between, is_comment};

/// What a symbol is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SymbolKind {
    /// A function, a constructor or a macro with parameters.
    Function,
    /// A function that belongs to a type.
    Method,
    /// A class, struct, enum, trait or interface.
    Type,
}

/// A function, method or type.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Symbol {
    /// What it is.
    pub kind: SymbolKind,
    /// Its name, without what it is inside of.
    pub name: String,
    /// The types, modules and functions it is inside of, outermost first.
    pub inside: Vec<String>,
    /// Everything before its body, on one line.
    pub signature: String,
    /// Words of its comment or documentation string, without marks.
    pub documentation: String,
    /// First and last line, from 1.
    pub lines: (u32, u32),
    /// Whether code elsewhere may use it, as far as its own declaration says.
    pub is_public: bool,
    /// Whether it has a body.
    pub is_defined: bool,
    /// Whether it is what its module of JavaScript exports by default, under any name.
    #[serde(default)]
    pub is_default: bool,
    /// Names of what it calls, each once, in the order of the first call.
    pub calls: Vec<String>,
    /// Names, texts, numbers and comments of its body, each once, in their order: what a function that nobody
    /// documented says about itself.
    #[serde(default)]
    pub body: String,
}

impl Symbol {
    /// Returns the name with what it is inside of, separated by dots.
    pub fn path(&self) -> String {
        self.inside.iter().chain([&self.name]).map(String::as_str).collect::<Vec<_>>().join(".")
    }
}

/// Most characters of a signature; what is longer lists parameters nobody reads.
const SIGNATURE: usize = 600;
/// Most characters of a comment. What a function does is said at its beginning.
const DOCUMENTATION: usize = 4_000;
/// Most characters of a name that is called; what is longer is an expression.
const LONGEST_NAME: usize = 120;
/// Most characters of what is kept of a body. A longer function does many things, of which it says the first.
const BODY: usize = 2_000;
/// Most characters of a text or comment in a body.
const BODY_PART: usize = 200;
/// Longest time to parse one file: grammars are fast, but not for every input.
const PARSING: Duration = Duration::from_secs(20);

/// Returns the symbols of a file in the order of their first lines. Parts that cannot be parsed are passed
/// over; a file that takes too long has none.
pub fn symbols(language: Language, source: &str) -> Vec<Symbol> {
    let Some(tree) = parse(language, source) else { return Vec::new() };
    let mut walk = Walk { language, source, open: Vec::new(), found: Vec::new(), exported: Vec::new() };
    walk.run(&tree);
    walk.mark_exported_by_name();
    walk.found
}

fn parse(language: Language, source: &str) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&language.grammar()).ok()?;
    let started = Instant::now();
    let mut stop_late = |_: &tree_sitter::ParseState| {
        if started.elapsed() > PARSING { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut stop_late);
    let bytes = source.as_bytes();
    parser.parse_with_options(&mut |at, _| bytes.get(at..).unwrap_or_default(), None, Some(options))
}

/// A definition whose end has not been reached.
struct Open {
    name: String,
    definition: Definition,
    /// Its position among the symbols, if it is one.
    symbol: Option<usize>,
    called: FxHashSet<String>,
    /// First byte of its body.
    body: usize,
    /// Parts of its body that were kept.
    said: FxHashSet<String>,
    /// Whether it is a private module of Rust: nothing in it is public.
    hides: bool,
}

struct Walk<'a> {
    language: Language,
    source: &'a str,
    open: Vec<Open>,
    found: Vec<Symbol>,
    /// Names that a module of JavaScript exports apart from their definitions, and whether by default.
    exported: Vec<(String, bool)>,
}

impl Walk<'_> {
    /// Visits every node without recursion, because trees can be as deep as files are long.
    fn run(&mut self, tree: &Tree) {
        let mut cursor = tree.walk();
        loop {
            self.enter(cursor.node());
            if cursor.goto_first_child() {
                continue;
            }
            loop {
                self.leave(cursor.node());
                if cursor.goto_next_sibling() {
                    break;
                }
                if !cursor.goto_parent() {
                    return;
                }
            }
        }
    }

    fn text(&self, node: Node<'_>) -> &str {
        self.source.get(node.byte_range()).unwrap_or_default()
    }

    fn enter(&mut self, node: Node<'_>) {
        if let Some(definition) = self.language.definition(node) {
            let named = self.language.name_of(node);
            let full = named.map(|named| self.text(named).to_owned()).unwrap_or_default();
            let (inside, name) = self.parts(&full);
            let symbol = match definition {
                Definition::Scope => None,
                _ if name.is_empty() => None,
                _ => {
                    let symbol = self.symbol(node, definition, &inside, &name);
                    self.found.push(symbol);
                    Some(self.found.len() - 1)
                }
            };
            let body = body_of(node).map_or(usize::MAX, |body| body.start_byte());
            let (called, said) = (FxHashSet::default(), FxHashSet::default());
            let hides = node.kind() == "mod_item" && !has_visibility(node);
            self.open.push(Open { name, definition, symbol, called, body, said, hides });
            return;
        }
        self.keep_word(node);
        self.keep_export(node);
        if let Some(callee) = self.language.callee(node) {
            let name = self.text(callee).to_owned();
            let caller = self.open.iter_mut().rev().find(|open| open.definition == Definition::Function);
            if let Some(Open { symbol: Some(symbol), called, .. }) = caller
                && !name.is_empty()
                && name.len() <= LONGEST_NAME
                && called.insert(name.clone())
            {
                self.found[*symbol].calls.push(name);
            }
        }
    }

    /// Keeps the names in `export { read }`, `export default read` and `module.exports = { read }`.
    fn keep_export(&mut self, node: Node<'_>) {
        if !matches!(self.language, Language::JavaScript | Language::TypeScript) {
            return;
        }
        match node.kind() {
            // What comes from another module is defined there; an alias is another name.
            "export_specifier" if node.child_by_field_name("alias").is_none() => {
                let statement = node.parent().and_then(|clause| clause.parent());
                if statement.is_some_and(|statement| statement.child_by_field_name("source").is_none())
                    && let Some(name) = node.child_by_field_name("name")
                {
                    self.exported.push((self.text(name).to_owned(), false));
                }
            }
            "export_statement" => {
                if let Some(value) =
                    node.child_by_field_name("value").filter(|value| value.kind() == "identifier")
                {
                    self.exported.push((self.text(value).to_owned(), true));
                }
            }
            "shorthand_property_identifier" => {
                let assigned = node.parent().and_then(|object| object.parent());
                let left = assigned.and_then(|assigned| assigned.child_by_field_name("left"));
                if left.is_some_and(|left| self.text(left) == "module.exports") {
                    self.exported.push((self.text(node).to_owned(), false));
                }
            }
            _ => {}
        }
    }

    /// Marks what is exported apart from its definition, which may come later.
    fn mark_exported_by_name(&mut self) {
        for (name, is_default) in std::mem::take(&mut self.exported) {
            let own = self.found.iter_mut().filter(|symbol| symbol.inside.is_empty() && symbol.name == name);
            for symbol in own {
                symbol.is_public = true;
                symbol.is_default |= is_default;
            }
        }
    }

    /// Keeps what a leaf of the tree says for the innermost definition whose body it is in.
    fn keep_word(&mut self, node: Node<'_>) {
        let says = node.is_named() && (node.child_count() == 0 || is_comment(node));
        let Some(open) = self.open.last_mut().filter(|_| says) else { return };
        let Some(symbol) = open.symbol.filter(|_| node.start_byte() >= open.body) else { return };
        let text = self.source.get(node.byte_range()).unwrap_or_default();
        let text =
            if is_comment(node) { words(text) } else { text.trim_matches(['"', '\'', '`']).to_owned() };
        let text: String = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = text.get(..text.floor_char_boundary(BODY_PART)).unwrap_or_default();
        let kept = &mut self.found[symbol].body;
        if text.chars().any(char::is_alphanumeric)
            && kept.len() + text.len() < BODY
            && !open.said.contains(text)
        {
            open.said.insert(text.to_owned());
            if !kept.is_empty() {
                kept.push(' ');
            }
            kept.push_str(text);
        }
    }

    fn leave(&mut self, node: Node<'_>) {
        if self.language.definition(node).is_some() {
            self.open.pop();
        }
    }

    /// Splits `Type::method` of C++ and `Type<T>` of an `impl` into what it is inside of and its own name.
    fn parts(&self, full: &str) -> (Vec<String>, String) {
        match self.language {
            Language::Cpp => {
                let mut parts: Vec<String> = full.split("::").map(|part| part.trim().to_owned()).collect();
                let name = parts.pop().unwrap_or_default();
                (parts.into_iter().filter(|part| !part.is_empty()).collect(), name)
            }
            Language::Rust => (Vec::new(), full.split('<').next().unwrap_or_default().trim().to_owned()),
            _ => (Vec::new(), full.trim_matches(['"', '\'', '`']).to_owned()),
        }
    }

    fn symbol(&self, node: Node<'_>, definition: Definition, inside: &[String], name: &str) -> Symbol {
        let outer = outermost(node);
        let body = body_of(node);
        let mut above: Vec<String> =
            self.open.iter().map(|open| open.name.clone()).filter(|name| !name.is_empty()).collect();
        above.extend(inside.iter().cloned());
        if let Some(receiver) = self.receiver(node) {
            above.push(receiver);
        }
        let is_member = self.open.last().is_some_and(|open| match open.definition {
            Definition::Type => true,
            // An `impl` belongs to a type; a module or namespace does not.
            Definition::Scope => self.language == Language::Rust && open.symbol.is_none() && in_impl(node),
            Definition::Function => false,
        }) || !inside.is_empty()
            || self.receiver(node).is_some();
        let kind = match definition {
            Definition::Type => SymbolKind::Type,
            _ if is_member => SymbolKind::Method,
            _ => SymbolKind::Function,
        };
        Symbol {
            kind,
            name: name.to_owned(),
            inside: above,
            signature: self.signature(node, body, definition),
            documentation: self.documentation(outer, body),
            lines: (outer.start_position().row as u32 + 1, node.end_position().row as u32 + 1),
            is_public: self.is_public(node, name) && !(kind == SymbolKind::Function && self.is_enclosed()),
            is_default: self.is_default(outer),
            is_defined: body.is_some() || matches!(node.kind(), "macro_definition" | "preproc_function_def"),
            calls: Vec::new(),
            body: String::new(),
        }
    }

    /// Returns the type of the receiver of a method of Go.
    fn receiver(&self, node: Node<'_>) -> Option<String> {
        let receiver = node.child_by_field_name("receiver").filter(|_| self.language == Language::Go)?;
        let text = self.text(receiver).trim_matches(['(', ')']);
        let of_type = text.split_whitespace().last()?.trim_start_matches('*');
        Some(of_type.split('[').next().unwrap_or(of_type).to_owned())
    }

    fn signature(&self, node: Node<'_>, body: Option<Node<'_>>, definition: Definition) -> String {
        let start = node.start_byte();
        let end = match (body, definition) {
            (Some(body), _) => body.start_byte(),
            // A struct of Go and an alias have no body that is marked; their first line says what they are.
            (None, Definition::Type) => {
                let text = self.text(node);
                start + text.find(['{', '\n', ';']).unwrap_or(text.len())
            }
            (None, _) => node.end_byte(),
        };
        let text = self.source.get(start..end).unwrap_or_default();
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        let text = text.trim_end_matches(['{', ':', ';', '=', ' ']).trim_end_matches("=>").trim();
        text.chars().take(SIGNATURE).collect()
    }

    fn documentation(&self, outer: Node<'_>, body: Option<Node<'_>>) -> String {
        let mut comments: Vec<&str> = Vec::new();
        let mut row = outer.start_position().row;
        let mut at = outer.prev_sibling();
        while let Some(before) = at {
            if is_comment(before) {
                // A comment of its own stands apart. Some grammars count the line break as its last character.
                let end = before.end_position();
                let last = if end.column == 0 { end.row.saturating_sub(1) } else { end.row };
                let is_beside = before.prev_sibling().is_some_and(|code| {
                    code.end_position().row == before.start_position().row && !is_comment(code)
                });
                if last + 1 < row || is_beside {
                    break;
                }
                comments.push(self.text(before));
                row = before.start_position().row;
            } else if is_between(before) {
                row = before.start_position().row;
            } else {
                break;
            }
            at = before.prev_sibling();
        }
        comments.reverse();
        let mut text = words(&comments.join("\n"));
        if self.language == Language::Python
            && let Some(docstring) = body.and_then(|body| self.docstring(body))
        {
            text = if text.is_empty() { docstring } else { format!("{docstring}\n{text}") };
        }
        text.chars().take(DOCUMENTATION).collect()
    }

    fn docstring(&self, body: Node<'_>) -> Option<String> {
        let first = body.named_child(0).filter(|first| first.kind() == "expression_statement")?;
        let string = first.named_child(0).filter(|string| string.kind() == "string")?;
        let text = self.text(string);
        let text = text.trim_start_matches(['r', 'R', 'u', 'U', 'b', 'B', 'f', 'F']);
        Some(words(text.trim_matches(['"', '\''])))
    }

    /// Whether a definition of JavaScript is part of an `export`, or assigned to the exports of its module.
    fn is_exported(&self, node: Node<'_>) -> bool {
        let mut outer = Some(node);
        while let Some(node) = outer {
            match node.kind() {
                "export_statement" => return true,
                "assignment_expression" => {
                    let to = node.child_by_field_name("left").map(|left| self.text(left)).unwrap_or_default();
                    return to.starts_with("exports.") || to.starts_with("module.exports");
                }
                "statement_block" | "class_body" | "program" => return false,
                _ => outer = node.parent(),
            }
        }
        false
    }

    /// Whether what is defined here is in a private module or a function of Rust.
    fn is_enclosed(&self) -> bool {
        let encloses = |open: &Open| open.hides || open.definition == Definition::Function;
        self.language == Language::Rust && self.open.iter().any(encloses)
    }

    /// Whether a definition stands in `export default`.
    fn is_default(&self, outer: Node<'_>) -> bool {
        let is_javascript = matches!(self.language, Language::JavaScript | Language::TypeScript);
        is_javascript
            && outer.kind() == "export_statement"
            && (0..outer.child_count())
                .filter_map(|at| outer.child(at))
                .any(|child| child.kind() == "default")
    }

    fn is_public(&self, node: Node<'_>, name: &str) -> bool {
        let has_child = |kind: &str, text: &str| {
            (0..node.child_count()).filter_map(|at| node.child(at)).any(|child| {
                child.kind() == kind
                    && (text.is_empty() || self.text(child).split_whitespace().any(|w| w == text))
            })
        };
        match self.language {
            Language::Rust => {
                has_visibility(node)
                    // What a trait declares is as public as the trait.
                    || self.open.last().is_some_and(|open| open.definition == Definition::Type)
                    || node.kind() == "macro_definition"
            }
            Language::Python => !name.starts_with('_') || (name.starts_with("__") && name.ends_with("__")),
            Language::Go => name.starts_with(char::is_uppercase),
            Language::Java => has_child("modifiers", "public") || in_interface(node),
            Language::TypeScript | Language::JavaScript => {
                let in_type = self.open.last().is_some_and(|open| open.definition == Definition::Type);
                !name.starts_with(['_', '#'])
                    && !has_child("accessibility_modifier", "private")
                    && (in_type || self.is_exported(node))
            }
            Language::C | Language::Cpp => !has_child("storage_class_specifier", "static"),
        }
    }
}

/// Returns the body of a definition, also where it is the value of a variable or property.
fn body_of(node: Node<'_>) -> Option<Node<'_>> {
    let of_value = |field| node.child_by_field_name(field)?.child_by_field_name("body");
    node.child_by_field_name("body").or_else(|| of_value("value")).or_else(|| of_value("right"))
}

/// Whether an item of Rust has a `pub` of any kind.
fn has_visibility(node: Node<'_>) -> bool {
    (0..node.child_count()).filter_map(|at| node.child(at)).any(|child| child.kind() == "visibility_modifier")
}

/// Whether a function of Rust stands in an `impl`.
fn in_impl(node: Node<'_>) -> bool {
    node.parent().and_then(|list| list.parent()).is_some_and(|item| item.kind() == "impl_item")
}

/// Whether a method of Java is declared by an interface.
fn in_interface(node: Node<'_>) -> bool {
    node.parent()
        .and_then(|body| body.parent())
        .is_some_and(|parent| parent.kind() == "interface_declaration")
}

/// Climbs from a definition to the statement that is all of it: what is exported, decorated or a template.
fn outermost(node: Node<'_>) -> Node<'_> {
    let mut at = node;
    while let Some(parent) = at.parent() {
        let wraps = matches!(
            parent.kind(),
            "decorated_definition"
                | "export_statement"
                | "template_declaration"
                | "lexical_declaration"
                | "variable_declaration"
                | "expression_statement"
                | "ambient_declaration"
                | "type_definition"
        ) || (parent.kind() == "type_declaration" && parent.named_child_count() == 1)
            || (parent.kind() == "declaration" && at.kind().ends_with("_specifier"));
        if !wraps {
            break;
        }
        at = parent;
    }
    at
}

#[cfg(test)]
mod tests {
    use super::*;

    /// One line per symbol: kind, path, signature, comment and calls.
    fn shape(language: Language, source: &str) -> Vec<String> {
        symbols(language, source)
            .iter()
            .map(|symbol| {
                let kind = format!("{:?}", symbol.kind).to_lowercase();
                let public = if symbol.is_public { "" } else { " private" };
                let mut line = format!("{kind}{public} {} [{}]", symbol.path(), symbol.signature);
                if !symbol.documentation.is_empty() {
                    line = format!("{line} {}", symbol.documentation.replace('\n', "/"));
                }
                if !symbol.calls.is_empty() {
                    line = format!("{line} -> {}", symbol.calls.join(","));
                }
                line
            })
            .collect()
    }

    #[test]
    fn rust() {
        let source = r"
mod a {
    /// A box.
    #[derive(Debug)]
    pub struct Case<T> { x: T }

    impl<T> Case<T> {
        /// Opens it.
        ///
        /// Once.
        pub fn open(&self) -> u8 { self.turn(); crate::b::pull(1) }
        fn shut(&self) {}
    }
}

trait Turn { fn turn(&self); }
// Adds.
macro_rules! add { () => {} }
";
        assert_eq!(
            shape(Language::Rust, source),
            [
                "type a.Case [pub struct Case<T>] A box.",
                "method a.Case.open [pub fn open(&self) -> u8] Opens it.//Once. -> turn,pull",
                "method private a.Case.shut [fn shut(&self)]",
                "type private Turn [trait Turn]",
                "method Turn.turn [fn turn(&self)]",
                "function add [macro_rules! add { () => {} }] Adds.",
            ]
        );
    }

    #[test]
    fn python() {
        let source = r#"
# Not about it.

class Mail(Base):
    """Sends mail."""

    @retry
    def send(self, to: str,
             text: str = '') -> bool:
        '''Sends one.

        Returns whether it went.
        '''
        return self.client.post(quote(to))

def _hidden(): pass
"#;
        assert_eq!(
            shape(Language::Python, source),
            [
                "type Mail [class Mail(Base)] Sends mail.",
                "method Mail.send [def send(self, to: str, text: str = '') -> bool] Sends one.//Returns whether it went. -> post,quote",
                "function private _hidden [def _hidden()]",
            ]
        );
    }

    #[test]
    fn typescript_and_javascript() {
        let source = "
/** Reads it. */
export const read = async (path: string): Promise<string> => load(path);
export class Store<T> extends Base {
  // Puts it.
  put(key: string): void { this.map.set(key); }
  #own() {}
}

// All of it.
export interface Options { all(): boolean }
";
        assert_eq!(
            shape(Language::TypeScript, source),
            [
                "function read [read = async (path: string): Promise<string>] Reads it. -> load",
                "type Store [class Store<T> extends Base]",
                "method Store.put [put(key: string): void] Puts it. -> set",
                "method private Store.#own [#own()]",
                "type Options [interface Options] All of it.",
                "method Options.all [all(): boolean]",
            ]
        );
        let source = "
/** Greets. */
exports.greet = function (name) { return say(name); };
module.exports = { wave: () => 1 };
";
        assert_eq!(
            shape(Language::JavaScript, source),
            ["function greet [exports.greet = function (name)] Greets. -> say", "function wave [wave: ()]"]
        );
    }

    #[test]
    fn what_is_exported_apart_from_its_definition_is_public() {
        let public = |language, source| {
            let found = symbols(language, source).into_iter().filter(|symbol| symbol.is_public);
            found.map(|symbol| (symbol.name, symbol.is_default)).collect::<Vec<_>>()
        };
        let named = |names: &[(&str, bool)]| {
            names.iter().map(|(name, default)| ((*name).to_owned(), *default)).collect::<Vec<_>>()
        };
        let source = "function read() {}\nfunction own() {}\nconst write = () => 1;\nexport { read, write, own as other };\nexport { x } from './x';";
        assert_eq!(public(Language::TypeScript, source), named(&[("read", false), ("write", false)]));
        let source = "export default read;\nfunction read() {}\nfunction own() {}";
        assert_eq!(public(Language::JavaScript, source), named(&[("read", true)]));
        assert_eq!(
            public(Language::JavaScript, "export default function read() {}"),
            named(&[("read", true)])
        );
        let source = "function read() {}\nfunction own() {}\nmodule.exports = { read };";
        assert_eq!(public(Language::JavaScript, source), named(&[("read", false)]));
        let source = "pub mod open { pub fn read() { pub fn inner() {} } fn own() {} }\nmod closed { pub fn read() {} }";
        assert_eq!(public(Language::Rust, source), named(&[("read", false)]));
    }

    #[test]
    fn go() {
        let source = "package a

// Tree is a tree.
type Tree[T any] struct {
	x int
}

// Walk visits all.
// Twice.
func (t *Tree[T]) Walk(f func(int)) error {
	return t.left.Walk(f)
}

func small() {}
";
        assert_eq!(
            shape(Language::Go, source),
            [
                "type Tree [Tree[T any] struct] Tree is a tree.",
                "method Tree.Walk [func (t *Tree[T]) Walk(f func(int)) error] Walk visits all./Twice. -> Walk",
                "function private small [func small()]",
            ]
        );
    }

    #[test]
    fn java() {
        let source = "
/** A clock. */
public class Clock {
  /**
   * Ticks.
   */
  @Override public int tick(int n) { return next(n); }
  Clock() {}
}
";
        assert_eq!(
            shape(Language::Java, source),
            [
                "type Clock [public class Clock] A clock.",
                "method Clock.tick [@Override public int tick(int n)] Ticks. -> next",
                "method private Clock.Clock [Clock()]",
            ]
        );
    }

    #[test]
    fn c_and_cpp() {
        let source = "
/* Makes room. */
static char *grow(struct buf *b, size_t n)
{
  return realloc(b->data, n);
}

int later(void);
int (*hook)(int);
struct buf { char *data; };
#define MAX(a, b) ((a) > (b))
";
        assert_eq!(
            shape(Language::C, source),
            [
                "function private grow [static char *grow(struct buf *b, size_t n)] Makes room. -> realloc",
                "function later [int later(void)]",
                "type buf [struct buf]",
                "function MAX [#define MAX(a, b) ((a) > (b))]",
            ]
        );
        let source = "
namespace n {
// A list.
template <class T>
class List {
 public:
  // Adds one.
  void add(T t) { grow(); }
  int size() const;
};
int List::size() const { return std::count(all); }
}
";
        assert_eq!(
            shape(Language::Cpp, source),
            [
                "type n.List [class List] A list.",
                "method n.List.add [void add(T t)] Adds one. -> grow",
                "method n.List.size [int size() const]",
                "method n.List.size [int List::size() const] -> count",
            ]
        );
    }

    #[test]
    fn broken_and_deep_files_end() {
        let names = |language, source: &str| -> Vec<String> {
            symbols(language, source).into_iter().map(|symbol| symbol.name).collect()
        };
        assert_eq!(names(Language::Python, "def a(:\n  pass\n\ndef b():\n  pass\n").last().unwrap(), "b");
        let nested = format!("def f():\n  return {}1{}\n", "[".repeat(5_000), "]".repeat(5_000));
        assert_eq!(names(Language::Python, &nested), ["f"]);
        let unclosed = format!("fn f() {{ {} }}", "(".repeat(50_000));
        assert!(names(Language::Rust, &unclosed).len() <= 1);
    }
}
