//! Languages, and the nodes of their syntax trees that matter here.

use std::path::Path;

use serde::{Deserialize, Serialize};
use tree_sitter::{Language as Grammar, Node};

/// A programming language.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// Rust.
    Rust,
    /// Python.
    Python,
    /// TypeScript.
    TypeScript,
    /// JavaScript, with or without JSX, and TypeScript with JSX.
    JavaScript,
    /// Go.
    Go,
    /// Java.
    Java,
    /// C.
    C,
    /// C++.
    Cpp,
}

/// What a node of a syntax tree defines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Definition {
    Function,
    /// A class, struct, enum, trait or interface.
    Type,
    /// Something that only gives its name to what is inside: a namespace, an `impl`.
    Scope,
}

impl Language {
    /// Returns the language of a file; `start` are its first bytes, which tell headers of C from those of C++.
    pub fn of(path: &Path, start: &str) -> Option<Language> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        Some(match ending.as_str() {
            "rs" => Language::Rust,
            "py" | "pyi" | "pyw" => Language::Python,
            "ts" | "mts" | "cts" => Language::TypeScript,
            "js" | "mjs" | "cjs" | "jsx" | "tsx" => Language::JavaScript,
            "go" => Language::Go,
            "java" => Language::Java,
            "c" => Language::C,
            "cc" | "cpp" | "cxx" | "c++" | "hh" | "hpp" | "hxx" | "h++" | "inl" | "ipp" | "tpp" => {
                Language::Cpp
            }
            "h" => {
                let is_cpp = |line: &str| {
                    let line = line.trim_start();
                    ["class ", "namespace ", "template", "using ", "public:", "private:"]
                        .iter()
                        .any(|word| line.starts_with(word))
                        || line.contains("std::")
                };
                if start.lines().any(is_cpp) { Language::Cpp } else { Language::C }
            }
            _ => return None,
        })
    }

    /// Its name as people write it.
    pub fn name(self) -> &'static str {
        match self {
            Language::Rust => "Rust",
            Language::Python => "Python",
            Language::TypeScript => "TypeScript",
            Language::JavaScript => "JavaScript",
            Language::Go => "Go",
            Language::Java => "Java",
            Language::C => "C",
            Language::Cpp => "C++",
        }
    }

    pub(crate) fn grammar(self) -> Grammar {
        match self {
            Language::Rust => tree_sitter_rust::LANGUAGE.into(),
            Language::Python => tree_sitter_python::LANGUAGE.into(),
            Language::TypeScript => tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
            Language::JavaScript => tree_sitter_typescript::LANGUAGE_TSX.into(),
            Language::Go => tree_sitter_go::LANGUAGE.into(),
            Language::Java => tree_sitter_java::LANGUAGE.into(),
            Language::C => tree_sitter_c::LANGUAGE.into(),
            Language::Cpp => tree_sitter_cpp::LANGUAGE.into(),
        }
    }

    /// What a node defines, if anything.
    pub(crate) fn definition(self, node: Node<'_>) -> Option<Definition> {
        use Definition::{Function, Scope, Type};
        match (self, node.kind()) {
            (Language::Rust, "function_item" | "function_signature_item" | "macro_definition")
            | (Language::Python, "function_definition")
            | (
                Language::TypeScript | Language::JavaScript,
                "function_declaration"
                | "generator_function_declaration"
                | "method_definition"
                | "function_signature"
                | "method_signature"
                | "abstract_method_signature",
            )
            | (Language::Go, "function_declaration" | "method_declaration")
            | (
                Language::Java,
                "method_declaration" | "constructor_declaration" | "compact_constructor_declaration",
            )
            | (Language::C | Language::Cpp, "function_definition" | "preproc_function_def") => Some(Function),
            (
                Language::TypeScript | Language::JavaScript,
                "variable_declarator" | "assignment_expression" | "pair" | "public_field_definition",
            ) => {
                let value =
                    node.child_by_field_name("value").or_else(|| node.child_by_field_name("right"))?;
                matches!(value.kind(), "arrow_function" | "function_expression" | "generator_function")
                    .then_some(Function)
            }
            // A declaration says what a function is for where its definition does not.
            (Language::C | Language::Cpp, "declaration" | "field_declaration") => {
                function_declarator(node).map(|_| Function)
            }
            (Language::Rust, "struct_item" | "enum_item" | "union_item" | "trait_item")
            | (Language::Python, "class_definition")
            | (
                Language::TypeScript | Language::JavaScript,
                "class_declaration"
                | "abstract_class_declaration"
                | "interface_declaration"
                | "enum_declaration",
            )
            | (Language::Go, "type_spec")
            | (
                Language::Java,
                "class_declaration"
                | "interface_declaration"
                | "enum_declaration"
                | "record_declaration"
                | "annotation_type_declaration",
            ) => Some(Type),
            // Without a body it only names a type that is defined elsewhere.
            (
                Language::C | Language::Cpp,
                "struct_specifier" | "union_specifier" | "enum_specifier" | "class_specifier",
            ) => (node.child_by_field_name("body").is_some() && node.child_by_field_name("name").is_some())
                .then_some(Type),
            (Language::Rust, "impl_item" | "mod_item")
            | (Language::TypeScript | Language::JavaScript, "internal_module" | "module")
            | (Language::Cpp, "namespace_definition") => Some(Scope),
            _ => None,
        }
    }

    /// Returns the node that holds a definition's name.
    pub(crate) fn name_of(self, node: Node<'_>) -> Option<Node<'_>> {
        match (self, node.kind()) {
            (Language::Rust, "impl_item") => node.child_by_field_name("type"),
            (Language::TypeScript | Language::JavaScript, "assignment_expression") => {
                let left = node.child_by_field_name("left")?;
                left.child_by_field_name("property").or(Some(left))
            }
            (Language::TypeScript | Language::JavaScript, "pair") => node.child_by_field_name("key"),
            (Language::C | Language::Cpp, "function_definition" | "declaration" | "field_declaration") => {
                function_declarator(node)?.child_by_field_name("declarator")
            }
            _ => node.child_by_field_name("name"),
        }
    }

    /// Returns the name of what a node calls.
    pub(crate) fn callee(self, node: Node<'_>) -> Option<Node<'_>> {
        let named = match (self, node.kind()) {
            (Language::Python, "call")
            | (
                Language::Rust
                | Language::TypeScript
                | Language::JavaScript
                | Language::Go
                | Language::C
                | Language::Cpp,
                "call_expression",
            ) => node.child_by_field_name("function")?,
            (Language::Rust, "macro_invocation") => node.child_by_field_name("macro")?,
            (Language::TypeScript | Language::JavaScript, "new_expression") => {
                node.child_by_field_name("constructor")?
            }
            (Language::Java, "method_invocation") => node.child_by_field_name("name")?,
            (Language::Java, "object_creation_expression") | (Language::Cpp, "new_expression") => {
                node.child_by_field_name("type")?
            }
            _ => return None,
        };
        Some(last_part(named))
    }
}

/// Whether a node is a comment.
pub(crate) fn is_comment(node: Node<'_>) -> bool {
    matches!(node.kind(), "comment" | "line_comment" | "block_comment")
}

/// Whether a node may stand between a comment and what it is about.
pub(crate) fn is_between(node: Node<'_>) -> bool {
    matches!(node.kind(), "attribute_item" | "decorator" | "annotation" | "marker_annotation")
}

/// Returns the last part of a path: `c` of `a.b.c`, `a::b::c` and `a->c`.
fn last_part(mut node: Node<'_>) -> Node<'_> {
    // Each step goes one node down, and names are not deep; the bound is for trees made to be.
    for _ in 0..64 {
        let part = ["property", "attribute", "field", "name", "function"]
            .iter()
            .find_map(|field| node.child_by_field_name(field));
        match part {
            Some(part) => node = part,
            None => break,
        }
    }
    node
}

/// Returns the declarator of a function in a declaration of C, below pointers, references and parentheses.
fn function_declarator(node: Node<'_>) -> Option<Node<'_>> {
    let mut at = node.child_by_field_name("declarator")?;
    for _ in 0..64 {
        match at.kind() {
            "function_declarator" => {
                let named = at.child_by_field_name("declarator")?;
                // A variable that holds a pointer to a function is none.
                return (named.kind() != "parenthesized_declarator").then_some(at);
            }
            "pointer_declarator" | "reference_declarator" | "attributed_declarator" => {
                at = at.child_by_field_name("declarator").or_else(|| at.named_child(0))?;
            }
            _ => return None,
        }
    }
    None
}
