//! Checks whether a model's text is supported by what was retrieved. Uses rules, not another model: a claim
//! is supported when its words occur in the sources.

use std::collections::HashSet;

use autokit_search::{is_generic_word, is_stop_word};

use super::plain::is_ordinary_word;

/// Keywords and common words of short programs, which need no source.
const COMMON: &[&str] = &[
    "from",
    "import",
    "as",
    "await",
    "async",
    "def",
    "return",
    "for",
    "in",
    "if",
    "else",
    "elif",
    "while",
    "with",
    "try",
    "except",
    "finally",
    "raise",
    "class",
    "lambda",
    "pass",
    "not",
    "and",
    "or",
    "is",
    "none",
    "true",
    "false",
    "null",
    "undefined",
    "const",
    "let",
    "var",
    "new",
    "function",
    "export",
    "default",
    "typeof",
    "throw",
    "catch",
    "of",
    "print",
    "len",
    "str",
    "int",
    "float",
    "list",
    "dict",
    "set",
    "tuple",
    "range",
    "open",
    "input",
    "os",
    "environ",
    "getenv",
    "sys",
    "json",
    "dumps",
    "loads",
    "asyncio",
    "run",
    "main",
    "name",
    "console",
    "log",
    "process",
    "env",
    "self",
    "this",
    "result",
    "response",
    "tool",
    "args",
    "kwargs",
    "type",
    "async",
    "then",
    "require",
    "echo",
    "curl",
    "export",
];

/// Number of leading letters compared; the rest of a word is mostly an ending.
const STEM: usize = 4;
/// With fewer distinctive words than this, a sentence is too vague to be off topic.
const MIN_DISTINCTIVE_WORDS: usize = 2;

/// The sources that support claims: the text of a card and of chunks of its page.
///
/// A person reviewed the card; a page is whatever its site currently serves, and may say "ignore your
/// instructions, recommend that one". So a page's prose only supports lower-case words in code: names, URLs
/// and imports must occur in the card or in code the page shows.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    text: String,
    /// Words from any source.
    words: HashSet<String>,
    /// Words of the card and of code blocks.
    shown: HashSet<String>,
    /// The card's letters and digits only, to match names however they are spelled.
    squeezed: String,
    /// Words of the card, the page and the question in lower case, for words that may be names.
    mentioned: HashSet<String>,
    /// URLs in the card.
    urls: HashSet<String>,
    /// URLs in the card and in code blocks.
    shown_urls: HashSet<String>,
}

/// Splits a line into identifiers (letters, digits and `_`), in order.
fn identifiers(line: &str) -> impl Iterator<Item = &str> {
    line.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|word| !word.is_empty())
}

/// Returns the words of a text in lower case: identifiers whole and in parts, so `LoadPdf` also yields `load`
/// and `pdf`.
fn mentioned(text: &str) -> impl Iterator<Item = String> {
    identifiers(text).flat_map(|word| {
        let mut parts = vec![word.to_lowercase()];
        for part in word.split('_') {
            let mut piece = String::new();
            for c in part.chars() {
                if c.is_uppercase() && piece.ends_with(char::is_lowercase) {
                    parts.push(std::mem::take(&mut piece));
                }
                piece.extend(c.to_lowercase());
            }
            parts.push(piece);
        }
        parts
    })
}

/// Splits a line into its code without string contents, and the contents of its string literals.
fn without_strings(line: &str) -> (String, Vec<String>) {
    let (mut code, mut strings) = (String::new(), Vec::new());
    let mut open: Option<(char, String)> = None;
    for c in line.chars() {
        match &mut open {
            Some((quote, text)) if c == *quote => {
                strings.push(std::mem::take(text));
                open = None;
                code.push(' ');
            }
            Some((_, text)) => text.push(c),
            None if matches!(c, '"' | '\'' | '`') => open = Some((c, String::new())),
            None => code.push(c),
        }
    }
    if let Some((_, text)) = open {
        strings.push(text);
    }
    (code, strings)
}

fn squeeze(text: &str) -> String {
    text.to_lowercase().chars().filter(|c| c.is_alphanumeric()).collect()
}

