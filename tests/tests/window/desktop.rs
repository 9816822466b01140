//! The window as a program of the desktop: notifications, the tray, the quick-ask window, start at login and updates.

#![allow(
    clippy::used_underscore_binding,
    clippy::unused_self,
    reason = "zbus generates code that uses every argument, and calls methods"
)]

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, ensure};
use autokit_tests::Workplace;
use autokit_tests::mcp::{Agent, Generation};
use autokit_tests::site::Site;
use autokit_tests::window::Window;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use minisign::KeyPair;
use serde_json::{Value, json};
use tokio::sync::mpsc;
use zbus::object_server::SignalEmitter;
use zbus::zvariant::OwnedValue;

/// How long something may take: only so that a test that fails does not hang.
const PATIENCE: Duration = Duration::from_secs(90);

/// A notification as it was sent.
#[derive(Debug)]
struct Sent {
    app: String,
    summary: String,
    body: String,
    actions: Vec<String>,
}

/// The notification server of a desktop.
struct NotificationServer(mpsc::UnboundedSender<Sent>);

#[zbus::interface(name = "org.freedesktop.Notifications")]
impl NotificationServer {
    #[expect(clippy::too_many_arguments, reason = "the method of the specification")]
    fn notify(
        &self,
        app: String,
        _replaces: u32,
        _icon: String,
        summary: String,
        body: String,
        actions: Vec<String>,
        _hints: HashMap<String, OwnedValue>,
        _timeout: i32,
    ) -> u32 {
        // The test may have ended.
        let _ = self.0.send(Sent { app, summary, body, actions });
        1
    }

    fn get_capabilities(&self) -> Vec<String> {
        ["actions", "body", "body-markup"].map(str::to_owned).to_vec()
    }

    fn get_server_information(&self) -> (String, String, String, String) {
        ("stand-in".to_owned(), "AutoKit".to_owned(), "1".to_owned(), "1.2".to_owned())
    }

    fn close_notification(&self, _id: u32) {}

