//! Breaks cycles of schemas that apply themselves to the same value.
//!
//! `Pet: {oneOf: [Cat]}` with `Cat: {allOf: [Pet]}` is common and sends a validator into an infinite loop
//! (JSON Schema 2020-12 core, section 9.4.1). The reference that closes the cycle adds no constraint, so it
//! is removed.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Map, Value};

/// Prefix of every reference between the entries.
const PREFIX: &str = "#/$defs/";
/// Keywords whose schemas apply to the value itself rather than to a part of it.
const SAME_VALUE: [&str; 7] = ["allOf", "anyOf", "oneOf", "not", "if", "then", "else"];

#[derive(Clone, Copy, PartialEq)]
enum State {
    Open,
    Done,
}

/// Maximum length of a chain of entries that apply one another to the same value. No real document needs
/// more, and each takes stack space.
const MAX_CHAIN: usize = 200;

/// Removes the references in `$defs` that close a cycle and returns the names they referred to; `None` when a
/// chain has more than [`MAX_CHAIN`] entries.
pub(super) fn break_circles(defs: &mut Map<String, Value>) -> Option<BTreeSet<String>> {
    let names: Vec<String> = defs.keys().cloned().collect();
    let mut walk = Walk { defs, states: BTreeMap::new(), found: BTreeSet::new(), chain: 0 };
    for name in names {
        walk.visit(&name)?;
    }
    Some(walk.found)
}

struct Walk<'a> {
    defs: &'a mut Map<String, Value>,
    states: BTreeMap<String, State>,
    found: BTreeSet<String>,
    chain: usize,
}

impl Walk<'_> {
    fn visit(&mut self, name: &str) -> Option<()> {
        if self.states.contains_key(name) {
            return Some(());
        }
        if self.chain == MAX_CHAIN {
            return None;
        }
        self.states.insert(name.to_owned(), State::Open);
        if let Some(mut schema) = self.defs.get_mut(name).map(Value::take) {
            self.chain += 1;
            self.schema(&mut schema)?;
            self.chain -= 1;
            if let Some(place) = self.defs.get_mut(name) {
                *place = schema;
            }
        }
        self.states.insert(name.to_owned(), State::Done);
        Some(())
    }

    fn schema(&mut self, schema: &mut Value) -> Option<()> {
        let Value::Object(map) = schema else { return Some(()) };
        let target = map.get("$ref").and_then(Value::as_str).and_then(|text| text.strip_prefix(PREFIX));
        if let Some(target) = target.map(str::to_owned) {
            if self.states.get(&target) == Some(&State::Open) {
                map.shift_remove("$ref");
                self.found.insert(target);
            } else {
                self.visit(&target)?;
            }
        }
        for keyword in SAME_VALUE {
            match map.get_mut(keyword) {
                Some(Value::Array(schemas)) => {
                    for schema in schemas {
                        self.schema(schema)?;
                    }
                }
                Some(schema) => self.schema(schema)?,
                None => {}
            }
        }
        if let Some(Value::Object(named)) = map.get_mut("dependentSchemas") {
            for schema in named.values_mut() {
                self.schema(schema)?;
            }
        }
        Some(())
    }
}
