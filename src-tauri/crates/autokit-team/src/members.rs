//! Members, groups, and what administrators do.

use std::time::Duration;

use autokit_toolcard::Timestamp;
use futures_util::FutureExt as _;
use surrealdb::types::{Datetime, SurrealValue, Value};

use crate::access::{CardKey, GroupKey, MemberKey, Role};
use crate::error::{Code, Result, TeamError};
use crate::owner::{Invitation, invite};
use crate::session::{Session, retried, timestamp};

/// A member of the team.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The member.
    pub key: MemberKey,
    /// The name they sign in with.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Their groups, as far as whoever asks may know them.
    pub groups: Vec<GroupKey>,
    /// Whether they can sign in.
    pub active: bool,
}

/// A group of members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The group.
    pub key: GroupKey,
    /// Its name.
    pub name: String,
}

/// Something that was done: a sign-in, a grant or a decision.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// When.
    pub at: Timestamp,
    /// By whom; `None` for whoever runs the server.
    pub by: Option<MemberKey>,
    /// What was done: `joined`, `signed_in`, `invited`, `role`, `groups`, `removed`, `restored`, `password`, `policy`,
    /// `shared`, `accepted`, `rejected`, `exported`, `imported`, `upgraded`.
    pub what: String,
    /// To whom or what: a member's name, a role, a risk, a visibility.
    pub about: String,
    /// The card that was decided on or shared.
    pub card: Option<CardKey>,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct MemberRow {
    id: Value,
    name: String,
    role: String,
    groups: Option<Value>,
    active: bool,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct GroupRow {
    id: Value,
    name: String,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct AuditRow {
    at: Datetime,
    by: Option<Value>,
    what: String,
    about: String,
    card: Option<String>,
}

impl TryFrom<MemberRow> for Member {
    type Error = TeamError;

    fn try_from(row: MemberRow) -> Result<Member> {
        let groups = match row.groups {
            Some(Value::Set(groups)) => groups.iter().map(GroupKey::of).collect::<Result<_>>()?,
            _ => Vec::new(),
        };
        let unknown =
            || TeamError::new(Code::NewerSchema, format!("the role {:?} is not known here", row.role));
        let role = Role::parse(&row.role).ok_or_else(unknown)?;
        Ok(Member { key: MemberKey::of(&row.id)?, name: row.name, role, groups, active: row.active })
    }
}

/// The outcome of a statement that changes one record, of which nothing comes back if it may not be changed.
fn changed(is_changed: bool) -> Result<()> {
    if is_changed {
        return Ok(());
    }
    Err(TeamError::new(Code::NotAllowed, "your role in this team does not allow this"))
}

impl Session {
    /// Returns the members.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn members(&self) -> Result<Vec<Member>> {
        let rows: Vec<MemberRow> =
            self.client.answer(self.db().query("SELECT * FROM member ORDER BY name")).await?.take(0)?;
        rows.into_iter().map(Member::try_from).collect()
    }

    /// Returns the groups: all for administrators, one's own for others.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn groups(&self) -> Result<Vec<Group>> {
        let rows: Vec<GroupRow> =
            self.client.answer(self.db().query("SELECT * FROM group ORDER BY name")).await?.take(0)?;
        rows.into_iter().map(|row| Ok(Group { key: GroupKey::of(&row.id)?, name: row.name })).collect()
    }

    /// Creates a group.
    ///
    /// # Errors
    /// `NotAllowed` for others than administrators; `Taken`.
    pub async fn create_group(&self, name: &str) -> Result<Group> {
        // Who gives a name at the same time writes the same row.
        let created = retried(move || {
            let query = self.db().query("CREATE group SET name = $name").bind(("name", name.to_owned()));
            async move { query.await?.check()?.take::<Vec<GroupRow>>(0) }.boxed()
        });
        let rows = self.client.answer(created).await?;
        let row = rows.into_iter().next();
        let row = row.ok_or_else(|| TeamError::new(Code::NotAllowed, "only administrators create groups"))?;
        Ok(Group { key: GroupKey::of(&row.id)?, name: row.name })
    }

    /// Invites somebody.
    ///
    /// # Errors
    /// `NotAllowed` for others than administrators.
    pub async fn invite(&self, role: Role, groups: &[GroupKey], lifetime: Duration) -> Result<Invitation> {
        invite(&self.client, self.database(), role, groups, lifetime).await
    }

    /// Gives another member a role.
    ///
    /// # Errors
    /// `NotAllowed` for others than administrators, and for one's own role; `LastAdmin`.
    pub async fn set_role(&self, member: &MemberKey, role: Role) -> Result<()> {
        let wanted = Value::String(role.as_str().to_owned());
        self.set(member, "UPDATE $member SET role = $to WHERE id != $me RETURN VALUE role", wanted).await
    }

    /// Puts a member in groups, and in no others.
    ///
    /// # Errors
    /// `NotAllowed` for others than administrators.
    pub async fn set_groups(&self, member: &MemberKey, groups: &[GroupKey]) -> Result<()> {
        let update = "UPDATE $member SET groups = <set> $groups
            WHERE (SELECT VALUE role FROM ONLY $me) = 'admin' RETURN VALUE id";
        let groups: Vec<Value> = groups.iter().map(|group| Value::RecordId(group.record())).collect();
        let groups = &groups;
        let updated = retried(move || {
            let query = self.db().query(update).bind(("member", member.record()));
            let query = query.bind(("groups", groups.clone())).bind(("me", self.member().record()));
            async move { query.await?.check()?.take::<Vec<Value>>(0) }.boxed()
        });
        changed(!self.client.answer(updated).await?.is_empty())
    }

    /// Removes another member, who can no longer sign in or read anything, or takes them back.
    ///
    /// # Errors
    /// `NotAllowed` for others than administrators, and for oneself; `LastAdmin`.
    pub async fn set_active(&self, member: &MemberKey, active: bool) -> Result<()> {
        self.set(
            member,
            "UPDATE $member SET active = $to WHERE id != $me RETURN VALUE active",
            Value::Bool(active),
        )
        .await
    }

    /// Sets a field of a member with a statement that returns it.
    async fn set(&self, member: &MemberKey, statement: &str, to: Value) -> Result<()> {
        let wanted = &to;
        let updated = retried(move || {
            let query = self.db().query(statement).bind(("member", member.record()));
            let query = query.bind(("to", wanted.clone())).bind(("me", self.member().record()));
            async move { query.await?.take::<Vec<Value>>(0) }.boxed()
        });
        // A field that may not be changed stays as it is.
        changed(self.client.answer(updated).await?.contains(&to))
    }

    /// Sets a password: one's own, or as an administrator that of another member.
    ///
    /// # Errors
    /// `NotAllowed`.
    pub async fn set_password(&self, member: &MemberKey, password: &str) -> Result<()> {
        let update = "UPDATE $member SET password = crypto::argon2::generate($new_password) RETURN VALUE id";
        let query = self.db().query(update).bind(("member", member.record()));
        let query = query.bind(("new_password", password.to_owned()));
        changed(!self.client.answer(query).await?.take::<Vec<Value>>(0)?.is_empty())
    }

    /// Returns what was done, newest first; nothing for others than administrators.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn audit(&self, limit: u32) -> Result<Vec<AuditEntry>> {
        let select = "SELECT * FROM audit ORDER BY at DESC LIMIT $limit";
        let rows: Vec<AuditRow> =
            self.client.answer(self.db().query(select).bind(("limit", i64::from(limit)))).await?.take(0)?;
        let entry = |row: AuditRow| {
            Ok(AuditEntry {
                at: timestamp(row.at)?,
                by: row.by.as_ref().map(MemberKey::of).transpose()?,
                what: row.what,
                about: row.about,
                card: row.card.map(CardKey::new),
            })
        };
        rows.into_iter().map(entry).collect()
    }
}
