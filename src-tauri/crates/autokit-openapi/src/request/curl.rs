//! A request as a command line, for people to copy.

use super::HttpRequest;

impl HttpRequest {
    /// Returns the request as a `curl` command for a POSIX shell. Keys in it are written as they are: for a command
    /// to show, make the request with placeholders. `None` for a body that is not text, and for a method of anything but
    /// letters, which would not be a single word of a command.
    pub fn to_curl(&self) -> Option<String> {
        if !self.method.bytes().all(|byte| byte.is_ascii_alphabetic()) {
            return None;
        }
        // With a body, curl sends POST by itself, and without one, GET. `-X HEAD` would wait for a body.
        let implied = if self.body.is_some() { "POST" } else { "GET" };
        let mut first = match self.method.as_str() {
            method if method == implied => "curl".to_owned(),
            "HEAD" if self.body.is_none() => "curl --head".to_owned(),
            method => format!("curl -X {method}"),
        };
        if self.url.contains(['[', ']', '{', '}']) {
            // These are no patterns.
            first.push_str(" --globoff");
        }
        let mut parts = vec![format!("{first} {}", quoted(&self.url))];
        parts.extend(
            self.headers.iter().map(|(name, value)| format!("-H {}", quoted(&format!("{name}: {value}")))),
        );
        if let Some(body) = &self.body {
            parts.push(format!("--data-raw {}", quoted(std::str::from_utf8(body).ok()?)));
        }
        Some(parts.join(" \\\n  "))
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
        assert_eq!(HttpRequest { body: Some(vec![0xff]), ..get.clone() }.to_curl(), None);
        for method in ["X&reboot&", "X|sh", "X$IFS", "`id`"] {
            assert_eq!(HttpRequest { method: method.into(), ..get.clone() }.to_curl(), None);
        }
        let head = HttpRequest { method: "HEAD".into(), url: "https://example.org/a?b=[1-9]".into(), ..get };
        assert_eq!(head.to_curl().unwrap(), "curl --head --globoff 'https://example.org/a?b=[1-9]'");
    }
}
