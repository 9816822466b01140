//! Detects instructions to a model that reads a description: to ignore its instructions, to keep something
//! from its user, to read sensitive files, to call other tools too.
//!
//! Documentation also gives instructions ("You must pass a key"), to whoever writes the call. So a phrase
//! counts only if it mentions instructions, the user as a third person, or the model; and a file with secrets
//! only if it is to be read and something nearby urges the reader to do so.

use std::sync::LazyLock;

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};

use super::fold::Folded;
use super::{Found, InjectionKind};

/// Matches up to `$most` more characters of a sentence; a period inside a name does not end it.
macro_rules! rest {
    ($most:literal) => {
        concat!(r"(?:[^.!?;]|[.!?]\S){0,", $most, "}?")
    };
}

const DROP: &str = "An instruction to ignore earlier instructions.";
const SECRET: &str = "An instruction to hide something from the user.";
const MODEL: &str = "An instruction to the model that reads this.";
const OTHER: &str = "An instruction about other tools.";
const LEAK: &str = "An instruction to reveal the model's instructions or the user's data.";

/// Patterns that are sufficient by themselves, matched against folded text, each with an explanation.
const SHAPES: &[(&str, &str)] = &[
    (
        r"\b(?:ignor(?:e|ing)|disregard(?:ing)?|forget(?:ting)?|overrid(?:e|ing)|bypass(?:ing)?|discard(?:ing)?|override)\s+(?:\w+\s+){0,3}?(?:previous|prior|earlier|preceding|above|foregoing|former|your|all\s+other|any\s+other|other|original|existing|system)\s+(?:\w+\s+){0,2}?(?:instructions?|directives?|directions|guidelines|guardrails|rules|orders|commands)\b",
        DROP,
    ),
    (
        r"\b(?:ignore|disregard|forget)\s+(?:\w+\s+){0,3}?(?:previous|prior|earlier|above|your)\s+(?:\w+\s+){0,2}?(?:prompts?|context|messages|training|task|everything)\b",
        DROP,
    ),
    (
        r"\b(?:ignore|disregard|forget)\s+(?:all|any|every)\s+(?:of\s+)?(?:the\s+)?(?:instructions?|directives?|guidelines|guardrails)\b",
        DROP,
    ),
    (
        r"\b(?:ignore|disregard|forget)\s+(?:everything|all|anything)\s+(?:that\s+)?(?:you\s+(?:were|have\s+been|ve\s+been|know)|above|before\s+this|said\s+(?:above|before))",
        DROP,
    ),
    (
        r"\bignorier\w*\s+(?:\w+\s+){0,3}?(?:anweisung|instruktion)\w*|\bignore[zr]\s+(?:\w+\s+){0,3}?instructions\s+precedentes|\bignor[ae]\s+(?:\w+\s+){0,3}?instrucciones\s+anteriores",
        DROP,
    ),
    (
        r"\b(?:take|takes|has|have)\s+(?:absolute\s+)?(?:precedence|priority)\s+over\s+(?:\w+\s+){0,3}?(?:instructions|system\s+prompt|guidelines|directives)\b",
        DROP,
    ),
    (
        r"\b(?:supersedes?|overrides?|replaces?)\s+(?:all|any|every|your)\s+(?:\w+\s+){0,2}?(?:instructions|guidelines|directives)\b",
        DROP,
    ),
    (
        r"(?:^|\n)\s*[\[(*#]*\s*system\s+(?:override|instructions?|message|alert|command)[\])*]*\s*:|\b(?:new|real|actual|secret|hidden)\s+(?:system\s+)?instructions?\s*:",
        DROP,
    ),
    (
        concat!(
            r"\b(?:do\s+not|don'?t|never|must\s+not|should\s+not|shall\s+not|without|avoid|refrain\s+from)\s+(?:ever\s+)?tell(?:ing)?\b",
            rest!("40"),
            r"\b(?:users?|humans?|customers?|persons?|operators?|anyone|anybody|them)\b"
        ),
        SECRET,
    ),
    (
        concat!(
            r"\b(?:do\s+not|don'?t|never|must\s+not|should\s+not|without|avoid|no\s+need\s+to)\s+(?:ever\s+)?(?:mention|reveal|disclos|explain|say|describ|discuss|acknowledg)(?:e|ing|ed)?\b",
            rest!("40"),
            r"\b(?:to|with)\s+(?:the\s+|your\s+)?(?:user|human|customer|person)\b"
        ),
        SECRET,
    ),
    (
        r"\b(?:do\s+not|don'?t|never|must\s+not|should\s+not|without)\s+(?:inform|notify|alert|warn|ask)(?:ing)?\s+(?:the\s+)?(?:user|human|customer)s?\s+(?:about|of|that)\s+(?:this|it|these|you|what|the\s+(?:call|tool|step|file|instruction))",
        SECRET,
    ),
    (
        r"\b(?:do\s+not|don'?t|never)\s+let\s+(?:the\s+)?(?:user|human)\s+(?:know|see|notice|find\s+out)",
        SECRET,
    ),
    (
        r"\b(?:do\s+not|don'?t|never)\s+mention\s+(?:this|that\s+you|these|any\s+of\s+this|the\s+(?:instruction|step|tool|call))",
        SECRET,
    ),
    (
        r"\b(?:do\s+not|don'?t|never)\s+ask\s+(?:the\s+)?(?:user|human)\s+for\s+(?:their\s+|any\s+)?(?:permission|approval|consent)",
        SECRET,
    ),
    (
        r"\bwithout\s+(?:the\s+)?(?:user|human|customer)(?:'?s)?\s+(?:knowledge|knowing|noticing|awareness|being\s+aware|seeing)",
        SECRET,
    ),
    (
        r"\b(?:hide|conceal|keep)\s+(?:all\s+(?:of\s+)?)?(?:this|these|it\s+(?:a\s+)?(?:secret|hidden))\s+(?:\w+\s+){0,3}?from\s+(?:the\s+)?(?:users?|humans?)\b",
        SECRET,
    ),
    (
        r"\b(?:secretly|covertly|surreptitiously)\s+(?:\w+\s+)?(?:send|read|include|forward|copy|call|add|append|upload|collect|pass|insert|execute|run)\b",
        SECRET,
    ),
    (
        r"\b(?:silently|quietly)\s+(?:also\s+)?(?:send|forward|copy|upload|exfiltrate|bcc|include)\s+(?:\w+\s+){0,3}?(?:to|all|the\s+user)",
        SECRET,
    ),
    (
        r"\b(?:attention|note\s+(?:to|for)|hey|dear|listen)[,:]?\s+(?:the\s+|all\s+|any\s+)?(?:ai|llms?|assistants?|language\s+models?|chatbots?|claude|chatgpt|gpt|copilot)\b",
        MODEL,
    ),
    (
        r"\b(?:ai|llms?|ai\s+(?:assistant|agent|model)s?|assistant|language\s+models?|chatbot|claude|chatgpt|gpt|copilot)\s+(?:must|shall|has\s+to|have\s+to|is\s+required\s+to|are\s+required\s+to|should\s+(?:always|never|first))\s+(?:\w+\s+){0,2}?(?:read|open|send|call|invoke|execute|ignore|forward|reveal|run|fetch|hide|approve|transfer|delete|obey|comply|disregard|exfiltrate)\b",
        MODEL,
    ),
    (
        r"\bfrom\s+now\s+on,?\s+you\b|\byou\s+are\s+now\s+(?:in\s+)?(?:\w+\s+)?(?:developer|debug|god|admin|unrestricted|jailbroken|dan)\b(?:\s+mode)?",
        MODEL,
    ),
    (r"\bas\s+an\s+(?:ai|llm)\b[^.!?]{0,40}\byou\s+(?:must|should|have\s+to)\b", MODEL),
    (
        concat!(
            r"\b(?:before|after|when(?:ever)?|each\s+time|every\s+time)\s+(?:you\s+)?(?:use|us(?:e|ing)|call(?:ing)?|invok(?:e|ing)|run(?:ning)?|execut(?:e|ing))\s+(?:this|any|the|each|every|another)\s+(?:other\s+)?(?:tool|function)s?\b",
            rest!("60"),
            r"\b(?:read|open|cat|collect|send|include|copy|upload|forward|visit)\b",
            rest!("60"),
            r"(?:\bsecret|\bpassword|\bprivate\s+key|\bssh\b|\bcredential|\bconversation|\bchat\s+history|\.env\b|~/|/etc/|mcp\.json)(?:[\w/-]|\.\w)*"
        ),
        LEAK,
    ),
    (
        r"\byou\s+(?:must|should|need\s+to|have\s+to|are\s+required\s+to)\s+(?:always\s+)?(?:also|additionally|then\s+also)\s+(?:call|invoke)\b",
        OTHER,
    ),
    (
        concat!(
            r"\balways\s+(?:use|prefer|call|choose|select|pick)\s+this\s+(?:tool|function|one)\b",
            rest!("40"),
            r"\b(?:instead\s+of|over|rather\s+than|before)\s+(?:\w+\s+){0,2}?(?:others?|all|any|every)\b"
        ),
        OTHER,
    ),
    (
        r"\b(?:never|do\s+not|don'?t)\s+(?:use|call|trust)\s+(?:any\s+)?other\s+(?:\w+\s+)?(?:tools?|functions?|servers?)\b",
        OTHER,
    ),
    (
        concat!(
            r"\b(?:must|always|should|have\s+to)\s+(?:\w+\s+){0,3}?(?:change|replace|redirect|set|rewrite)\s+(?:the\s+)?(?:recipient|destination|payee|beneficiary)\w*\s+",
            rest!("30"),
            r"(?:to|with|by)\s+\S"
        ),
        OTHER,
    ),
    (
        r"\b(?:all|any|every|each)\s+(?:\w+\s+)?(?:e-?mails?|messages?|payments?|transfers?|results?|files?)\s+(?:must|should|need\s+to|have\s+to)\s+(?:also\s+)?(?:be\s+)?(?:sent|forwarded|copied|bcc'?e?d|redirected|routed|go)\s+to\s+\S*(?:@|://|0x)",
        OTHER,
    ),
    (
        r"\b(?:reveal|print|output|repeat|leak|show|send|include|append|forward|give|pass)\s+(?:\w+\s+){0,2}?your\s+(?:full\s+|entire\s+|own\s+|whole\s+)?(?:system\s+(?:prompt|message)|(?:system|initial|hidden|original)\s+instructions|conversation|chat\s+history)",
        LEAK,
    ),
    (
        concat!(
            r"\b(?:send|post|forward|upload|transmit|e-?mail|exfiltrate|leak|copy)\s+(?:\w+\s+){0,2}?(?:all|any|every|the\s+user'?s|their|its|the\s+contents?\s+of)\s+",
            rest!("40"),
            r"(?:passwords?|credentials|secrets|tokens?|api[ _-]?keys?|private\s+keys?|ssh\s+keys?|environment\s+variables|env\s+vars|conversations?|chat\s+history|\.env)\b",
            rest!("40"),
            r"\bto\s+\S*(?:://|@\w|attacker)"
        ),
        LEAK,
    ),
];

