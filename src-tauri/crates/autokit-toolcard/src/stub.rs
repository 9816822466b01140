//! Stubs: the few lines with which a program starts to use a tool, generated from the card alone.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use ts_rs::TS;

use crate::card::{Toolcard, fields};
use crate::names::Language;

/// Code to copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, TS)]
pub struct Stub {
    /// Language for highlighting: `python`, `typescript`, `shell`, `json` …
    pub language: String,
    /// The code.
    pub code: String,
}

impl Toolcard {
    /// Returns an import-and-construct stub from `module`, `class` and `init_args`, or the card's own
    /// `usage`; `None` if the card has too little to generate correct code, or something that is not a valid
    /// name where code needs one.
    pub fn stub(&self) -> Option<Stub> {
        if let Some(usage) = self.text(fields::USAGE).filter(|usage| !usage.trim().is_empty()) {
            let language = self.text(fields::LANGUAGE).unwrap_or("shell").to_lowercase();
            return Some(Stub { language, code: usage.trim_end().to_owned() });
        }
        self.construction(&mut Literals::default())
    }

    /// Returns the stub from `module`, `class` and `init_args`, whose arguments that are nothing but `${NAME}` are read
    /// from environment variables, and the names of these.
    pub fn stub_with_variables(&self) -> Option<(Stub, Vec<String>)> {
        let mut literals = Literals { reads_variables: true, variables: Vec::new() };
        let stub = self.construction(&mut literals)?;
        Some((stub, literals.variables))
    }

    fn construction(&self, literals: &mut Literals) -> Option<Stub> {
        let module = self.text(fields::MODULE).filter(|module| !module.is_empty())?;
        let class = self.text(fields::CLASS).filter(|class| !class.is_empty())?;
        let arguments: Vec<(&str, &Value)> = match self.object().get(fields::INIT_ARGS) {
            Some(Value::Object(map)) => map.iter().map(|(name, value)| (name.as_str(), value)).collect(),
            _ => Vec::new(),
        };
        let language = Language::of(self.object());
        let named = language.is_module(module)
            && language.is_class(class)
            && arguments.iter().all(|(name, _)| language.is_argument(name));
        if !named {
            return None;
        }
        match language {
            Language::Python => {
                let code = python(module, class, &arguments, literals);
                Some(Stub { language: "python".into(), code })
            }
            Language::Script => {
                let code = typescript(module, class, &arguments, literals);
                Some(Stub { language: "typescript".into(), code })
            }
            Language::Other => None,
        }
    }
}

/// Returns the name of a text that is nothing but a variable: `${SERVICE_KEY}`.
pub fn variable_of(text: &str) -> Option<&str> {
    let name = text.strip_prefix("${")?.strip_suffix('}')?;
    let is_name = |char: char| char.is_ascii_uppercase() || char.is_ascii_digit() || char == '_';
    (name.starts_with(|char: char| char.is_ascii_uppercase()) && name.chars().all(is_name)).then_some(name)
}

/// Writes values as code. Variables are told apart by whole values: in finished code, a text could end a literal.
#[derive(Default)]
struct Literals {
    reads_variables: bool,
    /// The variables that were read.
    variables: Vec<String>,
}

impl Literals {
    fn variable(&mut self, value: &Value) -> Option<String> {
        let name = value.as_str().filter(|_| self.reads_variables).and_then(variable_of)?;
        self.variables.push(name.to_owned());
        Some(name.to_owned())
    }

    fn python(&mut self, value: &Value) -> String {
        if let Some(name) = self.variable(value) {
            return format!("os.environ[\"{name}\"]");
        }
        match value {
            Value::Null => "None".to_owned(),
            Value::Bool(true) => "True".to_owned(),
            Value::Bool(false) => "False".to_owned(),
            Value::Number(number) => number.to_string(),
            // JSON's escape sequences are also valid in Python.
            Value::String(_) => value.to_string(),
            Value::Array(items) => {
                let items: Vec<String> = items.iter().map(|item| self.python(item)).collect();
                format!("[{}]", items.join(", "))
            }
            Value::Object(map) => {
                let pairs: Vec<String> = map
                    .iter()
                    .map(|(key, item)| format!("{}: {}", Value::from(key.as_str()), self.python(item)))
                    .collect();
                format!("{{{}}}", pairs.join(", "))
            }
        }
    }

