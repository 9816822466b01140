//! The Hugging Face hub, or any server that answers `/{repo}/resolve/{revision}/{file}` like it.

use std::path::Path;

use futures_util::StreamExt;
use reqwest::header::{CONTENT_RANGE, RANGE};
use reqwest::{Client, Response, StatusCode};
use tokio::io::AsyncWriteExt;

use super::{Failure, Waited, folder, part_path, wait};
use crate::error::Error;
use crate::manifest::{ModelFile, ModelSpec};
use crate::progress::{OnPull, PullProgress};
use crate::store::{Network, in_background};

/// Fetches the files one after the other, resuming incomplete downloads of earlier calls.
pub(crate) async fn fetch(
    network: &Network,
    spec: &ModelSpec,
    files: &[ModelFile],
    folder: &Path,
    on_progress: OnPull<'_>,
) -> Result<(), Failure> {
    let client = Client::builder()
        .user_agent(concat!("autokit/", env!("CARGO_PKG_VERSION")))
        .connect_timeout(network.connect_timeout)
        .build()
        .map_err(|e| Failure::next(&network.endpoint, format!("could not create an HTTP client: {e}")))?;
    for file in files {
        let url = format!("{}/{}/resolve/{}/{}", network.endpoint, spec.repo, spec.revision, file.name);
        let download = Download { client: &client, network, url: &url, file, folder, on_progress };
        download.run().await?;
    }
    Ok(())
}

struct Download<'a> {
    client: &'a Client,
    network: &'a Network,
    url: &'a str,
    file: &'a ModelFile,
    folder: &'a Path,
    on_progress: OnPull<'a>,
}

impl Download<'_> {
    async fn run(&self) -> Result<(), Failure> {
        let part = part_path(self.folder, self.file);
        let had = std::fs::metadata(&part).map_or(0, |m| m.len());
        match self.attempt(&part, had).await {
            // The data may have been appended to a bad start, so try once more from the beginning.
            Err(Failure::TryNext { error: Some(error), .. }) if had > 0 => {
                tracing::warn!(%error, "resumed download failed; restarting from the beginning");
                self.attempt(&part, 0).await
            }
            result => result,
        }
    }

    async fn attempt(&self, part: &Path, had: u64) -> Result<(), Failure> {
        // A complete part file (the process ended before renaming it) needs no request.
        if had != self.file.size {
            self.download(part, had).await?;
        }
        let sum = in_background({
            let part = part.to_path_buf();
            move || folder::sha256(&part)
        })
        .await?;
        if let Err(mismatch) = folder::compare(self.file, Path::new(self.url), &sum) {
            // The part file is ours and useless: the source sent something else than the manifest specifies.
            std::fs::remove_file(part).map_err(Error::io("removing", part))?;
            return Err(Failure::mismatch(self.url, mismatch));
        }
        let whole = self.folder.join(&self.file.name);
        std::fs::rename(part, &whole).map_err(Error::io("creating", &whole))?;
        Ok(())
    }

    /// Downloads the rest of `part`, which has `had` bytes.
    async fn download(&self, part: &Path, had: u64) -> Result<(), Failure> {
        let had = if had > self.file.size { 0 } else { had };
        let mut response = self.request(had).await?;
        if had > 0 && response.status() == StatusCode::RANGE_NOT_SATISFIABLE {
            response = self.request(0).await?;
        }
        let mut done = match response.status() {
            StatusCode::PARTIAL_CONTENT if starts_at(&response, had) => had,
            StatusCode::OK => 0,
            status => return Err(Failure::next(self.url, format!("it returned {status}"))),
        };
        let mut out = tokio::fs::OpenOptions::new()
            .create(true)
            .write(true)
            .truncate(done == 0)
            .append(done > 0)
            .open(part)
            .await
            .map_err(Error::io("creating", part))?;
        let mut body = response.bytes_stream();
        loop {
            let progress = self.progress(done);
            if (self.on_progress)(progress.clone()).is_break() {
                // Written data must be on disk before it counts for resuming.
                out.flush().await.map_err(Error::io("writing", part))?;
                return Err(Failure::Stop(Error::Cancelled));
            }
            let next = wait(body.next(), self.network.stall_timeout, &progress, self.on_progress).await;
            let bytes = match next {
                Waited::Done(None) => break,
                Waited::Done(Some(Ok(bytes))) => bytes,
                Waited::Done(Some(Err(e))) => {
                    out.flush().await.map_err(Error::io("writing", part))?;
                    return Err(Failure::next(
                        self.url,
                        format!("the download failed after {done} bytes: {}", deepest(&e)),
                    ));
                }
                Waited::Stalled => {
                    out.flush().await.map_err(Error::io("writing", part))?;
                    let s = self.network.stall_timeout.as_secs_f32();
                    return Err(Failure::next(self.url, format!("no data for {s} s after {done} bytes")));
                }
                Waited::Cancelled => {
                    out.flush().await.map_err(Error::io("writing", part))?;
                    return Err(Failure::Stop(Error::Cancelled));
                }
            };
            done += bytes.len() as u64;
            if done > self.file.size {
                return Err(Failure::next(
                    self.url,
                    format!("it sent more than the expected {} bytes", self.file.size),
                ));
            }
            out.write_all(&bytes).await.map_err(Error::io("writing", part))?;
        }
        out.flush().await.map_err(Error::io("writing", part))?;
        out.sync_all().await.map_err(Error::io("writing", part))?;
        if done < self.file.size {
            return Err(Failure::next(
                self.url,
                format!("the download ended after {done} of {} bytes", self.file.size),
            ));
        }
        Ok(())
    }

    async fn request(&self, from: u64) -> Result<Response, Failure> {
        let mut request = self.client.get(self.url);
        if from > 0 {
            request = request.header(RANGE, format!("bytes={from}-"));
        }
        match wait(request.send(), self.network.stall_timeout, &self.progress(from), self.on_progress).await {
            Waited::Done(Ok(response)) => Ok(response),
            Waited::Done(Err(e)) if e.is_connect() && e.is_timeout() => Err(Failure::next(
                self.url,
                format!("no connection within {} s", self.network.connect_timeout.as_secs_f32()),
            )),
            Waited::Done(Err(e)) => Err(Failure::next(self.url, deepest(&e))),
            Waited::Stalled => Err(Failure::next(
                self.url,
                format!("no response within {} s", self.network.stall_timeout.as_secs_f32()),
            )),
            Waited::Cancelled => Err(Failure::Stop(Error::Cancelled)),
        }
    }

    fn progress(&self, done: u64) -> PullProgress {
        PullProgress { file: self.file.name.clone(), done_bytes: done, total_bytes: self.file.size }
    }
}

/// Whether a partial response starts at byte `from`.
fn starts_at(response: &Response, from: u64) -> bool {
    response
        .headers()
        .get(CONTENT_RANGE)
        .and_then(|v| v.to_str().ok())
        .and_then(|v| v.strip_prefix("bytes "))
        .and_then(|v| v.split('-').next())
        .is_some_and(|start| start.parse() == Ok(from))
}

/// Returns the innermost reason of an error, because reqwest's own text only says that sending failed.
fn deepest(error: &reqwest::Error) -> String {
    let mut inner: &dyn std::error::Error = error;
    while let Some(next) = inner.source() {
        inner = next;
    }
    inner.to_string()
}
