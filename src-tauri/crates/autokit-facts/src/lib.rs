//! What a documentation page shows of the tools on it.
//!
//! * [`Code`]: the imports and constructor calls in a page's code blocks, read with a real parser
//!   (tree-sitter, which goes on past lines it does not understand: half of what documentation shows
//!   is not quite the language).
//! * [`Facts`]: what the tool is called, what it does, how it is imported and built, what it costs.
//! * [`words`], [`distinctive`], [`sentences`], [`opening`]: how text is cut here, for everybody who
//!   compares it.
//!
//! Every fact keeps the sentence or the line of code it was read from, as it stands on the page.

mod code;
mod pricing;
mod text;
mod tool;
mod value;

pub use code::{Call, Code, Import, Language};
pub use pricing::{Price, price};
pub use text::{alike, distinctive, is_name, opening, sentences, words};
pub use tool::{Fact, Facts, title_of};
pub use value::placeholders;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
