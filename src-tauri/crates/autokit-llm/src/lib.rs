//! Asks language models, whoever runs them.
//!
//! * [`Model`]: one chat model behind Anthropic's Messages or the chat completions that OpenAI,
//!   Ollama, LM Studio, llama.cpp, vLLM and OpenRouter speak. Replies are streamed, bounded in size
//!   and time, and cancelled by dropping the future.
//! * [`Model::structured`]: an answer that fits a JSON Schema, or a clear failure.
//! * [`React`]: reason, act, observe, with tools, until an answer or a limit.
//! * [`Ledger`]: tokens and money, with a cap.
//!
//! The two protocols are spoken directly: the multi-provider crates looked at (`genai`, `rig`)
//! neither bound a reply's size nor hand on `Retry-After`, and a model that misbehaves is the case
//! this crate has to survive.

mod anthropic;
mod client;
mod error;
mod ledger;
mod message;
mod openai;
mod prices;
pub mod prompts;
mod react;
mod structured;

pub use client::{Limits, Model, ModelConfig, Protocol, Retry};
pub use error::{Code, Error, Result};
pub use ledger::{Entry, Ledger, Price};
pub use message::{Form, Message, Part, Reply, Request, Role, Stop, Tool, ToolCall, Usage};
pub use prices::list_price;
pub use react::{Ended, GaveUp, Observation, React, Step, Toolbox};
pub use structured::Structured;

// Pins one feature set for the whole workspace; nothing to name.
use workspace_hack as _;
