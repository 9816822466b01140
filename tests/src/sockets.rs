//! A listener on loopback that knows how many of its connections are open.

use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use anyhow::{Result, bail};
use axum::serve::Listener;
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;

/// A number others wait for.
#[derive(Clone, Debug)]
pub struct Count(watch::Sender<usize>);

impl Default for Count {
    fn default() -> Count {
        Count(watch::Sender::new(0))
    }
}

/// One of those counted, until dropped.
#[derive(Debug)]
pub struct Counted(Count);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.0.send_modify(|count| *count -= 1);
    }
}

impl Count {
    /// Counts one more, as long as what it gives lives.
    pub fn enter(&self) -> Counted {
        self.0.send_modify(|count| *count += 1);
        Counted(self.clone())
    }

    /// How many there are.
    pub fn now(&self) -> usize {
        *self.0.borrow()
    }

    /// Waits until there are so many.
    ///
    /// # Errors
    /// When that is not so within the time given.
    pub async fn reaches(&self, wanted: impl Fn(usize) -> bool, within: Duration) -> Result<()> {
        let mut watch = self.0.subscribe();
        let waited = tokio::time::timeout(within, watch.wait_for(|count| wanted(*count))).await;
        if waited.is_err() {
            bail!("there are still {} after {within:?}", self.now());
        }
        Ok(())
    }
}

/// A free port on loopback.
#[derive(Debug)]
pub struct Counting {
    listener: TcpListener,
    open: Count,
}

impl Counting {
    /// Binds one; `open` follows its connections.
    ///
    /// # Errors
    /// When there is none.
    pub async fn bind(open: Count) -> Result<(Counting, SocketAddr)> {
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let address = listener.local_addr()?;
        Ok((Counting { listener, open }, address))
    }
}

impl Listener for Counting {
    type Io = Socket;
    type Addr = SocketAddr;

    async fn accept(&mut self) -> (Socket, SocketAddr) {
        loop {
            if let Ok((stream, address)) = self.listener.accept().await {
                return (Socket { stream, _open: self.open.enter() }, address);
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
    _open: Counted,
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
