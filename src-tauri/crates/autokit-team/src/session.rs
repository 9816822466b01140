//! What a member does, with the rights the database gives them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;

use autokit_toolcard::Timestamp;
use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use surrealdb::Surreal;
use surrealdb::engine::any::Any;
use surrealdb::method::Query;
use surrealdb::opt::auth::Record;
use surrealdb::types::{Datetime, RecordId, RecordIdKey, RecordIdKeyRange, SurrealValue, Value};

use crate::access::{CardKey, MemberKey, Role, unexpected};
use crate::connection::{Client, Connection, NAMESPACE};
use crate::error::{Code, Result, TeamError};
use crate::owner::Invitation;
use crate::request::{Request, Written};
use crate::schema::{MAX_REASON, ROW_NAME, WITH_AUDIENCES};

/// Rows in one answer that has little more than their ids.
const IDS: usize = 10_000;
/// How often a request is repeated that met another one writing the same rows.
const ATTEMPTS: usize = 10;

/// A signed-in member.
#[derive(Clone, Debug)]
pub struct Session {
    // Shared by copies: a copy of the database's own would sign in again.
    pub(crate) client: Arc<Client>,
    database: String,
    member: MemberKey,
}

/// What a member may do and see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemberAccess {
    /// The name they sign in with.
    pub name: String,
    /// What they may do.
    pub role: Role,
    /// Changes whenever they have another role or other groups, and so may see less than before.
    pub narrowed: String,
    /// How many reviewers have to accept changes of each risk; 1 for a risk that is not in it.
    pub approvals: BTreeMap<String, u32>,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct SignUp {
    name: String,
    password: String,
    invitation_token: String,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct SignIn {
    name: String,
    password: String,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct WrittenRow {
    card: String,
    number: i64,
    position: i64,
}

fn record<P: SurrealValue>(database: &str, params: P) -> Record<P> {
    Record {
        namespace: NAMESPACE.to_owned(),
        database: database.to_owned(),
        access: "member".to_owned(),
        params,
    }
}

impl Session {
    /// Becomes a member, and signs in.
    ///
    /// # Errors
    /// `Invitation` when it is unknown, used or expired, or another member has the name: the database does not tell which
    /// to somebody who is no member.
    pub async fn join(
        connection: &Connection,
        invitation: &Invitation,
        name: &str,
        password: &str,
    ) -> Result<Session> {
        let client = connection.client();
        let params = SignUp {
            name: name.to_owned(),
            password: password.to_owned(),
            invitation_token: invitation.code.clone(),
        };
        client.answer(client.db.signup(record(&invitation.database, params))).await.map_err(|error| {
            let message = "the invitation is not valid any more, or another member has this name";
            error.or_refused(Code::Invitation, message)
        })?;
        // The client repeats how a session began when the connection was lost, and an invitation is used once.
        Session::sign_in(connection, &invitation.database, name, password).await
    }

    /// Signs in.
    ///
    /// # Errors
    /// `SignIn` for a wrong name or password; `Removed` for a member that was removed and knows the password; `OlderSchema`
    /// before the team was upgraded.
    pub async fn sign_in(
        connection: &Connection,
        database: &str,
        name: &str,
        password: &str,
    ) -> Result<Session> {
        let client = connection.client();
        let params = SignIn { name: name.to_owned(), password: password.to_owned() };
        client
            .answer(client.db.signin(record(database, params)))
            .await
            .map_err(|error| error.or_refused(Code::SignIn, "the name or the password is wrong"))?;
        let select = "SELECT VALUE id FROM ONLY member WHERE name = $name LIMIT 1; SELECT VALUE schema FROM ONLY team:one";
        let mut answers = client.answer(client.db.query(select).bind(("name", name.to_owned()))).await?;
        let (me, version): (Option<Value>, Option<i64>) = (answers.take(0)?, answers.take(1)?);
        if version.is_some_and(|version| version < WITH_AUDIENCES) {
            let message = "the tables of the team are of an earlier version than this AutoKit reads";
            return Err(TeamError::new(Code::OlderSchema, message));
        }
        let member = MemberKey::of(&me.unwrap_or_default())?;
        Ok(Session { client: Arc::new(client), database: database.to_owned(), member })
    }

    /// This member.
    pub fn member(&self) -> &MemberKey {
        &self.member
    }

    /// The database of the team.
    pub fn database(&self) -> &str {
        &self.database
    }

    /// Returns the team's name.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn team_name(&self) -> Result<String> {
        let name: Option<String> =
            self.client.answer(self.db().query("SELECT VALUE name FROM ONLY team:one")).await?.take(0)?;
        name.ok_or_else(|| TeamError::new(Code::Removed, "you are not a member of this team any more"))
    }

    /// The session, for statements of one's own: the database allows them what it allows everything else.
    pub fn db(&self) -> &Surreal<Any> {
        &self.client.db
    }

    /// Begins a query that reads what not everybody sees, with this member in `$me` and the keys of their audiences in
    /// `$audiences`: its answers are the ones after the first.
    pub(crate) fn reading<'a>(&'a self, statement: impl Into<Cow<'a, str>>) -> Query<'a, Any> {
        let own = "LET $audiences = (SELECT VALUE audiences FROM ONLY $me) ?? []";
        self.db().query(own).query(statement).bind(("me", self.member.record()))
    }

    /// Carries out a request, wholly or not at all; returns the cards it wrote, as far as this member sees them.
    ///
    /// # Errors
    /// `NotAllowed` for what the role does not allow, and for a visibility that this member does not have; `NotFound` for
    /// a card or proposal that this member does not see; `Changed` when a card is not at the revision it is based on;
    /// `Decided` for a proposal that is not pending.
    pub async fn send(&self, request: &Request) -> Result<Vec<Written>> {
        let numbered = request.steps.iter().enumerate().map(|(position, step)| step.to_value(position));
        let steps = numbered.collect::<Vec<Value>>();
        let (db, steps) = (self.db(), &steps);
        let created = retried(move || {
            let created = db
                .query(
                    "CREATE ONLY type::record('request', [$me, $key]) SET member = $me, key = $key,
                        reason = $reason, at = <datetime> $at, steps = $steps RETURN VALUE key",
                )
                .bind(("me", self.member.record()))
                .bind(("key", request.key.clone()))
                .bind(("reason", shortened(&request.reason).to_owned()))
                .bind(("at", request.at.to_string()))
                .bind(("steps", steps.clone()));
            async move { created.await?.check() }.boxed()
        });
        match self.client.answer(created).await {
            // It was carried out before.
            Err(error) if error.code == Code::Taken => {}
            created => drop(created?),
        }
        let query = self
            .reading(
                "SELECT card, number, position FROM revision WHERE author = $me AND source = $key
                    ORDER BY position",
            )
            .bind(("key", request.key.clone()));
        let rows: Vec<WrittenRow> = self.client.answer(query).await?.take(1)?;
        rows.into_iter()
            .map(|row| {
                Ok(Written {
                    position: row.position as u32,
                    card: CardKey::new(row.card),
                    number: row.number as u32,
                })
            })
            .collect()
    }

    /// Returns columns of the rows of a table that this member sees, by id, [`IDS`] at a time: a table may be too large for
    /// one answer.
    pub(crate) async fn rows<T: SurrealValue>(
        &self,
        columns: &str,
        table: &'static str,
        id: impl Fn(&T) -> &Value,
    ) -> Result<Vec<T>> {
        let mut rows: Vec<T> = Vec::new();
        loop {
            let last = match rows.last().map(&id) {
                None => None,
                Some(Value::RecordId(id)) => Some(&id.key),
                Some(other) => return Err(unexpected(table, other)),
            };
            let query = self.reading(format!("SELECT {columns} FROM $rows LIMIT $limit"));
            let query = query.bind(("rows", rows_after(table, last))).bind(("limit", IDS as i64));
            let more: Vec<T> = self.client.answer(query).await?.take(1)?;
            let is_last = more.len() < IDS;
            rows.extend(more);
            if is_last {
                return Ok(rows);
            }
        }
    }

    /// Returns what this member may do, and what changes with what they may see.
    ///
    /// # Errors
    /// `Removed` for a member that was removed; `SignIn` when the session expired; when the server does not answer.
    pub async fn access(&self) -> Result<MemberAccess> {
        let query = self.db().query(
            "RETURN $auth; SELECT name, role, narrowed FROM ONLY $me; SELECT risk, approvals FROM policy",
        );
        let mut answers = self.client.answer(query.bind(("me", self.member.record()))).await?;
        // Without a session nobody is seen: that says nothing about the member.
        if answers.take::<Option<Value>>(0)?.is_none_or(|auth| auth.is_none()) {
            return Err(TeamError::new(Code::SignIn, "the session expired"));
        }
        // A member that was removed sees nothing of their own record either.
        let removed = || TeamError::new(Code::Removed, "you are not a member of this team any more");
        let row: Option<StandingRow> = answers.take(1).map_err(|_| removed())?;
        let row = row.ok_or_else(removed)?;
        let Value::Uuid(narrowed) = row.narrowed else { return Err(removed()) };
        let unknown =
            || TeamError::new(Code::NewerSchema, format!("the role {:?} is not known here", row.role));
        let policy: Vec<PolicyRow> = answers.take(2)?;
        Ok(MemberAccess {
            role: Role::parse(&row.role).ok_or_else(unknown)?,
            name: row.name,
            narrowed: narrowed.to_string(),
            approvals: policy.into_iter().map(|row| (row.risk, row.approvals as u32)).collect(),
        })
    }
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct StandingRow {
    name: String,
    role: String,
    narrowed: Value,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct PolicyRow {
    risk: String,
    approvals: i64,
}

/// As much of a reason as a team stores.
fn shortened(reason: &str) -> &str {
    let mut end = reason.len().min(MAX_REASON);
    while !reason.is_char_boundary(end) {
        end -= 1;
    }
    &reason[..end]
}

/// An expression: the ids that rows of a table with these keys, an expression of texts, have in the member's audiences.
pub(crate) fn ids(table: &str, keys: &str) -> String {
    ids_of(table, keys, ROW_NAME)
}

/// As [`ids`], for rows whose ids are more than their names: `id` is an expression of `$audience` and `$key`.
pub(crate) fn ids_of(table: &str, keys: &str, id: &str) -> String {
    format!("array::flatten({keys}.map(|$key| $audiences.map(|$audience| type::record('{table}', {id}))))")
}

/// The rows of a table after this one, by id.
pub(crate) fn rows_after(table: &str, last: Option<&RecordIdKey>) -> RecordId {
    let start = last.map_or(Bound::Unbounded, |key| Bound::Excluded(key.clone()));
    let range = RecordIdKeyRange { start, end: Bound::Unbounded };
    RecordId::new(table, RecordIdKey::Range(Box::new(range)))
}

/// Runs statements again that failed only because others wrote the same rows at the same time.
pub(crate) async fn retried<'a, T>(
    run: impl Fn() -> BoxFuture<'a, surrealdb::Result<T>>,
) -> surrealdb::Result<T> {
    for _ in 1..ATTEMPTS {
        match run().await {
            Err(error) if error.to_string().contains("can be retried") => tokio::task::yield_now().await,
            outcome => return outcome,
        }
    }
    run().await
}

/// Returns a time in milliseconds, as cards have them.
pub(crate) fn timestamp(at: Datetime) -> Result<Timestamp> {
    let text = at.format("%Y-%m-%dT%H:%M:%S%.3fZ").to_string();
    text.parse().map_err(|_| TeamError::new(Code::Database, format!("the server gave the time {text}")))
}
