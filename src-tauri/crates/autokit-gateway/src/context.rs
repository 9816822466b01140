//! The tools of one session: what was discovered, when it was used, and what is evicted (Kaman, section 6).

use std::collections::HashSet;

use indexmap::IndexMap;
use jiff::Timestamp;
use rmcp::model::Tool;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::schema::without_explanations;
use crate::settings::Settings;
use crate::tokens;

/// The full definition of a callable tool.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Definition {
    /// Id of its card, or of one of AutoKit's own tools.
    pub id: String,
    /// The name on its card.
    pub name: String,
    /// The provider of the tool.
    pub provider: String,
    /// What it does.
    pub description: String,
    /// JSON Schema of its arguments: an object.
    pub schema: Map<String, Value>,
    /// MCP's hints on the tool's effects, as its server gives them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub annotations: Option<Value>,
}

/// A tool bound to a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BoundTool {
    /// The tool.
    pub definition: Definition,
    /// When it was first discovered.
    pub discovered: Timestamp,
    /// When it was last found or called.
    pub used: Timestamp,
    /// How often it was called.
    pub calls: u32,
    /// Tokens of its definition.
    pub tokens: u32,
}

/// Why a tool was removed from a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EvictionReason {
    /// It was not used for longer than the time to live.
    Idle,
    /// There was no room for all tools, and it was the least recently used.
    LeastRecent,
    /// All tools together exceeded the token budget.
    Budget,
    /// It was called in a loop.
    Loop,
    /// It was deleted, or is no longer permitted.
    Revoked,
}

/// The tools of a session, by the names the session calls them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct ToolContext {
    bound: IndexMap<String, BoundTool>,
    /// Tools evicted because of a loop, until a search finds them again.
    evicted: Vec<String>,
    /// Tools removed because they may no longer be called, latest last, until a search finds them again.
    #[serde(default)]
    revoked: Vec<String>,
}

/// The result of binding tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Binding {
    /// The name by which each definition can be called, in order.
    pub names: Vec<String>,
    /// The tools that were evicted to make room.
    pub evicted: Vec<(String, EvictionReason)>,
    /// Whether the names or definitions of the session's tools changed.
    pub changed: bool,
}

/// Most names of revoked tools that are remembered, to explain a call of one.
const MAX_REVOKED: usize = 50;
/// Most characters of a shortened description.
const SHORT_CHARS: usize = 160;
/// Most characters of the name of a bound tool. Clients prefix it with the name of the server and allow 64
/// in total.
const NAME_CHARS: usize = 46;

