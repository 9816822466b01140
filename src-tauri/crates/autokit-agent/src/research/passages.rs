//! Splits sources into passages: sentences, table rows and lines of code, each with what stands around it.

use std::collections::HashSet;
use std::sync::{Arc, OnceLock};

use autokit_facts::sentences;
use autokit_pages::Page;
use autokit_toolcard::injections_in;
use autokit_vocabulary::text::query_terms;
use autokit_web::Block;

use super::{LocalPassage, Research, ResearchSource, SourceKind};

/// Longest question that counts as the heading of what follows, as in lists of questions and answers, in characters.
const MAX_QUESTION: usize = 160;
/// Longest passage, in characters; the rest of a longer sentence is left out of the comparison, not of the text.
const MAX_EMBEDDED: usize = 600;
/// Fewest words of a sentence.
const MIN_WORDS: usize = 3;
/// Longest code block that is one passage, in lines; longer ones are passages of this many lines.
const CODE_LINES: usize = 6;
/// Shortest text of a link that is recognized in a sentence.
const MIN_LINK: usize = 4;
/// Words that refer to another page.
const POINTERS: &[&str] = &[
    "see ",
    "can be found",
    "are found",
    "is found",
    "find it",
    "listed in",
    "listed on",
    "part of",
    "described in",
    "described on",
    "explained",
    "refer to",
    "documented",
    "read more",
    "is in ",
    "are in ",
    "on our",
    "in our",
    "look at",
];
/// Characters at the start of a page in which it says that it is outdated.
const NOTICE: usize = 600;

/// What a page says near its start when it is outdated.
const NOTICES: &[&str] = &[
    "outdated",
    "out of date",
    "no longer maintained",
    "no longer supported",
    "has been superseded",
    "is superseded",
    "superseded by",
    "older version",
    "old version",
    "previous version",
    "earlier version",
    "archived page",
    "this page is archived",
    "has been archived",
    "has been replaced",
    "is deprecated",
    "legacy documentation",
    "for the current version",
    "not the latest version",
    "not current",
    "end of life",
];
/// Marks of outdated pages in titles.
const TITLES: &[&str] =
    &["(old)", "(archived)", "(archive)", "(legacy)", "(deprecated)", "archived:", "[archived]", "outdated"];
/// Marks of outdated pages in addresses.
const PATHS: &[&str] = &["/archive/", "/archived/", "/legacy/", "/old/", "-old", "-legacy", "/deprecated/"];

/// A passage that may be part of the summary.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// The text as it is in the source.
    pub(super) text: String,
    pub(super) source: Arc<ResearchSource>,
    /// Headings above it, from the title down.
    pub(super) heading: Vec<String>,
    /// The sentence before it, or the head of its table.
    pub(super) before: String,
    pub(super) code: bool,
    /// Whether the page says that it is outdated.
    pub(super) outdated: bool,
    /// All text of its source, in lower case, to look for names.
    pub(super) page: Arc<str>,
    /// What the page that linked to its source says of it: the text of the link and the sentence around it.
    pub(super) via: Arc<Words>,
    /// Whether it only says where something is to be found: it mentions a link.
    pub(super) points_elsewhere: bool,
    pub(super) vector: Option<Vec<f32>>,
    /// Vector of the headings above it.
    pub(super) heading_vector: Option<Arc<Vec<f32>>>,
    pub(super) score: f32,
    /// Least score: a passage that was restored lacks what stood around it.
    pub(super) floor: f32,
    stems: OnceLock<HashSet<String>>,
    around: OnceLock<HashSet<String>>,
    preceding: OnceLock<HashSet<String>>,
}

/// A text in lower case, and its stems.
#[derive(Clone, Debug, Default)]
pub(super) struct Words {
    pub(super) text: String,
    pub(super) stems: HashSet<String>,
}

/// Returns the stems of the content words of a text.
pub(super) fn stems(text: &str) -> HashSet<String> {
    query_terms(text).into_iter().map(|term| term.term).collect()
}

