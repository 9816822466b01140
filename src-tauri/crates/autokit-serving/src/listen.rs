//! An HTTP server on a loopback port whose connections cannot be exhausted by clients that only hold them
//! open.
//!
//! Each listener has its own limits. A connection that does not send a complete first request header in
//! time is closed, but not over a request that is arriving: HTTP clients open connections ahead of need and
//! use them whenever they like. One that is idle between two requests is kept longer than clients keep
//! theirs, because a client whose connection closes just as it sends a request cannot know whether the
//! request was executed. When all connections are taken, the one that has been idle longest is evicted for a
//! new one. Connections that never sent a request are evicted first only where they are many: a few are those
//! of clients whose first request is on its way.

use std::collections::VecDeque;
use std::convert::Infallible;
use std::pin::Pin;
use std::sync::{Arc, LazyLock, Mutex};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::Router;
use axum::body::{Body, Bytes, HttpBody};
use axum::extract::Request;
use axum::http::{HeaderMap, header};
use hyper::body::{Frame, Incoming, SizeHint};
use hyper::server::conn::http1;
use hyper::service::{Service as _, service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::{JoinHandle, JoinSet};
use tokio_util::sync::{CancellationToken, DropGuard};

/// Limits of one listener.
#[derive(Clone, Copy, Debug)]
struct ListenLimits {
    /// How long a connection may take for the header of its first request.
    header: Duration,
    /// How long a request that arrived as that time ran out may take to become complete.
    late: Duration,
    /// How long a connection may take for the header of each further request.
    idle: Duration,
    /// Most connections at a time.
    connections: usize,
    /// How long running requests may take after the listener was asked to stop. Without a limit, one client
    /// that stops reading its response would keep the process from ending.
    grace: Duration,
}

impl Default for ListenLimits {
    fn default() -> ListenLimits {
        ListenLimits {
            header: Duration::from_secs(10),
            late: Duration::from_secs(10),
            // The HTTP libraries of agents close idle connections after at most 90 seconds.
            idle: Duration::from_mins(2),
            connections: *CAPACITY,
            grace: Duration::from_secs(5),
        }
    }
}

/// Files this process may open, if the system permits: 1,024 on Linux and 256 on macOS by default. An agent's
/// HTTP library keeps two or three connections, so that a hundred agents would take all of them.
const OPEN_FILES: u64 = 8_192;

/// Most connections of one listener: an eighth of the files this process may open, because the store and the
/// other listeners need files as well, and a connection takes two until its first request.
static CAPACITY: LazyLock<usize> = LazyLock::new(|| {
    let files = raise_open_files().unwrap_or(OPEN_FILES).min(OPEN_FILES);
    usize::try_from(files / 8).unwrap_or(usize::MAX).max(16)
});

/// Raises the limit of open files to [`OPEN_FILES`] and returns the limit that then holds; `None` if there is
/// none.
#[cfg(unix)]
fn raise_open_files() -> Option<u64> {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let target = limit.maximum.map_or(OPEN_FILES, |most| most.min(OPEN_FILES));
    if limit.current.is_some_and(|current| current < target)
        && let Err(error) = setrlimit(Resource::Nofile, Rlimit { current: Some(target), ..limit })
    {
        tracing::warn!(%error, "failed to raise the open file limit");
    }
    getrlimit(Resource::Nofile).current
}

#[cfg(not(unix))]
fn raise_open_files() -> Option<u64> {
    None
}

/// How long to wait after the system could not accept a connection.
const ACCEPT_RETRY_DELAY: Duration = Duration::from_millis(100);

/// The connections of one listener.
#[derive(Debug, Default)]
struct Connections {
    state: Mutex<ConnectionState>,
}

#[derive(Debug, Default)]
struct ConnectionState {
    open: usize,
    next: u64,
    /// Connections that have not sent a request yet, oldest first.
    silent: VecDeque<(u64, CancellationToken)>,
    /// Connections between two requests, the one idle longest first.
    idle: VecDeque<(u64, CancellationToken)>,
}

/// A slot among the connections of a listener; freed on drop.
struct ConnectionSlot {
    connections: Arc<Connections>,
    number: u64,
    /// Cancelled when the connection is evicted.
    evicted: CancellationToken,
}

impl Connections {
    /// Returns a slot for a new connection; `None` if all are taken by active connections.
    fn take(self: &Arc<Self>, most: usize) -> Option<ConnectionSlot> {
        let mut state = self.state.lock().expect("no holder panics");
        if state.open >= most {
            let ConnectionState { silent, idle, .. } = &mut *state;
            let (first, then) = if silent.len() > most / 4 { (silent, idle) } else { (idle, silent) };
            let (_, oldest) = first.pop_front().or_else(|| then.pop_front())?;
            oldest.cancel();
        }
        state.open += 1;
        state.next += 1;
        let (number, evicted) = (state.next, CancellationToken::new());
        state.silent.push_back((number, evicted.clone()));
        Some(ConnectionSlot { connections: Arc::clone(self), number, evicted })
    }

    /// Closes the connections that have not sent a request.
    fn close_silent(&self) {
        let silent = std::mem::take(&mut self.state.lock().expect("no holder panics").silent);
        for (_, evicted) in silent {
            evicted.cancel();
        }
    }

    /// Records that a connection has sent a request.
    fn mark_active(&self, number: u64) {
        let mut state = self.state.lock().expect("no holder panics");
        let ConnectionState { silent, idle, .. } = &mut *state;
        for queue in [silent, idle] {
            queue.retain(|(queued, _)| *queued != number);
        }
    }

    /// Records that a connection waits for its next request.
    fn mark_idle(&self, number: u64, evicted: CancellationToken) {
        self.state.lock().expect("no holder panics").idle.push_back((number, evicted));
    }
}

/// A running request; its connection becomes idle when this is dropped.
struct ActiveRequest {
    connections: Arc<Connections>,
    number: u64,
    evicted: CancellationToken,
}

impl Drop for ActiveRequest {
    fn drop(&mut self) {
        self.connections.mark_idle(self.number, self.evicted.clone());
    }
}

/// The body of a response; its request is running until the body is sent or dropped.
struct ResponseBody {
    body: Body,
    _active: ActiveRequest,
}

impl HttpBody for ResponseBody {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

impl Drop for ConnectionSlot {
    fn drop(&mut self) {
        self.connections.mark_active(self.number);
        self.connections.state.lock().expect("no holder panics").open -= 1;
    }
}

/// A running listener, until it is ended or dropped.
#[derive(Debug)]
pub struct HttpListener {
    stop: DropGuard,
    task: JoinHandle<()>,
}

impl HttpListener {
    /// Serves `app`. Its background tasks have to end when `stop` is cancelled.
    pub fn start(listener: TcpListener, app: Router, stop: CancellationToken) -> HttpListener {
        let task = tokio::spawn(serve(listener, app, stop.clone(), ListenLimits::default()));
        HttpListener { stop: stop.drop_guard(), task }
    }

    /// Stops accepting connections, frees the port and finishes running requests.
    pub async fn shut_down(self) {
        drop(self.stop);
        if let Err(error) = self.task.await {
            tracing::error!(%error, "listener task failed");
        }
    }
}

/// Serves until `stop` is cancelled, then finishes running requests within the grace period of `limits`.
async fn serve(listener: TcpListener, app: Router, stop: CancellationToken, limits: ListenLimits) {
    let connections = Arc::new(Connections::default());
    let mut serving = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            Some(_) = serving.join_next() => continue,
            () = stop.cancelled() => break,
        };
        match accepted {
            Ok((stream, _)) => {
                // Without a slot the connection is closed, which the client notices at once.
                let Some(slot) = connections.take(limits.connections) else { continue };
                serving.spawn(serve_one(stream, app.clone(), slot, stop.clone(), limits));
            }
            Err(error) => {
                tracing::warn!(%error, "failed to accept a connection");
                tokio::time::sleep(ACCEPT_RETRY_DELAY).await;
            }
        }
    }
    // Frees the port while requests are still running.
    drop(listener);
    connections.close_silent();
    let finished = async { while serving.join_next().await.is_some() {} };
    if tokio::time::timeout(limits.grace, finished).await.is_err() {
        tracing::warn!(connections = serving.len(), "grace period expired; aborting requests");
        serving.shutdown().await;
    }
}

