//! Driving the real window through tauri-driver and WebKitWebDriver.

use std::collections::HashMap;
use std::net::TcpListener;
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{Pid, PidfdFlags};
use serde_json::{Value, json};
use thirtyfour::prelude::*;
use thirtyfour::stringmatch::StringMatch;
use thirtyfour::{Capabilities, WebDriver};

use crate::Workplace;

/// How long the window may take for one thing: only so that a test that fails does not hang. Less than the two
/// minutes the client of WebDriver waits for an answer.
const TIMEOUT: Duration = Duration::from_secs(90);

/// A window on a library of its own.
pub struct Window {
    /// The session.
    pub driver: WebDriver,
    tauri_driver: TauriDriver,
}

/// What drives it, ended when dropped: also where no window came of it.
struct TauriDriver(Child);

impl Drop for TauriDriver {
    fn drop(&mut self) {
        // Ended already is as good.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// The processes of the window, of which there is one at a time and a second instance that passes its link on, and the
/// engines they started, which close the library after the window has ended.
fn window_processes() -> Result<Vec<OwnedFd>> {
    let window = std::fs::canonicalize(crate::program("autokit-desktop")?)?;
    let engine = std::fs::canonicalize(crate::program("autokit")?)?;
    let (mut windows, mut engines) = (Vec::new(), Vec::new());
    for entry in std::fs::read_dir("/proc")? {
        let entry = entry?;
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse::<i32>().ok()) else {
            continue;
        };
        // Processes of other users, and those that have just ended, cannot be read.
        match std::fs::read_link(entry.path().join("exe")) {
            Ok(program) if program == window => windows.push(pid),
            Ok(program) if program == engine => engines.push(pid),
            _ => {}
        }
    }
    engines.retain(|engine| parent(*engine).is_some_and(|parent| windows.contains(&parent)));
    Ok(windows.into_iter().chain(engines).filter_map(open_process).collect())
}

/// The process that started a process.
fn parent(pid: i32) -> Option<i32> {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()
}

/// The processes that a process started, and those that they started.
pub fn descendants(pid: u32) -> Vec<i32> {
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for entry in std::fs::read_dir("/proc").into_iter().flatten().flatten() {
        let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        if let Some(parent) = parent(pid) {
            children.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut open = vec![i32::try_from(pid).unwrap_or_default()];
    while let Some(next) = open.pop() {
        let started = children.remove(&next).unwrap_or_default();
        found.extend(&started);
        open.extend(started);
    }
    found
}

/// A process and all that it started, to be waited for.
pub fn processes_of(pid: u32) -> Vec<OwnedFd> {
    let mut processes = descendants(pid);
    processes.extend(i32::try_from(pid));
    processes.into_iter().filter_map(open_process).collect()
}

/// `None` if it has ended.
fn open_process(pid: i32) -> Option<OwnedFd> {
    rustix::process::pidfd_open(Pid::from_raw(pid)?, PidfdFlags::empty()).ok()
}

/// Waits until a process has ended.
///
/// # Errors
/// When it does not end.
pub fn wait_for_end(process: &OwnedFd) -> Result<()> {
    let mut ended = [PollFd::new(process, PollFlags::IN)];
    if poll(&mut ended, Some(&TIMEOUT.try_into()?))? == 0 {
        bail!("the window is closed, and its process does not end");
    }
    Ok(())
}

/// A port nobody listens on at this moment.
fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

/// Whether the page moved between finding something and using it: a pane that is just being shown, or a
/// row of news that came or went. A person would simply be a moment later.
fn still_changing(error: &WebDriverError) -> bool {
    let text = error.to_string();
    text.contains("not interactable") || text.contains("stale")
}

impl Window {
    /// Opens the built window on a library, with keys of its own.
    ///
    /// # Errors
    /// When tauri-driver, WebKitWebDriver or a display is missing, or the window does not open.
    pub async fn open(place: &Workplace, options: &[&str]) -> Result<Window> {
        let library = place.data_dir().display().to_string();
        let options = [&["--data-dir", library.as_str()], options].concat();
        let keys = [("AUTOKIT_CONFIG_DIR", place.config_dir()), ("AUTOKIT_AUTHOR", "tester".into())];
        let window = Window::start(&options, &keys).await?;
        // What an earlier window remembers of its looks is kept by the web view for all libraries.
        window.run("localStorage.clear()").await?;
        window.driver.refresh().await?;
        window.wait_for("#ask-box").await?;
        Ok(window)
    }

    /// Opens the built window as it stands, with these variables; an empty one is removed.
    ///
    /// # Errors
    /// As [`Window::open`].
    pub async fn start(options: &[&str], variables: &[(&str, PathBuf)]) -> Result<Window> {
        let program = crate::program("autokit-desktop")?;
        let tauri_driver = std::env::var_os("AUTOKIT_TAURI_DRIVER")
            .context("AUTOKIT_TAURI_DRIVER names tauri-driver; `cargo xtask test` sets it")?;
        let (port, native) = (free_port()?, free_port()?);
        let mut driver = Command::new(tauri_driver);
        for (name, value) in variables {
            if value.as_os_str().is_empty() {
                driver.env_remove(name);
            } else {
                driver.env(name, value);
            }
        }
        let child = driver
            .args(["--port", &port.to_string(), "--native-port", &native.to_string()])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .context("tauri-driver cannot be started")?;
        let child = TauriDriver(child);
        let mut capabilities = Capabilities::new();
        // No browserName: tauri-driver would pass it to WebKitWebDriver, which knows no such browser.
        let tauri_options = json!({ "application": program, "args": options });
        capabilities.set("tauri:options", tauri_options)?;
        let url = format!("http://127.0.0.1:{port}");
        let began = Instant::now();
        let driver = loop {
            // A program that ends at once is waited for without end by those in between.
            let opening = tokio::time::timeout(TIMEOUT, WebDriver::new(&url, capabilities.clone()));
            match opening.await.context("the window did not open")? {
                Ok(driver) => break driver,
                // Not listening yet.
                Err(error) if began.elapsed() > TIMEOUT => bail!("no session: {error}"),
                Err(_) => tokio::time::sleep(Duration::from_millis(50)).await,
            }
        };
        driver.set_script_timeout(TIMEOUT * 2).await?;
        let window = Window { driver, tauri_driver: child };
        window.wait_for("#ask-box").await?;
        Ok(window)
    }

    /// The element, as soon as it is there and shown.
    ///
    /// # Errors
    /// When it does not come.
    pub async fn wait_for(&self, css: &str) -> Result<WebElement> {
        self.first_shown(css, None).await
    }

    /// The error with a screenshot of what was there instead.
    async fn failed(&self, error: &dyn std::fmt::Display, what: &str) -> anyhow::Error {
        let test = std::thread::current().name().unwrap_or_default().replace("::", "-");
        let seen = match self.screenshot(&format!("failed-{test}")).await {
            Ok(path) => format!("see {}", path.display()),
            Err(error) => format!("and no screenshot: {error}"),
        };
        anyhow::anyhow!("{what}; {seen}: {error}")
    }

    /// The element with this text, as soon as it is shown.
    ///
    /// # Errors
    /// When it does not come.
    pub async fn wait_for_text(&self, css: &str, text: &str) -> Result<WebElement> {
        self.first_shown(css, Some(text)).await
    }

    async fn first_shown(&self, css: &str, text: Option<&str>) -> Result<WebElement> {
        let began = Instant::now();
        let found = loop {
            let mut query =
                self.driver.query(By::Css(css)).wait(TIMEOUT, Duration::from_millis(50)).and_displayed();
            if let Some(text) = text {
                query = query.with_text(StringMatch::from(text).partial());
            }
            match query.first().await {
                // What was looked at went away while it was looked at: the page is still changing.
                Err(error) if error.to_string().contains("stale") && began.elapsed() < TIMEOUT => {}
                found => break found,
            }
        };
        match found {
            Ok(element) => Ok(element),
            Err(error) => {
                let with = text.map_or(String::new(), |text| format!(" with {text:?}"));
                Err(self.failed(&error, &format!("{css}{with} does not show")).await)
            }
        }
    }

    /// Waits until JavaScript finds this true. For what WebDriver does not count as shown, such as
    /// rows that are moved into place.
    ///
    /// # Errors
    /// When it never is.
    pub async fn wait_until(&self, condition: &str) -> Result<()> {
        let patience = TIMEOUT.as_millis();
        let script = format!(
            "const done = arguments[0]; const began = performance.now();
             (function look() {{
                 if ({condition}) done(true);
                 else if (performance.now() - began > {patience}) done(false);
                 else requestAnimationFrame(look);
             }})();"
        );
        let outcome = self.driver.execute_async(script, Vec::<Value>::new()).await?;
        if outcome.json() == &Value::Bool(true) {
            return Ok(());
        }
        Err(self.failed(&condition, "this never was so").await)
    }

    /// Clicks the button with this text.
    ///
    /// # Errors
    /// When there is none.
    pub async fn click(&self, css: &str, text: &str) -> Result<()> {
        let began = Instant::now();
        loop {
            match self.wait_for_text(css, text).await?.click().await {
                Err(error) if still_changing(&error) && began.elapsed() < TIMEOUT => {}
                done => return Ok(done?),
            }
        }
    }

    /// Presses keys where the focus is, as a person would who has no mouse.
    ///
    /// # Errors
    /// When the focus is lost.
    pub async fn press(&self, keys: impl AsRef<str>) -> Result<()> {
        self.driver.active_element().await?.send_keys(keys.as_ref()).await?;
        Ok(())
    }

    /// Empties a box and types.
    ///
    /// # Errors
    /// When there is no such box.
    pub async fn fill(&self, css: &str, text: &str) -> Result<()> {
        let began = Instant::now();
        loop {
            let element = self.wait_for(css).await?;
            match element.clear().await {
                Err(error) if still_changing(&error) && began.elapsed() < TIMEOUT => {}
                done => {
                    done?;
                    return Ok(element.send_keys(text).await?);
                }
            }
        }
    }

    /// Opens the list of recent jobs, which keeps the outcomes that leave the line of jobs by themselves, and waits for an
    /// outcome with this text.
    ///
    /// # Errors
    /// When it does not come.
    pub async fn wait_for_job(&self, outcome: &str) -> Result<()> {
        // What started the job may be a dialog, which takes the focus with it when it closes.
        self.wait_until("!document.querySelector('.dialog-content')").await?;
        self.press(format!("{}k{}", Key::Control.value(), Key::Null.value())).await?;
        self.fill(".palette-input", "Show recent jobs").await?;
        self.click("[role=option]", "Show recent jobs").await?;
        // The list lies over the edge of its line: WebDriver does not count what is in it as shown.
        self.wait_until(&format!(
            "[...document.querySelectorAll('footer [role=dialog] .job')].some((job) => job.textContent.includes({}))",
            serde_json::to_string(outcome)?
        ))
        .await
    }

    /// Answers the dialogs of the system that ask for a file, as nothing else can: with this path.
    ///
    /// # Errors
    /// When the page is gone.
    pub async fn answer_dialogs(&self, path: &Path) -> Result<()> {
        let path = serde_json::to_string(&path.display().to_string())?;
        // The page reaches the system by such requests; those for dialogs are not passed on.
        self.run(&format!(
            "const ask = window.fetch;
             const headers = {{ 'Content-Type': 'application/json', 'Tauri-Response': 'ok' }};
             window.fetch = (address, ...rest) => /plugin(:|%3A)dialog/.test(String(address))
                 ? Promise.resolve(new Response(JSON.stringify({path}), {{ headers }}))
                 : ask(address, ...rest);"
        ))
        .await?;
        Ok(())
    }

    /// Runs JavaScript in the page.
    ///
    /// # Errors
    /// When it throws.
    pub async fn run(&self, script: &str) -> Result<Value> {
        Ok(self.driver.execute(script, Vec::<Value>::new()).await?.json().clone())
    }

    /// Keeps a screenshot under `tests/artifacts`.
    ///
    /// # Errors
    /// When it cannot be taken or written.
    pub async fn screenshot(&self, name: &str) -> Result<PathBuf> {
        // A screenshot can be a frame late: let two frames pass first.
        let settle =
            "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(1)));";
        self.driver.execute_async(settle, Vec::<Value>::new()).await?;
        let folder = Path::new(&std::env::var("CARGO_MANIFEST_DIR").expect("set by cargo")).join("artifacts");
        std::fs::create_dir_all(&folder)?;
        let path = folder.join(format!("{name}.png"));
        std::fs::write(&path, self.driver.screenshot_as_png().await?)?;
        Ok(path)
    }

    /// Presses Ctrl+Q, and waits until the window's process and its engine have ended.
    ///
    /// # Errors
    /// When they do not end.
    pub async fn quit_by_keys(self) -> Result<()> {
        let processes = window_processes()?;
        ensure!(!processes.is_empty(), "no window is open");
        // The session ends with the window, perhaps before it answers.
        let pressed = self.press(format!("{}q{}", Key::Control.value(), Key::Null.value())).await;
        let ended = tokio::task::spawn_blocking(move || processes.iter().try_for_each(wait_for_end)).await?;
        if ended.is_err() {
            pressed?;
        }
        ended
    }

    /// Closes the window and waits until its process and its engine have ended. WebDriver kills the window; the engine
    /// closes the library then.
    ///
    /// # Errors
    /// When the session or the process does not end.
    pub async fn close(self) -> Result<()> {
        let processes = window_processes()?;
        self.driver.clone().quit().await?;
        drop(self.tauri_driver);
        tokio::task::spawn_blocking(move || processes.iter().try_for_each(wait_for_end)).await?
    }
}
