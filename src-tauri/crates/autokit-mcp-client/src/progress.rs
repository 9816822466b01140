//! What servers say of calls under way, in the order in which they said it.
//!
//! The protocol library hands each notification to a task of its own: on a busy machine the last words of a
//! call come after its result, when nobody listens any more. Here they are taken from the line before it sees
//! them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, ProgressToken, ServerNotification};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;

use super::Progress;

/// Who wants to hear of which call.
#[derive(Clone, Default)]
pub(super) struct Listeners(Arc<Mutex<HashMap<ProgressToken, mpsc::Sender<Progress>>>>);

impl Listeners {
    /// Passes on what is said of a call, for as long as the result is kept.
    pub(super) fn listen(&self, token: ProgressToken, to: mpsc::Sender<Progress>) -> Listening {
        self.lock().insert(token.clone(), to);
        Listening { token, listeners: self.clone() }
    }

    /// Number of calls under way.
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<ProgressToken, mpsc::Sender<Progress>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell(&self, told: Progress) {
        let to = self.lock().get(&told.progress_token).cloned();
        if let Some(to) = to {
            // Nobody may read so fast; the server is not held up for that.
            let _ = to.try_send(told);
        }
    }
}

/// Hears of one call as long as it is kept.
pub(super) struct Listening {
    token: ProgressToken,
    listeners: Listeners,
}

impl Drop for Listening {
    fn drop(&mut self) {
        self.listeners.lock().remove(&self.token);
    }
}

/// A line on which progress is heard as it comes.
pub(super) struct InOrder<T> {
    pub(super) line: T,
    pub(super) listeners: Listeners,
}

impl<T: Transport<RoleClient>> Transport<RoleClient> for InOrder<T> {
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
