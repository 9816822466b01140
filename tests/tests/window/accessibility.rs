//! The real window as assistive technology sees it: rules of axe in its web view, and names, roles and order over AT-SPI.

use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use autokit_tests::window::{Window, descendants};
use futures_util::future::BoxFuture;
use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;
use thirtyfour::Key;
use zbus::proxy::CacheProperties;
use zbus::zvariant::OwnedObjectPath;

use crate::{NO_MODEL, place_to_review};

/// How long a page or a bus may take for one thing.
const PATIENCE: Duration = Duration::from_mins(1);

const PANES: [&str; 6] = ["Ask", "Discover", "Review", "Library", "Activity", "Settings"];

const SETTINGS: [&str; 5] =
    ["General", "AI services", "Agents & permissions", "Library & checks", "Advanced"];

/// The rules, as the tests in Chromium apply them.
const INSPECT: &str = r#"
    const done = arguments[0];
    const tags = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];
    axe.run(document, {
        runOnly: { type: "tag", values: tags },
        rules: { "target-size": { enabled: true } },
        resultTypes: ["violations"],
    }).then(
        ({ violations }) => done(violations.flatMap(({ id, nodes }) =>
            nodes.map(({ target, failureSummary }) => `${id}: ${target.join(" ")}: ${failureSummary}`))),
        (error) => done([`axe failed: ${error}`]));
"#;

/// What axe finds in the states that a test visits.
struct Inspection<'a> {
    window: &'a Window,
    found: Vec<String>,
}

