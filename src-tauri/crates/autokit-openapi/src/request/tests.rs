mod credentials;
mod round_trip;
mod styles;

use serde_json::{Map, Value, json};

use super::HttpRequest;
use crate::call::{Call, ParamLocation, Parameter, Style};
use crate::{CallError, Credentials};

/// A call with a single parameter named `color`.
fn call(place: ParamLocation, style: Style, explode: bool) -> Call {
    let path = if place == ParamLocation::Path { "/a/{color}/z" } else { "/a" };
    let parameter = Parameter {
        name: "color".into(),
        wire_name: "color".into(),
        place,
        style,
        explode,
        allow_reserved: false,
        required: false,
        content: None,
    };
    Call { parameters: vec![parameter], ..plain("GET", path) }
}

/// A call without arguments.
fn plain(method: &str, path: &str) -> Call {
    serde_json::from_value(
        json!({"version": 1, "method": method, "servers": [{"url": "https://h.example/v1"}], "path": path}),
    )
    .expect("a call")
}

fn object(value: &Value) -> Map<String, Value> {
    value.as_object().expect("an object").clone()
}

fn send(call: &Call, arguments: &Value) -> Result<HttpRequest, CallError> {
    call.request(&object(arguments), &Credentials::new(), None)
}

fn reason(call: &Call, arguments: &Value) -> String {
    send(call, arguments).expect_err("refused").to_string()
}
