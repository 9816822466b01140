//! Who sees what: every role and visibility.

use anyhow::{Context, Result, ensure};
use autokit_team::{
    CardFilter, CardKey, Changed, Code, Cursor, GroupKey, Member, NewProposal, Role, Session, Step,
    Visibility,
};
use futures_util::StreamExt as _;
use surrealdb::types::{Object, RecordId, RecordIdKey, Value};

use crate::cards::{all, edit, new_card, request, steps};
use crate::place::Place;

/// How long something may take: only so that a test that fails does not hang.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(90);
/// Part of the text of cards that whoever tries must not see.
pub(crate) const SECRET: &str = "burnt toast";

/// The visibilities of a team with one group and one person that matter.
fn visibilities(group: &GroupKey, person: &Session) -> Vec<Visibility> {
    let roles = Role::ALL.map(Visibility::Role);
    let others = [Visibility::Everyone, Visibility::Team, Visibility::Group(group.clone())];
    others.into_iter().chain(roles).chain([Visibility::Person(person.member().clone())]).collect()
}

/// Whether a member sees a card, as the rules say: written apart from the rules in the database.
fn is_shown(member: &Member, to: &Visibility) -> bool {
    member.active
        && match to {
            Visibility::Everyone | Visibility::Team => true,
            Visibility::Role(role) => member.role >= *role,
            Visibility::Group(group) => member.groups.contains(group),
            Visibility::Person(person) => *person == member.key,
        }
}

/// Puts a card into the database as whoever runs the server, so that nobody has to see it.
pub(crate) async fn put(place: &Place, author: &Session, body: &str, to: &Visibility) -> Result<CardKey> {
    let mut response = place
        .owner
        .db()
        .query(
            "LET $audience = fn::audience($to);
             LET $key = rand::string(20);
             LET $name = fn::name($audience, $key);
             CREATE type::record('card', $name) SET key = $key, number = 1, visible_to = $to, audience = $audience;
             CREATE type::record('revision', [$name, 1]) SET card = $key, audience = $audience, number = 1,
                operation = 'create', author = $author, reason = $body, at = time::now(), body = $body,
                source = 'owner', position = 0;
             RETURN $key;",
        )
        .bind(("to", value_of(to)))
        .bind(("author", RecordId::new("member", author.member().as_str())))
        .bind(("body", body.to_owned()))
        .await?
        .check()?;
    let key: Option<String> = response.take(5)?;
    Ok(CardKey::new(key.context("a key")?))
}

/// The row of a card, as whoever runs the server sees it.
async fn row(place: &Place, card: &CardKey) -> Result<Object> {
    let query = place.owner.db().query("SELECT * FROM card WHERE key = $card");
    let rows: Vec<Object> = query.bind(("card", card.as_str().to_owned())).await?.take(0)?;
    rows.into_iter().next().context("a card")
}

fn value_of(to: &Visibility) -> Value {
    let mut object = Object::new();
    match to {
        Visibility::Everyone => drop(object.insert("kind", "everyone".to_owned())),
        Visibility::Team => drop(object.insert("kind", "team".to_owned())),
        Visibility::Role(role) => {
            object.insert("kind", "role".to_owned());
            object.insert("role", role.as_str().to_owned());
        }
        Visibility::Group(group) => {
            object.insert("kind", "group".to_owned());
            object.insert("group", RecordId::new("group", group.as_str()));
        }
        Visibility::Person(person) => {
            object.insert("kind", "person".to_owned());
            object.insert("person", RecordId::new("member", person.as_str()));
        }
    }
    Value::Object(object)
}

/// The keys of a member's audiences, as they read them.
pub(crate) async fn own_audiences(session: &Session) -> Result<Value> {
    let query = session.db().query("SELECT VALUE audiences FROM ONLY $me");
    Ok(query.bind(("me", RecordId::new("member", session.member().as_str()))).await?.take::<Value>(0)?)
}

/// The keys of all audiences that a card has.
pub(crate) async fn all_audiences(place: &Place) -> Result<Value> {
    let keys: Vec<Value> = place.owner.db().query("SELECT VALUE audience FROM card").await?.take(0)?;
    Ok(Value::Array(keys.into()))
}

/// What a card's row is named.
pub(crate) async fn name_of(place: &Place, card: &CardKey) -> Result<String> {
    match row(place, card).await?.get("id") {
        Some(Value::RecordId(RecordId { key: RecordIdKey::String(name), .. })) => Ok(name.clone()),
        other => anyhow::bail!("{other:?}"),
    }
}

/// The key of a card's audience.
pub(crate) async fn audience_of(place: &Place, card: &CardKey) -> Result<Value> {
    row(place, card).await?.get("audience").cloned().context("a key")
}

