//! The requests made to reach a page.

use serde::{Deserialize, Serialize};

/// One request on the way to a page.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hop {
    /// The requested URL.
    pub url: String,
    /// HTTP status.
    pub status: u16,
}
