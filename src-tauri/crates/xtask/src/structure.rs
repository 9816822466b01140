//! Measures what keeps the crates of this repository easy to understand: lines per crate, cycles of files
//! that import each other, fields per struct.
//!
//! This is read from the source text as formatted by rustfmt; nothing is compiled. An import counts for the
//! file that declares the item, even if another file re-exports it. Tests within a file do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;

use crate::shell::{print_line, root};

/// Maximum lines of Rust in a product crate.
const LINES: usize = 9_000;
/// Maximum number of files in an import cycle.
const CIRCLE: usize = 3;
/// Maximum number of fields of a struct that has an `impl` block.
const FIELDS: usize = 12;
/// Crates whose structs are measured.
const COUNTED: [&str; 4] = ["autokit-app", "autokit-features", "autokit-serving", "autokit-workspace"];
/// Crates that are not part of the product.
const APART: [&str; 2] = ["xtask", "workspace-hack"];

#[derive(Args)]
pub(crate) struct Options {
    /// Fail if a limit is exceeded.
    #[arg(long)]
    check: bool,
    /// Show which file imports which in each cycle that is too long.
    #[arg(long)]
    imports: bool,
}

pub(crate) fn run(options: &Options) -> Result<()> {
    let Measured { crates, over } = measure(options.imports)?;
    for line in crates {
        print_line(&line);
    }
    for one in &over {
        print_line(&format!("✗ {one}"));
    }
    if options.check && !over.is_empty() {
        bail!("{} limits are passed", over.len());
    }
    Ok(())
}

/// Fails if a limit is exceeded, and lists which file imports which.
pub(crate) fn check() -> Result<()> {
    let over = measure(true)?.over;
    if over.is_empty() { Ok(()) } else { bail!("{}", over.join("\n")) }
}

struct Measured {
    /// One line per crate.
    crates: Vec<String>,
    /// The exceeded limits.
    over: Vec<String>,
}

fn measure(imports: bool) -> Result<Measured> {
    let crates = root().join("src-tauri/crates");
    let (mut lines, mut over) = (Vec::new(), Vec::new());
    for name in folders(&crates)? {
        if APART.contains(&name.as_str()) {
            continue;
        }
        let sources = Sources::read(&crates.join(&name).join("src"))?;
        let circles = sources.circles();
        let longest = circles.first().map_or(0, Vec::len);
        lines.push(format!("{name:22} {:6} lines, longest circle {longest} files", sources.lines));
        if sources.lines > LINES {
            over.push(format!("{name} has {} lines; {LINES} at most", sources.lines));
        }
        for circle in circles.iter().filter(|circle| circle.len() > CIRCLE) {
            let files: Vec<&str> = circle.iter().map(|(file, _)| file.as_str()).collect();
            let mut words = format!(
                "{} files of {name} import each other in a circle: {}",
                files.len(),
                files.join(", ")
            );
            if imports {
                for (file, imported) in circle {
                    write!(words, "\n    {file} imports {}", imported.join(", "))?;
                }
            }
            over.push(words);
        }
        if COUNTED.contains(&name.as_str()) {
            let wide = sources.wide_structs();
            over.extend(
                wide.into_iter()
                    .map(|(name, fields)| format!("{name} has {fields} fields; {FIELDS} at most")),
            );
        }
    }
    Ok(Measured { crates: lines, over })
}

fn folders(path: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for entry in fs::read_dir(path).with_context(|| path.display().to_string())? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    names.sort();
    Ok(names)
}

/// The path of a module, outermost name first.
type ModulePath = Vec<String>;

/// A source file, which is a module.
struct Source {
    /// Path below `src`, without extension.
    file: String,
    /// The code without comments, strings and tests.
    code: String,
    /// Imported or re-exported items: the local name, and the path as written.
    imports: Vec<(String, ModulePath)>,
}

/// An import cycle: each file with the files of the cycle that it imports.
type Circle = Vec<(String, Vec<String>)>;

/// The modules of a crate.
struct Sources {
    modules: BTreeMap<ModulePath, Source>,
    lines: usize,
}

