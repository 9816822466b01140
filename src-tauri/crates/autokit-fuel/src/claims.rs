//! Checks the claims of a card against the page.

use std::collections::HashSet;

use autokit_facts::{Import, Price, sentences, words};
use autokit_pages::{Page, PageFeature, PageFeatures, Subject, agreement, content_words, likeness};
use autokit_toolcard::fields;
use autokit_web::Block;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::arguments::init_args;

/// What the page says about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum ClaimVerdict {
    /// The page confirms the claim.
    Supported,
    /// The page contradicts the claim.
    Contradicted,
    /// The page says nothing about it.
    NotFound,
    /// The card makes no claim; the page has a value.
    Unsaid,
}

/// The verdict on one field of a card.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Claim {
    /// Name of the field.
    pub field: String,
    /// What the page says about it.
    pub standing: ClaimVerdict,
    /// The supporting sentence or line of code, verbatim from the page; empty if there is none.
    pub quote: String,
    /// The value on the page, where it differs.
    pub value: Option<Value>,
    /// Confidence in the verdict, 0 to 1.
    pub confidence: f32,
    /// Whether the rules found nothing and a language model made the claim, backed by the page.
    pub by_model: bool,
}

impl Claim {
    pub(crate) fn supported(field: &str, quote: impl Into<String>, confidence: f32) -> Claim {
        let quote = quote.into();
        Claim {
            field: field.to_owned(),
            standing: ClaimVerdict::Supported,
            quote,
            value: None,
            confidence,
            by_model: false,
        }
    }

    pub(crate) fn contradicted(
        field: &str,
        value: Value,
        quote: impl Into<String>,
        confidence: f32,
    ) -> Claim {
        let (field, quote) = (field.to_owned(), quote.into());
        Claim {
            field,
            standing: ClaimVerdict::Contradicted,
            quote,
            value: Some(value),
            confidence,
            by_model: false,
        }
    }

    pub(crate) fn unclaimed(field: &str, value: Value, quote: impl Into<String>, confidence: f32) -> Claim {
        Claim { standing: ClaimVerdict::Unsaid, ..Claim::contradicted(field, value, quote, confidence) }
    }

    pub(crate) fn not_found(field: &str) -> Claim {
        let (field, quote) = (field.to_owned(), String::new());
        Claim {
            field,
            standing: ClaimVerdict::NotFound,
            quote,
            value: None,
            confidence: 0.0,
            by_model: false,
        }
    }

    /// Whether the page contradicts the claim.
    pub fn is_contradicted(&self) -> bool {
        self.standing == ClaimVerdict::Contradicted
    }

    /// Whether the page says nothing about it.
    pub fn is_not_found(&self) -> bool {
        self.standing == ClaimVerdict::NotFound
    }

    /// Whether the page confirms the claim.
    pub fn is_supported(&self) -> bool {
        self.standing == ClaimVerdict::Supported
    }
}

/// Least cosine at which the opening of a page matches the description in meaning.
const SAME_MEANING: f32 = 0.55;
/// Least share of a description's words that a page must contain to say the same.
const SAME_WORDS: f32 = 0.6;
/// An import whose likeness to the card's class, module and name is below this belongs to another tool.
const LIKE_ENOUGH: f32 = 0.3;
/// Least likeness of an import that can be the successor of the card's.
const LIKE_IT: f32 = 0.4;
/// Imports this close to the best one, from its module and also named after the card's class, are included:
/// one class was split into several.
const AS_GOOD: f32 = 0.15;

/// Checks all claims of a card against its documentation page.
pub(crate) fn claims(subject: &Subject, marks: &PageFeatures, page: &Page) -> Vec<Claim> {
    let mut all = vec![
        Claim::supported(
            fields::DOCUMENTATION,
            page.document.page_title.as_str(),
            marks.get(PageFeature::Title).max(0.5),
        ),
        name(subject, marks, page),
        description(subject, marks, page),
    ];
    let shown = page_usage(subject, page);
    all.extend(import(subject, page, &shown));
    all.extend(init_args(subject, page, &shown));
    all.extend(openapi(subject, page));
    all.extend(pricing(subject, page));
    all
}

fn name(subject: &Subject, marks: &PageFeatures, page: &Page) -> Claim {
    if marks.get(PageFeature::Title) >= 0.5 {
        return Claim::supported(fields::NAME, page.document.title.as_str(), marks.get(PageFeature::Title));
    }
    match sentence_with(page, &subject.name) {
        Some(sentence) => Claim::supported(fields::NAME, sentence, 0.7),
        None => Claim::not_found(fields::NAME),
    }
}