impl<'a> Inspection<'a> {
    async fn new(window: &'a Window) -> Result<Inspection<'a>> {
        let axe = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ui/node_modules/axe-core/axe.min.js");
        let source = std::fs::read_to_string(&axe)
            .with_context(|| format!("{} is not installed; run `npm ci` in ui", axe.display()))?;
        window.run(&source).await?;
        Ok(Inspection { window, found: Vec::new() })
    }

    /// Looks at what is shown, in light and in dark.
    async fn state(&mut self, name: &str) -> Result<()> {
        for theme in ["light", "dark"] {
            self.window.run(&format!("document.documentElement.dataset.theme = '{theme}'")).await?;
            // Colors change with a transition; axe reads them as they are.
            self.window
                .wait_until("document.getAnimations().every((animation) => animation.playState !== 'running' || animation.effect.getComputedTiming().iterations === Infinity)")
                .await?;
            let found = self.window.driver.execute_async(INSPECT, Vec::<Value>::new()).await?;
            let Value::Array(violations) = found.json().clone() else { bail!("axe: {:?}", found.json()) };
            self.found.extend(violations.iter().map(|violation| format!("{name}, {theme}: {violation}")));
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn axe_finds_nothing_in_light_and_dark() -> Result<()> {
    let place = place_to_review(20).await?;
    let window = Window::open(&place, NO_MODEL).await?;
    let mut inspection = Inspection::new(&window).await?;
    inspection.state("Ask").await?;
    window.fill("#ask-box", "toolkit 001").await?;
    window.wait_for(".answer h1").await?;
    inspection.state("Ask, while typing").await?;
    window.press(Key::Enter.value().to_string()).await?;
    window.wait_for_text("button", "Yes, this helps").await?;
    inspection.state("Ask, with an answer").await?;

    window.click("nav button", "Discover").await?;
    window.wait_for("main h1, main form").await?;
    inspection.state("Discover").await?;

    window.click("nav button", "Review").await?;
    window.wait_for_text("#proposal-title", "Toolkit").await?;
    inspection.state("Review").await?;
    window.press("A").await?;
    window.wait_for_text(".dialog-content button.primary", "Accept").await?;
    inspection.state("Review, accept several").await?;
    window.press(Key::Escape.value().to_string()).await?;
    window.wait_until("!document.querySelector('.dialog-content')").await?;

    window.click("nav button", "Library").await?;
    window.wait_until("document.querySelector('.row .name')?.textContent.includes('Toolkit')").await?;
    inspection.state("Library").await?;
    window.run("document.querySelector('.row .name').click()").await?;
    window.wait_for_text("aside h1", "Toolkit").await?;
    inspection.state("Library, a card").await?;
    window.click("aside button", "Edit").await?;
    window.wait_for("#edit-pricing").await?;
    inspection.state("Library, editing").await?;
    window.click("aside button", "Cancel").await?;

    window.press(format!("{}k{}", Key::Control.value(), Key::Null.value())).await?;
    window.wait_for(".palette-input").await?;
    inspection.state("Commands").await?;
    window.press(Key::Escape.value().to_string()).await?;
    window.wait_until("!document.querySelector('.palette-input')").await?;

    window.click("nav button", "Activity").await?;
    window.wait_for("main h1, main h2").await?;
    inspection.state("Activity").await?;

    window.click("nav button", "Settings").await?;
    for group in SETTINGS {
        window.click("nav button", group).await?;
        window.wait_for("main h2").await?;
        inspection.state(&format!("Settings, {group}")).await?;
    }
    let found = inspection.found;
    ensure!(found.is_empty(), "{}", found.join("\n"));
    window.close().await
}

/// A session bus, with the accessibility bus that it starts. All that runs for it ends with it.
struct SessionBus {
    daemon: Child,
    address: String,
}

impl SessionBus {
    fn start() -> Result<SessionBus> {
        let mut daemon = Command::new("dbus-daemon")
            .args(["--session", "--nofork", "--print-address"])
            .env_remove("NO_AT_BRIDGE")
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .context("dbus-daemon cannot be started")?;
        let output = daemon.stdout.take().context("a pipe")?;
        let mut address = String::new();
        BufReader::new(output).read_line(&mut address)?;
        Ok(SessionBus { daemon, address: address.trim().to_owned() })
    }
}

impl Drop for SessionBus {
    fn drop(&mut self) {
        // Services that the bus started would outlive it and keep the session of the tests open.
        for process in descendants(self.daemon.id()) {
            if let Some(pid) = Pid::from_raw(process) {
                // Ended already is as good.
                let _ = kill_process(pid, Signal::TERM);
            }
        }
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

#[zbus::proxy(interface = "org.a11y.Bus", default_service = "org.a11y.Bus", default_path = "/org/a11y/bus")]
trait AccessibilityBus {
    fn get_address(&self) -> zbus::Result<String>;
}

#[zbus::proxy(
    interface = "org.a11y.Status",
    default_service = "org.a11y.Bus",
    default_path = "/org/a11y/bus"
)]
trait AccessibilityStatus {
    #[zbus(property)]
    fn set_is_enabled(&self, enabled: bool) -> zbus::Result<()>;
    #[zbus(property)]
    fn set_screen_reader_enabled(&self, enabled: bool) -> zbus::Result<()>;
}

#[zbus::proxy(
    interface = "org.a11y.atspi.Registry",
    default_service = "org.a11y.atspi.Registry",
    default_path = "/org/a11y/atspi/registry"
)]
trait Registry {
    fn register_event(&self, event: &str) -> zbus::Result<()>;
}

#[zbus::proxy(interface = "org.a11y.atspi.Accessible", assume_defaults = false)]
trait Accessible {
    fn get_child_at_index(&self, index: i32) -> zbus::Result<(String, OwnedObjectPath)>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn child_count(&self) -> zbus::Result<i32>;
    fn get_role(&self) -> zbus::Result<u32>;
    #[zbus(property(emits_changed_signal = "false"))]
    fn name(&self) -> zbus::Result<String>;
}

/// An element as a screen reader finds it, with its depth below the application.
#[derive(Debug)]
struct Element {
    depth: usize,
    role: u32,
    name: String,
}

/// Reads an element and those below it, in their order.
fn read<'a>(
    bus: &'a zbus::Connection,
    (service, path): (String, OwnedObjectPath),
    depth: usize,
    elements: &'a mut Vec<Element>,
) -> BoxFuture<'a, zbus::Result<()>> {
    Box::pin(async move {
        // Not cached: the registry does not answer for all properties at once.
        let element = AccessibleProxy::builder(bus)
            .destination(service)?
            .path(path)?
            .cache_properties(CacheProperties::No)
            .build()
            .await?;
        let (role, name) = (element.get_role().await?, element.name().await?);
        elements.push(Element { depth, role, name });
        // One by one: the list of children leaves out the page, which is in another process.
        for index in 0..element.child_count().await? {
            read(bus, element.get_child_at_index(index).await?, depth + 1, elements).await?;
        }
        Ok(())
    })
}