impl Sources {
    fn read(src: &Path) -> Result<Sources> {
        let mut files = Vec::new();
        rust_files(src, &mut files)?;
        let (mut modules, mut lines) = (BTreeMap::new(), 0);
        for path in files {
            let text = fs::read_to_string(&path).with_context(|| path.display().to_string())?;
            lines += text.lines().count();
            let file = path.strip_prefix(src)?.with_extension("").to_string_lossy().replace('\\', "/");
            let mut module: ModulePath = file.split('/').map(str::to_owned).collect();
            module.pop_if(|last| matches!(last.as_str(), "mod" | "lib" | "main"));
            let code = with_modules_expanded(&code_of(&text));
            let imports = paths_in(&code).into_iter().filter(|(_, of_use)| *of_use);
            let imports = imports.filter_map(|(path, _)| Some((path.last()?.clone(), path))).collect();
            modules.insert(module, Source { file, code, imports });
        }
        Ok(Sources { modules, lines })
    }

    /// Resolves a path, as written in a module, to the file that declares the item.
    fn declared_in(&self, from: &ModulePath, path: &[String], depth: usize) -> Option<ModulePath> {
        let mut at = match path.first().map(String::as_str)? {
            "crate" => ModulePath::new(),
            "super" => from.split_last()?.1.to_vec(),
            _ => from.clone(),
        };
        let mut rest = match path.first().map(String::as_str)? {
            "crate" | "super" | "self" => &path[1..],
            _ => path,
        };
        while let Some((first, more)) = rest.split_first() {
            if first == "super" {
                at.pop()?;
            } else {
                let child = [at.as_slice(), std::slice::from_ref(first)].concat();
                if !self.modules.contains_key(&child) {
                    break;
                }
                at = child;
            }
            rest = more;
        }
        let reexported = rest.first().and_then(|name| {
            let mut imports = self.modules.get(&at)?.imports.iter();
            imports.find(|(known, path)| known == name && path.len() > 1).map(|(_, path)| path)
        });
        match reexported {
            Some(path) if depth > 0 => self.declared_in(&at, path, depth - 1).or(Some(at)),
            _ => self.modules.contains_key(&at).then_some(at),
        }
    }

    /// The files that each file imports, by index.
    fn imports(&self) -> Vec<BTreeSet<usize>> {
        let number: BTreeMap<&ModulePath, usize> =
            self.modules.keys().enumerate().map(|(at, name)| (name, at)).collect();
        self.modules
            .iter()
            .map(|(module, source)| {
                let paths = paths_in(&source.code).into_iter();
                let declared = paths.filter_map(|(path, _)| self.declared_in(module, &path, 8));
                declared.filter(|to| to != module).filter_map(|to| number.get(&to).copied()).collect()
            })
            .collect()
    }

    /// The import cycles, longest first.
    fn circles(&self) -> Vec<Circle> {
        let files: Vec<&str> = self.modules.values().map(|source| source.file.as_str()).collect();
        let imports = self.imports();
        let mut circles: Vec<Circle> = components(&imports)
            .into_iter()
            .filter(|component| component.len() > 1)
            .map(|component| {
                let within = |at: usize| {
                    let imported = imports[at].iter().filter(|to| component.contains(to));
                    (files[at].to_owned(), imported.map(|to| files[*to].to_owned()).collect())
                };
                component.iter().map(|at| within(*at)).collect()
            })
            .collect();
        circles.sort_by_key(|circle| std::cmp::Reverse(circle.len()));
        circles
    }