    #[zbus(signal)]
    async fn action_invoked(emitter: &SignalEmitter<'_>, id: u32, action: &str) -> zbus::Result<()>;
}

/// Calls a command of the desktop app as its page does: what it returned, or its error.
async fn invoke(window: &Window, command: &str, request: Value) -> Result<std::result::Result<Value, Value>> {
    let script = "const [command, request, done] = arguments;
        window.__TAURI_INTERNALS__.invoke(command, request).then((ok) => done({ ok }), (error) => done({ error }));";
    let answer = window.driver.execute_async(script, vec![json!(command), request]).await?;
    let mut answer = answer.json().clone();
    Ok(match answer.get_mut("error") {
        Some(error) => Err(error.take()),
        None => Ok(answer["ok"].take()),
    })
}

/// The variables that make a folder somebody's home, as far as the desktop parts look.
fn home(place: &Workplace) -> Result<Vec<(&'static str, PathBuf)>> {
    let home = place.path("home");
    std::fs::create_dir_all(&home)?;
    Ok(vec![
        ("HOME", home),
        ("AUTOKIT_CONFIG_DIR", place.config_dir()),
        ("AUTOKIT_AUTHOR", PathBuf::from("tester")),
        ("AUTOKIT_MODEL_FOLDER", PathBuf::from("/nonexistent")),
    ])
}

async fn start(place: &Workplace, options: &[&str]) -> Result<Window> {
    let library = place.data_dir().display().to_string();
    Window::start(&[&["--data-dir", library.as_str()], options].concat(), &home(place)?).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn a_call_that_waits_is_notified_of_while_the_window_is_hidden() -> Result<()> {
    let (sender, mut sent) = mpsc::unbounded_channel();
    let bus = zbus::connection::Builder::session()?
        .serve_at("/org/freedesktop/Notifications", NotificationServer(sender))?
        .name("org.freedesktop.Notifications")?
        .build()
        .await?;
    let place = Workplace::with_stand_in()?;
    // As at login: in the tray.
    let window = start(&place, &["--hidden"]).await?;
    let mut agent = Agent::over_stdio(&place, Generation::Session).await?;
    agent.search("run python code").await?;
    let call = tokio::spawn(async move {
        let request = json!({ "language": "python", "code": "print(6 * 7)", "seconds": 60 });
        agent.use_tool("code_exec", request).await
    });
    let notification = tokio::time::timeout(PATIENCE, sent.recv()).await?.context("the server is there")?;
    ensure!(notification.app == "AutoKit", "{notification:?}");
    ensure!(notification.summary == "test agent 1.0 asks to call code_exec", "{notification:?}");
    ensure!(notification.body.contains("python"), "{notification:?}");
    ensure!(notification.actions == ["default", "Open"], "{notification:?}");

    // A click shows the window, where the call can be answered.
    let server =
        bus.object_server().interface::<_, NotificationServer>("/org/freedesktop/Notifications").await?;
    // Polled from here: a page that is hidden draws no frames to look again with.
    let began = std::time::Instant::now();
    while window.run("return document.visibilityState").await? != "visible" {
        ensure!(began.elapsed() < PATIENCE, "the window stays hidden");
        // Clicked until it is heard: the program listens once it knows that the notification is shown.
        NotificationServer::action_invoked(server.signal_emitter(), 1, "default").await?;
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    window.wait_for_text("[role=alertdialog]", "code_exec").await?;
    call.abort();
    window.close().await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn quick_ask_and_start_at_login_follow_the_settings() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let cards =
        [json!({ "name": "Kettle", "description": "Boils water.", "class": "Kettle", "module": "kettle",
        "programming_language": "python" })];
    let file = place.cards_file("cards.json", &cards)?;
    tokio::task::block_in_place(|| place.json(&["import", &file.display().to_string()]))?;
    let window = start(&place, &[]).await?;
    let settings = invoke(&window, "desktop_get", json!({})).await?.map_err(|error| anyhow!("{error}"))?;
    ensure!(settings["close_to_tray"] == false && settings["launch_at_login"] == false, "{settings}");
    let set = |change: Value| invoke(&window, "desktop_set", json!({ "change": change }));
    let refused = set(json!({ "quick_ask": "Ctrl+Nothing" })).await?;
    ensure!(refused.is_err_and(|error| error["code"] == "invalid"));

    ensure!(set(json!({ "quick_ask": "Ctrl+Alt+Space", "launch_at_login": true })).await?.is_ok());
    // One that cannot be used leaves the one before.
    ensure!(set(json!({ "quick_ask": "Ctrl+Nothing" })).await?.is_err());
    let autostart = place.path("home/.config/autostart");
    let entries = || -> Result<Vec<String>> {
        let entries = std::fs::read_dir(&autostart)?.map(|entry| Ok(std::fs::read_to_string(entry?.path())?));
        entries.collect()
    };
    let entry = entries()?.pop().context("an entry")?;
    ensure!(entry.contains("autokit-desktop") && entry.contains("--hidden"), "{entry}");
    let kept = set(json!({ "launch_at_login": false })).await?.map_err(|error| anyhow!("{error}"))?;
    ensure!(kept["quick_ask"] == "Ctrl+Alt+Space", "{kept}");
    ensure!(entries()?.is_empty());

    // From any program: nothing of AutoKit has the focus.
    let pressed = Command::new("xdotool").args(["key", "ctrl+alt+space"]).status()?;
    ensure!(pressed.success(), "{pressed}");
    let main = window.driver.window().await?;
    let began = std::time::Instant::now();
    let quick = loop {
        let other = window.driver.windows().await?.into_iter().find(|handle| *handle != main);
        match other {
            Some(quick) => break quick,
            None if began.elapsed() > PATIENCE => return Err(anyhow!("the quick-ask window does not open")),
            None => tokio::time::sleep(Duration::from_millis(50)).await,
        }
    };
    window.driver.switch_to_window(quick).await?;
    // No screenshot: without a window manager it has no focus, and so is hidden again at once.
    window.fill("input", "kettle").await?;
    window.wait_for_text("h1", "Kettle").await?;
    window.click("button", "Open in AutoKit").await?;
    window.driver.switch_to_window(main).await?;
    window.wait_until("document.querySelector('#ask-box').value === 'kettle'").await?;
    window.wait_for_text(".answer h1", "Kettle").await?;
    window.close().await
}

#[test]
#[ignore = "needs the built window: run by `cargo xtask test`"]
fn the_window_program_is_the_terminal_program_when_asked() -> Result<()> {
    let output =
        Command::new(autokit_tests::program("autokit-desktop")?).args(["terminal", "--version"]).output()?;
    let version = String::from_utf8(output.stdout)?;
    ensure!(output.status.success() && version.starts_with("autokit 0."), "{version}");
    Ok(())
}

/// A package of an update, as whoever publishes it offers it.
struct Offer<'a> {
    /// Version in the manifest.
    version: &'a str,
    /// Version that the signature is for.
    signed_version: &'a str,
    /// What is signed.
    signed: &'a str,
    /// What is downloaded.
    served: &'a str,
}

impl Offer<'_> {
    fn publish(&self, site: &Site, keys: &KeyPair) -> Result<()> {
        let trusted = format!("timestamp:1700000000\tfile:autokit.deb\tversion:{}", self.signed_version);
        let comment = "signature of an update";
        let signature =
            minisign::sign(None, &keys.sk, self.signed.as_bytes(), Some(&trusted), Some(comment))?;
        site.text("/autokit.deb", "application/octet-stream", self.served);
        let package = json!({
            "url": site.url("/autokit.deb"),
            "signature": BASE64.encode(signature.into_string()),
        });
        let platform = format!("linux-{}", std::env::consts::ARCH);
        let manifest = json!({
            "version": self.version,
            "notes": "Kettles are found faster.",
            "platforms": { platform: package },
        });
        site.text("/latest.json", "application/json", &manifest.to_string());
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn an_update_is_verified_before_it_is_installed() -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let site = Site::serve([]).await?;
    let (ours, other) = (KeyPair::generate_unencrypted_keypair()?, KeyPair::generate_unencrypted_keypair()?);
    let window = start(&place, &[]).await?;
    let call = |command: &'static str| invoke(&window, command, json!({}));
    let unset = call("updates_check").await?;
    ensure!(unset.is_err_and(|error| error["code"] == "invalid"));

    let key = BASE64.encode(ours.pk.to_box()?.into_string());
    let change = json!({ "updates": { "address": site.url("/latest.json"), "key": key } });
    let set = invoke(&window, "desktop_set", json!({ "change": change })).await?;
    ensure!(set.is_ok(), "{set:?}");
    // Nothing is asked for before the person asks.
    ensure!(site.statuses("/latest.json").is_empty());

    let good = Offer { version: "99.0.0", signed_version: "99.0.0", signed: "package", served: "package" };
    let refusals = [
        ("a changed package", Offer { served: "malware", ..good }, &ours),
        ("an older package under a new version", Offer { signed_version: "0.0.1", ..good }, &ours),
        ("a key that was not chosen", Offer { ..good }, &other),
    ];
    for (what, offer, keys) in refusals {
        offer.publish(&site, keys)?;
        let found = call("updates_check").await?.map_err(|error| anyhow!("{what}: {error}"))?;
        ensure!(found["version"] == "99.0.0", "{what}: {found}");
        let refused = call("updates_download").await?;
        ensure!(refused.as_ref().is_err_and(|error| error["code"] == "invalid"), "{what}: {refused:?}");
        let nothing = call("updates_install").await?;
        ensure!(nothing.is_err(), "{what}: {nothing:?}");
    }
    Offer { version: "0.0.1", signed_version: "0.0.1", ..good }.publish(&site, &ours)?;
    ensure!(call("updates_check").await? == Ok(Value::Null), "an older version is an update");

    // A good one, by hand.
    good.publish(&site, &ours)?;
    window.click("nav button", "Settings").await?;
    window.click("main button", "Check for updates").await?;
    window.wait_for_text("main [role=status]", "Version 99.0.0 is available").await?;
    window.wait_for_text("main p", "Kettles are found faster.").await?;
    window.click("main button", "Download").await?;
    window.wait_for_text("main [role=status]", "is downloaded and verified").await?;
    window.screenshot("81-update").await?;
    // The programs of a build tree are no package that could be replaced.
    window.click("main button", "Install and restart").await?;
    window.wait_for_text("main", "was not installed from a package").await?;
    window.close().await
}
