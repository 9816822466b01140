//! Ten tasks of somebody new in the real window, each done by the pointer and by the keyboard alone, with the actions
//! that they take: a click, a press of a key or chord, or a text that is typed into a field counts as one.
//! `ui/tests/browser/tasks.mjs` counts the same tasks in a browser.

#![expect(clippy::print_stdout, reason = "the counts are printed")]

use std::fs;

use anyhow::{Context, Result, ensure};
use autokit_api::commands::{DescribeCard, LoadStarter, StartVerify};
use autokit_api::{CardDescribe, Nothing, VerifyScope, VerifyStart};
use autokit_tests::Workplace;
use autokit_tests::agent::wait_for_job;
use autokit_tests::calendar::stock;
use autokit_tests::site::{Page, Site};
use autokit_tests::window::Window;
use serde_json::{Value, json};
use thirtyfour::Key;

use super::NO_MODEL;

/// Number of cards whose pages have more to say than the cards.
const REPAIRS: usize = 30;
/// The bundle to import, and the file of the export.
const BUNDLE: &str = "breakfast.toolcards";
const EXPORT: &str = "cards.json";

/// Something a person does, or waits for.
enum Step {
    /// Clicks what the selector finds and has this text.
    Click(&'static str, &'static str),
    /// Presses a key or chord.
    Press(&'static str),
    /// Types into the field that the selector finds, which must have the focus.
    Type(&'static str, &'static str),
    /// As [`Step::Type`], the path of this file.
    TypePath(&'static str, &'static str),
    /// Waits until what the selector finds and has this text has the focus.
    Focus(&'static str, &'static str),
    /// Waits until what the selector finds shows this text.
    Shows(&'static str, &'static str),
    /// Waits until JavaScript finds this true.
    Until(&'static str),
    /// Waits until a job has this outcome.
    Job(&'static str),
}
use Step::{Click, Focus, Job, Press, Shows, Type, TypePath, Until};

struct Task {
    name: &'static str,
    /// The number of actions by the pointer and by keys.
    most: [usize; 2],
    by_pointer: &'static [Step],
    by_keys: &'static [Step],
    /// What the window shows when it is done.
    shown: &'static [Step],
    /// Checks what is stored when it is done.
    stored: fn(&Workplace) -> Result<()>,
}

/// The answer to what was typed, not the example from before.
const ANSWERED: Step = Until("!document.querySelector('.example') && document.querySelector('.answer h1')");
const ASK: &str = "#ask-box";
const CALENDAR: Step = Type(ASK, "Create an event in Google Calendar");
const CONNECT: &str = "button[aria-label='Connect Cursor']";
const CONFIRM: &str = ".dialog-content button.primary:enabled";
const COPY: &str = ".starter button[aria-label='Copy starter code']";
const LIBRARY: Step = Click("nav button", "Library");
const LIBRARY_ACTION: &str = ".library .actions button:enabled";
const REVIEW: Step = Click("nav button", "Review");
/// Goes on from the task before it; the others start in Ask.
const UNDO: &str = "Undo that decision";
const TWO_ARE_NEW: Step = Until(
    "[...document.querySelectorAll('[aria-label=Filter] button')]
        .some((button) => /^2\\s+New$/.test(button.innerText.trim()))",
);

const TASKS: &[Task] = &[
    Task {
        name: "Ask a question and copy its starter code",
        most: [3, 3],
        by_pointer: &[CALENDAR, ANSWERED, Click(".answer button", "Starter code"), Click(COPY, "")],
        by_keys: &[CALENDAR, ANSWERED, Press("Control+Enter"), Focus(COPY, "Copy"), Press("Enter")],
        shown: &[Shows(".starter button[aria-label='Copied starter code']", "Copied")],
        stored: |_| Ok(()),
    },
    Task {
        name: "Accept 30 safe repairs after a preview",
        most: [3, 3],
        by_pointer: &[
            REVIEW,
            Click("main button:enabled", "Accept low-risk…"),
            Click(CONFIRM, "Accept 30 proposals"),
        ],
        by_keys: &[
            Press("Control+3"),
            Shows("#proposal-title", ""),
            Press("A"),
            Focus(CONFIRM, "Accept 30 proposals"),
            Press("Enter"),
        ],
        shown: &[Shows("[role=status]", "Accepted 30 proposals")],
        stored: |place| check_pending(place, 1),
    },
    Task {
        name: "Connect an agent found on this machine",
        most: [3, 3],
        by_pointer: &[
            Click(".steps button", "Connect agents"),
            Click(CONNECT, "Connect…"),
            Click(CONFIRM, "Update file"),
        ],
        by_keys: &[
            Press("Control+Shift+a"),
            Focus(CONNECT, "Connect…"),
            Press("Enter"),
            Focus(CONFIRM, "Update file"),
            Press("Enter"),
        ],
        shown: &[Shows(".dialog-title", "Connected Cursor")],
        stored: |place| {
            let settings = read_json(place, "home/.cursor/mcp.json")?;
            ensure!(settings["mcpServers"]["autokit"].is_object(), "{settings}");
            Ok(())
        },
    },
    Task {
        name: "Reject a proposal with a reason",
        most: [4, 4],
        by_pointer: &[
            REVIEW,
            Click("main button:enabled", "Reject…"),
            Type("#reject-reason", "not ours"),
            Click("main form button.danger", "Reject"),
        ],
        by_keys: &[
            Press("Control+3"),
            Shows("#proposal-title", "Abacus Kit"),
            Press("r"),
            Type("#reject-reason", "not ours"),
            Press("Enter"),
        ],
        shown: &[Shows(".toast", "Rejected Abacus Kit")],
        stored: |place| {
            check_pending(place, 0)?;
            let all = place.json(&["review", "list", "--all"])?;
            let rejected = |row: &Value| row["title"] == "Abacus Kit" && row["state"] == "rejected";
            ensure!(all["rows"].as_array().is_some_and(|rows| rows.iter().any(rejected)), "{all}");
            Ok(())
        },
    },
    Task {
        name: UNDO,
        most: [1, 1],
        by_pointer: &[Click(".toast button", "Undo")],
        by_keys: &[Press("u")],
        shown: &[Shows(".toast", "Reopened Abacus Kit")],
        stored: |place| check_pending(place, 1),
    },
    Task {
        name: "Import a bundle, after a look at what it brings",
        most: [5, 4],
        by_pointer: &[
            LIBRARY,
            Click(LIBRARY_ACTION, "Import…"),
            TypePath("#import-place", BUNDLE),
            Click(".dialog-content form:has(#import-place) button:enabled", "Preview"),
            TWO_ARE_NEW,
            Click(CONFIRM, "Propose 2 cards"),
        ],
        by_keys: &[
            Press("Control+i"),
            TypePath("#import-place", BUNDLE),
            Press("Enter"),
            TWO_ARE_NEW,
            Press("Control+Enter"),
        ],
        shown: &[Until("!document.querySelector('.dialog-content')"), Job("2 pending review")],
        stored: |place| check_pending(place, 3),
    },
    Task {
        // The dialog of the system that asks where to save is answered without the hand.
        name: "Export the library",
        most: [4, 4],
        by_pointer: &[
            LIBRARY,
            Click(LIBRARY_ACTION, "Export…"),
            Click("[data-start] label", "JSON"),
            Click(CONFIRM, "Export "),
        ],
        by_keys: &[
            Press("Control+e"),
            Focus("[data-start] [role=radio]", ""),
            Press("ArrowDown"),
            Press("ArrowDown"),
            Shows(CONFIRM, "Export "),
            Press("Control+Enter"),
        ],
        shown: &[Shows(".toast", EXPORT)],
        stored: |place| {
            let (exported, listed) = (read_json(place, EXPORT)?, place.json(&["cards", "list"])?);
            let count = exported.as_array().context("a list")?.len();
            ensure!(listed["total"] == count, "{count} of {}", listed["total"]);
            Ok(())
        },
    },
    Task {
        name: "Add a card by hand",
        most: [6, 6],
        by_pointer: &[
            LIBRARY,
            Click(LIBRARY_ACTION, "Add"),
            Type("#edit-name", "Tea timer"),
            Click("#edit-description", ""),
            Type("#edit-description", "Tells when the tea is ready."),
            Click("aside button.primary:enabled", "Save"),
        ],
        by_keys: &[
            Press("Control+4"),
            // Typed into the question otherwise.
            Until("!document.querySelector('#ask-box:focus')"),
            Press("n"),
            Type("#edit-name", "Tea timer"),
            Press("Tab"),
            Type("#edit-description", "Tells when the tea is ready."),
            Press("Control+Enter"),
        ],
        shown: &[Shows("aside h1", "Tea timer")],
        stored: |place| {
            let card = place.json(&["cards", "show", "Tea timer"])?;
            ensure!(card["fields"]["description"] == "Tells when the tea is ready.", "{card}");
            Ok(())
        },
    },
    Task {
        name: "Find a card and check it against its page",
        most: [3, 4],
        by_pointer: &[
            Type(ASK, "Kit 7"),
            Click(".answer h1 button", "Kit 7"),
            Click("aside button:enabled", "Check now"),
        ],
        by_keys: &[
            Press("Control+k"),
            Type(".palette-input", "Kit 7"),
            Shows("[role=option][aria-selected=true]", "Kit 7"),
            Press("Enter"),
            Shows("aside h1", "Kit 7"),
            Press("c"),
        ],
        // Changed since the last check, by the repair.
        shown: &[Shows("aside [aria-labelledby^=check-] [role=status]", "Verified")],
        stored: |_| Ok(()),
    },
    Task {
        name: "Compare two candidates of an answer",
        most: [2, 5],
        by_pointer: &[CALENDAR, ANSWERED, Click(".compare", "")],
        by_keys: &[CALENDAR, ANSWERED, Press("ArrowDown"), Press("ArrowDown"), Press("Tab"), Press("Enter")],
        shown: &[Until("document.querySelectorAll('.dialog-content th[scope=col]').length === 2")],
        stored: |_| Ok(()),
    },
];

fn check_pending(place: &Workplace, expected: usize) -> Result<()> {
    // A list of what is pending fails if nothing is.
    let all = place.json(&["review", "list", "--all"])?;
    let rows = all["rows"].as_array().context("a list")?;
    let count = rows.iter().filter(|row| row["state"] == "pending").count();
    ensure!(count == expected, "{count} proposals are pending, not {expected}");
    Ok(())
}

fn read_json(place: &Workplace, name: &str) -> Result<Value> {
    Ok(serde_json::from_slice(&fs::read(place.path(name)).with_context(|| name.to_owned())?)?)
}

/// What WebDriver types for a key or chord.
fn keys_of(chord: &str) -> String {
    let key = |name: &str| match name {
        "Control" => Key::Control.value().to_string(),
        "Shift" => Key::Shift.value().to_string(),
        "Enter" => Key::Enter.value().to_string(),
        "Tab" => Key::Tab.value().to_string(),
        "ArrowDown" => Key::Down.value().to_string(),
        letter => letter.to_owned(),
    };
    // Lets go of the modifiers. After a key alone it would be typed into the field that the key focused.
    let end = chord.contains('+').then(|| Key::Null.value().to_string());
    chord.split('+').map(key).chain(end).collect()
}

/// Counts what a person does.
struct Hand<'a> {
    window: &'a Window,
    place: &'a Workplace,
    actions: usize,
}

impl Hand<'_> {
    async fn take(&mut self, step: &Step) -> Result<()> {
        let window = self.window;
        match *step {
            Click(control, text) => {
                self.actions += 1;
                window.click(control, text).await
            }
            Press(chord) => {
                self.actions += 1;
                window.press(keys_of(chord)).await?;
                let hidden = self.hidden_focus().await?;
                ensure!(hidden.is_null(), "after {chord}, the focus is on what cannot be seen: {hidden}");
                Ok(())
            }
            Type(field, text) => self.enter(field, text).await,
            TypePath(field, name) => {
                let path = self.place.path(name);
                self.enter(field, &path.display().to_string()).await
            }
            Focus(control, text) => self.wait_for_focus(control, text).await,
            Shows(part, text) => window.wait_for_text(part, text).await.map(drop),
            Until(condition) => window.wait_until(condition).await,
            Job(outcome) => window.wait_for_job(outcome).await,
        }
    }

    async fn enter(&mut self, field: &str, text: &str) -> Result<()> {
        self.actions += 1;
        self.wait_for_focus(field, "").await?;
        self.window.press(text).await
    }

    async fn wait_for_focus(&self, control: &str, text: &str) -> Result<()> {
        let [control, text] = [control, text].map(|text| json!(text).to_string());
        let focused = "document.activeElement";
        let is_it = format!("{focused}?.matches({control}) && {focused}.textContent.includes({text})");
        self.window.wait_until(&is_it).await
    }

    /// What has the focus and is marked as focused, but is out of view.
    async fn hidden_focus(&self) -> Result<Value> {
        self.window
            .run(
                "const focused = document.activeElement;
                 if (!focused?.matches(':focus-visible') || focused.matches('[tabindex=\"-1\"]')) return null;
                 // A control that is not shown itself marks its label.
                 const shown = focused.closest('label') ?? focused;
                 const { top, left, bottom, right } = shown.getBoundingClientRect();
                 const isInView = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
                 return isInView && shown.checkVisibility({ visibilityProperty: true }) ? null : focused.outerHTML;",
            )
            .await
    }
}

/// Puts what the tasks are about into a new library: an agent's settings, proposals, and a bundle to import.
async fn prepare(place: &Workplace) -> Result<Site> {
    let other = Workplace::with_stand_in()?;
    let run = |place: &Workplace, arguments: &[&str]| tokio::task::block_in_place(|| place.json(arguments));
    let site = Site::serve([]).await?;
    let mut cards = Vec::new();
    for n in 0..REPAIRS {
        let path = format!("/kit/{n}");
        let page = Page::new(&format!("Kit {n}"))
            .paragraph(&format!(
                "Kit {n} counts the boxes in warehouse {n}, and lets an agent order more of them."
            ))
            .heading("Instantiation")
            .code("python", &format!("from kit_{n} import Kit{n}\n\nkit = Kit{n}()"));
        site.put(&path, page);
        cards.push(json!({
            "name": format!("Kit {n}"), "provider": "Boxes", "programming_language": "python",
            "module": format!("kit_{n}"), "class": format!("Kit{n}"), "documentation": site.url(&path),
        }));
    }
    run(place, &["providers", "allow", &site.host()])?;
    // Joins the engine of the window.
    let node = place.node(64).await?;
    stock(&node, &cards).await?;
    let start = VerifyStart { scope: VerifyScope::All, improve: true, anew: false };
    wait_for_job(&node, &node.call::<StartVerify>(start).await?.job).await?;
    wait_for_job(&node, &node.call::<LoadStarter>(Nothing {}).await?.job).await?;
    let text = "Abacus Kit is a library that counts beads. See https://docs.example.org/abacus.\n\n```python\nfrom abacus_kit import Abacus\n```\n";
    node.call::<DescribeCard>(CardDescribe { text: text.to_owned() }).await?;
    node.close().await?;
    tokio::task::block_in_place(|| check_pending(place, REPAIRS + 1))?;

    let breakfast = [
        json!({ "name": "Toaster", "description": "Toasts." }),
        json!({ "name": "Juicer", "description": "Presses." }),
    ];
    let file = other.cards_file("breakfast.json", &breakfast)?;
    run(&other, &["import", &file.display().to_string()])?;
    let bundle = place.path(BUNDLE).display().to_string();
    run(&other, &["bundle", "export", &bundle, "--name", "Breakfast"])?;
    Ok(site)
}

/// Opens Ask as a window that has just been opened shows it.
async fn start_anew(window: &Window, place: &Workplace) -> Result<()> {
    window.driver.refresh().await?;
    window.wait_for(ASK).await?;
    window.wait_until("document.activeElement?.id === 'ask-box'").await?;
    window.answer_dialogs(&place.path(EXPORT)).await?;
    window
        .run(
            "window.pointed = [];
             for (const event of ['pointerdown', 'mousedown', 'wheel'])
                 addEventListener(event, ({ type }) => window.pointed.push(type), { capture: true, passive: true });",
        )
        .await?;
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Way {
    Pointer,
    Keys,
}

/// Carries out all tasks in one way in a library of their own, and counts the actions.
async fn carry_out(way: Way) -> Result<()> {
    let place = Workplace::with_stand_in()?;
    let home = place.path("home");
    fs::create_dir_all(home.join(".cursor"))?;
    let variables = [
        ("XDG_CONFIG_HOME", home.join(".config")),
        ("HOME", home),
        ("AUTOKIT_CONFIG_DIR", place.config_dir()),
        ("AUTOKIT_AUTHOR", "tester".into()),
    ];
    let library = place.data_dir().display().to_string();
    let window = Window::start(&[&["--data-dir", library.as_str()], NO_MODEL].concat(), &variables).await?;
    // Only the engine that made the library counts as the first run of somebody new.
    let _site = prepare(&place).await?;
    let mut counts = Vec::new();
    for task in TASKS {
        if task.name != UNDO {
            start_anew(&window, &place).await?;
        }
        let mut hand = Hand { window: &window, place: &place, actions: 0 };
        let steps = if way == Way::Pointer { task.by_pointer } else { task.by_keys };
        for step in steps {
            hand.take(step).await.context(task.name)?;
        }
        if way == Way::Keys {
            let pointed = window.run("return window.pointed").await?;
            ensure!(pointed == json!([]), "{}: the pointer was used: {pointed}", task.name);
        }
        counts.push(hand.actions);
        for step in task.shown {
            hand.take(step).await.context(task.name)?;
        }
        tokio::task::block_in_place(|| (task.stored)(&place)).context(task.name)?;
    }
    window.close().await?;
    println!("{:50}{:>10}", "Task", if way == Way::Pointer { "pointer" } else { "keys" });
    for (task, count) in TASKS.iter().zip(&counts) {
        println!("{:50}{count:>10}", task.name);
    }
    for (task, count) in TASKS.iter().zip(counts) {
        let most = task.most[usize::from(way == Way::Keys)];
        ensure!(count <= most, "{} took {count} actions, more than {most}", task.name);
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn ten_tasks_by_pointer() -> Result<()> {
    carry_out(Way::Pointer).await
}

#[tokio::test(flavor = "multi_thread")]
#[ignore = "needs a display: run by `cargo xtask test`"]
async fn ten_tasks_by_keyboard() -> Result<()> {
    carry_out(Way::Keys).await
}
