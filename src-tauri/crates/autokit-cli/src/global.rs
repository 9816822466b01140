//! What the options of every command mean.

use std::path::PathBuf;

use autokit_app::engine::Vectors;
use autokit_app::paths;
use autokit_membership::folder;
use autokit_terminal::{Global, Result};

/// Returns where vectors come from.
pub(crate) fn vectors(global: &Global) -> Vectors {
    if let Some(dim) = global.stand_in {
        Vectors::StandIn(dim)
    } else if global.no_model {
        Vectors::Off
    } else if let Some(folder) = &global.model_folder {
        Vectors::Folder { model: autokit_app::default_model().to_owned(), folder: folder.clone() }
    } else {
        Vectors::Model
    }
}

/// Returns the library folder: the person's own, or that of a team.
///
/// # Errors
/// `not_found` for a team that is not on this machine.
pub(crate) fn data_dir(global: &Global) -> Result<PathBuf> {
    let own = global.data_dir.clone().unwrap_or_else(paths::data_dir);
    Ok(match &global.team {
        Some(team) => folder::find(&own, team)?,
        None => own,
    })
}
