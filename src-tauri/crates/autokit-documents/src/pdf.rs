//! PDF: text of pages with the headings of the outline, or those that larger letters show.

mod layout;
mod lines;

use std::panic::{AssertUnwindSafe, catch_unwind};

use pdf_extract::{Document as Pdf, Error as PdfError, output_doc_page};

use crate::document::Document;
use crate::error::ReadError;
use layout::Entry;
use lines::Lines;

/// Reads a PDF. A page that cannot be read is noted in the document; the others are read.
pub(crate) fn read(bytes: &[u8]) -> Result<Document, ReadError> {
    let mut pdf = guarded(|| Pdf::load_mem(bytes).map_err(|error| read_error(&error)))?;
    if pdf.is_encrypted() {
        // Many files are encrypted with an empty password: anybody may read them, but not print, say.
        guarded(|| pdf.decrypt("").map_err(|error| read_error(&error)))?;
    }
    let pages = guarded(|| Ok(pdf.get_pages()))?;
    if pages.is_empty() {
        return Err(ReadError::Damaged("it has no pages".to_owned()));
    }
    let mut lines = Vec::new();
    let mut unread_pages = Vec::new();
    let mut reason = None;
    for &number in pages.keys() {
        let mut page = Lines::new(number);
        let result = guarded(|| {
            output_doc_page(&pdf, &mut page, number).map_err(|error| ReadError::Damaged(error.to_string()))
        });
        // What a page showed before it failed is kept.
        lines.push(page.finish());
        if let Err(error) = result {
            unread_pages.push(number);
            reason.get_or_insert(error);
        }
    }
    if lines.iter().all(Vec::is_empty) {
        return Err(reason.unwrap_or(ReadError::Scanned(pages.len() as u32)));
    }
    let outline = guarded(|| Ok(pdf.get_toc().map(|toc| toc.toc).unwrap_or_default())).unwrap_or_default();
    let outline: Vec<Entry> = outline
        .into_iter()
        .map(|entry| Entry {
            level: entry.level.clamp(1, 6) as u8,
            title: entry.title,
            page: entry.page as u32,
        })
        .collect();
    let blocks = layout::blocks(&lines, &outline);
    let title = own_title(&pdf)
        .or_else(|| crate::document::first_heading(&blocks).map(str::to_owned))
        .unwrap_or_default();
    Ok(Document { title, blocks, pages: Some(pages.len() as u32), unread_pages })
}

/// Calls a reader of a damaged file, which may panic where it expected something else.
fn guarded<T>(read: impl FnOnce() -> Result<T, ReadError>) -> Result<T, ReadError> {
    catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|panic| {
        let text = panic
            .downcast_ref::<String>()
            .map(String::as_str)
            .or_else(|| panic.downcast_ref::<&str>().copied())
            .unwrap_or("its structure is not that of a PDF");
        Err(ReadError::Damaged(text.lines().next().unwrap_or_default().chars().take(200).collect()))
    })
}

fn read_error(error: &PdfError) -> ReadError {
    match error {
        PdfError::InvalidPassword | PdfError::Decryption(_) => ReadError::Encrypted,
        other => ReadError::Damaged(other.to_string()),
    }
}

/// Returns the title in the file's properties, unless it is what programs write there by themselves.
fn own_title(pdf: &Pdf) -> Option<String> {
    let info = pdf.trailer.get(b"Info").ok()?;
    let info = match info.as_reference() {
        Ok(id) => pdf.get_dictionary(id).ok()?,
        Err(_) => info.as_dict().ok()?,
    };
    let title = pdf_extract::decode_text_string(info.get(b"Title").ok()?).ok()?;
    let title = crate::document::one_line(&title);
    let lower = title.to_lowercase();
    let automatic = title.is_empty()
        || lower.starts_with("microsoft word")
        || lower.starts_with("untitled")
        || [".doc", ".docx", ".dvi", ".tex", ".odt", ".pdf", ".indd"]
            .iter()
            .any(|ending| lower.ends_with(ending));
    (!automatic).then_some(title)
}

#[cfg(test)]
mod tests {
    use pdf_extract::content::{Content, Operation};
    use pdf_extract::{Object, Stream, dictionary};

    use super::*;
    use crate::document::BlockKind;

