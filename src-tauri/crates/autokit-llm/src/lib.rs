//! Client for language models, hosted or local.
//!
//! * [`Model`]: a chat model behind Anthropic's Messages API or the chat completions API that OpenAI,
//!   Ollama, LM Studio, llama.cpp, vLLM and OpenRouter provide. Replies are streamed, limited in size
//!   and time, and cancelled by dropping the future.
//! * [`Model::structured`]: a reply that matches a JSON Schema, or an error that says what does not.
//! * [`React`]: a loop of reasoning, tool calls and observations, until an answer or a limit.
//! * [`Ledger`]: token usage and cost, with a spending limit.
//!
//! Both protocols are implemented directly: the multi-provider crates that were considered (`genai`, `rig`)
//! neither limit the size of a reply nor expose `Retry-After`, and this crate has to survive a misbehaving
//! model.

mod anthropic;
mod client;
mod error;
mod ledger;
mod message;
mod models;
mod openai;
mod prices;
pub mod prompts;
mod react;
mod structured;

pub use client::{Limits, Model, ModelConfig, Protocol, Retry};
pub use error::{Code, Error, Result};
pub use ledger::{Ledger, LedgerEntry, Price};
pub use message::{Message, Part, Reply, Request, ResponseFormat, Role, StopReason, Tool, ToolCall, Usage};
pub use prices::list_price;
pub use react::{GaveUp, Observation, React, RunOutcome, Step, Toolbox};
pub use structured::Structured;

// Pins one feature set for the whole workspace; nothing is imported from it.
use workspace_hack as _;
