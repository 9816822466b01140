//! Providers of web search and language models: which are chosen, their keys, and whether they respond.

mod spending;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use arc_swap::ArcSwap;
use async_trait::async_trait;
use autokit_api::commands::{
    Context, GetProviders, Handle, ListLanguageModels, SetProviders, SetSecret, TestConnection,
};
use autokit_api::{
    Connection, Event, KeyName, KeyState, LanguageModelsQuery, LlmKind, LlmSettings, Nothing,
    ProviderSettings, Providers as ProvidersView, SecretSet, ShippedPrompt, TestOutcome, TestRequest,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_llm::prompts::{self, Prompts};
use autokit_llm::{Ledger, Model, ModelConfig, Price, Protocol};
use autokit_pages::{PageCache, PageReader};
use autokit_search::QueryEmbedder;
use autokit_web::search::{GitHub, Hit, Provider, Service};
use autokit_web::{Fetched, Fetcher, Limits, NetworkPolicy};
use futures_util::future::join_all;

use crate::options::EngineOptions;
use crate::secrets::{KeyStorage, Secret, Secrets};
use crate::workspace::Workspace;
use spending::Spending;

/// Results that a test of the search tries to read.
const TESTED_RESULTS: usize = 3;

/// Reads the first result that can be read, because a search is of no use if its pages may not be read. Returns its
/// address, or the error of the first result.
async fn read_one(fetcher: &Fetcher, hits: &[Hit]) -> Option<Result<String>> {
    let hits = &hits[..hits.len().min(TESTED_RESULTS)];
    let pages = join_all(hits.iter().map(|hit| fetcher.get(&hit.url))).await;
    let read = |(hit, page): (&Hit, autokit_web::Result<Fetched>)| match page {
        Ok(page) if page.is_success() => Ok(hit.url.clone()),
        Ok(page) => Err(page.status_error()),
        Err(error) => Err(error.into()),
    };
    let mut results: Vec<Result<String>> = hits.iter().zip(pages).map(read).collect();
    let first = results.iter().position(Result::is_ok).unwrap_or(0);
    (!results.is_empty()).then(|| results.swap_remove(first))
}

/// Setting: providers as JSON.
const PROVIDERS_SETTING: &str = "providers";

/// Clients of the configured providers.
#[derive(Clone, Debug)]
pub struct Services {
    /// The person's settings.
    pub settings: ProviderSettings,
    /// Fetches pages.
    pub fetcher: Fetcher,
    /// Cache of recently parsed pages, shared by all readers.
    pub page_cache: PageCache,
    /// The large language model, for hard tasks.
    pub large: Option<Model>,
    /// The small language model, for quick tasks.
    pub small: Option<Model>,
    /// Web search.
    pub search: Option<Provider>,
    /// Repository search.
    pub github: Option<GitHub>,
    /// The prompts of language models.
    pub prompts: Prompts,
    /// Why chosen providers are unavailable.
    pub missing: Vec<ApiError>,
    /// Why the key of a language model could not be read, if that model may not need one.
    key_error: Option<ApiError>,
}

impl Services {
    /// Returns whether the person chose any service. Before that, AutoKit sends nothing by itself.
    pub fn any_chosen(&self) -> bool {
        self.large.is_some() || self.small.is_some() || self.search.is_some() || self.github.is_some()
    }
}

/// Whether requests can be sent to an address; with a key, only if nobody on the network can read it.
fn is_safe_for_key(address: &str, has_key: bool) -> bool {
    let Ok(url) = url::Url::parse(address) else { return false };
    let is_web = matches!(url.scheme(), "http" | "https") && url.has_host();
    is_web && (!has_key || autokit_web::is_confidential(&url))
}

/// Returns how a kind of service is spoken to; `None` for no service.
fn protocol_of(kind: LlmKind) -> Option<Protocol> {
    match kind {
        LlmKind::None => None,
        LlmKind::Anthropic => Some(Protocol::Anthropic),
        LlmKind::Openai => Some(Protocol::Openai),
    }
}

fn non_empty(text: &str) -> Option<&str> {
    Some(text.trim()).filter(|text| !text.is_empty())
}

impl Services {
    /// Returns no providers, only a client that fetches pages.
    pub fn none() -> Result<Services> {
        Ok(Services {
            settings: ProviderSettings::default(),
            fetcher: Fetcher::new(NetworkPolicy::default(), Limits::default())?,
            page_cache: PageCache::default(),
            large: None,
            small: None,
            search: None,
            github: None,
            prompts: Prompts::default(),
            missing: Vec::new(),
            key_error: None,
        })
    }

    /// Returns a reader of pages that uses this embedding model.
    pub fn page_reader(&self, embedder: Option<Arc<dyn QueryEmbedder>>) -> PageReader {
        PageReader { fetcher: self.fetcher.clone(), embedder, page_cache: self.page_cache.clone() }
    }

    /// Returns the large model for the status line: its name, followed by `via Anthropic` for that
    /// provider.
    pub fn llm_name(&self) -> Option<String> {
        let model = &self.large.as_ref()?.config().model;
        Some(match self.settings.llm.kind {
            LlmKind::Anthropic => format!("{model} via Anthropic"),
            _ => model.clone(),
        })
    }

    /// Returns the display name of the web search.
    pub fn search_name(&self) -> Option<String> {
        Some(self.search.as_ref()?.service().title().to_owned())
    }

    fn models(
        settings: &LlmSettings,
        key: Option<&str>,
        ledger: &Ledger,
    ) -> Result<(Option<Model>, Option<Model>)> {
        let Some(protocol) = protocol_of(settings.kind) else { return Ok((None, None)) };
        if settings.large.trim().is_empty() {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                "the language model has no name",
                "Enter the model in Settings, Language model, or choose None.",
            ));
        }
        let (large_price, small_price) = spending::prices(settings, protocol)?;
        let model = |name: &str, price: Price| -> Result<Model> {
            let mut config = ModelConfig::new(protocol, settings.base.trim(), name.trim());
            config.key = key.map(str::to_owned);
            config.tools = settings.tools;
            config.price = price;
            Ok(Model::new(config, ledger.clone())?)
        };
        let large = model(&settings.large, large_price)?;
        let small = if settings.small.trim().is_empty() || settings.small.trim() == settings.large.trim() {
            large.clone()
        } else {
            model(&settings.small, small_price)?
        };
        Ok((Some(large), Some(small)))
    }
}

