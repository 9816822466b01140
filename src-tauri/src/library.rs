//! Which library the window shows: the person's own, or that of a team they belong to.

use autokit_error::{ApiError, ErrorCode, Result};
use serde::Serialize;
use tauri::{AppHandle, Manager, State};

use crate::engine::Engine;
use crate::options::Options;
use crate::quick;
use crate::settings::Desktop;

/// The library that the window shows.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct OpenLibrary {
    /// Id of the team whose library it is; `None` for the person's own.
    team: Option<String>,
}

/// Returns which library the window shows, also while it can't be opened.
#[tauri::command]
#[allow(clippy::needless_pass_by_value, reason = "Tauri passes the state by value")]
pub(crate) fn library_get(options: State<'_, Options>, desktop: State<'_, Desktop>) -> OpenLibrary {
    OpenLibrary { team: desktop.team(&options.data_dir()) }
}

/// Opens another library in place of the one that is open, now and at the next start. Answers when the one before is
/// closed; calls wait until the other one is open.
#[tauri::command]
pub(crate) async fn library_open(app: AppHandle, team: Option<String>) -> Result<()> {
    if let Some(id) = team.as_deref().filter(|id| !is_id(id)) {
        let message = format!("{id:?} is not the id of a team");
        return Err(ApiError::new(ErrorCode::BadRequest, message, "Choose a team from the list."));
    }
    let command = {
        let options = app.state::<Options>();
        let command = options.engine(team.as_deref());
        let command = command.map_err(|error| ApiError::internal(format!("open a library: {error}")))?;
        app.state::<Desktop>().set_team(&options.data_dir(), team)?;
        command
    };
    quick::close(&app);
    let engine = app.state::<Engine>().inner().clone();
    engine.switch(command).await;
    Ok(())
}

/// Whether this can be the id of a team, which names a folder.
fn is_id(id: &str) -> bool {
    !id.is_empty() && id.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-')
}

#[cfg(test)]
mod tests {
    use super::is_id;

    #[test]
    fn an_id_leads_to_no_other_folder() {
        assert!(is_id("kitchen") && is_id("kitchen-2"));
        for other in ["", ".", "../kitchen", "a/b", "a b", "küche"] {
            assert!(!is_id(other), "{other}");
        }
    }
}