async fn serve_one(
    stream: TcpStream,
    app: Router,
    slot: ConnectionSlot,
    stop: CancellationToken,
    limits: ListenLimits,
) {
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "failed to set TCP_NODELAY on a connection");
    }
    let app = TowerToHyperService::new(app);
    let began = CancellationToken::new();
    let service = service_fn(|request: Request<Incoming>| {
        slot.connections.mark_active(slot.number);
        began.cancel();
        let active = ActiveRequest {
            connections: Arc::clone(&slot.connections),
            number: slot.number,
            evicted: slot.evicted.clone(),
        };
        let response = app.call(request);
        async move { Ok::<_, Infallible>(response.await?.map(|body| ResponseBody { body, _active: active })) }
    });
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(limits.idle);
    let mut probe = socket2::SockRef::from(&stream).try_clone().ok();
    let connection = http.serve_connection(TokioIo::new(stream), service).with_upgrades();
    let mut connection = std::pin::pin!(connection);
    let mut first = std::pin::pin!(tokio::time::timeout(limits.header, began.cancelled()));
    let (mut has_request, mut stopping) = (false, false);
    loop {
        tokio::select! {
            biased;
            ended = &mut connection => {
                if let Err(error) = ended {
                    tracing::debug!(%error, "connection closed with an error");
                }
                return;
            }
            () = slot.evicted.cancelled() => return,
            in_time = &mut first, if !has_request => {
                match in_time {
                    Ok(()) => {
                        has_request = true;
                        probe = None;
                    }
                    // The system is asked, because the runtime may not have noticed yet what has arrived.
                    Err(_) if probe.take().is_some_and(|socket| has_unread(&socket)) => {
                        first.set(tokio::time::timeout(limits.late, began.cancelled()));
                    }
                    Err(_) => return,
                }
            }
            () = stop.cancelled(), if !stopping => {
                stopping = true;
                connection.as_mut().graceful_shutdown();
            }
        }
    }
}