/// The chosen providers and their keys. Clones share state.
#[derive(Clone, Debug)]
pub struct Providers {
    workspace: Workspace,
    /// Where keys are stored; overrides the settings.
    key_storage: Option<KeyStorage>,
    config_dir: Arc<Path>,
    memory_keys: Secrets,
    services: Arc<ArcSwap<Services>>,
    spending: Arc<Spending>,
}

impl Providers {
    /// Creates the providers, none of them loaded yet.
    ///
    /// # Errors
    /// If the HTTP client cannot be created.
    pub fn new(workspace: Workspace, options: &EngineOptions) -> Result<Providers> {
        Ok(Providers {
            workspace,
            key_storage: options.key_storage,
            config_dir: options.config_dir.as_path().into(),
            memory_keys: Secrets::open(KeyStorage::Memory, &options.config_dir),
            services: Arc::new(ArcSwap::from_pointee(Services::none()?)),
            spending: Arc::default(),
        })
    }

    /// Returns the clients of the current providers.
    pub fn services(&self) -> Arc<Services> {
        self.services.load_full()
    }

    /// Returns the store of keys that is currently used.
    pub fn secrets(&self) -> Secrets {
        self.secrets_for(&self.services.load().settings)
    }

    fn secrets_for(&self, settings: &ProviderSettings) -> Secrets {
        let storage = self.key_storage.unwrap_or(settings.keep);
        if storage == KeyStorage::Memory {
            return self.memory_keys.clone();
        }
        Secrets::open(storage, &self.config_dir)
    }

