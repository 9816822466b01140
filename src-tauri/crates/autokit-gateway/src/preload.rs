//! Which tools past sessions of a profile make likely in a new one (Kaman, future work: predictive preloading), and
//! whether that would have helped.
//!
//! A session begins with the tools that the profile's latest sessions called, and its first search brings those that
//! sessions with a similar first search called. [`replay`] goes through past sessions in their order and counts what each
//! would have cost with the tools that the sessions before it predict.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use crate::session::McpSessionId;
use crate::toolbox::Event;

/// Past sessions that are considered, newest first.
const SESSIONS: usize = 50;
/// Weight of each session relative to the one after it.
const DECAY: f64 = 0.9;
/// Share of the weight of all sessions in which a tool has to have been called to be there from the start.
const FREQUENT: f64 = 0.3;
/// Share of common words from which on two searches have the same intent.
const SAME_INTENT: f64 = 0.5;
/// Tokens of a tool whose definition is not known any more.
const TYPICAL_TOKENS: u32 = 120;

/// Something an agent did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PastStep {
    /// It searched.
    Searched {
        /// The query.
        query: String,
        /// Ids of tools bound by it.
        bound: Vec<String>,
        /// Tokens of the response.
        tokens: u32,
    },
    /// It called a tool that a search had found.
    Called {
        /// Id of the tool.
        tool: String,
    },
}

/// A past session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PastSession {
    /// Its profile.
    pub profile: String,
    /// Whether it got tools without a search, so that its searches do not tell what it would have needed.
    pub preloaded: bool,
    /// What it did, in order.
    pub steps: Vec<PastStep>,
}

impl PastSession {
    fn called(&self) -> BTreeSet<&str> {
        let called = self.steps.iter().filter_map(|step| match step {
            PastStep::Called { tool } => Some(tool.as_str()),
            PastStep::Searched { .. } => None,
        });
        called.collect()
    }

    fn intent(&self) -> Option<BTreeSet<String>> {
        self.steps.iter().find_map(|step| match step {
            PastStep::Searched { query, .. } => Some(words(query)),
            PastStep::Called { .. } => None,
        })
    }
}

/// Collects the sessions of agents from recorded events, in the order in which they began. Sessions that called nothing
/// tell nothing, and calls by a person are no session.
pub fn past_sessions(events: impl IntoIterator<Item = (McpSessionId, Event)>) -> Vec<PastSession> {
    let mut order: Vec<McpSessionId> = Vec::new();
    let mut sessions: HashMap<McpSessionId, PastSession> = HashMap::new();
    for (id, event) in events {
        if let Event::Began { .. } = event {
            sessions.entry(id.clone()).or_insert_with(|| {
                order.push(id);
                PastSession { profile: String::new(), preloaded: false, steps: Vec::new() }
            });
            continue;
        }
        let Some(session) = sessions.get_mut(&id) else { continue };
        match event {
            Event::Searched { query, bound, tokens, .. } => {
                session.steps.push(PastStep::Searched { query, bound, tokens });
            }
            Event::Called { tool, good: true, .. } if !crate::context::is_own_tool(&tool) => {
                session.steps.push(PastStep::Called { tool });
            }
            Event::Preloaded { .. } => session.preloaded = true,
            Event::Audited(audit) => session.profile = audit.profile,
            Event::Began { .. } | Event::Called { .. } | Event::Gone { .. } => {}
        }
    }
    let all = order.into_iter().filter_map(|id| sessions.remove(&id));
    all.filter(|session| !session.called().is_empty()).collect()
}

/// Returns the tools that a session of a profile begins with, likeliest first. `past` is in order of time.
pub fn likely(past: &[PastSession], profile: &str, limit: usize) -> Vec<String> {
    ranked(past, profile, |_| true, FREQUENT, limit)
}

/// Returns the tools that sessions with a similar first search called, likeliest first.
pub fn likely_for(past: &[PastSession], profile: &str, query: &str, limit: usize) -> Vec<String> {
    let wanted = words(query);
    let same = |session: &PastSession| {
        session.intent().is_some_and(|intent| overlap(&intent, &wanted) >= SAME_INTENT)
    };
    ranked(past, profile, same, 0.5, limit)
}

fn ranked(
    past: &[PastSession],
    profile: &str,
    counts: impl Fn(&PastSession) -> bool,
    share: f64,
    limit: usize,
) -> Vec<String> {
    let mut weights: BTreeMap<&str, f64> = BTreeMap::new();
    let (mut weight, mut total) = (1.0, 0.0);
    let own = past.iter().rev().filter(|session| session.profile == profile).take(SESSIONS);
    for session in own.filter(|session| counts(session)) {
        for tool in session.called() {
            *weights.entry(tool).or_default() += weight;
        }
        total += weight;
        weight *= DECAY;
    }
    let mut likely: Vec<(&str, f64)> =
        weights.into_iter().filter(|(_, weight)| *weight >= share * total).collect();
    likely.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(b.0)));
    likely.into_iter().take(limit).map(|(tool, _)| tool.to_owned()).collect()
}

fn words(text: &str) -> BTreeSet<String> {
    let words = text.split(|c: char| !c.is_alphanumeric()).filter(|word| word.len() > 2);
    words.map(str::to_lowercase).collect()
}

fn overlap(a: &BTreeSet<String>, b: &BTreeSet<String>) -> f64 {
    let all = a.union(b).count();
    if all == 0 { 0.0 } else { a.intersection(b).count() as f64 / all as f64 }
}

