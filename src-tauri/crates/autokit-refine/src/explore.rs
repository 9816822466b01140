//! Exploring a tool without a model: typical, boundary and invalid values, and pairs of optional parameters.
//!
//! Every finding rests on at least one call, mostly on two that differ in one argument. What an error message says is
//! only used to choose the next call.

mod arguments;
mod numbers;
mod results;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::finding::{Finding, Observation};
use crate::parsed_error::{ParsedError, last_part};
use crate::tool::{Outcome, ToolCaller, ToolDocument, Trial};
use crate::values::{ValuePool, typed, valid};

/// How far a tool is explored.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ExploreOptions {
    /// Most calls.
    pub calls: usize,
}

impl Default for ExploreOptions {
    fn default() -> ExploreOptions {
        ExploreOptions { calls: 150 }
    }
}

/// Why an exploration ended before everything was tried.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "stop", rename_all = "snake_case")]
pub enum Stop {
    /// The calls that were allowed are used up.
    OutOfCalls,
    /// Calls do not reach the tool any more; with the reason.
    Unavailable {
        /// Why the last call said nothing.
        reason: String,
    },
    /// No arguments were found that the tool accepts.
    NoWorkingCall,
}

/// What an exploration showed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Exploration {
    /// What was found, each with the calls that prove it.
    pub observations: Vec<Observation>,
    /// Every call, in order.
    pub trials: Vec<Trial>,
    /// Why it ended early, if it did.
    pub stopped: Option<Stop>,
}

/// Calls in a row without an answer after which a tool is given up.
const UNAVAILABLE: usize = 3;
/// Calls to find arguments that work.
const BASELINE: usize = 16;
/// Documented values of one parameter that are tried.
const VALUES: usize = 16;
/// Values that were not documented and are tried.
const NEW_VALUES: usize = 8;
/// Calls that return something, for comparing what they return.
const OTHER_THINGS: usize = 4;
/// Pairs of optional parameters that are tried.
const PAIRS: usize = 15;

/// Explores a tool. What it returns is added to `pool`; `watch` sees each call.
pub async fn explore(
    tool: &ToolDocument,
    caller: &dyn ToolCaller,
    pool: &mut ValuePool,
    options: ExploreOptions,
    watch: &(dyn Fn(&Trial) + Sync),
) -> Exploration {
    let mut explorer = Explorer {
        tool,
        caller,
        pool,
        watch,
        trials: Vec::new(),
        observations: Vec::new(),
        left: options.calls,
        unavailable: 0,
        base: Map::new(),
        base_trial: 0,
        accepted: BTreeMap::new(),
    };
    let stopped = explorer.run().await.err();
    Exploration { observations: explorer.observations, trials: explorer.trials, stopped }
}

struct Explorer<'a> {
    tool: &'a ToolDocument,
    caller: &'a dyn ToolCaller,
    pool: &'a mut ValuePool,
    watch: &'a (dyn Fn(&Trial) + Sync),
    trials: Vec<Trial>,
    observations: Vec<Observation>,
    left: usize,
    unavailable: usize,
    /// Arguments that work.
    base: Map<String, Value>,
    base_trial: usize,
    /// Values of further parameters that work together with them, and the calls that show it.
    accepted: BTreeMap<String, (Value, usize)>,
}

