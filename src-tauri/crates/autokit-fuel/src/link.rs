//! Health of a card's documentation link.

use autokit_web::{Code, Error, Hop};
use serde::{Deserialize, Serialize};
use ts_rs::TS;

use autokit_pages::Visit;

/// State of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, TS)]
#[serde(rename_all = "snake_case")]
pub enum LinkState {
    /// A page was delivered, whatever its content.
    Delivered,
    /// The card has no link.
    Missing,
    /// The site says that the page does not exist.
    NoPage,
    /// The redirects do not end at a page.
    Circle,
    /// Not a page: a download, an image, or a response too large to be a page.
    NotAPage,
    /// Not a valid URL.
    BadAddress,
    /// The TLS certificate is not valid.
    Insecure,
    /// Closed to programs: robots.txt, a login, a private network. Says nothing about the page.
    Closed,
    /// The site fails or does not respond; it may later.
    Failing,
}

/// State of a link, with details of the response.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct LinkHealth {
    /// The URL on the card.
    pub url: Option<String>,
    /// The link's state.
    pub state: LinkState,
    /// An explanation for people, in one sentence.
    pub said: String,
    /// What a person can do about it, if anything.
    #[serde(default)]
    pub remedy: Option<String>,
    /// HTTP status of the last response.
    pub status: Option<u16>,
    /// The URL after redirects.
    pub found: Option<String>,
    /// Every request made, with redirects: URL and status.
    #[ts(type = "Array<{ url: string, status: number }>")]
    pub hops: Vec<Hop>,
    /// Whether every request used HTTPS with a valid certificate.
    pub encrypted: bool,
    /// Media type of the response.
    pub content_type: Option<String>,
    /// Milliseconds until the last byte was received.
    #[ts(type = "number | null")]
    pub ms: Option<u64>,
}

impl LinkHealth {
    /// The health of a card without a link.
    pub(crate) fn missing() -> LinkHealth {
        LinkHealth {
            url: None,
            state: LinkState::Missing,
            said: "the card has no documentation link".to_owned(),
            remedy: None,
            status: None,
            found: None,
            hops: Vec::new(),
            encrypted: false,
            content_type: None,
            ms: None,
        }
    }

    /// Derives the health of a link from a visit.
    pub(crate) fn of(url: &str, visit: &Visit) -> LinkHealth {
        let plain = LinkHealth { url: Some(url.to_owned()), ..LinkHealth::missing() };
        match visit {
            Ok(page) => {
                let fetched = &page.fetched;
                let state = match fetched.status {
                    200..=299 => LinkState::Delivered,
                    401 | 403 | 407 | 451 => LinkState::Closed,
                    408 | 425 | 429 | 500..=599 => LinkState::Failing,
                    300..=399 => LinkState::Circle,
                    _ => LinkState::NoPage,
                };
                LinkHealth {
                    state,
                    said: match state {
                        LinkState::Delivered => "the page loaded".to_owned(),
                        _ => format!("the site returned {}", fetched.status),
                    },
                    status: Some(fetched.status),
                    found: Some(fetched.url.clone()),
                    hops: fetched.hops.clone(),
                    encrypted: fetched.hops.iter().all(|hop| hop.url.starts_with("https://")),
                    content_type: fetched.content_type.clone(),
                    ms: Some(fetched.ms),
                    ..plain
                }
            }
            Err(error) => {
                let state = match error.code() {
                    Code::BadUrl => LinkState::BadAddress,
                    Code::Redirects => LinkState::Circle,
                    Code::TooLarge | Code::NotText => LinkState::NotAPage,
                    Code::Tls => LinkState::Insecure,
                    Code::PrivateAddress | Code::Closed | Code::Robots => LinkState::Closed,
                    _ => LinkState::Failing,
                };
                let hops = match error {
                    Error::Redirects { hops, .. } => hops.clone(),
                    _ => Vec::new(),
                };
                // Only a person can open what is closed to programs; all other failures are investigated
                // here.
                let remedy = (state == LinkState::Closed).then(|| error.remedy().to_owned());
                LinkHealth { state, said: error.to_string(), remedy, hops, ..plain }
            }
        }
    }

    /// Whether the failure may be temporary.
    pub fn is_temporary(&self) -> bool {
        self.state == LinkState::Failing
    }

    /// Whether a request for a page further down was redirected to the site's home page.
    pub(crate) fn redirected_to_home(&self) -> bool {
        let depth = |url: &str| {
            let url = url::Url::parse(url).ok()?;
            Some(url.path_segments()?.filter(|part| !part.is_empty()).count())
        };
        let (Some(asked), Some(found)) = (&self.url, &self.found) else { return false };
        self.hops.len() > 1
            && depth(found).zip(depth(asked)).is_some_and(|(found, asked)| found <= 1 && asked > found)
    }
}
