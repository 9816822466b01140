use std::time::Duration;

use cpu_time::ThreadTime;

use super::{cap, tokens};

fn full(text: &str) -> usize {
    tokens::tokenizer().encode(text).len()
}

/// Texts of many kinds, some tens of kilobytes each.
fn samples() -> Vec<(&'static str, String)> {
    let mixed = "Der Fluß trägt das Boot. 日本語の文章です。 Привет, мир! مرحبا بالعالم 🙂🙃👩‍👩‍👧 नमस्ते ";
    let code = "fn main() {\n    let x: Vec<u32> = (0..10).map(|n| n * 2).collect();\n\tprintln!(\"{x:?}\"); // it's\n}\n";
    let base64 = "aGVsbG8gd29ybGQgdGhpcyBpcyBhIHRlc3Q+L0FCQ0RFRkdISUpLTE1OT1BRUlNUVVZXWFla";
    let numbers = (0..8_000).map(|n| (n * 7_919 % 100_003).to_string()).collect::<Vec<_>>();
    vec![
        ("languages", mixed.repeat(400)),
        ("code", code.repeat(400)),
        ("base64", base64.repeat(500)),
        ("numbers", numbers.join(",")),
        ("spaces", " ".repeat(40_000)),
        ("whitespace", " \n\t  \r\n   x".repeat(4_000)),
        ("one letter", "a".repeat(40_000)),
        ("emoji", "👩‍👩‍👧".repeat(2_000)),
    ]
}

#[test]
fn the_result_is_within_the_limit_and_close_to_it() {
    for (name, text) in samples() {
        let all = full(&text);
        for limit in [1, 50, 127, 128, 200, 1_000, 5_000, all - 1, all, all + 1] {
            let capped = cap(&text, limit);
            let kept = full(&capped.text);
            assert!(kept <= limit, "{name}: {kept} of {limit}");
            let Some(cut) = capped.cut else {
                assert!(all <= limit, "{name}: {all} of {limit} passed");
                assert_eq!(capped.text, text);
                continue;
            };
            assert!(all > limit, "{name}: {all} of {limit} was cut");
            if limit >= 200 && limit < all - 200 {
                assert!(kept + 100 >= limit, "{name}: only {kept} of {limit} kept");
                let (head, rest) = capped.text.split_once("\n[... ").expect("a notice");
                let (notice, tail) = rest.split_once(" ...]\n").expect("its end");
                assert!(text.starts_with(head) && text.ends_with(tail), "{name}");
                assert_eq!(head.len() + tail.len() + cut.bytes, text.len(), "{name}");
                assert!(notice.contains(&format!("{} tokens", cut.tokens)), "{notice}");
                // Tokens may be split differently at the cuts, by one or two.
                assert!((full(head) + full(tail) + cut.tokens).abs_diff(all) < 8, "{name}: {cut:?} of {all}");
                assert!(cut.counted);
            }
        }
    }
}

#[test]
fn the_head_equals_the_first_tokens_of_the_whole_text() {
    for (name, text) in samples() {
        let all = tokens::tokenizer().encode(&text);
        let ends: Vec<usize> = all
            .iter()
            .scan(0, |end, token| {
                *end += tokens::tokenizer().bpe.token_len(*token);
                Some(*end)
            })
            .collect();
        for limit in [1, 2, 3, 100, 999, 4_000] {
            let wanted = ends[..limit.min(ends.len())].iter().rev().find(|end| text.is_char_boundary(**end));
            assert_eq!(tokens::head(&text, limit), wanted.copied().unwrap_or(0), "{name} at {limit}");
        }
        let kept = full(&text[tokens::tail(&text, 200)..]);
        assert!((195..=202).contains(&kept), "{name}: {kept}");
    }
}

#[test]
fn a_huge_text_costs_no_more_than_a_large_one() {
    // The first call loads the vocabulary.
    assert!(cap("warm", 1).cut.is_none());
    let kinds: [(&str, &str); 4] =
        [("words", "all work and no play "), ("one word", "a"), ("spaces", " "), ("cjk", "語")];
    for (name, unit) in kinds {
        let fastest = |bytes: usize| {
            let text = unit.repeat(bytes / unit.len());
            let once = || {
                let began = ThreadTime::now();
                let capped = cap(&text, 12_000);
                assert!(capped.cut.is_some_and(|cut| cut.bytes > bytes / 2), "{name}");
                began.elapsed()
            };
            (0..10).map(|_| once()).min().unwrap_or(Duration::MAX)
        };
        let (large, huge) = (fastest(5 << 20), fastest(100 << 20));
        // Tokenizing everything would take 20 times as long.
        assert!(
            huge < large * 8 + Duration::from_millis(5),
            "{name}: {large:?} for 5 MB, {huge:?} for 100 MB"
        );
    }
}

#[test]
fn short_texts_pass_untouched() {
    for text in ["", "a", "日本語", "🙂"] {
        assert_eq!(cap(text, text.len()).text, text);
    }
    assert_eq!(cap("hello world", 2).cut, None);
    let cut = cap("hello world", 1);
    assert_eq!((cut.text.as_str(), cut.cut.map(|cut| cut.bytes)), ("hello", Some(6)));
    assert_eq!(cap("🙂🙂🙂", 0).text, "");
}
