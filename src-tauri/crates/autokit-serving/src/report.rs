//! The report of agents' activity: what they did, counted, so that a person can see what AutoKit is good
//! for.

use std::collections::{BTreeMap, BTreeSet};

use async_trait::async_trait;
use autokit_api::commands::{Context, GetActivity, Handle};
use autokit_api::{
    ActivityQuery, ActivityReport, Latency, PreloadingReplay, ReplayedMeasure, TierLatency, ToolUse,
};
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::preload::{Replayed, SessionCost, replay};
use autokit_gateway::{Definition, Event, EvictionReason, Gateway, McpSessionId, Tier};
use autokit_metrics::measures::bootstrap;
use autokit_toolcard::CardId;
use autokit_toolcard::Timestamp;
use autokit_workspace::workspace::Workspace;
use jiff::SignedDuration;

use crate::activity_rows::{Activity as ActivityRow, activity_since};
use crate::builtin;
use crate::days::{Day, each_day};
use crate::journal::Journal;
use crate::journal::RETENTION_DAYS;
use crate::past::sessions_of;
use crate::tools::CallableTools;

/// Fewest sessions that are replayed.
const MIN_REPLAYED: usize = 10;
/// Tools preloaded in a replay.
const PRELOADED: usize = 3;
/// Resamples and seed of the intervals of a replay.
const RESAMPLES: usize = 2000;
const SEED: u64 = 7;
/// Most tools that are listed; the rest are only counted.
const MAX_TOOLS: usize = 50;

/// Strips the version from a client's name, which is the last word.
fn program(client: &str) -> &str {
    client.rsplit_once(' ').map_or(client, |(name, _)| name)
}

/// Returns the median and the 95th percentile, by nearest rank.
pub(crate) fn latency(mut times: Vec<f64>) -> Latency {
    times.sort_by(f64::total_cmp);
    let at = |share: f64| {
        let rank = (share * times.len() as f64).ceil() as usize;
        times.get(rank.saturating_sub(1)).copied().unwrap_or_default()
    };
    Latency { p50_ms: at(0.5), p95_ms: at(0.95) }
}

#[derive(Default)]
struct SessionCount {
    bound: BTreeSet<String>,
    called: BTreeSet<String>,
    tokens: u64,
}

#[derive(Default)]
struct Calls {
    count: u32,
    failed: u32,
    times: Vec<f64>,
}

#[derive(Default)]
struct Counter {
    report: ActivityReport,
    sessions: BTreeMap<McpSessionId, SessionCount>,
    tools: BTreeMap<String, Calls>,
    tiers: BTreeMap<Tier, Vec<f64>>,
    searches: Vec<f64>,
    days: BTreeMap<String, Day>,
}

impl Counter {
    fn count(&mut self, at: Timestamp, session: &McpSessionId, event: Event) {
        self.days.entry(at.date()).or_default().count(session, &event);
        let report = &mut self.report;
        let counts = self.sessions.entry(session.clone()).or_default();
        match event {
            Event::Began { client, .. } => {
                report.sessions += 1;
                *report.clients.entry(program(&client).to_owned()).or_default() += 1;
            }
            Event::Searched { found, bound, took_ms, tiers, tokens, repeated, .. } => {
                report.searches += 1;
                report.empty_searches += u32::from(found.is_empty());
                report.repeated_searches += u32::from(repeated);
                report.bound += bound.len() as u32;
                counts.tokens += u64::from(tokens);
                counts.bound.extend(bound);
                self.searches.push(took_ms);
                for (tier, took) in tiers {
                    self.tiers.entry(tier).or_default().push(took);
                }
            }
            Event::Called { tool, took_ms, good, tokens } => {
                report.calls += 1;
                report.failed_calls += u32::from(!good);
                report.result_tokens += u64::from(tokens);
                let calls = self.tools.entry(tool.clone()).or_default();
                calls.count += 1;
                calls.failed += u32::from(!good);
                calls.times.push(took_ms);
                counts.called.insert(tool);
            }
            Event::Gone { why, .. } => match why {
                EvictionReason::Loop => report.loops += 1,
                EvictionReason::Idle | EvictionReason::LeastRecent | EvictionReason::Budget => {
                    report.evicted += 1;
                }
                EvictionReason::Revoked => {}
            },
            Event::Preloaded { tools } => {
                report.bound += tools.len() as u32;
                counts.bound.extend(tools);
            }
            // Counted by the `Called` event of the same call.
            Event::Audited(_) => {}
        }
    }
}

/// The activity of agents, as shown to people.
#[derive(Clone, Debug)]
pub struct Activity {
    pub(crate) workspace: Workspace,
    journal: Journal,
    tools: CallableTools,
    pub(crate) gateway: Gateway,
}