impl Explorer<'_> {
    async fn run(&mut self) -> Result<(), Stop> {
        self.find_baseline().await?;
        let probed = self.probe().await;
        // What the calls returned is compared also where they ended early.
        self.compare_results();
        self.describe_errors();
        probed?;
        self.give_example().await
    }

    async fn probe(&mut self) -> Result<(), Stop> {
        self.try_required().await?;
        self.try_optional().await?;
        self.try_values().await?;
        self.try_numbers().await?;
        self.try_formats().await?;
        self.try_pairs().await?;
        self.try_defaults().await?;
        self.try_other_things().await
    }

    /// Makes the call that works for other things, if few calls returned something: one thing alone may be an exception.
    async fn try_other_things(&mut self) -> Result<(), Stop> {
        let mut results = self.trials.iter().filter(|trial| trial.outcome.is_success()).count();
        let names: Vec<String> = self.base.keys().cloned().collect();
        for name in names {
            for value in self.valid_values(&name).into_iter().take(OTHER_THINGS) {
                if results >= OTHER_THINGS {
                    return Ok(());
                }
                if self.base.get(&name) != Some(&value) {
                    let at = self.call_with(&name, &value).await?;
                    results += usize::from(self.is_success(at));
                }
            }
        }
        Ok(())
    }

    /// Calls the tool, unless it was called with these arguments before. Returns the position of the call.
    async fn call(&mut self, query: &str, arguments: &Map<String, Value>) -> Result<usize, Stop> {
        let made = self.trials.iter().position(|trial| {
            trial.arguments == *arguments && !matches!(trial.outcome, Outcome::Unavailable { .. })
        });
        match made {
            Some(at) => Ok(at),
            None => self.call_again(query, arguments).await,
        }
    }

    async fn call_again(&mut self, query: &str, arguments: &Map<String, Value>) -> Result<usize, Stop> {
        if self.left == 0 {
            return Err(Stop::OutOfCalls);
        }
        self.left -= 1;
        let outcome = self.caller.call(arguments).await;
        if let Outcome::Unavailable { reason } = &outcome {
            self.unavailable += 1;
            if self.unavailable == UNAVAILABLE {
                return Err(Stop::Unavailable { reason: reason.clone() });
            }
        } else {
            self.unavailable = 0;
        }
        if let Outcome::Success { result } = &outcome {
            self.pool.learn(&self.tool.name, result);
        }
        let trial = Trial { query: query.to_owned(), arguments: arguments.clone(), outcome };
        (self.watch)(&trial);
        self.trials.push(trial);
        Ok(self.trials.len() - 1)
    }

    /// Calls the tool with the arguments that work and one more or another value.
    async fn call_with(&mut self, name: &str, value: &Value) -> Result<usize, Stop> {
        let mut arguments = self.base.clone();
        arguments.insert(name.to_owned(), value.clone());
        let shown: String = value.to_string().chars().take(60).collect();
        self.call(&format!("{name} = {shown}"), &arguments).await
    }

    fn is_success(&self, at: usize) -> bool {
        self.trials[at].outcome.is_success()
    }

    fn is_refused(&self, at: usize) -> bool {
        self.trials[at].outcome.is_refused()
    }

    fn complaint(&self, at: usize) -> Option<ParsedError> {
        let trial = &self.trials[at];
        let Outcome::Refused { error, .. } = &trial.outcome else { return None };
        let names: Vec<&str> = self
            .tool
            .properties()
            .map(|(name, _)| name)
            .chain(trial.arguments.keys().map(String::as_str))
            .collect();
        // A message names a field of the body without what it is inside of.
        let known: Vec<&str> =
            names.iter().map(|name| last_part(name)).chain(names.iter().copied()).collect();
        let mut complaint = ParsedError::new(error, &known);
        for name in &mut complaint.names {
            if !names.contains(&name.as_str())
                && let Some(full) = names.iter().find(|full| last_part(full) == name.as_str())
            {
                (*full).clone_into(name);
            }
        }
        Some(complaint)
    }

    fn note(&mut self, finding: Finding, trials: impl Into<Vec<usize>>) {
        if !self.observations.iter().any(|known| known.finding == finding) {
            self.observations.push(Observation { finding, trials: trials.into() });
        }
    }

    fn schema_of(&self, name: &str) -> Value {
        self.tool.property(name).cloned().unwrap_or(Value::Null)
    }

    fn valid_values(&self, name: &str) -> Vec<Value> {
        valid(&self.tool.name, name, &self.schema_of(name), self.pool)
    }

    /// Finds arguments that work: what is required, then what errors ask for, then other values.
    async fn find_baseline(&mut self) -> Result<(), Stop> {
        let mut arguments = Map::new();
        let mut choices: BTreeMap<String, (Vec<Value>, usize)> = BTreeMap::new();
        let required: Vec<String> = self
            .tool
            .properties()
            .map(|(name, _)| name.to_owned())
            .filter(|name| self.tool.is_required(name))
            .collect();
        for name in required {
            let values = self.valid_values(&name);
            if let Some(first) = values.first() {
                arguments.insert(name.clone(), first.clone());
                choices.insert(name, (values, 0));
            }
        }
        // What an error asked for, with the call it refused.
        let mut asked: Vec<(String, usize)> = Vec::new();
        let mut refused_values: Vec<(String, Value, usize)> = Vec::new();
        // Values that errors suggested and that were tried.
        let mut tried: Vec<(String, Value)> = Vec::new();
        for _ in 0..BASELINE {
            let at = self.call("arguments that work", &arguments).await?;
            if self.is_success(at) {
                self.base = arguments;
                self.base_trial = at;
                for (name, refused) in asked {
                    self.confirm_required(&name, refused).await?;
                }
                for (name, value, refused) in refused_values {
                    self.note_refused(&name, &value, refused);
                }
                return Ok(());
            }
            let Some(complaint) = self.complaint(at) else { continue };
            let missing = complaint
                .names
                .iter()
                .find(|name| complaint.is_missing && !arguments.contains_key(*name) && is_name(name))
                .cloned();
            if let Some(name) = missing {
                let mut values: Vec<Value> =
                    complaint.allowed.iter().filter_map(|text| typed(text, &self.schema_of(&name))).collect();
                values.extend(self.valid_values(&name));
                if let Some(first) = values.first() {
                    arguments.insert(name.clone(), first.clone());
                    choices.insert(name.clone(), (values, 0));
                    asked.push((name, at));
                    continue;
                }
            }
            // The argument that the error is about, else each in turn.
            let named = complaint.names.iter().find(|name| arguments.contains_key(*name)).cloned();
            if let Some(name) = &named {
                let schema = self.schema_of(name);
                let bounds = complaint.bounds.iter().filter_map(|bound| typed(&bound.to_string(), &schema));
                let mut suggested =
                    complaint.allowed.iter().filter_map(|text| typed(text, &schema)).chain(bounds);
                let fresh = suggested.find(|value| !tried.contains(&(name.clone(), value.clone())));
                if let Some(value) = fresh {
                    tried.push((name.clone(), value.clone()));
                    if let Some(old) = arguments.insert(name.clone(), value) {
                        refused_values.push((name.clone(), old, at));
                    }
                    continue;
                }
            }
            let next = choices
                .iter_mut()
                .filter(|(name, _)| named.as_ref().is_none_or(|named| named == *name))
                .find(|(_, (values, used))| *used + 1 < values.len());
            let Some((name, (values, used))) = next else { break };
            *used += 1;
            let (name, value) = (name.clone(), values[*used].clone());
            if let Some(old) = arguments.insert(name.clone(), value) {
                refused_values.push((name, old, at));
            }
        }
        Err(Stop::NoWorkingCall)
    }

    /// Notes that a documented value is refused, if it is one of those that are listed.
    fn note_refused(&mut self, name: &str, value: &Value, refused: usize) {
        let listed =
            self.schema_of(name).get("enum").and_then(Value::as_array).is_some_and(|v| v.contains(value));
        // The call that works may differ in more than this value.
        let differs_in_one = {
            let mut arguments = self.trials[refused].arguments.clone();
            if let Some(works) = self.base.get(name) {
                arguments.insert(name.to_owned(), works.clone());
            }
            arguments == self.base
        };
        if listed && differs_in_one {
            let trials = [refused, self.base_trial];
            self.note(Finding::ValueRefused { parameter: name.to_owned(), value: value.clone() }, trials);
        }
    }

    /// Whether a parameter that an error asked for is required: calls without it are refused, with it they succeed.
    async fn confirm_required(&mut self, name: &str, refused: usize) -> Result<(), Stop> {
        let mut without = self.base.clone();
        let Some(example) = without.remove(name) else { return Ok(()) };
        let at = self.call(&format!("without {name}"), &without).await?;
        if !self.is_refused(at) {
            return Ok(());
        }
        let is_documented = self.tool.property(name).is_some();
        if !self.tool.is_required(name) {
            let finding = Finding::Required { parameter: name.to_owned(), example, is_documented };
            let mut trials = vec![refused, at, self.base_trial];
            trials.dedup();
            self.note(finding, trials);
        }
        Ok(())
    }
}

/// Whether a word of an error can be the name of a parameter.
fn is_name(word: &str) -> bool {
    word.len() <= 40 && word.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}
