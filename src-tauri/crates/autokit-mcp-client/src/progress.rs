//! Progress of running calls, in the order in which servers report it.
//!
//! The SDK handles each notification in a separate task: on a busy machine, the last progress of a call
//! arrives after its result, when nobody receives it any more. Here it is read in the transport before the
//! SDK sees it.

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, GetExtensions as _, GetMeta as _, JsonRpcMessage, ProgressToken, ServerNotification,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::sync::mpsc;

use super::Progress;

/// The receivers of progress, by running call.
#[derive(Clone, Default)]
pub(super) struct ProgressSubscribers(Arc<Mutex<Subscribers>>);

#[derive(Default)]
struct Subscribers {
    last: u64,
    by_call: HashMap<u64, Subscriber>,
}

struct Subscriber {
    /// The SDK chooses it while it sends the request.
    token: Option<ProgressToken>,
    sender: mpsc::Sender<Progress>,
}

/// The call that a request belongs to, among the extensions of the request.
#[derive(Clone, Copy)]
struct CallId(u64);

impl ProgressSubscribers {
    /// Forwards the progress of a call as long as the returned guard lives. A subscription is made before
    /// its request is sent, because a fast server answers before the sender continues.
    pub(super) fn subscribe(&self, sender: mpsc::Sender<Progress>) -> ProgressSubscription {
        let mut subscribers = self.lock();
        subscribers.last += 1;
        let call = subscribers.last;
        subscribers.by_call.insert(call, Subscriber { token: None, sender });
        ProgressSubscription { call, subscribers: self.clone() }
    }

    /// Returns the number of running calls.
    pub(super) fn len(&self) -> usize {
        self.lock().by_call.len()
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Subscribers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the token of a call from its request, which is about to be sent.
    fn register(&self, request: &ClientRequest) {
        let Some(CallId(call)) = request.extensions().get() else { return };
        // A call that was cancelled meanwhile has no subscriber.
        if let Some(subscriber) = self.lock().by_call.get_mut(call) {
            subscriber.token = request.get_meta().get_progress_token();
        }
    }

    fn forward(&self, progress: &Progress) {
        let subscribers = self.lock();
        let token = Some(&progress.progress_token);
        if let Some(subscriber) = subscribers.by_call.values().find(|one| one.token.as_ref() == token) {
            // A slow receiver misses progress rather than blocking the server.
            let _ = subscriber.sender.try_send(progress.clone());
        }
    }
}

/// Forwards the progress of one call until it is dropped.
pub(super) struct ProgressSubscription {
    call: u64,
    subscribers: ProgressSubscribers,
}

impl ProgressSubscription {
    /// Marks the request of the call, so that the transport knows its token.
    pub(super) fn mark(&self, request: &mut ClientRequest) {
        request.extensions_mut().insert(CallId(self.call));
    }
}

impl Drop for ProgressSubscription {
    fn drop(&mut self) {
        self.subscribers.lock().by_call.remove(&self.call);
    }
}

/// A transport from which progress is read as it arrives.
pub(super) struct OrderedProgress<T> {
    pub(super) transport: T,
    pub(super) subscribers: ProgressSubscribers,
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
        if let JsonRpcMessage::Request(request) = &item {
            self.subscribers.register(&request.request);
        }
        self.transport.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        let message = self.transport.receive().await?;
        if let JsonRpcMessage::Notification(notification) = &message
            && let ServerNotification::ProgressNotification(progress) = &notification.notification
        {
            self.subscribers.forward(&progress.params);
        }
        // Progress is passed on to the SDK too, which restarts the timeout of the call.
        Some(message)
    }

    fn close(&mut self) -> impl Future<Output = Result<(), Self::Error>> + Send {
        self.transport.close()
    }
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use rmcp::model::{CallToolRequest, CallToolRequestParams, ProgressNotificationParam, RequestId};

    use super::*;

    /// A server that reports progress of a request at once.
    #[derive(Default)]
    struct FastServer {
        pending: Option<RxJsonRpcMessage<RoleClient>>,
    }

    impl Transport<RoleClient> for FastServer {
        type Error = Infallible;

        fn send(
            &mut self,
            item: TxJsonRpcMessage<RoleClient>,
        ) -> impl Future<Output = Result<(), Infallible>> + Send + 'static {
            if let JsonRpcMessage::Request(request) = item {
                let token = request.request.get_meta().get_progress_token().expect("the request has a token");
                let progress =
                    rmcp::model::ProgressNotification::new(ProgressNotificationParam::new(token, 1.0));
                let notification = ServerNotification::ProgressNotification(progress);
                self.pending = Some(JsonRpcMessage::notification(notification));
            }
            std::future::ready(Ok(()))
        }

        async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
            self.pending.take()
        }

        async fn close(&mut self) -> Result<(), Infallible> {
            Ok(())
        }
    }

    fn request(token: i64) -> ClientRequest {
        let mut request =
            ClientRequest::CallToolRequest(CallToolRequest::new(CallToolRequestParams::new("step")));
        request.get_meta_mut().set_progress_token(ProgressToken(RequestId::Number(token)));
        request
    }

    #[tokio::test]
    async fn progress_that_arrives_before_send_returns_is_forwarded() {
        let subscribers = ProgressSubscribers::default();
        let mut transport =
            OrderedProgress { transport: FastServer::default(), subscribers: subscribers.clone() };
        let (sender, mut progress) = mpsc::channel(4);
        let call = subscribers.subscribe(sender);
        let mut marked = request(7);
        call.mark(&mut marked);
        transport.send(JsonRpcMessage::request(marked, RequestId::Number(1))).await.expect("nothing fails");
        let received = transport.receive().await;
        assert!(
            matches!(&received, Some(JsonRpcMessage::Notification(_))),
            "the SDK does not learn of the progress and lets the call time out: {received:?}"
        );
        assert_eq!(progress.try_recv().map(|update| update.progress), Ok(1.0));
        drop(call);
        assert_eq!(subscribers.len(), 0);
    }

    #[tokio::test]
    async fn a_call_dropped_before_its_request_is_sent_leaves_no_subscriber() {
        let subscribers = ProgressSubscribers::default();
        let mut transport =
            OrderedProgress { transport: FastServer::default(), subscribers: subscribers.clone() };
        let (sender, mut progress) = mpsc::channel(4);
        let call = subscribers.subscribe(sender);
        let mut marked = request(8);
        call.mark(&mut marked);
        drop(call);
        transport.send(JsonRpcMessage::request(marked, RequestId::Number(2))).await.expect("nothing fails");
        transport.receive().await.expect("the server reports progress");
        assert!(progress.try_recv().is_err());
        assert_eq!(subscribers.len(), 0);
    }
}