impl Candidate {
    fn new(text: &str, source: &Arc<ResearchSource>, heading: &[String], before: &str) -> Candidate {
        Candidate {
            text: text.to_owned(),
            source: Arc::clone(source),
            heading: heading.to_vec(),
            before: before.to_owned(),
            code: false,
            outdated: false,
            page: Arc::from(""),
            via: Arc::default(),
            points_elsewhere: false,
            vector: None,
            heading_vector: None,
            score: 0.0,
            floor: 0.0,
            stems: OnceLock::new(),
            around: OnceLock::new(),
            preceding: OnceLock::new(),
        }
    }

    #[cfg(test)]
    pub(super) fn for_test(text: &str, heading: &[&str]) -> Candidate {
        let location = format!("https://a.example/{}", heading.join("/"));
        let title = heading.first().copied().unwrap_or_default().to_owned();
        let source = ResearchSource { kind: SourceKind::Web, title, location, card: None };
        let heading: Vec<String> = heading.iter().map(|&one| one.to_owned()).collect();
        let page = Arc::from(format!("{} {text}", heading.join(" ")).to_lowercase());
        Candidate { page, ..Candidate::new(text, &Arc::new(source), &heading, "") }
    }

    /// Whether it may be sent to services: it is not from a person's documents or code.
    pub(super) fn is_public(&self) -> bool {
        self.source.kind.is_public()
    }

    /// Stems of its own words.
    pub(super) fn stems(&self) -> &HashSet<String> {
        self.stems.get_or_init(|| stems(&self.text))
    }

    /// Stems of the headings above it and of the title of its source.
    pub(super) fn heading_stems(&self) -> &HashSet<String> {
        self.around.get_or_init(|| stems(&format!("{} {}", self.source.title, self.heading.join(" "))))
    }

    /// Stems of what stands before it.
    pub(super) fn stems_before(&self) -> &HashSet<String> {
        self.preceding.get_or_init(|| stems(&self.before))
    }

    /// Whether it, its title or a heading is addressed to AI assistants.
    fn is_flagged(&self) -> bool {
        let texts = [&self.text, &self.source.title].into_iter().chain(&self.heading);
        texts.into_iter().any(|text| !injections_in(text).is_empty())
    }

    /// Returns the text to embed: what stands above and before it, then its own.
    pub(super) fn embedded_text(&self) -> String {
        let own: String = self.text.chars().take(MAX_EMBEDDED).collect();
        let last = self.heading.last().map_or("", String::as_str);
        let title = if last == self.source.title { "" } else { self.source.title.as_str() };
        let parts = [title, last].into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" > ");
        if needs_context(&self.text) && !self.before.is_empty() {
            format!("{parts}: {} {own}", self.before)
        } else {
            format!("{parts}: {own}")
        }
    }

    /// Returns the headings to embed: the title and the last heading.
    pub(super) fn embedded_heading(&self) -> String {
        let last = self.heading.last().map_or("", String::as_str);
        if last.is_empty() || last == self.source.title {
            self.source.title.clone()
        } else {
            format!("{} > {last}", self.source.title)
        }
    }

    /// Restores the passages of a stored state.
    pub(super) fn restore(state: &Research) -> Vec<Candidate> {
        let sources: Vec<Arc<ResearchSource>> = state.sources.iter().cloned().map(Arc::new).collect();
        let passages = state.passages.iter().filter_map(|passage| {
            let source = sources.get(passage.source as usize)?;
            let mut found = Candidate::new(&passage.text, source, &passage.heading, "");
            (found.code, found.outdated, found.floor) = (passage.code, passage.outdated, passage.score);
            found.page = Arc::from(
                format!(
                    "{} {} {} {}",
                    source.location,
                    source.title,
                    passage.heading.join(" "),
                    passage.text
                )
                .to_lowercase(),
            );
            Some(found)
        });
        passages.collect()
    }

    /// Splits a passage of a source on this machine.
    pub(super) fn of_local(hit: &LocalPassage) -> Vec<Candidate> {
        let source = Arc::new(hit.source.clone());
        let code = hit.code.as_deref().unwrap_or_default();
        let page: Arc<str> = Arc::from(
            format!("{} {} {} {code}", source.title, hit.heading.join(" "), hit.text).to_lowercase(),
        );
        let mut blocks = Vec::new();
        for paragraph in hit.text.split("\n\n") {
            let fence = paragraph.trim().strip_prefix("```").and_then(|rest| rest.split_once('\n'));
            match fence {
                Some((language, rest)) => blocks.push(Block::Code {
                    language: Some(language.trim().to_owned()).filter(|name| !name.is_empty()),
                    text: rest.trim_end().trim_end_matches("```").trim_end().to_owned(),
                }),
                None => blocks
                    .push(Block::Text { text: paragraph.split_whitespace().collect::<Vec<_>>().join(" ") }),
            }
        }
        if let Some(code) = &hit.code {
            blocks.push(Block::Code { language: None, text: code.clone() });
        }
        let mut split = Splitter::new(&source, hit.heading.clone());
        for block in &blocks {
            split.add(block);
        }
        let mut found = split.finish(&page, false);
        found.retain(|candidate| !candidate.is_flagged());
        found
    }

    /// Splits a page. Passages that are addressed to AI assistants are left out; their number comes with the result.
    pub(super) fn of_page(page: &Page, via: &str) -> (Vec<Candidate>, usize) {
        let document = &page.document;
        let source = Arc::new(ResearchSource {
            kind: SourceKind::Web,
            title: document.title.clone(),
            location: page.fetched.url.clone(),
            card: None,
        });
        let mut split = Splitter::new(&source, Vec::new());
        for block in &document.blocks {
            split.add(block);
        }
        let all = format!("{} {} {} {}", page.fetched.url, document.page_title, document.title, page.text);
        let mut found = split.finish(&Arc::from(all.to_lowercase()), is_outdated(page));
        let via = Arc::new(Words { text: via.to_owned(), stems: stems(via) });
        let links: Vec<&str> = document
            .links
            .iter()
            .filter(|link| link.in_main && link.text.len() >= MIN_LINK)
            .map(|link| link.text.as_str())
            .collect();
        for candidate in &mut found {
            candidate.via = Arc::clone(&via);
            candidate.points_elsewhere =
                POINTERS.iter().any(|words| candidate.text.to_lowercase().contains(words))
                    && links.iter().any(|link| candidate.text.contains(link));
        }
        let before = found.len();
        found.retain(|candidate| !candidate.is_flagged());
        let flagged = before - found.len();
        (found, flagged)
    }
}

