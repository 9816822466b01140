//! The team's cards, merged with local changes that it does not have yet.

use std::collections::HashSet;

use autokit_bundle::merge::merge;
use autokit_library::{
    Attribution, LibraryError, PackedVectors, ReceivedCard, Replica, SharedState, TeamNote, Write,
};
use autokit_team::{CardFeed, CardKey, Changes, Cursor, SharedCard, Visibility};
use autokit_toolcard::{Author, CardId, Draft, Operation, Origin, ProposedField, Revision, Toolcard};
use serde_json::{Map, Value};

use crate::error::{Result, SyncError};
use crate::position::{Dispute, Position};
use crate::proposals::digest;
use crate::sharing::to_text;
use crate::sync::{Report, SyncScope, TeamSync, meta};

/// Cards that are written at once, and bytes of them after which no more are read: a larger change does not fit into one
/// transaction of the library, which writes it twice then. A card is up to six rows.
const CARDS: usize = 100;
const BYTES: usize = 2 << 20;

/// How sure a person is of their own edit.
const CERTAIN: f32 = 1.0;

/// Why an edit is proposed that was made as one.
const NOT_ALLOWED: &str = "The team allows you to propose this, not to change it";

/// Why an edit of somebody who only reads is proposed, to nobody else.
const READS_ONLY: &str = "Your role in the team does not include changes, so this stays on this machine";

/// A card as the team has it.
struct Theirs {
    /// Its key and revision there; the local revision is not known yet.
    state: SharedState,
    card: Option<Toolcard>,
    vectors: Option<PackedVectors>,
    made: Attribution,
}

/// What a person changed here and the team does not have.
struct Mine {
    /// The card's content when both were the same last; `None` if there was none.
    common: Option<Map<String, Value>>,
    /// Its content now.
    card: Map<String, Value>,
    made: Attribution,
}

/// What receiving one card does.
struct Planned {
    received: ReceivedCard,
    /// What of a person's edit does not go with the team's, and whose it is.
    disputed: Option<(Draft, Author)>,
}

/// Reads cards that the team changed, as many as are written here at once.
async fn read(feed: &mut CardFeed, is_known: impl Fn(&CardKey, u32, &Visibility) -> bool) -> Result<Changes> {
    let mut read = feed.next(&is_known).await?;
    let size = |changes: &Changes| {
        changes.cards.iter().filter_map(|card| card.body.as_ref()).map(String::len).sum::<usize>()
    };
    let mut bytes = size(&read);
    while read.more && read.cards.len() + read.left_out.len() < CARDS && bytes < BYTES {
        let next = feed.next(&is_known).await?;
        // A card that was written again meanwhile counts as it is now.
        let again: HashSet<&CardKey> =
            next.cards.iter().map(|card| &card.card).chain(&next.left_out).collect();
        read.cards.retain(|card| !again.contains(&card.card));
        read.left_out.retain(|card| !again.contains(card));
        bytes += size(&next);
        read.cards.extend(next.cards);
        read.left_out.extend(next.left_out);
        read.unreadable += next.unreadable;
        (read.cursor, read.recent, read.more) = (next.cursor, next.recent, next.more);
    }
    Ok(read)
}

impl TeamSync {
    /// Writes what the team changed since the last time.
    pub(crate) async fn receive(&mut self, look: SyncScope, report: &mut Report) -> Result<()> {
        let mut stored = self.position.clone();
        let from = if look == SyncScope::Whole { &self.position.cursor } else { &self.recent.cards };
        let mut feed = self.session.feed(from, &self.position.filter);
        // What was written lately is listed again with each look.
        let mut changes = read(&mut feed, |card, number, to| self.knows(card, number, to)).await?;
        loop {
            let more = changes.more;
            if look != SyncScope::Whole {
                // What took long to write is still to be read.
                changes.cursor.clone_from(&self.position.cursor);
            }
            self.recent.cards.clone_from(&changes.recent);
            // The server reads the next ones while these are written here.
            let next = async { if more { Some(read(&mut feed, |_, _, _| false).await) } else { None } };
            let (taken, next) = tokio::join!(self.take_cards(changes, &mut stored, report), next);
            taken?;
            match next {
                Some(next) => changes = next?,
                None => return Ok(()),
            }
        }
    }

