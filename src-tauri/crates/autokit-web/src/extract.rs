//! Extracts the main text of a page as blocks.

use dom_query::{Document as Dom, NodeRef, Selection};
use dom_smoothie::{Config, Readability};
use serde::{Deserialize, Serialize};
use url::Url;

use crate::body::{essence, one_line, readable};

/// A block of a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Block {
    /// A heading.
    Heading {
        /// 1 to 6.
        level: u8,
        /// Its text.
        text: String,
        /// Its `id`, for linking to it.
        anchor: Option<String>,
    },
    /// Running text, a list item, or a table row (cells separated by ` | `).
    Text {
        /// The text, with white space collapsed to single spaces.
        text: String,
    },
    /// Code, with its line breaks.
    Code {
        /// The language, as declared by the page.
        language: Option<String>,
        /// The code.
        text: String,
    },
}

impl Block {
    /// Returns the block's text.
    pub fn text(&self) -> &str {
        match self {
            Block::Heading { text, .. } | Block::Text { text } | Block::Code { text, .. } => text,
        }
    }
}

/// A link on a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Absolute URL.
    pub url: String,
    /// The link's text.
    pub text: String,
    /// Whether it is in the main text rather than in menus around it.
    pub in_main: bool,
}

/// A page reduced to its main text.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Document {
    /// First heading of the main text, else the page's title.
    pub title: String,
    /// The `<title>` as it is, including the site's name.
    pub page_title: String,
    /// The page's description of itself (`meta description`).
    pub description: Option<String>,
    /// The page's canonical URL.
    pub canonical: Option<String>,
    /// The main text.
    pub blocks: Vec<Block>,
    /// http(s) links in document order, each URL once.
    pub links: Vec<Link>,
}

impl Document {
    /// Returns all blocks as one text, with code in fences.
    pub fn text(&self) -> String {
        let mut out = String::new();
        for block in &self.blocks {
            if !out.is_empty() {
                out.push_str("\n\n");
            }
            match block {
                Block::Heading { level, text, .. } => {
                    out.extend(std::iter::repeat_n('#', usize::from(*level)));
                    out.push(' ');
                    out.push_str(text);
                }
                Block::Text { text } => out.push_str(text),
                Block::Code { language, text } => out.push_str(&fenced(language.as_deref(), text)),
            }
        }
        out
    }

    /// Iterates over the code blocks of the main text: language and code.
    pub fn code(&self) -> impl Iterator<Item = (Option<&str>, &str)> {
        self.blocks.iter().filter_map(|block| match block {
            Block::Code { language, text } => Some((language.as_deref(), text.as_str())),
            _ => None,
        })
    }
}

/// Formats code as a fenced block.
pub(crate) fn fenced(language: Option<&str>, code: &str) -> String {
    format!("```{}\n{code}\n```", language.unwrap_or(""))
}

/// Selectors for elements that are never part of the main text.
const BOILERPLATE: &str = "script, style, noscript, template, svg, canvas, iframe, form, button, select, input, \
    nav, aside, footer, dialog, [role=navigation], [role=banner], [role=contentinfo], [role=dialog], \
    [role=search], [aria-hidden=true], [hidden], [class*=footer], [class*=breadcrumb], [class*=pagination], \
    [class*=cookie], [id*=cookie]";

/// Selectors for the main text, most reliable first.
const MAIN: [&str; 6] = ["main", "[role=main]", "article", "#content", "#main-content", ".markdown-body"];

/// Elements that end a run of text.
const BLOCKS: &[&str] = &[
    "p",
    "div",
    "section",
    "article",
    "main",
    "header",
    "ul",
    "ol",
    "li",
    "dl",
    "dt",
    "dd",
    "table",
    "thead",
    "tbody",
    "tr",
    "blockquote",
    "figure",
    "figcaption",
    "details",
    "summary",
    "hr",
    "br",
    "body",
    "fieldset",
    "address",
];