impl Activity {
    /// Reads the journal of this library.
    pub fn new(workspace: Workspace, journal: Journal, tools: CallableTools, gateway: Gateway) -> Activity {
        Activity { workspace, journal, tools, gateway }
    }

    /// Returns what agents did in the last days, oldest first.
    pub(crate) async fn activity_since(&self, days: u32) -> Result<Vec<ActivityRow>> {
        if !(1..=RETENTION_DAYS as u32).contains(&days) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("a period of {days} days is not between 1 and {RETENTION_DAYS}"),
                "Activity is kept for three months.",
            ));
        }
        // Written first, so that the latest events are included.
        self.journal.write().await?;
        let now = self.workspace.clock.now();
        let length = SignedDuration::from_hours(i64::from(days) * 24);
        let since = now.checked_sub(length).map_err(|error| ApiError::internal(error.to_string()))?;
        Ok(activity_since(&self.workspace.library, since.into()).await?)
    }
}

#[async_trait]
impl Handle<GetActivity> for Activity {
    async fn handle(&self, _: &Context, request: ActivityQuery) -> Result<ActivityReport> {
        let rows = self.activity_since(request.days).await?;
        let costs = self.callable_tokens().await;
        let preloading = preloading(&rows, &costs);
        let mut counter = Counter::default();
        for row in rows {
            match serde_json::from_str::<Event>(&row.event) {
                Ok(event) => counter.count(row.at, &McpSessionId::new(row.session), event),
                // An event of a newer or older version.
                Err(error) => {
                    tracing::debug!(%error, "unknown agent event");
                    counter.report.unknown += 1;
                }
            }
        }
        let Counter { mut report, sessions, tools, tiers, searches, days } = counter;
        report.days_list = each_day(self.workspace.clock.stamp(), request.days, days);
        report.days = request.days;
        report.search = latency(searches);
        report.tiers = tiers
            .into_iter()
            .map(|(tier, times)| TierLatency {
                tier: serde_json::to_value(tier)
                    .ok()
                    .and_then(|tier| tier.as_str().map(str::to_owned))
                    .unwrap_or_default(),
                searches: times.len() as u32,
                latency: latency(times),
            })
            .collect();
        let discovered: usize = sessions.values().map(|session| session.bound.len()).sum();
        let used: usize =
            sessions.values().map(|session| session.bound.intersection(&session.called).count()).sum();
        report.accuracy = (discovered > 0).then(|| used as f64 / discovered as f64);
        let mut used: Vec<ToolUse> = tools
            .into_iter()
            .map(|(tool, calls)| ToolUse {
                name: match builtin::by_id(&tool) {
                    Some(builtin) => builtin.name.clone(),
                    None => self.workspace.library.read(|replica| {
                        replica
                            .get(&CardId::new(&tool))
                            .map_or_else(|| tool.clone(), |record| record.key.to_string())
                    }),
                },
                tool,
                calls: calls.count,
                failed: calls.failed,
                latency: latency(calls.times),
            })
            .collect();
        used.sort_by(|a, b| b.calls.cmp(&a.calls).then_with(|| a.name.cmp(&b.name)));
        report.other_tools = used.len().saturating_sub(MAX_TOOLS) as u32;
        used.truncate(MAX_TOOLS);
        report.tools = used;
        let mut session_tokens: Vec<u64> =
            sessions.values().filter(|session| session.tokens > 0).map(|session| session.tokens).collect();
        session_tokens.sort_unstable();
        report.search_tokens = session_tokens.get(session_tokens.len() / 2).copied().unwrap_or_default();
        report.own_tokens = self.own_tokens();
        report.static_tokens = total(&costs);
        report.preloading = preloading;
        Ok(report)
    }
}

/// Returns the tokens that a tool costs in a list.
fn tokens(tool: &Definition) -> u32 {
    autokit_gateway::tokens::of_tool(&tool.name, &tool.description, &tool.schema)
}

fn total(costs: &BTreeMap<String, u32>) -> u64 {
    costs.values().map(|cost| u64::from(*cost)).sum()
}

/// Replays past sessions with the tools that the sessions before them predict.
fn preloading(rows: &[ActivityRow], costs: &BTreeMap<String, u32>) -> Option<PreloadingReplay> {
    let sessions = sessions_of(rows);
    let replayed = replay(&sessions, PRELOADED, |tool| {
        costs.get(tool).copied().or_else(|| builtin::by_id(tool).map(tokens))
    });
    if replayed.len() < MIN_REPLAYED {
        return None;
    }
    let count = replayed.len() as f64;
    let mean = |of: &dyn Fn(&Replayed) -> f64| replayed.iter().map(of).sum::<f64>() / count;
    let share = |used: u32, discovered: u32| {
        if discovered == 0 { 0.0 } else { f64::from(used) / f64::from(discovered) }
    };
    let difference = |of: &dyn Fn(&SessionCost) -> f64| {
        let differences: Vec<f64> = replayed.iter().map(|one| of(&one.preloaded) - of(&one.actual)).collect();
        let interval = bootstrap(&differences, RESAMPLES, SEED);
        ReplayedMeasure {
            actual: mean(&|one| of(&one.actual)),
            preloaded: mean(&|one| of(&one.preloaded)),
            low: interval.low,
            high: interval.high,
        }
    };
    let searches = difference(&|cost| f64::from(cost.searches));
    let tokens = difference(&|cost| f64::from(cost.tokens));
    Some(PreloadingReplay {
        sessions: replayed.len() as u32,
        tools: PRELOADED as u32,
        searches,
        used: difference(&|cost| share(cost.used, cost.discovered)),
        tokens,
        helps: searches.high < 0.0 && tokens.low <= 0.0,
    })
}

