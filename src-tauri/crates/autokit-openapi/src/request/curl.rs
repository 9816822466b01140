//! A request as a command line, for people to copy.

use super::HttpRequest;

impl HttpRequest {
    /// Returns the request as a `curl` command for a POSIX shell. Keys in it are written as they are: for a command
    /// to show, make the request with placeholders. `None` for a body that is not text.
    pub fn to_curl(&self) -> Option<String> {
        let mut parts = vec!["curl".to_owned()];
        // With a body, curl sends POST by itself, and without one, GET.
        let implied = if self.body.is_some() { "POST" } else { "GET" };
        if self.method != implied {
            parts.push(format!("-X {}", self.method));
        }
        parts.push(quoted(&self.url));
        parts.extend(
            self.headers.iter().map(|(name, value)| format!("-H {}", quoted(&format!("{name}: {value}")))),
        );
        if let Some(body) = &self.body {
            parts.push(format!("--data-raw {}", quoted(std::str::from_utf8(body).ok()?)));
        }
        let rest = parts.split_off(parts.len().min(if self.method == implied { 2 } else { 3 }));
        let first = parts.join(" ");
        Some(std::iter::once(first).chain(rest).collect::<Vec<_>>().join(" \\\n  "))
    }
}

/// Quotes a word for a POSIX shell.
fn quoted(word: &str) -> String {
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_becomes_one_command() {
        let get = HttpRequest {
            method: "GET".into(),
            url: "https://api.example.org/a?q=it%27s&n=1".into(),
            headers: Vec::new(),
            body: None,
        };
        assert_eq!(get.to_curl().unwrap(), "curl 'https://api.example.org/a?q=it%27s&n=1'");
        let put = HttpRequest {
            method: "PUT".into(),
            headers: vec![("Content-Type".into(), "application/json".into())],
            body: Some(br#"{"say":"it's"}"#.to_vec()),
            ..get.clone()
        };
        let want = "curl -X PUT 'https://api.example.org/a?q=it%27s&n=1' \\\n  -H 'Content-Type: application/json' \\\n  \
                    --data-raw '{\"say\":\"it'\\''s\"}'";
        assert_eq!(put.to_curl().unwrap(), want);
        assert_eq!(HttpRequest { body: Some(vec![0xff]), ..get }.to_curl(), None);
    }
}
