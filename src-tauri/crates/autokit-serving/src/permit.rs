//! Decides whether a call may be made: by the rules of the agent's profile, or by a person's approval.

use autokit_api::{ApprovalDecision, ApprovalRequest};
use autokit_bundle::may_be_secret;
use autokit_gateway::{Audit, Call, CallOutcome, DecidedBy, Progress, Refusal};
use autokit_policy::audit::redacted;
use autokit_policy::{Need, Permission};
use serde_json::{Map, Value};

use crate::approvals::{APPROVAL_TIMEOUT, Approvals};
use crate::profiles::no_profile;
use crate::refusal::refused;

/// Most bytes of arguments that a person is asked to read.
const MAX_ARGUMENT_BYTES: usize = 50_000;

/// A call before it is made: which tool, and the permissions it needs.
#[derive(Clone, Debug)]
pub(crate) struct CallRequest {
    /// Id of the tool's card, or of one of AutoKit's own tools.
    pub(crate) id: String,
    pub name: String,
    pub(crate) provider: String,
    /// The permissions the call needs besides the one for the tool itself.
    pub(crate) needs: Vec<Need>,
    /// The arguments for the audit log, with secrets redacted.
    redacted_arguments: Value,
}

impl CallRequest {
    pub(crate) fn new(id: &str, name: &str, provider: &str) -> CallRequest {
        CallRequest {
            id: id.to_owned(),
            name: name.to_owned(),
            provider: provider.to_owned(),
            needs: Vec::new(),
            redacted_arguments: Value::Null,
        }
    }

    pub(crate) fn with(
        mut self,
        needs: Vec<Need>,
        schema: &Map<String, Value>,
        arguments: &Map<String, Value>,
    ) -> CallRequest {
        self.needs = needs;
        self.redacted_arguments = redacted(schema, arguments, &may_be_secret);
        self
    }

    pub(crate) fn all_needs(&self) -> Vec<Need> {
        let (id, name, provider) = (self.id.clone(), self.name.clone(), self.provider.clone());
        std::iter::once(Need::Tool { id, name, provider }).chain(self.needs.iter().cloned()).collect()
    }

    /// Returns the call's entry in the audit log.
    pub(crate) fn audit(&self, call: &Call, decided: DecidedBy) -> Audit {
        Audit {
            id: self.id.clone(),
            name: self.name.clone(),
            provider: self.provider.clone(),
            profile: call.profile.clone(),
            client: call.client.clone(),
            arguments: self.redacted_arguments.clone(),
            needed: self.needs.iter().map(Need::describe).collect(),
            decided,
            outcome: CallOutcome::Cancelled,
            why: String::new(),
            took_ms: 0.0,
        }
    }
}

fn describe(needs: &[Need]) -> String {
    needs.iter().map(Need::describe).collect::<Vec<_>>().join(" and ")
}

/// Ends the refusal of a call that the rules deny: a hint for agents.
pub(crate) const ONLY_THE_USER: &str = "Only the user can change that.";

/// Returns the refusal of a call that the rules deny.
pub(crate) fn not_permitted(needs: &[Need]) -> Refusal {
    rejected(format!("It is not permitted {}. {ONLY_THE_USER}", describe(needs)))
}

fn rejected(message: String) -> Refusal {
    Refusal::Rejected(message)
}

impl Approvals {
    /// Decides on a call, waiting for approval if needed. Returns who decided, and the refusal if there is
    /// one.
    pub(crate) async fn permit(
        &self,
        request: &CallRequest,
        call: &Call,
    ) -> (DecidedBy, Result<(), Refusal>) {
        let Some(policy) = self.profiles.policy(&call.profile) else {
            return (DecidedBy::Rules, Err(refused(&no_profile(&call.profile))));
        };
        let decision = policy.decide(&request.all_needs());
        let because = decision.reasons;
        match decision.permission {
            Permission::Allow => return (DecidedBy::Rules, Ok(())),
            Permission::Deny => return (DecidedBy::Rules, Err(not_permitted(&because))),
            Permission::Ask => {}
        }
        if self.pending.is_granted(&call.session, &because) {
            return (DecidedBy::Person, Ok(()));
        }
        if !self.pending.has_watchers() {
            let message = format!(
                "Approval is needed {}, but AutoKit's window is not open. The user can open it, or allow this in Settings, Permissions.",
                describe(&because)
            );
            return (DecidedBy::Nobody, Err(rejected(message)));
        }
        let what = describe(&because);
        // Whoever decides must see all of it, so nobody is asked to approve what is too long to read.
        let arguments = Value::Object(call.arguments.clone());
        if arguments.to_string().len() > MAX_ARGUMENT_BYTES {
            let message = format!("Approval is needed {what}, but the arguments are too long to review.");
            return (DecidedBy::Nobody, Err(rejected(message)));
        }
        let now = self.workspace.clock.now();
        let pending = self.pending.enqueue(ApprovalRequest {
            id: autokit_workspace::token(8),
            at: now.into(),
            until: (now + APPROVAL_TIMEOUT).into(),
            session: call.session.clone(),
            client: call.client.clone(),
            profile: call.profile.clone(),
            tool: request.id.clone(),
            name: request.name.clone(),
            provider: request.provider.clone(),
            words: because.iter().map(Need::describe).collect(),
            can_always: self.profiles.decided_if_allowed(&call.profile, &because) == Some(Permission::Allow),
            needs: because,
            arguments,
        });
        let Some(mut pending) = pending else {
            let message =
                format!("Approval is needed {what}, but too many calls are already waiting for it.");
            return (DecidedBy::Nobody, Err(rejected(message)));
        };
        let waiting =
            Progress { done: 0.0, total: None, message: Some(format!("Awaiting approval {what}.")) };
        // If the agent is gone, the next statement returns.
        let _ = call.progress.try_send(waiting);
        let reply = tokio::select! {
            reply = pending.answer() => reply,
            () = call.cancel.cancelled() => return (DecidedBy::Nobody, Err(Refusal::Cancelled)),
        };
        match reply {
            Some(ApprovalDecision::Once | ApprovalDecision::Session | ApprovalDecision::Always) => {
                // The rules may have changed meanwhile.
                let decision =
                    self.profiles.policy(&call.profile).map(|policy| policy.decide(&request.all_needs()));
                match decision {
                    Some(decision) if decision.permission != Permission::Deny => (DecidedBy::Person, Ok(())),
                    _ => (DecidedBy::Rules, Err(rejected(format!("It is not permitted {what}.")))),
                }
            }
            Some(ApprovalDecision::No | ApprovalDecision::Never) => {
                (DecidedBy::Person, Err(rejected(format!("The user denied the request {what}."))))
            }
            None => {
                let message = format!("The request {what} was not approved in time.");
                (DecidedBy::Nobody, Err(rejected(message)))
            }
        }
    }
}
