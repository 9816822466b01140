//! What a member tries with statements of their own, knowing the keys of cards and audiences that are hidden from them.

use anyhow::{Context as _, Result, ensure};
use autokit_team::{CardKey, Role, Session, Visibility};
use surrealdb::types::{Object, RecordId, Value};

use crate::access::{SECRET, admin_number, all_audiences, audience_of, name_of, own_audiences, put};
use crate::cards::{edit, new_card, request};
use crate::place::Place;

pub(crate) async fn statements_of_a_member_reveal_nothing_hidden(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let hidden_body = format!("{{\"name\":\"{SECRET}\"}}");
    let hidden = put(place, &admin, &hidden_body, &Visibility::Group(cooks.clone())).await?;
    put(place, &admin, "toast", &Visibility::Team).await?;
    // As if somebody knew the key of the hidden card's audience.
    let audiences = all_audiences(place).await?;
    let audience_of_hidden = audience_of(place, &hidden).await?;
    let key_of_hidden = format!("{audience_of_hidden:?}");
    let name = name_of(place, &hidden).await?;
    for role in Role::ALL {
        let session = place.member(&format!("a_{role}"), role).await?;
        let card = format!("card:`{name}`");
        let statements = [
            "SELECT * FROM card, revision, request, audit, invitation, member, group, team".to_owned(),
            "SELECT * FROM card FETCH visible_to.group".to_owned(),
            format!("SELECT * FROM {card}"),
            format!("RETURN {card}.*"),
            format!("RETURN {card}.visible_to"),
            format!("RETURN record::exists({card})"),
            format!("SELECT * FROM revision:['{name}', 1]"),
            format!("RETURN revision:['{name}', 1].body"),
            format!("SELECT * FROM revision:['{name}', NONE]..['{name}', []]"),
            format!("SELECT * FROM revision WHERE card = '{hidden}'"),
            format!("SELECT * FROM card WHERE key = '{hidden}'"),
            format!("SELECT * FROM proposal WHERE card_name = '{name}'"),
            "RETURN fn::name($audience, 'x')".to_owned(),
            "SELECT * FROM identity".to_owned(),
            format!("RETURN fn::ids('card', '{hidden}')"),
            format!("RETURN fn::find('{hidden}')"),
            format!("RETURN fn::show({card}.*, {{ kind: 'team' }})"),
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
            format!(
                "INSERT INTO revision {{ id: ['{name}', 1], body: 'x' }} ON DUPLICATE KEY UPDATE body = body"
            ),
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
                "CREATE request SET id = [$me, 'x'], key = 'x', member = $me, reason = '', at = time::now(),
                    steps = [{{ kind: 'write', card: '{hidden}', base: 1, operation: 'edit', body: 'y', visible_to: {{ kind: 'team' }} }}]"
            ),
            "CREATE request SET id = [member:admin, 'x'], key = 'x', member = member:admin, reason = '',
                at = time::now(), steps = []"
                .to_owned(),
        ];
        for statement in &statements {
            // What is not allowed is an error, and an error tells nothing either.
            let query = session.db().query(statement.as_str()).bind(("audiences", audiences.clone()));
            let said = match query
                .bind(("audience", audience_of_hidden.clone()))
                .bind(("me", RecordId::new("member", session.member().as_str())))
                .await
            {
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
    let name_of_hidden = name_of(place, &hidden).await?;
    let name_of_absent = "a".repeat(name_of_hidden.len());
    let ann = place.member("ann", Role::Reviewer).await?;
    let said = async |card: &CardKey, name: &str| -> Result<Vec<String>> {
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
            "CREATE type::record('revision', [record::id($card), 1]) SET card = record::id($card), number = 1",
            "INSERT INTO card { id: $card, number: 1, visible_to: { kind: 'team' } }",
            "SELECT * FROM type::record('revision', [record::id($card), 1])",
        ] {
            // As if somebody knew the key of its audience.
            let query = ann.db().query(statement).bind(("card", RecordId::new("card", name)));
            let query = query.bind(("audiences", audiences.clone()));
            let outcome = match query.await?.take::<Value>(0) {
                Ok(value) => format!("{value:?}"),
                Err(error) => error.to_string(),
            };
            said.push(format!("{statement}: {}", outcome.replace(name, "NAME")));
        }
        Ok(said)
    };
    let of_hidden = said(&hidden, &name_of_hidden).await?;
    let of_absent = said(&absent, &name_of_absent).await?;
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
    let access = bob.access().await?;
    ensure!(access.role == Role::Reader, "{access:?}");
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
    let card = format!("'{hidden}'");
    let own_key = "$own[0]";
    let mut told = Vec::new();
    for (number, (who, step)) in [
        // An object in place of the card, with a key of one's own.
        (&rev, format!("{{ kind: 'share', card: {{ id: {card}, audience: {own_key} }}, visible_to: {{ kind: 'team' }} }}")),
        (&rev, format!("{{ kind: 'share', card: [{card}], visible_to: {{ kind: 'team' }} }}")),
        (&rev, format!("{{ kind: 'share', card: ['{own}', {card}], visible_to: {{ kind: 'team' }} }}")),
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
            "CREATE request SET id = [$me, '{number}'], key = '{number}', member = $me, reason = '', at = time::now(),
                steps = [{step}]"
        );
        let query = who.db().query(&create).bind(("me", RecordId::new("member", who.member().as_str())));
        let said = match query.bind(("own", own_audiences(who).await?)).await?.check() {
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

pub(crate) async fn nobody_writes_down_what_is_hidden_while_listening(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let (cook, bob) = (place.member("cook", Role::Reviewer).await?, place.member("bob", Role::Reader).await?);
    admin.set_groups(cook.member(), std::slice::from_ref(&cooks)).await?;
    let mut streams = Vec::new();
    let me = format!("member:{}", bob.member());
    for (number, value) in ["body", "<string> $value"].into_iter().enumerate() {
        for (way, rebound) in [
            "{ $event; WRITE }",
            "{ LET $event = NONE; WRITE }",
            "[NONE].map(|$event| WRITE)",
            "{ FOR $event IN [NONE] { WRITE } }",
            "[NONE].map(|$event| (UPDATE ME SET password = crypto::argon2::generate($value.body)))",
        ]
        .into_iter()
        .enumerate()
        {
            let write = format!(
                "(CREATE request SET id = [{me}, '{number} {way}'], key = '{number} {way}', member = {me},
                    reason = {value}, at = time::now(), steps = [])"
            );
            let condition = rebound.replace("WRITE", &write).replace("ME", &me);
            let listen = format!("LIVE SELECT id FROM revision WHERE $audiences != NONE AND {condition}");
            let query = bob.db().query(listen).bind(("audiences", all_audiences(place).await?));
            streams.push(query.await?.stream::<surrealdb::Notification<Value>>(0)?);
        }
    }
    cook.send(&request("one", vec![new_card(SECRET, Visibility::Group(cooks))])).await?;
    let mut requests = bob.db().query("SELECT * FROM request").await?;
    let rows: Vec<Value> = requests.take(0)?;
    ensure!(rows.is_empty(), "{rows:?}");
    Session::sign_in(&place.connection, "kitchen", "bob", "bob").await?;
    Ok(())
}

/// The database tries simple conditions on fields that everybody reads before it asks whether a row is shown, and those of live
/// queries while others write: the time of an answer, or between two writes, would tell what hidden rows say.
pub(crate) async fn no_condition_is_tried_on_hidden_rows(place: &Place) -> Result<()> {
    let hidden = [
        "card",
        "revision",
        "vector",
        "proposal",
        "comment",
        "revocation",
        "audit",
        "request",
        "invitation",
        "group",
    ];
    for table in hidden {
        let mut answer = place.owner.db().query(format!("INFO FOR TABLE {table} STRUCTURE")).await?;
        let info: Object = answer.take::<Option<Object>>(0)?.context("a table")?;
        let Some(Value::Array(fields)) = info.get("fields") else { anyhow::bail!("{info:?}") };
        ensure!(!fields.is_empty(), "{table} has no fields");
        for field in fields {
            let Value::Object(field) = field else { anyhow::bail!("{field:?}") };
            let Some(Value::Object(permissions)) = field.get("permissions") else {
                anyhow::bail!("{field:?}")
            };
            let Some(Value::String(name)) = field.get("name") else { anyhow::bail!("{field:?}") };
            // The database asks for the permission of the whole field before it tries a condition on a part of it.
            if name.contains('.') {
                continue;
            }
            let is_told = match permissions.get("select") {
                // A condition: one that everybody passes is for what everybody may know.
                Some(Value::String(condition)) => {
                    let harmless = ["number", "written_at", "at", "dim", "comments"];
                    condition == "true" && !harmless.contains(&name.as_str())
                }
                // Nobody, or everybody. When rows were written is no secret, and pages are read in that order.
                Some(Value::Bool(everybody)) => *everybody && name != "written_at",
                other => anyhow::bail!("{table}: {other:?}"),
            };
            ensure!(!is_told, "{table}: {field:?}");
        }
    }
    // Nobody learns by ranges of ids which identities there are.
    let bob = place.member("bob", Role::Reader).await?;
    let mut own = bob.db().query("SELECT * FROM identity; SELECT VALUE id FROM identity:..").await?;
    for statement in 0..2 {
        ensure!(own.take::<Vec<Value>>(statement)?.is_empty());
    }
    Ok(())
}
