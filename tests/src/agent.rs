//! Asking the agent in a test: services chosen, questions asked and waited for.

use std::time::Duration;

use anyhow::{Context, Result, bail, ensure};
use autokit_agent::ask::AgentAnswer;
use autokit_api::commands::{GiveFeedback, ListJobs, SetProviders, StartAsk, WaitJob, WaitSession};
use autokit_api::{
    AgentQuestion, FeedbackRequest, Job, JobId, JobState, JobWait, LlmKind, LlmSettings, NetworkSettings,
    Nothing, ProviderSettings, SearchKind, SearchSettings, Session, SessionWait, Turn, TurnState,
};
use autokit_app::node::Node;
use autokit_app::secrets::KeyStorage;
use autokit_toolcard::SessionId;

use crate::model::ScriptedModel;
use crate::site::Site;

/// Longest time a test waits for an answer: only so that a test that fails does not hang. Far beyond what one
/// takes, also on a busy machine.
const TIMEOUT: Duration = Duration::from_mins(5);

/// Settings with this model and this site, or without.
pub fn provider_settings(model: Option<&ScriptedModel>, site: Option<&Site>) -> ProviderSettings {
    ProviderSettings {
        llm: model.map_or_else(LlmSettings::default, |model| LlmSettings {
            kind: LlmKind::Openai,
            base: model.base.clone(),
            large: "large-1".to_owned(),
            small: "small-1".to_owned(),
            ..LlmSettings::default()
        }),
        search: site.map_or_else(SearchSettings::default, |site| SearchSettings {
            kind: SearchKind::Searxng,
            base: site.base.clone(),
            ..SearchSettings::default()
        }),
        network: NetworkSettings { allowed_hosts: site.map(Site::host).into_iter().collect(), proxy: None },
        keep: KeyStorage::Memory,
        ..ProviderSettings::default()
    }
}

/// Chooses them.
///
/// # Errors
/// When they are refused.
pub async fn set_providers(node: &Node, model: Option<&ScriptedModel>, site: Option<&Site>) -> Result<()> {
    let providers = node.call::<SetProviders>(provider_settings(model, site)).await?;
    if let Some(missing) = providers.missing.first() {
        bail!("{missing}");
    }
    Ok(())
}

/// Starts a question in a new session.
///
/// # Errors
/// When it is refused.
pub async fn start(node: &Node, question: &str) -> Result<SessionId> {
    let request = AgentQuestion { question: question.to_owned(), session: None, limit: None };
    Ok(node.call::<StartAsk>(request).await?.session)
}

/// Waits until a session is at rest.
///
/// # Errors
/// When it does not come to rest.
pub async fn wait_for_session(node: &Node, session: &SessionId) -> Result<Session> {
    let wait = async {
        let mut after = 0;
        loop {
            let request = SessionWait { session: session.clone(), after };
            let state = node.call::<WaitSession>(request).await?;
            if state.turns.last().is_some_and(|turn| turn.state != TurnState::Running) {
                return Ok(state);
            }
            after = state.version;
        }
    };
    tokio::time::timeout(TIMEOUT, wait).await.context("the session did not come to rest")?
}

/// Asks and waits for the answer.
///
/// # Errors
/// When there is none.
pub async fn ask(node: &Node, question: &str) -> Result<Session> {
    let session = start(node, question).await?;
    wait_for_session(node, &session).await
}

/// Judges the last answer; after a no, waits for the next one.
///
/// # Errors
/// When there is nothing to judge.
pub async fn give_feedback(
    node: &Node,
    session: &SessionId,
    helpful: bool,
    comment: &str,
) -> Result<Session> {
    let request = FeedbackRequest { session: session.clone(), helpful, said: comment.to_owned() };
    node.call::<GiveFeedback>(request).await?;
    wait_for_session(node, session).await
}

/// The last turn.
///
/// # Errors
/// When there is none.
pub fn last_turn(session: &Session) -> Result<&Turn> {
    session.turns.last().context("a turn")
}

/// The last answer.
///
/// # Errors
/// When there is none, with what came instead.
pub fn answer_of(session: &Session) -> Result<&AgentAnswer> {
    let turn = last_turn(session)?;
    turn.answer.as_ref().with_context(|| format!("{:?}: {:?}", turn.state, turn.error))
}

/// Waits until a job has ended, however it ends.
///
/// # Errors
/// When it does not end.
pub async fn job_end(node: &Node, job: &JobId) -> Result<Job> {
    let wait = async {
        let mut after = 0;
        loop {
            let state = node.call::<WaitJob>(JobWait { job: job.clone(), after }).await?;
            if state.state != JobState::Running {
                return Ok(state);
            }
            after = state.version;
        }
    };
    tokio::time::timeout(TIMEOUT, wait).await.context("the job did not end")?
}

/// Waits until a job has ended.
///
/// # Errors
/// When it does not end well.
pub async fn wait_for_job(node: &Node, job: &JobId) -> Result<Job> {
    let ended = job_end(node, job).await?;
    ensure!(ended.state == JobState::Done, "the job is {:?}: {ended:?}", ended.state);
    Ok(ended)
}

/// Waits until no job is under way.
///
/// # Errors
/// When one does not end well.
pub async fn wait_for_jobs(node: &Node) -> Result<()> {
    for job in node.call::<ListJobs>(Nothing {}).await? {
        wait_for_job(node, &job.id).await?;
    }
    Ok(())
}
