//! The preview of an import, page by page.

use autokit_api::{FieldConflict, ImportItem, ImportPreview, ItemStatus, SignatureView, SourceInfo};
use autokit_bundle::BundleCard;
use autokit_bundle::compare::MergeState;
use autokit_toolcard::{Rejected, diff_cards};
use serde_json::Map;

use super::plan::{ImportPlan, PlannedCard};
use crate::vocabulary::parse_entries;

/// Most names shown of cards that may be the same tool.
const MAX_SIMILAR: usize = 3;

impl ImportPlan {
    pub(super) fn preview(
        &self,
        only: Option<ItemStatus>,
        offset: u32,
        limit: u32,
        signature: SignatureView,
    ) -> ImportPreview {
        let incoming = &self.incoming;
        let (vocabulary, invalid_vocabulary) = parse_entries(&incoming.names, &incoming.synonyms);
        let mut preview = ImportPreview {
            about: SourceInfo {
                format: incoming.format,
                name: incoming.about.name.clone(),
                author: incoming.about.author.clone(),
                created_at: incoming.about.created_at,
                licence: incoming.about.licence.clone(),
                note: incoming.about.note.clone(),
                history: incoming.history,
                vectors: incoming.vectors.clone(),
                vocabulary: vocabulary.iter().map(ToString::to_string).collect(),
                invalid_vocabulary,
                digest: incoming.digest.clone(),
                signature,
            },
            new: 0,
            changed: 0,
            conflicting: 0,
            similar: 0,
            identical: 0,
            invalid: 0,
            suspect: self.count_flagged(|_| true),
            suspect_new: self.count_flagged(|planned| planned.ours.is_none()),
            reverting: self.planned.iter().filter(|planned| self.reverts(planned)).count() as u32,
            total: 0,
            items: Vec::new(),
        };
        let window = offset..offset.saturating_add(limit);
        // In the order of the source, with rejected items in their place.
        let mut rejected = incoming.rejected.iter().peekable();
        let add = |preview: &mut ImportPreview, status: ItemStatus, item: &dyn Fn() -> ImportItem| {
            *match status {
                ItemStatus::New => &mut preview.new,
                ItemStatus::Changed => &mut preview.changed,
                ItemStatus::Conflicting => &mut preview.conflicting,
                ItemStatus::Similar => &mut preview.similar,
                ItemStatus::Identical => &mut preview.identical,
                ItemStatus::Invalid => &mut preview.invalid,
            } += 1;
            if only.is_none_or(|only| only == status) {
                if window.contains(&preview.total) {
                    preview.items.push(item());
                }
                preview.total += 1;
            }
        };
        for (entry, planned) in incoming.entries.iter().zip(&self.planned) {
            while let Some(bad) = rejected.next_if(|bad| bad.position < entry.position) {
                add(&mut preview, ItemStatus::Invalid, &|| rejected_item(bad));
            }
            add(&mut preview, planned.status, &|| self.item(entry, planned));
        }
        for bad in rejected {
            add(&mut preview, ItemStatus::Invalid, &|| rejected_item(bad));
        }
        preview
    }

    fn reverts(&self, planned: &PlannedCard) -> bool {
        !self.incoming.bundled && planned.reverts()
    }

    fn count_flagged(&self, which: impl Fn(&PlannedCard) -> bool) -> u32 {
        let each = self.incoming.entries.iter().zip(&self.planned);
        each.filter(|(entry, planned)| which(planned) && planned.introduces_flagged_text(entry)).count()
            as u32
    }

    fn item(&self, entry: &BundleCard, planned: &PlannedCard) -> ImportItem {
        let (mut diff, mut conflicts) = (Vec::new(), Vec::new());
        if let Some(ours) = planned.ours.as_ref().filter(|_| planned.status != ItemStatus::Identical) {
            let now = ours.card().into_object();
            let mut after = entry.card.object().clone();
            if let Some(merged) = planned.merge_state.as_ref().and_then(MergeState::merged)
                && self.incoming.bundled
            {
                after.clone_from(&merged.card);
                for conflict in &merged.conflicts {
                    match &conflict.theirs {
                        Some(value) => after.insert(conflict.field.clone(), value.clone()),
                        None => after.shift_remove(&conflict.field),
                    };
                }
                conflicts = merged
                    .conflicts
                    .iter()
                    .cloned()
                    .map(|conflict| FieldConflict {
                        field: conflict.field,
                        base: conflict.base,
                        ours: conflict.ours,
                        theirs: conflict.theirs,
                    })
                    .collect();
            }
            diff = diff_cards(&now, &after);
        } else if planned.ours.is_none() && planned.status != ItemStatus::Invalid {
            diff = diff_cards(&Map::new(), entry.card.object());
        }
        let mut problems = entry.warnings.clone();
        problems.extend(planned.problem.clone());
        let similar = planned.similar.iter().take(MAX_SIMILAR);
        ImportItem {
            position: entry.position as u32,
            name: entry.card.name().to_owned(),
            provider: entry.card.key().provider,
            status: planned.status,
            card: planned.ours.as_ref().map(|ours| ours.id.clone()),
            problems,
            diff,
            conflicts,
            similar: similar.map(|record| (record.id.clone(), record.key.name.clone())).collect(),
            by: if self.incoming.bundled { entry.revision.author.0.clone() } else { String::new() },
            at: self.incoming.bundled.then_some(entry.revision.at),
            licence: self.provenance(entry).licence,
            behind: self.incoming.bundled && planned.status == ItemStatus::Identical && planned.is_behind(),
            suspect: planned.introduces_flagged_text(entry),
            reverts: self.reverts(planned),
        }
    }
}

fn rejected_item(bad: &Rejected) -> ImportItem {
    ImportItem {
        position: bad.position as u32,
        name: bad.name.clone().unwrap_or_default(),
        provider: String::new(),
        status: ItemStatus::Invalid,
        card: None,
        problems: bad.problems.clone(),
        diff: Vec::new(),
        conflicts: Vec::new(),
        similar: Vec::new(),
        by: String::new(),
        at: None,
        licence: None,
        behind: false,
        suspect: false,
        reverts: false,
    }
}