/// Returns the first sentence or heading that contains a name.
fn sentence_with<'a>(page: &'a Page, name: &str) -> Option<&'a str> {
    let name = name.to_lowercase();
    page.document
        .blocks
        .iter()
        .filter(|block| !matches!(block, Block::Code { .. }))
        .flat_map(|block| sentences(block.text()))
        .find(|sentence| sentence.to_lowercase().contains(&name))
}

fn description(subject: &Subject, marks: &PageFeatures, page: &Page) -> Claim {
    if subject.content.is_empty()
        || (marks.get(PageFeature::Meaning) < SAME_MEANING && marks.get(PageFeature::Wording) < SAME_WORDS)
    {
        return Claim::not_found(fields::DESCRIPTION);
    }
    // The sentence with the most words in common is the quote.
    let best = page
        .document
        .blocks
        .iter()
        .filter(|block| matches!(block, Block::Text { .. }))
        .flat_map(|block| sentences(block.text()))
        .map(|sentence| (content_words(sentence).intersection(&subject.content).count(), sentence))
        .fold((0, ""), |best, next| if next.0 > best.0 { next } else { best });
    if best.0 == 0 {
        return Claim::not_found(fields::DESCRIPTION);
    }
    Claim::supported(
        fields::DESCRIPTION,
        best.1,
        marks.get(PageFeature::Meaning).max(marks.get(PageFeature::Wording)),
    )
}

/// Checks language, module and class against the page's code.
fn import(subject: &Subject, page: &Page, shown: &PageUsage<'_>) -> Vec<Claim> {
    if subject.classes.is_empty() && subject.module.is_none() {
        return Vec::new();
    }
    let code = &page.facts.code;
    let mut all = Vec::new();
    let language = |import: &Import| {
        let name = import.language.name();
        match subject.language.as_deref().map(str::to_lowercase) {
            Some(written) if same_language(&written, name) => {
                Claim::supported(fields::LANGUAGE, import.line.as_str(), 0.95)
            }
            Some(_) => Claim::contradicted(fields::LANGUAGE, Value::from(name), import.line.as_str(), 0.8),
            None => Claim::unclaimed(fields::LANGUAGE, Value::from(name), import.line.as_str(), 0.9),
        }
    };
    match shown {
        PageUsage::AsWritten(imports) => {
            all.push(language(imports[0]));
            let lines = lines_of(imports);
            all.push(match &subject.module {
                Some(_) => Claim::supported(fields::MODULE, lines.as_str(), 1.0),
                // A card without a module makes no claim to confirm.
                None => Claim::unclaimed(
                    fields::MODULE,
                    Value::from(imports[0].module.as_str()),
                    lines.as_str(),
                    0.9,
                ),
            });
            all.push(Claim::supported(fields::CLASS, lines, 1.0));
        }
        PageUsage::FromElsewhere(imports) => {
            all.push(language(imports[0]));
            let lines = lines_of(imports);
            let module = Value::from(imports[0].module.as_str());
            all.push(Claim::contradicted(fields::MODULE, module, lines.as_str(), 0.9));
            all.push(if imports.len() == subject.classes.len() {
                Claim::supported(fields::CLASS, lines, 1.0)
            } else {
                Claim::contradicted(fields::CLASS, names_of(imports), lines, 0.8)
            });
        }
        PageUsage::Others(imports, score) => {
            all.push(language(imports[0]));
            let lines = lines_of(imports);
            let confidence = (0.5 + 0.5 * score).min(0.9);
            let module = imports[0].module.as_str();
            all.push(if subject.module.as_deref() == Some(module) {
                Claim::supported(fields::MODULE, lines.as_str(), 0.9)
            } else {
                Claim::contradicted(fields::MODULE, Value::from(module), lines.as_str(), confidence)
            });
            all.push(Claim::contradicted(fields::CLASS, names_of(imports), lines, confidence));
        }
        PageUsage::Called(line) => {
            all.push(Claim::not_found(fields::MODULE));
            all.push(Claim::supported(fields::CLASS, line.as_str(), 0.8));
        }
        PageUsage::Nothing => {
            let module = subject.module.as_deref().unwrap_or("");
            let line = code.imports.iter().find(|import| import.module == module);
            all.push(match line {
                Some(import) => Claim::supported(fields::MODULE, import.line.as_str(), 0.7),
                None => Claim::not_found(fields::MODULE),
            });
            all.push(Claim::not_found(fields::CLASS));
        }
    }
    all
}

