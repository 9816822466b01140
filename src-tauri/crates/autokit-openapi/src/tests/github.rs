//! Imports a published document of about a thousand operations, provided by whoever runs the test:
//! `npm pack @octokit/openapi`, then
//! `AUTOKIT_OPENAPI_DOCUMENT=package/generated/api.github.com.json cargo test -p autokit-openapi --lib github -- --ignored --nocapture`.

use std::time::Instant;

use serde_json::Value;

use super::validator;
use crate::{Call, read_openapi};

#[test]
#[ignore = "needs a large document, see above"]
fn every_operation_of_a_published_document_is_a_card_or_named() {
    let path = std::env::var("AUTOKIT_OPENAPI_DOCUMENT").expect("the path of a document");
    let bytes = std::fs::read(&path).expect("a file");
    let start = Instant::now();
    let imported = read_openapi(&bytes[..], Some("https://spec.example/openapi.json")).expect("a document");
    let took = start.elapsed();
    let value: Option<Value> = serde_json::from_slice(&bytes).ok();
    let operations: Option<usize> = value.and_then(|value| {
        let paths = value["paths"].as_object()?.clone();
        let methods = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
        Some(paths.values().map(|item| methods.iter().filter(|one| item.get(one).is_some()).count()).sum())
    });
    let mut shared = 0;
    let mut warned = std::collections::BTreeMap::<String, usize>::new();
    let mut largest = (0, String::new());
    let start = Instant::now();
    for item in &imported.read.cards {
        validator(&item.card);
        let call = Call::from_card(&item.card).expect("a call").expect("one");
        assert!(!call.servers.is_empty(), "{}", item.card.name());
        shared += usize::from(item.card.object()["parameters"].get("$defs").is_some());
        largest = largest.max((item.card.to_json().len(), item.card.name().to_owned()));
        for warning in &item.warnings {
            *warned.entry(warning.to_string()).or_default() += 1;
        }
    }
    let rejected = &imported.read.rejected;
    for one in rejected {
        assert!(one.name.is_some() && !one.problems.is_empty(), "{one:?}");
    }
    let report = format!(
        "{operations:?} operations: {} cards ({shared} with $defs), {} refused, {took:?}; schemas compiled in {:?}; largest card {largest:?}; warnings {warned:#?}; refused {:#?}; notes {:?}",
        imported.read.cards.len(),
        rejected.len(),
        start.elapsed(),
        rejected.iter().take(20).collect::<Vec<_>>(),
        imported.notes,
    );
    std::io::Write::write_all(&mut std::io::stderr(), report.as_bytes()).expect("written");
    if let Some(operations) = operations {
        assert_eq!(imported.read.cards.len() + rejected.len(), operations);
    }
}
