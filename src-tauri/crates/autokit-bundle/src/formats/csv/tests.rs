use autokit_toolcard::{ReadCards, Toolcard};
use proptest::prelude::*;
use serde_json::{Map, Value, json};

use super::formula::{guard, starts_formula, unguard};
use super::*;
use crate::formats::FormatError;

fn read(text: &str) -> ReadCards {
    read_csv(text.as_bytes()).expect("a table")
}

fn objects(read: &ReadCards) -> Vec<Value> {
    read.cards.iter().map(|item| Value::Object(item.card.object().clone())).collect()
}

fn refused(read: &ReadCards) -> Vec<(usize, String)> {
    read.rejected.iter().map(|r| (r.position, r.problems[0].to_string())).collect()
}

fn written(cards: &[Toolcard]) -> String {
    let mut out = Vec::new();
    write_csv(&mut out, cards).expect("written");
    String::from_utf8(out).expect("UTF-8")
}

fn card(value: Value) -> Toolcard {
    let Value::Object(object) = value else { panic!("an object") };
    Toolcard::new(object).expect("a valid card")
}

#[test]
fn a_table_from_a_spreadsheet() {
    let text = "\u{feff}name; description;verified;tags;init_args;colour;documentation\r\n\
        Search;\"finds\r\n\"\"things\"\"; quickly\";TRUE;web | news|;{\"key\": \"${K}\"};{blue};\r\n\
        ;;;;;;\r\n\
        Other;[1];false;;;[1, {\"a\": 2}];https://a.b\r\n";
    let read = read(text);
    assert_eq!(
        objects(&read),
        [
            json!({"name": "Search", "description": "finds\r\n\"things\"; quickly", "verified": true,
                "tags": ["web", "news"], "init_args": {"key": "${K}"}, "colour": "{blue}"}),
            json!({"name": "Other", "description": "[1]", "verified": false, "colour": [1, {"a": 2}],
                "documentation": "https://a.b"}),
        ]
    );
    assert_eq!(read.cards[1].position, 2);
    assert!(read.rejected.is_empty());
}

#[test]
fn one_bad_row_does_not_block_the_others() {
    let read = read(
        "name,description,verified,parameters,\n\
         a,x,maybe,,\n\
         b,one, two,too,many,cells\n\
         c,x\n\
         ,nameless,,,\n\
         d,x,,{\"a\":,\n\
         c,again,,,\n\
         e,x,,\"{\"\"k\"\":1,\"\"k\"\":2}\",\n\
         f,x,,,stray\n",
    );
    let names: Vec<_> = read.cards.iter().map(|item| (item.position, item.card.name())).collect();
    assert_eq!(names, [(3, "c"), (8, "f")]);
    assert_eq!(read.cards[1].warnings[0].reason, "has a value in column 5, which has no name; skipped");
    let refused = refused(&read);
    assert_eq!(refused[0].1, "`verified` is a string; it must be true, false or null");
    assert_eq!(
        refused[1].1,
        "the card has 6 cells, but the first row has 5; quote values that contain a comma"
    );
    assert_eq!(refused[2], (4, "`name` is missing".to_owned()));
    assert!(refused[3].1.starts_with("`parameters` cannot be read: "), "{}", refused[3].1);
    assert_eq!(refused[4], (6, "the card repeats item 3: same provider and name".to_owned()));
    assert!(refused[5].1.starts_with("`parameters` has the key \"k\" twice"), "{}", refused[5].1);
    assert_eq!(read.rejected[1].name.as_deref(), Some("b"));
}

#[test]
fn a_first_row_that_cannot_name_fields_is_refused() {
    let error = |text: &str| read_csv(text.as_bytes()).expect_err("refused");
    assert!(matches!(error("name,tags,name\na,b,c"), FormatError::RepeatedColumn { name } if name == "name"));
    assert!(matches!(error("name,x,x\n"), FormatError::RepeatedColumn { name } if name == "x"));
    let no_name = error("Title,\u{202e}text\n1,2").to_string();
    assert!(no_name.contains("(it has: Title, ‹U+202E›text)"), "{no_name}");
    assert!(matches!(error("\n \r\n"), FormatError::Empty));
    assert!(matches!(error(&format!("name{}\n", ",".repeat(20_000))), FormatError::TooManyColumns { .. }));
    assert!(matches!(read_csv(&b"name\n\xe9"[..]), Err(FormatError::NotUtf8 { offset: 5, line: 2 })));
}

#[test]
fn an_unclosed_quotation_mark_is_reported() {
    let read = read("name,description\na,fine\nb,\"open\nc,lost\nd,lost\n");
    assert_eq!(objects(&read), [json!({"name": "a", "description": "fine"})]);
    assert_eq!(read.rejected[0].name.as_deref(), Some("b"));
    assert!(read.rejected[0].problems[0].reason.contains("on line 3"), "{:?}", read.rejected);
    assert!(super::read_csv("name\n\"a\"\"\"\n\"b\" \n".as_bytes()).expect("a table").rejected.is_empty());
}

