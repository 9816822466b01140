//! Members, invitations and passwords.

use anyhow::{Result, ensure};
use autokit_team::{
    CardFilter, CardVectors, Code, Cursor, INVITATION_LIFETIME, Invitation, Lifetimes, NewProposal, Owner,
    Role, Session, Step, Visibility,
};

use crate::cards::{all, edit, new_card, request, steps};
use crate::place::{Place, credentials};

pub(crate) async fn an_invitation_is_used_once(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let group = admin.create_group("cooks").await?;
    let invitation =
        admin.invite(Role::Contributor, std::slice::from_ref(&group.key), INVITATION_LIFETIME).await?;
    // It survives being sent as a text.
    let invitation: Invitation = invitation.to_string().parse()?;
    let cora = Session::join(&place.connection, &invitation, "cora", "secret").await?;
    let members = admin.members().await?;
    let joined = members.iter().find(|member| member.name == "cora").expect("she is a member");
    ensure!(joined.role == Role::Contributor && joined.groups == [group.key], "{joined:?}");
    ensure!(joined.key == *cora.member());

    let again = Session::join(&place.connection, &invitation, "dora", "secret").await;
    ensure!(again.as_ref().is_err_and(|error| error.code == Code::Invitation), "{again:?}");
    let expired = admin.invite(Role::Reader, &[], std::time::Duration::ZERO).await?;
    let late = Session::join(&place.connection, &expired, "dora", "secret").await;
    ensure!(late.as_ref().is_err_and(|error| error.code == Code::Invitation), "{late:?}");
    // A name that is taken does not use the invitation up.
    let invitation = admin.invite(Role::Reader, &[], INVITATION_LIFETIME).await?;
    let taken = Session::join(&place.connection, &invitation, "cora", "other").await;
    ensure!(taken.as_ref().is_err_and(|error| error.code == Code::Invitation), "{taken:?}");
    Session::join(&place.connection, &invitation, "dora", "secret").await?;

    // Only administrators invite.
    let refused = cora.invite(Role::Admin, &[], INVITATION_LIFETIME).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    Ok(())
}

pub(crate) async fn a_team_keeps_an_administrator(place: &Place) -> Result<()> {
    let (ann, bea) = (place.member("ann", Role::Admin).await?, place.member("bea", Role::Admin).await?);
    ann.set_role(bea.member(), Role::Reviewer).await?;
    // Nobody demotes or removes themselves, so the last administrator stays one.
    for refused in [ann.set_role(ann.member(), Role::Reader).await, ann.set_active(ann.member(), false).await]
    {
        ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    }
    let refused = bea.set_role(bea.member(), Role::Admin).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    let everybody = place.owner.db().query("UPDATE member SET active = false").await?.check();
    ensure!(everybody.is_err(), "whoever runs the server removes all");

    // Two who remove each other at the same time.
    for _ in 0..10 {
        let pair = [(&ann, &bea), (&bea, &ann)];
        for (by, whom) in pair {
            // One of them is an administrator.
            let _ = by.set_active(whom.member(), true).await;
            let _ = by.set_role(whom.member(), Role::Admin).await;
        }
        let both = pair.map(|(by, whom)| {
            let (by, whom) = (by.clone(), whom.member().clone());
            tokio::spawn(async move { by.set_active(&whom, false).await })
        });
        for one in both {
            // Either may fail: the other was faster.
            let _ = one.await?;
        }
        let mut left = place
            .owner
            .db()
            .query("RETURN count(SELECT id FROM member WHERE role = 'admin' AND active)")
            .await?;
        ensure!(left.take::<Option<i64>>(0)? >= Some(1), "no administrator is left");
    }
    Ok(())
}