    async fn key(&self, settings: &ProviderSettings, name: KeyName) -> Result<Option<String>> {
        Ok(self.secrets_for(settings).get(name.as_str()).await?.map(|secret| secret.expose().to_owned()))
    }

    /// Creates the providers' clients from settings and keys. One that cannot be created is reported when
    /// it is needed.
    pub async fn load(&self) -> Result<()> {
        let text = self.workspace.library.setting(PROVIDERS_SETTING).await?;
        let settings: ProviderSettings = match &text {
            Some(text) => spending::parse(text)?,
            None => ProviderSettings::default(),
        };
        let services = self.create_services(settings).await?;
        self.services.store(Arc::new(services));
        Ok(())
    }

    async fn create_services(&self, settings: ProviderSettings) -> Result<Services> {
        let mut missing = Vec::new();
        let policy = NetworkPolicy {
            allowed_hosts: settings.network.allowed_hosts.clone(),
            proxy: settings.network.proxy.clone().filter(|proxy| !proxy.trim().is_empty()),
        };
        // The client keeps its cache and its queues; only its policy changes.
        let fetcher = self.services.load().fetcher.clone();
        fetcher.set_policy(policy)?;
        let llm_key = match settings.llm.kind {
            LlmKind::None => Ok(None),
            LlmKind::Anthropic => self.key(&settings, KeyName::Anthropic).await,
            LlmKind::Openai => self.key(&settings, KeyName::Openai).await,
        };
        // A model at a custom address often needs no key, and responds with an error if it does. At the
        // default addresses a key is always needed, so without one the model is reported as missing.
        let custom_address = !settings.llm.base.trim().is_empty();
        let mut key_error = None;
        let llm_key = match llm_key {
            Ok(None) if settings.llm.kind != LlmKind::None && !custom_address => {
                let who = if settings.llm.kind == LlmKind::Anthropic { "Anthropic" } else { "OpenAI" };
                let remedy = "Enter the API key in Settings, Language model, or choose another service.";
                Err(no_key(who, remedy))
            }
            Err(error) if custom_address => {
                key_error = Some(error);
                Ok(None)
            }
            key => key,
        };
        let mut or_missing = |key: Result<Option<String>>| match key {
            Ok(key) => key,
            Err(error) => {
                missing.push(error);
                None
            }
        };
        let search_key = match settings.search.kind.key() {
            Some(name) => self.key(&settings, name).await.and_then(|key| match key {
                None => {
                    let who = settings.search.kind.service().map_or("The service", Service::title);
                    let remedy = "Enter the API key in Settings, Web search, or choose another service.";
                    Err(no_key(who, remedy))
                }
                key => Ok(key),
            }),
            None => Ok(None),
        };
        let github_key = if settings.search.github {
            or_missing(self.key(&settings, KeyName::Github).await)
        } else {
            None
        };
        self.spending.ledger.set_cap(settings.llm.cap);
        let models =
            llm_key.and_then(|key| Services::models(&settings.llm, key.as_deref(), &self.spending.ledger));
        let (large, small) = match models {
            Ok(models) => models,
            Err(error) => {
                missing.push(error);
                (None, None)
            }
        };
        let search = settings.search.kind.service().and_then(|service| {
            let base = non_empty(&settings.search.base);
            let provider = search_key.and_then(|key| Ok(Provider::new(fetcher.clone(), service, base, key)?));
            provider.map_err(|error| missing.push(error)).ok()
        });
        let github = match non_empty(&settings.search.github_base) {
            _ if !settings.search.github => None,
            Some(base) if !is_safe_for_key(base, github_key.is_some()) => {
                missing.push(ApiError::new(
                    ErrorCode::WrongAddress,
                    format!("{base} is not an address to which a GitHub token can be sent"),
                    "Enter an https address in Settings, Web search.",
                ));
                None
            }
            base => Some(GitHub::new(fetcher.clone(), base, github_key)),
        };
        let prompts = Prompts::new(settings.prompts.clone());
        Ok(Services {
            settings,
            fetcher,
            page_cache: PageCache::default(),
            large,
            small,
            search,
            github,
            prompts,
            missing,
            key_error,
        })
    }

