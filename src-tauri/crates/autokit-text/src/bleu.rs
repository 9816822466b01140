//! BLEU of two texts, as sacrebleu computes it for one sentence: tokenizer 13a, exponential smoothing, effective order
//! (Post, "A Call for Clarity in Reporting BLEU Scores", 2018).

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

/// Longest n-grams that are compared.
const ORDER: usize = 4;

/// The replacements of the tokenizer, in their order.
static TOKENIZER: LazyLock<Vec<(Regex, &str)>> = LazyLock::new(|| {
    [
        // Punctuation but for the period, the comma and the hyphen.
        (r"([\{-\~\[-\` -\&\(-\+\:-\@\/])", " $1 "),
        // Periods and commas, except between digits.
        (r"([^0-9])([\.,])", "$1 $2 "),
        (r"([\.,])([^0-9])", " $1 $2"),
        // A hyphen after a digit.
        (r"([0-9])(-)", "$1 $2 "),
    ]
    .into_iter()
    .filter_map(|(pattern, with)| Some((Regex::new(pattern).ok()?, with)))
    .collect()
});

fn tokens(text: &str) -> Vec<String> {
    let mut text = text.trim_end().replace("<skipped>", "").replace("-\n", "").replace('\n', " ");
    if text.contains('&') {
        text = text.replace("&quot;", "\"").replace("&amp;", "&").replace("&lt;", "<").replace("&gt;", ">");
    }
    let mut text = format!(" {text} ");
    for (pattern, with) in TOKENIZER.iter() {
        text = pattern.replace_all(&text, *with).into_owned();
    }
    text.split_whitespace().map(str::to_owned).collect()
}

fn counts(tokens: &[String], order: usize) -> HashMap<&[String], usize> {
    let mut counts = HashMap::new();
    for ngram in tokens.windows(order) {
        *counts.entry(ngram).or_default() += 1;
    }
    counts
}

/// Computes BLEU of a text against a reference, 0 to 1.
pub fn bleu(text: &str, reference: &str) -> f64 {
    let (text, reference) = (tokens(text), tokens(reference));
    let mut logarithms = 0.0;
    let mut orders = 0;
    let mut smoothing = 1.0;
    let mut any = false;
    for order in 1..=ORDER {
        let total = (text.len() + 1).saturating_sub(order);
        if total == 0 {
            break;
        }
        orders = order;
        let expected = counts(&reference, order);
        let correct: usize = counts(&text, order)
            .iter()
            .map(|(ngram, count)| (*count).min(expected.get(ngram).copied().unwrap_or(0)))
            .sum();
        any |= correct > 0;
        let precision = if correct == 0 {
            smoothing *= 2.0;
            1.0 / (smoothing * total as f64)
        } else {
            correct as f64 / total as f64
        };
        logarithms += precision.ln();
    }
    if !any {
        return 0.0;
    }
    let brevity = if text.len() < reference.len() {
        (1.0 - reference.len() as f64 / text.len() as f64).exp()
    } else {
        1.0
    };
    brevity * (logarithms / orders as f64).exp()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(serde::Deserialize)]
    struct Pair {
        hypothesis: String,
        reference: String,
        /// By sacrebleu 2.6.0, `sentence_bleu(hypothesis, [reference]).score`.
        score: f64,
    }

    #[test]
    fn scores_equal_those_of_sacrebleu() {
        let pairs: Vec<Pair> = serde_json::from_str(include_str!("fixtures/sacrebleu.json")).unwrap();
        assert!(pairs.len() >= 20);
        for pair in pairs {
            let score = 100.0 * bleu(&pair.hypothesis, &pair.reference);
            assert!((score - pair.score).abs() < 1e-9, "{:?}: {score}, not {}", pair.hypothesis, pair.score);
        }
    }

    #[test]
    fn the_tokenizer_is_complete() {
        assert_eq!(TOKENIZER.len(), 4);
    }
}