/// Extracts a page. Plain text and Markdown are split into paragraphs and fenced code.
pub fn extract(text: &str, content_type: Option<&str>, url: &str) -> Document {
    let html = match essence(content_type).as_str() {
        "text/html" | "application/xhtml+xml" => true,
        "text/plain" | "text/markdown" | "text/x-rst" | "application/json" => false,
        _ => looks_like_html(text),
    };
    if !html {
        return from_plain(text);
    }
    if nesting(text) > DEEPEST {
        return from_plain(&without_tags(text));
    }
    from_html(text, url)
}

/// Nesting depth beyond which a page is read without its structure: parsing takes quadratic time in the depth
/// (3 s at 3,000), and no page made for people comes near this.
const DEEPEST: usize = 400;

/// Estimates the nesting depth of elements. Elements that browsers close implicitly are left out: a list with
/// a thousand unclosed items is not deep.
fn nesting(html: &str) -> usize {
    const CLOSED_BY_OTHERS: &[&str] = &[
        "p", "li", "dt", "dd", "tr", "td", "th", "thead", "tbody", "tfoot", "colgroup", "option", "optgroup",
        "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr",
        "!doctype",
    ];
    let (mut depth, mut deepest) = (0usize, 0usize);
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        rest = &rest[at + 1..];
        if let Some(comment) = rest.strip_prefix("!--") {
            rest = comment.find("-->").map_or("", |end| &comment[end + 3..]);
            continue;
        }
        let closes = rest.starts_with('/');
        let name = rest.trim_start_matches('/');
        let end = name.find(|c: char| !c.is_ascii_alphanumeric() && c != '!').unwrap_or(name.len());
        let name = name[..end].to_ascii_lowercase();
        if name.is_empty() || CLOSED_BY_OTHERS.contains(&name.as_str()) {
            continue;
        }
        if closes {
            depth = depth.saturating_sub(1);
        } else {
            depth += 1;
            deepest = deepest.max(depth);
        }
    }
    deepest
}

/// Returns the text between the tags.
fn without_tags(html: &str) -> String {
    let mut out = String::new();
    let mut rest = html;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        out.push('\n');
        rest = rest[at..].find('>').map_or("", |end| &rest[at + end + 1..]);
    }
    out.push_str(rest);
    out
}

/// Whether a text begins like a page of HTML.
pub fn looks_like_html(text: &str) -> bool {
    let start: String = text.trim_start().chars().take(512).collect::<String>().to_ascii_lowercase();
    start.starts_with("<!doctype html") || start.contains("<html") || start.contains("<body")
}

fn from_html(html: &str, url: &str) -> Document {
    let dom = Dom::from(html);
    let base = base_of(&dom, url);
    let page_title = one_line(&dom.select("title").first().text());
    let meta = |selector: &str| {
        let found = dom.select(selector).first().attr("content").map(|value| one_line(&value));
        found.filter(|value| !value.is_empty())
    };
    let description = meta("meta[name=description]").or_else(|| meta("meta[property='og:description']"));
    let canonical = dom
        .select("link[rel=canonical]")
        .first()
        .attr("href")
        .and_then(|href| base.as_ref()?.join(href.trim()).ok())
        .map(String::from);
    // Before anything is removed, because menus have links too.
    let links = links(&dom, base.as_ref());
    let first = dom.select("h1").first().nodes().first().map(heading_text);
    let blocks = main_blocks(&dom, url);
    let heading = |blocks: &[Block]| {
        blocks.iter().find_map(|block| match block {
            Block::Heading { level: 1, text, .. } => Some(text.clone()),
            _ => None,
        })
    };
    let title = heading(&blocks)
        .or_else(|| first.filter(|text| !text.is_empty()))
        .unwrap_or_else(|| page_title.clone());
    Document { title, page_title, description, canonical, blocks, links }
}

