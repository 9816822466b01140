//! One round: what may not be seen any more is forgotten, local changes are sent, the team's are received.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use autokit_library::{Library, Meta, ProposalLink, SharedState, TeamNote, TeamRules};
use autokit_team::{
    CardKey, Changed, Code, Cursor, MemberAccess, MemberKey, ProposalKey, Role, Session, Visibility,
};
use autokit_toolcard::{Author, CardId, Operation, ProposalId, Risk, Timestamp};

use crate::embedding::Embedding;
use crate::error::Result;
use crate::notices::Notice;
use crate::position::{MAX_CARDS, Position};
use crate::send::Sent;
use crate::sharing::{Directory, forget_visibility};

/// Most rounds in which others changed what is to be sent before it arrived; afterwards it stays for the next time.
const ROUNDS: usize = 20;

/// Forgets everything that a team showed to a member who was removed from it.
///
/// # Errors
/// When the library cannot be written.
pub async fn forget_team(library: &Library) -> Result<usize> {
    let shared: Vec<CardId> = library.shared_states(None).await?.into_keys().collect();
    let proposals: Vec<ProposalId> = library.proposal_links().await?.into_keys().collect();
    library.purge(&shared, &proposals).await?;
    forget_visibility(library, &shared, true).await?;
    Ok(shared.len())
}

/// Returns when a replica and its team's library were the same last.
///
/// # Errors
/// When the library cannot be read.
pub async fn synced_at(library: &Library) -> Result<Option<Timestamp>> {
    Ok(Position::of(library).await?.synced_at)
}

/// What a synchronization did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// Cards of the team that were written here.
    pub received: usize,
    /// Cards whose local changes the team has now, each as often as it was sent.
    pub sent: usize,
    /// Edits that met another one and wait in Review.
    pub conflicts: usize,
    /// Proposals of the team that were written here.
    pub proposals: usize,
    /// Cards that others see than before.
    pub shown: usize,
    /// Cards that were forgotten because they may not be seen any more.
    pub purged: usize,
    /// Cards and proposals of the team that are not valid and were not taken.
    pub invalid: usize,
    /// Cards that the replica's filter leaves out, or that are too many.
    pub left_out: usize,
    /// What this member is told of.
    pub notices: Vec<Notice>,
    /// Whether local changes are left because others kept changing the same cards.
    pub is_behind: bool,
}

impl Report {
    /// Adds what another synchronization did; whether something is left is as it is now.
    pub fn add(&mut self, other: &Report) {
        self.received += other.received;
        self.sent += other.sent;
        self.conflicts += other.conflicts;
        self.proposals += other.proposals;
        self.shown += other.shown;
        self.purged += other.purged;
        self.invalid += other.invalid;
        self.left_out += other.left_out;
        self.notices.extend(other.notices.iter().cloned());
        self.is_behind = other.is_behind;
    }
}

/// What of the team is looked at in a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SyncScope {
    /// What the member may do and see, cards and proposals, with what took long to write.
    Whole,
    /// Cards written since the last look, and proposals.
    News {
        /// Whether proposals are looked at.
        proposals: bool,
    },
}

impl SyncScope {
    /// What is to be looked at once this was told as well.
    pub(crate) fn widened_for(self, changed: Changed) -> SyncScope {
        match (self, changed) {
            (look, Changed::Cards) => look,
            // Its card is there before a proposal is.
            (SyncScope::News { .. }, Changed::Proposals) => SyncScope::News { proposals: true },
            (SyncScope::Whole, Changed::Proposals) | (_, Changed::Hidden | Changed::Members) => {
                SyncScope::Whole
            }
        }
    }
}

/// Up to where a team was read in this session, without what takes long to write.
#[derive(Clone, Debug, Default)]
pub(crate) struct Recent {
    pub(crate) cards: Cursor,
    pub(crate) proposals: Cursor,
    /// Whether a round looked at everything.
    pub(crate) is_whole: bool,
}

/// Keeps a library in step with a team's, as one member.
#[derive(Debug)]
pub struct TeamSync {
    pub(crate) library: Arc<Library>,
    pub(crate) session: Session,
    pub(crate) shared: HashMap<CardId, SharedState>,
    pub(crate) by_key: HashMap<String, CardId>,
    pub(crate) links: HashMap<ProposalId, ProposalLink>,
    pub(crate) by_proposal: HashMap<String, ProposalId>,
    pub(crate) position: Position,
    pub(crate) recent: Recent,
    pub(crate) rules: TeamRules,
    /// Proposals that this session asked the team to make.
    pub(crate) asked: HashSet<ProposalId>,
    /// Revision of the library at which the team had all of its cards: without a newer one, nothing is to be sent.
    pub(crate) all_sent_at: AtomicU64,
    /// The newest change of the library when the team had all comments that were made here.
    pub(crate) all_commented_at: Option<u64>,
    /// Proposals made here that are too large for the team.
    pub(crate) too_large: HashSet<ProposalId>,
    /// Proposals that were read before their cards.
    pub(crate) early: HashSet<ProposalKey>,
    /// Proposals that cannot be read.
    pub(crate) unreadable: HashSet<ProposalKey>,
    /// Proposals about which the team refused something: they are to be read again.
    pub(crate) refused: HashSet<ProposalKey>,
    /// The team's members and groups as last read, and whether they have to be read again.
    pub(crate) directory: Directory,
    pub(crate) is_directory_current: bool,
    /// Who is to see cards that are about to be sent, by id, and others that are new.
    pub(crate) wanted: BTreeMap<String, Visibility>,
    pub(crate) new_cards: Visibility,
    /// How cards are embedded here, and those whose vectors the team may not have.
    pub(crate) embedding: Option<Arc<dyn Embedding>>,
    pub(crate) unembedded: HashSet<CardId>,
    /// Most cards in the replica.
    pub(crate) limit: usize,
}

