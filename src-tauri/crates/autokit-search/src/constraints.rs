//! Constraints: what a request demands of a tool besides what it is to do.
//!
//! "Send mail, but not with Amazon, and it must be free" is about sending mail. A keyword index finds "Amazon" in
//! it, and an embedding of the whole sentence lies close to Amazon as well, because neither knows negation. So
//! demands are read from the request before it is searched for: excluded names are taken out of it, and cards
//! whose [`Traits`] contradict a demand rank lower, those that satisfy one a little higher.

use std::ops::Range;
use std::sync::LazyLock;

use autokit_vocabulary::Vocabulary;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use crate::traits::{Language, PhraseTable, Traits, phrase_words};

/// A demand of a request.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Constraint {
    /// It must cost nothing.
    Free,
    /// It must work without an account or a key.
    NoAccount,
    /// It must run on the person's own machine or server.
    Local,
    /// It must be hosted by somebody else.
    Hosted,
    /// Its source must be open.
    OpenSource,
    /// It must be used from this programming language.
    Language(Language),
    /// It must not be of this vendor or product, as the request spells it.
    Excluding(String),
}

impl std::fmt::Display for Constraint {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Constraint::Free => "free",
            Constraint::NoAccount => "no account or key",
            Constraint::Local => "on your own machine",
            Constraint::Hosted => "hosted",
            Constraint::OpenSource => "open source",
            Constraint::Language(language) => return write!(f, "for {language}"),
            Constraint::Excluding(name) => return write!(f, "not {name}"),
        })
    }
}

/// Says what was understood that a request demands; `None` if it demands nothing.
pub fn understood(constraints: &[Constraint]) -> Option<String> {
    let list: Vec<String> = constraints.iter().map(ToString::to_string).collect();
    (!list.is_empty()).then(|| format!("Understood as conditions: {}.", list.join(", ")))
}

/// A request split into what it is about and what it demands.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ParsedRequest {
    /// The request without the names it excludes.
    pub(crate) topic: String,
    /// The demands, sorted, without duplicates.
    pub(crate) constraints: Vec<Constraint>,
}

/// Demands by the phrases that express them; none by phrases that only look like a demand.
static PHRASES: LazyLock<PhraseTable<Option<Constraint>>> = LazyLock::new(|| {
    PhraseTable::parse(include_str!("constraints.txt"), |heading| match heading {
        "free" => Some(Some(Constraint::Free)),
        "no account" => Some(Some(Constraint::NoAccount)),
        "local" => Some(Some(Constraint::Local)),
        "hosted" => Some(Some(Constraint::Hosted)),
        "open source" => Some(Some(Constraint::OpenSource)),
        "none" => Some(None),
        other => {
            let language = Language::of_card(other.strip_prefix("language ")?)?;
            Some(Some(Constraint::Language(language)))
        }
    })
});

/// Words that exclude the name after them.
const EXCLUDING: &[&[&str]] = &[
    &["not"],
    &["no"],
    &["nor"],
    &["without"],
    &["avoid"],
    &["avoiding"],
    &["except"],
    &["excluding"],
    &["besides"],
    &["neither"],
    &["other", "than"],
    &["different", "from"],
    &["anything", "but"],
    &["something", "but"],
    &["everything", "but"],
    &["dont", "want"],
    &["dont", "like"],
    &["hate"],
    &["rather", "than"],
];

/// Words that exclude the name after them, which also says what the request is about.
const REPLACING: &[&[&str]] = &[
    &["alternative", "to"],
    &["alternatives", "to"],
    &["alternative", "for"],
    &["replacement", "for"],
    &["replacement", "of"],
    &["substitute", "for"],
    &["instead", "of"],
    &["replace"],
    &["replacing"],
    &["competitor", "of"],
];

/// Words that may stand between such words and the name.
const BETWEEN: [&str; 17] = [
    "a", "an", "another", "any", "by", "for", "from", "in", "of", "on", "the", "through", "to", "use",
    "using", "via", "with",
];

/// Words that join further names to an excluded one.
const JOINING: [&str; 8] = ["and", "either", "no", "nor", "not", "or", "via", "with"];

/// Longest name that is looked for, in words.
const LONGEST_NAME: usize = 4;

