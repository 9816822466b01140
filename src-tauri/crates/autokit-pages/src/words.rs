//! Words that tell one thing from another.

use std::collections::HashSet;

use autokit_facts::{distinctive, words};
use autokit_search::is_stop_word;

/// Words with a meaning of their own.
pub fn content_words(text: &str) -> HashSet<String> {
    words(text).into_iter().filter(|word| word.len() > 2 && !is_stop_word(word)).collect()
}

/// The telling words of a name; all its words when every one of them is common.
pub fn telling(name: &str) -> Vec<String> {
    let told = distinctive(name);
    if told.is_empty() { words(name) } else { told }
}