fn same_language(written: &str, shown: &str) -> bool {
    written.split([',', '/', ' ']).map(str::trim).any(|one| {
        one == shown
            || (shown == "javascript" && matches!(one, "typescript" | "js" | "ts" | "node" | "node.js"))
    })
}

fn lines_of(imports: &[&Import]) -> String {
    let mut seen: HashSet<&str> = HashSet::new();
    let lines = imports.iter().map(|import| import.line.as_str()).filter(|line| seen.insert(line));
    lines.collect::<Vec<_>>().join("\n")
}

fn names_of(imports: &[&Import]) -> Value {
    Value::from(imports.iter().map(|import| import.name.as_str()).collect::<Vec<_>>().join(", "))
}

/// How a page's code shows the card's tool.
pub(crate) enum PageUsage<'a> {
    /// All its classes, imported from its module.
    AsWritten(Vec<&'a Import>),
    /// Some or all of its classes, imported from another module.
    FromElsewhere(Vec<&'a Import>),
    /// Other classes that must be meant, with their likeness to the card's.
    Others(Vec<&'a Import>, f32),
    /// A class is called without being imported; the line of the call.
    Called(String),
    /// The page shows none of these.
    Nothing,
}

fn page_usage<'a>(subject: &Subject, page: &'a Page) -> PageUsage<'a> {
    let code = &page.facts.code;
    let module = subject.module.as_deref();
    let own = |module: Option<&str>| -> Vec<&'a Import> {
        subject
            .classes
            .iter()
            .filter_map(|class| {
                code.imports.iter().find(|import| {
                    import.name == *class && module.is_none_or(|module| import.module == module)
                })
            })
            .collect()
    };
    let as_written = own(module);
    if !as_written.is_empty() && as_written.len() == subject.classes.len() {
        return PageUsage::AsWritten(as_written);
    }
    let ranked_imports = ranked_imports(subject, page);
    let found = own(None);
    if let Some(first) = found.first() {
        // Of several modules that export the first class, the one most like the card's.
        let likest = code
            .imports_of(&first.name)
            .max_by(|a, b| module_agreement(module, a).total_cmp(&module_agreement(module, b)))
            .unwrap_or(first);
        // A class of the same name in another vendor's package is a different class, and a class that the
        // page calls deprecated has a successor: `ranked_imports` leaves both out if the page shows a better
        // import.
        if ranked_imports.iter().any(|(_, import)| std::ptr::eq(*import, likest)) {
            return PageUsage::FromElsewhere(own(Some(&likest.module)));
        }
    }
    if let Some((best, first)) = ranked_imports.first().copied()
        && best >= LIKE_ENOUGH
    {
        let stem = subject.classes.first().map_or("", String::as_str);
        let others = ranked_imports
            .iter()
            .filter(|(score, import)| {
                *score >= best - AS_GOOD
                    && import.module == first.module
                    && (std::ptr::eq(*import, first)
                        || !stem.is_empty() && import.name.starts_with(stem) && first.name.starts_with(stem))
            })
            .map(|(_, import)| *import);
        let mut others: Vec<&Import> = others.collect();
        // All of them lie in one list, so sorting by memory address restores the order on the page.
        others.sort_by_key(|import| std::ptr::from_ref::<Import>(import).addr());
        return PageUsage::Others(others, best);
    }
    let called = code.calls.iter().find(|call| subject.classes.contains(&call.callee));
    match called {
        Some(call) => PageUsage::Called(call.line.clone()),
        None => PageUsage::Nothing,
    }
}

fn module_agreement(module: Option<&str>, import: &Import) -> f32 {
    module.map_or(0.0, |module| agreement(&words(module), &words(&import.module)))
}

/// Whether an import is from the same package or framework as the card's module: `langchain.tools` and
/// `langchain_google` are, `google` is not.
fn same_top_level_module(module: Option<&str>, import: &Import) -> bool {
    let first = |module: &str| words(module).into_iter().next();
    module.is_none_or(|module| first(module) == first(&import.module))
}