    /// Returns what language models have cost so far, in US dollars.
    pub fn spent(&self) -> f64 {
        self.spending.ledger.cost()
    }

    /// Returns the settings with what else is known: where keys are stored, and what was spent.
    pub async fn view(&self) -> ProvidersView {
        let services = self.services.load_full();
        let secrets = self.secrets_for(&services.settings);
        let mut keys = Vec::with_capacity(KeyName::ALL.len());
        let mut keys_error = None;
        for name in KeyName::ALL {
            // Stops at the first failure, or a locked keychain would be queried five times.
            let set = match (&keys_error, secrets.get(name.as_str())) {
                (None, request) => match request.await {
                    Ok(found) => found.is_some(),
                    Err(error) => {
                        keys_error = Some(error);
                        false
                    }
                },
                (Some(_), _) => false,
            };
            keys.push(KeyState { name, set });
        }
        let entries = self.spending.ledger.entries();
        let tokens = entries
            .iter()
            .fold((0, 0), |(read, written), entry| (read + entry.usage.input, written + entry.usage.output));
        ProvidersView {
            settings: services.settings.clone(),
            keys,
            keys_in: match secrets.storage() {
                KeyStorage::Keychain => "the system's keychain".to_owned(),
                KeyStorage::File => format!("an encrypted file in {}", self.config_dir.display()),
                KeyStorage::Memory => "memory, until AutoKit closes".to_owned(),
            },
            keys_error,
            missing: services.missing.clone(),
            // Adding 0.0 turns the -0.0 of an empty sum into 0.0.
            spent: self.spending.ledger.cost() + 0.0,
            tokens,
            price: spending::known_price(&services.settings.llm)
                .map(|Price { input, output }| (input, output)),
            prompts: prompts::ALL
                .iter()
                .map(|prompt| ShippedPrompt {
                    name: prompt.name.to_owned(),
                    text: prompt.text.to_owned(),
                    slots: prompt.slots.iter().map(|slot| (*slot).to_owned()).collect(),
                })
                .collect(),
        }
    }

    async fn reload(&self) -> Result<()> {
        self.load().await?;
        self.workspace.publish(Event::Providers);
        Ok(())
    }
}

#[async_trait]
impl Handle<GetProviders> for Providers {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<ProvidersView> {
        Ok(self.view().await)
    }
}

fn check_prompts(own: &BTreeMap<String, String>) -> Result<()> {
    for (name, text) in own {
        let Some(prompt) = prompts::ALL.iter().find(|prompt| prompt.name == name) else {
            return Err(ApiError::new(
                ErrorCode::Invalid,
                format!("unknown prompt {name:?}"),
                "Remove it from the settings.",
            ));
        };
        let problems = prompt.validate_slots(text);
        if !problems.is_empty() {
            let messages: Vec<String> = problems.iter().map(ToString::to_string).collect();
            return Err(ApiError::new(
                ErrorCode::Invalid,
                format!("the prompt {name:?} is not valid: {}", messages.join("; ")),
                "Use every variable of the default prompt at least once, and no others.",
            ));
        }
    }
    Ok(())
}

#[async_trait]
impl Handle<SetProviders> for Providers {
    async fn handle(&self, _: &Context, request: ProviderSettings) -> Result<ProvidersView> {
        check_prompts(&request.prompts)?;
        // Created before the settings are saved: with an invalid proxy address there would be no client at
        // all.
        let services = self.create_services(request.clone()).await?;
        self.workspace.library.set_setting(PROVIDERS_SETTING, &spending::serialize(&request)?).await?;
        self.services.store(Arc::new(services));
        self.workspace.publish(Event::Providers);
        Ok(self.view().await)
    }
}

#[async_trait]
impl Handle<SetSecret> for Providers {
    async fn handle(&self, _: &Context, request: SecretSet) -> Result<ProvidersView> {
        let settings = self.services.load().settings.clone();
        let secrets = self.secrets_for(&settings);
        let value = request.value.trim();
        if value.is_empty() {
            secrets.remove(request.name.as_str()).await?;
        } else {
            secrets.set(request.name.as_str(), Secret::new(value)).await?;
        }
        self.reload().await?;
        Ok(self.view().await)
    }
}

