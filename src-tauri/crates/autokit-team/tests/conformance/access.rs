//! Who sees what: every role and visibility, and whatever a member tries with statements of their own.

use anyhow::{Context, Result, ensure};
use autokit_team::{
    CardFilter, CardKey, Changed, Code, Cursor, GroupKey, Member, NewProposal, Role, Session, Step,
    Visibility,
};
use futures_util::StreamExt as _;
use surrealdb::types::{RecordId, Value};

use crate::cards::{all, edit, new_card, request, steps};
use crate::place::Place;

/// How long something may take: only so that a test that fails does not hang.
const PATIENCE: std::time::Duration = std::time::Duration::from_secs(90);
/// Part of the text of cards that whoever tries must not see.
const SECRET: &str = "burnt toast";

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
async fn put(place: &Place, author: &Session, body: &str, to: &Visibility) -> Result<CardKey> {
    let mut response = place
        .owner
        .db()
        .query(
            "LET $card = CREATE ONLY card SET number = 1, visible_to = $to;
             CREATE type::record('revision', [$card.id, 1]) SET card = $card.id, audience = $card.audience, number = 1,
                operation = 'create', author = $author, reason = $body, at = time::now(), body = $body,
                source = 'owner', position = 0;
             RETURN $card.id;",
        )
        .bind(("to", value_of(to)))
        .bind(("author", RecordId::new("member", author.member().as_str())))
        .bind(("body", body.to_owned()))
        .await?
        .check()?;
    let id: Option<Value> = response.take(2)?;
    match id {
        Some(Value::RecordId(id)) => {
            let key = format!("{:?}", id.key);
            let key = key.split('"').nth(1).context("a key")?;
            Ok(CardKey::new(key))
        }
        other => anyhow::bail!("{other:?}"),
    }
}