/// Returns the result of readability extraction, unless it lost code that the page's own main element
/// contains: readability was made for articles, and can mistake a page of short code samples for a menu.
fn main_blocks(dom: &Dom, url: &str) -> Vec<Block> {
    strip(dom);
    let marked = MAIN.iter().map(|selector| dom.select(selector).first()).find(Selection::exists);
    let marked_blocks = marked.map(|main| main.nodes().first().map(blocks_of).unwrap_or_default());
    let config = Config { keep_classes: true, max_elements_to_parse: 200_000, ..Config::default() };
    let read = Readability::new(dom.html(), Some(url).filter(|u| Url::parse(u).is_ok()), Some(config))
        .and_then(|mut reader| reader.parse())
        .ok()
        .map(|article| blocks_of(&Dom::from(&*article.content).root()));
    let weight = |blocks: &[Block]| {
        blocks.iter().fold((0, 0), |(code, text), block| match block {
            Block::Code { .. } => (code + 1, text),
            other => (code, text + other.text().len()),
        })
    };
    match (marked_blocks, read) {
        (Some(marked), Some(read)) => {
            let ((code, text), (read_code, read_text)) = (weight(&marked), weight(&read));
            if read_code < code || read_text * 2 < text { marked } else { read }
        }
        (None, Some(read)) if weight(&read) != (0, 0) => read,
        (Some(marked), None) => marked,
        (None, _) => {
            let body = dom.select("body").first();
            body.nodes().first().map(blocks_of).unwrap_or_default()
        }
    }
}

/// Removes what surrounds the main text. Done before readability extraction, which drops the roles by which
/// these elements are recognized.
fn strip(dom: &Dom) {
    for node in dom.select(BOILERPLATE).nodes() {
        // A class such as `has-footer` on the whole page does not mean that the page is a footer.
        let is_container = ["html", "body", "main", "article"].iter().any(|name| node.has_name(name))
            || node.descendants_it().any(|below| below.has_name("main") || below.has_name("h1"));
        if !is_container {
            node.remove_from_parent();
        }
    }
}

fn base_of(dom: &Dom, url: &str) -> Option<Url> {
    let page = Url::parse(url).ok()?;
    let href = dom.select("base[href]").first().attr("href");
    Some(href.and_then(|href| page.join(&href).ok()).unwrap_or(page))
}

fn links(dom: &Dom, base: Option<&Url>) -> Vec<Link> {
    let Some(base) = base else { return Vec::new() };
    let main = MAIN.iter().find(|selector| dom.select(selector).exists());
    let mut seen = std::collections::HashSet::new();
    let mut found = Vec::new();
    for node in dom.select("a[href]").nodes() {
        let Some(mut to) = node.attr("href").and_then(|href| base.join(href.trim()).ok()) else { continue };
        to.set_fragment(None);
        if !matches!(to.scheme(), "http" | "https") || !seen.insert(to.to_string()) {
            continue;
        }
        let in_main = main.is_none_or(|main| node.ancestors_it(None).any(|above| above.is(main)));
        found.push(Link { url: to.to_string(), text: one_line(&node.text()), in_main });
    }
    found
}

/// Returns the text of a heading without its anchor link symbol.
fn heading_text(node: &NodeRef<'_>) -> String {
    fn collect(node: &NodeRef<'_>, out: &mut String) {
        for child in node.children_it(false) {
            if child.is_text() {
                out.push_str(&child.text());
                continue;
            }
            let sign = child.attr("href").is_some_and(|href| href.contains('#'))
                && !child.text().chars().any(char::is_alphanumeric);
            if !sign {
                collect(&child, out);
            }
        }
    }
    let mut text = String::new();
    collect(node, &mut text);
    one_line(&text)
}

/// Returns the blocks of an element in reading order.
fn blocks_of(node: &NodeRef<'_>) -> Vec<Block> {
    let mut walk = Walk::default();
    walk.children(node);
    walk.flush();
    walk.blocks
}

#[derive(Default)]
struct Walk {
    blocks: Vec<Block>,
    run: String,
}

impl Walk {
    fn flush(&mut self) {
        let text = one_line(&self.run);
        self.run.clear();
        if !text.is_empty() {
            self.blocks.push(Block::Text { text });
        }
    }