pub(crate) fn own_tokens(tools: &[rmcp::model::Tool]) -> u64 {
    let cost = |tool: &rmcp::model::Tool| {
        let description = tool.description.as_deref().unwrap_or_default();
        u64::from(autokit_gateway::tokens::of_tool(&tool.name, description, &tool.input_schema))
    };
    tools.iter().map(cost).sum()
}

impl Activity {
    /// Returns the tokens of the tools every session has.
    pub fn own_tokens(&self) -> u64 {
        own_tokens(&self.gateway.own_tools(""))
    }

    /// Returns the tokens it would take to list every callable tool, as without a search.
    pub async fn static_tokens(&self) -> u64 {
        total(&self.callable_tokens().await)
    }

    /// Returns the tokens of every callable tool, by the id of its card.
    async fn callable_tokens(&self) -> BTreeMap<String, u32> {
        let mut costs = BTreeMap::new();
        for record in self.tools.cards() {
            if let Some(tool) = self.tools.definition(&record).await {
                costs.insert(tool.id.clone(), tokens(&tool));
            }
        }
        costs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn latencies_use_the_nearest_rank() {
        let times: Vec<f64> = (1..=100).rev().map(f64::from).collect();
        let (all, one, none) = (latency(times), latency(vec![7.0]), latency(Vec::new()));
        assert_eq!((all.p50_ms as u32, all.p95_ms as u32), (50, 95));
        assert_eq!((one.p50_ms as u32, one.p95_ms as u32), (7, 7));
        assert_eq!((none.p50_ms as u32, none.p95_ms as u32), (0, 0));
    }

    #[test]
    fn accuracy_counts_what_one_session_found_and_called() {
        let mut counter = Counter::default();
        let [a, b] = ["a", "b"].map(McpSessionId::new);
        let searched = |bound: &[&str]| Event::Searched {
            query: String::new(),
            found: bound.iter().map(|id| (*id).to_owned()).collect(),
            bound: bound.iter().map(|id| (*id).to_owned()).collect(),
            took_ms: 1.0,
            tiers: vec![(Tier::Library, 1.0)],
            tokens: 10,
            repeated: false,
        };
        let called =
            |tool: &str| Event::Called { tool: tool.to_owned(), took_ms: 2.0, good: true, tokens: 3 };
        let [morning, night] = ["2026-03-09T10:00:00.000Z", "2026-03-09T23:59:59.000Z"]
            .map(|at| at.parse().expect("a timestamp"));
        counter.count(morning, &a, searched(&["1", "2"]));
        counter.count(morning, &a, called("1"));
        counter.count(morning, &a, called("1"));
        // Found by another session than the one that called it.
        counter.count(morning, &a, called("3"));
        counter.count(night, &b, searched(&["3"]));
        counter.count(night, &b, Event::Gone { tool: "3".to_owned(), why: EvictionReason::Loop });
        let a = &counter.sessions[&a];
        assert_eq!(a.bound.intersection(&a.called).count(), 1);
        assert_eq!((counter.report.calls, counter.report.loops, counter.report.bound), (3, 1, 3));
        let now = "2026-03-10T12:00:00.000Z".parse().expect("a timestamp");
        let days = each_day(now, 2, counter.days);
        assert_eq!(
            days.iter().map(|day| day.day.as_str()).collect::<Vec<_>>(),
            ["2026-03-08", "2026-03-09", "2026-03-10"]
        );
        assert_eq!((days[0].searches, days[0].accuracy), (0, None));
        assert_eq!((days[1].searches, days[1].calls, days[1].loops), (2, 3, 1));
        assert!(days[1].accuracy.is_some_and(|share| (share - 1.0 / 3.0).abs() < 1e-9));
        assert_eq!(days[2].calls, 0);
    }

    #[test]
    fn programs_are_counted_without_their_version() {
        assert_eq!(
            ["Cursor 1.2", "test agent 1.0", "bare", "", "named "].map(program),
            ["Cursor", "test agent", "bare", "", "named"]
        );
    }
}
