//! Subscriptions to bundles that are checked for newer versions: a shared file or folder, or a web address.

use std::sync::Arc;

use async_trait::async_trait;
use autokit_api::commands::{
    AddSubscription, CheckSubscriptions, Context, Handle, ListSubscriptions, RemoveSubscription,
};
use autokit_api::{
    ExistingCards, ImportSource, JobKind, JobRef, Landing, Nothing, Setting, Subscription, SubscriptionAdd,
    SubscriptionRef,
};
use autokit_error::{ApiError, ErrorCode, Result, file_problem};
use autokit_toolcard::{Author, Timestamp};
use autokit_workspace::jobs::{Outcome, Progress};
use autokit_workspace::workspace::Workspace;
use jiff::SignedDuration;
use tokio::sync::Mutex;

use crate::import::Imports;
use crate::import::options::ImportOptions;
use crate::sources::Sources;

/// Longest interval between checks: a year.
const MAX_HOURS: u32 = 8_760;

/// Bundles that are checked for newer versions. Clones share state.
#[derive(Clone, Debug)]
pub struct Subscriptions {
    workspace: Workspace,
    imports: Imports,
    sources: Sources,
    /// Serializes checks.
    checking: Arc<Mutex<()>>,
    /// Serializes writes: the list is read and written as a whole.
    writing: Arc<Mutex<()>>,
}

impl Subscriptions {
    /// Manages the subscriptions of this library.
    pub fn new(workspace: Workspace, imports: Imports, sources: Sources) -> Subscriptions {
        Subscriptions { workspace, imports, sources, checking: Arc::default(), writing: Arc::default() }
    }

    async fn list(&self) -> Result<Vec<Subscription>> {
        Ok(self.workspace.load_setting(Setting::Subscriptions).await?.unwrap_or_default())
    }

    /// Changes the list and returns it.
    async fn change(
        &self,
        change: impl FnOnce(&mut Vec<Subscription>) -> Result<()>,
    ) -> Result<Vec<Subscription>> {
        let _writing = self.writing.lock().await;
        let mut all = self.list().await?;
        change(&mut all)?;
        self.workspace.save_setting(Setting::Subscriptions, &all).await?;
        Ok(all)
    }

    fn start_check(&self, only: Option<Vec<String>>) -> JobRef {
        let subscriptions = self.clone();
        self.workspace.jobs.start(
            JobKind::Import,
            "Checking for newer bundles",
            "bundles",
            |progress| async move { subscriptions.check(only, &progress).await },
        )
    }

    /// Starts a check of the subscriptions that are due.
    pub(crate) async fn start_due(&self) -> Result<Option<JobRef>> {
        if self.checking.try_lock().is_err() {
            return Ok(None);
        }
        let now = self.workspace.clock.now();
        let is_due = |one: &&Subscription| {
            let wait = SignedDuration::from_hours(i64::from(one.every_hours));
            let limit = now.checked_sub(wait).ok().map(Timestamp::from);
            one.checked_at.is_none_or(|last| limit.is_some_and(|limit| last <= limit))
        };
        let due: Vec<String> = self.list().await?.iter().filter(is_due).map(|one| one.id.clone()).collect();
        Ok((!due.is_empty()).then(|| self.start_check(Some(due))))
    }

    async fn check(&self, only: Option<Vec<String>>, progress: &Progress) -> Result<Outcome> {
        let _checking = self.checking.lock().await;
        let is_selected = |one: &Subscription| only.as_ref().is_none_or(|only| only.contains(&one.id));
        let selected: Vec<Subscription> = self.list().await?.into_iter().filter(is_selected).collect();
        let (total, mut summaries) = (selected.len() as u64, Vec::new());
        let mut failures = Vec::new();
        for (done, mut one) in selected.into_iter().enumerate() {
            progress.check_cancelled()?;
            progress.set_done(done as u64, total);
            match self.check_one(&mut one, progress).await {
                Ok(update) => {
                    one.failed = None;
                    summaries.extend(update.map(|summary| format!("{}: {summary}", one.name)));
                }
                Err(error) if error.code == ErrorCode::Cancelled => return Err(error),
                Err(error) => {
                    summaries.push(error.message.clone());
                    one.failed = Some(error.sentence());
                    failures.push(error);
                }
            }
            one.checked_at = Some(self.workspace.clock.stamp());
            self.change(|all| {
                // The subscription may have been removed meanwhile.
                if let Some(saved) = all.iter_mut().find(|other| other.id == one.id) {
                    *saved = one;
                }
                Ok(())
            })
            .await?;
        }
        progress.set_done(total, total);
        if failures.len() as u64 == total
            && let Some(first) = failures.into_iter().next()
        {
            return Err(first);
        }
        let summary = if summaries.is_empty() { "Nothing new".to_owned() } else { summaries.join("; ") };
        Ok(Outcome { summary, tally: None })
    }