fn value_of(to: &Visibility) -> Value {
    let mut object = surrealdb::types::Object::new();
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
async fn own_audiences(session: &Session) -> Result<Value> {
    Ok(session.db().query("RETURN $auth.audiences").await?.take::<Value>(0)?)
}

/// The keys of all audiences that a card has.
async fn all_audiences(place: &Place) -> Result<Value> {
    let keys: Vec<Value> = place.owner.db().query("SELECT VALUE audience FROM card").await?.take(0)?;
    Ok(Value::Array(keys.into()))
}

/// The key of a card's audience.
async fn audience_of(place: &Place, card: &CardKey) -> Result<Value> {
    let query = place.owner.db().query("SELECT VALUE audience FROM ONLY $card");
    let key: Option<Value> = query.bind(("card", RecordId::new("card", card.as_str()))).await?.take(0)?;
    key.context("a key")
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

async fn admin_number(place: &Place, card: &CardKey) -> Result<u32> {
    let query = place.owner.db().query("SELECT VALUE number FROM ONLY $card");
    let number: Option<i64> = query.bind(("card", RecordId::new("card", card.as_str()))).await?.take(0)?;
    Ok(number.context("a card")? as u32)
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
            let update = "UPDATE $card SET visible_to = $to";
            let card = RecordId::new("card", cards[at].0.as_str());
            let query = place.owner.db().query(update).bind(("card", card));
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

pub(crate) async fn statements_of_a_member_reveal_nothing_hidden(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let hidden_body = format!("{{\"name\":\"{SECRET}\"}}");
    let hidden = put(place, &admin, &hidden_body, &Visibility::Group(cooks.clone())).await?;
    put(place, &admin, "toast", &Visibility::Team).await?;
    // As if somebody knew the key of the hidden card's audience.
    let audiences = all_audiences(place).await?;
    let key_of_hidden = format!("{:?}", audience_of(place, &hidden).await?);
    for role in Role::ALL {
        let session = place.member(&format!("a_{role}"), role).await?;
        let card = format!("card:{hidden}");
        let statements = [
            "SELECT * FROM card, revision, request, audit, invitation, member, group, team".to_owned(),
            "SELECT * FROM card FETCH visible_to.group".to_owned(),
            format!("SELECT * FROM {card}"),
            format!("RETURN {card}.*"),
            format!("RETURN {card}.visible_to"),
            format!("RETURN record::exists({card})"),
            format!("SELECT * FROM revision:[{card}, 1]"),
            format!("RETURN revision:[{card}, 1].body"),
            format!("SELECT * FROM revision WHERE card = {card}"),
            format!("SELECT * FROM revision WHERE string::contains(body, '{}')", &SECRET[..5]),
            "SELECT count() FROM revision GROUP ALL".to_owned(),
            "SELECT * FROM revision WITH NOINDEX".to_owned(),
            "SELECT * FROM revision WITH INDEX revision_of_source WHERE author != NONE".to_owned(),
            "SELECT *, <-?, ->? FROM card".to_owned(),
            "SELECT * FROM card ORDER BY written_at EXPLAIN FULL".to_owned(),
            format!("UPDATE {card} SET number = number RETURN BEFORE"),
            "UPDATE card SET number = number RETURN BEFORE".to_owned(),
            "UPDATE revision SET body = body RETURN BEFORE".to_owned(),
            format!("UPSERT {card} SET number = 9"),
            format!("DELETE {card} RETURN BEFORE"),
            "DELETE revision RETURN BEFORE".to_owned(),
            format!("CREATE {card} SET number = 1, visible_to = {{ kind: 'team' }}"),
            format!("INSERT INTO card {{ id: {card}, number: 1 }} ON DUPLICATE KEY UPDATE number = 1"),
            format!("INSERT INTO revision {{ id: [{card}, 1], body: 'x' }} ON DUPLICATE KEY UPDATE body = body"),
            format!("RELATE {card}->seen->{card}"),
            format!("RETURN fn::sees({card}.audience)"),
            format!("LET $audiences = [..]; SELECT * FROM {card}"),
            format!("LET $audiences = ..; SELECT * FROM {card}"),
            format!("LET $audiences = [/.*/]; SELECT * FROM {card}"),
            "RETURN fn::audience({ kind: 'team' })".to_owned(),
            "SELECT secret, audiences FROM team, member".to_owned(),
            "RETURN fn::write({}, {}, 0)".to_owned(),
            "INFO FOR DB".to_owned(),
            "INFO FOR TABLE card".to_owned(),
            "INFO FOR ROOT".to_owned(),
            "SHOW CHANGES FOR TABLE revision SINCE 0".to_owned(),
            "DEFINE FUNCTION fn::sees($to: any) { RETURN true }".to_owned(),
            "DEFINE TABLE OVERWRITE card PERMISSIONS FULL".to_owned(),
            "DEFINE TABLE mirror AS SELECT * FROM revision".to_owned(),
            "DEFINE EVENT peek ON revision THEN { CREATE seen SET body = $after.body }".to_owned(),
            "DEFINE USER me ON DATABASE PASSWORD 'x' ROLES OWNER".to_owned(),
            "DEFINE ACCESS mine ON DATABASE TYPE RECORD".to_owned(),
            "REMOVE TABLE revision".to_owned(),
            "REBUILD INDEX card_written ON card".to_owned(),
            "USE NS other DB other; SELECT * FROM revision".to_owned(),
            "LET $auth = member:admin; RETURN $auth".to_owned(),
            "RETURN $session".to_owned(),
            "RETURN $token".to_owned(),
            format!(
                "CREATE request SET id = [$auth.member, 'x'], key = 'x', member = $auth.member, reason = '', at = time::now(),
                    steps = [{{ kind: 'write', card: {card}, base: 1, operation: 'edit', body: 'y', visible_to: {{ kind: 'team' }} }}]"
            ),
            "CREATE request SET id = [member:admin, 'x'], key = 'x', member = member:admin, reason = '',
                at = time::now(), steps = []"
                .to_owned(),
        ];
        for statement in &statements {
            // What is not allowed is an error, and an error tells nothing either.
            let query = session.db().query(statement.as_str()).bind(("audiences", audiences.clone()));
            let said = match query.await {
                Ok(response) => format!("{response:?}"),
                Err(error) => error.to_string(),
            };
            ensure!(!said.contains(SECRET), "{role}: {statement}: {said}");
            ensure!(!said.contains(&key_of_hidden), "{role}: {statement}: {said}");
            let shows_key = said.replace(statement.as_str(), "").contains("visible_to")
                && said.contains(hidden.as_str())
                && !statement.contains(hidden.as_str());
            ensure!(!shows_key, "{role}: {statement}: {said}");
        }
        let mut listed = session.db().query("SELECT VALUE id FROM seen; SELECT VALUE id FROM mirror").await?;
        for at in 0..2 {
            let rows: Vec<Value> = listed.take(at).unwrap_or_default();
            ensure!(rows.is_empty(), "{role}: {rows:?}");
        }
        let sessions =
            session.db().query("SELECT * FROM card").bind(("audiences", audiences.clone())).await?;
        ensure!(!format!("{sessions:?}").contains(hidden.as_str()), "{role}: {sessions:?}");
    }
    // All of it is as it was.
    let mut rows = place
        .owner
        .db()
        .query("SELECT VALUE body FROM revision ORDER BY body; SELECT VALUE number FROM card; INFO FOR DB")
        .await?;
    let bodies: Vec<String> = rows.take(0)?;
    ensure!(bodies == ["toast".to_owned(), hidden_body], "{bodies:?}");
    let numbers: Vec<i64> = rows.take(1)?;
    ensure!(numbers == [1, 1], "{numbers:?}");
    Ok(())
}

pub(crate) async fn a_card_that_is_hidden_reads_as_one_that_does_not_exist(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let hidden = put(place, &admin, SECRET, &Visibility::Group(cooks)).await?;
    let absent = CardKey::new("a".repeat(hidden.as_str().len()));
    let audiences = all_audiences(place).await?;
    let ann = place.member("ann", Role::Reviewer).await?;
    let said = async |card: &CardKey| -> Result<Vec<String>> {
        let mut said = Vec::new();
        for base in [0, 1, 2] {
            let wrote = ann.send(&request(&format!("{base}"), vec![edit(card, base, Some("x"))])).await;
            said.push(format!("{wrote:?}"));
        }
        said.push(format!("{:?}", ann.history(card).await?));
        for statement in [
            "SELECT * FROM $card",
            "RETURN $card.number",
            "RETURN record::exists($card)",
            "UPDATE $card SET number = 2",
            "UPSERT $card SET number = 2",
            "DELETE $card RETURN BEFORE",
            "CREATE $card SET number = 1, visible_to = { kind: 'team' }",
            "CREATE type::record('revision', [$card, 1]) SET card = $card, number = 1",
            "INSERT INTO card { id: $card, number: 1, visible_to: { kind: 'team' } }",
            "SELECT * FROM type::record('revision', [$card, 1])",
        ] {
            let query = ann.db().query(statement).bind(("card", RecordId::new("card", card.as_str())));
            let query = query.bind(("audiences", audiences.clone()));
            let outcome = match query.await?.take::<Value>(0) {
                Ok(value) => format!("{value:?}"),
                Err(error) => error.to_string(),
            };
            said.push(format!("{statement}: {}", outcome.replace(card.as_str(), "KEY")));
        }
        Ok(said)
    };
    let (of_hidden, of_absent) = (said(&hidden).await?, said(&absent).await?);
    ensure!(of_hidden == of_absent, "{of_hidden:#?}\n{of_absent:#?}");
    // A card of the same name and provider is made beside it.
    let named = put(place, &admin, "{\"name\":\"kettle\"}", &Visibility::Role(Role::Admin)).await?;
    let own = ann.send(&request("named", vec![new_card("{\"name\":\"kettle\"}", Visibility::Team)])).await?;
    ensure!(own[0].card != named && own[0].number == 1, "{own:?}");
    Ok(())
}

pub(crate) async fn nobody_poses_as_somebody_else(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let (cook, bob) = (place.member("cook", Role::Reviewer).await?, place.member("bob", Role::Reader).await?);
    admin.set_groups(cook.member(), std::slice::from_ref(&cooks)).await?;
    put(place, &admin, SECRET, &Visibility::Group(cooks)).await?;
    let audiences = all_audiences(place).await?;
    let me = format!("member:{}", bob.member());
    let mut names = vec![
        // Objects and ids that say of themselves what an identity says.
        format!("{{ id: $auth, member: {me}, active: true, role: 'admin', audiences: $audiences }}"),
        format!("identity:{{ member: {me}, active: true, role: 'admin', audiences: $audiences }}"),
        format!("identity:[{{ member: {me}, active: true, role: 'admin', audiences: $audiences }}]"),
        "identity:..".to_owned(),
        "(SELECT VALUE identity FROM member)[0]".to_owned(),
        "(SELECT VALUE id FROM identity)[1]".to_owned(),
    ];
    names.extend([&admin, &cook].map(|other| format!("member:{}", other.member())));
    for name in names {
        for session in ["$session", "{ rd: $auth }"] {
            for tried in [
                "RETURN (SELECT * FROM revision)".to_owned(),
                "RETURN $auth.*".to_owned(),
                "RETURN (SELECT *, audiences, groups FROM member)".to_owned(),
                format!("RETURN (UPDATE {me} SET role = 'admin')"),
                format!("RETURN (UPDATE {me} SET groups = <set> (SELECT VALUE id FROM group))"),
            ] {
                let statement =
                    format!("RETURN [{name}].map(|$auth| [{session}].map(|$session| {{ {tried} }}))");
                let said =
                    format!("{:?}", bob.db().query(&statement).bind(("audiences", audiences.clone())).await?);
                ensure!(!said.contains(SECRET) && !said.contains("cooks"), "{statement}: {said}");
                let block = format!("FOR $auth IN [{name}] {{ FOR $session IN [{session}] {{ {tried} }} }}");
                bob.db().query(&block).bind(("audiences", audiences.clone())).await?;
            }
        }
    }
    let standing = bob.standing().await?;
    ensure!(standing.role == Role::Reader, "{standing:?}");
    ensure!(bob.groups().await?.is_empty() && bob.visible().await?.is_empty());
    Ok(())
}

pub(crate) async fn what_a_request_says_of_a_card_is_not_believed(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let hidden = put(place, &admin, SECRET, &Visibility::Group(cooks.clone())).await?;
    let (rev, cat) =
        (place.member("rev", Role::Reviewer).await?, place.member("cat", Role::Contributor).await?);
    let own = rev.send(&request("own", vec![new_card("toast", Visibility::Team)])).await?.remove(0).card;
    let card = format!("card:{hidden}");
    let own_key = "$auth.audiences[0]";
    let mut told = Vec::new();
    for (number, (who, step)) in [
        // An object in place of the card, with a key of one's own.
        (&rev, format!("{{ kind: 'share', card: {{ id: {card}, audience: {own_key} }}, visible_to: {{ kind: 'team' }} }}")),
        (&rev, format!("{{ kind: 'share', card: [{card}], visible_to: {{ kind: 'team' }} }}")),
        (&rev, format!("{{ kind: 'share', card: [card:{own}, {card}], visible_to: {{ kind: 'team' }} }}")),
        (&rev, "{ kind: 'share', card: card:.., visible_to: { kind: 'team' } }".to_owned()),
        (&rev, format!("{{ kind: 'share', card: {{ id: {card}, audience: {own_key} }}, visible_to: {{ kind: 'team' }} }}")),
        (&rev, format!(
            "{{ kind: 'write', card: {{ id: {card}, audience: {own_key}, number: 1 }}, base: 1, operation: 'edit', body: 'x' }}"
        )),
        (&rev, format!("{{ kind: 'vectors', card: {{ id: {card}, audience: {own_key}, number: 1 }}, number: 1, recipe: 'x', dim: 1, data: <bytes> 'x' }}")),
        (&cat, format!("{{ kind: 'propose', card: [{card}], draft: '', fingerprint: 'a', risk: 'low' }}")),
        (&cat, format!("{{ kind: 'propose', card: card:{{ audience: {own_key} }}, draft: '', fingerprint: 'b', risk: 'low' }}")),
        // Texts in place of a group.
        (&cat, "{ kind: 'propose', visible_to: { kind: 'group', group: 'team' }, draft: '', fingerprint: 'c', risk: 'low' }".to_owned()),
        (&cat, format!("{{ kind: 'propose', visible_to: {{ kind: 'group', group: 'group:{cooks}' }}, draft: '', fingerprint: 'd', risk: 'low' }}")),
        (&cat, "{ kind: 'propose', visible_to: { kind: 'role', role: ['reader'] }, draft: '', fingerprint: 'e', risk: 'low' }".to_owned()),
    ]
    .into_iter()
    .enumerate()
    {
        let create = format!(
            "CREATE request SET id = [$auth.member, '{number}'], key = '{number}', member = $auth.member, reason = '',
                at = time::now(), steps = [{step}]"
        );
        let said = match who.db().query(&create).await?.check() {
            Ok(_) => anyhow::bail!("{step} was carried out"),
            Err(error) => error.to_string(),
        };
        told.push(said.replace(&step, ""));
    }
    // None of it says anything, and the card is as it was.
    let key = format!("{:?}", audience_of(place, &hidden).await?);
    ensure!(told.iter().all(|said| !said.contains(&key) && !said.contains(SECRET)), "{told:#?}");
    ensure!(rev.visible().await? == [(own, 1)] && rev.visible_proposals().await?.is_empty());
    ensure!(admin_number(place, &hidden).await? == 1);
    Ok(())
}

pub(crate) async fn a_member_hears_of_what_they_see(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let (cook, bob) = (place.member("cook", Role::Reviewer).await?, place.member("bob", Role::Reader).await?);
    admin.set_groups(cook.member(), std::slice::from_ref(&cooks)).await?;
    let mut heard = bob.watch().await?;
    let listen = "LET $audiences = $auth.audiences; LIVE SELECT * FROM card WHERE $audiences != NONE";
    let mut notes = bob.db().query(listen).await?.stream::<surrealdb::Notification<Value>>(1)?;
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
            Changed::Proposals => anyhow::bail!("nobody proposed anything"),
        }
    }
}

pub(crate) async fn nobody_writes_down_what_is_hidden_while_listening(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let (cook, bob) = (place.member("cook", Role::Reviewer).await?, place.member("bob", Role::Reader).await?);
    admin.set_groups(cook.member(), std::slice::from_ref(&cooks)).await?;
    let mut streams = Vec::new();
    for (key, value) in [("own", "body"), ("all", "<string> $value")] {
        let listen = format!(
            "LIVE SELECT id FROM revision WHERE $audiences != NONE AND
                (CREATE request SET id = [$auth.member, '{key}'], key = '{key}', member = $auth.member,
                    reason = {value}, at = time::now(), steps = [])"
        );
        let query = bob.db().query(listen).bind(("audiences", all_audiences(place).await?));
        streams.push(query.await?.stream::<surrealdb::Notification<Value>>(0)?);
    }
    cook.send(&request("one", vec![new_card(SECRET, Visibility::Group(cooks))])).await?;
    let mut requests = bob.db().query("SELECT * FROM request").await?;
    let rows: Vec<Value> = requests.take(0)?;
    ensure!(rows.is_empty(), "{rows:?}");
    Ok(())
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
    let changed = tokio::time::timeout(PATIENCE, heard.next()).await?.context("a change")??;
    ensure!(changed == Changed::Cards, "{changed:?}");
    ensure!(bob.visible().await?.is_empty() && bob.history(&card).await?.is_empty());

    // What Bob never saw is none of his business.
    let told = bob.hidden(&Cursor::default()).await?.cursor;
    let mut next = edit(&card, 2, Some("kettle"));
    next.visible_to = Some(Visibility::Person(cook.member().clone()));
    cook.send(&request("three", vec![next])).await?;
    ensure!(hidden().await? == after && bob.hidden(&Cursor::default()).await?.cursor == told);
    // Nor is what was hidden before he was given his role.
    let later = "DEFINE FIELD OVERWRITE changed_at ON identity TYPE datetime;
        UPDATE identity SET changed_at = time::now() + 2m WHERE member = $member";
    let member = RecordId::new("member", bob.member().as_str());
    place.owner.db().query(later).bind(("member", member)).await?.check()?;
    ensure!(bob.hidden(&Cursor::default()).await?.cards.is_empty());
    // Shown to the team again, it is hidden from nobody.
    let mut wider = edit(&card, 3, Some("kettle"));
    wider.visible_to = Some(Visibility::Team);
    cook.send(&request("four", vec![wider])).await?;
    ensure!(hidden().await? == [vec![], vec![]] && bob.visible().await?.len() == 1);
    // A group less is less to see.
    let before = cook.standing().await?.narrowed;
    admin.set_groups(cook.member(), &[]).await?;
    ensure!(cook.standing().await?.narrowed != before);
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
