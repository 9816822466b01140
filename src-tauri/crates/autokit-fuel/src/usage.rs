//! Usage examples: how code on GitHub imports and calls a card's class.

use autokit_toolcard::{Evidence, ProposedField, Timestamp, Toolcard, fields};

use crate::fuel::Fuel;

/// Files that are read for an example.
const FILES: usize = 3;
/// Most lines of an example after its imports.
const MAX_LINES: usize = 3;
/// Longest line of an example, in characters.
const MAX_LINE: usize = 160;
/// Shortest text in quotes that may be a key.
const KEY_LENGTH: usize = 16;
/// Probability that code of others shows the usual use.
const SEEN: f32 = 0.7;

/// Lines of code that use a class, and where they are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct UsageExample {
    pub code: String,
    pub repository: String,
    pub url: String,
}

impl Fuel {
    /// Looks for code on GitHub that uses the card's class. `None` for cards that say how they are used, without a class or
    /// a token, and when GitHub does not answer: a check does not depend on it.
    pub(crate) async fn usage_example(&self, card: &Toolcard) -> Option<UsageExample> {
        let github = self.github.as_ref().filter(|github| github.searches_code())?;
        let text = |field: &str| card.text(field).map(str::trim).filter(|text| !text.is_empty());
        if text(fields::USAGE).is_some() {
            return None;
        }
        let (module, class) = (text(fields::MODULE)?, text(fields::CLASS)?);
        let language = text(fields::LANGUAGE).unwrap_or("python");
        let query = format!("\"{module}\" \"{class}\" language:{language}");
        let found = match github.code(&query, FILES).await {
            Ok(found) => found,
            Err(error) => {
                tracing::info!(%error, class, "failed to search for usage examples");
                return None;
            }
        };
        for file in found.into_iter().take(FILES) {
            let repository = file.repository.full_name;
            match github.file(&repository, &file.path).await {
                Ok(Some(source)) => {
                    if let Some(code) = example_in(&source, module, class) {
                        return Some(UsageExample { code, repository, url: file.html_url });
                    }
                }
                Ok(None) => {}
                Err(error) => tracing::info!(%error, repository, "failed to read a file"),
            }
        }
        None
    }
}

/// Proposes an example as the usage of a card.
pub(crate) fn usage(example: &UsageExample, now: Timestamp) -> ProposedField {
    ProposedField {
        field: fields::USAGE.to_owned(),
        value: Some(example.code.clone().into()),
        evidence: vec![Evidence::new(example.url.clone(), example.code.clone(), now)],
        confidence: SEEN,
    }
}

/// Returns the line of a file that imports a class and those that construct or call it, without a common indentation.
/// `None` if one of both is missing, or a line may hold a key.
fn example_in<'a>(source: &'a str, module: &str, class: &str) -> Option<String> {
    let lines: Vec<&str> = source.lines().collect();
    let is_word = |line: &str| {
        line.match_indices(class).any(|(at, _)| {
            let before = line[..at].chars().next_back();
            let after = line[at + class.len()..].chars().next();
            let in_word = |c: Option<char>| c.is_some_and(|c| c.is_alphanumeric() || c == '_');
            !in_word(before) && !in_word(after)
        })
    };
    let import = lines.iter().position(|line| {
        let start = line.trim_start();
        (start.starts_with("from ")
            || start.starts_with("import ")
            || start.starts_with("use ")
            || line.contains("require("))
            && line.contains(module)
            && is_word(line)
    })?;
    let call = format!("{class}(");
    let used =
        lines.iter().skip(import + 1).position(|line| line.contains(&call) && is_word(line))? + import + 1;
    // A call over several lines ends where its brackets do.
    let mut open = 0_i64;
    let mut end = used;
    for (at, line) in lines.iter().enumerate().skip(used).take(MAX_LINES) {
        open +=
            line.chars().map(|c| i64::from("([{".contains(c)) - i64::from(")]}".contains(c))).sum::<i64>();
        end = at;
        if open <= 0 {
            break;
        }
    }
    if open > 0 {
        return None;
    }
    let called = &lines[used..=end];
    let indent = called.first().map_or(0, |line| line.len() - line.trim_start().len());
    let mut example = vec![lines[import].trim()];
    // Lines that are indented less keep all but their blanks.
    let outdented = |line: &&'a str| {
        let blanks = line.len() - line.trim_start().len();
        &line[blanks.min(indent)..]
    };
    example.extend(called.iter().map(outdented));
    let fits = |line: &&str| line.chars().count() <= MAX_LINE && !may_hold_key(line);
    example.iter().all(fits).then(|| example.join("\n"))
}

/// Whether a line quotes a text without blanks that is long enough to be a key.
fn may_hold_key(line: &str) -> bool {
    let quoted = line.split(['"', '\'', '`']).skip(1).step_by(2);
    let mut quoted = quoted.filter(|text| !text.contains("://"));
    quoted.any(|text| {
        text.len() >= KEY_LENGTH
            && !text.contains(char::is_whitespace)
            && text.chars().any(|c| c.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_example_imports_and_constructs_the_class() {
        let source = "import os\nfrom news_kit.tools import NewsTool, Other\n\n\nclass Desk:\n    def __init__(self):\n        self.news = NewsTool(\n            language=\"en\",\n        )\n";
        assert_eq!(
            example_in(source, "news_kit.tools", "NewsTool").as_deref(),
            Some(
                "from news_kit.tools import NewsTool, Other\nself.news = NewsTool(\n    language=\"en\",\n)"
            )
        );
        let javascript = "import { NewsTool } from \"news-kit\";\nconst news = new NewsTool();\n";
        assert_eq!(
            example_in(javascript, "news-kit", "NewsTool").as_deref(),
            Some("import { NewsTool } from \"news-kit\";\nconst news = new NewsTool();")
        );
        for nothing in [
            "from news_kit.tools import NewsTool\n",
            "news = NewsTool()\n",
            "from news_kit.tools import MyNewsTool\nMyNewsTool()\n",
            "from news_kit.tools import NewsTool\nnews = NewsTool(key=\"a1b2c3d4e5f6a7b8c9\")\n",
            "from news_kit.tools import NewsTool\nnews = NewsTool(\n1,\n2,\n3,\n4)\n",
        ] {
            assert_eq!(example_in(nothing, "news_kit.tools", "NewsTool"), None, "{nothing}");
        }
    }
}
