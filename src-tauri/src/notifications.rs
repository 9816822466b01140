//! Notifications of the desktop: an agent waits for approval, checks have found something, or somebody in the team asks for a
//! review or mentions this person. Only while the window is not in front, where all of it is seen anyway.

use std::collections::HashSet;
use std::time::Duration;

use autokit_api::commands::WaitApprovals;
use autokit_api::{ApprovalRequest, ApprovalsWait, Client, Event, JobKind, JobState, TeamNoticeKind};
use autokit_toolcard::visible;
use notify_rust::Notification;
use tauri::{AppHandle, Emitter, Manager};

use crate::engine::Engine;
use crate::settings::Desktop;
use crate::{MAIN, tray};

/// Name of the Tauri event that opens a pane of the main window.
const OPEN: &str = "open-pane";
/// How long to wait after an error before the calls that wait for approval are asked for again.
const RETRY: Duration = Duration::from_secs(5);

/// How long a click on a notification opens the window.
#[cfg(target_os = "linux")]
const WAIT_FOR_CLICK: Duration = Duration::from_mins(10);

/// A text for people, and what opens when they click it.
struct Message {
    summary: String,
    body: String,
    /// Pane of the main window.
    pane: Option<&'static str>,
}

/// Notifies of calls that wait for approval until the library is closed.
pub(crate) async fn watch_approvals(app: AppHandle, engine: Engine) {
    let mut version = 0;
    let mut known = HashSet::new();
    loop {
        match (&engine as &dyn Client).call::<WaitApprovals>(ApprovalsWait { after: version }).await {
            Ok(requests) => {
                version = requests.version;
                let waiting: HashSet<String> = requests.asks.iter().map(|ask| ask.id.clone()).collect();
                for ask in requests.asks.iter().filter(|ask| !known.contains(&ask.id)) {
                    notify(&app, approval(ask));
                }
                known = waiting;
            }
            Err(error) => {
                tracing::warn!(%error, "failed to read the calls that wait for approval");
                tokio::time::sleep(RETRY).await;
            }
        }
    }
}

fn approval(ask: &ApprovalRequest) -> Message {
    let client = if ask.client.is_empty() { "An agent" } else { &ask.client };
    Message { summary: format!("{client} asks to call {}", ask.name), body: ask.words.join(", "), pane: None }
}

/// Notifies when somebody in the team asks for a review or mentions this person.
pub(crate) fn notify_team_event(app: &AppHandle, event: &Event) {
    let Event::TeamNotice { notice } = event else { return };
    let by = notice.by.as_deref().unwrap_or("Somebody");
    let summary = match notice.kind {
        TeamNoticeKind::Assigned => format!("{by} requested your review of {}", notice.card),
        TeamNoticeKind::Mentioned => format!("{by} mentioned you: {}", notice.card),
    };
    notify(app, Message { summary, body: notice.text.clone(), pane: Some("review") });
}

/// Corrections that wait in Review, now and from before the running checks.
pub(crate) struct Findings {
    waiting: u32,
    before: Option<u32>,
}

impl Findings {
    /// Starts with what waits already.
    pub(crate) fn new(waiting: u32) -> Findings {
        Findings { waiting, before: None }
    }

    /// Notifies when checks have ended that found something.
    pub(crate) fn on_event(&mut self, app: &AppHandle, event: &Event) {
        if let Some(found) = self.found(event) {
            let corrections = if found == 1 { "correction is" } else { "corrections are" };
            notify(
                app,
                Message {
                    summary: "Checks finished".to_owned(),
                    body: format!("{found} {corrections} pending review"),
                    pane: Some("review"),
                },
            );
        }
    }

    /// Returns how many more proposals wait at the end of a run of checks than at its start, if any.
    fn found(&mut self, event: &Event) -> Option<u32> {
        match event {
            Event::Proposals { waiting } => self.waiting = *waiting,
            Event::Job { job } if job.kind == JobKind::Verify => match job.state {
                JobState::Running => {
                    self.before.get_or_insert(self.waiting);
                }
                JobState::Done => {
                    let before = self.before.take()?;
                    return self.waiting.checked_sub(before).filter(|found| *found > 0);
                }
                JobState::Failed | JobState::Cancelled => self.before = None,
            },
            _ => {}
        }
        None
    }
}

/// Shows a notification, unless the window is in front or the person wants none.
fn notify(app: &AppHandle, message: Message) {
    let is_in_front = app.get_webview_window(MAIN).is_some_and(|window| {
        window.is_visible().unwrap_or_default() && window.is_focused().unwrap_or_default()
    });
    if is_in_front || !app.state::<Desktop>().settings().notifications {
        return;
    }
    let app = app.clone();
    tauri::async_runtime::spawn(async move {
        match show(&message).await {
            Ok(true) => {
                tray::show_window(&app);
                if let Some(pane) = message.pane
                    && let Err(error) = app.emit_to(MAIN, OPEN, pane)
                {
                    tracing::warn!(%error, "failed to open a pane");
                }
            }
            Ok(false) => {}
            Err(error) => tracing::warn!(%error, "failed to show a notification"),
        }
    });
}

/// Returns a text that a notification server shows as it is: bodies may contain markup, and names come from programs that
/// nobody has checked.
fn as_text(text: &str) -> String {
    visible(text).replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}

fn notification(message: &Message) -> Notification {
    let mut notification = Notification::new();
    let summary = visible(&message.summary);
    notification.appname("AutoKit").summary(&summary).body(&as_text(&message.body));
    notification
}

/// Shows a notification and returns whether it was clicked.
#[cfg(target_os = "linux")]
async fn show(message: &Message) -> Result<bool, notify_rust::error::Error> {
    let mut notification = notification(message);
    notification.icon("autokit-desktop").action("default", "Open");
    let handle = notification.show_async().await?;
    let mut clicked = false;
    let answered = handle.wait_for_action_async(|response| {
        clicked = matches!(response, notify_rust::NotificationResponse::Default);
    });
    // A server that never says that a notification was closed would keep the connection to the bus open for good.
    let _ = tokio::time::timeout(WAIT_FOR_CLICK, answered).await;
    Ok(clicked)
}

/// Shows a notification. Other systems bring the program to the front when it is clicked.
#[cfg(not(target_os = "linux"))]
async fn show(message: &Message) -> Result<bool, notify_rust::error::Error> {
    let notification = notification(message);
    let shown = tauri::async_runtime::spawn_blocking(move || notification.show().map(drop)).await;
    shown.unwrap_or(Ok(())).map(|()| false)
}