impl ToolContext {
    /// Iterates over the tools, in the order of their discovery.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &BoundTool)> {
        self.bound.iter().map(|(name, bound)| (name.as_str(), bound))
    }

    /// Returns the number of tools.
    pub fn len(&self) -> usize {
        self.bound.len()
    }

    /// Returns whether there are no tools.
    pub fn is_empty(&self) -> bool {
        self.bound.is_empty()
    }

    /// Returns the tokens of all definitions.
    pub fn tokens(&self) -> u32 {
        self.bound.values().map(|bound| bound.tokens).sum()
    }

    /// Returns the tool of this name.
    pub fn get(&self, name: &str) -> Option<&BoundTool> {
        self.bound.get(name)
    }

    /// Returns the name of the tool a client requests: by name, by id, or by name ignoring case. No two names
    /// differ in case only.
    pub fn resolve_name(&self, requested: &str) -> Option<&str> {
        let named = self.bound.get_key_value(requested).map(|(name, _)| name);
        let by_id =
            || self.bound.iter().find(|(_, bound)| bound.definition.id == requested).map(|(name, _)| name);
        let ignoring_case = || self.bound.keys().find(|name| name.eq_ignore_ascii_case(requested));
        named.or_else(by_id).or_else(ignoring_case).map(String::as_str)
    }

    /// Returns whether a tool was evicted because of a loop and has not been found again since.
    pub fn is_evicted(&self, name: &str) -> bool {
        self.evicted.iter().any(|evicted| evicted == name)
    }

    /// Binds the tools a search found. A tool that is already bound keeps its name, gets the new definition
    /// and counts as used. A tool found again after a loop may be called again. Then tools over the limits
    /// are evicted, except those that always stay and those just bound.
    pub fn bind(&mut self, settings: &Settings, found: Vec<Definition>, now: Timestamp) -> Binding {
        let mut binding = Binding::default();
        for definition in found {
            let cost = tokens::of_tool(&definition.name, &definition.description, &definition.schema);
            let there = self.bound.iter_mut().find(|(_, bound)| bound.definition.id == definition.id);
            let name = if let Some((name, bound)) = there {
                bound.used = bound.used.max(now);
                if bound.definition != definition {
                    (bound.definition, bound.tokens) = (definition, cost);
                    binding.changed = true;
                }
                name.clone()
            } else {
                let name = self.free_name(&definition);
                let bound = BoundTool { definition, discovered: now, used: now, calls: 0, tokens: cost };
                self.bound.insert(name.clone(), bound);
                binding.changed = true;
                name
            };
            self.evicted.retain(|evicted| *evicted != name);
            self.revoked.retain(|revoked| *revoked != name);
            binding.names.push(name);
        }
        binding.evicted = self.make_room(settings, &binding.names, now);
        binding.changed |= !binding.evicted.is_empty();
        binding
    }

    /// Records that a tool was called.
    pub fn record_call(&mut self, name: &str, now: Timestamp) {
        if let Some(bound) = self.bound.get_mut(name) {
            bound.used = bound.used.max(now);
            bound.calls += 1;
        }
    }

    /// Evicts a tool because of a loop. Only a search brings it back. Returns whether it was bound.
    pub fn evict(&mut self, name: &str) -> bool {
        let there = self.bound.shift_remove(name).is_some();
        if there && !self.is_evicted(name) {
            self.evicted.push(name.to_owned());
        }
        there
    }

    /// Updates the definition of a tool. Returns whether the tool is bound and its definition changed.
    pub fn update_definition(&mut self, name: &str, definition: Definition) -> bool {
        let Some(bound) = self.bound.get_mut(name).filter(|bound| bound.definition != definition) else {
            return false;
        };
        bound.tokens = tokens::of_tool(&definition.name, &definition.description, &definition.schema);
        bound.definition = definition;
        true
    }

    /// Removes a tool that may no longer be called. Returns whether it was bound.
    pub fn revoke(&mut self, name: &str) -> bool {
        let there = self.bound.shift_remove(name).is_some();
        if there {
            self.revoked.retain(|revoked| revoked != name);
            self.revoked.push(name.to_owned());
            let more = self.revoked.len().saturating_sub(MAX_REVOKED);
            self.revoked.drain(..more);
        }
        there
    }

    /// Returns whether a tool was removed because it may no longer be called.
    pub fn is_revoked(&self, name: &str) -> bool {
        self.revoked.iter().any(|revoked| revoked == name)
    }

    /// Evicts tools while there are more than the capacity, or they exceed the token budget: first all that
    /// were not used for longer than the time to live (section 6.3, phase 1), then the least recently used
    /// (phase 2).
    fn make_room(
        &mut self,
        settings: &Settings,
        just_bound: &[String],
        now: Timestamp,
    ) -> Vec<(String, EvictionReason)> {
        let is_pinned = |name: &String, bound: &BoundTool| {
            let Definition { id, name: own, .. } = &bound.definition;
            settings.always.iter().any(|other| other == name || other == own || other == id)
        };
        let mut evicted = Vec::new();
        let exceeded = |context: &ToolContext| {
            let counted = context.bound.iter().filter(|(name, bound)| !is_pinned(name, bound)).count();
            if counted > settings.capacity {
                Some(EvictionReason::LeastRecent)
            } else if context.tokens() > settings.budget() {
                Some(EvictionReason::Budget)
            } else {
                None
            }
        };
        if exceeded(self).is_none() {
            return evicted;
        }
        let ttl = settings.ttl_secs as i64;
        self.bound.retain(|name, bound| {
            let idle = now.as_second() - bound.used.as_second() > ttl;
            let evict = idle && !is_pinned(name, bound) && !just_bound.contains(name);
            if evict {
                evicted.push((name.clone(), EvictionReason::Idle));
            }
            !evict
        });
        while let Some(why) = exceeded(self) {
            let oldest = self
                .bound
                .iter()
                .filter(|(name, bound)| !is_pinned(name, bound) && !just_bound.contains(name))
                .min_by_key(|(_, bound)| bound.used)
                .map(|(name, _)| name.clone());
            // Only tools just found and tools that always stay are left.
            let Some(name) = oldest else { break };
            self.bound.shift_remove(&name);
            evicted.push((name, why));
        }
        evicted
    }

    /// Returns a name that no other tool of the session has: that of the card, or with its provider as a
    /// prefix, or with a part of its id as a suffix.
    fn free_name(&self, definition: &Definition) -> String {
        let own = sanitized_name(&definition.name);
        let full = sanitized_name(&format!("{}_{}", definition.provider, definition.name));
        let with_id = |length: usize| {
            let id: String = definition.id.chars().filter(char::is_ascii_alphanumeric).take(length).collect();
            let short: String = own.chars().take(NAME_CHARS - id.len() - 1).collect();
            format!("{short}_{id}")
        };
        // Clients may ignore case.
        let taken = |name: &String| self.bound.keys().any(|other| other.eq_ignore_ascii_case(name));
        let free = |name: &String| !name.is_empty() && !taken(name) && !is_own_tool(name);
        [own.clone(), full, with_id(8)].into_iter().find(free).unwrap_or_else(|| with_id(24))
    }
}

