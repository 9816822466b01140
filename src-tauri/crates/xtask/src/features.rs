//! Checks that building a single crate and building the whole workspace compile exactly the same
//! dependencies.
//!
//! Cargo unifies the features of a dependency over the packages being built. If `-p X` enables fewer features
//! than `--workspace`, the dependency and everything that depends on it, up to SurrealDB, is compiled again.
//! The `workspace-hack` crate requests the union everywhere. `cargo hakari verify` relies on its own model of
//! cargo, which does not know about excluded packages; cargo's unit graph shows what will really be compiled.

use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeSet, HashMap};
use std::hash::{Hash, Hasher};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::shell::{cargo, read};

/// Setup runs before anything heavy can be built, so it stays out of the union on purpose.
const EXCLUDED: &str = "xtask";

/// Fails with the names of dependencies that some crate on its own would compile again.
pub(crate) fn check() -> Result<()> {
    let workspace = units(&["--workspace", "--all-targets"])?;
    let mut recompiled = BTreeSet::new();
    for member in members()?.iter().filter(|member| *member != EXCLUDED) {
        for targets in [&[][..], &["--all-targets"]] {
            let alone = units(&[&["--package", member], targets].concat())?;
            recompiled.extend(
                alone
                    .iter()
                    .filter(|(unit, _)| !workspace.contains_key(*unit))
                    .map(|(_, package)| format!("{package}, for {member}")),
            );
        }
    }
    if !recompiled.is_empty() {
        bail!("compiled a second time: {}", recompiled.into_iter().collect::<Vec<_>>().join("; "));
    }
    Ok(())
}

fn members() -> Result<Vec<String>> {
    let metadata: Value =
        serde_json::from_str(&read(&mut cargo(&["metadata", "--no-deps", "--format-version", "1"]))?)?;
    let packages = metadata["packages"].as_array().context("cargo metadata names no packages")?;
    Ok(packages.iter().filter_map(|package| package["name"].as_str().map(str::to_owned)).collect())
}

/// The dependency units that a build would compile, as digest and package.
fn units(arguments: &[&str]) -> Result<HashMap<u64, String>> {
    let mut command = cargo(&["build", "--locked", "-Zunstable-options", "--unit-graph"]);
    // The option to print the graph is unstable; nothing is built.
    command.args(arguments).env("RUSTC_BOOTSTRAP", "1");
    let graph: Value = serde_json::from_str(&read(&mut command)?)?;
    let units = graph["units"].as_array().context("cargo's unit graph holds no units")?;
    let mut known = vec![None; units.len()];
    let mut found = HashMap::new();
    for index in 0..units.len() {
        let digest = digest(units, index, &mut known);
        let package = units[index]["pkg_id"].as_str().unwrap_or_default();
        if !package.starts_with("path+") {
            found.insert(digest, package.rsplit(['/', '#']).next().unwrap_or(package).to_owned());
        }
    }
    Ok(found)
}

/// Hashes a unit together with all units it depends on.
fn digest(units: &[Value], index: usize, known: &mut [Option<u64>]) -> u64 {
    if let Some(digest) = known[index] {
        return digest;
    }
    let unit = &units[index];
    let mut below: Vec<(String, u64)> = unit["dependencies"]
        .as_array()
        .into_iter()
        .flatten()
        .filter_map(|d| {
            let at = usize::try_from(d["index"].as_u64()?).ok()?;
            Some((d["extern_crate_name"].to_string(), digest(units, at, known)))
        })
        .collect();
    below.sort();
    let mut hasher = DefaultHasher::new();
    for key in ["pkg_id", "target", "profile", "platform", "mode", "features"] {
        unit[key].to_string().hash(&mut hasher);
    }
    below.hash(&mut hasher);
    let digest = hasher.finish();
    known[index] = Some(digest);
    digest
}