impl TeamSync {
    /// Prepares to keep `library` in step: one that only this process has open, and that is the replica of this team or
    /// is to become it.
    ///
    /// # Errors
    /// When the library cannot be read.
    pub async fn new(library: Arc<Library>, session: Session) -> Result<TeamSync> {
        let shared = library.shared_states(None).await?;
        let by_key = shared.iter().map(|(card, state)| (state.key.clone(), card.clone())).collect();
        let links = library.proposal_links().await?;
        let by_proposal = links.iter().filter_map(|(id, link)| Some((link.key.clone()?, *id))).collect();
        let mut position = Position::of(&library).await?;
        if shared.values().any(|state| state.visible_to.is_none()) {
            // Read by a version that did not note who sees a card.
            position.cursor = Cursor::default();
        }
        let rules = library.team_rules().await?.unwrap_or_default();
        Ok(TeamSync {
            session,
            shared,
            by_key,
            links,
            by_proposal,
            recent: Recent::default(),
            position,
            rules,
            asked: HashSet::new(),
            all_sent_at: AtomicU64::new(u64::MAX),
            all_commented_at: None,
            too_large: HashSet::new(),
            early: HashSet::new(),
            unreadable: HashSet::new(),
            refused: HashSet::new(),
            directory: Directory::of(&library).await?,
            is_directory_current: false,
            wanted: BTreeMap::new(),
            new_cards: Visibility::Team,
            embedding: None,
            unembedded: HashSet::new(),
            limit: MAX_CARDS,
            library,
        })
    }

    /// The session of the member.
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Sends and receives until nothing is left.
    ///
    /// # Errors
    /// When the server does not answer or the library cannot be written. Local changes stay for the next time.
    pub async fn sync(&mut self) -> Result<Report> {
        self.round(SyncScope::Whole).await
    }

    /// As [`TeamSync::sync`], but no more of the team is looked at unless this is the first round, what is sent or proposed here
    /// goes on to another one, or a proposal came before its card.
    ///
    /// # Errors
    /// As [`TeamSync::sync`].
    pub async fn round(&mut self, mut look: SyncScope) -> Result<Report> {
        let mut report = Report::default();
        if !self.recent.is_whole || self.shared.is_empty() {
            look = SyncScope::Whole;
        }
        if look == SyncScope::Whole {
            self.forget(&mut report).await?;
        }
        self.propose_conflicts(&mut report).await?;
        if self.shared.is_empty() {
            // Nothing is here that it could leave out.
            self.apply_filter(&mut report).await?;
        }
        for _ in 0..ROUNDS {
            self.read_pending_visibility().await?;
            let sent = self.send(&mut report).await?;
            self.receive(look, &mut report).await?;
            let is_done = sent == Sent::Everything && self.unsent().is_empty();
            if is_done {
                self.send_pending_visibility().await?;
                self.send_vectors().await?;
            }
            // What is proposed is about cards that the team has.
            let discussed = is_done && self.send_proposals().await?;
            if look != (SyncScope::News { proposals: false }) || discussed || self.has_proposals_to_read() {
                self.receive_proposals(look, &mut report).await?;
            }
            self.recent.is_whole |= look == SyncScope::Whole;
            let is_settled = is_done && !discussed && self.early.is_empty();
            if is_settled && !self.apply_filter(&mut report).await? {
                return Ok(report);
            }
            if look != SyncScope::Whole {
                // What cannot be sent may have been hidden.
                look = SyncScope::Whole;
                self.forget(&mut report).await?;
            }
        }
        report.is_behind = true;
        Ok(report)
    }

    /// [`MemberAccess::narrowed`] when the member was last looked at.
    pub(crate) fn narrowed(&self) -> Option<String> {
        self.position.narrowed.clone()
    }

    /// Reads the members and groups again in the next round.
    pub(crate) fn mark_directory_stale(&mut self) {
        self.is_directory_current = false;
    }

    /// Notes when everything was sent and received last.
    ///
    /// # Errors
    /// When the library cannot be written.
    pub async fn note_synced(&mut self, at: Timestamp) -> Result<()> {
        self.position.synced_at = Some(at);
        Ok(self.library.set_team_note(TeamNote::Position, &self.position.to_text()).await?)
    }

