//! `autokit api-keys`: keys for web APIs whose operations are cards.

use std::io;

use autokit_api::Client;
use autokit_api::commands::{ListApiKeys, RemoveApiKey, SetApiKey};
use autokit_api::{ApiKey, ApiKeyRef, ApiKeySet, ApiSecret, Nothing};
use clap::Subcommand;
use owo_colors::OwoColorize as _;

use crate::outcome::{Outcome, Result};
use crate::output::{Output, count, printable};
use crate::secret;

#[derive(Debug, Subcommand)]
pub enum ApiKeysCommand {
    /// List saved keys and keys that operations in the library need.
    List,
    /// Save a key, read from standard input to keep it out of shell history. It is sent only to
    /// this origin.
    Set {
        /// API origin: `https://api.example.org`.
        origin: String,
        /// Security scheme name, as listed.
        scheme: String,
        /// Where in the request it is sent, as listed; needed only if operations differ.
        #[arg(long, default_value = "")]
        place: String,
        /// Send as a bearer token.
        #[arg(long, conflicts_with_all = ["user", "client"])]
        token: bool,
        /// Send as the password of this user (HTTP Basic).
        #[arg(long, value_name = "NAME")]
        user: Option<String>,
        /// Use as the secret of this client ID (OAuth 2.0 client credentials).
        #[arg(long, value_name = "ID", requires = "token_url", conflicts_with = "user")]
        client: Option<String>,
        /// Token URL.
        #[arg(long, value_name = "URL", requires = "client")]
        token_url: Option<String>,
    },
    /// Remove a key.
    Remove {
        /// API origin.
        origin: String,
        /// Security scheme name.
        scheme: String,
    },
}

pub(crate) async fn run(library: &dyn Client, out: &Output, command: ApiKeysCommand) -> Result<Outcome> {
    let keys = match command {
        ApiKeysCommand::List => library.call::<ListApiKeys>(Nothing {}).await?,
        ApiKeysCommand::Set { origin, scheme, place, token, user, client, token_url } => {
            let text = secret::read("Key")?;
            let secret = match (user, client, token_url) {
                (Some(user), _, _) => ApiSecret::Basic { user, password: text },
                (None, Some(id), Some(token_url)) => ApiSecret::Client { token_url, id, secret: text },
                _ if token => ApiSecret::Token { token: text },
                _ => ApiSecret::Key { key: text },
            };
            library.call::<SetApiKey>(ApiKeySet { origin, scheme, place, secret }).await?
        }
        ApiKeysCommand::Remove { origin, scheme } => {
            library.call::<RemoveApiKey>(ApiKeyRef { origin, scheme, place: String::new() }).await?
        }
    };
    out.show(&keys, |text| {
        for key in &keys {
            write(text, key)?;
        }
        if keys.is_empty() {
            writeln!(text, "No operation in the library needs a key.")?;
            writeln!(text, "Import an API with `autokit import openapi.yaml`")?;
        }
        Ok(())
    })?;
    Ok(Outcome::Done)
}

fn write(text: &mut dyn io::Write, key: &ApiKey) -> io::Result<()> {
    let state = if key.here { "saved".green().to_string() } else { "not set".yellow().to_string() };
    writeln!(
        text,
        "{}  {} ({})  {state}, {}",
        printable(&key.origin).bold(),
        printable(&key.scheme),
        printable(&key.sort),
        count(key.operations, "operation")
    )?;
    writeln!(text, "  {}", printable(&key.place))
}
