//! A listener on loopback that knows how many of its connections are open.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use anyhow::{Result, bail};
use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// Longest a number is waited for: only so that a test that fails does not hang. A busy machine takes a
/// fraction of it.
const TIMEOUT: Duration = Duration::from_mins(2);

/// A number others wait for.
#[derive(Clone, Debug)]
pub struct Count {
    now: watch::Sender<usize>,
    peak: Arc<AtomicUsize>,
}

impl Default for Count {
    fn default() -> Count {
        Count { now: watch::Sender::new(0), peak: Arc::default() }
    }
}

/// One of those counted, until dropped.
#[derive(Debug)]
pub struct CountGuard(Count);

impl Drop for CountGuard {
    fn drop(&mut self) {
        self.0.now.send_modify(|count| *count -= 1);
    }
}

impl Count {
    /// Counts one more, as long as what it gives lives.
    pub fn increment(&self) -> CountGuard {
        self.now.send_modify(|count| {
            *count += 1;
            self.peak.fetch_max(*count, Ordering::Relaxed);
        });
        CountGuard(self.clone())
    }

    /// How many there are.
    pub fn current(&self) -> usize {
        *self.now.borrow()
    }

    /// How many there were at the same time, at most.
    pub fn peak(&self) -> usize {
        self.peak.load(Ordering::Relaxed)
    }

    /// Waits until there are so many.
    ///
    /// # Errors
    /// When that never is so.
    pub async fn wait_until(&self, condition: impl Fn(usize) -> bool) -> Result<()> {
        let mut watch = self.now.subscribe();
        let waited = tokio::time::timeout(TIMEOUT, watch.wait_for(|count| condition(*count))).await;
        if waited.is_err() {
            bail!("there are still {} after {TIMEOUT:?}", self.current());
        }
        Ok(())
    }
}

/// A free port on loopback.
#[derive(Debug)]
pub struct CountingListener {
    listener: TcpListener,
    open: Count,
}

impl CountingListener {
    /// Binds one; `open` follows its connections.
    ///
    /// # Errors
    /// When there is none.
    pub async fn bind(open: Count) -> Result<(CountingListener, SocketAddr)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        Ok((CountingListener { listener, open }, address))
    }
}

impl Listener for CountingListener {
    type Io = Socket;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Socket, SocketAddr) {
        loop {
            if let Ok((stream, address)) = self.listener.accept().await {
                return (Socket { stream, _open: self.open.increment() }, address);
            }
        }
    }

    fn local_addr(&self) -> io::Result<SocketAddr> {
        self.listener.local_addr()
    }
}

/// A connection that is counted.
#[derive(Debug)]
pub struct Socket {
    stream: TcpStream,
    _open: CountGuard,
}

impl AsyncRead for Socket {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Socket {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(cx, buf)
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