/// Returns whether bytes have arrived that nobody has read.
fn has_unread(socket: &socket2::Socket) -> bool {
    socket.peek(&mut [std::mem::MaybeUninit::uninit()]).is_ok_and(|bytes| bytes > 0)
}

/// Returns whether a request names this machine in `Host`. A web page that got here by DNS rebinding names
/// its own host.
pub fn is_local(headers: &HeaderMap) -> bool {
    let host = headers.get(header::HOST).and_then(|value| value.to_str().ok()).unwrap_or("");
    let name = host.rsplit_once(':').map_or(host, |(name, _)| name);
    matches!(name, "127.0.0.1" | "localhost")
}

/// Returns the bearer token of a request (RFC 6750); the scheme's name is case-insensitive.
pub fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// Compares two byte strings in a time that does not depend on where they differ.
pub fn constant_time_eq(a: &[u8], b: &[u8]) -> bool {
    a.len() == b.len() && a.iter().zip(b).fold(0, |difference, (x, y)| difference | (x ^ y)) == 0
}

#[cfg(test)]
mod tests {
    use std::io::ErrorKind;

    use axum::routing::get;
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    async fn start(limits: ListenLimits) -> (std::net::SocketAddr, CancellationToken) {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let (at, stop) = (listener.local_addr().expect("an address"), CancellationToken::new());
        let app = Router::new().route("/", get(|| async { "hello" }));
        tokio::spawn(serve(listener, app, stop.clone(), limits));
        (at, stop)
    }

    async fn get_ok(stream: &mut TcpStream) -> String {
        get_response(stream).await.expect("an answer")
    }

    /// Sends a request and returns the response, unless the connection ends before.
    async fn get_response(stream: &mut TcpStream) -> std::io::Result<String> {
        stream.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await?;
        let mut answer = Vec::new();
        while !answer.ends_with(b"hello") {
            if stream.read_buf(&mut answer).await? == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
        }
        Ok(String::from_utf8(answer).expect("text"))
    }

    /// Waits until the server closes the connection and returns whether it did.
    async fn closed(stream: &mut TcpStream) -> bool {
        let mut rest = Vec::new();
        match stream.read_to_end(&mut rest).await {
            Ok(_) => true,
            Err(error) => error.kind() == ErrorKind::ConnectionReset,
        }
    }

    #[tokio::test]
    async fn idle_connections_are_evicted_for_new_ones() {
        let limits =
            ListenLimits { header: Duration::from_mins(10), connections: 4, ..ListenLimits::default() };
        let (at, stop) = start(limits).await;
        let mut working = TcpStream::connect(at).await.expect("connected");
        get_ok(&mut working).await;
        let mut idle = Vec::new();
        for _ in 0..40 {
            let mut stream = TcpStream::connect(at).await.expect("connected");
            // An incomplete header does not count as a request.
            stream.write_all(b"GET / HTT").await.expect("written");
            idle.push(stream);
        }
        let mut late = TcpStream::connect(at).await.expect("connected");
        assert!(get_ok(&mut late).await.starts_with("HTTP/1.1 200"));
        assert!(get_ok(&mut working).await.starts_with("HTTP/1.1 200"));
        assert!(closed(&mut idle[0]).await);
        stop.cancel();
        for stream in &mut idle {
            assert!(closed(stream).await);
        }
    }

    #[tokio::test]
    async fn connections_idle_after_a_request_are_evicted_too() {
        let limits =
            ListenLimits { header: Duration::from_mins(10), connections: 2, ..ListenLimits::default() };
        let (at, _stop) = start(limits).await;
        let mut first = TcpStream::connect(at).await.expect("connected");
        get_ok(&mut first).await;
        let mut second = TcpStream::connect(at).await.expect("connected");
        get_ok(&mut second).await;
        let mut third = TcpStream::connect(at).await.expect("connected");
        assert!(get_ok(&mut third).await.starts_with("HTTP/1.1 200"));
        assert!(closed(&mut first).await);
        assert!(get_ok(&mut second).await.starts_with("HTTP/1.1 200"));
    }

