//! The agent from question to card, against a scripted language model and a web site on this machine.
#![allow(clippy::large_futures, reason = "tests await whole engines; nothing else is on the stack")]

mod cancel;
mod failures;
mod fallback;
mod feedback;
mod keys;
mod lies;
mod one_answer;
mod pages;
mod providers;
mod replay;
mod rules;
mod sessions;
mod starter;