    fn typescript(&mut self, value: &Value) -> String {
        match self.variable(value) {
            Some(name) => format!("process.env.{name}"),
            None => value.to_string(),
        }
    }
}

fn python(module: &str, class: &str, arguments: &[(&str, &Value)], literals: &mut Literals) -> String {
    let import = format!("from {module} import {class}\n\n");
    if arguments.is_empty() {
        return format!("{import}tool = {class}()");
    }
    let lines: Vec<String> =
        arguments.iter().map(|(name, value)| format!("    {name}={},", literals.python(value))).collect();
    format!("{import}tool = {class}(\n{}\n)", lines.join("\n"))
}

fn typescript(module: &str, class: &str, arguments: &[(&str, &Value)], literals: &mut Literals) -> String {
    let import = format!("import {{ {class} }} from {};\n\n", Value::from(module));
    if arguments.is_empty() {
        return format!("{import}const tool = new {class}();");
    }
    let lines: Vec<String> =
        arguments.iter().map(|(name, value)| format!("  {name}: {},", literals.typescript(value))).collect();
    format!("{import}const tool = new {class}({{\n{}\n}});", lines.join("\n"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stub(json: &str) -> Option<Stub> {
        Toolcard::from_json(json).expect("valid").stub()
    }

    #[test]
    fn python_literals_are_python() {
        let stub = stub(
            r#"{"name":"a","module":"pkg.tools","class":"Search","init_args":{"key":"${KEY}","deep":null,"on":true,"opts":{"k":[1,"x"]}}}"#,
        )
        .expect("a stub");
        assert_eq!(
            stub.code,
            "from pkg.tools import Search\n\ntool = Search(\n    key=\"${KEY}\",\n    deep=None,\n    on=True,\n    opts={\"k\": [1, \"x\"]},\n)"
        );
    }

    #[test]
    fn no_stub_is_better_than_a_wrong_one() {
        assert_eq!(stub(r#"{"name":"a","class":"Search"}"#), None);
        assert_eq!(stub(r#"{"name":"a","module":"m","class":"C","programming_language":"cobol"}"#), None);
    }

    #[test]
    fn code_instead_of_a_name_makes_no_stub() {
        for card in [
            r#"{"name":"a","module":"m","class":"Weather()\n__import__(\"os\").system(\"id\")#"}"#,
            r#"{"name":"a","module":"os\nimport sys","class":"C"}"#,
            r#"{"name":"a","module":"m","class":"C","init_args":{"x=1); evil(":1}}"#,
            r#"{"name":"a","module":"m","class":"C}; evil()//","programming_language":"typescript"}"#,
        ] {
            assert_eq!(stub(card), None, "{card}");
        }
    }

    #[test]
    fn only_whole_values_are_variables() {
        let read =
            |json: &str| Toolcard::from_json(json).expect("valid").stub_with_variables().expect("a stub");
        let (python, names) =
            read(r#"{"name":"a","module":"m","class":"C","init_args":{"k":"${KEY}","n":["${OTHER}"]}}"#);
        assert!(
            python.code.contains(r#"k=os.environ["KEY"],"#)
                && python.code.contains(r#"n=[os.environ["OTHER"]],"#)
        );
        assert_eq!(names, ["KEY", "OTHER"]);
        for text in ["'${F}'{evil()}", "a ${KEY}", "${key}", "${}", "${KEY}${KEY}"] {
            let card =
                serde_json::json!({"name": "a", "module": "m", "class": "C", "init_args": {"k": text}});
            let (stub, names) = read(&card.to_string());
            assert!(stub.code.contains(&format!("k={},", Value::from(text))), "{}", stub.code);
            assert!(names.is_empty(), "{names:?}");
        }
    }

    #[test]
    fn usage_wins() {
        let stub = stub(r#"{"name":"jq","kind":"cli","usage":"jq '.items[]' file.json\n"}"#).expect("a stub");
        assert_eq!((stub.language.as_str(), stub.code.as_str()), ("shell", "jq '.items[]' file.json"));
    }
}