/// Checks everything a member can read against the rules.
async fn check_reads(
    place: &Place,
    session: &Session,
    member: &Member,
    cards: &[(CardKey, Visibility)],
) -> Result<()> {
    let mut expected: Vec<&CardKey> =
        cards.iter().filter(|(_, to)| is_shown(member, to)).map(|(card, _)| card).collect();
    expected.sort_unstable();
    let seen = all(session).await?;
    let mut found: Vec<&CardKey> = seen.iter().map(|card| &card.card).collect();
    found.sort_unstable();
    ensure!(found == expected, "{member:?} sees {found:?} instead of {expected:?}");
    let visible = session.visible().await?;
    ensure!(visible.len() == expected.len(), "{member:?}: {visible:?}");
    for (card, to) in cards {
        let history = session.history(card).await?;
        ensure!(history.len() == usize::from(is_shown(member, to)), "{member:?}: {to:?}: {history:?}");
    }
    // Whatever audiences somebody names: none, their own, and as if they knew the keys of all.
    let counts = "RETURN count(SELECT * FROM card); RETURN count(SELECT * FROM revision)";
    for (audiences, seen) in [
        (Value::None, 0),
        (own_audiences(session).await?, expected.len()),
        (all_audiences(place).await?, expected.len()),
    ] {
        let mut counts = session.db().query(counts).bind(("audiences", audiences)).await?;
        for statement in 0..2 {
            let count: Option<i64> = counts.take(statement)?;
            ensure!(count == Some(seen as i64), "{member:?} counts {count:?}");
        }
    }
    Ok(())
}

pub(crate) async fn roles_and_visibilities_decide_what_is_seen(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let mut sessions = Vec::new();
    for role in Role::ALL {
        for name in ["in", "out"] {
            let session = place.member(&format!("{role}_{name}"), role).await?;
            if name == "in" {
                admin.set_groups(session.member(), std::slice::from_ref(&cooks)).await?;
            }
            sessions.push(session);
        }
    }
    let person = &sessions[2];
    let mut cards = Vec::new();
    for to in visibilities(&cooks, person) {
        cards.push((put(place, &admin, "toast", &to).await?, to));
    }
    let members = admin.members().await?;
    let of =
        |session: &Session| members.iter().find(|member| member.key == *session.member()).context("a member");
    for session in sessions.iter().chain([&admin]) {
        check_reads(place, session, of(session)?, &cards).await?;
    }
    // Who may change what they see: reviewers and administrators, and nothing else.
    for session in &sessions {
        let member = of(session)?;
        for (card, to) in &cards {
            let expected = match (is_shown(member, to), member.role >= Role::Reviewer) {
                (_, false) => Some(Code::NotAllowed),
                (false, true) => Some(Code::NotFound),
                (true, true) => None,
            };
            let number = admin_number(place, card).await?;
            let wrote =
                session.send(&request(&format!("{card}"), vec![edit(card, number, Some("toast"))])).await;
            ensure!(wrote.as_ref().err().map(|error| error.code) == expected, "{member:?} {to:?}: {wrote:?}");
        }
        // Nobody makes a card that they do not see, or shows one to others in that way.
        for to in visibilities(&cooks, person) {
            let allowed = member.role >= Role::Reviewer && is_shown(member, &to);
            let wrote = session.send(&request(&format!("{to:?}"), vec![new_card("new", to.clone())])).await;
            ensure!(wrote.is_ok() == allowed, "{member:?} {to:?}: {wrote:?}");
        }
    }
    Ok(())
}

pub(crate) async fn admin_number(place: &Place, card: &CardKey) -> Result<u32> {
    match row(place, card).await?.get("number") {
        Some(Value::Number(number)) => Ok(number.to_int().context("a number")? as u32),
        other => anyhow::bail!("{other:?}"),
    }
}

/// Random numbers that are the same in each run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        // Knuth's MMIX generator; its high bits are the random ones.
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) % bound as u64) as usize
    }

    fn some<T: Clone>(&mut self, from: &[T]) -> Vec<T> {
        from.iter().filter(|_| self.below(2) == 0).cloned().collect()
    }

    fn visibility(&mut self, groups: &[GroupKey], members: &[Session]) -> Visibility {
        match self.below(5) {
            0 => Visibility::Everyone,
            1 => Visibility::Team,
            2 => Visibility::Role(Role::ALL[self.below(4)]),
            3 => Visibility::Group(groups[self.below(groups.len())].clone()),
            _ => Visibility::Person(members[self.below(members.len())].member().clone()),
        }
    }
}

