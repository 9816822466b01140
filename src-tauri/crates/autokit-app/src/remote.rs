//! Client of the process that owns the store.

use std::time::Duration;

use autokit_api::Event;
use autokit_api::commands::PROTOCOL;
use autokit_error::{ApiError, ErrorCode, Result};
use autokit_gateway::transport::BoxedStream;
use futures_util::StreamExt;
use serde_json::Value;
use tokio::sync::broadcast;

use crate::host::{
    AUTHOR_HEADER, CONNECTION_HEADER, Endpoint, Hello, MCP_PROTOCOL, MCP_STREAM_PATH, PROFILE_HEADER,
    PROTOCOL_HEADER, REQUEST_HEADER, version_mismatch,
};

/// A connection to an owner.
#[derive(Clone, Debug)]
pub(crate) struct Remote {
    endpoint: Endpoint,
    client: reqwest::Client,
}

/// Why a call failed.
pub(crate) enum CallError {
    /// The owner responded with an error.
    Answered(ApiError),
    /// The owner is gone and did not execute the call: repeat it at the next one.
    Lost(String),
    /// The owner disconnected in the middle; it is unknown whether the call was executed.
    Unanswered(String),
}

impl Remote {
    /// Connects to the owner at `endpoint` and checks its protocol version.
    pub(crate) async fn connect(endpoint: Endpoint) -> Result<Remote, CallError> {
        let client = reqwest::Client::builder()
            // Directly to loopback, whatever proxy the environment names.
            .no_proxy()
            .connect_timeout(Duration::from_secs(2))
            .build()
            .map_err(|error| CallError::Lost(error.to_string()))?;
        let remote = Remote { endpoint, client };
        let hello: Hello = remote
            .request(reqwest::Method::GET, "/v1/hello")
            .timeout(Duration::from_secs(2))
            .send()
            .await
            .and_then(reqwest::Response::error_for_status)
            .map_err(|error| CallError::Lost(error.to_string()))?
            .json()
            .await
            .map_err(|error| CallError::Lost(error.to_string()))?;
        if hello.protocol != PROTOCOL {
            return Err(CallError::Answered(version_mismatch(&format!(
                "{} (version {})",
                hello.protocol, hello.version
            ))));
        }
        Ok(remote)
    }

    fn request(&self, method: reqwest::Method, path: &str) -> reqwest::RequestBuilder {
        self.client
            .request(method, format!("{}{path}", self.endpoint.base()))
            .bearer_auth(&self.endpoint.token)
            .header(PROTOCOL_HEADER, PROTOCOL)
    }

    pub(crate) fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Executes one command at the owner.
    pub(crate) async fn call(
        &self,
        name: &str,
        body: &Value,
        request: &str,
        author: &str,
    ) -> Result<Value, CallError> {
        let unanswered = |error: reqwest::Error| {
            let never_sent = error.is_connect();
            let why = error.to_string();
            if never_sent { CallError::Lost(why) } else { CallError::Unanswered(why) }
        };
        let response = self
            .request(reqwest::Method::POST, &format!("/v1/call/{name}"))
            .header(REQUEST_HEADER, request)
            .header(AUTHOR_HEADER, author)
            .json(body)
            .send()
            .await
            .map_err(unanswered)?;
        let good = response.status().is_success();
        let bytes = response.bytes().await.map_err(unanswered)?;
        if good {
            return serde_json::from_slice(&bytes).map_err(|error| CallError::Unanswered(error.to_string()));
        }
        match serde_json::from_slice::<ApiError>(&bytes) {
            // Another owner has the port by now; the endpoint file has to be read again.
            Ok(error) if error.code == ErrorCode::Unauthorized => Err(CallError::Lost(error.message)),
            Ok(error) => Err(CallError::Answered(error)),
            // Not an error of AutoKit: another program has taken the port.
            Err(_) => Err(CallError::Lost(String::from_utf8_lossy(&bytes).chars().take(200).collect())),
        }
    }

    /// Opens a byte stream to the owner's MCP server.
    pub(crate) async fn mcp_stream(&self, connection: &str, profile: &str) -> Result<BoxedStream, CallError> {
        let lost = |error: reqwest::Error| CallError::Lost(error.to_string());
        let response = self
            .request(reqwest::Method::GET, MCP_STREAM_PATH)
            .header(reqwest::header::CONNECTION, "upgrade")
            .header(reqwest::header::UPGRADE, MCP_PROTOCOL)
            .header(CONNECTION_HEADER, connection)
            .header(PROFILE_HEADER, profile)
            .send()
            .await
            .map_err(lost)?;
        if response.status() != reqwest::StatusCode::SWITCHING_PROTOCOLS {
            return Err(CallError::Lost(format!("the owner returned {}", response.status())));
        }
        Ok(Box::pin(response.upgrade().await.map_err(lost)?))
    }

    /// Forwards the owner's events until the connection ends.
    pub(crate) async fn forward_events(&self, to: &broadcast::Sender<Event>) {
        let Ok(response) = self.request(reqwest::Method::GET, "/v1/events").send().await else { return };
        let mut stream = response.bytes_stream();
        let mut buffer: Vec<u8> = Vec::new();
        while let Some(Ok(chunk)) = stream.next().await {
            buffer.extend_from_slice(&chunk);
            while let Some(end) = buffer.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = buffer.drain(..=end).collect();
                if let Ok(event) = serde_json::from_slice(&line) {
                    // Fails only if nobody listens.
                    let _ = to.send(event);
                }
            }
        }
    }
}