pub(crate) async fn a_removed_member_reads_nothing_more(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let bob = place.member("bob", Role::Reviewer).await?;
    let card =
        admin.send(&request("one", vec![new_card("kettle", Visibility::Everyone)])).await?.remove(0).card;
    ensure!(bob.changes(&Cursor::default(), &CardFilter::default()).await?.cards.len() == 1);
    admin.set_active(bob.member(), false).await?;
    // The open session is worth nothing, not even for oneself.
    ensure!(bob.changes(&Cursor::default(), &CardFilter::default()).await?.cards.is_empty());
    ensure!(bob.history(&card).await?.is_empty() && bob.visible().await?.is_empty());
    ensure!(bob.members().await?.is_empty() && bob.groups().await?.is_empty());
    ensure!(bob.access().await.is_err());
    let written = bob.send(&request("two", vec![new_card("pot", Visibility::Team)])).await;
    ensure!(written.is_err() || admin.visible().await?.len() == 1, "{written:?}");
    for (password, code) in [("bob", Code::Removed), ("guessed", Code::SignIn)] {
        let signed_in = Session::sign_in(&place.connection, "kitchen", "bob", password).await;
        ensure!(signed_in.as_ref().is_err_and(|error| error.code == code), "{signed_in:?}");
    }
    admin.set_active(bob.member(), true).await?;
    Session::sign_in(&place.connection, "kitchen", "bob", "bob").await?;
    let said: Vec<String> = admin.audit(10).await?.into_iter().map(|entry| entry.what).collect();
    let all = [
        "signed_in",
        "restored",
        "removed",
        "signed_in",
        "joined",
        "invited",
        "signed_in",
        "joined",
        "invited",
    ];
    ensure!(said == all, "{said:?}");
    ensure!(bob.audit(10).await?.is_empty());
    Ok(())
}

pub(crate) async fn passwords_are_reset_and_never_shown(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let bob = place.member("bob", Role::Reader).await?;
    let signs_in = |password: &'static str| Session::sign_in(&place.connection, "kitchen", "bob", password);
    bob.set_password(bob.member(), "mine").await?;
    ensure!(signs_in("bob").await.is_err());
    signs_in("mine").await?;
    let refused = bob.set_password(admin.member(), "stolen").await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    admin.set_password(bob.member(), "reset").await?;
    ensure!(signs_in("mine").await.is_err());
    signs_in("reset").await?;
    let nobody = Session::sign_in(&place.connection, "kitchen", "nobody", "reset").await;
    ensure!(nobody.as_ref().is_err_and(|error| error.code == Code::SignIn), "{nobody:?}");
    for session in [&admin, &bob] {
        let shown = format!("{:?}", session.db().query("SELECT *, password FROM member").await?);
        ensure!(!shown.contains("argon2"), "{shown}");
    }
    Ok(())
}

pub(crate) async fn passwords_are_not_guessed_for_long(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let signs_in = async |name: &str, password: &str| {
        Session::sign_in(&place.connection, "kitchen", name, password).await.map_err(|error| error.code)
    };
    // A name that does not exist is answered like one that does.
    for name in ["admin", "nobody"] {
        for _ in 0..20 {
            ensure!(signs_in(name, "guessed").await.err() == Some(Code::SignIn), "{name}");
        }
        ensure!(signs_in(name, "guessed").await.err() == Some(Code::TooMany), "{name}");
    }
    // Not even the right one says that it is right.
    ensure!(signs_in("admin", "admin").await.err() == Some(Code::TooMany));
    // Whoever is signed in goes on.
    admin.access().await?;
    let later = "UPDATE wrong_password SET since = time::now() - 16m";
    place.owner.db().query(later).await?.check()?;
    signs_in("admin", "admin").await.map_err(|code| anyhow::anyhow!("{code:?}"))?;
    ensure!(signs_in("admin", "guessed").await.err() == Some(Code::SignIn));
    // What is counted no more is gone, and members never see any of it.
    let mut left = place.owner.db().query("SELECT VALUE number FROM wrong_password").await?;
    ensure!(left.take::<Vec<i64>>(0)? == [1]);
    let mut seen = admin.db().query("SELECT * FROM wrong_password").await?;
    ensure!(seen.take::<Vec<surrealdb::types::Value>>(0)?.is_empty());
    Ok(())
}

