//! What a site's robots.txt allows this program to read (RFC 9309).

use std::sync::Arc;

use reqwest::Method;
use url::Url;

use super::{Fetcher, Open, host_of, redirected};
use crate::error::Error;
use crate::guard::explain;
use crate::robots::Rules;

/// The name of this program in robots.txt.
const AGENT: &str = "AutoKit";

/// Most bytes of robots.txt read; RFC 9309 asks for 500 KiB at least.
const ROBOTS_BYTES: u64 = 512 << 10;

impl Fetcher {
    /// Returns the rules of the site a URL belongs to.
    pub(super) async fn rules(&self, url: &Url, open: Option<Open<'_>>) -> Arc<Rules> {
        let origin = url.origin().ascii_serialization();
        self.0.robots.rules(&origin, || self.ask_robots(url, open)).await
    }

    async fn ask_robots(&self, page: &Url, open: Option<Open<'_>>) -> Rules {
        let Ok(mut url) = page.join("/robots.txt") else { return Rules::Open };
        let permit = self.0.hosts.acquire(&host_of(&url), None).await;
        let work = async {
            // RFC 9309 2.3.1.2: five redirects are followed, to any host.
            for _ in 0..=5 {
                self.0.state.load().policy.check(&url)?;
                if open.is_some_and(|open| !open(&url)) {
                    return Err(Error::Closed { host: url.host_str().unwrap_or_default().to_owned() });
                }
                let client = self.0.state.load().pages.get()?;
                let response = client
                    .request(Method::GET, url.clone())
                    .send()
                    .await
                    .map_err(|error| explain(&url, &error))?;
                if let Some(to) = redirected(&response, &url)? {
                    url = to;
                    continue;
                }
                let status = response.status().as_u16();
                let body = self.read(response, &url, ROBOTS_BYTES).await?;
                return Ok(Rules::read(AGENT, status, &body));
            }
            Ok(Rules::Open)
        };
        let rules = self.within(page, work).await;
        if rules.is_ok() {
            permit.release();
        }
        match rules {
            Ok(rules) => rules,
            Err(
                Error::NoSuchHost { .. }
                | Error::NoConnection { .. }
                | Error::Tls { .. }
                | Error::PrivateAddress { .. },
            ) => Rules::Unreachable,
            Err(error) => Rules::Unknown(format!("robots.txt cannot be read: {error}")),
        }
    }
}
