//! Variants that compete by their outcomes: Thompson sampling with a Beta posterior (Thompson, 1933; Chapelle & Li, "An
//! Empirical Evaluation of Thompson Sampling", 2011).

use rand::Rng;
use rand_distr::{Beta, Distribution as _};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};
use statrs::distribution::{Beta as BetaPosterior, ContinuousCDF as _};

/// A variant whose success rate is below this with the given certainty is withdrawn: it fails more than two times of
/// three. Ten failures in a row from the start are enough, nine are not.
const USELESS: f64 = 0.3;
const CERTAINTY: f64 = 0.975;
/// A variant that is better than the best of the others with less than this probability is withdrawn.
const HOPELESS: f64 = 0.01;
/// Fewest uses before a variant is compared with others.
const COMPARED_AFTER: u64 = 30;

/// Why a variant is not used any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Withdrawal {
    /// It mostly fails.
    Fails,
    /// Another one is almost certainly better.
    Worse,
    /// A person withdrew it.
    Person,
}

/// A variant with its outcomes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Its id, unique in a contest.
    pub id: String,
    /// Uses that succeeded.
    pub successes: u64,
    /// Uses that failed.
    pub failures: u64,
    /// Why it is not used any more, if it is not.
    pub withdrawn: Option<Withdrawal>,
}

impl Variant {
    fn uses(&self) -> u64 {
        self.successes + self.failures
    }

    /// The posterior with a uniform prior.
    fn posterior(&self) -> (f64, f64) {
        (1.0 + self.successes as f64, 1.0 + self.failures as f64)
    }
}

/// What is known of a variant's success rate.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Posterior {
    /// Mean.
    pub mean: f64,
    /// Lower end of the interval that holds it with a probability of 0.95.
    pub low: f64,
    /// Upper end.
    pub high: f64,
}

/// Variants that compete. The first one is what was there before.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Contest {
    variants: Vec<Variant>,
}