    fn children(&mut self, node: &NodeRef<'_>) {
        for child in node.children_it(false) {
            self.visit(&child);
        }
    }

    fn visit(&mut self, node: &NodeRef<'_>) {
        if node.is_text() {
            self.run.push_str(&node.text());
            return;
        }
        let Some(name) = node.node_name().map(|name| name.to_ascii_lowercase()) else { return };
        match name.as_str() {
            "h1" | "h2" | "h3" | "h4" | "h5" | "h6" => {
                self.flush();
                let text = heading_text(node);
                if !text.is_empty() {
                    let level = name.as_bytes()[1] - b'0';
                    let anchor = node.attr("id").map(|id| id.to_string()).filter(|id| !id.is_empty());
                    self.blocks.push(Block::Heading { level, text, anchor });
                }
            }
            "pre" => {
                self.flush();
                self.code(node);
            }
            "td" | "th" => {
                if !self.run.trim().is_empty() {
                    self.run.push_str(" | ");
                }
                self.children(node);
            }
            "img" => {
                if let Some(alt) = node.attr("alt") {
                    self.run.push(' ');
                    self.run.push_str(&alt);
                }
            }
            block if BLOCKS.contains(&block) => {
                self.flush();
                self.children(node);
                self.flush();
            }
            _ => self.children(node),
        }
    }

    fn code(&mut self, node: &NodeRef<'_>) {
        let mut text = String::new();
        code_text(node, &mut text);
        let text = readable(text.trim_matches('\n').trim_end());
        if text.is_empty() {
            return;
        }
        let named = |node: &NodeRef<'_>| {
            node.attr("data-lang").or_else(|| node.attr("data-language")).map(|l| l.to_string()).or_else(
                || {
                    node.class()?.split_whitespace().find_map(|class| {
                        let name = class.strip_prefix("language-").or_else(|| class.strip_prefix("lang-"));
                        name.or_else(|| class.strip_prefix("highlight-source-")).map(str::to_owned)
                    })
                },
            )
        };
        let language = named(node)
            .or_else(|| node.descendants_it().find_map(|below| named(&below)))
            .or_else(|| node.ancestors_it(Some(3)).find_map(|above| named(&above)))
            .map(|name| name.to_ascii_lowercase())
            .filter(|name| !matches!(name.as_str(), "" | "text" | "none" | "default" | "plaintext"));
        self.blocks.push(Block::Code { language, text });
    }
}

/// Collects code with its line breaks: from text, `<br>` and elements that represent a line each.
fn code_text(node: &NodeRef<'_>, out: &mut String) {
    for child in node.children_it(false) {
        if child.is_text() {
            out.push_str(&child.text());
            continue;
        }
        match child.node_name().map(|name| name.to_ascii_lowercase()).as_deref() {
            Some("br") => out.push('\n'),
            Some("div" | "p" | "li" | "tr") => {
                code_text(&child, out);
                if !out.ends_with('\n') {
                    out.push('\n');
                }
            }
            Some("button" | "style" | "script") | None => {}
            Some(_) => code_text(&child, out),
        }
    }
}

