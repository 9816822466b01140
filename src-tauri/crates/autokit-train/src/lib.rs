//! Trains a low-rank delta of an embedding model on pairs of a request and the tool that answers it.
//!
//! The base model stays frozen; each linear layer gets a delta of small rank (LoRA, Hu et al., 2021) that is
//! added to its weight when the model is loaded, so that a query costs nothing more. The objective is InfoNCE
//! in both directions over batches of one source, half of them of similar tools.
//!
//! - [`pairs`]: the data; [`schedule`]: which pairs train together; [`negatives`]: what counts as wrong.
//! - [`network`]: the differentiable forward pass; [`loss`] and [`optimizer`]: the training.
//! - [`run`]: the whole run, resumable; [`report`]: what it changed on judged sets; [`merge`]: the mean of several runs.

pub mod checkpoint;
pub mod loss;
pub mod merge;
pub mod negatives;
pub mod network;
mod ops;
pub mod optimizer;
pub mod pairs;
pub mod report;
pub mod run;
pub mod schedule;
pub mod tokens;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
