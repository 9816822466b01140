//! Limits: of numbers, of lengths, and of how many items are returned.

use std::sync::LazyLock;

use regex::Regex;
use serde_json::{Value, json};

use super::results::main_list;
use super::{Explorer, Stop};
use crate::finding::Finding;
use crate::parsed_error::ParsedError;
use crate::tool::Outcome;
use crate::values::type_of;

/// Values that are tried upwards where no maximum is documented.
const UPWARDS: &[i64] = &[10, 50, 100, 101, 250, 500, 1_000, 1_001, 5_000, 10_000, 100_000, 1_000_000];
/// Lengths of texts that are tried, in characters.
const LENGTHS: &[usize] = &[50, 100, 256, 512, 1_000, 2_000];
/// Most calls to find a limit between two values.
const HALVINGS: usize = 20;

/// Words of messages about limits.
static LIMIT: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\b(max(imum)?|min(imum)?|at most|at least|exceeds?|greater|less|larger|smaller|above|below|between|range|limit(ed)?|too (large|big|high|long|many|small|low|short)|up to|no more than|longer|shorter|long|characters|<=|>=)|[<>]=?")
        .expect("a valid pattern")
});

/// Which limit is looked for.
#[derive(Clone, Copy, PartialEq)]
enum End {
    Highest,
    Lowest,
}

