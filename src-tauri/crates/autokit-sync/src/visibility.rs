//! What members want to be seen by others, and the people of the team, exchanged with its server.

use autokit_library::TeamNote;
use autokit_team::{Code, Request, Step, Visibility};
use autokit_toolcard::CardId;

use crate::error::Result;
use crate::proposals::request_key;
use crate::sharing::{
    Directory, DirectoryGroup, DirectoryMember, WANTED, new_cards, note, parse, to_text, wanted,
};
use crate::sync::TeamSync;

impl TeamSync {
    /// Reads the team's members and groups.
    pub(crate) async fn read_directory(&mut self) -> Result<()> {
        let member = |member: autokit_team::Member| DirectoryMember {
            key: member.key,
            name: member.name,
            role: member.role,
            active: member.active,
        };
        let group = |group: autokit_team::Group| DirectoryGroup { key: group.key, name: group.name };
        let members = self.session.members().await?;
        let own = members.iter().find(|member| member.key == *self.session.member());
        let directory = Directory {
            own_groups: own.map(|own| own.groups.clone()).unwrap_or_default(),
            members: members.into_iter().map(member).collect(),
            groups: self.session.groups().await?.into_iter().map(group).collect(),
        };
        if directory != self.directory {
            note(&self.library, TeamNote::Directory, &directory).await?;
            self.directory = directory;
        }
        self.is_directory_current = true;
        Ok(())
    }

    /// Reads what is wanted for cards that are about to be sent.
    pub(crate) async fn read_pending_visibility(&mut self) -> Result<()> {
        self.wanted = wanted(&self.library).await?;
        self.new_cards = new_cards(&self.library).await?;
        Ok(())
    }

    /// Returns who sees a card that the team does not have yet.
    pub(crate) fn visibility_of_new(&self, card: &CardId) -> Visibility {
        let wanted = self.wanted.get(card.as_str()).cloned();
        // Of one that another member removed, whoever saw it before.
        let before = || parse(self.shared.get(card)?.visible_to.as_deref()?);
        wanted.or_else(before).unwrap_or_else(|| self.new_cards.clone())
    }

    /// Tells the team who is to see which of its cards.
    pub(crate) async fn send_pending_visibility(&mut self) -> Result<()> {
        for (card, visible_to) in wanted(&self.library).await? {
            let card = CardId::new(card);
            let Some(state) = self.shared.get(&card).cloned() else {
                // A new card waits until it is sent; one that is gone has nothing to show.
                if self.library.card(&card).is_err() {
                    self.settle_wanted(&card, &visible_to).await?;
                }
                continue;
            };
            let text = to_text(&visible_to);
            if state.visible_to.as_ref() != Some(&text) {
                let step = Step::Share {
                    card: autokit_team::CardKey::new(state.key.as_str()),
                    visible_to: visible_to.clone(),
                };
                let at = self.library.clock().stamp();
                let key = request_key(&step, at);
                let request = Request { key, reason: String::new(), at, steps: vec![step] };
                match self.session.send(&request).await {
                    Ok(_) => {
                        let state = autokit_library::SharedState { visible_to: Some(text), ..state };
                        self.library.set_shared(&[(card.clone(), state.clone())]).await?;
                        self.set_shared(card.clone(), state);
                    }
                    Err(error) if matches!(error.code, Code::NotAllowed | Code::NotFound) => {
                        tracing::warn!(%card, %error, "who sees a card stays as it is");
                    }
                    Err(error) => return Err(error.into()),
                }
            }
            self.settle_wanted(&card, &visible_to).await?;
        }
        Ok(())
    }

    /// Forgets what was wanted for a card, unless something else is wanted by now.
    async fn settle_wanted(&self, card: &CardId, visible_to: &Visibility) -> Result<()> {
        let _guard = WANTED.lock().await;
        let mut all = wanted(&self.library).await?;
        if all.get(card.as_str()) == Some(visible_to) {
            all.remove(card.as_str());
            note(&self.library, TeamNote::Wanted, &all).await?;
        }
        Ok(())
    }
}
