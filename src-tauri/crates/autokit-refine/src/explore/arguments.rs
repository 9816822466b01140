//! Which parameters are required, accepted, and go together; which values and formats.

use serde_json::{Value, json};

use super::{Explorer, NEW_VALUES, PAIRS, Stop, VALUES, is_name};
use crate::finding::Finding;
use crate::parsed_error::last_part;
use crate::values::{type_of, typed, valid};

/// Formats of dates that people write, with the same day in each.
const DATES: &[(&str, &str)] = &[
    ("YYYY-MM-DD", "2024-01-15"),
    ("YYYY-MM-DDThh:mm:ssZ", "2024-01-15T00:00:00Z"),
    ("YYYYMMDD", "20240115"),
    ("DD.MM.YYYY", "15.01.2024"),
    ("DD/MM/YYYY", "15/01/2024"),
    ("MM/DD/YYYY", "01/15/2024"),
    ("YYYY/MM/DD", "2024/01/15"),
    ("seconds since 1970", "1705276800"),
    ("YYYY-MM", "2024-01"),
];

/// A value that is none of a list, whatever the list.
const NONSENSE: &str = "zz_not_a_value";

impl Explorer<'_> {
    /// Leaves out each parameter that is documented as required.
    pub(super) async fn try_required(&mut self) -> Result<(), Stop> {
        let names: Vec<String> =
            self.base.keys().filter(|name| self.tool.is_required(name)).cloned().collect();
        for name in names {
            let mut without = self.base.clone();
            without.remove(&name);
            let at = self.call(&format!("without {name}"), &without).await?;
            if self.is_success(at) {
                self.note(Finding::Optional { parameter: name }, [at]);
            }
        }
        Ok(())
    }

    /// Adds each optional parameter to the arguments that work.
    pub(super) async fn try_optional(&mut self) -> Result<(), Stop> {
        let names: Vec<String> = self
            .tool
            .properties()
            .map(|(name, _)| name.to_owned())
            .filter(|name| !self.base.contains_key(name))
            .collect();
        for name in names {
            self.try_optional_one(&name).await?;
        }
        Ok(())
    }

    async fn try_optional_one(&mut self, name: &str) -> Result<(), Stop> {
        let values: Vec<Value> = self.valid_values(name).into_iter().take(3).collect();
        let mut unknown = Vec::new();
        for value in values {
            let at = self.call_with(name, &value).await?;
            if self.is_success(at) {
                self.accepted.insert(name.to_owned(), (value, at));
                return Ok(());
            }
            let Some(complaint) = self.complaint(at) else { continue };
            if complaint.is_unknown && complaint.mentions(name) && complaint.allowed.is_empty() {
                unknown.push(at);
            }
            let other = complaint
                .names
                .iter()
                .find(|other| *other != name && is_name(other) && self.tool.property(other).is_some())
                .cloned();
            if let Some(other) = other
                && self.try_relation(name, &value, &other, at).await?
            {
                return Ok(());
            }
            if complaint.mentions(name) {
                let schema = self.schema_of(name);
                let bounds = complaint.bounds.iter().filter_map(|bound| typed(&bound.to_string(), &schema));
                let allowed = complaint.allowed.iter().filter_map(|text| typed(text, &schema));
                let named: Vec<Value> = allowed.chain(bounds).take(NEW_VALUES).collect();
                for value in named {
                    let at = self.call_with(name, &value).await?;
                    if self.is_success(at) {
                        self.accepted.insert(name.to_owned(), (value, at));
                        return Ok(());
                    }
                }
            }
        }
        if unknown.len() >= 2 {
            self.note(Finding::Unknown { parameter: name.to_owned() }, unknown);
        }
        Ok(())
    }

    /// Whether a parameter that was refused is accepted with another one, or instead of it.
    async fn try_relation(
        &mut self,
        name: &str,
        value: &Value,
        other: &str,
        refused: usize,
    ) -> Result<bool, Stop> {
        let mut arguments = self.base.clone();
        arguments.insert(name.to_owned(), value.clone());
        if self.base.contains_key(other) {
            arguments.remove(other);
            let at = self.call(&format!("{name} instead of {other}"), &arguments).await?;
            if self.is_success(at) {
                if !self.says_relation(name, other) {
                    self.note(
                        Finding::Excludes { parameter: name.to_owned(), other: other.to_owned() },
                        [refused, at, self.base_trial],
                    );
                }
                return Ok(true);
            }
            return Ok(false);
        }
        for other_value in self.valid_values(other).into_iter().take(2) {
            arguments.insert(other.to_owned(), other_value);
            let at = self.call(&format!("{name} together with {other}"), &arguments).await?;
            if self.is_success(at) {
                if !self.says_relation(name, other) {
                    self.note(
                        Finding::Needs { parameter: name.to_owned(), other: other.to_owned() },
                        [refused, at],
                    );
                }
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Whether the documentation of one of two parameters, or of the tool, speaks of both.
    fn says_relation(&self, name: &str, other: &str) -> bool {
        let has_word = |text: &str, name: &str| {
            let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
            text.split(|c| !is_part(c)).any(|word| word.eq_ignore_ascii_case(last_part(name)))
        };
        let of =
            |name: &str| self.schema_of(name).get("description").and_then(Value::as_str).map(str::to_owned);
        of(name).is_some_and(|text| has_word(&text, other))
            || of(other).is_some_and(|text| has_word(&text, name))
            || (has_word(&self.tool.description, name) && has_word(&self.tool.description, other))
    }

    /// Tries each documented value of parameters that take one of several, and a value that is none of them.
    pub(super) async fn try_values(&mut self) -> Result<(), Stop> {
        let listed: Vec<(String, Vec<Value>)> = self
            .tool
            .properties()
            .filter_map(|(name, schema)| {
                let values = schema.get("enum")?.as_array()?;
                Some((name.to_owned(), values.iter().take(VALUES).cloned().collect()))
            })
            .collect();
        for (name, values) in listed {
            self.try_listed(&name, &values).await?;
        }
        let texts: Vec<String> = self
            .tool
            .properties()
            .filter(|(name, schema)| {
                type_of(schema) == Some("string")
                    && schema.get("enum").is_none()
                    && (self.base.contains_key(*name) || self.accepted.contains_key(*name))
            })
            .map(|(name, _)| name.to_owned())
            .collect();
        for name in texts {
            let at = self.call_with(&name, &json!(NONSENSE)).await?;
            let Some(complaint) = self.complaint(at).filter(|complaint| complaint.mentions(&name)) else {
                continue;
            };
            self.try_new_values(&name, &complaint.allowed, &[], at).await?;
        }
        Ok(())
    }

    async fn try_listed(&mut self, name: &str, values: &[Value]) -> Result<(), Stop> {
        let (mut accepted, mut refused) = (Vec::new(), Vec::new());
        for value in values {
            let at = self.call_with(name, value).await?;
            if self.is_success(at) {
                accepted.push(at);
            } else if let Some(complaint) = self.complaint(at) {
                let shown = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
                // A value can be refused for what other arguments say.
                let is_about_it = complaint.mentions(name) || complaint.text.contains(&shown);
                if is_about_it && !complaint.is_conflict {
                    refused.push((value.clone(), at, complaint.allowed));
                }
            }
        }
        if let Some(&works) = accepted.first() {
            for (value, at, _) in &refused {
                let finding = Finding::ValueRefused { parameter: name.to_owned(), value: value.clone() };
                self.note(finding, [*at, works]);
            }
        }
        let mut at = refused.first().map(|(_, at, _)| *at);
        let mut allowed: Vec<String> = refused.into_iter().flat_map(|(_, _, allowed)| allowed).collect();
        if allowed.is_empty() && self.schema_of(name).get("type") != Some(&json!("integer")) {
            let nonsense = self.call_with(name, &json!(NONSENSE)).await?;
            let complaint = self.complaint(nonsense).filter(|complaint| complaint.mentions(name));
            allowed = complaint.map(|complaint| complaint.allowed).unwrap_or_default();
            at = Some(nonsense);
        }
        match at {
            Some(at) => self.try_new_values(name, &allowed, values, at).await,
            None => Ok(()),
        }
    }

    /// Tries values that an error lists and the documentation does not.
    async fn try_new_values(
        &mut self,
        name: &str,
        allowed: &[String],
        documented: &[Value],
        refused: usize,
    ) -> Result<(), Stop> {
        let schema = self.schema_of(name);
        let description = schema.get("description").and_then(Value::as_str).unwrap_or("").to_lowercase();
        let mut fresh: Vec<Value> = Vec::new();
        for text in allowed {
            let is_said = documented.is_empty() && description.contains(&text.to_lowercase());
            if let Some(value) = typed(text, &schema).filter(|value| !documented.contains(value) && !is_said)
                && !fresh.contains(&value)
            {
                fresh.push(value);
            }
        }
        let (mut values, mut trials) = (Vec::new(), vec![refused]);
        for value in fresh.into_iter().take(NEW_VALUES) {
            let at = self.call_with(name, &value).await?;
            if self.is_success(at) {
                values.push(value);
                trials.push(at);
            }
        }
        if !values.is_empty() {
            self.note(Finding::ValuesAccepted { parameter: name.to_owned(), values }, trials);
        }
        Ok(())
    }

    /// Tries ways to write a date where one is expected, and long texts where any text is accepted.
    pub(super) async fn try_formats(&mut self) -> Result<(), Stop> {
        let texts: Vec<(String, Value)> = self
            .tool
            .properties()
            .filter(|(_, schema)| type_of(schema) == Some("string") && schema.get("enum").is_none())
            .map(|(name, schema)| (name.to_owned(), schema.clone()))
            .collect();
        for (name, schema) in texts {
            let typical = valid(&self.tool.name, &name, &schema, self.pool);
            let is_date = typical.iter().any(|value| DATES.iter().any(|(_, date)| value == date));
            if is_date {
                self.try_dates(&name, &schema).await?;
            } else if self.base.contains_key(&name) || self.accepted.contains_key(&name) {
                self.try_lengths(&name, &schema).await?;
            }
        }
        Ok(())
    }

    async fn try_dates(&mut self, name: &str, schema: &Value) -> Result<(), Stop> {
        let (mut accepted, mut refused) = (Vec::new(), Vec::new());
        for (format, date) in DATES {
            let at = self.call_with(name, &json!(date)).await?;
            if self.is_success(at) {
                accepted.push((*format, *date, at));
            } else if self.is_refused(at) {
                refused.push(at);
            }
        }
        let nonsense = self.call_with(name, &json!(NONSENSE)).await?;
        // One way is accepted and the others are not: that is the format. Several are no rule.
        let [(format, date, at)] = accepted.as_slice() else { return Ok(()) };
        if !self.is_refused(nonsense) || refused.is_empty() {
            return Ok(());
        }
        let text = schema.to_string();
        let is_documented = text.contains(format)
            || (*format == "YYYY-MM-DD" && schema.get("format") == Some(&json!("date")))
            || (*format == "YYYY-MM-DDThh:mm:ssZ" && schema.get("format") == Some(&json!("date-time")));
        if !is_documented {
            let finding = Finding::Format {
                parameter: name.to_owned(),
                format: (*format).to_owned(),
                example: json!(date),
            };
            self.note(finding, [*at, refused[0], nonsense]);
        }
        Ok(())
    }

    /// Tries pairs of optional parameters that are accepted alone.
    pub(super) async fn try_pairs(&mut self) -> Result<(), Stop> {
        let accepted: Vec<(String, Value, usize)> =
            self.accepted.iter().map(|(name, (value, at))| (name.clone(), value.clone(), *at)).collect();
        let mut pairs = 0;
        for (i, (a, a_value, a_at)) in accepted.iter().enumerate() {
            for (b, b_value, b_at) in &accepted[i + 1..] {
                if pairs == PAIRS {
                    return Ok(());
                }
                pairs += 1;
                let mut arguments = self.base.clone();
                arguments.insert(a.clone(), a_value.clone());
                arguments.insert(b.clone(), b_value.clone());
                let at = self.call(&format!("{a} and {b}"), &arguments).await?;
                let is_about_both = self.complaint(at).is_some_and(|complaint| {
                    complaint.is_conflict || (complaint.mentions(a) && complaint.mentions(b))
                });
                if is_about_both && !self.says_relation(a, b) {
                    let finding = Finding::Excludes { parameter: a.clone(), other: b.clone() };
                    self.note(finding, [at, *a_at, *b_at]);
                }
            }
        }
        Ok(())
    }

    /// Gives arguments that work, and says where a documented example does not.
    pub(super) async fn give_example(&mut self) -> Result<(), Stop> {
        let documented = self.tool.parameters.get("example").and_then(Value::as_object).cloned();
        if let Some(example) = documented {
            let at = self.call("the documented example", &example).await?;
            if self.is_refused(at) {
                let finding = Finding::Example { arguments: self.base.clone(), replaces_documented: true };
                self.note(finding, [at, self.base_trial]);
            }
        } else if !self.base.is_empty() {
            let finding = Finding::Example { arguments: self.base.clone(), replaces_documented: false };
            self.note(finding, [self.base_trial]);
        }
        Ok(())
    }
}
