//! Starts the server of this package in a process of its own, kills it and starts it again.

use std::collections::BTreeSet;
use std::net::{Ipv4Addr, TcpListener};
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use anyhow::{Context as _, Result, bail, ensure};
use tokio::net::TcpStream;
use tokio::process::{Child, Command};

// Unifies the features of dependencies across the workspace; it exports nothing.
use workspace_hack as _;

/// Name of the server's own user.
pub const USER: &str = "root";
/// The password of the server's own user.
pub const PASSWORD: &str = "of the server";
/// How often a port is chosen anew that somebody else took before the server did.
const ATTEMPTS: usize = 5;
/// How long to wait before asking again whether the server listens.
const PAUSE: Duration = Duration::from_millis(20);

/// Files of a certificate that the server shows, and of its key.
#[derive(Clone, Debug)]
pub struct Certificate {
    /// The certificate.
    pub chain: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// A server, whose process ends with this.
#[derive(Debug)]
pub struct Server {
    folder: PathBuf,
    certificate: Option<Certificate>,
    port: u16,
    process: Option<Child>,
}

/// Ports that this process chose. The system offers one again that no server listens on yet, and what waits for one server
/// would take another one for it.
static CHOSEN: Mutex<BTreeSet<u16>> = Mutex::new(BTreeSet::new());

/// Returns a port of this machine that is free and that no other server of this process has.
fn free_port() -> Result<u16> {
    let mut chosen = CHOSEN.lock().unwrap_or_else(PoisonError::into_inner);
    loop {
        let port = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?.local_addr()?.port();
        if chosen.insert(port) {
            return Ok(port);
        }
    }
}

/// The program is built into the folder above that of the tests.
fn program() -> Result<PathBuf> {
    let test = std::env::current_exe()?;
    let folder = test.ancestors().nth(2).context("the test is not in a target folder")?;
    let program = folder.join(format!("autokit-test-server{}", std::env::consts::EXE_SUFFIX));
    ensure!(program.exists(), "{} is missing: cargo build --package autokit-test-server", program.display());
    Ok(program)
}

impl Server {
    /// Starts a server on a port of this machine that was free, with its data in `folder`.
    ///
    /// # Errors
    /// When the program is missing or ends.
    pub async fn start(folder: &Path, certificate: Option<Certificate>) -> Result<Server> {
        let mut server = Server { folder: folder.to_owned(), certificate, port: 0, process: None };
        for _ in 0..ATTEMPTS {
            server.port = free_port()?;
            if server.run().await? {
                return Ok(server);
            }
        }
        bail!("the server did not start")
    }

    /// Ends the process at once, as a crash would.
    ///
    /// # Errors
    /// When it cannot be ended.
    pub async fn kill(&mut self) -> Result<()> {
        // It stays here until it has ended, also if this future is dropped: its port is not free before.
        if let Some(process) = &mut self.process {
            process.kill().await?;
            self.process = None;
        }
        Ok(())
    }

    /// Starts it again, with the same data and on the same port.
    ///
    /// # Errors
    /// When it does not start.
    pub async fn start_again(&mut self) -> Result<()> {
        ensure!(self.process.is_none(), "the server runs");
        ensure!(self.run().await?, "the server did not start again");
        Ok(())
    }

    /// Id of its process, while it runs.
    pub fn id(&self) -> Option<u32> {
        self.process.as_ref()?.id()
    }

    /// Its URL.
    pub fn url(&self) -> String {
        let scheme = if self.certificate.is_some() { "wss" } else { "ws" };
        format!("{scheme}://127.0.0.1:{}", self.port)
    }

    /// Starts the process and waits until it listens; false if it ended instead.
    async fn run(&mut self) -> Result<bool> {
        let mut command = Command::new(program()?);
        command
            .args(["start", "--no-banner", "--log", "error", "--user", USER, "--pass", PASSWORD])
            .args(["--bind", &format!("127.0.0.1:{}", self.port)])
            .stdin(Stdio::null())
            .kill_on_drop(true);
        if let Some(certificate) = &self.certificate {
            command.arg("--web-crt").arg(&certificate.chain).arg("--web-key").arg(&certificate.key);
        }
        // Every commit is synced: what was acknowledged survives a crash.
        command.arg(format!("surrealkv://{}?sync=every", self.folder.display()));
        let process = self.process.insert(command.spawn()?);
        while TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).await.is_err() {
            tokio::select! {
                ended = process.wait() => {
                    ended?;
                    self.process = None;
                    return Ok(false);
                }
                () = tokio::time::sleep(PAUSE) => {}
            }
        }
        Ok(true)
    }
}
