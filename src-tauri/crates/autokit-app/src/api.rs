//! What commands take and give: the shapes shared with the window (as TypeScript) and with other
//! processes (as JSON).

mod ask;
mod cards;
mod jobs;
mod models;
mod system;
mod transfer;

pub use ask::{Answer, AskRequest, Candidate, SearchHit, SearchRequest, SearchResponse, Verdict};
pub use cards::{
    CardChange, CardCheck, CardCreate, CardDetail, CardList, CardRef, CardRestore, CardSummary, CardUpdate,
    CardsDelete, CardsPage, CardsQuery, Facet, Facets, RevisionView, Sort, UndoOutcome,
};
pub use jobs::{Job, JobKind, JobRef, JobState, JobTally, JobWait};
pub use models::{ModelChoice, ModelEntry, Models};
pub use system::{Check, CheckState, Doctor, Event, ModelState, Nothing, Role, Status};
pub use transfer::{
    ExistingCards, ExportOutcome, ExportRequest, ImportItem, ImportPreview, ImportPreviewRequest,
    ImportRequest, ImportSource, ItemStatus,
};