    /// Structs that have an `impl` block and more fields than allowed.
    fn wide_structs(&self) -> Vec<(String, usize)> {
        let mut wide = Vec::new();
        for source in self.modules.values() {
            for (at, _) in source.code.match_indices("struct ") {
                let Some((name, fields)) = fields_of(&source.code[at + "struct ".len()..]) else { continue };
                let has_impl =
                    |source: &Source| source.code.lines().any(|line| impl_target(line) == Some(name));
                if fields > FIELDS && self.modules.values().any(has_impl) {
                    wide.push((name.to_owned(), fields));
                }
            }
        }
        wide
    }
}

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in fs::read_dir(folder).with_context(|| folder.display().to_string())? {
        let entry = entry?;
        let path = entry.path();
        if entry.file_type()?.is_dir() {
            rust_files(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
    Ok(())
}

/// The type in the first line of an `impl` block.
fn impl_target(line: &str) -> Option<&str> {
    let header = line.strip_prefix("impl")?;
    let header = header.split_once(" for ").map_or(header, |(_, of)| of);
    // Removes the generic parameters of an inherent `impl`.
    let header = header.strip_prefix('<').and_then(|rest| rest.split_once("> ")).map_or(header, |(_, of)| of);
    header.trim_start().split(['<', ' ']).next()
}

/// The name of a struct and its number of fields; `None` if it has no named fields.
fn fields_of(code: &str) -> Option<(&str, usize)> {
    let open = code.find(['{', '(', ';'])?;
    let name = code[..open].split(['<', ' ']).next()?;
    if !code[open..].starts_with('{') {
        return None;
    }
    let (mut depth, mut fields) = (0_u32, 0);
    for line in code[open..].lines() {
        let within = depth == 1 && !line.trim_start().starts_with('#') && line.contains(": ");
        fields += usize::from(within);
        for letter in line.chars() {
            match letter {
                '{' | '(' | '[' => depth += 1,
                '}' | ')' | ']' => depth -= 1,
                _ => {}
            }
        }
        if depth == 0 {
            break;
        }
    }
    Some((name, fields))
}

/// Removes comments, the content of strings, and the tests at the end from Rust code.
fn code_of(text: &str) -> String {
    let text = text.split("\nmod tests {").next().unwrap_or_default();
    let mut code = String::with_capacity(text.len());
    let mut letters = text.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '/' if letters.peek() == Some(&'/') => {
                for letter in letters.by_ref() {
                    if letter == '\n' {
                        code.push('\n');
                        break;
                    }
                }
            }
            '"' => {
                code.push_str("\"\"");
                while let Some(letter) = letters.next() {
                    match letter {
                        '\\' => {
                            letters.next();
                        }
                        '"' => break,
                        _ => {}
                    }
                }
            }
            // A quoted quotation mark does not start a string.
            '\'' if letters.peek() == Some(&'"') => {
                letters.next();
            }
            letter => code.push(letter),
        }
    }
    code
}

/// Rewrites code so that `super` means the parent of the file's module, also within inline modules.
fn with_modules_expanded(code: &str) -> String {
    let Some(at) = code.find("mod ").and_then(|from| Some(from + code[from..].find(['{', ';'])?)) else {
        return code.to_owned();
    };
    let (before, rest) = code.split_at(at);
    if let Some(after) = rest.strip_prefix(';') {
        return format!("{before};{}", with_modules_expanded(after));
    }
    let mut depth = 0_u32;
    let end = rest.char_indices().find(|(_, letter)| {
        depth += u32::from(*letter == '{');
        depth -= u32::from(*letter == '}');
        depth == 0
    });
    let (within, after) = rest.split_at(end.map_or(rest.len(), |(at, _)| at));
    let within = with_modules_expanded(&within[1..]).replace("super::super::", "self::super::");
    let within = within.replace("use super::", "use self::").replace("(super::", "(self::");
    format!("{before}{{{within}{}", with_modules_expanded(after))
}

/// The paths within this crate that occur in code, and whether each is in a `use`.
fn paths_in(code: &str) -> Vec<(ModulePath, bool)> {
    let mut paths = Vec::new();
    for start in ["crate::", "super::", "self::"] {
        for (at, _) in code.match_indices(start) {
            let before = &code[..at];
            if before.ends_with(|letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':') {
                continue;
            }
            let of_use = before.trim_end_matches(' ').ends_with("use");
            expand(&code[at..], &mut Vec::new(), &mut |path| paths.push((path.to_vec(), of_use)));
        }
    }
    // A module re-exports its own children without `self::`.
    for line in code.split(';') {
        if let Some((_, tree)) = line.split_once("use ")
            && !["crate", "super", "self"].iter().any(|start| tree.starts_with(start))
        {
            expand(tree, &mut Vec::new(), &mut |path| paths.push((path.to_vec(), true)));
        }
    }
    paths
}

/// Passes every path of a `use` tree such as `a::{b, c::d}` to `each` and returns the length of the tree in
/// bytes.
fn expand(tree: &str, prefix: &mut ModulePath, each: &mut impl FnMut(&[String])) -> usize {
    let mut at = 0;
    let depth = prefix.len();
    loop {
        let word: String =
            tree[at..].chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect();
        at += word.len();
        if word.is_empty() {
            if tree[at..].starts_with('{') {
                at += 1;
                while let Some(next) =
                    tree[at..].find(|letter: char| !letter.is_whitespace() && letter != ',')
                {
                    at += next;
                    if tree[at..].starts_with('}') {
                        at += 1;
                        break;
                    }
                    let read = expand(&tree[at..], prefix, each);
                    if read == 0 {
                        break;
                    }
                    at += read;
                }
            } else if tree[at..].starts_with('*') {
                at += 1;
                each(prefix);
            }
            break;
        }
        prefix.push(word);
        if tree[at..].starts_with("::") {
            at += 2;
        } else {
            each(prefix);
            break;
        }
    }
    prefix.truncate(depth);
    at
}