    #[tokio::test]
    async fn a_connection_with_an_arriving_request_is_not_evicted() {
        let limits =
            ListenLimits { header: Duration::from_mins(10), connections: 8, ..ListenLimits::default() };
        let (at, _stop) = start(limits).await;
        let mut idle = Vec::new();
        for _ in 0..7 {
            let mut stream = TcpStream::connect(at).await.expect("connected");
            get_ok(&mut stream).await;
            idle.push(stream);
        }
        let mut opening = TcpStream::connect(at).await.expect("connected");
        opening.write_all(b"GET / HTTP/1.1\r\n").await.expect("written");
        let mut late = TcpStream::connect(at).await.expect("connected");
        assert!(get_ok(&mut late).await.starts_with("HTTP/1.1 200"));
        assert!(closed(&mut idle[0]).await);
        opening.write_all(b"host: localhost\r\n\r\n").await.expect("written");
        let mut answer = [0; 12];
        opening.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 200");
    }

    #[tokio::test]
    async fn a_request_that_arrives_at_the_timeout_is_answered() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let at = listener.local_addr().expect("an address");
        let app = Router::new().route("/", get(|| async { "hello" }));
        let limits =
            ListenLimits { header: Duration::ZERO, late: Duration::from_mins(10), ..ListenLimits::default() };
        let mut asking = TcpStream::connect(at).await.expect("connected");
        asking.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("written");
        let mut silent = TcpStream::connect(at).await.expect("connected");
        // Both are accepted when their time is over; the runtime does not know yet that a request is there.
        tokio::spawn(serve(listener, app, CancellationToken::new(), limits));
        let mut answer = [0; 12];
        asking.read_exact(&mut answer).await.expect("an answer");
        assert_eq!(&answer, b"HTTP/1.1 200");
        assert!(closed(&mut silent).await);
    }

    #[tokio::test]
    async fn a_connection_without_a_complete_header_is_closed() {
        let mut header = Duration::from_millis(20);
        let limits = ListenLimits::default();
        assert_eq!((limits.header, limits.idle), (Duration::from_secs(10), Duration::from_mins(2)));
        // A connection that has sent a request has more time for the next one. Retried with more time on a
        // busy machine.
        loop {
            let (at, _stop) = start(ListenLimits { header, ..limits }).await;
            let mut asking = TcpStream::connect(at).await.expect("connected");
            if get_response(&mut asking).await.is_err() {
                header *= 4;
                continue;
            }
            let mut half = TcpStream::connect(at).await.expect("connected");
            half.write_all(b"GET / HTTP/1.1\r\nhost: lo").await.expect("written");
            assert!(closed(&mut half).await);
            assert!(get_ok(&mut asking).await.starts_with("HTTP/1.1 200"));
            break;
        }
        // But not forever. The response may be late on a busy machine.
        let (at, _stop) = start(ListenLimits { idle: Duration::from_millis(20), ..limits }).await;
        let mut idle = TcpStream::connect(at).await.expect("connected");
        let _ = get_response(&mut idle).await;
        assert!(closed(&mut idle).await);
    }

    #[tokio::test]
    async fn a_client_that_stops_reading_does_not_block_shutdown() {
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a port");
        let (at, stop) = (listener.local_addr().expect("an address"), CancellationToken::new());
        let endless = || async {
            let more = || async { Some((Ok::<_, std::convert::Infallible>(vec![b'a'; 1 << 16]), ())) };
            axum::body::Body::from_stream(futures_util::stream::unfold((), move |()| more()))
        };
        let app = Router::new().route("/", get(endless));
        let limits = ListenLimits { grace: Duration::from_millis(20), ..ListenLimits::default() };
        let serving = tokio::spawn(serve(listener, app, stop.clone(), limits));
        let mut reader = TcpStream::connect(at).await.expect("connected");
        reader.write_all(b"GET / HTTP/1.1\r\nhost: localhost\r\n\r\n").await.expect("written");
        // The response has begun; the rest of it is never read.
        reader.read_exact(&mut [0]).await.expect("an answer");
        stop.cancel();
        serving.await.expect("an end");
        assert!(closed(&mut reader).await);
    }

    #[test]
    fn tokens_are_read_from_headers() {
        let mut headers = HeaderMap::new();
        assert_eq!(bearer(&headers), None);
        for (value, token) in [("Bearer abc", Some("abc")), ("bearer abc", Some("abc")), ("Basic abc", None)]
        {
            headers.insert(header::AUTHORIZATION, value.parse().expect("a value"));
            assert_eq!(bearer(&headers), token, "{value}");
        }
        assert!(
            constant_time_eq(b"abc", b"abc")
                && !constant_time_eq(b"abc", b"abd")
                && !constant_time_eq(b"abc", b"ab")
        );
    }
}
