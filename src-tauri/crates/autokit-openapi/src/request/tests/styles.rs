//! The table "Style Examples" of OpenAPI 3.0.4 and 3.1.1, row by row.

use serde_json::{Value, json};

use super::{call, plain, reason, send};
use crate::call::{Body, ParamLocation, Parameter, Style};

/// The results for the empty string, a string, a list and an object; `None` where the table says n/a.
fn written(place: ParamLocation, style: Style, explode: bool) -> [Option<String>; 4] {
    let values =
        [json!(""), json!("blue"), json!(["blue", "black", "brown"]), json!({"R": 100, "G": 200, "B": 150})];
    values.map(|value| {
        let request = send(&call(place, style, explode), &json!({"color": value})).ok()?;
        let rest = request.url.strip_prefix("https://h.example/v1/a").expect("the base");
        Some(match place {
            ParamLocation::Path => rest.strip_prefix('/')?.strip_suffix("/z")?.to_owned(),
            ParamLocation::Query => rest.strip_prefix('?').unwrap_or(rest).to_owned(),
            ParamLocation::Header => request.headers.iter().find(|(name, _)| name == "color")?.1.clone(),
            ParamLocation::Cookie => request.headers.iter().find(|(name, _)| name == "Cookie")?.1.clone(),
        })
    })
}

#[test]
fn the_table_of_the_specification() {
    use ParamLocation::{Cookie, Header, Path, Query};
    let na = None;
    let rows: [(ParamLocation, Style, bool, [Option<&str>; 4]); 13] = [
        (
            Path,
            Style::Matrix,
            false,
            [
                Some(";color"),
                Some(";color=blue"),
                Some(";color=blue,black,brown"),
                Some(";color=R,100,G,200,B,150"),
            ],
        ),
        (
            Path,
            Style::Matrix,
            true,
            [
                Some(";color"),
                Some(";color=blue"),
                Some(";color=blue;color=black;color=brown"),
                Some(";R=100;G=200;B=150"),
            ],
        ),
        // In the table, label with an empty value gives ".", which as a whole segment would leave the path.
        (
            Path,
            Style::Label,
            false,
            [na, Some(".blue"), Some(".blue,black,brown"), Some(".R,100,G,200,B,150")],
        ),
        (
            Path,
            Style::Label,
            true,
            [na, Some(".blue"), Some(".blue.black.brown"), Some(".R=100.G=200.B=150")],
        ),
        // The same applies to simple with an empty value.
        (Path, Style::Simple, false, [na, Some("blue"), Some("blue,black,brown"), Some("R,100,G,200,B,150")]),
        (Path, Style::Simple, true, [na, Some("blue"), Some("blue,black,brown"), Some("R=100,G=200,B=150")]),
        (
            Header,
            Style::Simple,
            false,
            [Some(""), Some("blue"), Some("blue,black,brown"), Some("R,100,G,200,B,150")],
        ),
        (
            Header,
            Style::Simple,
            true,
            [Some(""), Some("blue"), Some("blue,black,brown"), Some("R=100,G=200,B=150")],
        ),
        (
            Query,
            Style::Form,
            false,
            [
                Some("color="),
                Some("color=blue"),
                Some("color=blue,black,brown"),
                Some("color=R,100,G,200,B,150"),
            ],
        ),
        (
            Query,
            Style::Form,
            true,
            [
                Some("color="),
                Some("color=blue"),
                Some("color=blue&color=black&color=brown"),
                Some("R=100&G=200&B=150"),
            ],
        ),
        (
            Cookie,
            Style::Form,
            false,
            [
                Some("color="),
                Some("color=blue"),
                Some("color=blue,black,brown"),
                Some("color=R,100,G,200,B,150"),
            ],
        ),
        // Cookies are separated by "; ", as 3.2 writes them; an ampersand would join them into one.
        (
            Cookie,
            Style::Form,
            true,
            [
                Some("color="),
                Some("color=blue"),
                Some("color=blue; color=black; color=brown"),
                Some("R=100; G=200; B=150"),
            ],
        ),
        (
            Query,
            Style::DeepObject,
            true,
            [na, na, na, Some("color%5BR%5D=100&color%5BG%5D=200&color%5BB%5D=150")],
        ),
    ];
    for (place, style, explode, expected) in rows {
        let expected = expected.map(|text| text.map(str::to_owned));
        assert_eq!(written(place, style, explode), expected, "{place:?} {style:?} {explode}");
    }
    // The table has only lists and objects without explode for these two.
    let delimited = written(ParamLocation::Query, Style::SpaceDelimited, false);
    assert_eq!(
        delimited[2..],
        [Some("color=blue%20black%20brown".to_owned()), Some("color=R%20100%20G%20200%20B%20150".to_owned())]
    );
    let delimited = written(ParamLocation::Query, Style::PipeDelimited, false);
    assert_eq!(
        delimited[2..],
        [Some("color=blue%7Cblack%7Cbrown".to_owned()), Some("color=R%7C100%7CG%7C200%7CB%7C150".to_owned())]
    );
}