    /// Checks one subscription; returns a summary if there was something new.
    async fn check_one(&self, one: &mut Subscription, progress: &Progress) -> Result<Option<String>> {
        let by = "Subscription";
        let incoming = self.sources.read_uncached(one.source.clone(), by).await?;
        if one.digest.as_ref() == Some(&incoming.digest) {
            return Ok(None);
        }
        let key = incoming.signature.as_ref().map(|signature| signature.key.to_string());
        if one.key.is_some() && one.key != key {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                format!("`{}` is no longer signed with the same key", one.name),
                "Check with its author. To accept the new key, unsubscribe and subscribe again.",
            ));
        }
        let name = Some(&incoming.about.name).filter(|name| !name.trim().is_empty());
        one.name.clone_from(name.unwrap_or(&incoming.source));
        // Whoever controls the address could publish anything; only a signature proves that it is still the
        // author.
        let unsigned = matches!(one.source, ImportSource::Url(_)) && key.is_none();
        let view = self.sources.keys.signature_view(&incoming).await?;
        if one.landing == Landing::Library && view.trust.is_suspicious() {
            return Err(ApiError::new(
                ErrorCode::Conflict,
                format!("`{}` is not signed like earlier bundles by its author", one.name),
                "Check with its author. To see it in Review first, subscribe again with review.",
            ));
        }
        let options = ImportOptions {
            existing: ExistingCards::Merge,
            landing: if unsigned { Landing::Review } else { one.landing },
            flagged_too: false,
            choices: std::collections::HashMap::new(),
            reason: format!("Newer version of {}", one.name),
            by: Author(by.to_owned()),
            at: self.workspace.clock.stamp(),
        };
        let digest = incoming.digest.clone();
        let outcome = self.imports.run_import(incoming, options, None, progress).await?;
        one.digest = Some(digest);
        one.key = one.key.take().or(key);
        Ok(Some(outcome.summary))
    }
}

#[async_trait]
impl Handle<ListSubscriptions> for Subscriptions {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<Vec<Subscription>> {
        self.list().await
    }
}

#[async_trait]
impl Handle<AddSubscription> for Subscriptions {
    async fn handle(&self, _: &Context, request: SubscriptionAdd) -> Result<Vec<Subscription>> {
        if !(1..=MAX_HOURS).contains(&request.every_hours) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                format!("the interval of {} hours is not between 1 and {MAX_HOURS}", request.every_hours),
                "Choose an interval in hours; 24 checks once a day.",
            ));
        }
        if matches!(request.source, ImportSource::Text(_)) {
            return Err(ApiError::new(
                ErrorCode::BadRequest,
                "you cannot subscribe to pasted text",
                "Enter a file, a folder or a URL.",
            ));
        }
        if let ImportSource::Path(path) = &request.source
            && let Err(error) = std::fs::metadata(path)
        {
            return Err(ApiError::new(
                ErrorCode::UnreadableFile,
                format!("{path}: {}", file_problem(&error)),
                "Enter a file, a folder or a URL.",
            ));
        }
        let one = Subscription {
            id: autokit_workspace::token(6),
            source: request.source,
            every_hours: request.every_hours,
            landing: request.landing,
            name: String::new(),
            checked_at: None,
            digest: None,
            key: None,
            failed: None,
        };
        let id = one.id.clone();
        let all = self.change(|all| {
            if all.iter().any(|other| other.source == one.source) {
                return Err(ApiError::new(
                    ErrorCode::Duplicate,
                    "you are already subscribed to this source",
                    "Unsubscribe first to change the interval.",
                ));
            }
            all.push(one);
            Ok(())
        });
        let all = all.await?;
        self.start_check(Some(vec![id]));
        Ok(all)
    }
}

#[async_trait]
impl Handle<RemoveSubscription> for Subscriptions {
    async fn handle(&self, _: &Context, request: SubscriptionRef) -> Result<Vec<Subscription>> {
        let remove = |all: &mut Vec<Subscription>| {
            let before = all.len();
            all.retain(|one| one.id != request.id);
            if all.len() == before {
                return Err(ApiError::new(
                    ErrorCode::NotFound,
                    format!("subscription {:?} not found", request.id),
                    "Check the list of subscriptions.",
                ));
            }
            Ok(())
        };
        self.change(remove).await
    }
}

#[async_trait]
impl Handle<CheckSubscriptions> for Subscriptions {
    async fn handle(&self, _: &Context, _: Nothing) -> Result<JobRef> {
        Ok(self.start_check(None))
    }
}