/// Strongly connected components (Tarjan's algorithm).
fn components(reaches: &[BTreeSet<usize>]) -> Vec<Vec<usize>> {
    struct Walk<'a> {
        reaches: &'a [BTreeSet<usize>],
        seen: Vec<Option<usize>>,
        low: Vec<usize>,
        stack: Vec<usize>,
        found: Vec<Vec<usize>>,
        next: usize,
    }
    impl Walk<'_> {
        fn visit(&mut self, at: usize) {
            self.seen[at] = Some(self.next);
            self.low[at] = self.next;
            self.next += 1;
            self.stack.push(at);
            let reaches = self.reaches;
            for &to in &reaches[at] {
                match self.seen[to] {
                    None => {
                        self.visit(to);
                        self.low[at] = self.low[at].min(self.low[to]);
                    }
                    Some(seen) if self.stack.contains(&to) => self.low[at] = self.low[at].min(seen),
                    Some(_) => {}
                }
            }
            if Some(self.low[at]) == self.seen[at]
                && let Some(from) = self.stack.iter().position(|on| *on == at)
            {
                self.found.push(self.stack.split_off(from));
            }
        }
    }
    let mut walk = Walk {
        reaches,
        seen: vec![None; reaches.len()],
        low: vec![0; reaches.len()],
        stack: Vec::new(),
        found: Vec::new(),
        next: 0,
    };
    for at in 0..reaches.len() {
        if walk.seen[at].is_none() {
            walk.visit(at);
        }
    }
    walk.found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn source(file: &str, text: &str) -> (ModulePath, Source) {
        let code = with_modules_expanded(&code_of(text));
        let imports = paths_in(&code).into_iter().filter(|(_, of_use)| *of_use);
        let imports = imports.filter_map(|(path, _)| Some((path.last()?.clone(), path))).collect();
        let module = if file == "lib" { Vec::new() } else { file.split('/').map(str::to_owned).collect() };
        (module, Source { file: file.to_owned(), code, imports })
    }

    #[test]
    fn circles_include_reexports() {
        let modules = BTreeMap::from([
            source("lib", "mod a;\nmod b;\nmod c;\npub use a::A;\npub use b::{B, more};\n"),
            source("a", "use crate::B;\npub struct A;\n"),
            source("b", "use super::c::C;\n// use crate::A;\npub struct B;\n"),
            source("c", "pub struct C(Box<crate::a::A>);\n#[cfg(test)]\nmod tests {\n    use crate::B;\n}\n"),
        ]);
        let circles = Sources { modules, lines: 0 }.circles();
        let imports = |file: &str, imported: &str| (file.to_owned(), vec![imported.to_owned()]);
        assert_eq!(circles, [[imports("a", "b"), imports("b", "c"), imports("c", "a")]]);
    }

    #[test]
    fn a_module_within_a_file_means_the_file_by_super() {
        let file = "mod x86 {\n    use super::{Simd, fast::Fast};\n}\nmod other;\nuse super::above::Above;\n";
        let opened = with_modules_expanded(file);
        assert!(
            opened.contains("use self::{Simd, fast::Fast}") && opened.contains("use super::above::Above")
        );
    }

    #[test]
    fn fields_are_counted_where_there_is_behaviour() {
        let fields = "    pub field: Vec<(u8, u8)>,\n".repeat(13);
        let wide = format!("pub struct Wide<T> {{\n{fields}}}\nimpl<T> Wide<T> {{}}\n");
        let data = format!("struct Data {{\n{fields}}}\nstruct Unit;\nimpl Unit {{}}\n");
        let modules = BTreeMap::from([source("lib", &data)]);
        assert!(Sources { modules, lines: 0 }.wide_structs().is_empty());
        let modules = BTreeMap::from([source("lib", &wide)]);
        assert_eq!(Sources { modules, lines: 0 }.wide_structs(), [("Wide".to_owned(), 13)]);
    }
}
