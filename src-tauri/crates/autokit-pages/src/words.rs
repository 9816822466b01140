//! Distinctive words and their comparison.

use std::collections::HashSet;

use autokit_facts::{distinctive, same_stem, words};
use autokit_search::is_stop_word;

/// Returns the words of a text that are neither stop words nor shorter than three bytes.
pub fn content_words(text: &str) -> HashSet<String> {
    words(text).into_iter().filter(|word| word.len() > 2 && !is_stop_word(word)).collect()
}

/// Returns the distinctive words of a name, or all its words if none is distinctive.
pub fn distinctive_words(name: &str) -> Vec<String> {
    let words_of_name = distinctive(name);
    if words_of_name.is_empty() { words(name) } else { words_of_name }
}

/// Letters by which two forms of the same word may differ in length.
const ENDING: usize = 2;

/// Returns the share of the words in `of` that `among` contains, joined or apart: "Hugging Face" contains
/// "huggingface".
pub(crate) fn share(of: &[String], among: &[String]) -> f32 {
    if of.is_empty() {
        return 0.0;
    }
    let joined: String = among.concat();
    let has = |word: &String| {
        among.iter().any(|other| same_stem(word, other, ENDING))
            || (word.len() > 3 && joined.contains(word.as_str()))
    };
    of.iter().filter(|word| has(word)).count() as f32 / of.len() as f32
}

/// Returns how well two lists of words agree, 0 to 1: the harmonic mean of the shares each has of the other.
pub fn agreement(a: &[String], b: &[String]) -> f32 {
    let (forth, back) = (share(a, b), share(b, a));
    if forth + back == 0.0 { 0.0 } else { 2.0 * forth * back / (forth + back) }
}