/// Whether a page says of itself that it is outdated.
fn is_outdated(page: &Page) -> bool {
    let opening: String = page.text.chars().take(NOTICE).collect::<String>().to_lowercase();
    let address = page.fetched.url.to_lowercase();
    let title = page.document.page_title.to_lowercase();
    NOTICES.iter().any(|notice| opening.contains(notice))
        || TITLES.iter().any(|mark| title.contains(mark))
        || PATHS.iter().any(|mark| address.contains(mark))
}

/// Whether a sentence cannot be understood without the one before: it begins with a pronoun.
pub(super) fn needs_context(sentence: &str) -> bool {
    let first = sentence.split(|c: char| !c.is_alphanumeric() && c != '\'').next().unwrap_or_default();
    ["it", "they", "this", "that", "these", "those", "he", "she", "its", "their", "both", "here", "there"]
        .contains(&first.to_lowercase().as_str())
}

/// Splits the blocks of one source.
struct Splitter<'a> {
    source: &'a Arc<ResearchSource>,
    found: Vec<Candidate>,
    /// Headings above the current block, with their levels.
    path: Vec<(u8, String)>,
    /// A question that stands in a paragraph of its own: the heading of what follows.
    asked: Option<String>,
    /// The last sentence, or the head of the current table.
    before: String,
    /// The head of the current table.
    head: Option<String>,
}