/// Returns whether this is the name of a tool every session has, which a discovered tool must not take.
pub(crate) fn is_own_tool(name: &str) -> bool {
    crate::names::OWN_TOOLS.iter().any(|own| own.eq_ignore_ascii_case(name))
}

/// Replaces characters other than letters, digits, `_` and `-`, which are all that some clients allow.
fn sanitized_name(name: &str) -> String {
    let mut plain = String::new();
    for c in name.chars() {
        if c.is_ascii_alphanumeric() || c == '-' {
            plain.push(c);
        } else if !plain.ends_with('_') {
            plain.push('_');
        }
    }
    plain.trim_matches('_').chars().take(NAME_CHARS).collect()
}

/// Shortens a tool's description and schema, for a list that has to be short.
fn abbreviated(definition: &Definition) -> Definition {
    let schema = Value::Object(definition.schema.clone());
    let Value::Object(schema) = without_explanations(&schema) else { return definition.clone() };
    let short: String = definition.description.chars().take(SHORT_CHARS).collect();
    let cut = short.len() < definition.description.len();
    let end = short.find(['.', '\n']).map_or(short.len(), |at| at + 1);
    let description = if cut { format!("{}…", short[..end].trim_end()) } else { short };
    Definition { description, schema, ..definition.clone() }
}

/// Returns the discovered tools of a session as MCP lists them, in the order of their discovery. The latest
/// are listed in full while they fit into `budget` tokens, the others shortened. Which ones are shortened
/// changes only when tools are bound, of which clients are notified.
pub(crate) fn list_tools(context: &ToolContext, budget: u32) -> Vec<Tool> {
    let mut newest: Vec<(&str, &BoundTool)> = context.iter().collect();
    newest.sort_by_key(|(_, bound)| std::cmp::Reverse(bound.discovered));
    let mut remaining = budget;
    let mut full = HashSet::new();
    for (name, bound) in newest {
        if bound.tokens <= remaining {
            remaining -= bound.tokens;
            full.insert(name);
        }
    }
    let tool = |(name, bound): (&str, &BoundTool)| {
        if full.contains(name) {
            to_mcp_tool(name, &bound.definition)
        } else {
            to_mcp_tool(name, &abbreviated(&bound.definition))
        }
    };
    context.iter().map(tool).collect()
}