    /// Whether a card is here as it is at the team.
    fn knows(&self, card: &CardKey, number: u32, visible_to: &Visibility) -> bool {
        let state = self.by_key.get(card.as_str()).and_then(|id| self.shared.get(id));
        state.is_some_and(|state| {
            state.number == number && state.visible_to.as_deref() == Some(to_text(visible_to).as_str())
        })
    }

    /// Writes changes that were read. `stored` is the position that is written down.
    async fn take_cards(
        &mut self,
        changes: Changes,
        stored: &mut Position,
        report: &mut Report,
    ) -> Result<()> {
        let (mut theirs, mut shared) = (Vec::new(), Vec::new());
        let mut late = self.position.late.clone();
        let mut left_out = changes.left_out;
        report.invalid += changes.unreadable;
        let mut room = self.limit.saturating_sub(self.library.read(Replica::len));
        let mut cards = self.leave_out(&left_out, report).await?;
        cards.extend(changes.cards);
        for card in cards {
            let known = self.by_key.get(card.card.as_str()).and_then(|id| self.shared.get(id));
            let is_known = known.is_some_and(|state| state.number >= card.number);
            let shown = to_text(&card.visible_to);
            if let Some((id, state)) = self.by_key.get(card.card.as_str()).zip(known)
                && state.number == card.number
                && state.visible_to.as_ref() != Some(&shown)
            {
                shared.push((id.clone(), SharedState { visible_to: Some(shown), ..state.clone() }));
            }
            // What was deleted before it was ever here is nothing to write.
            if is_known || known.is_none() && card.body.is_none() {
                continue;
            }
            if known.is_none() {
                if room == 0 {
                    report.left_out += 1;
                    left_out.push(card.card);
                    continue;
                }
                room -= 1;
                // One that was deleted and is restored has proposals from before.
                if card.number > 1 && self.position.proposals != Cursor::default() {
                    late.push(card.card.as_str().to_owned());
                }
            }
            match self.theirs(card).await? {
                Some(card) => theirs.push(card),
                None => report.invalid += 1,
            }
        }
        if !shared.is_empty() {
            self.library.set_shared(&shared).await?;
            report.shown += shared.len();
            for (card, state) in shared {
                self.set_shared(card, state);
            }
        }
        self.take_vectors(&mut theirs).await?;
        let is_incomplete = self.position.is_incomplete || !left_out.is_empty();
        let position = Position { cursor: changes.cursor, is_incomplete, late, ..self.position.clone() };
        if !theirs.is_empty() || !changes.more && position != *stored {
            self.write(&theirs, &position, report).await?;
            *stored = self.position.clone();
        } else {
            // What was written lately is read again each time: where it stops in between is nothing to write down.
            self.position = position;
        }
        report.received += theirs.len();
        Ok(())
    }

    /// Takes the team's vectors of these cards; of the others, what is computed here may be new to the team.
    async fn take_vectors(&mut self, theirs: &mut [Theirs]) -> Result<()> {
        let cards: Vec<(&str, u32, &Toolcard)> = theirs
            .iter()
            .filter_map(|one| Some((one.state.key.as_str(), one.state.number, one.card.as_ref()?)))
            .collect();
        let mut vectors = self.vectors_of(&cards).await?;
        for one in theirs {
            one.vectors = vectors.remove(&one.state.key);
        }
        Ok(())
    }