impl Explorer<'_> {
    /// Looks for the limits of every parameter that is a number.
    pub(super) async fn try_numbers(&mut self) -> Result<(), Stop> {
        let numbers: Vec<(String, Value)> = self
            .tool
            .properties()
            .filter(|(name, schema)| {
                matches!(type_of(schema), Some("integer" | "number"))
                    && schema.get("enum").is_none()
                    // An identifier is not larger or smaller than what exists, but another.
                    && !name.to_lowercase().trim_end_matches('s').ends_with("id")
            })
            .map(|(name, schema)| (name.to_owned(), schema.clone()))
            .collect();
        for (name, schema) in numbers {
            let Some(works) = self.working(&name).and_then(|value| value.as_i64()) else { continue };
            self.try_highest(&name, &schema, works).await?;
            self.try_lowest(&name, &schema, works).await?;
            self.try_cap(&name).await?;
        }
        Ok(())
    }

    /// Returns a value with which the parameter is accepted.
    fn working(&self, name: &str) -> Option<Value> {
        self.base.get(name).or_else(|| self.accepted.get(name).map(|(value, _)| value)).cloned()
    }

    async fn try_highest(&mut self, name: &str, schema: &Value, works: i64) -> Result<(), Stop> {
        let documented = schema.get("maximum").and_then(Value::as_i64);
        let steps: Vec<i64> = match documented {
            // What is documented first; beyond it only if that is accepted.
            Some(maximum) => [maximum, maximum + 1].into_iter().chain(UPWARDS.iter().copied()).collect(),
            None => UPWARDS.to_vec(),
        };
        let mut low = works;
        for step in steps {
            if step <= low {
                continue;
            }
            let at = self.call_with(name, &json!(step)).await?;
            if self.is_success(at) {
                low = step;
                continue;
            }
            let Some(complaint) = self.complaint(at) else { continue };
            if !self.may_be_limit(&complaint, name, at) {
                return Ok(());
            }
            let found = self.find_limit(name, low, step, &complaint, End::Highest).await?;
            if let Some((value, trials)) = found
                && documented != Some(value)
                && !says_number(schema, value)
            {
                self.note(Finding::Maximum { parameter: name.to_owned(), value }, trials);
            }
            return Ok(());
        }
        Ok(())
    }

    async fn try_lowest(&mut self, name: &str, schema: &Value, works: i64) -> Result<(), Stop> {
        let documented = schema.get("minimum").and_then(Value::as_i64);
        let mut high = works;
        let steps =
            documented.into_iter().flat_map(|minimum| [minimum, minimum - 1]).chain([1, 0, -1, -1_000]);
        for step in steps {
            if step >= high {
                continue;
            }
            let at = self.call_with(name, &json!(step)).await?;
            if self.is_success(at) {
                high = step;
                continue;
            }
            let Some(complaint) = self.complaint(at) else { continue };
            if !self.may_be_limit(&complaint, name, at) {
                return Ok(());
            }
            let found = self.find_limit(name, step, high, &complaint, End::Lowest).await?;
            if let Some((value, trials)) = found
                && documented != Some(value)
                && !says_number(schema, value)
            {
                self.note(Finding::Minimum { parameter: name.to_owned(), value }, trials);
            }
            return Ok(());
        }
        Ok(())
    }

    /// Finds the limit between two values, one of which is accepted: first what the error names, then by halving. Returns
    /// it with the calls on both sides of it.
    async fn find_limit(
        &mut self,
        name: &str,
        mut low: i64,
        mut high: i64,
        complaint: &ParsedError,
        end: End,
    ) -> Result<Option<(i64, Vec<usize>)>, Stop> {
        let hints: Vec<i64> = complaint.bounds.iter().map(|bound| *bound as i64).collect();
        for hint in hints {
            for value in [hint - 1, hint, hint + 1] {
                if value > low && value < high {
                    let at = self.call_with(name, &json!(value)).await?;
                    self.narrow(value, at, end, &mut low, &mut high);
                }
            }
        }
        for _ in 0..HALVINGS {
            if high - low <= 1 {
                break;
            }
            let middle = low + (high - low) / 2;
            let at = self.call_with(name, &json!(middle)).await?;
            if !self.is_success(at) && !self.is_refused(at) {
                return Ok(None);
            }
            self.narrow(middle, at, end, &mut low, &mut high);
        }
        if high - low != 1 {
            return Ok(None);
        }
        let (accepted, refused) = if end == End::Highest { (low, high) } else { (high, low) };
        let accepted_at = self.call_with(name, &json!(accepted)).await?;
        let refused_at = self.call_with(name, &json!(refused)).await?;
        let is_limit = self.is_success(accepted_at) && self.is_refused(refused_at);
        // Of fractions, the limit may lie between the two.
        let fraction = if end == End::Highest { accepted as f64 + 0.01 } else { accepted as f64 - 0.01 };
        if is_limit && type_of(&self.schema_of(name)) == Some("number") {
            let between = self.call_with(name, &json!(fraction)).await?;
            if !self.is_refused(between) {
                return Ok(None);
            }
        }
        // Of a few allowed numbers, the largest one is no limit: the next one towards the others is refused as well.
        let inside = if end == End::Highest { accepted - 1 } else { accepted + 1 };
        if is_limit && !is_about_limit(complaint, name) {
            let inside = self.call_with(name, &json!(inside)).await?;
            if !self.is_success(inside) {
                return Ok(None);
            }
        }
        Ok(is_limit.then(|| (accepted, vec![accepted_at, refused_at])))
    }

    /// Whether a refusal may be about a limit: it says so, or it says nothing about what is wrong.
    fn may_be_limit(&self, complaint: &ParsedError, name: &str, at: usize) -> bool {
        let is_vague = complaint.bounds.is_empty()
            && complaint.allowed.is_empty()
            && !complaint.is_missing
            && !complaint.is_unknown
            && !complaint.is_conflict
            && complaint.names.iter().all(|other| other == name || self.tool.property(other).is_none());
        // What does not exist is refused in the same way as what is out of range.
        let is_bad_request =
            matches!(self.trials[at].outcome, Outcome::Refused { status: Some(400 | 422), .. });
        is_about_limit(complaint, name) || (is_vague && is_bad_request)
    }

    fn narrow(&self, value: i64, at: usize, end: End, low: &mut i64, high: &mut i64) {
        let is_below = self.is_success(at) == (end == End::Highest);
        if is_below { *low = value } else { *high = value }
    }

    /// Whether more items are asked for than are returned although there are more.
    async fn try_cap(&mut self, name: &str) -> Result<(), Stop> {
        let largest = self
            .trials
            .iter()
            .enumerate()
            .filter(|(_, trial)| {
                trial.outcome.is_success() && differs_only_in(&trial.arguments, &self.base, name)
            })
            .filter_map(|(at, trial)| Some((trial.arguments.get(name)?.as_i64()?, at)))
            .max();
        let Some((asked, at)) = largest else { return Ok(()) };
        let Some(result) = self.trials[at].outcome.result() else { return Ok(()) };
        let Some((items, total)) = main_list(result).map(|list| (list.len() as i64, total_in(result))) else {
            return Ok(());
        };
        // Fewer than were asked for, and the result says that there are more.
        if items == 0 || items >= asked || total.is_none_or(|total| total <= items) {
            return Ok(());
        }
        // One less than the limit is given as asked, so that the number of items follows the parameter.
        let below = self.call_with(name, &json!(items - 1)).await?;
        let follows = self.trials[below]
            .outcome
            .result()
            .and_then(main_list)
            .is_some_and(|list| list.len() as i64 == items - 1);
        let schema = self.schema_of(name);
        if follows && schema.get("maximum") != Some(&json!(items)) && !says_number(&schema, items) {
            self.note(Finding::Capped { parameter: name.to_owned(), items: items as u64 }, [at, below]);
        }
        Ok(())
    }

    /// Tries long texts.
    pub(super) async fn try_lengths(&mut self, name: &str, schema: &Value) -> Result<(), Stop> {
        let documented = schema.get("maxLength").and_then(Value::as_u64);
        let mut low = 1;
        let steps = documented.into_iter().map(|length| length as usize).chain(LENGTHS.iter().copied());
        for length in steps {
            if length <= low {
                continue;
            }
            let at = self.call_with(name, &text(length)).await?;
            if self.is_success(at) {
                low = length;
                continue;
            }
            let Some(complaint) = self.complaint(at) else { return Ok(()) };
            // Long names of things that do not exist are refused too; only a message about length is about length.
            if !is_about_limit(&complaint, name) || !complaint.mentions(name) {
                return Ok(());
            }
            let mut high = length;
            let hints: Vec<usize> = complaint.bounds.iter().map(|bound| *bound as usize).collect();
            for hint in hints {
                for value in [hint, hint + 1] {
                    if value > low && value < high {
                        let at = self.call_with(name, &text(value)).await?;
                        if self.is_success(at) { low = value } else { high = value }
                    }
                }
            }
            for _ in 0..HALVINGS {
                if high - low <= 1 {
                    break;
                }
                let middle = usize::midpoint(low, high);
                let at = self.call_with(name, &text(middle)).await?;
                if self.is_success(at) { low = middle } else { high = middle }
            }
            let accepted = self.call_with(name, &text(low)).await?;
            let refused = self.call_with(name, &text(low + 1)).await?;
            let is_limit = self.is_success(accepted) && self.is_refused(refused);
            if is_limit && documented != Some(low as u64) && !says_number(schema, low as i64) {
                let finding = Finding::MaximumLength { parameter: name.to_owned(), characters: low as u64 };
                self.note(finding, [accepted, refused]);
            }
            return Ok(());
        }
        Ok(())
    }

    /// Compares results without a parameter with those of its documented default and of other values.
    pub(super) async fn try_defaults(&mut self) -> Result<(), Stop> {
        let with_default: Vec<(String, Value)> = self
            .tool
            .properties()
            .filter(|(name, _)| !self.base.contains_key(*name))
            .filter_map(|(name, schema)| Some((name.to_owned(), schema.get("default")?.clone())))
            .collect();
        if with_default.is_empty() {
            return Ok(());
        }
        // What changes by itself cannot be compared.
        let base = self.base.clone();
        let again = self.call_again("the same once more", &base).await?;
        let Some(usual) = self.trials[self.base_trial].outcome.result().cloned() else { return Ok(()) };
        if self.trials[again].outcome.result() != Some(&usual) {
            return Ok(());
        }
        for (name, documented) in with_default {
            let at = self.call_with(&name, &documented).await?;
            let is_other = self.trials[at].outcome.result().is_some_and(|result| *result != usual);
            if !is_other {
                continue;
            }
            let schema = self.schema_of(&name);
            let mut others: Vec<Value> =
                schema.get("enum").and_then(Value::as_array).cloned().unwrap_or_default();
            if type_of(&schema) == Some("integer")
                && let Some(list) = main_list(&usual)
            {
                others.push(json!(list.len()));
            }
            if type_of(&schema) == Some("boolean") {
                others.extend([json!(true), json!(false)]);
            }
            others.retain(|value| *value != documented);
            let mut same = Vec::new();
            for value in others {
                let at = self.call_with(&name, &value).await?;
                if self.trials[at].outcome.result() == Some(&usual) {
                    same.push((value, at));
                }
            }
            // Several values that give the same say nothing.
            if let [(value, same_at)] = same.as_slice() {
                let finding = Finding::Default { parameter: name, value: value.clone() };
                self.note(finding, [self.base_trial, at, *same_at]);
            }
        }
        Ok(())
    }
}

fn text(length: usize) -> Value {
    Value::String("a".repeat(length))
}

fn is_about_limit(complaint: &ParsedError, name: &str) -> bool {
    LIMIT.is_match(&complaint.text) && (complaint.mentions(name) || !complaint.bounds.is_empty())
}

/// Whether a schema's description already says a number.
fn says_number(schema: &Value, number: i64) -> bool {
    let description = schema.get("description").and_then(Value::as_str).unwrap_or("");
    description
        .split(|c: char| !c.is_ascii_digit() && c != '-')
        .any(|text| text.trim_matches('-').parse::<i64>() == Ok(number))
}

fn differs_only_in(
    arguments: &serde_json::Map<String, Value>,
    base: &serde_json::Map<String, Value>,
    name: &str,
) -> bool {
    arguments.iter().filter(|(key, _)| *key != name).eq(base.iter().filter(|(key, _)| *key != name))
}

/// Returns how many items there are, if the result says so next to its list.
fn total_in(result: &Value) -> Option<i64> {
    result.as_object()?.iter().find_map(|(key, value)| {
        let key = key.to_lowercase();
        let is_total = key.contains("total") && !key.contains("page");
        value.as_i64().filter(|_| is_total)
    })
}
