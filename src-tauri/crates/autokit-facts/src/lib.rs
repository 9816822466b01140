//! Extracts what a documentation page shows about its tool.
//!
//! * [`Code`]: the imports and constructor calls in a page's code blocks, parsed with tree-sitter, which
//!   continues after lines it does not understand: half of the code in documentation is not quite valid.
//! * [`Facts`]: a tool's name, description, import, constructor arguments and price.
//! * [`limits_not_in`]: the sentences of a description that limit what a tool does.
//! * [`words`], [`distinctive`], [`sentences`], [`opening`]: splitting text, shared by everything that
//!   compares it.
//!
//! Every fact keeps the sentence or line of code it was read from, as it is on the page.

mod code;
mod limits;
mod pricing;
mod text;
mod tool;
mod value;

pub use code::{Call, Code, Import, Language};
pub use limits::limits_not_in;
pub use pricing::{Price, price};
pub use text::{distinctive, is_name, opening, same_stem, sentences, words};
pub use tool::{Fact, Facts, title_of};
pub use value::placeholders;

// Pins one feature set for the whole workspace; nothing is imported from it.
use workspace_hack as _;