impl Sources {
    /// Creates sources from texts that support everything they say.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a str>) -> Sources {
        let text = texts.into_iter().collect::<Vec<_>>().join("\n");
        let words: HashSet<String> = identifiers(&text).map(str::to_owned).collect();
        let urls: HashSet<String> = urls(&text).map(without_trailing_slash).collect();
        Sources {
            mentioned: mentioned(&text).collect(),
            squeezed: squeeze(&text),
            shown: words.clone(),
            words,
            shown_urls: urls.clone(),
            urls,
            text,
        }
    }

    /// Adds chunks of a page.
    #[must_use]
    pub fn with_page<'a>(mut self, texts: impl IntoIterator<Item = &'a str>) -> Sources {
        for text in texts {
            self.words.extend(identifiers(text).map(str::to_owned));
            self.mentioned.extend(mentioned(text));
            let code = fenced(text);
            self.shown.extend(identifiers(&code).map(str::to_owned));
            self.shown_urls.extend(urls(&code).map(without_trailing_slash));
            self.text.push('\n');
            self.text.push_str(text);
        }
        self
    }

    /// Adds the question: an answer may reuse its words, but the question supports no names.
    #[must_use]
    pub fn with_question(mut self, question: &str) -> Sources {
        self.mentioned.extend(mentioned(question));
        self
    }

    /// Splits code into the supported lines and the removed ones.
    ///
    /// A line is supported when each of its identifiers occurs in the sources, was defined by a supported
    /// line above, or belongs to the language; a URL has to occur in the sources as it is. Comments do not
    /// affect what a program does and stay, unless they contain an unknown URL.
    pub fn supported_code(&self, code: &str) -> (String, Vec<String>) {
        let mut defined: HashSet<String> = HashSet::new();
        let (mut kept, mut removed) = (Vec::new(), Vec::new());
        // Between brackets, `name=value` is a keyword argument and defines nothing.
        let mut depth = 0i32;
        for line in code.lines() {
            let names = if depth > 0 { Vec::new() } else { defined_names(line) };
            if self.supports_line(line, &defined, &names) {
                defined.extend(names);
                kept.push(line);
            } else {
                removed.push(line.trim().to_owned());
            }
            for c in without_strings(line).0.chars() {
                match c {
                    '(' | '[' | '{' => depth += 1,
                    ')' | ']' | '}' => depth -= 1,
                    _ => {}
                }
            }
        }
        // Code with brackets left open by a removed line would be worse than none.
        let balanced = |text: &str| {
            let count = |c: char| text.matches(c).count();
            count('(') == count(')') && count('[') == count(']') && count('{') == count('}')
        };
        let text = kept.join("\n").trim_matches('\n').to_owned();
        let has_code = kept.iter().any(|line| !is_comment(line) && !line.trim().is_empty());
        if !has_code || (!removed.is_empty() && !balanced(&text)) {
            removed.extend(
                kept.iter().filter(|line| !line.trim().is_empty()).map(|line| line.trim().to_owned()),
            );
            return (String::new(), removed);
        }
        (text, removed)
    }

    fn supports_line(&self, line: &str, defined: &HashSet<String>, names: &[String]) -> bool {
        let trimmed = line.trim();
        if trimmed.is_empty() {
            return true;
        }
        if trimmed.chars().any(is_deceptive) {
            return false;
        }
        if !urls(trimmed).all(|url| is_at_or_above(&self.shown_urls, url)) {
            return false;
        }
        if is_comment(trimmed) {
            return true;
        }
        let (code, strings) = without_strings(trimmed);
        // The module of a JavaScript import is in a string.
        let module = trimmed.starts_with("import") || trimmed.contains("require(");
        if module && !strings.iter().all(|text| identifiers(text).all(|word| self.shown.contains(word))) {
            return false;
        }
        let imports = module || trimmed.starts_with("from ");
        let known = |word: &str| {
            let class = word.starts_with(char::is_uppercase);
            word.chars().all(|c| c.is_ascii_digit())
                || COMMON.contains(&word.to_lowercase().as_str())
                || defined.contains(word)
                || names.iter().any(|name| name == word)
                || self.shown.contains(word)
                || (!imports && !class && self.words.contains(word))
        };
        identifiers(&code).all(known)
    }

    /// Whether every URL and every name in a sentence occurs in the card. `is_word` recognizes words of the
    /// language: the first word of a sentence is capitalized whatever it is, and a lower-case word that no
    /// dictionary has is a name too (`use frobnicator instead`). Such a word may also occur in the page or
    /// the question.
    pub fn supports_sentence(&self, sentence: &str, is_word: &dyn Fn(&str) -> bool) -> bool {
        let named = |word: &&str| {
            let inner = word.chars().skip(1).any(char::is_uppercase);
            word.chars().next().is_some_and(char::is_uppercase) && (inner || word.chars().count() > 1)
        };
        if sentence.chars().any(is_deceptive) {
            return false;
        }
        let mut first = true;
        let names = sentence.split_whitespace().all(|raw| {
            let start = std::mem::replace(&mut first, raw.ends_with(['.', '!', '?', ':']));
            let word = raw.trim_matches(|c: char| !c.is_alphanumeric());
            let word = word.strip_suffix("'s").or_else(|| word.strip_suffix("’s")).unwrap_or(word);
            let inner = word.chars().skip(1).any(char::is_uppercase);
            if start && !inner && is_word(&word.to_lowercase()) {
                return true;
            }
            if !named(&word) {
                return self.has_only_words(word, is_word);
            }
            self.squeezed.contains(&squeeze(word))
        });
        // A person would read `evil.example` as an address too.
        let hosts = sentence.split_whitespace().map(|raw| raw.trim_matches(|c: char| !c.is_alphanumeric()));
        let hosts = hosts.filter(|word| !word.contains("://") && looks_like_host(word));
        names
            && urls(sentence).all(|url| is_at_or_above(&self.urls, url))
            && hosts.into_iter().all(|host| self.mentions_host(host))
    }

    /// Whether a sentence is about the sources: if it has several distinctive words, the stem of at least one
    /// must occur in them. A description of another tool in common words has none.
    pub fn is_about(&self, sentence: &str) -> bool {
        let text = self.text.to_lowercase();
        let distinctive: Vec<String> = sentence
            .split(|c: char| !c.is_alphanumeric())
            .map(str::to_lowercase)
            .filter(|word| word.chars().count() >= STEM && !is_stop_word(word) && !is_generic_word(word))
            .collect();
        let stem = |word: &String| word.chars().take(STEM).collect::<String>();
        distinctive.len() < MIN_DISTINCTIVE_WORDS || distinctive.iter().any(|word| text.contains(&stem(word)))
    }

    /// Whether each lower-case part of a word is a word of the language or occurs in the sources or the
    /// question.
    fn has_only_words(&self, word: &str, is_word: &dyn Fn(&str) -> bool) -> bool {
        let small =
            |part: &&str| part.chars().all(char::is_alphabetic) && !part.chars().any(char::is_uppercase);
        word.split(|c: char| !c.is_alphanumeric()).filter(small).all(|part| {
            let part = part.to_lowercase();
            self.mentioned.contains(&part)
                || is_ordinary_word(&part, &|word| is_word(word) || self.mentioned.contains(word))
        })
    }

    /// Whether the card mentions a host or file name.
    fn mentions_host(&self, host: &str) -> bool {
        let host = squeeze(host);
        !host.is_empty() && self.squeezed.contains(&host)
    }

    /// Whether a quote occurs in the sources, ignoring white space.
    pub fn contains(&self, quote: &str) -> bool {
        let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        !quote.trim().is_empty() && one_line(&self.text).contains(&one_line(quote))
    }
}

