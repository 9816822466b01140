//! Members, invitations and passwords.

use anyhow::{Result, ensure};
use autokit_team::{Code, Cursor, INVITATION_LIFETIME, Invitation, Owner, Role, Session, Visibility};

use crate::cards::{new_card, request};
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
    ensure!(bob.changes(&Cursor::default()).await?.cards.len() == 1);
    admin.set_active(bob.member(), false).await?;
    // The open session is worth nothing, not even for oneself.
    ensure!(bob.changes(&Cursor::default()).await?.cards.is_empty());
    ensure!(bob.history(&card).await?.is_empty() && bob.visible().await?.is_empty());
    ensure!(bob.members().await?.is_empty() && bob.groups().await?.is_empty());
    ensure!(bob.standing().await.is_err());
    let written = bob.send(&request("two", vec![new_card("pot", Visibility::Team)])).await;
    ensure!(written.is_err() || admin.visible().await?.len() == 1, "{written:?}");
    for (password, code) in [("bob", Code::Removed), ("guessed", Code::SignIn)] {
        let signed_in = Session::sign_in(&place.connection, "kitchen", "bob", password).await;
        ensure!(signed_in.as_ref().is_err_and(|error| error.code == code), "{signed_in:?}");
    }
    admin.set_active(bob.member(), true).await?;
    Session::sign_in(&place.connection, "kitchen", "bob", "bob").await?;
    let said: Vec<String> = admin.audit(10).await?.into_iter().map(|entry| entry.what).collect();
    let all = ["signed_in", "restored", "removed", "signed_in", "joined", "signed_in", "joined"];
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

pub(crate) async fn a_newer_team_is_not_touched(place: &Place) -> Result<()> {
    // Again, as after an update of AutoKit.
    place.owner.upgrade().await?;
    let taken = place.owner.create("Another").await;
    ensure!(taken.as_ref().is_err_and(|error| error.code == Code::Taken), "{taken:?}");
    place.owner.db().query("UPDATE team:one SET schema = 1000").await?.check()?;
    let refused = place.owner.upgrade().await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::NewerSchema), "{refused:?}");
    let invalid = Owner::sign_in(&place.connection, &credentials(), "Kitchen; REMOVE DATABASE kitchen").await;
    ensure!(invalid.as_ref().is_err_and(|error| error.code == Code::Invalid), "{invalid:?}");
    Ok(())
}
