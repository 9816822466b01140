//! Code with which a program starts to use a tool: what to install, which variables to set, and one call.
//!
//! Written by rules from the card alone, so that it is there at once and on every machine. Keys are never part of the
//! code: it reads them from environment variables.

use std::sync::LazyLock;

use autokit_api::Starter;
use autokit_openapi::{Call, Credential, Credentials, Requirement, Scheme};
use autokit_policy::Secret;
use autokit_toolcard::{Stub, Toolcard, example_arguments, fields, variable_of};
use regex::Regex;
use serde_json::{Map, Value};

/// A variable that code in Python or JavaScript reads.
static IN_CODE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?:os\.environ\[["']|os\.environ\.get\(["']|os\.getenv\(["']|process\.env\.)([A-Z][A-Z0-9_]*)"#,
    )
    .expect("a valid pattern")
});
/// A variable of a shell. Short ones are placeholders like `$X`.
static IN_SHELL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\$\{?([A-Z][A-Z0-9_]{2,})").expect("a valid pattern"));
/// Variables that every shell sets.
const SET_BY_SHELLS: [&str; 5] = ["HOME", "PATH", "PWD", "SHELL", "USER"];

/// Returns starter code for a card; `None` if the card has too little for correct code.
pub fn starter_code(card: &Toolcard) -> Option<Starter> {
    let usage = card.text(fields::USAGE).filter(|usage| !usage.trim().is_empty());
    let call = Call::from_card(card).ok().flatten();
    let (stub, mut variables) = match call {
        // Such a usage is no command but names the operation.
        Some(call) if usage.is_none_or(|usage| usage == call.usage()) => request_code(card, call)?,
        _ if usage.is_some() => {
            let stub = card.stub()?;
            let code = if stub.language == "python" { reading_variables(&stub.code) } else { stub.code };
            (Stub { code, ..stub }, Vec::new())
        }
        _ => {
            let (stub, variables) = card.stub_with_variables()?;
            (with_a_call(card, with_import(stub)), variables)
        }
    };
    variables.extend(variables_of(&stub.language, &stub.code));
    let mut seen = std::collections::HashSet::new();
    variables.retain(|name| seen.insert(name.clone()));
    let install = card.text(fields::INSTALL).map(str::trim).filter(|install| !install.is_empty());
    Some(Starter {
        language: stub.language,
        code: stub.code,
        install: install.map(str::to_owned),
        variables,
        removed: Vec::new(),
        model: None,
    })
}

/// Returns a `curl` command for an operation of a web API, and the variables for its keys.
fn request_code(card: &Toolcard, mut call: Call) -> Option<(Stub, Vec<String>)> {
    let mut arguments = match card.object().get(fields::PARAMETERS) {
        Some(Value::Object(schema)) => example_arguments(schema),
        _ => Map::new(),
    };
    for (name, value) in &mut arguments {
        if value.as_str() == Some("") {
            *value = name.to_uppercase().into();
        }
    }
    let needed = if call.security.iter().any(Vec::is_empty) {
        Vec::new()
    } else {
        let supported = |one: &Requirement| !matches!(one.scheme, Scheme::Unsupported { .. });
        call.security.iter().find(|all| all.iter().all(supported)).cloned().unwrap_or_default()
    };
    let mut keys =
        Keys { of: card.key().provider, credentials: Credentials::new(), names: Vec::new(), user: None };
    let sent: Vec<Requirement> = needed.into_iter().filter(|one| keys.add(one)).collect();
    call.security = vec![sent];
    let request = call.request(&arguments, &keys.credentials, None).ok()?;
    let mut code = request.to_curl()?;
    for (at, name) in keys.names.iter().enumerate() {
        code = code.replace(&placeholder(at), &format!("'\"${name}\"'"));
    }
    if let Some(user) = keys.user {
        code = format!("{code} \\\n  -u {user}");
    }
    Some((Stub { language: "shell".to_owned(), code }, keys.names))
}

/// The keys of a request, written as placeholders that survive every encoding.
struct Keys {
    /// The provider, after which variables are named.
    of: String,
    credentials: Credentials,
    names: Vec<String>,
    /// The user name and password of HTTP Basic, which `curl` encodes itself.
    user: Option<String>,
}

fn placeholder(at: usize) -> String {
    format!("AUTOKITVARIABLE{at}END")
}

impl Keys {
    /// Adds the placeholder of a credential. Returns whether the request is to contain it.
    fn add(&mut self, requirement: &Requirement) -> bool {
        let variable = |last: &str| variable_name(&[&self.of, last]);
        if requirement.scheme == Scheme::Basic {
            let (user, password) = (variable("user"), variable("password"));
            self.user = Some(format!("\"${user}:${password}\""));
            self.names.extend([user, password]);
            return false;
        }
        let name = variable(match requirement.scheme {
            Scheme::ApiKey { .. } => "api_key",
            _ => "token",
        });
        // An API may want several keys at once.
        let name = if self.names.contains(&name) { variable(&requirement.key) } else { name };
        let taken = self.names.iter().filter(|other| **other == name).count();
        let name = if taken == 0 { name } else { format!("{name}_{}", self.names.len()) };
        let secret = Secret::new(placeholder(self.names.len()));
        let credential = match requirement.scheme {
            Scheme::ApiKey { .. } => Credential::ApiKey(secret),
            _ => Credential::Token(secret),
        };
        self.credentials.insert(requirement.key.clone(), credential);
        self.names.push(name);
        true
    }
}

/// Joins words to the name of an environment variable.
fn variable_name(words: &[&str]) -> String {
    let parts: Vec<String> = words
        .iter()
        .flat_map(|word| word.split(|char: char| !char.is_ascii_alphanumeric()))
        .filter(|part| !part.is_empty())
        .map(str::to_ascii_uppercase)
        .collect();
    let name = parts.join("_");
    if name.starts_with(|char: char| char.is_ascii_digit()) { format!("API_{name}") } else { name }
}

/// Adds a call to code that only constructs a toolkit of LangChain: listing its tools costs nothing and shows that the
/// credentials work.
fn with_a_call(card: &Toolcard, stub: Stub) -> Stub {
    let is_toolkit = card.text(fields::MODULE).is_some_and(|module| module.starts_with("langchain"))
        && card.text(fields::CLASS).is_some_and(|class| class.ends_with("Toolkit"))
        && card.text(fields::USAGE).is_none_or(|usage| usage.trim().is_empty());
    if !is_toolkit || stub.language != "python" {
        return stub;
    }
    let code = format!(
        "{}\n\nfor each in tool.get_tools():\n    print(each.name, \"-\", each.description)",
        stub.code
    );
    Stub { code, ..stub }
}

/// Imports `os` where code of a stub reads variables.
fn with_import(stub: Stub) -> Stub {
    if stub.language != "python" || !stub.code.contains("os.environ[") {
        return stub;
    }
    Stub { code: format!("import os\n\n{}", stub.code), ..stub }
}

/// Returns Python code that reads its keys from the environment: each string literal that is nothing but `${NAME}` becomes
/// a variable. Literals are found as Python reads them: a quote inside of another literal is part of its text.
fn reading_variables(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    let mut replaced = false;
    while let Some(at) = rest.find(['"', '\'', '#']) {
        let (before, from) = rest.split_at(at);
        out.push_str(before);
        let end = match from.as_bytes()[0] {
            b'#' => from.find('\n').unwrap_or(from.len()),
            _ => literal_end(from),
        };
        let (literal, after) = from.split_at(end);
        // A prefix as in f"…" makes it another kind of literal.
        let prefixed = before.ends_with(|char: char| char.is_alphanumeric() || char == '_');
        let name =
            (literal.len() > 2).then(|| literal.get(1..literal.len() - 1)).flatten().and_then(variable_of);
        match name.filter(|_| !prefixed && !literal.starts_with('#')) {
            Some(name) => {
                out.extend(["os.environ[\"", name, "\"]"]);
                replaced = true;
            }
            None => out.push_str(literal),
        }
        rest = after;
    }
    out.push_str(rest);
    let imported = out.lines().any(|line| line.trim() == "import os");
    if replaced && !imported { format!("import os\n\n{out}") } else { out }
}

/// Returns where the string literal of Python ends with which a text starts.
fn literal_end(text: &str) -> usize {
    let quote = &text[..1];
    let triple = quote.repeat(3);
    let (open, close) = if text.starts_with(&triple) { (3, triple.as_str()) } else { (1, quote) };
    let mut at = open;
    while at < text.len() {
        if text[at..].starts_with(close) {
            return at + close.len();
        }
        let char = text[at..].chars().next().expect("not at the end");
        if char == '\n' && open == 1 {
            // Not closed: no valid code.
            return at;
        }
        at += char.len_utf8();
        if char == '\\' {
            at += text[at..].chars().next().map_or(0, char::len_utf8);
        }
    }
    text.len()
}

/// Returns the variables that code reads from the environment.
pub(crate) fn variables_of(language: &str, code: &str) -> Vec<String> {
    let is_shell = matches!(language, "shell" | "bash" | "sh");
    let pattern = if is_shell { &*IN_SHELL } else { &*IN_CODE };
    let found = pattern.captures_iter(code).map(|found| found[1].to_owned());
    found.filter(|name| !is_shell || !SET_BY_SHELLS.contains(&name.as_str())).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn starter(card: &Value) -> Starter {
        starter_code(&Toolcard::from_json(&card.to_string()).expect("a card")).expect("starter code")
    }

    #[test]
    fn keys_are_read_from_the_environment() {
        let made = starter(&json!({
            "name": "a", "module": "pkg", "class": "Search", "install": " pip install pkg ",
            "init_args": {"key": "${PKG_KEY}", "host": "http://${HOST}/"}
        }));
        let want = "import os\n\nfrom pkg import Search\n\ntool = Search(\n    key=os.environ[\"PKG_KEY\"],\n    \
                    host=\"http://${HOST}/\",\n)";
        assert_eq!((made.code.as_str(), made.install.as_deref()), (want, Some("pip install pkg")));
        assert_eq!(made.variables, ["PKG_KEY"]);
        let script = starter(&json!({
            "name": "a", "module": "pkg", "class": "Search", "programming_language": "typescript",
            "init_args": {"key": "${PKG_KEY}"}
        }));
        assert!(script.code.contains("key: process.env.PKG_KEY,"), "{}", script.code);
        let shell = starter(&json!({
            "name": "a", "kind": "cli", "usage": "curl -H \"Authorization: $TOKEN\" $HOME/${PLACE} $X $TOKEN"
        }));
        assert_eq!(shell.variables, ["TOKEN", "PLACE"]);
    }

    #[test]
    fn texts_of_a_card_stay_texts() {
        // As an f-string, what is in braces would be run.
        for text in ["'${F}'{os.system('id')}", "\"${F}\"{x}", "= '${F}' {x}"] {
            let made = starter(&json!({"name": "a", "module": "m", "class": "C", "init_args": {"k": text}}));
            assert!(made.code.contains(&format!("k={},", Value::from(text))), "{}", made.code);
            assert_eq!(made.variables, [""; 0]);
            let usage = format!("run({})  # \"${{F}}\"\n", Value::from(text));
            let made = starter(&json!({"name": "a", "programming_language": "python", "usage": usage}));
            assert_eq!(made.code, usage.trim_end());
        }
        let usage = "run('${KEY}', f'${NOT}', \"\"\"'${NOT}'\"\"\", \"\\\"${NOT}\\\"\", \"${KEY}\")";
        let made = starter(&json!({"name": "a", "programming_language": "python", "usage": usage}));
        let want = "import os\n\nrun(os.environ[\"KEY\"], f'${NOT}', \"\"\"'${NOT}'\"\"\", \"\\\"${NOT}\\\"\", \
                    os.environ[\"KEY\"])";
        assert_eq!((made.code.as_str(), made.variables.as_slice()), (want, &["KEY".to_owned()][..]));
    }

    #[test]
    fn a_toolkit_lists_its_tools() {
        let card = json!({"name": "a", "module": "langchain_google_community", "class": "CalendarToolkit"});
        assert!(starter(&card).code.ends_with("print(each.name, \"-\", each.description)"));
    }

    #[test]
    fn an_operation_becomes_a_command_without_keys() {
        let card = |security: Value| {
            json!({
                "name": "find", "provider": "Example Org", "kind": "rest_operation", "usage": "GET https://api.example.org/v1/{kind}",
                "parameters": {
                    "type": "object", "required": ["kind", "q"],
                    "properties": {"kind": {"enum": ["a", "b"]}, "q": {"type": "string"}}
                },
                "call": {
                    "version": 1, "method": "GET", "servers": [{"url": "https://api.example.org/v1"}], "path": "/{kind}",
                    "parameters": [
                        {"name": "kind", "wire_name": "kind", "in": "path", "style": "simple", "explode": false, "required": true},
                        {"name": "q", "wire_name": "q", "in": "query", "style": "form", "explode": true, "required": true}
                    ],
                    "security": security
                }
            })
        };
        assert_eq!(starter(&card(json!([]))).code, "curl 'https://api.example.org/v1/a?q=Q'");
        let bearer = starter(&card(json!([[{"key": "k", "type": "bearer"}]])));
        let want = "curl 'https://api.example.org/v1/a?q=Q' \\\n  -H 'Authorization: Bearer '\"$EXAMPLE_ORG_TOKEN\"''";
        assert_eq!(bearer.code, want);
        assert_eq!(bearer.variables, ["EXAMPLE_ORG_TOKEN"]);
        let basic = starter(&card(json!([[{"key": "k", "type": "basic"}]])));
        assert!(basic.code.ends_with("-u \"$EXAMPLE_ORG_USER:$EXAMPLE_ORG_PASSWORD\""), "{}", basic.code);
        let in_query =
            starter(&card(json!([[{"key": "k", "type": "api_key", "in": "query", "name": "key"}]])));
        assert!(in_query.code.contains("&key='\"$EXAMPLE_ORG_API_KEY\"''"), "{}", in_query.code);
    }
}
