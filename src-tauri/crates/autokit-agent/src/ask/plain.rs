//! Whether a lower-case word is an ordinary word rather than a name.
//!
//! The dictionary is the vocabulary of the embedding model: common words, few inflected forms, little
//! programming vocabulary. So inflected forms are reduced to stems here, and programming terms are listed.
//! Compounds are not split, because product names are made that way.

/// Programming terms that the vocabulary lacks.
const PROGRAMMING_TERMS: &[&str] = &[
    "addon",
    "admin",
    "alphabetical",
    "annotate",
    "anonymise",
    "api",
    "append",
    "args",
    "async",
    "asynchronous",
    "auth",
    "authenticate",
    "autocomplete",
    "backend",
    "barcode",
    "blob",
    "blockchain",
    "boolean",
    "captcha",
    "changelog",
    "chatbot",
    "checkbox",
    "checkout",
    "checksum",
    "cli",
    "clipboard",
    "codec",
    "compile",
    "concise",
    "config",
    "convert",
    "cron",
    "crypto",
    "cryptocurrency",
    "csv",
    "customize",
    "dashboard",
    "dataframe",
    "dataset",
    "datasource",
    "datetime",
    "deduplicate",
    "delete",
    "deprecate",
    "deserialize",
    "deserialise",
    "dict",
    "docs",
    "ecommerce",
    "email",
    "embed",
    "empower",
    "encode",
    "decode",
    "endpoint",
    "enrich",
    "enum",
    "expire",
    "fallback",
    "favicon",
    "filename",
    "filesystem",
    "firmware",
    "forecast",
    "frontend",
    "generative",
    "geocode",
    "geolocation",
    "granular",
    "grayscale",
    "hassle",
    "homepage",
    "html",
    "hyperlink",
    "hyphen",
    "identifier",
    "inbox",
    "insensitive",
    "invoice",
    "ip",
    "jpeg",
    "json",
    "keyword",
    "latency",
    "lightweight",
    "localhost",
    "login",
    "logout",
    "lookup",
    "lowercase",
    "uppercase",
    "mailbox",
    "markdown",
    "metadata",
    "middleware",
    "millisecond",
    "multimodal",
    "namespace",
    "newline",
    "newsletter",
    "npm",
    "numeric",
    "oauth",
    "offline",
    "online",
    "onboard",
    "open-source",
    "opensource",
    "paginate",
    "param",
    "parse",
    "pdf",
    "personalize",
    "placeholder",
    "playlist",
    "plugin",
    "podcast",
    "populate",
    "postcode",
    "preset",
    "programmatic",
    "proxy",
    "realtime",
    "redirect",
    "regex",
    "repo",
    "reschedule",
    "retrieve",
    "retry",
    "runtime",
    "sandbox",
    "scalable",
    "schema",
    "screenshot",
    "sdk",
    "serialize",
    "serialise",
    "serverless",
    "shorten",
    "simplify",
    "smtp",
    "snippet",
    "spam",
    "spreadsheet",
    "sql",
    "startup",
    "stderr",
    "stdin",
    "stdout",
    "storefront",
    "stylesheet",
    "subscribe",
    "summarize",
    "summarise",
    "synchronous",
    "text-to-speech",
    "thumbnail",
    "timeout",
    "timeframe",
    "timestamp",
    "timezone",
    "tokenize",
    "toolkit",
    "traceroute",
    "transactional",
    "transcribe",
    "troubleshoot",
    "tutorial",
    "underscore",
    "unsubscribe",
    "upload",
    "upsert",
    "uri",
    "url",
    "username",
    "utf",
    "validate",
    "vectorize",
    "viewport",
    "voicemail",
    "wallpaper",
    "watermark",
    "webhook",
    "webpage",
    "website",
    "whitelist",
    "whois",
    "wiki",
    "workflow",
    "workload",
    "workspace",
    "wrapper",
    "xml",
    "yaml",
    "zip",
];