#[test]
fn nothing_to_send_is_left_out_or_missing() {
    for nothing in [json!(null), json!([]), json!({}), json!([null])] {
        let optional = call(ParamLocation::Query, Style::Form, true);
        assert_eq!(send(&optional, &json!({"color": nothing})).expect("sent").url, "https://h.example/v1/a");
        let path = call(ParamLocation::Path, Style::Simple, false);
        assert_eq!(
            reason(&path, &json!({"color": nothing})),
            "the argument `color` is missing; the operation requires it"
        );
    }
    let mut required = call(ParamLocation::Query, Style::Form, true);
    required.parameters[0].required = true;
    assert!(reason(&required, &json!({})).contains("`color` is missing"));
    assert!(
        reason(&required, &json!({"colour": 1}))
            .contains("unknown argument `colour`; omit it or use one of: color")
    );
}

#[test]
fn values_without_a_serialization_are_refused() {
    let form = call(ParamLocation::Query, Style::Form, true);
    assert!(reason(&form, &json!({"color": [[1]]})).contains("`color` cannot be sent"));
    assert!(reason(&form, &json!({"color": {"a": {"b": 1}}})).contains("plain values"));
    let deep = call(ParamLocation::Query, Style::DeepObject, true);
    assert!(reason(&deep, &json!({"color": {"a": [1]}})).contains("a list under a"));
    let nested = send(&deep, &json!({"color": {"a": {"b": true}}})).expect("sent");
    assert!(nested.url.ends_with("?color%5Ba%5D%5Bb%5D=true"));
}

#[test]
fn a_path_argument_stays_in_its_segment() {
    let path = call(ParamLocation::Path, Style::Simple, false);
    let url = |value: Value| send(&path, &json!({"color": value})).expect("sent").url;
    assert_eq!(url(json!("../x?y#z")), "https://h.example/v1/a/..%2Fx%3Fy%23z/z");
    assert_eq!(url(json!("%2e%2e")), "https://h.example/v1/a/%252e%252e/z");
    assert_eq!(url(json!("\\..\\\t\n")), "https://h.example/v1/a/%5C..%5C%09%0A/z");
    for value in ["", ".", ".."] {
        assert!(reason(&path, &json!({"color": value})).contains("must not be empty"), "{value:?}");
        assert!(reason(&path, &json!({"color": [value]})).contains("must not be empty"), "{value:?}");
    }
    let label = call(ParamLocation::Path, Style::Label, false);
    assert!(reason(&label, &json!({"color": ""})).contains("must not be empty"));
    assert!(reason(&label, &json!({"color": ["."]})).contains("must not be empty"));
    // Two arguments in one segment.
    let mut two = call(ParamLocation::Path, Style::Simple, false);
    two.path = "/{color}{b}".into();
    let b = Parameter { name: "b".into(), wire_name: "b".into(), ..two.parameters[0].clone() };
    two.parameters.push(b);
    assert!(reason(&two, &json!({"color": ["."], "b": ["."]})).contains("must not be empty"));
}

#[test]
fn reserved_characters_stay_where_allowed_and_never_end_the_query() {
    let mut query = call(ParamLocation::Query, Style::Form, true);
    query.parameters[0].allow_reserved = true;
    let url = |value: &str| send(&query, &json!({"color": value})).expect("sent").url;
    assert_eq!(url("a/b?c:d@e,f;g!h$i(j)*"), "https://h.example/v1/a?color=a/b?c:d@e,f;g!h$i(j)*");
    assert_eq!(url("a#b&c=d+e[f] g"), "https://h.example/v1/a?color=a%23b%26c%3Dd%2Be%5Bf%5D%20g");
    assert_eq!(url("%41%zz%ü%"), "https://h.example/v1/a?color=%41%25zz%25%C3%BC%25");
}