/// Reads the window until it is as expected.
async fn read_until(
    bus: &zbus::Connection,
    what: &str,
    expected: impl Fn(&[Element]) -> bool,
) -> Result<Vec<Element>> {
    let began = Instant::now();
    let root = OwnedObjectPath::try_from("/org/a11y/atspi/accessible/root")?;
    loop {
        let registry = ("org.a11y.atspi.Registry".to_owned(), root.clone());
        let mut elements = Vec::new();
        let outcome = read(bus, registry, 0, &mut elements).await;
        // What goes away while it is read is an error; the page is still changing then.
        if outcome.is_ok() && expected(&elements) {
            return Ok(elements);
        }
        if began.elapsed() > PATIENCE {
            let tree: Vec<String> = elements
                .iter()
                .map(|element| format!("{}{} {:?}", "  ".repeat(element.depth), element.role, element.name))
                .collect();
            bail!("{what} is not read: {outcome:?}\n{}", tree.join("\n"));
        }
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// Numbers of roles in the protocol.
mod role {
    pub(super) const BUTTON: u32 = 43;
    pub(super) const ENTRY: u32 = 79;
    pub(super) const HEADING: u32 = 83;
    pub(super) const GROUP: u32 = 39;
    pub(super) const DOCUMENT: u32 = 95;
    /// What people operate, which tells nothing without a name: check boxes, combo boxes, menu items, tabs, buttons, radio
    /// buttons, sliders, toggle buttons, entries, links.
    pub(super) const OPERATED: [u32; 10] = [7, 11, 35, 37, BUTTON, 44, 51, 62, ENTRY, 88];
}

fn unnamed(elements: &[Element]) -> Vec<&Element> {
    elements
        .iter()
        .filter(|element| role::OPERATED.contains(&element.role) && element.name.trim().is_empty())
        .collect()
}

/// Names that a label and an attribute make of the same words.
fn said_twice(elements: &[Element]) -> Vec<&Element> {
    let repeats = |name: &str| {
        let words: Vec<&str> = name.split_whitespace().collect();
        words.len() > 1
            && words.len().is_multiple_of(2)
            && words[..words.len() / 2] == words[words.len() / 2..]
    };
    let is_operated = |element: &&Element| role::OPERATED.contains(&element.role);
    elements.iter().filter(is_operated).filter(|element| repeats(&element.name)).collect()
}

fn position(elements: &[Element], role: u32, name: &str) -> Option<usize> {
    // The control of a pane also says how much waits there.
    let is_named =
        |element: &Element| element.name.split(" , ").next().is_some_and(|first| first.trim() == name);
    elements.iter().position(|element| element.role == role && is_named(element))
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn a_screen_reader_finds_names_roles_and_order() -> Result<()> {
    let place = place_to_review(20).await?;
    let session = SessionBus::start()?;
    let library = place.data_dir().display().to_string();
    let variables = [
        ("AUTOKIT_CONFIG_DIR", place.config_dir()),
        ("AUTOKIT_AUTHOR", PathBuf::from("tester")),
        ("DBUS_SESSION_BUS_ADDRESS", PathBuf::from(&session.address)),
        ("NO_AT_BRIDGE", PathBuf::new()),
    ];
    let options = [&["--data-dir", library.as_str()], NO_MODEL].concat();
    // As a screen reader does: without one, pages build no tree.
    let bus = zbus::connection::Builder::address(session.address.as_str())?.build().await?;
    let status = AccessibilityStatusProxy::new(&bus).await?;
    status.set_is_enabled(true).await?;
    status.set_screen_reader_enabled(true).await?;
    let address = AccessibilityBusProxy::new(&bus).await?.get_address().await?;
    let bus = zbus::connection::Builder::address(address.as_str())?.build().await?;
    RegistryProxy::new(&bus).await?.register_event("object:").await?;
    let window = Window::start(&options, &variables).await?;

    for pane in PANES {
        window.click("nav button", pane).await?;
        // The page of the pane has its name, and so does its control in the navigation.
        let elements = read_until(&bus, pane, |elements| {
            elements.iter().any(|element| element.role == role::DOCUMENT)
                && PANES.iter().all(|pane| position(elements, role::BUTTON, pane).is_some())
                && position(elements, role::GROUP, pane).is_some()
        })
        .await?;
        let wrong: Vec<&Element> = unnamed(&elements).into_iter().chain(said_twice(&elements)).collect();
        ensure!(wrong.is_empty(), "{pane}: {wrong:?}");
        // The way through the window: skip link, navigation from top to bottom, then the pane.
        let order: Vec<Option<usize>> =
            PANES.iter().map(|pane| position(&elements, role::BUTTON, pane)).collect();
        ensure!(order.is_sorted(), "{pane}: {order:?}");
        let skip = position(&elements, role::BUTTON, "Skip to content");
        ensure!(skip < order[0] && skip.is_some(), "{pane}: the skip link is not first");
        ensure!(
            position(&elements, role::GROUP, pane) > order[PANES.len() - 1],
            "{pane}: its content is not last"
        );
    }

    for group in SETTINGS {
        window.click("nav button", group).await?;
        window.wait_for("main h2").await?;
        let elements =
            read_until(&bus, group, |elements| position(elements, role::BUTTON, group).is_some()).await?;
        let wrong: Vec<&Element> = unnamed(&elements).into_iter().chain(said_twice(&elements)).collect();
        ensure!(wrong.is_empty(), "{group}: {wrong:?}");
    }

    // What is asked is read where it is typed, and so is the answer.
    window.click("nav button", "Ask").await?;
    window.fill("#ask-box", "toolkit 001").await?;
    let answered = window.wait_for(".answer h1").await?.text().await?;
    let elements =
        read_until(&bus, "the answer", |elements| position(elements, role::HEADING, &answered).is_some())
            .await?;
    let question =
        position(&elements, role::ENTRY, "What should the tool do?").context("the box has its label")?;
    ensure!(position(&elements, role::HEADING, &answered) > Some(question));
    let without = unnamed(&elements);
    ensure!(without.is_empty(), "{without:?}");
    window.close().await
}
