//! What people and agents said about earlier answers, as searches want it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use autokit_error::Result;
use autokit_search::Opinion;

use super::Core;

/// The opinions of each profile that asked lately.
#[derive(Debug, Default)]
pub(super) struct Opinions(Mutex<HashMap<String, Arc<Vec<Opinion>>>>);

impl Opinions {
    /// Feedback was added: what is known is old.
    pub(super) fn forget(&self) {
        self.0.lock().expect("no holder panics").clear();
    }
}

impl Core {
    /// What a profile said about earlier answers.
    pub(super) async fn opinions_of(&self, profile: &str) -> Result<Arc<Vec<Opinion>>> {
        let known = self.opinions.0.lock().expect("no holder panics").get(profile).cloned();
        if let Some(known) = known {
            return Ok(known);
        }
        let feedback = self.library.feedback(profile).await?;
        let opinions = feedback.into_iter().map(|feedback| Opinion {
            question: feedback.question,
            card: feedback.card.to_string(),
            helpful: feedback.helpful,
        });
        let opinions: Arc<Vec<Opinion>> = Arc::new(opinions.collect());
        let mut known = self.opinions.0.lock().expect("no holder panics");
        known.insert(profile.to_owned(), Arc::clone(&opinions));
        Ok(opinions)
    }
}