pub(crate) async fn a_team_is_upgraded_while_nobody_writes(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let lock = "UPDATE team:one SET locked_until = time::now() + 1m, locked_by = rand::uuid()";
    place.owner.db().query(lock).await?.check()?;
    let refused = admin.send(&request("one", vec![new_card("kettle", Visibility::Team)])).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Locked), "{refused:?}");
    let refused = admin.create_group("cooks").await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Locked), "{refused:?}");
    let refused = admin.invite(Role::Reader, &[], INVITATION_LIFETIME).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Locked), "{refused:?}");
    let refused = place.owner.upgrade(None).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Locked), "{refused:?}");
    // What was given up ends.
    place.owner.db().query("UPDATE team:one SET locked_until = time::now() - 1s").await?.check()?;
    admin.send(&request("one", vec![new_card("kettle", Visibility::Team)])).await?;

    let lifetimes = Lifetimes { token_hours: 2, session_hours: 24 };
    place.owner.upgrade(Some(lifetimes)).await?;
    ensure!(place.owner.lifetimes().await? == lifetimes);
    place.owner.upgrade(None).await?;
    ensure!(place.owner.lifetimes().await? == lifetimes);
    let mut access = place.owner.db().query("INFO FOR DB").await?;
    let info: Option<surrealdb::types::Value> = access.take(0)?;
    let info = format!("{info:?}");
    ensure!(info.contains("FOR TOKEN 2h, FOR SESSION 1d"), "{info}");
    let refused = place.owner.upgrade(Some(Lifetimes { token_hours: 0, session_hours: 1 })).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Invalid), "{refused:?}");
    Session::sign_in(&place.connection, "kitchen", "admin", "admin").await?;
    ensure!(admin.audit(1).await?[0].what == "signed_in" && admin.audit(2).await?[1].what == "upgraded");
    Ok(())
}

