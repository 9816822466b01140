//! Tools that grow from use (Elyra, bootstrapping; see *Systems* in `ARCHITECTURE.md`).
//!
//! * [`sequences`] finds what agents do again and again: sequences of calls in which what one returns is what the next
//!   is given.
//! * [`Macro`] makes one tool of such a sequence: what differed between its occurrences becomes a parameter.
//! * [`repeated_edits`] finds the same edit of several cards.
//! * [`Contest`] lets variants of a tool or of its description compete by their outcomes (Thompson sampling), and
//!   withdraws those that fail.
//!
//! Nothing here calls a tool or changes a card: macros run through a [`StepRunner`], and what is found is proposed by
//! others.

mod contest;
mod edits;
mod macros;
mod sequences;

pub use contest::{Contest, Posterior, Variant, Withdrawal, mostly_fails};
pub use edits::{Edit, RepeatedEdit, repeated_edits};
pub use macros::{Argument, Macro, MacroError, MacroStep, StepRunner};
pub use sequences::{RecordedCall, Sequence, SequenceOptions, recorded, sequences};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
