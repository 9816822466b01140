//! Language models, search services, the network, keys.

use std::collections::BTreeMap;

use autokit_error::ApiError;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Where keys are kept.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyStorage {
    /// The platform's keychain.
    #[default]
    Keychain,
    /// A sealed file in the configuration folder.
    File,
    /// Nowhere: they are gone when the program ends.
    Memory,
}

/// How a language model is spoken to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LlmKind {
    /// No language model: rules on this machine.
    #[default]
    None,
    /// Anthropic's Messages.
    Anthropic,
    /// Chat completions as OpenAI speaks them: OpenAI, Ollama, LM Studio, llama.cpp, vLLM, OpenRouter.
    Openai,
}

impl LlmKind {
    /// Whether it is any.
    pub fn is_chosen(self) -> bool {
        self != LlmKind::None
    }
}

/// The language model.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct LlmSettings {
    /// How it is spoken to.
    pub kind: LlmKind,
    /// Its address; empty for the service's own.
    pub base: String,
    /// Writes answers and looks on the web.
    pub large: String,
    /// Grades, reranks and rewrites; empty for the same model.
    pub small: String,
    /// It takes tools as such.
    pub tools: bool,
    /// US dollars for a million tokens read by the large model; the list price if not given.
    pub price_in: Option<f64>,
    /// US dollars for a million tokens written by the large model; the list price if not given.
    pub price_out: Option<f64>,
    /// US dollars after which nothing is asked any more until the limit is raised or the count begun anew.
    pub cap: Option<f64>,
}

impl Default for LlmSettings {
    fn default() -> LlmSettings {
        LlmSettings {
            kind: LlmKind::None,
            base: String::new(),
            large: String::new(),
            small: String::new(),
            tools: true,
            price_in: None,
            price_out: None,
            cap: None,
        }
    }
}

/// Which service searches the web.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SearchKind {
    /// None: the library alone.
    #[default]
    None,
    /// tavily.com; needs a key.
    Tavily,
    /// Brave Search; needs a key.
    Brave,
    /// A SearXNG instance at an address of its own.
    Searxng,
    /// DuckDuckGo; no key.
    Duckduckgo,
}

impl SearchKind {
    /// Whether it is any.
    pub fn is_chosen(self) -> bool {
        self != SearchKind::None
    }
}

/// Searching the web.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct SearchSettings {
    /// The service.
    pub kind: SearchKind,
    /// Its address; empty for the service's own.
    pub base: String,
    /// The source looked at first, in words; empty for none.
    pub preferred: String,
    /// Ask GitHub for facts about repositories.
    pub github: bool,
}

impl Default for SearchSettings {
    fn default() -> SearchSettings {
        SearchSettings {
            kind: SearchKind::None,
            base: String::new(),
            preferred: "LangChain".to_owned(),
            github: false,
        }
    }
}

/// What may be reached.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct NetworkSettings {
    /// Hosts on this machine or a private network whose pages may be read.
    pub allowed_hosts: Vec<String>,
    /// A proxy for pages and searches.
    pub proxy: Option<String>,
}

/// Everything chosen about services. Holds no key.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct ProviderSettings {
    /// The language model.
    pub llm: LlmSettings,
    /// Searching the web.
    pub search: SearchSettings,
    /// What may be reached.
    pub network: NetworkSettings,
    /// Where keys are kept.
    pub keep: KeyStorage,
    /// Prompts of the person's own, by name.
    pub prompts: BTreeMap<String, String>,
}

/// A key, by what it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyName {
    /// Anthropic.
    Anthropic,
    /// The OpenAI-compatible service.
    Openai,
    /// Tavily.
    Tavily,
    /// Brave Search.
    Brave,
    /// GitHub.
    Github,
}

impl KeyName {
    /// All of them.
    pub const ALL: [KeyName; 5] =
        [KeyName::Anthropic, KeyName::Openai, KeyName::Tavily, KeyName::Brave, KeyName::Github];

    /// The name it is kept under.
    pub fn as_str(self) -> &'static str {
        match self {
            KeyName::Anthropic => "llm.anthropic",
            KeyName::Openai => "llm.openai",
            KeyName::Tavily => "search.tavily",
            KeyName::Brave => "search.brave",
            KeyName::Github => "github",
        }
    }
}

/// Whether a key is kept. The key itself is never told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct KeyState {
    /// What it is for.
    pub name: KeyName,
    /// There is one.
    pub set: bool,
}

/// A prompt AutoKit comes with.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ShippedPrompt {
    /// Its name.
    pub name: String,
    /// Its text.
    pub text: String,
    /// Its slots.
    pub slots: Vec<String>,
}

/// Services as they stand.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Providers {
    /// What is chosen.
    pub settings: ProviderSettings,
    /// Which keys are kept.
    pub keys: Vec<KeyState>,
    /// Where keys are kept, for people: the system's keychain, or an encrypted file.
    pub keys_in: String,
    /// Why keys cannot be read, if so.
    pub keys_error: Option<ApiError>,
    /// Why something that is chosen cannot be used.
    pub missing: Vec<ApiError>,
    /// US dollars spent on language models since the count was begun.
    pub spent: f64,
    /// Tokens read and written by language models since the count was begun.
    #[ts(type = "[number, number]")]
    pub tokens: (u64, u64),
    /// What is counted for a million tokens read and written by the large model; none where it is not known.
    pub price: Option<(f64, f64)>,
    /// The prompts AutoKit comes with.
    pub prompts: Vec<ShippedPrompt>,
}

/// Keeps a key. The one request that carries it; no answer and no event does.
#[derive(Clone, Serialize, Deserialize, TS)]
pub struct SetSecret {
    /// What it is for.
    pub name: KeyName,
    /// The key; empty takes it away.
    pub value: String,
}

impl std::fmt::Debug for SetSecret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SetSecret").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Which connection to try.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Connection {
    /// The large model.
    Llm,
    /// The small model.
    SmallLlm,
    /// The search service.
    Search,
    /// GitHub.
    Github,
}

/// Tries a connection.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, TS)]
pub struct TestRequest {
    /// Which.
    pub connection: Connection,
}

/// What came of trying. What went wrong is an error with its remedy.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TestOutcome {
    /// What was seen, in words.
    pub text: String,
    /// Milliseconds of the round trip.
    pub ms: u32,
}
