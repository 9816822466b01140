//! Code identifiers on a card: a module, a class, the arguments of its constructor.
//!
//! They are copied into import lines and starter code, so each has to be a valid identifier of its language
//! and contain nothing else.

use serde_json::{Map, Value};

use crate::card::fields;
use crate::prompt_injection::{InjectionKind, InjectionMatch, MarkedText};

/// A language whose identifiers are checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Language {
    Python,
    /// JavaScript or TypeScript.
    Script,
    /// Any other language; no code is generated for it.
    Other,
}

impl Language {
    pub(crate) fn of(card: &Map<String, Value>) -> Language {
        let language = card.get(fields::LANGUAGE).and_then(Value::as_str).map(str::to_lowercase);
        match language.as_deref() {
            None | Some("" | "python" | "py") => Language::Python,
            Some("javascript" | "typescript" | "js" | "ts") => Language::Script,
            Some(_) => Language::Other,
        }
    }

    /// Whether a text is a module path: `langchain_community.tools`, `@scope/package/part`.
    pub(crate) fn is_module(self, text: &str) -> bool {
        match self {
            Language::Python => text.split('.').all(is_python_name),
            Language::Script => is_package(text),
            Language::Other => is_path(text),
        }
    }

    /// Whether a text is a class name.
    pub(crate) fn is_class(self, text: &str) -> bool {
        match self {
            Language::Python => is_python_name(text),
            Language::Script => is_script_name(text),
            Language::Other => is_path(text),
        }
    }

    /// Whether a text is one class name or several.
    fn are_classes(self, text: &str) -> bool {
        text.split([',', '/', '|']).all(|class| self.is_class(class.trim_matches(' ')))
    }

    /// Whether a text is an argument name.
    pub(crate) fn is_argument(self, text: &str) -> bool {
        match self {
            Language::Python => is_python_name(text),
            Language::Script => is_script_name(text),
            Language::Other => is_path(text),
        }
    }
}

/// Reserved words of Python (3.14; soft keywords are allowed).
const PYTHON_WORDS: [&str; 35] = [
    "False", "None", "True", "and", "as", "assert", "async", "await", "break", "class", "continue", "def",
    "del", "elif", "else", "except", "finally", "for", "from", "global", "if", "import", "in", "is",
    "lambda", "nonlocal", "not", "or", "pass", "raise", "return", "try", "while", "with", "yield",
];

/// Reserved words of JavaScript (ECMAScript 2025, section 12.7.2).
const SCRIPT_WORDS: [&str; 46] = [
    "await",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

fn is_word(text: &str, start: impl Fn(char) -> bool) -> bool {
    let mut letters = text.chars();
    letters.next().is_some_and(|first| first.is_alphabetic() || start(first))
        && letters.all(|c| c.is_alphanumeric() || start(c))
}

fn is_python_name(text: &str) -> bool {
    is_word(text, |c| c == '_') && !PYTHON_WORDS.contains(&text)
}

fn is_script_name(text: &str) -> bool {
    is_word(text, |c| matches!(c, '_' | '$')) && !SCRIPT_WORDS.contains(&text)
}

/// Whether a text is a package name with optional scope and path, as in npm and Node.
fn is_package(text: &str) -> bool {
    let text = text.strip_prefix("node:").unwrap_or(text);
    let text = text.strip_prefix('@').unwrap_or(text);
    text.split('/').all(|part| {
        !part.is_empty()
            && part.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.' | '~'))
    })
}

/// Whether a text is a name or path as in most languages: `tokio::net`, `github.com/x/y`, `List<String>`.
fn is_path(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|c| {
            c.is_alphanumeric()
                || matches!(c, '_' | '.' | ':' | '/' | '-' | '@' | '$' | '~' | '\\' | '<' | '>')
        })
}

/// Returns marks for texts in a field that should be identifiers but are not.
pub(crate) fn marks(card: &Map<String, Value>, field: &str) -> Vec<MarkedText> {
    let language = Language::of(card);
    let Some(value) = card.get(field) else { return Vec::new() };
    let text = |fits: fn(Language, &str) -> bool, what: &str| {
        let text = value.as_str().unwrap_or_default();
        // An empty text counts as missing.
        if text.is_empty() || fits(language, text) {
            Vec::new()
        } else {
            vec![mark(String::new(), false, text, what)]
        }
    };
    match field {
        fields::MODULE => text(Language::is_module, "a module"),
        fields::CLASS => text(Language::are_classes, "a class"),
        fields::INIT_ARGS => {
            let names = value.as_object().into_iter().flat_map(Map::keys);
            let wrong = names.filter(|name| !language.is_argument(name));
            wrong
                .map(|name| {
                    let pointer = format!("/{}", name.replace('~', "~0").replace('/', "~1"));
                    mark(pointer, true, name, "an argument")
                })
                .collect()
        }
        _ => Vec::new(),
    }
}

fn mark(pointer: String, in_name: bool, text: &str, what: &str) -> MarkedText {
    let end = text.encode_utf16().count() as u32;
    let why = format!("Not a valid name of {what}; as code, it could do anything.");
    MarkedText {
        pointer,
        in_name,
        marks: vec![InjectionMatch { start: 0, end, sort: InjectionKind::Code, why }],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_names_and_code_is_none() {
        for module in ["langchain_community.tools", "os", "_a.b1", "größe.maß"] {
            assert!(Language::Python.is_module(module), "{module}");
        }
        for module in
            ["", ".", "a.", "a b", "a;import os", "a\nimport os", "os #", "a-b", "1a", "import", "a..b"]
        {
            assert!(!Language::Python.is_module(module), "{module}");
        }
        for class in ["Weather", "_W1"] {
            assert!(Language::Python.is_class(class), "{class}");
        }
        for class in
            ["Weather()\n__import__(\"os\").system(\"id\")#", "A.B", "A, B", "class", "A\u{200b}B", "A "]
        {
            assert!(!Language::Python.is_class(class), "{class}");
        }
        for package in ["@langchain/core", "langchain/tools/x.js", "node:fs", "lodash"] {
            assert!(Language::Script.is_module(package), "{package}");
        }
        for package in ["", "@", "a b", "a\"; alert(1)", "a//b", "a'"] {
            assert!(!Language::Script.is_module(package), "{package}");
        }
        assert!(Language::Python.are_classes("A, B") && !Language::Python.are_classes("A, B()"));
        assert!(Language::Script.is_class("$Tool") && !Language::Script.is_class("new"));
        assert!(Language::Other.is_module("tokio::net") && Language::Other.is_module("github.com/x/y"));
        assert!(!Language::Other.is_class("X\"; rm -rf"));
    }
}