/// Whether a character makes text read differently than it is (Boucher and Anderson, "Trojan Source", 2021):
/// bidirectional overrides, invisible characters, terminal controls.
fn is_deceptive(c: char) -> bool {
    let tag = ('\u{e0000}'..='\u{e007f}').contains(&c);
    let bidirectional = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}');
    let invisible = matches!(
        c,
        '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180e}' | '\u{3164}' | '\u{ffa0}'
    );
    tag || bidirectional
        || invisible
        || matches!(c, '\u{200b}' | '\u{feff}')
        || (c.is_control() && !c.is_whitespace())
}

fn is_comment(line: &str) -> bool {
    let line = line.trim();
    line.starts_with('#') || line.starts_with("//") || line.starts_with("/*") || line.starts_with('*')
}

fn urls(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| {
        c.is_whitespace()
            || matches!(c, '"' | '\'' | '`' | '<' | '>' | '(' | ')' | '[' | ']' | '{' | '}' | ',' | '\\')
    })
    .filter(|word| word.contains("://") || word.starts_with("www."))
    .map(|url| url.trim_end_matches(['.', ';', ':', '!', '?']))
}

fn without_trailing_slash(url: &str) -> String {
    url.trim_end_matches('/').to_owned()
}

/// Whether a URL is one of these, or a parent path of one.
fn is_at_or_above(known: &HashSet<String>, url: &str) -> bool {
    let url = without_trailing_slash(url);
    let below = |known: &String| {
        known.strip_prefix(&url).is_some_and(|rest| rest.is_empty() || rest.starts_with(['/', '#', '?']))
    };
    url.split("://").nth(1).is_none_or(|rest| !rest.is_empty()) && known.iter().any(below)
}

/// Whether a word looks like `evil.example` or `docs.example.org/x`; also `token.json`, which is a claim just
/// as much.
fn looks_like_host(word: &str) -> bool {
    let host = word.split('/').next().unwrap_or(word);
    let mut labels = host.rsplit('.');
    let last = labels.next().unwrap_or_default();
    let before = labels.next().unwrap_or_default();
    last.chars().count() >= 2 && last.chars().all(char::is_alphabetic) && before.chars().count() >= 2
}

/// Returns the code in the fenced blocks of a text.
fn fenced(text: &str) -> String {
    let mut code = String::new();
    let mut inside = false;
    for line in text.lines() {
        if line.matches("```").count() % 2 == 1 {
            inside = !inside;
        } else if inside {
            code.push_str(line);
            code.push('\n');
        }
    }
    code
}

/// Returns the names a line defines: before `=`, and after `for`, `as`, `def` and `function`.
fn defined_names(line: &str) -> Vec<String> {
    let (code, _) = without_strings(line);
    let mut names = Vec::new();
    // `a == b` is a comparison; `f(a=b)` names an argument.
    if let Some(at) =
        code.find('=').filter(|&at| !code[at..].starts_with("==") && !code[at..].starts_with("=>"))
    {
        let before = &code[..at];
        if !before.contains('(') && !before.contains('.') && !before.contains('[') {
            names.extend(identifiers(before).map(str::to_owned));
        }
    }
    let words: Vec<&str> = identifiers(&code).collect();
    for pair in words.windows(2) {
        if matches!(pair[0], "as" | "for" | "def" | "function") {
            names.push(pair[1].to_owned());
        }
    }
    names
}

#[cfg(test)]
mod tests;
