//! Progress of running calls, in the order in which servers report it.
//!
//! The SDK handles each notification in a separate task: on a busy machine, the last progress of a call
//! arrives after its result, when nobody listens any more. Here it is taken from the transport before the
//! SDK sees it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, ProgressToken, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;

use super::Progress;

/// The receivers of progress, by call.
#[derive(Clone, Default)]
pub(super) struct ProgressSubscribers(Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<Progress>>>>);

impl ProgressSubscribers {
    /// Forwards the progress of a call as long as the returned guard lives.
    pub(super) fn listen(&self, token: ProgressToken, to: mpsc::Sender<Progress>) -> ProgressSubscription {
        self.lock().insert(token.clone(), to);
        ProgressSubscription { token, listeners: self.clone() }
    }

    /// Returns the number of running calls.
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, mpsc::Sender<Progress>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, told: Progress) {
        let to = self.lock().get(&told.progress_token).cloned();
        if let Some(to) = to {
            // A slow receiver misses progress rather than blocking the server.
            let _ = to.try_send(told);
        }
    }
}

/// Forwards the progress of one call until it is dropped.
pub(super) struct ProgressSubscription {
    token: ProgressToken,
    listeners: ProgressSubscribers,
}

impl Drop for ProgressSubscription {
    fn drop(&mut self) {
        self.listeners.lock().remove(&self.token);
    }
}

/// A transport from which progress is taken as it arrives.
pub(super) struct OrderedProgress<T> {
    pub(super) line: T,
    pub(super) listeners: ProgressSubscribers,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for OrderedProgress<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.line.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.line.receive().await?;
            let JsonRpcMessage::Notification(said) = message else { return Some(message) };
            let ServerNotification::ProgressNotification(progress) = said.notification else {
                return Some(JsonRpcMessage::Notification(said));
            };
            self.listeners.tell(progress.params);
        }
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.line.close()
    }
}
