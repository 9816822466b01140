//! Activity of agents per day.

use std::collections::{BTreeMap, BTreeSet};

use autokit_api::ActivityDay;
use autokit_gateway::{Event, EvictionReason, McpSessionId};
use autokit_toolcard::Timestamp;
use jiff::SignedDuration;

use crate::report::latency;

/// The counters of one day.
#[derive(Default)]
pub(crate) struct Day {
    counted: ActivityDay,
    searches: Vec<f64>,
    /// The tools each session found, and those it called.
    bound: BTreeSet<(McpSessionId, String)>,
    called: BTreeSet<(McpSessionId, String)>,
}

impl Day {
    pub(crate) fn count(&mut self, session: &McpSessionId, event: &Event) {
        let day = &mut self.counted;
        let key = |tool: &String| (session.clone(), tool.clone());
        match event {
            Event::Searched { bound, took_ms, .. } => {
                day.searches += 1;
                self.searches.push(*took_ms);
                self.bound.extend(bound.iter().map(key));
            }
            Event::Called { tool, good, .. } => {
                day.calls += 1;
                day.failed_calls += u32::from(!good);
                self.called.insert(key(tool));
            }
            Event::Gone { why: EvictionReason::Loop, .. } => day.loops += 1,
            Event::Began { .. } | Event::Preloaded { .. } | Event::Gone { .. } | Event::Audited(_) => {}
        }
    }

    fn finish(self, day: String) -> ActivityDay {
        let (found, used) = (self.bound.len(), self.bound.intersection(&self.called).count());
        ActivityDay {
            day,
            search: latency(self.searches),
            accuracy: (found > 0).then(|| used as f64 / found as f64),
            ..self.counted
        }
    }
}

/// Returns the days from `days` ago until today, including those without activity.
pub(crate) fn each_day(now: Timestamp, days: u32, mut counted: BTreeMap<String, Day>) -> Vec<ActivityDay> {
    let now = now.instant();
    (0..=days)
        .rev()
        .filter_map(|back| now.checked_sub(SignedDuration::from_hours(i64::from(back) * 24)).ok())
        .map(|at| Timestamp::from(at).date())
        .map(|day| counted.remove(&day).unwrap_or_default().finish(day))
        .collect()
}