    /// Brings cards back to what the team has, and proposes what this member changed but may not change.
    pub(crate) async fn propose_instead(&mut self, cards: &[CardId], report: &mut Report) -> Result<()> {
        let mut theirs = Vec::new();
        for card in cards {
            match self.common(card).await? {
                Some(common) => theirs.push(common),
                None => self.propose_new(card, report).await?,
            }
        }
        let mut writes = Vec::with_capacity(theirs.len());
        let mut disputed = Vec::new();
        for theirs in &theirs {
            let (id, expected) = self.here(theirs);
            if let Some((id, mine)) = id.as_ref().zip(self.mine(id.as_ref()).await?) {
                let fields = differing(&mine.card, theirs.card.as_ref().map(Toolcard::object));
                disputed.extend(draft(Some(id), self.not_allowed(), fields, &mine));
            }
            writes.push(received(id, expected, theirs, None));
        }
        self.commit(writes, disputed, &self.position.clone(), report).await
    }

    fn not_allowed(&self) -> &'static str {
        if self.rules.may_propose { NOT_ALLOWED } else { READS_ONLY }
    }

    /// Brings a card back to what the team has after an acceptance that it did not take. What was edited after that becomes
    /// a proposal of its own.
    pub(crate) async fn revert_to_team(&mut self, accepted: &Revision, report: &mut Report) -> Result<()> {
        let Some(theirs) = self.common(&accepted.card).await? else {
            let delete = [Write::Delete { id: accepted.card.clone() }];
            self.library.commit(&meta("Wait for the team's decision on a new card"), &delete).await?;
            return Ok(());
        };
        let (id, expected) = self.here(&theirs);
        let mut disputed = Vec::new();
        if let Some(mine) = self.mine(id.as_ref()).await? {
            let accepted = accepted.body.as_deref().and_then(|body| Toolcard::from_stored(body).ok());
            let later = differing(&mine.card, accepted.as_ref().map(Toolcard::object));
            disputed.extend(draft(id.as_ref(), self.not_allowed(), later, &mine));
        }
        let writes = vec![received(id, expected, &theirs, None)];
        self.commit(writes, disputed, &self.position.clone(), report).await
    }

    /// Returns a card as the team had it last; `None` for one that it does not have.
    async fn common(&self, card: &CardId) -> Result<Option<Theirs>> {
        let Some(state) = self.shared.get(card).cloned() else { return Ok(None) };
        let common = self.library.revision(card, state.local).await?;
        let card = common.body.as_deref().and_then(|body| Toolcard::from_stored(body).ok());
        Ok(Some(Theirs { state, card, vectors: None, made: made_by(&common) }))
    }

    /// Turns a new card into a proposal of one.
    async fn propose_new(&mut self, card: &CardId, report: &mut Report) -> Result<()> {
        let Some(mine) = self.mine(Some(card)).await? else { return Ok(()) };
        let fields = differing(&mine.card, None);
        let disputed = draft(None, self.not_allowed(), fields, &mine);
        let position = self.with_disputed(&self.position, disputed.into_iter().collect());
        let delete = [Write::Delete { id: card.clone() }];
        let meta = meta("Propose a new card instead of adding it");
        self.library.receive(&meta, &delete, &position.to_text()).await?;
        self.position = position;
        self.propose_conflicts(report).await
    }

    /// Reads a card of the team; `None` if it is not a valid one.
    async fn theirs(&mut self, shared: SharedCard) -> Result<Option<Theirs>> {
        let card = match shared.body.as_deref().map(Toolcard::from_json).transpose() {
            Ok(card) => card,
            Err(problems) => {
                tracing::warn!(card = %shared.card, ?problems, "a card of the team is not valid");
                return Ok(None);
            }
        };
        let made = Attribution {
            operation: Operation::parse(&shared.operation).unwrap_or(Operation::Edit),
            author: self.author(&shared.author).await?,
            reason: shared.reason,
            at: shared.at,
        };
        let state = SharedState {
            key: shared.card.as_str().to_owned(),
            number: shared.number,
            local: 0,
            visible_to: Some(to_text(&shared.visible_to)),
        };
        Ok(Some(Theirs { state, card, vectors: None, made }))
    }

    /// Writes cards of the team; whoever edits one of them meanwhile is merged as well.
    async fn write(&mut self, theirs: &[Theirs], position: &Position, report: &mut Report) -> Result<()> {
        loop {
            let (mut writes, mut disputed) = (Vec::with_capacity(theirs.len()), Vec::new());
            for card in theirs {
                let planned = self.plan(card).await?;
                writes.push(planned.received);
                disputed.extend(planned.disputed);
            }
            match self.commit(writes, disputed, position, report).await {
                Err(SyncError::Library(LibraryError::Conflict { .. })) => {}
                outcome => return outcome,
            }
        }
    }

    async fn commit(
        &mut self,
        received: Vec<ReceivedCard>,
        disputed: Vec<(Draft, Author)>,
        position: &Position,
        report: &mut Report,
    ) -> Result<()> {
        let keys: Vec<String> = received.iter().map(|received| received.state.key.clone()).collect();
        let with_vectors = received.iter().filter(|received| received.vectors.is_some());
        let embedded: HashSet<String> = with_vectors.map(|received| received.state.key.clone()).collect();
        let writes: Vec<Write> =
            received.into_iter().map(|received| Write::Receive(Box::new(received))).collect();
        let meta = meta("Receive the team's changes");
        let position = self.with_disputed(position, disputed);
        self.library.receive(&meta, &writes, &position.to_text()).await?;
        self.position = position;
        for (card, state) in self.library.shared_states(Some(&keys)).await? {
            if !embedded.contains(&state.key) {
                self.unembedded.insert(card.clone());
            }
            self.set_shared(card, state);
        }
        self.propose_conflicts(report).await
    }

    /// Returns a position with further edits to propose.
    fn with_disputed(&self, position: &Position, disputed: Vec<(Draft, Author)>) -> Position {
        let mut position = Position { disputed: self.position.disputed.clone(), ..position.clone() };
        position.disputed.extend(disputed.into_iter().map(|(draft, author)| {
            let text = serde_json::to_string(&draft).unwrap_or_default();
            let at = self.library.clock().stamp().to_string();
            Dispute { key: digest([text.as_str(), &author.0, &at]), draft, author }
        }));
        position
    }

    /// Proposes the edits that met another one: each once, also where that ended in the middle before.
    pub(crate) async fn propose_conflicts(&mut self, report: &mut Report) -> Result<()> {
        if self.position.disputed.is_empty() {
            return Ok(());
        }
        for Dispute { key, draft, author } in &self.position.disputed {
            match self.library.propose(draft.clone(), author, Some(key)).await {
                Ok(_) => report.conflicts += 1,
                // Deleted here meanwhile, and with it what was edited of it.
                Err(LibraryError::NoCard(_)) => {
                    tracing::info!(reason = draft.reason, "an edit has no card any more");
                }
                Err(error) => return Err(error.into()),
            }
        }
        self.position.disputed.clear();
        Ok(self.library.set_team_note(TeamNote::Position, &self.position.to_text()).await?)
    }

    /// Finds the card here: by its key there, or a new one of the same name that the team does not have. Returns it with the
    /// revision it is at.
    fn here(&self, theirs: &Theirs) -> (Option<CardId>, u32) {
        self.library.read(|replica| {
            let named = || {
                let id = replica.id_of(&theirs.card.as_ref()?.key())?;
                (!self.shared.contains_key(id)).then(|| id.clone())
            };
            let id = self.by_key.get(&theirs.state.key).cloned().or_else(named);
            let number = id.as_ref().and_then(|id| {
                let live = replica.get(id).map(|record| record.number);
                live.or_else(|| replica.deleted.get(id).map(|(number, _)| *number))
            });
            (id, number.unwrap_or(0))
        })
    }

    /// Returns what of a card the team does not have.
    async fn mine(&self, card: Option<&CardId>) -> Result<Option<Mine>> {
        let record = card.and_then(|card| self.library.card(card).ok());
        let Some((card, record)) = card.zip(record) else { return Ok(None) };
        let state = self.shared.get(card);
        if state.is_some_and(|state| state.local >= record.number) {
            return Ok(None);
        }
        let common = match state.filter(|state| state.local > 0) {
            Some(state) => self.library.revision(card, state.local).await?.body,
            None => None,
        };
        let newest = self.library.revision(card, record.number).await?;
        let common = common.and_then(|body| Toolcard::from_stored(&body).ok()).map(Toolcard::into_object);
        Ok(Some(Mine { common, card: record.card().into_object(), made: made_by(&newest) }))
    }

    async fn plan(&self, theirs: &Theirs) -> Result<Planned> {
        let (id, expected) = self.here(theirs);
        let Some((id, mine)) = id.as_ref().zip(self.mine(id.as_ref()).await?) else {
            return Ok(Planned { received: received(id, expected, theirs, None), disputed: None });
        };
        let Some(card) = &theirs.card else {
            let fields = differing(&mine.card, None);
            let disputed = draft(None, "Another member removed the card that you edited", fields, &mine);
            return Ok(Planned { received: received(Some(id.clone()), expected, theirs, None), disputed });
        };
        // Where both changed a field, the team's value stands.
        let merged = merge(mine.common.as_ref(), card.object(), &mine.card);
        let (merged, fields) = match Toolcard::new(merged.card) {
            Ok(with_mine) => {
                let fields =
                    merged.conflicts.into_iter().map(|conflict| field(conflict.field, conflict.theirs));
                ((with_mine != *card).then_some((with_mine, mine.made.clone())), fields.collect())
            }
            // Each side is valid, but not both together.
            Err(_) => (None, differing(&mine.card, Some(card.object()))),
        };
        let disputed = draft(Some(id), "Another member changed the same fields before you", fields, &mine);
        Ok(Planned { received: received(Some(id.clone()), expected, theirs, merged), disputed })
    }
}