/// Word endings, and what may replace each of them to form the stem.
const SUFFIXES: &[(&str, &[&str])] = &[
    ("izations", &["ize", ""]),
    ("ization", &["ize", ""]),
    ("isations", &["ise", "ize", ""]),
    ("isation", &["ise", "ize", ""]),
    ("ations", &["ate", "e", ""]),
    ("ation", &["ate", "e", ""]),
    ("ments", &[""]),
    ("ment", &[""]),
    ("ably", &["", "e"]),
    ("ions", &["", "e"]),
    ("ising", &["ize"]),
    ("ised", &["ize"]),
    ("ises", &["ize"]),
    ("ers", &["", "e"]),
    ("ors", &["", "e"]),
    ("ies", &["y"]),
    ("ied", &["y"]),
    ("ing", &["", "e"]),
    ("ion", &["", "e"]),
    ("ise", &["ize"]),
    ("able", &["", "e"]),
    ("ally", &["", "al"]),
    ("ness", &[""]),
    ("less", &[""]),
    ("ful", &[""]),
    ("ity", &["", "e"]),
    ("es", &["", "e"]),
    ("ed", &["", "e"]),
    ("er", &["", "e"]),
    ("or", &["", "e"]),
    ("ly", &["", "le"]),
    ("s", &[""]),
];

const PREFIXES: &[&str] =
    &["re", "un", "pre", "non", "sub", "multi", "auto", "geo", "inter", "over", "mis", "dis", "de"];

/// Words shorter than this are accepted: most are abbreviations, and names are rarely that short.
const MIN_WORD: usize = 4;
/// Least length of a stem after an ending or a prefix was removed.
const MIN_STEM: usize = 3;

/// Whether the lower-case `word` is a word of the language or a programming term, as it is, by its stem, or
/// without a prefix.
pub(super) fn is_ordinary_word(word: &str, is_word: &dyn Fn(&str) -> bool) -> bool {
    let known = |word: &str| is_word(word) || PROGRAMMING_TERMS.contains(&word);
    word.chars().count() < MIN_WORD
        || has_stem(word, &known)
        || PREFIXES.iter().any(|start| {
            word.strip_prefix(start).is_some_and(|rest| rest.len() > MIN_STEM && has_stem(rest, &known))
        })
}

fn has_stem(word: &str, known: &dyn Fn(&str) -> bool) -> bool {
    let is_stem = |stem: &str, end: &str| {
        let doubled = || {
            // `planned`: the last letter is doubled before the ending.
            let mut chars = stem.chars().rev();
            let last = chars.next();
            end.is_empty()
                && last.is_some()
                && last == chars.next()
                && known(&stem[..stem.len() - last.map_or(0, char::len_utf8)])
        };
        known(&format!("{stem}{end}")) || doubled()
    };
    known(word)
        || SUFFIXES.iter().any(|(ending, before)| {
            word.strip_suffix(ending)
                .is_some_and(|stem| stem.len() >= MIN_STEM && before.iter().any(|end| is_stem(stem, end)))
        })
}

#[cfg(test)]
mod tests {
    use super::is_ordinary_word;

    #[test]
    fn forms_of_words_are_words_and_invented_names_are_not() {
        let words = [
            "summary", "plan", "calendar", "service", "schedule", "notify", "create", "data", "wizard",
            "evil", "tool",
        ];
        let plain = |word: &str| is_ordinary_word(word, &|word| words.contains(&word));
        for word in [
            "calendars",
            "planned",
            "planning",
            "notifies",
            "notified",
            "creation",
            "creator",
            "rescheduling",
            "endpoints",
            "summarises",
            "webhooks",
            "pdf",
            "authentication",
            "uploads",
        ] {
            assert!(plain(word), "{word}");
        }
        for word in ["frobnicator", "skyoracle", "eviltool", "datawizard", "zapperly"] {
            assert!(!plain(word), "{word}");
        }
    }
}
