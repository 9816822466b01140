//! The audit log: what agents called, and who approved it.

use async_trait::async_trait;
use autokit_api::commands::{Context, GetAudit, Handle};
use autokit_api::{AuditEntry, AuditLog, AuditQuery};
use autokit_error::Result;
use autokit_gateway::{Audit, Event, McpSessionId};

use crate::activity_rows::Activity as ActivityRow;
use crate::report::Activity;

fn entry(row: ActivityRow) -> Option<AuditEntry> {
    // Events of other versions are skipped; the report counts them.
    let Ok(Event::Audited(audit)) = serde_json::from_str(&row.event) else { return None };
    let Audit { id, name, provider, profile, client, arguments, needed, decided, outcome, why, took_ms } =
        *audit;
    Some(AuditEntry {
        at: row.at,
        session: McpSessionId::new(row.session),
        client,
        profile,
        tool: id,
        name,
        provider,
        arguments,
        needed,
        decided,
        outcome,
        why,
        took_ms,
    })
}

#[async_trait]
impl Handle<GetAudit> for Activity {
    async fn handle(&self, _: &Context, request: AuditQuery) -> Result<AuditLog> {
        let rows = self.activity_since(request.days).await?;
        let mut entries: Vec<AuditEntry> = rows.into_iter().filter_map(entry).collect();
        let total = entries.len() as u32;
        entries.reverse();
        entries.truncate(request.limit as usize);
        Ok(AuditLog { entries, total })
    }
}