/// Matches reading a file that contains secrets.
const FILE: &str = concat!(
    r"\b(?:read|cat|open|load|include|send|upload|copy|dump|attach|paste|forward|exfiltrate)\b",
    rest!("40"),
    r"(?:~/\.ssh\b|\.ssh/|\bid_rsa\b|\bid_ed25519\b|/etc/(?:passwd|shadow)\b|~/\.aws\b|\.aws/credentials|\.cursor/mcp\.json|\bmcp\.json\b|claude_desktop_config\.json|~/\.netrc|~/\.npmrc|\.git-credentials|\.bash_history|\.zsh_history|\.gnupg\b|\.kube/config|\bwallet\.dat\b|(?:^|[\s`'/])\.env\b)(?:[\w/-]|\.\w)*"
);

/// Matches phrases that urge the reader to read the file, or say where its contents have to go.
const URGE: &str = r"\b(?:before|after|when)\s+(?:using|calling|invoking|running)\b|\byou\s+(?:must|need\s+to|should|have\s+to)\b|\bfirst\s*,|\balways\s+(?:read|include|send|open|load)\b|\b(?:its|their|the)\s+contents?\b\s*(?:as|in|into|to|with|here)|\botherwise\b|\b(?:and|then)\s+(?:pass|send|include|put|post|add|upload|forward)\b|\bimportant\s*:";

