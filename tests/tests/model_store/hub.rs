//! A loopback hub that misbehaves on request, and a tiny model for it to serve.

use std::collections::HashMap;
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use autokit_embed::{Manifest, ModelStore, Network};
use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::{Path as UrlPath, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};
use futures_util::StreamExt;
use sha2::{Digest, Sha256};
use tokio::sync::Notify;

/// The files of the tiny model.
pub(crate) const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];
const WEIGHTS: usize = 600_000;

/// What the file holds.
pub(crate) fn content(name: &str) -> Vec<u8> {
    match name {
        "model.safetensors" => (0..WEIGHTS).map(|i| (i * 7919 % 251) as u8).collect(),
        other => format!("the content of {other}").into_bytes(),
    }
}

fn sha256(bytes: &[u8]) -> String {
    let hex: Vec<String> = Sha256::digest(bytes).iter().map(|b| format!("{b:02x}")).collect();
    hex.concat()
}

/// A list with one model, `tiny`, and one without checksums, `folder-only`.
pub(crate) fn manifest(with_wheel: bool) -> Manifest {
    let model = |name: &str, known: bool| {
        let files: Vec<String> = FILES
            .iter()
            .map(|f| {
                let (size, sum) =
                    if known { (content(f).len(), sha256(&content(f))) } else { (0, String::new()) };
                format!("[[model.file]]\nname = \"{f}\"\nsize = {size}\nsha256 = \"{sum}\"\n")
            })
            .collect();
        format!(
            "[[model]]\nname = \"{name}\"\ntitle = \"t\"\nrepo = \"test/{name}\"\nrevision = \"r1\"\n\
             architecture = \"bert\"\ndim = 8\nmax_tokens = 16\npooling = \"mean\"\nnormalise = true\n\
             query_prefix = \"\"\npassage_prefix = \"\"\nlicence = \"MIT\"\nsource = \"https://example.org\"\n{}",
            files.concat()
        )
    };
    let wheel =
        if with_wheel { "[model.wheel]\npackage = \"tiny-wheel\"\nfolder = \"tiny/model\"\n" } else { "" };
    Manifest::parse(&format!(
        "default = \"tiny\"\n{}{wheel}{}",
        model("tiny", true),
        model("folder-only", false)
    ))
    .unwrap()
}

/// How the hub serves the weights; but for `Status`, other files are served well.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Manner {
    /// Whole, or the part asked for.
    Well,
    /// Always whole, whatever part was asked for.
    WithoutRanges,
    /// The connection breaks after this many bytes, once the test says that they are there.
    BreaksAfter(usize),
    /// Nothing more comes after this many bytes.
    SilentAfter(usize),
    /// Right size, wrong bytes.
    Wrong,
    /// More than there should be.
    TooMuch,
    /// This status.
    Status(u16),
}

/// A running hub.
pub(crate) struct Hub {
    pub(crate) address: String,
    state: Arc<HubState>,
}

struct HubState {
    manner: Mutex<Manner>,
    /// Requests for each file, with the range asked for.
    requests: Mutex<HashMap<String, Vec<Option<String>>>>,
    /// Told when the client has what comes before a connection breaks.
    arrived: Notify,
}

impl Hub {
    pub(crate) async fn start(manner: Manner) -> Self {
        let state = Arc::new(HubState {
            manner: Mutex::new(manner),
            requests: Mutex::default(),
            arrived: Notify::new(),
        });
        let app = Router::new()
            .route("/{owner}/{repo}/resolve/{revision}/{file}", axum::routing::get(serve))
            .with_state(Arc::clone(&state));
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, app).await.unwrap() });
        Self { address, state }
    }

    pub(crate) fn behave(&self, manner: Manner) {
        *self.state.manner.lock().unwrap() = manner;
    }

    /// Says that the client has what comes before the connection breaks.
    pub(crate) fn arrived(&self) {
        self.state.arrived.notify_one();
    }

    /// The ranges asked for, one entry per request for the file.
    pub(crate) fn requests(&self, file: &str) -> Vec<Option<String>> {
        self.state.requests.lock().unwrap().get(file).cloned().unwrap_or_default()
    }
}