#[test]
fn the_query_of_a_template_is_kept() {
    assert_eq!(send(&plain("GET", "/a?x=1"), &json!({})).expect("sent").url, "https://h.example/v1/a?x=1");
    let mut query = call(ParamLocation::Query, Style::Form, true);
    query.path = "/a?x=1".into();
    assert_eq!(send(&query, &json!({"color": 2})).expect("sent").url, "https://h.example/v1/a?x=1&color=2");
    for path in ["/a/../b", "/a/%2e%2E/b", "//./b", "a", "/{gone}"] {
        assert!(send(&plain("GET", path), &json!({})).is_err(), "{path}");
    }
    assert!(send(&plain("GET /\r\n", "/a"), &json!({})).is_err());
}

#[test]
fn encoded_parameters_and_headers() {
    let mut query = call(ParamLocation::Query, Style::Form, true);
    query.parameters[0].content = Some("application/json".into());
    assert!(
        send(&query, &json!({"color": {"a": [1]}}))
            .expect("sent")
            .url
            .ends_with("?color=%7B%22a%22%3A%5B1%5D%7D")
    );
    let header = call(ParamLocation::Header, Style::Simple, false);
    assert!(reason(&header, &json!({"color": "a\r\nb: c"})).contains("control characters"));
    assert!(reason(&header, &json!({"color": "a\u{0}"})).contains("control characters"));
    for name in ["Host", "content-length", "Transfer-Encoding", "a b", "", "ü"] {
        let mut header = call(ParamLocation::Header, Style::Simple, false);
        header.parameters[0].wire_name = name.into();
        assert!(send(&header, &json!({"color": "x"})).is_err(), "{name}");
    }
}

fn body(media_type: &str, encoding: &Value, value: &Value) -> Result<(String, String), String> {
    let mut call = plain("POST", "/a");
    let encoding = serde_json::from_value(encoding.clone()).expect("an encoding");
    call.body =
        Some(Body { argument: "body".into(), media_type: media_type.into(), required: true, encoding });
    let request = send(&call, &json!({"body": value})).map_err(|error| error.to_string())?;
    let media_type = request.headers.iter().find(|(name, _)| name == "Content-Type").expect("one").1.clone();
    Ok((String::from_utf8(request.body.expect("one")).expect("a text"), media_type))
}

#[test]
fn bodies_by_media_type() {
    let none = json!({});
    let text = |media_type: &str, value: Value| body(media_type, &none, &value).map(|(text, _)| text);
    assert_eq!(text("application/json", json!({"a": [null]})).as_deref(), Ok(r#"{"a":[null]}"#));
    assert_eq!(text("application/json", json!(null)).as_deref(), Ok("null"));
    assert_eq!(text("application/vnd.x+json; v=1", json!("x")).as_deref(), Ok("\"x\""));
    assert_eq!(text("text/plain", json!("a\n")).as_deref(), Ok("a\n"));
    assert!(text("text/plain", json!({})).is_err());
    assert_eq!(text("application/octet-stream", json!("aGk=")).as_deref(), Ok("hi"));
    assert!(text("image/png", json!("no base64!")).expect_err("refused").contains("Base64"));
    let form = "application/x-www-form-urlencoded";
    assert_eq!(
        text(form, json!({"a": "x y&z", "l": [1, {"b": 2}], "o": {"k": "v"}, "n": null})).as_deref(),
        Ok("a=x%20y%26z&l=1&l=%7B%22b%22%3A2%7D&o=%7B%22k%22%3A%22v%22%7D")
    );
    let styled =
        json!({"o": {"style": "deepObject", "explode": true}, "l": {"style": "form", "explode": false}});
    assert_eq!(
        body(form, &styled, &json!({"o": {"k": "v"}, "l": [1, 2]})).expect("sent").0,
        "o%5Bk%5D=v&l=1,2"
    );
    assert!(text(form, json!("x")).is_err());
}

#[test]
fn a_multipart_boundary_stands_in_no_part() {
    let encoding = json!({"file": {"base64": true, "content_type": "image/png"}});
    let value = json!({"note": "--autokit-form-0000000000000000", "file": ["aGk="], "meta": {"a": 1}, "q\"\r\n": "x"});
    let (text, media_type) = body("multipart/form-data", &encoding, &value).expect("sent");
    assert_eq!(media_type, "multipart/form-data; boundary=autokit-form-0000000000000001");
    assert_eq!(text.matches("\r\n--autokit-form-0000000000000001").count(), 4);
    assert!(text.contains("name=\"file\"; filename=\"file\"\r\nContent-Type: image/png\r\n\r\nhi\r\n"));
    assert!(text.contains("name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"a\":1}\r\n"));
    assert!(text.contains("name=\"q%22%0D%0A\"\r\n\r\nx\r\n"));
    assert!(body("multipart/form-data", &json!({"note": {"content_type": "a\r\nb"}}), &value).is_err());
}
