//! A drafted answer.

use std::sync::Arc;

use autokit_toolcard::Stub;

use super::answer::Retrieved;

/// A drafted answer, not yet checked. It holds its card, so that name, code and citations stay those of one
/// card whatever is searched for afterwards.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub(super) card: Arc<Retrieved>,
    pub(super) sentence: String,
    pub(super) why: String,
    pub(super) code: Option<Stub>,
    pub(super) by_model: bool,
}