pub(crate) async fn rows_of_an_earlier_version_are_shown_after_an_upgrade(place: &Place) -> Result<()> {
    let (admin, ann) =
        (place.member("admin", Role::Admin).await?, place.member("ann", Role::Reviewer).await?);
    let shown = admin.send(&request("one", vec![new_card("kettle", Visibility::Team)])).await?.remove(0).card;
    admin.send(&request("two", vec![new_card("safe", Visibility::Role(Role::Admin))])).await?;
    let propose = Step::Propose(NewProposal {
        card: Some(shown.clone()),
        visible_to: None,
        draft: "{}".to_owned(),
        fingerprint: "one".to_owned(),
        risk: "low".to_owned(),
    });
    ann.send(&steps("three", vec![propose])).await?;
    let proposal = ann.proposal_changes(&Cursor::default()).await?.proposals[0].key.clone();
    let said = ["why?", "because", "I see"];
    let comment = |text: &str| Step::Comment { proposal: proposal.clone(), text: text.to_owned() };
    ann.send(&steps("four", said.map(comment).to_vec())).await?;
    let everyone = Step::Share { card: shown.clone(), visible_to: Visibility::Everyone };
    admin.send(&steps("share", vec![everyone])).await?;
    let vectors =
        CardVectors { card: shown.clone(), number: 1, recipe: "one".to_owned(), dim: 1, data: vec![0; 4] };
    ann.send(&steps("five", vec![Step::Vectors(vectors)])).await?;
    // The version before this one knew no audiences and identities: rows had ids of their own, by which others named them.
    let earlier = "LET $rows = {
            card: (SELECT * FROM card).map(|$one| object::extend($one, { id: type::record('card', $one.key), key: NONE })),
            proposal: (SELECT * FROM proposal).map(|$one| object::extend($one, { id: type::record('proposal', $one.key),
                card: IF $one.card != NONE { type::record('card', $one.card) }, key: NONE, card_name: NONE, same: NONE })),
            revision: (SELECT * FROM revision).map(|$one| object::extend($one, {
                id: type::record('revision', [type::record('card', $one.card), $one.number]),
                card: type::record('card', $one.card) })),
            vector: (SELECT * FROM vector).map(|$one| object::extend($one, {
                id: type::record('vector', [type::record('card', $one.card), $one.recipe]),
                card: type::record('card', $one.card) })),
            comment: (SELECT * FROM comment).map(|$one| object::extend($one, {
                id: type::record('comment', rand::string(20)), proposal: type::record('proposal', $one.proposal) })),
            audit: (SELECT * FROM audit).map(|$one| IF $one.card = NONE { $one } ELSE {
                object::extend($one, { subject: type::record('card', $one.card), card_name: NONE }) }),
        };
        REMOVE TABLE card; REMOVE TABLE proposal; REMOVE TABLE revision; REMOVE TABLE vector; REMOVE TABLE comment;
        REMOVE TABLE audit;
        INSERT INTO card $rows.card.map(|$one| object::extend($one, { audience: NONE }));
        INSERT INTO proposal $rows.proposal.map(|$one| object::extend($one, { audience: NONE }));
        INSERT INTO revision $rows.revision.map(|$one| object::extend($one, { audience: NONE }));
        INSERT INTO vector $rows.vector.map(|$one| object::extend($one, { audience: NONE }));
        INSERT INTO comment $rows.comment.map(|$one| object::extend($one, { audience: NONE }));
        INSERT INTO audit $rows.audit.map(|$one| object::extend($one, { audience: NONE, card: NONE }));
        DEFINE FIELD at ON audit TYPE datetime VALUE $value ?? time::now();
        -- What a contributor could propose then, and what nobody could read.
        CREATE proposal SET visible_to = { kind: 'role' }, draft = '{}', fingerprint = 'planted', risk = 'low',
            proposed_by = (SELECT VALUE id FROM member)[0], created_at = time::maximum, state = 'pending', comments = 0,
            written_at = time::now(), approvals = [{ by: (SELECT VALUE id FROM member)[0], at: time::now(), values: [1] }];
        REMOVE TABLE revocation;
        DEFINE TABLE OVERWRITE team SCHEMAFULL PERMISSIONS FOR select FULL;
        DEFINE ACCESS OVERWRITE member ON DATABASE TYPE RECORD SIGNIN (SELECT * FROM member WHERE name = $name);
        DEFINE FIELD OVERWRITE secret ON team TYPE option<string>;
        UPDATE member SET audiences = NONE, identity = NONE;
        DELETE identity;
        UPDATE team:one SET secret = NONE, schema = 4";
    place.owner.db().query(earlier).await?.check()?;
    ensure!(ann.visible().await?.is_empty());
    let refused = Session::sign_in(&place.connection, "kitchen", "ann", "ann").await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::OlderSchema), "{refused:?}");
    // An export of it is one of that version.
    let mut file = Vec::new();
    place.owner.export(&mut file).await?;
    let other = Owner::sign_in(&place.connection, &credentials(), "canteen").await?;
    other.import(&mut file.as_slice()).await?;
    let guest = Session::sign_in(&place.connection, "canteen", "ann", "ann").await?;
    ensure!(guest.visible().await? == [(shown.clone(), 1)] && guest.history(&shown).await?.len() == 1);

    place.owner.upgrade(None).await?;
    // Sessions are given the identity that the upgrade made when they begin.
    let sign_in = async |name: &str| Session::sign_in(&place.connection, "kitchen", name, name).await;
    let (admin, ann) = (sign_in("admin").await?, sign_in("ann").await?);
    ensure!(ann.visible().await? == [(shown.clone(), 1)] && admin.visible().await?.len() == 2);
    ensure!(ann.history(&shown).await?.len() == 1 && all(&ann).await?.len() == 1);
    ensure!(ann.visible_proposals().await? == std::slice::from_ref(&proposal));
    let comments = ann.comments(&[proposal]).await?;
    ensure!(comments.iter().map(|one| one.text.as_str()).eq(said), "{comments:?}");
    let audit = admin.audit(50).await?;
    ensure!(audit.iter().any(|one| one.what == "shared" && one.card.as_ref() == Some(&shown)), "{audit:?}");
    ensure!(ann.vectors(&[shown], "one").await?.len() == 1);
    Ok(())
}