/// What a session cost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SessionCost {
    /// Searches.
    pub searches: u32,
    /// Tools that it was given.
    pub discovered: u32,
    /// Of these, the ones it called.
    pub used: u32,
    /// Tokens of the responses to searches and of the tools given without one.
    pub tokens: u32,
}

/// What a session cost, and would have cost with preloading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Replayed {
    /// As it was.
    pub actual: SessionCost,
    /// With the tools that the sessions before it make likely.
    pub preloaded: SessionCost,
}

/// Replays sessions, each with what the sessions of its profile before it predict. A search is spared if everything that
/// the session called before its next search is there already.
pub fn replay(sessions: &[PastSession], limit: usize, tokens: impl Fn(&str) -> Option<u32>) -> Vec<Replayed> {
    let cost =
        |tools: &[String]| -> u32 { tools.iter().map(|tool| tokens(tool).unwrap_or(TYPICAL_TOKENS)).sum() };
    let unaided = sessions.iter().enumerate().filter(|(_, session)| !session.preloaded);
    let replayed = unaided.map(|(at, session)| {
        let past = &sessions[..at];
        let called = session.called();
        let mut actual = SessionCost::default();
        let mut given: BTreeSet<String> = BTreeSet::new();
        let first = likely(past, &session.profile, limit);
        let mut preloaded = SessionCost { tokens: cost(&first), ..SessionCost::default() };
        let mut there: BTreeSet<String> = first.into_iter().collect();
        let mut searched = false;
        for (step, index) in session.steps.iter().zip(0..) {
            let PastStep::Searched { query, bound, tokens } = step else { continue };
            actual.searches += 1;
            actual.tokens += tokens;
            given.extend(bound.iter().cloned());
            let until_next = session.steps[index + 1..].iter().map_while(|step| match step {
                PastStep::Called { tool } => Some(tool),
                PastStep::Searched { .. } => None,
            });
            let needed: Vec<&String> = until_next.collect();
            if !needed.is_empty() && needed.iter().all(|tool| there.contains(*tool)) {
                continue;
            }
            preloaded.searches += 1;
            preloaded.tokens += tokens;
            there.extend(bound.iter().cloned());
            if !std::mem::replace(&mut searched, true) {
                let more = likely_for(past, &session.profile, query, limit);
                let more: Vec<String> = more.into_iter().filter(|tool| !there.contains(tool)).collect();
                preloaded.tokens += cost(&more);
                there.extend(more);
            }
        }
        let used = |given: &BTreeSet<String>| {
            given.iter().filter(|tool| called.contains(tool.as_str())).count() as u32
        };
        (actual.discovered, actual.used) = (given.len() as u32, used(&given));
        (preloaded.discovered, preloaded.used) = (there.len() as u32, used(&there));
        Replayed { actual, preloaded }
    });
    replayed.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn session(steps: &[(&str, &[&str])]) -> PastSession {
        let steps = steps.iter().flat_map(|(query, called)| {
            let searched = PastStep::Searched {
                query: (*query).to_owned(),
                bound: called.iter().map(|&tool| tool.to_owned()).chain(["other".to_owned()]).collect(),
                tokens: 500,
            };
            let called = called.iter().map(|&tool| PastStep::Called { tool: tool.to_owned() });
            std::iter::once(searched).chain(called).collect::<Vec<_>>()
        });
        PastSession { profile: "dev".to_owned(), preloaded: false, steps: steps.collect() }
    }

    #[test]
    fn what_latest_sessions_called_is_there_from_the_start() {
        let past = vec![
            session(&[("send a mail", &["mail"])]),
            session(&[("list the issues", &["issues"])]),
            session(&[("list the issues", &["issues", "comments"])]),
        ];
        assert_eq!(likely(&past, "dev", 1), ["issues"]);
        assert_eq!(likely(&past, "dev", 9), ["issues", "comments"]);
        assert!(likely(&past, "other", 9).is_empty());
        assert_eq!(likely_for(&past, "dev", "list all the issues", 9), ["issues", "comments"]);
        assert!(likely_for(&past, "dev", "book a flight", 9).is_empty());
    }

    #[test]
    fn calls_by_a_person_are_no_session() {
        let began = Event::Began { client: "c".to_owned(), protocol: "p".to_owned() };
        let called = || Event::Called { tool: "card".to_owned(), took_ms: 1.0, good: true, tokens: 1 };
        let agent = McpSessionId::new("agent");
        let events = vec![(agent.clone(), began), (McpSessionId::new("hand"), called()), (agent, called())];
        let sessions = past_sessions(events);
        assert_eq!(sessions.len(), 1);
        assert_eq!(sessions[0].steps, [PastStep::Called { tool: "card".to_owned() }]);
    }

    #[test]
    fn a_replay_knows_only_what_came_before() {
        let sessions = vec![session(&[("list the issues", &["issues"])]); 3];
        let replayed = replay(&sessions, 3, |_| Some(100));
        assert_eq!(replayed[0].actual, replayed[0].preloaded);
        assert_eq!(replayed[1].actual, SessionCost { searches: 1, discovered: 2, used: 1, tokens: 500 });
        assert_eq!(replayed[1].preloaded, SessionCost { searches: 0, discovered: 1, used: 1, tokens: 100 });
    }

    #[test]
    fn a_search_that_is_still_needed_costs_as_before() {
        let sessions = vec![
            session(&[("list the issues", &["issues"])]),
            session(&[("list the issues", &["issues"]), ("send a mail", &["mail"])]),
        ];
        let replayed = replay(&sessions, 3, |_| None);
        assert_eq!((replayed[1].actual.searches, replayed[1].preloaded.searches), (2, 1));
        assert_eq!(replayed[1].preloaded.tokens, TYPICAL_TOKENS + 500);
    }
}