/// Converts a tool to its entry in MCP's list.
pub fn to_mcp_tool(name: &str, definition: &Definition) -> Tool {
    let mut tool = Tool::new(name.to_owned(), definition.description.clone(), definition.schema.clone());
    // Invalid annotations are left out; they are only hints.
    tool.annotations = definition.annotations.clone().and_then(|hints| serde_json::from_value(hints).ok());
    tool
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    fn at(second: i64) -> Timestamp {
        Timestamp::from_second(1_700_000_000 + second).expect("a time")
    }

    fn tool(id: &str, name: &str) -> Definition {
        Definition {
            id: id.to_owned(),
            name: name.to_owned(),
            provider: "Acme Inc.".to_owned(),
            description: format!("Does {name}."),
            schema: json!({"type": "object"}).as_object().cloned().unwrap_or_default(),
            annotations: None,
        }
    }

    fn names(context: &ToolContext) -> Vec<&str> {
        context.iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn names_that_differ_only_in_case_are_distinguished() {
        let (mut context, settings) = (ToolContext::default(), Settings::default());
        let echo = |id: &str, name: &str, provider: &str| Definition {
            provider: provider.to_owned(),
            ..tool(id, name)
        };
        let found = vec![echo("1", "echo", "a"), echo("2", "Echo", "b"), echo("3", "Search_Tools", "c")];
        let binding = context.bind(&settings, found, at(0));
        assert_eq!(binding.names, ["echo", "b_Echo", "c_Search_Tools"]);
        for (requested, name) in [
            ("echo", "echo"),
            ("ECHO", "echo"),
            ("B_echo", "b_Echo"),
            ("3", "c_Search_Tools"),
            ("2", "b_Echo"),
        ] {
            assert_eq!(context.resolve_name(requested), Some(name), "{requested}");
        }
        assert_eq!(context.resolve_name("4"), None);
    }

    #[test]
    fn binding_is_idempotent() {
        let (mut context, settings) = (ToolContext::default(), Settings::default());
        let first = context.bind(&settings, vec![tool("1", "get weather!")], at(0));
        assert_eq!((first.names, first.changed), (vec!["get_weather".to_owned()], true));
        let again = context.bind(&settings, vec![tool("1", "get weather!")], at(9));
        assert_eq!((again.names.len(), again.changed, context.len()), (1, false, 1));
        let bound = context.get("get_weather").expect("bound");
        assert_eq!((bound.discovered, bound.used), (at(0), at(9)));
        // Its card changed: the name stays, and the definition is replaced.
        let newer = Definition { description: "New.".to_owned(), ..tool("1", "get weather!") };
        assert!(context.bind(&settings, vec![newer], at(10)).changed);
        assert_eq!(context.get("get_weather").map(|b| b.definition.description.as_str()), Some("New."));
    }

    #[test]
    fn names_never_clash_and_fit_every_client() {
        let (mut context, settings) =
            (ToolContext::default(), Settings { capacity: 99, ..Settings::default() });
        let long = "x".repeat(300);
        let found = ["send", "send", "send", "search_tools", "call_tool", "Grüße 🎉", "…", &long, &long]
            .iter()
            .enumerate()
            .map(|(id, name)| tool(&format!("card-number-{id:04}"), name))
            .collect();
        let names = context.bind(&settings, found, at(0)).names;
        let different: std::collections::HashSet<&String> = names.iter().collect();
        assert_eq!(different.len(), 9, "{names:?}");
        assert_eq!(&names[..3], ["send", "Acme_Inc_send", "send_cardnumb"]);
        for name in &names {
            let fits =
                name.len() <= 46 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b"_-".contains(&b));
            assert!(fits && !name.is_empty() && !is_own_tool(name), "{name}");
        }
    }

    #[test]
    fn idle_tools_are_evicted_first_then_the_least_recently_used() {
        let settings = Settings { capacity: 3, ttl_secs: 100, ..Settings::default() };
        let mut context = ToolContext::default();
        for (second, name) in [(0, "a"), (1, "b"), (2, "c")] {
            context.bind(&settings, vec![tool(name, name)], at(second));
        }
        context.record_call("a", at(50));
        // Within the limits nothing is evicted, however idle.
        assert!(context.bind(&settings, vec![tool("c", "c")], at(200)).evicted.is_empty());
        let binding = context.bind(&settings, vec![tool("d", "d")], at(140));
        assert_eq!(binding.evicted, [("b".to_owned(), EvictionReason::Idle)]);
        let binding = context.bind(&settings, vec![tool("e", "e"), tool("f", "f")], at(141));
        assert_eq!(
            binding.evicted,
            [("a".to_owned(), EvictionReason::LeastRecent), ("d".to_owned(), EvictionReason::LeastRecent)]
        );
        assert_eq!(names(&context), ["c", "e", "f"]);
        // A search that finds more than the capacity keeps all it found.
        let many = (0..5).map(|n| tool(&n.to_string(), &format!("t{n}"))).collect();
        context.bind(&settings, many, at(142));
        assert_eq!(context.len(), 5);
    }

    #[test]
    fn only_the_latest_tools_are_listed_in_full() {
        let schema = |length: usize| json!({"type": "object", "properties": {"x": {"type": "integer", "description": "y".repeat(length)}}});
        let found = |name: &str| {
            let schema = schema(800).as_object().cloned().unwrap_or_default();
            let description = format!("Does {name}. {}", "And more. ".repeat(30));
            Definition { description, schema, ..tool(name, name) }
        };
        let (mut context, settings) = (ToolContext::default(), Settings::default());
        for (second, name) in [(0, "a"), (1, "b"), (2, "c")] {
            context.bind(&settings, vec![found(name)], at(second));
        }
        let tokens = context.get("a").map(|bound| bound.tokens).unwrap_or_default();
        let shown = |budget: u32| {
            let tools = list_tools(&context, budget);
            assert_eq!(tools.iter().map(|tool| tool.name.as_ref()).collect::<Vec<_>>(), ["a", "b", "c"]);
            let full = |tool: &Tool| *tool.input_schema == *schema(800).as_object().expect("an object");
            tools.iter().map(full).collect::<Vec<_>>()
        };
        assert_eq!(shown(tokens * 3), [true, true, true]);
        assert_eq!(shown(tokens * 2), [false, true, true]);
        assert_eq!(shown(tokens), [false, false, true]);
        assert_eq!(shown(0), [false, false, false]);
        let short = &list_tools(&context, 0)[0];
        assert_eq!(short.description.as_deref(), Some("Does a.…"));
        assert_eq!(
            Value::Object((*short.input_schema).clone()),
            json!({"type": "object", "properties": {"x": {"type": "integer"}}})
        );
    }

    #[test]
    fn pinned_tools_are_never_evicted_and_do_not_count() {
        let always = vec!["core".to_owned(), "id-expert".to_owned()];
        let settings = Settings { capacity: 1, ttl_secs: 1, always, ..Settings::default() };
        let mut context = ToolContext::default();
        for (second, name) in [(0, "core"), (1, "expert"), (2, "x"), (100, "y")] {
            context.bind(&settings, vec![tool(&format!("id-{name}"), name)], at(second));
        }
        assert_eq!(names(&context), ["core", "expert", "y"]);
    }

    #[test]
    fn the_token_budget_is_respected() {
        let settings = Settings { context_tokens: 1_100, reserved_tokens: 1_000, ..Settings::default() };
        let mut context = ToolContext::default();
        for n in 0..10 {
            let big = Definition { description: "x".repeat(160), ..tool(&n.to_string(), &format!("t{n}")) };
            let binding = context.bind(&settings, vec![big], at(n));
            assert!(context.tokens() <= 100, "{}", context.tokens());
            assert!(binding.evicted.iter().all(|(_, why)| *why == EvictionReason::Budget));
        }
        assert_eq!(names(&context), ["t8", "t9"]);
    }

    #[test]
    fn a_search_restores_a_tool_evicted_by_a_loop() {
        let (mut context, settings) = (ToolContext::default(), Settings::default());
        context.bind(&settings, vec![tool("1", "a")], at(0));
        assert!(context.evict("a") && context.is_evicted("a") && context.get("a").is_none());
        assert!(!context.evict("a"));
        context.bind(&settings, vec![tool("1", "a")], at(1));
        assert!(!context.is_evicted("a") && context.get("a").is_some());
    }

    proptest! {
        #[test]
        fn limits_hold_after_any_history(steps in prop::collection::vec((0u8..3, 0usize..20, 0i64..400), 1..60)) {
            let settings = Settings { capacity: 4, ttl_secs: 300, always: vec!["t0".to_owned()], ..Settings::default() };
            let mut context = ToolContext::default();
            let mut now = 0;
            for (what, which, later) in steps {
                now += later;
                let name = format!("t{which}");
                match what {
                    0 => { context.bind(&settings, vec![tool(&name, &name)], at(now)); }
                    1 => context.record_call(&name, at(now)),
                    _ => { if which > 0 { context.evict(&name); } }
                }
                prop_assert!(context.iter().filter(|(name, _)| *name != "t0").count() <= 4);
                let text = serde_json::to_string(&context).expect("JSON");
                prop_assert_eq!(&serde_json::from_str::<ToolContext>(&text).expect("the same"), &context);
            }
        }
    }
}