impl Contest {
    /// Begins with these variants; an id that occurs again is left out.
    pub fn new<'a>(ids: impl IntoIterator<Item = &'a str>) -> Contest {
        let mut contest = Contest::default();
        for id in ids {
            contest.add(id);
        }
        contest
    }

    /// Adds a variant. Returns whether there was none with this id.
    pub fn add(&mut self, id: &str) -> bool {
        let is_new = self.variant(id).is_none();
        if is_new {
            self.variants.push(Variant { id: id.to_owned(), successes: 0, failures: 0, withdrawn: None });
        }
        is_new
    }

    /// Returns the variants in the order they were added.
    pub fn variants(&self) -> &[Variant] {
        &self.variants
    }

    /// Returns the variant with this id.
    pub fn variant(&self, id: &str) -> Option<&Variant> {
        self.variants.iter().find(|variant| variant.id == id)
    }

    /// Chooses the variant for the next use: each with the probability that it is the best. `None` if all are withdrawn.
    pub fn choose(&self, random: &mut impl Rng) -> Option<&Variant> {
        let mut best: Option<(f64, &Variant)> = None;
        for variant in self.variants.iter().filter(|variant| variant.withdrawn.is_none()) {
            let (a, b) = variant.posterior();
            // Both parameters are at least 1, which is all that is asked of them.
            let Ok(beta) = Beta::new(a, b) else { continue };
            let rate = beta.sample(random);
            if best.is_none_or(|(known, _)| rate > known) {
                best = Some((rate, variant));
            }
        }
        best.map(|(_, variant)| variant)
    }

    /// As [`Contest::choose`], with randomness from the system; the first that competes if it has none.
    pub fn choose_at_random(&self) -> Option<&Variant> {
        match getrandom::u64() {
            Ok(seed) => self.choose(&mut Pcg64Mcg::new(u128::from(seed))),
            Err(_) => self.competing().next().map(|(_, variant)| variant),
        }
    }

    /// Records the outcome of a use. Returns why a variant is withdrawn by it, if one is: this one, or another one that it
    /// proves to be better than. The last variant that is left is never withdrawn for being worse.
    pub fn record(&mut self, id: &str, success: bool) -> Option<(String, Withdrawal)> {
        let variant = self.variants.iter_mut().find(|variant| variant.id == id)?;
        if success {
            variant.successes += 1;
        } else {
            variant.failures += 1;
        }
        let (fails, hopeless) = (self.failing(), self.hopeless());
        let (at, why) =
            fails.map(|at| (at, Withdrawal::Fails)).or(hopeless.map(|at| (at, Withdrawal::Worse)))?;
        self.variants[at].withdrawn = Some(why);
        Some((self.variants[at].id.clone(), why))
    }

    /// Withdraws a variant, or brings it back. Returns whether it exists.
    pub fn set_withdrawn(&mut self, id: &str, withdrawn: bool) -> bool {
        let variant = self.variants.iter_mut().find(|variant| variant.id == id);
        variant.map(|variant| variant.withdrawn = withdrawn.then_some(Withdrawal::Person)).is_some()
    }

    fn competing(&self) -> impl Iterator<Item = (usize, &Variant)> {
        self.variants.iter().enumerate().filter(|(_, variant)| variant.withdrawn.is_none())
    }

    fn failing(&self) -> Option<usize> {
        self.competing().find(|(_, variant)| fails(variant)).map(|(at, _)| at)
    }

    fn hopeless(&self) -> Option<usize> {
        let enough = |variant: &Variant| variant.uses() >= COMPARED_AFTER;
        let (best_at, best) = self
            .competing()
            .filter(|(_, variant)| enough(variant))
            .max_by(|(_, a), (_, b)| mean(a).total_cmp(&mean(b)))?;
        self.competing()
            .filter(|(at, variant)| *at != best_at && enough(variant))
            .filter(|(_, variant)| are_apart(variant, best))
            .find(|(_, variant)| probability_of_being_better(variant, best) < HOPELESS)
            .map(|(at, _)| at)
    }

    /// Returns what is known of a variant's success rate.
    pub fn posterior(&self, id: &str) -> Option<Posterior> {
        let variant = self.variant(id)?;
        let tail = (1.0 - 0.95) / 2.0;
        Some(Posterior {
            mean: mean(variant),
            low: quantile(variant, tail),
            high: quantile(variant, 1.0 - tail),
        })
    }
}

/// Returns whether something with these outcomes fails more than two times of three, with a certainty of 0.975.
pub fn mostly_fails(successes: u64, failures: u64) -> bool {
    fails(&Variant { id: String::new(), successes, failures, withdrawn: None })
}

fn fails(variant: &Variant) -> bool {
    // Where the mean is not below it, nothing above the mean is.
    mean(variant) < USELESS && quantile(variant, CERTAINTY) < USELESS
}

fn mean(variant: &Variant) -> f64 {
    let (a, b) = variant.posterior();
    a / (a + b)
}

/// Whether two rates are more than two standard deviations apart: below that, the probability that the lower one is higher
/// is above [`HOPELESS`], and need not be integrated.
fn are_apart(one: &Variant, other: &Variant) -> bool {
    let variance = |variant: &Variant| {
        let ((a, b), sum) = (variant.posterior(), variant.uses() as f64 + 2.0);
        a * b / (sum * sum * (sum + 1.0))
    };
    (mean(one) - mean(other)).powi(2) > 4.0 * (variance(one) + variance(other))
}

fn quantile(variant: &Variant, probability: f64) -> f64 {
    let (a, b) = variant.posterior();
    // Both parameters are at least 1, which is all that is asked of them.
    BetaPosterior::new(a, b).map_or(probability, |beta| beta.inverse_cdf(probability))
}

