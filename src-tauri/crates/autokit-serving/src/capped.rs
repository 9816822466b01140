//! Caps the results of tools that are not AutoKit's own at 12,000 tokens (AutoAgent, section on tools), so
//! that one result does not fill a model's context.

use autokit_text::output::{DEFAULT_TOKENS, cap};
use rmcp::model::{CallToolResult, ContentBlock, ResourceContents};

/// Most Base64 characters of an image or audio that are passed on: about 1.5 MB.
const MAX_BINARY_CHARS: usize = 2_000_000;

/// Most content blocks of a result that are passed on; with more, none would have room for a sentence.
const MAX_BLOCKS: usize = 100;

/// Truncates the texts of a result to the cap, each with a notice. Images and the like stay.
pub(crate) fn capped(mut result: CallToolResult) -> CallToolResult {
    if let Some(structured) = &result.structured_content {
        let capped = cap(&structured.to_string(), DEFAULT_TOKENS);
        if capped.cut.is_some() {
            result.structured_content = None;
            // Most servers repeat the structured content as text. Without that text, nothing would be left
            // of it.
            if texts(&mut result).is_empty() {
                result.content.push(ContentBlock::text(capped.text));
            }
        }
    }
    let more = result.content.len().saturating_sub(MAX_BLOCKS);
    if more > 0 {
        result.content.truncate(MAX_BLOCKS);
        let notice = format!("Parts of the response left out: {more}.");
        result.content.push(ContentBlock::text(notice));
    }
    for block in &mut result.content {
        let large = match &*block {
            ContentBlock::Image(image) => Some((image.data.len(), image.mime_type.clone())),
            ContentBlock::Audio(audio) => Some((audio.data.len(), audio.mime_type.clone())),
            _ => None,
        };
        if let Some((length, kind)) = large.filter(|(length, _)| *length > MAX_BINARY_CHARS) {
            let bytes = length / 4 * 3;
            *block = ContentBlock::text(format!("{bytes} bytes of {kind}, too large to return."));
        }
    }
    let mut texts = texts(&mut result);
    // A text never has more tokens than bytes: small texts stay whole, and large ones share the rest.
    let share = DEFAULT_TOKENS / texts.len().max(1);
    let small: usize = texts.iter().map(|text| text.len()).filter(|bytes| *bytes <= share).sum();
    let large = texts.iter().filter(|text| text.len() > share).count().max(1);
    let room = (DEFAULT_TOKENS - small) / large;
    for text in texts.iter_mut().filter(|text| text.len() > share) {
        let cut = cap(text, room);
        if cut.cut.is_some() {
            **text = cut.text;
        }
    }
    result
}

fn texts(result: &mut CallToolResult) -> Vec<&mut String> {
    fn text(block: &mut ContentBlock) -> Option<&mut String> {
        match block {
            ContentBlock::Text(text) => Some(&mut text.text),
            ContentBlock::Resource(embedded) => match &mut embedded.resource {
                ResourceContents::TextResourceContents { text, .. } => Some(text),
                _ => None,
            },
            _ => None,
        }
    }
    result.content.iter_mut().filter_map(text).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn all_texts(result: &CallToolResult) -> Vec<String> {
        texts(&mut result.clone()).into_iter().map(|text| text.clone()).collect()
    }

    #[test]
    fn only_long_texts_are_truncated() {
        let (long, short) = ("lorem ipsum ".repeat(100_000), "short".to_owned());
        let blocks = [&long, &short, &long].map(|text| ContentBlock::text(text.as_str()));
        let picture = ContentBlock::image("AAAA", "image/png");
        let given = CallToolResult::success([blocks.as_slice(), &[picture]].concat());
        let cut = capped(given);
        let texts = all_texts(&cut);
        assert_eq!((texts[1].as_str(), cut.content.len()), ("short", 4));
        assert!(texts[0].len() < 40_000 && texts[0].contains("cut"), "{}", texts[0].len());
        assert_eq!(texts[0], texts[2]);
        let fits = CallToolResult::success(vec![ContentBlock::text("x y ".repeat(2_000))]);
        assert_eq!(all_texts(&capped(fits.clone())), all_texts(&fits));
    }

    #[test]
    fn only_the_first_of_many_parts_are_returned() {
        let many = (0..100_000).map(|n| ContentBlock::text(format!("part {n}"))).collect();
        let texts = all_texts(&capped(CallToolResult::success(many)));
        assert_eq!((texts.len(), texts[99].as_str()), (101, "part 99"));
        assert_eq!(texts[100], "Parts of the response left out: 99900.");
    }

    #[test]
    fn structured_content_is_capped_too() {
        let mut given = CallToolResult::success(Vec::new());
        given.structured_content = Some(json!({"rows": vec!["a row of words"; 20_000]}));
        let cut = capped(given);
        assert!(cut.structured_content.is_none() && all_texts(&cut)[0].contains("a row of words"));
        let mut small = CallToolResult::success(Vec::new());
        small.structured_content = Some(json!({"rows": 1}));
        assert!(capped(small).structured_content.is_some());
    }
}
