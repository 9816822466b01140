//! The ways to start or reach a server of the registry, broken into parts that a person is shown before
//! anything runs.

use serde_json::{Map, Value};

use super::package::Package;
use crate::formats::json;

/// A way to start or reach a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchOption {
    /// How to reach the server.
    pub transport: Transport,
    /// Inputs it needs: environment variables of a program, or headers of a URL.
    pub inputs: Vec<LaunchInput>,
}

/// How a server is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A local program that speaks MCP over stdio; it fetches the package itself.
    Program {
        /// The program, e.g. `npx`.
        command: String,
        /// Its arguments. Parts that a person has to fill in are written `<…>`.
        args: Vec<String>,
    },
    /// The URL of a Streamable HTTP server.
    Address(String),
}

/// A value that a server needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LaunchInput {
    /// Name of the variable or header.
    pub name: String,
    /// Its description by the publisher of the server.
    pub description: Option<String>,
    /// Whether the server requires it.
    pub required: bool,
    /// Whether it is an API key or a password.
    pub secret: bool,
    /// The default value; always `None` for a secret.
    pub default: Option<String>,
}

/// The ways to start or reach a server, from its registry entry and in its order; programs come first,
/// because they need no account elsewhere. Others (Server-Sent Events, packages that no known program runs)
/// are left out.
pub fn launch_options(server: &Map<String, Value>) -> Vec<LaunchOption> {
    let packages = json::list(server, &["packages"]).iter().filter_map(Value::as_object).map(Package);
    let programs = packages.filter(|package| package.transport() == "stdio").filter_map(|package| {
        let mut words = package.words()?.into_iter();
        let transport = Transport::Program { command: words.next()?, args: words.collect() };
        Some(LaunchOption { transport, inputs: inputs(package.variables()) })
    });
    let remotes = json::list(server, &["remotes"]).iter().filter_map(Value::as_object);
    let addresses = remotes.filter_map(|remote| {
        let kind = json::text(remote, &["type", "transport_type", "transport"])?;
        let url = json::text(remote, &["url"]).filter(|_| matches!(kind, "streamable-http" | "http"))?;
        Some(LaunchOption {
            transport: Transport::Address(url.to_owned()),
            inputs: inputs(json::list(remote, &["headers"])),
        })
    });
    programs.chain(addresses).collect()
}

fn inputs(given: &[Value]) -> Vec<LaunchInput> {
    let mut inputs: Vec<LaunchInput> = Vec::new();
    for input in given.iter().filter_map(Value::as_object) {
        let Some(name) = json::text(input, &["name"]) else { continue };
        if inputs.iter().any(|known| known.name == name) {
            continue;
        }
        let secret = json::flag(input, &["isSecret", "is_secret"]);
        let default = json::text(input, &["value", "default"]).filter(|_| !secret);
        inputs.push(LaunchInput {
            name: name.to_owned(),
            description: json::text(input, &["description"]).map(str::to_owned),
            required: json::flag(input, &["isRequired", "is_required"]),
            secret,
            default: default.map(str::to_owned),
        });
    }
    inputs
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn programs_come_before_addresses_and_secrets_have_no_default() {
        let server = json!({
            "packages": [
                {"registryType": "npm", "identifier": "@acme/mail", "version": "1.2.0", "transport": {"type": "stdio"},
                    "environmentVariables": [
                        {"name": "KEY", "description": "A key", "isRequired": true, "isSecret": true, "default": "x"},
                        {"name": "HOST", "default": "mail.example.org"}, {"name": "KEY"}, 7]},
                {"registryType": "cargo", "identifier": "mail"},
                {"registryType": "npm", "identifier": "-rf"},
                {"registryType": "oci", "identifier": "acme/mail", "transport": {"type": "sse"}},
            ],
            "remotes": [
                {"type": "sse", "url": "https://a.example.org/sse"},
                {"type": "streamable-http", "url": "https://a.example.org/mcp", "headers": [{"name": "X-Key"}]},
                "no remote",
            ],
        });
        let Value::Object(server) = server else { unreachable!() };
        let starts = launch_options(&server);
        let [npm, remote] = starts.as_slice() else { panic!("{starts:?}") };
        let args = vec!["-y".to_owned(), "@acme/mail@1.2.0".to_owned()];
        assert_eq!(npm.transport, Transport::Program { command: "npx".to_owned(), args });
        let text: Vec<_> =
            npm.inputs.iter().map(|one| (one.name.as_str(), one.secret, one.default.as_deref())).collect();
        assert_eq!(text, [("KEY", true, None), ("HOST", false, Some("mail.example.org"))]);
        assert_eq!(remote.transport, Transport::Address("https://a.example.org/mcp".to_owned()));
        assert_eq!(remote.inputs[0].name, "X-Key");
    }
}