/// Integrates the probability that one rate is higher than another, by the midpoints of a thousand intervals.
fn probability_of_being_better(one: &Variant, other: &Variant) -> f64 {
    const STEPS: usize = 1_000;
    let ((a, b), (c, d)) = (one.posterior(), other.posterior());
    let (Ok(one), Ok(other)) = (BetaPosterior::new(a, b), BetaPosterior::new(c, d)) else { return 0.5 };
    let edge = |step: usize| step as f64 / STEPS as f64;
    (0..STEPS)
        .map(|step| {
            let weight = one.cdf(edge(step + 1)) - one.cdf(edge(step));
            weight * other.cdf(f64::midpoint(edge(step), edge(step + 1)))
        })
        .sum()
}

#[cfg(test)]
mod tests {
    use rand::{RngExt as _, SeedableRng as _};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    /// Uses a contest of variants with these success rates.
    fn simulate(rates: &[f64], uses: usize, seed: u64) -> Contest {
        let names: Vec<String> = (0..rates.len()).map(|at| at.to_string()).collect();
        let mut contest = Contest::new(names.iter().map(String::as_str));
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        for _ in 0..uses {
            let Some(id) = contest.choose(&mut random).map(|variant| variant.id.clone()) else { break };
            let rate = rates[id.parse::<usize>().unwrap()];
            let success = random.random_bool(rate);
            contest.record(&id, success);
        }
        contest
    }

    #[test]
    fn the_better_of_two_variants_wins() {
        let better = (0..1_000)
            .filter(|seed| {
                let contest = simulate(&[0.6, 0.8], 200, *seed);
                contest.posterior("1").unwrap().mean > contest.posterior("0").unwrap().mean
            })
            .count();
        assert!(better >= 950, "{better} of 1000");
    }

    #[test]
    fn ten_failures_from_the_start_withdraw_a_variant() {
        let mut contest = Contest::new(["old", "new"]);
        for _ in 0..9 {
            assert_eq!(contest.record("new", false), None);
        }
        assert_eq!(contest.record("new", false), Some(("new".to_owned(), Withdrawal::Fails)));
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for _ in 0..100 {
            assert_eq!(contest.choose(&mut random).unwrap().id, "old");
        }
        contest.set_withdrawn("new", false);
        assert!((0..1_000).any(|_| contest.choose(&mut random).unwrap().id == "new"));
    }

    #[test]
    fn a_variant_that_is_worse_is_withdrawn_and_the_last_one_stays() {
        let contest = simulate(&[0.95, 0.4], 2_000, 3);
        assert_eq!(contest.variant("0").unwrap().withdrawn, None);
        let one = simulate(&[0.5], 500, 4);
        assert_eq!(one.variant("0").unwrap().withdrawn, None);
        let mut contest = Contest::new(["a", "b"]);
        for at in 0..40 {
            contest.record("a", at % 10 != 0);
            contest.record("b", at % 2 == 0);
        }
        assert_eq!(contest.variant("b").unwrap().withdrawn, Some(Withdrawal::Worse));
    }

    #[test]
    fn posteriors_are_those_of_a_uniform_prior() {
        let mut contest = Contest::new(["a"]);
        let flat = contest.posterior("a").unwrap();
        assert!((flat.mean - 0.5).abs() < 1e-12 && (flat.low - 0.025).abs() < 1e-6, "{flat:?}");
        for _ in 0..8 {
            contest.record("a", true);
        }
        contest.record("a", false);
        let known = contest.posterior("a").unwrap();
        assert!((known.mean - 9.0 / 11.0).abs() < 1e-12, "{known:?}");
        // Of Beta(9, 2), by another implementation.
        assert!((known.low - 0.554_98).abs() < 1e-4 && (known.high - 0.974_79).abs() < 1e-4, "{known:?}");
    }

    #[test]
    fn chances_of_being_better_add_up() {
        let variant =
            |successes, failures| Variant { id: String::new(), successes, failures, withdrawn: None };
        let (a, b) = (variant(8, 2), variant(5, 5));
        let sum = probability_of_being_better(&a, &b) + probability_of_being_better(&b, &a);
        assert!((sum - 1.0).abs() < 1e-3, "{sum}");
        assert!((probability_of_being_better(&a, &a) - 0.5).abs() < 1e-3);
    }
}