async fn serve(
    State(state): State<Arc<HubState>>,
    UrlPath((owner, repo, revision, file)): UrlPath<(String, String, String, String)>,
    headers: HeaderMap,
) -> Response {
    assert_eq!((owner.as_str(), repo.as_str(), revision.as_str()), ("test", "tiny", "r1"));
    let range = headers.get("range").map(|v| v.to_str().unwrap().to_owned());
    state.requests.lock().unwrap().entry(file.clone()).or_default().push(range.clone());
    let mut bytes = content(&file);
    let manner = *state.manner.lock().unwrap();
    if let Manner::Status(code) = manner {
        return StatusCode::from_u16(code).unwrap().into_response();
    }
    if file != "model.safetensors" {
        return bytes.into_response();
    }
    match manner {
        Manner::WithoutRanges => return bytes.into_response(),
        Manner::Wrong => bytes[1000] ^= 1,
        Manner::TooMuch => bytes.extend([0; 4096]),
        _ => {}
    }
    let from: usize = range
        .as_deref()
        .map_or(0, |r| r.strip_prefix("bytes=").unwrap().strip_suffix('-').unwrap().parse().unwrap());
    if from >= bytes.len() {
        return StatusCode::RANGE_NOT_SATISFIABLE.into_response();
    }
    let total = bytes.len();
    let rest = bytes.split_off(from);
    let body = match manner {
        Manner::BreaksAfter(n) => {
            let broken = std::io::Error::other("the server breaks off");
            let parts = vec![Ok(Bytes::from(rest[..n].to_vec())), Err(broken)];
            // What is not yet with the client would be lost with the connection.
            Body::from_stream(futures_util::stream::iter(parts).then(move |part| {
                let state = Arc::clone(&state);
                async move {
                    if part.is_err() {
                        state.arrived.notified().await;
                    }
                    part
                }
            }))
        }
        Manner::SilentAfter(n) => {
            let first =
                futures_util::stream::iter([Ok::<_, std::io::Error>(Bytes::from(rest[..n].to_vec()))]);
            Body::from_stream(first.chain(futures_util::stream::pending()))
        }
        _ => {
            // In pieces, so that progress is reported more than once.
            let pieces: Vec<_> =
                rest.chunks(50_000).map(|p| Ok::<_, std::io::Error>(Bytes::copy_from_slice(p))).collect();
            Body::from_stream(futures_util::stream::iter(pieces))
        }
    };
    let mut response = body.into_response();
    if from > 0 {
        *response.status_mut() = StatusCode::PARTIAL_CONTENT;
        let value = format!("bytes {from}-{}/{total}", total - 1);
        response.headers_mut().insert("content-range", value.parse().unwrap());
    }
    response
}

/// A store in `root` that fetches from `endpoint`, with no pip.
pub(crate) fn store(root: &Path, endpoint: &str) -> ModelStore {
    ModelStore::new(root).with_manifest(manifest(false)).with_network(network(endpoint, Vec::new()))
}

pub(crate) fn network(endpoint: &str, pip: Vec<Vec<String>>) -> Network {
    Network {
        endpoint: endpoint.to_owned(),
        // Only so that a test that fails does not hang: see [`impatient_store`].
        connect_timeout: Duration::from_mins(1),
        stall_timeout: Duration::from_mins(1),
        pip,
    }
}

/// As [`store`], for a hub that is given up when it is silent for this long.
pub(crate) fn impatient_store(root: &Path, endpoint: &str, stall_timeout: Duration) -> ModelStore {
    store(root, endpoint).with_network(Network { stall_timeout, ..network(endpoint, Vec::new()) })
}