impl<'a> Splitter<'a> {
    fn new(source: &'a Arc<ResearchSource>, heading: Vec<String>) -> Splitter<'a> {
        let path = heading.into_iter().map(|text| (0, text)).collect();
        Splitter { source, found: Vec::new(), path, asked: None, before: String::new(), head: None }
    }

    fn heading(&self) -> Vec<String> {
        self.path.iter().map(|(_, text)| text.clone()).chain(self.asked.clone()).collect()
    }

    fn add(&mut self, block: &Block) {
        match block {
            Block::Heading { level, text, .. } => {
                self.path.retain(|(above, _)| above < level);
                self.path.push((*level, text.clone()));
                (self.asked, self.head) = (None, None);
                self.before.clear();
            }
            Block::Text { text } if text.contains(" | ") => self.add_row(text),
            Block::Text { text } => {
                if self.head.take().is_some() {
                    self.before.clear();
                }
                if text.ends_with('?') && text.chars().count() <= MAX_QUESTION {
                    self.asked = Some(text.clone());
                    self.before.clear();
                    return;
                }
                for sentence in sentences(text) {
                    self.add_sentence(sentence);
                }
            }
            Block::Code { text, .. } => {
                self.head = None;
                self.add_code(text);
            }
        }
    }

    fn add_sentence(&mut self, sentence: &str) {
        let words = sentence.split_whitespace().filter(|word| word.contains(char::is_alphanumeric)).count();
        if sentence.ends_with('?') || words < MIN_WORDS && !sentence.contains(|c: char| c.is_ascii_digit()) {
            sentence.clone_into(&mut self.before);
            return;
        }
        let mut found = Candidate::new(sentence, self.source, &self.heading(), &self.before);
        // Quoted with the sentence that says what "it" is.
        if needs_context(sentence) && !self.before.is_empty() && !self.before.ends_with('?') {
            found.text = format!("{} {sentence}", self.before);
        }
        self.found.push(found);
        sentence.clone_into(&mut self.before);
    }

    /// Adds a row of a table; the first one is its head.
    fn add_row(&mut self, row: &str) {
        let Some(head) = &self.head else {
            self.head = Some(row.to_owned());
            // A table of two columns often has no head, so the first row counts as well.
            let found = Candidate::new(row, self.source, &self.heading(), &self.before);
            self.found.push(found);
            return;
        };
        let found = Candidate::new(row, self.source, &self.heading(), head);
        self.found.push(found);
    }

    fn add_code(&mut self, code: &str) {
        let lines: Vec<&str> = code.lines().collect();
        for part in lines.chunks(CODE_LINES) {
            let text = part.join("\n");
            if text.trim().is_empty() {
                continue;
            }
            let mut found = Candidate::new(text.trim_end(), self.source, &self.heading(), &self.before);
            found.code = true;
            self.found.push(found);
        }
        // What follows the code is not a sentence after the one before it.
        self.before.clear();
    }

    fn finish(mut self, page: &Arc<str>, outdated: bool) -> Vec<Candidate> {
        for candidate in &mut self.found {
            candidate.page = Arc::clone(page);
            candidate.outdated = outdated;
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(blocks: &[Block]) -> Vec<Candidate> {
        let source = ResearchSource {
            kind: SourceKind::Web,
            title: "Larkspur".to_owned(),
            location: "https://docs.example/".to_owned(),
            card: None,
        };
        let source = Arc::new(source);
        let mut split = Splitter::new(&source, Vec::new());
        for block in blocks {
            split.add(block);
        }
        split.finish(&Arc::from("larkspur"), false)
    }

    fn text(text: &str) -> Block {
        Block::Text { text: text.to_owned() }
    }

    #[test]
    fn a_sentence_about_it_is_quoted_with_the_one_before() {
        let found = split(&[text("The free plan is for students. It allows 120 requests a minute.")]);
        assert_eq!(found[1].text, "The free plan is for students. It allows 120 requests a minute.");
        assert_eq!(found[0].text, "The free plan is for students.");
    }

    #[test]
    fn a_question_is_the_heading_of_its_answer() {
        let found = split(&[text("How do I reset it?"), text("Hold the button for ten seconds.")]);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].heading, ["How do I reset it?"]);
    }

    #[test]
    fn rows_of_a_table_know_its_head() {
        let found = split(&[text("Plan | Requests"), text("Free | 120"), text("Team | 900")]);
        assert_eq!(found[2].text, "Team | 900");
        assert_eq!(found[2].before, "Plan | Requests");
    }

    #[test]
    fn long_code_is_split_and_follows_the_text_before_it() {
        let code = (0..14).map(|line| format!("step {line}")).collect::<Vec<_>>().join("\n");
        let found = split(&[text("Run these steps in order."), Block::Code { language: None, text: code }]);
        assert_eq!(found.iter().filter(|candidate| candidate.code).count(), 3);
        assert_eq!(found[1].before, "Run these steps in order.");
    }
}