/// Whether an import's name says that it is obsolete. Such an import is never a successor, and a class with
/// the card's own name from another package is preferred to it.
fn is_deprecated_name(import: &Import) -> bool {
    let says = |text: &str| {
        words(text).iter().any(|word| matches!(word.as_str(), "old" | "legacy" | "deprecated" | "obsolete"))
    };
    says(&import.name) || says(&import.module)
}

/// Ranks the page's imports by likeness to what the card means: to its class and module, to its name, and to
/// the page's main import. If a current import from the card's own family is like enough, obsolete imports
/// and those of other families are left out.
fn ranked_imports<'a>(subject: &Subject, page: &'a Page) -> Vec<(f32, &'a Import)> {
    let main = page.facts.import.as_ref().map(|fact| &fact.value);
    let mut all: Vec<(f32, &Import)> = page
        .facts
        .code
        .imports
        .iter()
        .filter(|import| !import.name.is_empty())
        .map(|import| {
            let own = words(&import.name);
            let like = subject
                .classes
                .iter()
                .map(|class| likeness(import, class, subject.module.as_deref()))
                .fold(0.0, f32::max);
            let named = agreement(&subject.name_words, &own);
            let is_main =
                main.is_some_and(|(module, class)| *module == import.module && *class == import.name);
            (0.6 * like + 0.3 * named + if is_main { 0.1 } else { 0.0 }, import)
        })
        .collect();
    all.sort_by(|a, b| b.0.total_cmp(&a.0));
    let current = |import: &Import| {
        !import.deprecated
            && !is_deprecated_name(import)
            && same_top_level_module(subject.module.as_deref(), import)
    };
    if all.iter().any(|(score, import)| *score >= LIKE_IT && current(import)) {
        all.retain(|(_, import)| current(import));
    }
    all
}

fn openapi(subject: &Subject, page: &Page) -> Option<Claim> {
    let url = subject.openapi.as_deref()?;
    let same = |other: &str| other.trim_end_matches('/') == url.trim_end_matches('/');
    let linked = page.document.links.iter().find(|link| same(&link.url));
    Some(match linked {
        Some(link) => Claim::supported(fields::OPENAPI, link.text.as_str(), 0.95),
        None if page.text.contains(url) => Claim::supported(fields::OPENAPI, url, 0.95),
        None => Claim::not_found(fields::OPENAPI),
    })
}

fn pricing(subject: &Subject, page: &Page) -> Option<Claim> {
    let price = page.facts.price.as_ref();
    let written = subject.pricing.as_deref();
    match (written, price) {
        (None, None) => None,
        (None, Some(fact)) => {
            Some(Claim::unclaimed(fields::PRICING, Value::from(fact.value.name()), fact.quote.as_str(), 0.6))
        }
        (Some(_), None) => Some(Claim::not_found(fields::PRICING)),
        (Some(written), Some(fact)) => Some(match Price::read(written) {
            Some(price) if price == fact.value => Claim::supported(fields::PRICING, fact.quote.as_str(), 0.8),
            // "Free" and a page that mentions a free tier do not clearly contradict each other.
            Some(Price::Free | Price::Commercial) if fact.value != Price::Freemium => {
                Claim::contradicted(fields::PRICING, Value::from(fact.value.name()), fact.quote.as_str(), 0.5)
            }
            _ => Claim::not_found(fields::PRICING),
        }),
    }
}

#[cfg(test)]
mod tests {
    use autokit_toolcard::Toolcard;
    use autokit_web::Fetched;
    use cpu_time::ThreadTime;
    use serde_json::json;

    use super::*;

    fn told(card: Value, code: &str) -> Vec<Claim> {
        let Value::Object(card) = card else { unreachable!() };
        let subject = Subject::of(&Toolcard::new(card).unwrap());
        let page = Page::of(Fetched {
            url: "https://docs.example.org/tools/widget".into(),
            status: 200,
            hops: Vec::new(),
            content_type: Some("text/markdown".into()),
            text: format!("# Widget\n\nWidget draws charts.\n\n```python\n{code}\n```\n"),
            validators: autokit_web::Validators::default(),
            unchanged: false,
            retry_after: None,
            ms: 1,
        });
        claims(&subject, &PageFeatures::of_card(&subject, None, &page), &page)
    }