pub(crate) async fn a_team_is_exported_and_made_anew(place: &Place) -> Result<()> {
    let admin = place.member("admin", Role::Admin).await?;
    let cooks = admin.create_group("cooks").await?.key;
    let bob = place.member("bob", Role::Reviewer).await?;
    admin.set_groups(bob.member(), std::slice::from_ref(&cooks)).await?;
    // More than are read at a time.
    for from in (0..1_200).step_by(200) {
        let card = |number: usize| new_card(&format!("card {number}"), Visibility::Team);
        admin.send(&request(&format!("from {from}"), (from..from + 200).map(card).collect())).await?;
    }
    admin.set_policy("high", 2).await?;
    let hidden = new_card("stove", Visibility::Group(cooks));
    let refused = bob.send(&request("hidden", vec![hidden.clone()])).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NotAllowed), "{refused:?}");
    admin.set_policy("high", 1).await?;
    bob.send(&request("hidden", vec![hidden])).await?;

    let mut file = Vec::new();
    let rows = place.owner.export(&mut file).await?;
    ensure!(rows > 2_400, "{rows}");
    let other = Owner::sign_in(&place.connection, &credentials(), "canteen").await?;
    for damaged in [&file[..file.len() / 2], &file[..10], b"{}"] {
        let refused = other.import(&mut &*damaged).await;
        ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Invalid), "{refused:?}");
    }
    let changed = String::from_utf8(file.clone())?.replacen("card 7", "card 8", 1);
    let refused = other.import(&mut changed.as_bytes()).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Invalid), "{refused:?}");
    // What an import left that was killed is no obstacle.
    other
        .db()
        .query("USE NS autokit; DEFINE DATABASE canteen; USE DB canteen; CREATE unfinished_import:one")
        .await?
        .check()?;
    ensure!(other.import(&mut file.as_slice()).await? == rows);
    let refused = other.import(&mut file.as_slice()).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Taken), "{refused:?}");

    // Everybody has what they had, with the keys they had it by, and goes on.
    for (name, before, count) in [("admin", &admin, 1_200), ("bob", &bob, 1_201)] {
        let after = Session::sign_in(&place.connection, "canteen", name, name).await?;
        ensure!(after.member() == before.member());
        let mut cards = [all(before).await?, all(&after).await?];
        for cards in &mut cards {
            cards.sort_by(|one, other| one.card.cmp(&other.card));
        }
        ensure!(cards[0] == cards[1] && cards[0].len() == count, "{} of {name}", cards[0].len());
        ensure!(after.access().await? == before.access().await?);
    }
    let after = Session::sign_in(&place.connection, "canteen", "admin", "admin").await?;
    let card = all(&after).await?.remove(0).card;
    let edited = after.send(&request("again", vec![edit(&card, 1, Some("other"))])).await?;
    ensure!(edited[0].number == 2, "{edited:?}");
    // A request that was carried out before is known.
    let repeated = after.send(&request("from 0", vec![new_card("card 0", Visibility::Team)])).await?;
    ensure!(repeated.len() == 200, "{}", repeated.len());
    let said = after.audit(50).await?;
    let of = |what: &str| said.iter().filter(|entry| entry.what == what).count();
    ensure!(of("imported") == 1 && of("joined") == 2 && of("policy") == 2, "{said:?}");
    // The team itself goes on, too.
    admin.send(&request("more", vec![new_card("pot", Visibility::Team)])).await?;
    Ok(())
}

pub(crate) async fn a_newer_team_is_not_touched(place: &Place) -> Result<()> {
    // Again, as after an update of AutoKit.
    place.owner.upgrade(None).await?;
    let taken = place.owner.create("Another").await;
    ensure!(taken.as_ref().is_err_and(|error| error.code == Code::Taken), "{taken:?}");
    place.owner.db().query("UPDATE team:one SET schema = 1000").await?.check()?;
    let refused = place.owner.upgrade(None).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NewerSchema), "{refused:?}");
    let invalid = Owner::sign_in(&place.connection, &credentials(), "Kitchen; REMOVE DATABASE kitchen").await;
    ensure!(invalid.as_ref().is_err_and(|error| error.code == Code::Invalid), "{invalid:?}");
    Ok(())
}
