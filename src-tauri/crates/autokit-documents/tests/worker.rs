//! Reading in a process of its own: what a file made to do harm ends, and what is told about it.

#[cfg(target_os = "linux")]
use std::io::Write as _;

use autokit_documents::worker::Limits;
use autokit_documents::{ReadError, Reader};
use pdf_extract::content::{Content, Operation};
use pdf_extract::{Document as Pdf, Object, Stream, dictionary};

fn reader() -> Reader {
    Reader::new(env!("CARGO_BIN_EXE_read-document"), &[])
}

/// A PDF whose pages each show one text.
fn pdf(pages: usize, content: impl Fn(usize) -> Stream) -> Pdf {
    let mut pdf = Pdf::with_version("1.5");
    let tree = pdf.new_object_id();
    let font =
        pdf.add_object(dictionary! { "Type" => "Font", "Subtype" => "Type1", "BaseFont" => "Courier" });
    let resources = pdf.add_object(dictionary! { "Font" => dictionary! { "F1" => font } });
    let kids: Vec<Object> = (1..=pages)
        .map(|number| {
            let content = pdf.add_object(content(number));
            pdf.add_object(dictionary! {
                "Type" => "Page", "Parent" => tree, "Contents" => content, "Resources" => resources,
                "MediaBox" => vec![0.into(), 0.into(), 595.into(), 842.into()],
            })
            .into()
        })
        .collect();
    pdf.objects.insert(
        tree,
        Object::Dictionary(dictionary! { "Type" => "Pages", "Kids" => kids, "Count" => pages as i64 }),
    );
    let catalog = pdf.add_object(dictionary! { "Type" => "Catalog", "Pages" => tree });
    pdf.trailer.set("Root", catalog);
    pdf
}

fn shows(text: &str) -> Stream {
    let operations = vec![
        Operation::new("BT", vec![]),
        Operation::new("Tf", vec!["F1".into(), 10.into()]),
        Operation::new("Td", vec![50.into(), 700.into()]),
        Operation::new("Tj", vec![Object::string_literal(text)]),
        Operation::new("ET", vec![]),
    ];
    Stream::new(dictionary! {}, Content { operations }.encode().unwrap())
}

fn bytes(mut pdf: Pdf) -> Vec<u8> {
    let mut bytes = Vec::new();
    pdf.save_to(&mut bytes).unwrap();
    bytes
}

#[tokio::test]
async fn a_long_pdf_is_read_with_its_pages() {
    let long = bytes(pdf(500, |number| shows(&format!("Chapter about subject {number}."))));
    let document = reader().read("long.pdf", long).await.unwrap();
    assert_eq!(document.pages, Some(500));
    assert_eq!(document.blocks.len(), 500);
    let last = document.blocks.last().unwrap();
    assert_eq!((last.text.as_str(), last.page), ("Chapter about subject 500.", Some(500)));
    assert_eq!(document.title, "long.pdf");
}

#[tokio::test]
async fn other_formats_are_read_too() {
    let document = reader().read("a.md", b"# Title\n\nText.".to_vec()).await.unwrap();
    assert_eq!(document.title, "Title");
}

#[tokio::test]
async fn broken_files_are_damaged() {
    let whole = bytes(pdf(3, |_| shows("Text.")));
    let half = whole[..whole.len() / 2].to_vec();
    assert!(matches!(reader().read("half.pdf", half).await, Err(ReadError::Damaged(_))));
    let garbage = [b"%PDF-1.7\n".as_slice(), &[0x9c; 5000]].concat();
    assert!(matches!(reader().read("garbage.pdf", garbage).await, Err(ReadError::Damaged(_))));
}

#[tokio::test]
async fn a_password_is_told() {
    use pdf_extract::{EncryptionState, EncryptionVersion, Permissions};
    let encrypted = |user: &str| {
        let mut pdf = pdf(1, |_| shows("Secret words."));
        let id = Object::string_literal("0123456789abcdef");
        pdf.trailer.set("ID", vec![id.clone(), id]);
        let version = EncryptionVersion::V2 {
            document: &pdf,
            owner_password: "owner",
            user_password: user,
            key_length: 128,
            permissions: Permissions::all(),
        };
        let state = EncryptionState::try_from(version).unwrap();
        pdf.encrypt(&state).unwrap();
        bytes(pdf)
    };
    assert_eq!(reader().read("a.pdf", encrypted("user")).await, Err(ReadError::Encrypted));
    // With an empty password anybody may read it.
    let open = reader().read("b.pdf", encrypted("")).await.unwrap();
    assert_eq!(open.blocks[0].text, "Secret words.");
}

#[cfg(target_os = "linux")]
#[tokio::test]
async fn a_file_that_unpacks_without_end_is_stopped() {
    let mut packed = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::best());
    let spaces = vec![b' '; 1 << 20];
    for _ in 0..1024 {
        packed.write_all(&spaces).unwrap();
    }
    let packed = packed.finish().unwrap();
    let bomb = bytes(pdf(1, |_| Stream::new(dictionary! { "Filter" => "FlateDecode" }, packed.clone())));
    assert!(bomb.len() < 2 << 20);
    let limits = Limits { megabytes: 256, ..Limits::default() };
    let result = reader().with_limits(limits).read("bomb.pdf", bomb).await;
    assert_eq!(result, Err(ReadError::TooMuchMemory(256)));
}

#[tokio::test]
async fn a_program_that_says_nothing_is_no_reader() {
    let result = Reader::new("/bin/true", &[]).read("a.pdf", bytes(pdf(1, |_| shows("Text.")))).await;
    assert!(matches!(result, Err(ReadError::Process(_))), "{result:?}");
    let result = Reader::new("/nowhere", &[]).read("a.pdf", bytes(pdf(1, |_| shows("Text.")))).await;
    assert!(matches!(result, Err(ReadError::Process(_))), "{result:?}");
}