fn no_key(who: &str, remedy: &str) -> ApiError {
    ApiError::new(ErrorCode::WrongKey, format!("{who} needs an API key, and none is saved"), remedy)
}

fn not_configured(what: &str, place: &str) -> ApiError {
    ApiError::new(
        ErrorCode::BadRequest,
        format!("no {what} is configured"),
        format!("Choose one in {place}."),
    )
}

#[async_trait]
impl Handle<ListLanguageModels> for Providers {
    async fn handle(&self, _: &Context, request: LanguageModelsQuery) -> Result<Vec<String>> {
        let Some(protocol) = protocol_of(request.kind) else {
            return Err(not_configured("language model", "Settings, Language model"));
        };
        let settings = self.services.load().settings.clone();
        let base = request.base.trim();
        let name = if protocol == Protocol::Anthropic { KeyName::Anthropic } else { KeyName::Openai };
        let mut config = ModelConfig::new(protocol, base, "");
        // The key is for the service in use and its kind's own address. To an address that is only being entered, nothing
        // secret goes; many services on this machine need no key.
        let is_in_use = request.kind == settings.llm.kind && base == settings.llm.base.trim();
        if base.is_empty() || is_in_use {
            config.key = match self.key(&settings, name).await {
                Err(_) if !base.is_empty() => None,
                key => key?,
            };
        }
        Ok(Model::new(config, self.spending.ledger.clone())?.list().await?)
    }
}

#[async_trait]
impl Handle<TestConnection> for Providers {
    async fn handle(&self, _: &Context, request: TestRequest) -> Result<TestOutcome> {
        let services = self.services.load_full();
        let began = Instant::now();
        let missing = |what: &str, place: &str| {
            services.missing.first().cloned().unwrap_or_else(|| not_configured(what, place))
        };
        let text = match request.connection {
            Connection::Llm | Connection::SmallLlm => {
                let model =
                    if request.connection == Connection::Llm { &services.large } else { &services.small };
                let model =
                    model.as_ref().ok_or_else(|| missing("language model", "Settings, Language model"))?;
                model.probe().await.map_err(|error| match (error.code(), &services.key_error) {
                    // The model needs the key after all, and the key could not be read.
                    (autokit_llm::Code::WrongKey, Some(error)) => error.clone(),
                    _ => error.into(),
                })?;
                format!("{} responded", model.config().model)
            }
            Connection::Search => {
                let search = services
                    .search
                    .as_ref()
                    .ok_or_else(|| missing("search service", "Settings, Web search"))?;
                let hits = search.search("python weather api", 5).await?;
                let noun = if hits.len() == 1 { "result" } else { "results" };
                let returned = format!("{} returned {} {noun}", search.service().title(), hits.len());
                match read_one(&services.fetcher, &hits).await {
                    None => returned,
                    Some(Ok(url)) => format!("{returned}, and {url} was read"),
                    Some(Err(error)) => {
                        let what = match hits.len().min(TESTED_RESULTS) {
                            1 => "it could not be read".to_owned(),
                            tried => format!("none of the first {tried} could be read"),
                        };
                        let message = format!("{returned}, but {what}: {}", error.message);
                        return Err(ApiError { message, ..error });
                    }
                }
            }
            Connection::Github => {
                let github = services.github.as_ref().ok_or_else(|| {
                    let remedy = "Allow GitHub search in Settings, Web search.";
                    ApiError::new(ErrorCode::BadRequest, "GitHub search is turned off", remedy)
                })?;
                let found = github.repositories("weather", 1).await?;
                let noun = if found.len() == 1 { "result" } else { "results" };
                format!("GitHub returned {} {noun}", found.len())
            }
        };
        Ok(TestOutcome { text, ms: began.elapsed().as_millis() as u32 })
    }
}
