//! Updates: a signed package named by a static manifest. Nothing is asked for until an address is set, and nothing is
//! installed until the person says so.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use autokit_error::{ApiError, ErrorCode, Result};
use serde::Serialize;
use tauri::{AppHandle, Manager as _, State, Url};
use tauri_plugin_updater::{Error, Update, UpdaterExt as _};
use tokio::sync::{Mutex, Notify};

use crate::options::Options;
use crate::settings::Desktop;

/// How long asking for a newer version may take.
const CHECK_TIMEOUT: Duration = Duration::from_secs(30);
/// How long downloading a package may take.
const DOWNLOAD_TIMEOUT: Duration = Duration::from_mins(30);
/// Most bytes of a package; ours have a tenth of that.
const MAX_PACKAGE: usize = 1 << 30;

/// A newer version.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub(crate) struct NewVersion {
    version: String,
    /// What has changed, as written by whoever released it.
    notes: Option<String>,
}

/// The update that was found, and its package once that is downloaded and verified.
#[derive(Default)]
pub(crate) struct Pending(Mutex<Option<(Update, Option<Vec<u8>>)>>);

/// Asks the manifest for a newer version.
#[tauri::command]
pub(crate) async fn updates_check(
    app: AppHandle,
    desktop: State<'_, Desktop>,
    pending: State<'_, Pending>,
) -> Result<Option<NewVersion>> {
    let source = desktop.settings().updates;
    if source.address.is_empty() || source.key.is_empty() {
        let message = "no address and key of updates are set";
        return Err(ApiError::new(
            ErrorCode::Invalid,
            message,
            "Enter both under Settings, General, Updates.",
        ));
    }
    let address = Url::parse(&source.address).map_err(|error| {
        let message = format!("{:?} is not an address: {error}", source.address);
        ApiError::new(ErrorCode::Invalid, message, "Enter the https address of the manifest.")
    })?;
    let updater = app.updater_builder().endpoints(vec![address]).map_err(failed)?.pubkey(source.key);
    let updater = updater.timeout(CHECK_TIMEOUT).build().map_err(failed)?;
    let mut found = updater.check().await.map_err(failed)?;
    if let Some(update) = &mut found {
        update.timeout = Some(DOWNLOAD_TIMEOUT);
    }
    let version = found.as_ref().map(|update| NewVersion {
        version: update.version.clone(),
        notes: update.body.clone().filter(|notes| !notes.is_empty()),
    });
    *pending.0.lock().await = found.map(|update| (update, None));
    Ok(version)
}

/// Downloads the package of the update that was found and verifies its signature. Returns its size in bytes.
#[tauri::command]
pub(crate) async fn updates_download(pending: State<'_, Pending>) -> Result<usize> {
    // Not held while downloading, so that another check need not wait.
    let update =
        pending.0.lock().await.as_ref().map(|(update, _)| update.clone()).ok_or_else(nothing_found)?;
    let (received, too_large) = (AtomicUsize::new(0), Notify::new());
    let count = |bytes: usize, _| {
        if received.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_PACKAGE {
            too_large.notify_one();
        }
    };
    let bytes = tokio::select! {
        bytes = update.download(count, || ()) => bytes.map_err(failed)?,
        () = too_large.notified() => return Err(ApiError::new(
            ErrorCode::Invalid,
            "the update is larger than 1 GiB, and was not downloaded",
            "Tell whoever publishes the updates.",
        )),
    };
    let size = bytes.len();
    match &mut *pending.0.lock().await {
        Some((found, package)) if found.signature == update.signature => *package = Some(bytes),
        // Another check has found something else, or nothing.
        _ => return Err(nothing_found()),
    }
    Ok(size)
}

/// Installs the verified package and restarts.
#[tauri::command]
pub(crate) async fn updates_install(
    app: AppHandle,
    pending: State<'_, Pending>,
    restart: State<'_, Restart>,
) -> Result<()> {
    if tauri::utils::platform::bundle_type().is_none() {
        let message = "this copy of AutoKit was not installed from a package";
        return Err(ApiError::new(
            ErrorCode::Invalid,
            message,
            "Install the new version as you installed this one.",
        ));
    }
    // Kept, because a cancelled password prompt may be answered the next time.
    let (update, package) = pending.0.lock().await.clone().ok_or_else(nothing_found)?;
    let package = package.ok_or_else(nothing_found)?;
    #[cfg(windows)]
    // The installer ends this process without asking, and replaces the program of the engine.
    app.state::<crate::engine::Engine>().close().await;
    let installed = tauri::async_runtime::spawn_blocking(move || update.install(package)).await;
    installed.map_err(|error| ApiError::internal(error.to_string()))?.map_err(failed)?;
    restart.0.store(true, Ordering::Relaxed);
    app.exit(0);
    Ok(())
}

/// Whether the program starts again once it has ended in good order.
#[derive(Default)]
pub(crate) struct Restart(AtomicBool);

/// Starts the installed version in place of this process, if an update asked for it. Called last when the program ends.
pub(crate) fn restart_if_asked(app: &AppHandle) {
    if !app.state::<Restart>().0.load(Ordering::Relaxed) {
        return;
    }
    let mut env = app.env();
    // Without `--hidden` and links: whoever asked for the update was looking at the window, and has opened those already.
    env.args_os.truncate(1);
    env.args_os.extend(app.state::<Options>().folders());
    // Lets go of the name of the only instance, or the new process would pass its arguments to this one and end.
    app.cleanup_before_exit();
    tauri::process::restart(&env)
}

fn nothing_found() -> ApiError {
    ApiError::new(ErrorCode::NotFound, "there is no update to install", "Check for updates first.")
}

fn failed(error: Error) -> ApiError {
    match error {
        Error::Minisign(_)
        | Error::Base64(_)
        | Error::SignatureUtf8(_)
        | Error::SignedVersionMismatch { .. }
        | Error::MissingSignedVersion => ApiError::new(
            ErrorCode::Invalid,
            format!("the update is not signed with the key in Settings, and was not installed: {error}"),
            "Tell whoever publishes the updates.",
        ),
        other => ApiError::new(
            ErrorCode::Internal,
            format!("the update failed: {other}"),
            "Check the address of updates and your connection, then try again.",
        ),
    }
}