impl ParsedRequest {
    /// Parses a request. `is_name` says whether words, joined by spaces, are the name of a vendor or product; its
    /// second argument is whether the request asks for something in its place.
    pub(crate) fn new(
        request: &str,
        vocabulary: &Vocabulary,
        is_name: impl Fn(&str, bool) -> bool,
    ) -> ParsedRequest {
        let words = phrase_words(request);
        let texts: Vec<&str> = words.iter().map(|word| word.text.as_str()).collect();
        let mut constraints: Vec<Constraint> = Vec::new();
        PHRASES.find(&texts, |demand, _| constraints.extend(demand.clone()));
        let mut cuts: Vec<(Range<usize>, Option<&str>)> = Vec::new();
        let mut at = 0;
        while at < words.len() {
            let Some((length, replacing)) = trigger(&texts[at..]) else {
                at += 1;
                continue;
            };
            let is_name = |name: &str| is_name(name, replacing);
            let names = excluded_names(&texts, at + length, &is_name);
            let Some(end) = names.last().map(|name| name.end) else {
                at += length;
                continue;
            };
            let spelled = |name: &Range<usize>| {
                let text = &request[words[name.start].range.start..words[name.end - 1].range.end];
                let text = text.strip_suffix("'s").or_else(|| text.strip_suffix("\u{2019}s")).unwrap_or(text);
                Constraint::Excluding(text.to_owned())
            };
            constraints.extend(names.iter().map(spelled));
            let range = words[at].range.start..words[end - 1].range.end;
            if replacing {
                // What the name stands for is what the request is about.
                let name = texts[at + length..end].join(" ");
                cuts.push((range, vocabulary.first_known(&name).or(Some(""))));
            } else {
                cuts.push((range, None));
            }
            at = end;
        }
        constraints.sort_unstable();
        constraints.dedup();
        ParsedRequest { topic: without(request, &cuts), constraints }
    }
}

/// Returns how many words of a trigger the words start with, and whether it is one of [`REPLACING`].
fn trigger(words: &[&str]) -> Option<(usize, bool)> {
    let starts = |trigger: &&&[&str]| words.starts_with(trigger);
    let replacing = REPLACING.iter().find(starts).map(|trigger| (trigger.len(), true));
    replacing.or_else(|| EXCLUDING.iter().find(starts).map(|trigger| (trigger.len(), false)))
}

/// Returns which words are names excluded from `at` on.
fn excluded_names(words: &[&str], mut at: usize, is_name: &impl Fn(&str) -> bool) -> Vec<Range<usize>> {
    let mut names = Vec::new();
    loop {
        while words.get(at).is_some_and(|word| BETWEEN.contains(word)) {
            at += 1;
        }
        let longest = LONGEST_NAME.min(words.len().saturating_sub(at));
        let length = (1..=longest).rev().find(|length| {
            let joined = words[at..at + length].join(" ");
            // "google's" is the name "google".
            is_name(&joined) || joined.strip_suffix('s').is_some_and(is_name)
        });
        let Some(length) = length else { return names };
        names.push(at..at + length);
        at += length;
        while words.get(at).is_some_and(|word| JOINING.contains(word)) {
            at += 1;
        }
    }
}