pub(crate) async fn random_grants_leak_nothing(place: &Place) -> Result<()> {
    const ROUNDS: usize = 6;
    let mut random = Random(20_261_128);
    let admin = place.member("admin", Role::Admin).await?;
    let mut groups = Vec::new();
    for name in ["cooks", "guests", "staff"] {
        groups.push(admin.create_group(name).await?.key);
    }
    let mut sessions = Vec::new();
    for at in 0..6 {
        sessions.push(place.member(&format!("member{at}"), Role::ALL[random.below(4)]).await?);
    }
    let mut cards = Vec::new();
    for round in 0..ROUNDS {
        for _ in 0..5 {
            let to = random.visibility(&groups, &sessions);
            cards.push((put(place, &admin, "toast", &to).await?, to));
        }
        for session in &sessions {
            admin.set_groups(session.member(), &random.some(&groups)).await?;
            admin.set_role(session.member(), Role::ALL[random.below(4)]).await?;
            admin.set_active(session.member(), random.below(5) > 0).await?;
        }
        // Cards that change hands.
        for _ in 0..4 {
            let at = random.below(cards.len());
            let to = random.visibility(&groups, &sessions);
            let query = place.owner.db().query("RETURN fn::show($card, $to)");
            let query = query.bind(("card", Value::Object(row(place, &cards[at].0).await?)));
            query.bind(("to", value_of(&to))).await?.check()?;
            cards[at].1 = to;
        }
        let members = admin.members().await?;
        for session in sessions.iter().chain([&admin]) {
            let member = members.iter().find(|member| member.key == *session.member()).context("a member")?;
            check_reads(place, session, member, &cards).await.with_context(|| format!("round {round}"))?;
        }
    }
    Ok(())
}

pub(crate) async fn a_member_hears_of_what_they_see(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let (cook, bob) = (place.member("cook", Role::Reviewer).await?, place.member("bob", Role::Reader).await?);
    admin.set_groups(cook.member(), std::slice::from_ref(&cooks)).await?;
    let mut heard = bob.watch().await?;
    let listen = bob.db().query("LIVE SELECT * FROM card WHERE $audiences != NONE");
    let listen = listen.bind(("audiences", own_audiences(&bob).await?));
    let mut notes = listen.await?.stream::<surrealdb::Notification<Value>>(0)?;
    let hidden =
        cook.send(&request("one", vec![new_card(SECRET, Visibility::Group(cooks))])).await?.remove(0).card;
    let shown = cook.send(&request("two", vec![new_card("toast", Visibility::Team)])).await?.remove(0).card;
    // The second is heard of, and it is the first that is.
    let note = tokio::time::timeout(PATIENCE, notes.next()).await?.context("a notification")??;
    let said = format!("{:?}", note.data);
    ensure!(said.contains(shown.as_str()) && !said.contains(hidden.as_str()), "{said}");
    let changed = tokio::time::timeout(PATIENCE, heard.next()).await?.context("a change")??;
    ensure!(changed == Changed::Cards, "{changed:?}");
    admin.set_role(bob.member(), Role::Contributor).await?;
    loop {
        match tokio::time::timeout(PATIENCE, heard.next()).await?.context("a change")?? {
            Changed::Members => return Ok(()),
            Changed::Cards => {}
            Changed::Hidden => anyhow::bail!("nothing was hidden"),
            Changed::Proposals => anyhow::bail!("nobody proposed anything"),
        }
    }
}

pub(crate) async fn who_sees_less_is_told_and_nobody_else(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let (cook, bob) = (place.member("cook", Role::Reviewer).await?, place.member("bob", Role::Reader).await?);
    admin.set_groups(cook.member(), std::slice::from_ref(&cooks)).await?;
    let card = cook.send(&request("one", vec![new_card("kettle", Visibility::Team)])).await?.remove(0).card;
    let hidden = async || {
        let start = Cursor::default();
        anyhow::Ok([cook.hidden(&start).await?.cards, bob.hidden(&start).await?.cards])
    };
    let mut heard = bob.watch().await?;
    // Only the cooks from now on: Bob loses it.
    let mut narrower = edit(&card, 1, Some("kettle"));
    narrower.visible_to = Some(Visibility::Group(cooks.clone()));
    cook.send(&request("two", vec![narrower])).await?;
    let after = hidden().await?;
    ensure!(after == [vec![], vec![card.clone()]], "{after:?}");
    // Of the row that is gone he may hear before.
    while tokio::time::timeout(PATIENCE, heard.next()).await?.context("a change")?? != Changed::Hidden {}
    ensure!(bob.visible().await?.is_empty() && bob.history(&card).await?.is_empty());

    // What Bob never saw is none of his business.
    let told = bob.hidden(&Cursor::default()).await?.cursor;
    let mut next = edit(&card, 2, Some("kettle"));
    next.visible_to = Some(Visibility::Person(cook.member().clone()));
    cook.send(&request("three", vec![next])).await?;
    ensure!(hidden().await? == after && bob.hidden(&Cursor::default()).await?.cursor == told);
    // Nor is what was hidden before he was given his role.
    let later = "UPDATE $member SET changed_at = time::now() + 2m";
    let member = RecordId::new("member", bob.member().as_str());
    place.owner.db().query(later).bind(("member", member)).await?.check()?;
    ensure!(bob.hidden(&Cursor::default()).await?.cards.is_empty());
    // Shown to the team again, it is hidden from nobody.
    let mut wider = edit(&card, 3, Some("kettle"));
    wider.visible_to = Some(Visibility::Team);
    cook.send(&request("four", vec![wider])).await?;
    ensure!(hidden().await? == [vec![], vec![]] && bob.visible().await?.len() == 1);
    // A group less is less to see.
    let before = cook.access().await?.narrowed;
    admin.set_groups(cook.member(), &[]).await?;
    ensure!(cook.access().await?.narrowed != before);
    Ok(())
}

