//! The health of the library: how many cards are verified, stale, broken and so on.

use async_trait::async_trait;
use autokit_api::commands::{Context, GetHealth, Handle};
use autokit_api::{HealthPoint, LibraryHealth, Nothing};
use autokit_error::Result;
use autokit_library::HealthDay;

use crate::verify::Checking;

/// Days in the trend.
const TREND_DAYS: u32 = 90;

#[async_trait]
impl Handle<GetHealth> for Checking {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<LibraryHealth> {
        let counts = self.workspace.library.health().await?;
        let trend = self.workspace.library.health_trend(TREND_DAYS).await?;
        let point = |HealthDay { day, counts }: HealthDay| HealthPoint {
            day,
            verified: counts.verified,
            stale: counts.stale,
            broken: counts.broken,
            unreachable: counts.unreachable,
            never_checked: counts.never_checked,
        };
        Ok(LibraryHealth {
            total: self.workspace.library.read(autokit_library::Replica::len) as u32,
            verified: counts.verified,
            stale: counts.stale,
            broken: counts.broken,
            unreachable: counts.unreachable,
            changed: counts.changed,
            never_checked: counts.never_checked,
            trend: trend.into_iter().map(point).collect(),
        })
    }
}