fn from_plain(text: &str) -> Document {
    let mut blocks = Vec::new();
    let mut run = String::new();
    let mut lines = text.lines();
    let flush = |run: &mut String, blocks: &mut Vec<Block>| {
        let text = one_line(run);
        run.clear();
        if !text.is_empty() {
            blocks.push(Block::Text { text });
        }
    };
    while let Some(line) = lines.next() {
        let trimmed = line.trim();
        let fence = ["```", "~~~"].into_iter().find(|fence| trimmed.starts_with(fence));
        let hashes = trimmed.bytes().take_while(|&b| b == b'#').count();
        if let Some(fence) = fence {
            flush(&mut run, &mut blocks);
            let language = trimmed[fence.len()..].trim().to_ascii_lowercase();
            let code: Vec<&str> = lines.by_ref().take_while(|line| !line.trim().starts_with(fence)).collect();
            blocks.push(Block::Code {
                language: Some(language).filter(|l| !l.is_empty()),
                text: readable(&code.join("\n")),
            });
        } else if (1..=6).contains(&hashes) && trimmed[hashes..].starts_with(' ') {
            flush(&mut run, &mut blocks);
            let text = one_line(&trimmed[hashes..]);
            blocks.push(Block::Heading { level: hashes as u8, text, anchor: None });
        } else if trimmed.is_empty() {
            flush(&mut run, &mut blocks);
        } else {
            run.push_str(line);
            run.push('\n');
        }
    }
    flush(&mut run, &mut blocks);
    let title = blocks
        .iter()
        .find(|block| matches!(block, Block::Heading { .. }))
        .or(blocks.first())
        .map(|block| block.text().chars().take(200).collect())
        .unwrap_or_default();
    Document { title, blocks, ..Document::default() }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PAGE: &str = r##"<!doctype html><html><head><title>Weather tool | Docs</title>
        <meta name="description" content="Reads the weather."><link rel="canonical" href="/docs/weather"></head>
        <body><nav><a href="/">Home</a> Other tools</nav><aside><ul><li><a href="/maps">Maps</a></li></ul></aside>
        <main><h1 id="top">Weather tool<a class="hash" href="#top">#</a></h1>
        <p>Gives the   forecast for a <b>place</b>. It needs an account with the service and answers in a second.</p>
        <pre class="language-python"><code><span>from weather import Tool</span><br><span>tool = Tool()</span></code></pre>
        <table><tr><th>Argument</th><th>Meaning</th></tr><tr><td>place</td><td>where</td></tr></table>
        <ul><li>first thing</li><li>second thing <a href="setup#key">set up</a></li></ul></main>
        <footer>Copyright</footer><script>track()</script></body></html>"##;

    #[test]
    fn a_page_becomes_its_main_text() {
        let page = extract(PAGE, Some("text/html"), "https://docs.example.org/docs/weather/");
        assert_eq!(page.title, "Weather tool");
        assert_eq!(page.page_title, "Weather tool | Docs");
        assert_eq!(page.description.as_deref(), Some("Reads the weather."));
        assert_eq!(page.canonical.as_deref(), Some("https://docs.example.org/docs/weather"));
        let text = page.text();
        for gone in ["Other tools", "Maps", "Copyright", "track()"] {
            assert!(!text.contains(gone), "{gone} in {text}");
        }
        assert!(text.contains("Gives the forecast for a place."), "{text}");
        let code: Vec<_> = page.code().collect();
        assert_eq!(code, [(Some("python"), "from weather import Tool\ntool = Tool()")]);
        assert!(text.contains("place | where") && text.contains("first thing"), "{text}");
        let setup = page.links.iter().find(|link| link.text == "set up").unwrap();
        assert_eq!(
            (setup.url.as_str(), setup.in_main),
            ("https://docs.example.org/docs/weather/setup", true)
        );
        assert!(page.links.iter().any(|link| link.text == "Maps" && !link.in_main));
    }

    #[test]
    fn markdown_keeps_its_code_and_headings() {
        let page = extract(
            "# Tool\n\nSome\nwords.\n\n```js\nimport x\n```\n",
            Some("text/markdown"),
            "https://x.org/a.md",
        );
        assert_eq!(page.title, "Tool");
        assert_eq!(
            page.blocks,
            [
                Block::Heading { level: 1, text: "Tool".into(), anchor: None },
                Block::Text { text: "Some words.".into() },
                Block::Code { language: Some("js".into()), text: "import x".into() },
            ]
        );
    }

    #[test]
    fn hostile_pages_end() {
        let deep = format!("<html><body>{}x{}", "<div>".repeat(20_000), "</div>".repeat(20_000));
        assert_eq!(extract(&deep, Some("text/html"), "https://x.org/").text(), "x");
        let flat = format!("<html><body><ul>{}</ul>", "<li>one<p>more".repeat(2_000));
        assert_eq!(nesting(&flat), 3);
        extract("<html><body>", None, "not an address");
        extract("", None, "");
    }
}