    fn of<'a>(claims: &'a [Claim], field: &str) -> Option<&'a Claim> {
        claims.iter().find(|claim| claim.field == field)
    }

    fn card(module: &str, init_args: &Value) -> Value {
        json!({
            "name": "Widget", "class": "WidgetTool", "module": module, "init_args": init_args,
            "programming_language": "python",
        })
    }

    #[test]
    fn a_deprecated_class_is_not_a_successor() {
        let claims = told(
            card("langchain_community.tools", &json!({})),
            "from a.b import WidgetTool\nfrom c.d import WidgetTool\nfrom langchain.old import WidgetToolOld",
        );
        let class = of(&claims, fields::CLASS).unwrap();
        assert!(class.is_supported(), "{class:?}");
        let module = of(&claims, fields::MODULE).unwrap();
        assert!(matches!(module.value.as_ref().and_then(Value::as_str), Some("a.b" | "c.d")), "{module:?}");
        // A current import of the same family is still preferred to another package's class.
        let claims = told(
            card("langchain_community.tools", &json!({})),
            "from widget import WidgetTool\nfrom langchain_widget import WidgetSearchTool",
        );
        assert_eq!(of(&claims, fields::CLASS).unwrap().value, Some(json!("WidgetSearchTool")));
    }

    #[test]
    fn arguments_are_proposed_by_name_and_never_with_the_values_of_an_example() {
        let code = "from langchain_community.tools import WidgetTool\nWidgetTool(api_key=\"your-api-key\", \
                    token=os.environ[\"WIDGET_TOKEN\"], proxy=None, city=\"Paris\", days=3)";
        let shown = json!({
            "api_key": "${API_KEY}", "token": "${WIDGET_TOKEN}", "city": "${CITY}", "days": "${DAYS}",
        });
        let claims = told(card("langchain_community.tools", &json!({})), code);
        let claim = of(&claims, fields::INIT_ARGS).unwrap();
        assert_eq!((claim.standing, claim.value.as_ref()), (ClaimVerdict::Unsaid, Some(&shown)));
        // A card with some of the arguments is right.
        let claims = told(card("langchain_community.tools", &json!({ "api_key": "${KEY}" })), code);
        assert!(of(&claims, fields::INIT_ARGS).unwrap().is_supported());
    }

    #[test]
    fn repaired_arguments_keep_the_key_a_page_does_not_show() {
        let code = "from langchain_community.tools import WidgetTool\nWidgetTool(city=\"Paris\")";
        let old = json!({ "api_key": "${KEY}", "place": "Oslo" });
        let claims = told(card("langchain_community.tools", &old), code);
        let claim = of(&claims, fields::INIT_ARGS).unwrap();
        assert!(claim.is_contradicted(), "{claim:?}");
        assert_eq!(claim.value, Some(json!({ "api_key": "${KEY}", "city": "${CITY}" })));
        // A credential that the page does not show contradicts nothing.
        let claims = told(card("langchain_community.tools", &json!({ "api_key": "${KEY}" })), code);
        assert!(of(&claims, fields::INIT_ARGS).unwrap().is_not_found());
    }

    #[test]
    fn an_empty_module_is_a_missing_one() {
        let claims = told(card("", &json!({})), "from langchain_community.tools import WidgetTool");
        let module = of(&claims, fields::MODULE).unwrap();
        assert_eq!(
            (module.standing, module.value.clone()),
            (ClaimVerdict::Unsaid, Some(json!("langchain_community.tools")))
        );
    }

    #[test]
    fn a_page_of_imports_is_compared_in_good_time() {
        let page = |imports: usize| {
            let names: Vec<String> =
                (0..imports).map(|at| format!("from kit{at} import WidgetTool{at}")).collect();
            // A single block of this length would count as data; many blocks do not.
            let blocks: Vec<String> = names.chunks(1_000).map(|lines| lines.join("\n")).collect();
            blocks.join("\n```\n\n```python\n")
        };
        let (small, large) = (page(5_000), page(20_000));
        let took = |page: &str, times: usize| {
            let began = ThreadTime::now();
            for _ in 0..times {
                let claims = told(card("kit1", &json!({})), page);
                assert!(of(&claims, fields::CLASS).unwrap().is_contradicted());
            }
            began.elapsed()
        };
        // CPU time of this thread, and runs in alternation: a busy machine must not make a difference.
        let turns = (0..5).map(|_| (took(&small, 4), took(&large, 1)));
        let (pieces, whole) = turns.reduce(|a, b| (a.0.min(b.0), a.1.min(b.1))).expect("turns");
        // Looking up each import among all of them would take four times as long for the large page.
        assert!(whole < 3 * pieces, "{whole:?} for four pages in one, {pieces:?} for four pages");
    }
}
