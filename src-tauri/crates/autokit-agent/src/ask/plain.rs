//! Whether a word in small letters is a word, and not the name of something.
//!
//! The dictionary at hand is the vocabulary of the embedding model: common words as they are, few of
//! their forms, little of what programmers say. Forms are led back to their stems here, and the words
//! of the trade are listed. Two words written as one are not taken apart: names are made that way.

/// What programmers say and the vocabulary does not hold.
const TRADE: &[&str] = &[
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

/// Endings, longest first, and what may have stood there before.
const ENDINGS: &[(&str, &[&str])] = &[
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

const BEGINNINGS: &[&str] =
    &["re", "un", "pre", "non", "sub", "multi", "auto", "geo", "inter", "over", "mis", "dis", "de"];

/// Shorter words are left alone: most are abbreviations, and names are rarely that short.
const SHORTEST: usize = 4;
/// What has to be left of a word after an ending or a beginning went.
const STEM: usize = 3;

/// Whether `word`, in small letters, is a word of the language or of the trade by itself, by its stem, or
/// without what stands before it.
pub(super) fn is_plain(word: &str, is_word: &dyn Fn(&str) -> bool) -> bool {
    let known = |word: &str| is_word(word) || TRADE.contains(&word);
    word.chars().count() < SHORTEST
        || has_stem(word, &known)
        || BEGINNINGS.iter().any(|start| {
            word.strip_prefix(start).is_some_and(|rest| rest.len() > STEM && has_stem(rest, &known))
        })
}

fn has_stem(word: &str, known: &dyn Fn(&str) -> bool) -> bool {
    let stands = |stem: &str, end: &str| {
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
        || ENDINGS.iter().any(|(ending, before)| {
            word.strip_suffix(ending)
                .is_some_and(|stem| stem.len() >= STEM && before.iter().any(|end| stands(stem, end)))
        })
}

#[cfg(test)]
mod tests {
    use super::is_plain;

    #[test]
    fn forms_of_words_are_words_and_invented_names_are_not() {
        let words = [
            "summary", "plan", "calendar", "service", "schedule", "notify", "create", "data", "wizard",
            "evil", "tool",
        ];
        let plain = |word: &str| is_plain(word, &|word| words.contains(&word));
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
