//! Quality measures of a ranking, given binary relevance judgements.

use serde::{Deserialize, Serialize};
use ts_rs::TS;

/// Computes the normalised discounted cumulative gain of the first `k` results: `sum of 1/log2(rank + 1)`
/// over relevant results, divided by the same sum of an ideal ranking (Järvelin & Kekäläinen, 2002). `ranks`
/// are the 1-based ranks of the relevant results, `relevant` is their total number.
pub fn ndcg(ranks: &[usize], relevant: usize, k: usize) -> f64 {
    let gain = |rank: usize| 1.0 / ((rank + 1) as f64).log2();
    let ideal: f64 = (1..=relevant.min(k)).map(gain).sum();
    if ideal == 0.0 {
        return 0.0;
    }
    ranks.iter().filter(|&&rank| rank <= k).map(|&rank| gain(rank)).sum::<f64>() / ideal
}

/// Returns the share of the relevant results that are among the first `k`.
pub fn recall(ranks: &[usize], relevant: usize, k: usize) -> f64 {
    if relevant == 0 {
        return 0.0;
    }
    ranks.iter().filter(|&&rank| rank <= k).count() as f64 / relevant as f64
}

/// Returns 1 over the rank of the first relevant result; 0 if none was found.
pub fn reciprocal_rank(ranks: &[usize]) -> f64 {
    ranks.iter().min().map_or(0.0, |&rank| 1.0 / rank as f64)
}

/// Returns 1 if a relevant result is among the first `k`, else 0.
pub fn hit(ranks: &[usize], k: usize) -> f64 {
    f64::from(u8::from(ranks.iter().any(|&rank| rank <= k)))
}

/// Returns the mean; 0 for an empty slice.
pub fn mean(values: &[f64]) -> f64 {
    if values.is_empty() { 0.0 } else { values.iter().sum::<f64>() / values.len() as f64 }
}

/// A mean with its 95 % confidence interval.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize, TS)]
pub struct Interval {
    /// Mean over queries.
    pub mean: f64,
    /// Lower end.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

impl Interval {
    /// Whether the interval includes 0, so that there is no significant difference.
    pub fn reaches_zero(&self) -> bool {
        self.low <= 0.0 && self.high >= 0.0
    }
}

/// Computes the area under the ROC curve: the share of pairs in which the score of a positive is above that of a
/// negative, ties counting half, with its 95 % interval by Hanley & McNeil (1982). `None` without positives or negatives.
pub fn auroc(positives: &[f32], negatives: &[f32]) -> Option<Interval> {
    if positives.is_empty() || negatives.is_empty() {
        return None;
    }
    let (n, m) = (positives.len() as f64, negatives.len() as f64);
    let wins = |positive: &f32| -> f64 {
        negatives
            .iter()
            .map(|negative| match positive.total_cmp(negative) {
                std::cmp::Ordering::Greater => 1.0,
                std::cmp::Ordering::Equal => 0.5,
                std::cmp::Ordering::Less => 0.0,
            })
            .sum()
    };
    let area = positives.iter().map(wins).sum::<f64>() / (n * m);
    let (two_positives, two_negatives) = (area / (2.0 - area), 2.0 * area * area / (1.0 + area));
    let square = area * area;
    let variance =
        (area - square + (n - 1.0) * (two_positives - square) + (m - 1.0) * (two_negatives - square))
            / (n * m);
    let half = 1.96 * variance.max(0.0).sqrt();
    Some(Interval { mean: area, low: (area - half).max(0.0), high: (area + half).min(1.0) })
}

/// Computes the percentile bootstrap of the mean of `values` (for paired differences, one per query), with
/// `resamples` draws from a generator seeded with `seed` (Efron & Tibshirani, 1993, ch. 13).
pub fn bootstrap(values: &[f64], resamples: usize, seed: u64) -> Interval {
    if values.is_empty() || resamples == 0 {
        let mean = mean(values);
        return Interval { mean, low: mean, high: mean };
    }
    let mut state = seed;
    let mut means: Vec<f64> = (0..resamples)
        .map(|_| {
            let sum: f64 = (0..values.len())
                .map(|_| values[((u128::from(split_mix(&mut state)) * values.len() as u128) >> 64) as usize])
                .sum();
            sum / values.len() as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means[((share * resamples as f64) as usize).min(resamples - 1)];
    Interval { mean: mean(values), low: at(0.025), high: at(0.975) }
}

/// SplitMix64 (Steele, Lea & Flood, "Fast splittable pseudorandom number generators", 2014).
fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn close(a: f64, b: f64) {
        assert!((a - b).abs() < 1e-9, "{a} against {b}");
    }

    #[test]
    fn known_values() {
        close(ndcg(&[1, 2], 2, 10), 1.0);
        close(ndcg(&[2], 1, 10), 1.0 / 3.0f64.log2());
        close(ndcg(&[1, 3], 2, 10), (1.0 + 0.5) / (1.0 + 1.0 / 3.0f64.log2()));
        close(ndcg(&[11], 1, 10), 0.0);
        close(ndcg(&[1], 3, 1), 1.0);
        close(recall(&[1, 5, 11], 4, 10), 0.5);
        close(reciprocal_rank(&[4, 2]), 0.5);
        close(reciprocal_rank(&[]), 0.0);
        close(hit(&[3], 3), 1.0);
        close(hit(&[4], 3), 0.0);
    }

    #[test]
    fn the_area_under_the_curve_counts_pairs_in_order() {
        let area = |positives: &[f32], negatives: &[f32]| auroc(positives, negatives).map(|area| area.mean);
        close(area(&[0.9, 0.8], &[0.1, 0.2]).unwrap(), 1.0);
        close(area(&[0.9, 0.1], &[0.5]).unwrap(), 0.5);
        close(area(&[0.5], &[0.5]).unwrap(), 0.5);
        assert_eq!(area(&[], &[0.5]), None);
        // By hand: area 0.75 of 20 and 30 scores, standard error 0.0734.
        let positives: Vec<f32> = (0..20_u8).map(|at| f32::from(at % 2)).collect();
        let interval = auroc(&positives, &[0.0; 30]).unwrap();
        close(interval.mean, 0.75);
        assert!((interval.high - interval.low - 2.0 * 1.96 * 0.0734).abs() < 1e-3, "{interval:?}");
    }

    #[test]
    fn the_interval_is_repeatable_and_covers_the_mean() {
        let values: Vec<f64> = (0..200).map(|i| f64::from(i % 7) - 3.0).collect();
        let interval = bootstrap(&values, 2000, 7);
        assert_eq!(interval, bootstrap(&values, 2000, 7));
        assert!(interval.low < interval.mean && interval.mean < interval.high && interval.reaches_zero());
        // Standard error of the mean: about 2 / sqrt(200) = 0.14.
        assert!((interval.high - interval.low - 4.0 * 0.14).abs() < 0.15);
        assert!(!bootstrap(&[1.0; 10], 100, 1).reaches_zero());
    }
}