    /// A line of a page: letter size, distance from the bottom, text.
    type Line<'a> = (i64, i64, &'a str);

    fn pdf(pages: &[&[Line<'_>]]) -> Pdf {
        let mut pdf = Pdf::with_version("1.5");
        let tree = pdf.new_object_id();
        let font = pdf.add_object(dictionary! {
            "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier",
        });
        let resources = pdf.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
        let mut kids: Vec<Object> = Vec::new();
        for lines in pages {
            let mut operations = Vec::new();
            for (size, y, text) in *lines {
                operations.push(Operation::new("BT", vec![]));
                operations.push(Operation::new("Tf", vec!["F1".into(), (*size).into()]));
                operations.push(Operation::new("Td", vec![50.into(), (*y).into()]));
                operations.push(Operation::new("Tj", vec![Object::string_literal(*text)]));
                operations.push(Operation::new("ET", vec![]));
            }
            let content =
                pdf.add_object(Stream::new(dictionary! {}, Content { operations }.encode().unwrap()));
            let page = pdf.add_object(dictionary! {
                "Type" => "Page", "Parent" => tree, "Contents" => content,
                "Resources" => resources, "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
            });
            kids.push(page.into());
        }
        let count = kids.len() as i64;
        pdf.objects.insert(
            tree,
            Object::Dictionary(dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => count }),
        );
        let catalog = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
        pdf.trailer.set("Root", catalog);
        pdf
    }

    fn bytes(mut pdf: Pdf) -> Vec<u8> {
        let mut bytes = Vec::new();
        pdf.save_to(&mut bytes).unwrap();
        bytes
    }

    #[test]
    fn large_letters_are_headings_and_lines_become_paragraphs() {
        let document = read(&bytes(pdf(&[
            &[
                (20, 780, "Handbook"),
                (10, 750, "All staff may take trains and will be re-"),
                (10, 738, "imbursed in full."),
                (10, 710, "Next paragraph."),
            ],
            &[(16, 780, "Hotels"), (10, 750, "Book early.")],
        ])))
        .unwrap();
        let shape: Vec<(bool, &str, Option<u32>)> = document
            .blocks
            .iter()
            .map(|block| (block.is_heading(), block.text.as_str(), block.page))
            .collect();
        assert_eq!(
            shape,
            [
                (true, "Handbook", Some(1)),
                (false, "All staff may take trains and will be reimbursed in full.", Some(1)),
                (false, "Next paragraph.", Some(1)),
                (true, "Hotels", Some(2)),
                (false, "Book early.", Some(2)),
            ]
        );
        assert_eq!(document.title, "Handbook");
        assert_eq!(document.pages, Some(2));
        assert_eq!(document.blocks[3].kind, BlockKind::Heading { level: 2, anchor: None });
    }

    #[test]
    fn what_every_page_repeats_is_left_out() {
        let texts: Vec<String> = (1..=6).map(|n| format!("Paragraph about subject {n}.")).collect();
        let numbers: Vec<String> = (1..=6).map(|n| format!("Page {n} of 6")).collect();
        let pages: Vec<Vec<Line<'_>>> = (0..6)
            .map(|at| vec![(8, 820, "Confidential draft"), (10, 700, &*texts[at]), (8, 20, &*numbers[at])])
            .collect();
        let pages: Vec<&[Line<'_>]> = pages.iter().map(Vec::as_slice).collect();
        let document = read(&bytes(pdf(&pages))).unwrap();
        let read: Vec<&str> = document.blocks.iter().map(|block| block.text.as_str()).collect();
        assert_eq!(read, texts.iter().map(String::as_str).collect::<Vec<_>>());
    }

    #[test]
    fn broken_files_say_so() {
        let whole = bytes(pdf(&[&[(10, 700, "Text.")]]));
        assert!(matches!(read(b"%PDF-1.5\nnothing"), Err(ReadError::Damaged(_))));
        assert!(matches!(read(&whole[..whole.len() / 3]), Err(ReadError::Damaged(_))));
        assert_eq!(read(&bytes(pdf(&[&[]]))), Err(ReadError::Scanned(1)));
    }

    #[test]
    fn an_unreadable_page_does_not_hide_the_others() {
        let mut pdf = pdf(&[&[(10, 700, "Readable.")], &[(10, 700, "Lost.")]]);
        let second = pdf.get_pages()[&2];
        pdf.get_dictionary_mut(second).unwrap().remove(b"MediaBox");
        let document = read(&bytes(pdf)).unwrap();
        assert_eq!(document.unread_pages, [2]);
        assert_eq!(document.blocks[0].text, "Readable.");
    }
}