fn received(
    id: Option<CardId>,
    expected: u32,
    theirs: &Theirs,
    merged: Option<(Toolcard, Attribution)>,
) -> ReceivedCard {
    ReceivedCard {
        id,
        expected,
        card: theirs.card.clone(),
        state: theirs.state.clone(),
        vectors: theirs.vectors.clone(),
        made: theirs.made.clone(),
        merged,
    }
}

fn made_by(revision: &Revision) -> Attribution {
    Attribution {
        operation: revision.operation,
        author: revision.author.clone(),
        reason: revision.reason.clone(),
        at: revision.at,
    }
}

fn field(field: String, value: Option<Value>) -> ProposedField {
    ProposedField { field, value, evidence: Vec::new(), confidence: CERTAIN }
}

/// Returns the fields in which a person's card differs from the team's, with the person's values.
fn differing(mine: &Map<String, Value>, theirs: Option<&Map<String, Value>>) -> Vec<ProposedField> {
    let none = Map::new();
    let theirs = theirs.unwrap_or(&none);
    let removed = theirs.keys().filter(|name| !mine.contains_key(*name));
    let names = mine.keys().chain(removed).filter(|name| mine.get(*name) != theirs.get(*name));
    names.map(|name| field(name.clone(), mine.get(name).cloned())).collect()
}

/// Returns the proposal of what is disputed, and its author; `None` if nothing is.
fn draft(
    card: Option<&CardId>,
    why: &str,
    fields: Vec<ProposedField>,
    mine: &Mine,
) -> Option<(Draft, Author)> {
    if fields.is_empty() {
        return None;
    }
    let draft = Draft { card: card.cloned(), ..Draft::new(Origin::Conflict, why, fields) };
    Some((draft, mine.made.author.clone()))
}
