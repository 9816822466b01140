//! Language models, search services, network access and API keys.

use std::collections::BTreeMap;

use autokit_error::ApiError;
use autokit_web::search::Service;
use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Storage of API keys and other secrets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyStorage {
    /// Keychain of the platform.
    #[default]
    Keychain,
    /// Encrypted file in the configuration folder.
    File,
    /// Memory only; lost when the program ends.
    Memory,
}

/// Protocol of a language model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LlmKind {
    /// No language model; rules on this machine are used instead.
    #[default]
    None,
    /// Anthropic's Messages API.
    Anthropic,
    /// OpenAI's chat completions API: OpenAI, Ollama, LM Studio, llama.cpp, vLLM, OpenRouter.
    Openai,
}

impl LlmKind {
    /// Returns whether a protocol is configured.
    pub fn is_chosen(self) -> bool {
        self != LlmKind::None
    }
}

/// Settings of the language models.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct LlmSettings {
    /// Protocol.
    pub kind: LlmKind,
    /// Base URL; empty for the provider's default.
    pub base: String,
    /// Name of the model that writes answers and searches the web.
    pub large: String,
    /// Name of the model that grades, reranks and rewrites; empty for the large model.
    pub small: String,
    /// Whether the model supports tool calls.
    pub tools: bool,
    /// Input price of the large model in US dollars per million tokens. Default: list price.
    pub price_in: Option<f64>,
    /// Output price of the large model in US dollars per million tokens. Default: list price.
    pub price_out: Option<f64>,
    /// Spending limit in US dollars. Once reached, no request is sent until the limit is raised or the
    /// spending is reset.
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

/// Web search service.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum SearchKind {
    /// No web search.
    #[default]
    None,
    /// tavily.com; requires an API key.
    Tavily,
    /// Brave Search; requires an API key.
    Brave,
    /// SearXNG instance; requires its address.
    Searxng,
    /// DuckDuckGo; no API key.
    Duckduckgo,
}

impl SearchKind {
    /// Returns whether a service is configured.
    pub fn is_chosen(self) -> bool {
        self != SearchKind::None
    }

    /// Returns the service, if one is configured.
    pub fn service(self) -> Option<Service> {
        match self {
            SearchKind::None => None,
            SearchKind::Tavily => Some(Service::Tavily),
            SearchKind::Brave => Some(Service::Brave),
            SearchKind::Searxng => Some(Service::Searxng),
            SearchKind::Duckduckgo => Some(Service::Duckduckgo),
        }
    }

    /// Returns which API key the service requires, if it requires one.
    pub fn key(self) -> Option<KeyName> {
        match self {
            SearchKind::Tavily => Some(KeyName::Tavily),
            SearchKind::Brave => Some(KeyName::Brave),
            SearchKind::None | SearchKind::Searxng | SearchKind::Duckduckgo => None,
        }
    }
}

/// Settings of the web search.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct SearchSettings {
    /// Search service.
    pub kind: SearchKind,
    /// Base URL; empty for the service's default.
    pub base: String,
    /// Names of the sources searched first, in this order, separated by commas; empty for none.
    pub preferred: String,
    /// Whether to query GitHub for facts about repositories.
    pub github: bool,
    /// Base URL of GitHub's API; empty for github.com.
    pub github_base: String,
}

impl SearchSettings {
    /// Returns the sources searched first, in order.
    pub fn preferred_sources(&self) -> Vec<String> {
        let sources = self.preferred.split(',').map(str::trim).filter(|source| !source.is_empty());
        sources.map(str::to_owned).collect()
    }
}

impl Default for SearchSettings {
    fn default() -> SearchSettings {
        SearchSettings {
            kind: SearchKind::None,
            base: String::new(),
            preferred: "LangChain".to_owned(),
            github: false,
            github_base: String::new(),
        }
    }
}

/// Settings of network access.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct NetworkSettings {
    /// Hosts on this machine or a private network whose pages may be fetched.
    pub allowed_hosts: Vec<String>,
    /// Proxy for pages and searches.
    pub proxy: Option<String>,
}

/// Settings of all services. Contains no keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, TS)]
#[serde(default)]
pub struct ProviderSettings {
    /// Language models.
    pub llm: LlmSettings,
    /// Web search.
    pub search: SearchSettings,
    /// Network access.
    pub network: NetworkSettings,
    /// Storage of keys.
    pub keep: KeyStorage,
    /// Prompts that replace the built-in ones, by name.
    pub prompts: BTreeMap<String, String>,
}

/// API key, identified by its service.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum KeyName {
    /// Anthropic.
    Anthropic,
    /// OpenAI-compatible service.
    Openai,
    /// Tavily.
    Tavily,
    /// Brave Search.
    Brave,
    /// GitHub.
    Github,
}

impl KeyName {
    /// All API keys.
    pub const ALL: [KeyName; 5] =
        [KeyName::Anthropic, KeyName::Openai, KeyName::Tavily, KeyName::Brave, KeyName::Github];

    /// Returns the name under which the key is stored.
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

/// Whether an API key is set. The key itself is never returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct KeyState {
    /// Service of the key.
    pub name: KeyName,
    /// Whether the key is set.
    pub set: bool,
}

/// Built-in prompt.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct ShippedPrompt {
    /// Prompt name.
    pub name: String,
    /// Prompt text.
    pub text: String,
    /// Names of its slots.
    pub slots: Vec<String>,
}

/// Settings and status of all services.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Providers {
    /// Current settings.
    pub settings: ProviderSettings,
    /// Status of each API key.
    pub keys: Vec<KeyState>,
    /// Where keys are stored, for display: the system's keychain, or an encrypted file.
    pub keys_in: String,
    /// Error that prevents keys from being read.
    pub keys_error: Option<ApiError>,
    /// Errors that prevent configured services from being used.
    pub missing: Vec<ApiError>,
    /// US dollars spent on language models since the last reset.
    pub spent: f64,
    /// Tokens since the last reset: input, output.
    #[ts(type = "[number, number]")]
    pub tokens: (u64, u64),
    /// Prices per million tokens used for the large model, in US dollars: input, output; `null` if unknown.
    pub price: Option<(f64, f64)>,
    /// Built-in prompts.
    pub prompts: Vec<ShippedPrompt>,
}

/// Request to set or remove an API key. No other request and no response or event contains it.
#[derive(Clone, Serialize, Deserialize, TS)]
pub struct SecretSet {
    /// Service of the key.
    pub name: KeyName,
    /// The API key; empty to remove it.
    pub value: String,
}

impl std::fmt::Debug for SecretSet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SecretSet").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Connection to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum Connection {
    /// Large language model.
    Llm,
    /// Small language model.
    SmallLlm,
    /// Search service.
    Search,
    /// GitHub.
    Github,
}

/// Request for the models that a service offers. It may differ from the chosen one, which cannot be chosen before its
/// model is known.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct LanguageModelsQuery {
    /// Kind of service. Its stored key is sent to its default address and to the address in use, and nowhere else.
    pub kind: LlmKind,
    /// Address of the service; empty for the default one of its kind.
    pub base: String,
}

/// Request to test a connection.
#[derive(Clone, Copy, Debug, Serialize, Deserialize, TS)]
pub struct TestRequest {
    /// The connection.
    pub connection: Connection,
}

/// Result of a successful connection test. A failed test returns an error with a remedy.
#[derive(Clone, Debug, Serialize, Deserialize, TS)]
pub struct TestOutcome {
    /// Result for people.
    pub text: String,
    /// Duration of the round trip in milliseconds.
    pub ms: u32,
}