/// Returns a text without some ranges, or with other words in their place.
fn without(text: &str, cuts: &[(Range<usize>, Option<&str>)]) -> String {
    if cuts.is_empty() {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut from = 0;
    for (range, instead) in cuts {
        out.push_str(&text[from..range.start]);
        from = range.end;
        match instead {
            // The name is not known: it is all there is to say what the request is about.
            Some("") => out.push_str(&text[range.clone()]),
            Some(words) => out.push_str(words),
            None => {}
        }
    }
    out.push_str(&text[from..]);
    let trimmed = out.trim_matches(|c: char| c.is_whitespace() || ",;:".contains(c));
    // Where nothing but names was said, the names are the topic.
    if trimmed.chars().any(char::is_alphanumeric) { trimmed.to_owned() } else { text.to_owned() }
}

/// Brands of one company, any of which its name excludes.
const COMPANIES: [&[&str]; 7] = [
    &["amazon", "aws", "amazon web services"],
    &["google", "gcp", "gmail", "youtube"],
    &["microsoft", "azure", "bing", "office 365", "outlook", "onedrive", "sharepoint", "powershell"],
    &["meta", "facebook", "instagram", "whatsapp"],
    &["apple", "icloud"],
    &["atlassian", "jira", "confluence", "bitbucket", "trello"],
    &["alibaba", "aliyun", "taobao"],
];

/// Whether a name is a company's that everybody knows.
pub(crate) fn is_company(name: &str) -> bool {
    COMPANIES.iter().any(|names| names.contains(&name))
}

/// Returns the names that an excluded name stands for, each as words.
pub(crate) fn aliases(name: &str) -> Vec<&str> {
    // Who excludes a brand ("azure") excludes that one; who excludes the company, all of them.
    let company = COMPANIES.iter().find(|names| names[0] == name);
    let same = COMPANIES.iter().find(|names| name == "aws" && names.contains(&name));
    company.or(same).map_or_else(|| vec![name], |names| names.to_vec())
}

/// Raises the score of a card that satisfies a demand, in units of cosine.
const SATISFIED: f32 = 0.05;
/// Lowers the score of a card that contradicts a demand.
const CONTRADICTED: f32 = -0.25;
/// Lowers the score of a card of an excluded vendor or product.
pub(crate) const EXCLUDED: f32 = -0.6;

/// Returns the change of a card's score by the demands on its traits, in units of cosine.
pub(crate) fn shift(constraints: &[Constraint], traits: Traits) -> f32 {
    let of = |constraint: &Constraint| match constraint {
        Constraint::Free => judge(
            traits.has(Traits::FREE) || traits.has(Traits::OPEN_SOURCE) && !traits.has(Traits::PAID),
            traits.has(Traits::PAID) && !traits.has(Traits::FREE),
        ),
        Constraint::NoAccount => judge(
            traits.has(Traits::NO_ACCOUNT),
            (traits.has(Traits::NEEDS_ACCOUNT) || traits.has(Traits::PAID))
                && !traits.has(Traits::NO_ACCOUNT),
        ),
        Constraint::Local => {
            judge(traits.has(Traits::LOCAL), traits.has(Traits::HOSTED) && !traits.has(Traits::LOCAL))
        }
        Constraint::Hosted => {
            judge(traits.has(Traits::HOSTED), traits.has(Traits::LOCAL) && !traits.has(Traits::HOSTED))
        }
        Constraint::OpenSource => judge(
            traits.has(Traits::OPEN_SOURCE),
            (traits.has(Traits::PAID) || traits.has(Traits::HOSTED)) && !traits.has(Traits::OPEN_SOURCE),
        ),
        Constraint::Language(language) => {
            judge(traits.speaks(*language), traits.has_language() && !traits.speaks(*language))
        }
        Constraint::Excluding(_) => 0.0,
    };
    constraints.iter().map(of).sum()
}

fn judge(satisfied: bool, contradicted: bool) -> f32 {
    match (satisfied, contradicted) {
        (_, true) => CONTRADICTED,
        (true, false) => SATISFIED,
        (false, false) => 0.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(request: &str) -> ParsedRequest {
        let names = ["google", "amazon", "aws", "slack", "zoom", "microsoft", "google maps", "sendgrid"];
        ParsedRequest::new(request, Vocabulary::shipped(), |name, _| names.contains(&name))
    }

    fn excluding(name: &str) -> Constraint {
        Constraint::Excluding(name.to_owned())
    }

    #[test]
    fn excluded_names_are_taken_out_of_the_topic() {
        for (request, topic, names) in [
            (
                "addresses to coordinates but not google maps",
                "addresses to coordinates but",
                &["google maps"][..],
            ),
            ("send mail with no sendgrid and no amazon", "send mail with", &["amazon", "sendgrid"]),
            ("video call without Google", "video call", &["Google"]),
            ("not Google's, a forecast", "a forecast", &["Google"]),
            ("anything but aws or microsoft: tables of a pdf", "tables of a pdf", &["aws", "microsoft"]),
            ("a meeting link, not via zoom", "a meeting link", &["zoom"]),
        ] {
            let parsed = parse(request);
            assert_eq!(parsed.topic, topic, "{request}");
            let expected: Vec<Constraint> = names.iter().copied().map(excluding).collect();
            assert_eq!(parsed.constraints, expected, "{request}");
        }
    }

    #[test]
    fn a_replaced_product_says_what_the_request_is_about() {
        let parsed = parse("open source alternative to slack");
        assert_eq!(parsed.constraints, [Constraint::OpenSource, excluding("slack")]);
        assert!(parsed.topic.contains("chat") && !parsed.topic.contains("slack"), "{}", parsed.topic);
    }

    #[test]
    fn negations_of_other_things_change_nothing() {
        for request in [
            "remove the background without losing quality",
            "not sure what to cook",
            "no sleep tonight, play rain sounds",
            "zoom into a picture",
            "notify me when nobody is home",
            "free up space on my phone",
            "find a free slot for everybody",
            "gluten free recipes",
        ] {
            let parsed = parse(request);
            assert_eq!((parsed.topic.as_str(), parsed.constraints.as_slice()), (request, &[][..]));
        }
    }

    #[test]
    fn demands_are_understood_however_they_are_said() {
        use Constraint::{Free, Language as In, Local, NoAccount, OpenSource};
        for (request, expected) in [
            ("free weather api without a key", &[Free, NoAccount][..]),
            ("exchange rates, but I won't pay a monthly plan", &[Free]),
            ("speech recognition in python that works offline", &[Local, In(Language::Python)]),
            ("transcribe talks, data must not leave the house", &[Local]),
            ("Open-source geocoder, self-hosted", &[Local, OpenSource]),
            ("python only: read pdf tables", &[In(Language::Python)]),
            ("will it rain? I don't want to sign up", &[NoAccount]),
        ] {
            assert_eq!(parse(request).constraints, expected, "{request}");
        }
    }

    #[test]
    fn contradicting_cards_fall_and_satisfying_ones_rise_a_little() {
        let paid = Traits::of("Priced per request, API key required.");
        let free = Traits::of("Free of charge, no key needed.");
        let unknown = Traits::of("Returns the coordinates of an address.");
        for constraint in [Constraint::Free, Constraint::NoAccount] {
            let shifts = [paid, unknown, free].map(|traits| shift(std::slice::from_ref(&constraint), traits));
            assert!(shifts[0] < shifts[1] && shifts[1] < shifts[2], "{constraint:?}: {shifts:?}");
        }
    }

    #[test]
    fn excluding_a_company_excludes_its_brands() {
        assert!(aliases("microsoft").contains(&"azure"));
        assert_eq!(aliases("azure"), ["azure"]);
        assert_eq!(aliases("google maps"), ["google maps"]);
    }
}