    /// Forgets cards that this member may not see any more, and reads everything again if there are others instead.
    async fn forget(&mut self, report: &mut Report) -> Result<()> {
        let (access, hidden) =
            tokio::join!(self.session.access(), self.session.hidden(&self.position.hidden));
        let access = match access {
            Err(error) if error.code == Code::Removed => {
                forget_team(&self.library).await?;
                self.shared.clear();
                self.by_key.clear();
                self.links.clear();
                self.by_proposal.clear();
                return Err(error.into());
            }
            access => access?,
        };
        self.apply_access(&access).await?;
        if !self.is_directory_current {
            self.read_directory().await?;
        }
        let mut hidden = hidden?;
        loop {
            let cards: Vec<CardId> =
                hidden.cards.iter().filter_map(|card| self.by_key.get(card.as_str()).cloned()).collect();
            self.forget_cards(&cards, &[]).await?;
            report.purged += cards.len();
            if !hidden.more {
                break;
            }
            hidden = self.session.hidden(&hidden.cursor).await?;
        }
        let is_compared = self.position.narrowed.as_ref() == Some(&access.narrowed);
        if is_compared && self.position.hidden == hidden.cursor {
            return Ok(());
        }
        if !is_compared && self.position.narrowed.is_some() {
            self.forget_hidden(report).await?;
        }
        let (hidden, narrowed) = (hidden.cursor, Some(access.narrowed));
        let position = Position { hidden, narrowed, ..self.position.clone() };
        self.library.receive(&meta("Compare with the team's library"), &[], &position.to_text()).await?;
        self.position = position;
        Ok(())
    }

    /// Notes what the member may do.
    async fn apply_access(&mut self, access: &MemberAccess) -> Result<()> {
        let needed = |risk: Risk| Some((risk, *access.approvals.get(risk.as_str())?));
        let rules = TeamRules {
            member: access.name.clone(),
            may_propose: access.role >= Role::Contributor,
            may_decide: access.role >= Role::Reviewer,
            approvals: Risk::ALL.into_iter().filter_map(needed).collect(),
        };
        if rules != self.rules {
            self.library.set_team_rules(&rules).await?;
            self.rules = rules;
        }
        Ok(())
    }

    async fn forget_hidden(&mut self, report: &mut Report) -> Result<()> {
        let visible: HashSet<String> =
            self.session.visible().await?.into_iter().map(|(key, _)| key.as_str().to_owned()).collect();
        let proposals: HashSet<ProposalKey> = self.session.visible_proposals().await?.into_iter().collect();
        // What was shown to others while they were read may be missing.
        let missing: Vec<CardKey> = self
            .by_key
            .keys()
            .filter(|key| !visible.contains(*key))
            .map(|key| CardKey::new(key.as_str()))
            .collect();
        let shown: HashSet<CardKey> = self.session.shown(&missing).await?.into_iter().collect();
        let hidden: Vec<CardId> = missing
            .iter()
            .filter(|key| !shown.contains(*key))
            .filter_map(|key| self.by_key.get(key.as_str()).cloned())
            .collect();
        let missing: Vec<ProposalKey> = self
            .by_proposal
            .keys()
            .map(|key| ProposalKey::new(key.as_str()))
            .filter(|key| !proposals.contains(key))
            .collect();
        let shown: HashSet<ProposalKey> = self.session.shown_proposals(&missing).await?.into_iter().collect();
        let hidden_proposals: Vec<ProposalId> = missing
            .iter()
            .filter(|key| !shown.contains(*key))
            .filter_map(|key| self.by_proposal.get(key.as_str()).copied())
            .collect();
        self.forget_cards(&hidden, &hidden_proposals).await?;
        report.purged += hidden.len();
        let has_more = visible.iter().any(|key| !self.by_key.contains_key(key))
            || proposals.iter().any(|key| !self.by_proposal.contains_key(key.as_str()));
        if has_more {
            self.position.cursor = Cursor::default();
            self.position.proposals = Cursor::default();
        }
        Ok(())
    }

    /// Returns the name of a member, which is how people are named in a library.
    pub(crate) async fn author(&mut self, member: &MemberKey) -> Result<Author> {
        if self.directory.name_of(member).is_none() {
            self.read_directory().await?;
        }
        Ok(Author(self.directory.name_of(member).unwrap_or("A former member").to_owned()))
    }

    pub(crate) fn set_shared(&mut self, card: CardId, state: SharedState) {
        self.by_key.insert(state.key.clone(), card.clone());
        self.shared.insert(card, state);
    }
}

/// How a synchronization is noted; each revision says itself who made it.
pub(crate) fn meta(reason: &str) -> Meta {
    Meta {
        operation: Operation::Import,
        author: Author::autokit(),
        reason: reason.to_owned(),
        change: None,
        request: None,
    }
}