#[test]
fn hostile_cells_harm_only_their_row() {
    let deep = format!("{}1{}", "[".repeat(5000), "]".repeat(5000));
    let read = read(&format!(
        "name,description,parameters,x\nbig,{},,\nnul\0,a,,\ndeep,a,{deep},\nkept,a\0b,,{deep}\nlong,,,{}\n",
        "x".repeat(1 << 20),
        "y".repeat(2 << 20)
    ));
    let refused = refused(&read);
    assert!(refused[0].1.starts_with("`description` has a text of 1048576 bytes"), "{}", refused[0].1);
    assert_eq!(refused[1].1, "`name` has control characters");
    assert!(refused[2].1.contains("recursion limit"), "{}", refused[2].1);
    assert_eq!(refused[3].0, 5);
    assert_eq!(objects(&read), [json!({"name": "kept", "description": "a\0b", "x": deep})]);
}

#[test]
fn columns_stand_in_the_usual_order_and_formulas_do_not_run() {
    let cards = [
        card(json!({"zeta": "=1+1", "name": "a", "documentation": null, "description": "@SUM(A1)"})),
        card(json!({"=cmd|' /C calc'!A0": 5, "description": "'-x", "name": "+b", "tags": ["-1", "b|c"]})),
    ];
    assert_eq!(
        written(&cards),
        "\u{feff}name,description,documentation,tags,zeta,'=cmd|' /C calc'!A0\r\n\
         a,'@SUM(A1),,,'=1+1,\r\n\
         '+b,''-x,,\"[\"\"-1\"\",\"\"b|c\"\"]\",,5\r\n"
    );
    assert_eq!(written(&[]), "\u{feff}name\r\n");
    let back = read(&written(&cards));
    assert_eq!(objects(&back)[0], json!({"name": "a", "description": "@SUM(A1)", "zeta": "=1+1"}));
    assert_eq!(back.cards[1].card.text("=cmd|' /C calc'!A0"), Some("5"));
}

/// Difficult texts: formulas, apostrophes, quotation marks, delimiters, line endings, brackets.
fn hostile_text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[=+@'\"\t\r\n,;|{}\\[\\]a1 -]{1,8}",
        "'{0,3}[=+@-].{0,6}",
        Just("[1]".to_owned()),
        Just("\"[1]\"".to_owned()),
        Just("\"\\\"[1]\\\"\"".to_owned()),
        Just("{\"a\":1}".to_owned()),
        ".{1,12}",
    ]
}

proptest! {
    #[test]
    fn unguarding_a_guarded_cell_restores_it(cell in hostile_text()) {
        let guarded = guard(cell.clone());
        prop_assert!(!starts_formula(&guarded));
        prop_assert_eq!(unguard(&guarded), cell);
    }

    #[test]
    fn writing_and_reading_loses_nothing(
        texts in prop::collection::vec(("[=+@' a-z]{1,4}_x", hostile_text()), 0..4),
        tags in prop::collection::vec(hostile_text(), 0..4),
        arguments in prop::collection::vec(("[a-z]{1,4}", hostile_text()), 0..3),
        known in (hostile_text(), hostile_text(), any::<bool>()),
    ) {
        let mut object = Map::new();
        object.insert("name".into(), "=tool".into());
        object.insert("description".into(), known.0.into());
        object.insert("init_args".into(), arguments.into_iter().map(|(k, v)| (k, Value::from(v))).collect());
        object.insert("usage".into(), known.1.clone().into());
        object.insert("openapi".into(), known.1.into());
        object.insert("tags".into(), tags.into());
        object.insert("verified".into(), known.2.into());
        for (field, text) in texts {
            object.insert(field, text.into());
        }
        let card = Toolcard::new(object).expect("valid");
        let back = read(&written(std::slice::from_ref(&card)));
        prop_assert_eq!(back.rejected.len(), 0);
        prop_assert_eq!(&back.cards[0].card, &card);
    }

    #[test]
    fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = read_csv(&bytes[..]).map(|read| read.cards.len());
        let _ = read_csv(&[&b"name,tags;\n"[..], &bytes].concat()[..]);
    }
}

#[test]
fn headings_may_have_capitals_and_excel_may_name_the_delimiter() {
    let expected = [json!({"name": "Search, fast", "provider": "P", "tags": ["a"]})];
    for text in [
        "Name;Provider;TAGS\nSearch, fast;P;a\n",
        "sep=;\nName;Provider;Tags\nSearch, fast;P;a\n",
        "\u{feff}\"SEP=;\"\r\nname;provider;tags\r\nSearch, fast;P;a\r\n",
        "sep=|\nname|provider|tags\nSearch, fast|P|a\n",
    ] {
        assert_eq!(objects(&read(text)), expected, "{text}");
        assert!(has_name_column(text.trim_start_matches('\u{feff}')), "{text}");
    }
    // Line numbers in messages include the `sep=` line.
    let open = read("sep=;\nname;provider\na;\"b\n");
    assert!(refused(&open)[0].1.contains("on line 3"), "{:?}", refused(&open));
    // Two columns that name the same field.
    assert!(matches!(read_csv(&b"Name,NAME\na,b\n"[..]), Err(FormatError::RepeatedColumn { .. })));
    // A field that differs from a known one only in case survives a round trip.
    let odd = [card(json!({"name": "a", "Name": "b", "Kind": "c"}))];
    assert_eq!(objects(&read(&written(&odd))), [json!({"name": "a", "Name": "b", "Kind": "c"})]);
}