fn share(card: &CardKey, visible_to: Visibility) -> Step {
    Step::Share { card: card.clone(), visible_to }
}

pub(crate) async fn a_reviewer_says_who_sees_a_card(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let bakers = admin.create_group("bakers").await?.key;
    let (cook, bob) = (place.member("cook", Role::Reviewer).await?, place.member("bob", Role::Reader).await?);
    admin.set_groups(cook.member(), std::slice::from_ref(&cooks)).await?;
    let card = cook.send(&request("one", vec![new_card("kettle", Visibility::Team)])).await?.remove(0).card;
    let before = bob.changes(&Cursor::default(), &CardFilter::default()).await?;

    let of_cooks = share(&card, Visibility::Group(cooks.clone()));
    let refused = bob.send(&steps("two", vec![of_cooks.clone()])).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    // Nobody hides a card from themselves.
    let refused = cook.send(&steps("three", vec![share(&card, Visibility::Group(bakers))])).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    cook.send(&steps("four", vec![of_cooks])).await?;
    ensure!(bob.visible().await?.is_empty() && bob.history(&card).await?.is_empty());
    // What it says stays, with its number.
    let shown = all(&cook).await?;
    ensure!(shown[0].number == 1 && shown[0].visible_to == Visibility::Group(cooks), "{shown:?}");
    // A card that somebody does not see is none to them, an administrator as well.
    let absent = CardKey::new("a".repeat(card.as_str().len()));
    for (key, card) in [("hidden", &card), ("absent", &absent)] {
        let refused = admin.send(&steps(key, vec![share(card, Visibility::Team)])).await;
        ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotFound), "{key}: {refused:?}");
    }
    // Shown again, it arrives again.
    cook.send(&steps("five", vec![share(&card, Visibility::Everyone)])).await?;
    let again = bob.changes(&before.cursor, &CardFilter::default()).await?.cards;
    ensure!(again.iter().any(|one| one.card == card && one.visible_to == Visibility::Everyone), "{again:?}");
    Ok(())
}

pub(crate) async fn decisions_are_audited_where_their_card_is_seen(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let cook = place.member("cook", Role::Reviewer).await?;
    admin.set_groups(cook.member(), std::slice::from_ref(&cooks)).await?;
    for (key, visible_to) in [("hidden", Visibility::Group(cooks)), ("shown", Visibility::Team)] {
        let card = cook.send(&request(key, vec![new_card(key, visible_to.clone())])).await?.remove(0).card;
        cook.send(&steps(&format!("share {key}"), vec![share(&card, visible_to)])).await?;
        let propose = Step::Propose(NewProposal {
            card: Some(card),
            visible_to: None,
            draft: "{}".to_owned(),
            fingerprint: key.to_owned(),
            risk: "medium".to_owned(),
        });
        cook.send(&steps(&format!("propose {key}"), vec![propose])).await?;
    }
    for proposal in cook.proposal_changes(&Cursor::default()).await?.proposals {
        let reject = Step::Reject { proposal: proposal.key.clone(), outcome: None };
        cook.send(&steps(&format!("reject {}", proposal.key), vec![reject])).await?;
    }
    // The administrator is no cook.
    let said = admin.audit(50).await?;
    let about = |what: &str| said.iter().filter(|entry| entry.what == what).collect::<Vec<_>>();
    ensure!(about("shared").len() == 1 && about("rejected").len() == 1, "{said:?}");
    ensure!(
        about("rejected")[0].about == "medium" && about("rejected")[0].by.as_ref() == Some(cook.member())
    );
    ensure!(about("shared")[0].card == about("rejected")[0].card && about("shared")[0].card.is_some());
    admin.set_role(cook.member(), Role::Admin).await?;
    let said = cook.audit(50).await?;
    ensure!(said.iter().filter(|entry| entry.what == "rejected").count() == 2, "{said:?}");
    Ok(())
}
