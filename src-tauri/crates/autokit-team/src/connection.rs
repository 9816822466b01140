//! Connections to a team's database: embedded, or a server's.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject as _;
use rustls::{ClientConfig, RootCertStore};
use surrealdb::Surreal;
use surrealdb::engine::any::Any;
use surrealdb::opt::Config;
use surrealdb::opt::auth::Root;

use crate::error::{Code, Result, TeamError};

/// Namespace of the databases of teams.
pub(crate) const NAMESPACE: &str = "autokit";

/// Where the databases of teams are.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Address {
    /// In this process's memory.
    Memory,
    /// In a folder, which this process opens alone.
    Folder(PathBuf),
    /// At a server.
    Server {
        /// Its URL: `ws://` or `wss://`.
        url: String,
        /// Certificates, as PEM text, of the only authorities trusted to name the server; those of the system without.
        authorities: Option<String>,
    },
}

/// Whoever runs the server: may create teams, and everything in them.
#[derive(Clone)]
pub struct Credentials {
    /// Name of the server's own user.
    pub user: String,
    /// Its password.
    pub password: String,
}

impl std::fmt::Debug for Credentials {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Credentials").field("user", &self.user).finish_non_exhaustive()
    }
}

impl Credentials {
    pub(crate) fn root(&self) -> Root {
        Root { username: self.user.clone(), password: self.password.clone() }
    }
}

/// How long a server may take to answer, unless another time is given: longer than any statement of this crate.
const PATIENCE: Duration = Duration::from_secs(30);

/// A connection that nobody has signed in to; each session is a copy of it with rights of its own.
#[derive(Clone, Debug)]
pub struct Connection {
    db: Surreal<Any>,
    patience: Duration,
}

/// A session of its own on a connection.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    pub(crate) db: Surreal<Any>,
    patience: Duration,
}

impl Client {
    /// Waits for an answer. The database's client waits for ever when the connection ends before the answer came.
    ///
    /// # Errors
    /// As the answer; `Unreachable` when it takes too long.
    pub(crate) async fn answer<T>(
        &self,
        answer: impl IntoFuture<Output = surrealdb::Result<T>>,
    ) -> Result<T> {
        let Ok(answer) = tokio::time::timeout(self.patience, answer.into_future()).await else {
            let seconds = self.patience.as_secs_f32();
            let message = format!("the server of the team did not answer within {seconds} s");
            return Err(TeamError::new(Code::Unreachable, message));
        };
        Ok(answer?)
    }
}

impl Connection {
    /// Opens an embedded database, whose owner has these credentials from the first time on, or connects to a server.
    ///
    /// # Errors
    /// `Invalid` for an address or authorities that cannot be used; `Unreachable` when nobody answers, or a server that
    /// none of the authorities names.
    pub async fn open(address: &Address, owner: Option<&Credentials>) -> Result<Connection> {
        let mut config = Config::new();
        if let (Some(owner), Address::Memory | Address::Folder(_)) = (owner, address) {
            config = config.user(owner.root());
        }
        let url = match address {
            Address::Memory => "memory".to_owned(),
            Address::Folder(folder) => match folder.to_str().filter(|text| !text.contains('?')) {
                // Every commit is synced, so that an acknowledged change survives a power failure.
                Some(text) => format!("surrealkv://{text}?sync=every"),
                None => return Err(TeamError::new(Code::Invalid, "the path has `?` or is not UTF-8")),
            },
            Address::Server { url, .. } if !url.starts_with("ws://") && !url.starts_with("wss://") => {
                return Err(TeamError::new(Code::Invalid, format!("{url:?} is neither ws:// nor wss://")));
            }
            Address::Server { url, authorities } => {
                // The database's client asks for the process's provider of cryptography; somebody else may have set one.
                let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
                if let Some(pem) = authorities {
                    config = config.rustls(trusting(pem)?);
                }
                url.clone()
            }
        };
        let connect =
            tokio::time::timeout(PATIENCE, surrealdb::engine::any::connect((url, config)).into_future());
        let db = connect
            .await
            .map_err(|_| TeamError::new(Code::Unreachable, "nobody answers at the address"))??;
        Ok(Connection { db, patience: PATIENCE })
    }

    /// Waits no longer than this for each answer.
    #[must_use]
    pub fn with_patience(mut self, patience: Duration) -> Connection {
        self.patience = patience;
        self
    }

    /// Returns a session of its own.
    pub(crate) fn client(&self) -> Client {
        Client { db: self.db.clone(), patience: self.patience }
    }
}

/// Trusts these authorities and no others.
fn trusting(pem: &str) -> Result<ClientConfig> {
    let invalid = |error: &dyn std::fmt::Display| {
        TeamError::new(Code::Invalid, format!("the certificates of the authorities cannot be read: {error}"))
    };
    let mut roots = RootCertStore::empty();
    for certificate in CertificateDer::pem_slice_iter(pem.as_bytes()) {
        let certificate = certificate.map_err(|error| invalid(&error))?;
        roots.add(certificate).map_err(|error| invalid(&error))?;
    }
    if roots.is_empty() {
        return Err(invalid(&"there are none"));
    }
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| invalid(&error))?;
    Ok(config.with_root_certificates(roots).with_no_client_auth())
}
