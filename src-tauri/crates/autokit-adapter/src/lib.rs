//! A personal correction of query embeddings, learned from one person's own past (part of "future work of
//! AutoKit FUEL: learning from usage").
//!
//! A search ranks cards by the cosine between the embedding of a request and the embeddings of the cards. What
//! a person judged in the past (a yes or no on an answer, a tool found and then called, an accepted edit) says
//! how *this person's* requests relate to the cards. An [`Adapter`] is a small low-rank linear map that turns
//! the query a little, never by more than [`MAX_ANGLE_DEGREES`], before the cards are searched. The cards'
//! own vectors stay as they are.
//!
//! [`learn`] is the way in: it measures by [`cross_validate`] whether an adapter helps on questions it was not
//! fitted on, and only if it does [`fit`]s one on everything. Results depend on the data, the options and the
//! seeds alone: no clock is read, and the number of threads makes no difference. The work runs on the current
//! rayon pool; run it inside a small pool of its own to leave cores to the application.
//!
//! Shapes: all vectors are flat `f32` rows of `dim` numbers and of unit length; times are seconds since the
//! epoch; angles are degrees; differences are in units of reciprocal rank (0 to 1).

mod adapter;
mod dataset;
mod error;
mod fit;
mod loss;
mod rank;
mod validate;
mod vectors;

pub use adapter::{Adapter, MAX_ANGLE_DEGREES, MAX_DIM, MAX_RANK};
pub use dataset::{Cards, Dataset, NEAR_DUPLICATE, Observation, Question, Source};
pub use error::{Error, Stop};
pub use fit::{FitOptions, fit};
pub use validate::{Interval, Options, Outcome, Ranking, Refusal, cross_validate, learn};

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