/// Distance from the file, in characters, within which such a phrase counts.
const NEAR: usize = 160;

fn expression(shape: &str) -> Regex {
    RegexBuilder::new(shape).unicode(false).size_limit(16 << 20).build().expect("a valid expression")
}

static EACH: LazyLock<Vec<Regex>> =
    LazyLock::new(|| SHAPES.iter().map(|(shape, _)| expression(shape)).collect());

/// Tells in one pass which patterns match at all; most texts match none.
static ANY: LazyLock<RegexSet> = LazyLock::new(|| {
    let shapes = SHAPES.iter().map(|(shape, _)| shape);
    RegexSetBuilder::new(shapes)
        .unicode(false)
        .size_limit(64 << 20)
        .dfa_size_limit(16 << 20)
        .build()
        .expect("valid expressions")
});

static FILES: LazyLock<Regex> = LazyLock::new(|| expression(FILE));
static URGES: LazyLock<Regex> = LazyLock::new(|| expression(URGE));

pub(super) fn find(folded: &Folded) -> Vec<Found> {
    let text = &folded.text;
    let mut found = Vec::new();
    for at in ANY.matches(text) {
        let (shape, why) = (&EACH[at], SHAPES[at].1);
        let ranges = shape.find_iter(text).map(|hit| folded.original_range(hit.range()));
        found.extend(ranges.map(|at| Found::new(at, InjectionKind::Instruction, why)));
    }
    for hit in FILES.find_iter(text) {
        let public = hit.as_bytes().ends_with(b".pub");
        if !public && URGES.is_match(folded.around(&hit.range(), NEAR)) {
            let why = "An instruction to read a file that contains keys.";
            found.push(Found::new(folded.original_range(hit.range()), InjectionKind::Instruction, why));
        }
    }
    found
}
