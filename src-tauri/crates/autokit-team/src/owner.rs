//! What whoever runs the server does: create a team, bring its tables up to date, invite its first administrator.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use surrealdb::Surreal;
use surrealdb::engine::any::Any;
use surrealdb::types::{SurrealValue, Value};

use crate::access::{GroupKey, Role};
use crate::connection::{Client, Connection, Credentials, NAMESPACE};
use crate::error::{Code, Result, TeamError};
use crate::schema;

/// How long an invitation can be used, unless another time is given.
pub const INVITATION_LIFETIME: Duration = Duration::from_hours(7 * 24);
/// Longest that an upgrade or an export holds the team: what is not done by then was given up.
const LEASE: Duration = Duration::from_mins(10);
/// Longest name of a team's database.
const MAX_DATABASE: usize = 40;

/// The rights of whoever runs the server, in the database of one team.
#[derive(Clone, Debug)]
pub struct Owner {
    client: Client,
    database: String,
}

/// For how long members are signed in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lifetimes {
    /// Hours for which a token is valid, which a connection that was lost signs in with: 1 to 720.
    pub token_hours: u16,
    /// Hours after which an open connection has to sign in again: 1 to 720.
    pub session_hours: u16,
}

impl Default for Lifetimes {
    fn default() -> Lifetimes {
        Lifetimes { token_hours: 1, session_hours: 12 }
    }
}

/// A lock on a team that nobody else holds.
#[derive(Debug)]
pub(crate) struct Lock {
    holder: Value,
}

/// What a person needs to become a member. It can be used once.
#[derive(Clone, PartialEq, Eq)]
pub struct Invitation {
    /// The team's database.
    pub database: String,
    /// The secret.
    pub code: String,
}

impl fmt::Debug for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Invitation").field("database", &self.database).finish_non_exhaustive()
    }
}

impl fmt::Display for Invitation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.database, self.code)
    }
}

impl FromStr for Invitation {
    type Err = TeamError;

    fn from_str(text: &str) -> Result<Invitation> {
        let (database, code) = text
            .split_once('.')
            .filter(|(database, code)| is_database(database) && !code.is_empty())
            .ok_or_else(|| TeamError::new(Code::Invalid, "this is not an invitation"))?;
        Ok(Invitation { database: database.to_owned(), code: code.to_owned() })
    }
}

impl Owner {
    /// Signs in as whoever runs the server.
    ///
    /// # Errors
    /// `SignIn` for wrong credentials; `Invalid` for a name that a database cannot have.
    pub async fn sign_in(connection: &Connection, owner: &Credentials, database: &str) -> Result<Owner> {
        if !is_database(database) {
            let message = format!(
                "{database:?} is not a name of lower-case letters, digits and _, {MAX_DATABASE} at most"
            );
            return Err(TeamError::new(Code::Invalid, message));
        }
        let client = connection.client();
        client.answer(client.db.signin(owner.root())).await.map_err(|error| {
            error.or_refused(Code::SignIn, "the user or the password of the server is wrong")
        })?;
        Ok(Owner { client, database: database.to_owned() })
    }

    /// Creates a team.
    ///
    /// # Errors
    /// `Taken` when the database exists.
    pub async fn create(&self, name: &str) -> Result<()> {
        self.create_database().await?;
        self.define(Lifetimes::default()).await?;
        let create = self
            .db()
            .query("CREATE ONLY team:one SET name = $name, schema = $schema")
            .bind(("name", name.to_owned()))
            .bind(("schema", schema::VERSION));
        self.client.answer(create).await?.check()?;
        Ok(())
    }

    /// Makes the database, without tables.
    pub(crate) async fn create_database(&self) -> Result<()> {
        // Both are known to need no quotes.
        let define = format!(
            "DEFINE NAMESPACE IF NOT EXISTS {NAMESPACE}; USE NS {NAMESPACE}; DEFINE DATABASE {};",
            self.database
        );
        self.client.answer(self.db().query(define)).await?.check()?;
        self.enter().await
    }

    /// Chooses the team's database for the statements that follow.
    pub(crate) async fn enter(&self) -> Result<()> {
        self.client.answer(self.db().use_ns(NAMESPACE).use_db(self.database.as_str())).await?;
        Ok(())
    }

    /// Waits for an answer of the server.
    pub(crate) async fn answer<T>(
        &self,
        answer: impl IntoFuture<Output = surrealdb::Result<T>>,
    ) -> Result<T> {
        self.client.answer(answer).await
    }

    /// Name of the team's database.
    pub(crate) fn database(&self) -> &str {
        &self.database
    }

    /// Returns for how long members are signed in.
    ///
    /// # Errors
    /// `NotFound` for a database that is no team's.
    pub async fn lifetimes(&self) -> Result<Lifetimes> {
        self.ensure_team().await?;
        let query = self.db().query("SELECT token_hours, session_hours FROM ONLY team:one");
        let hours: Option<HoursRow> = self.client.answer(query).await?.take(0)?;
        let default = Lifetimes::default();
        let of = |hours: Option<i64>, default: u16| hours.map_or(default, |hours| hours as u16);
        Ok(hours.map_or(default, |hours| Lifetimes {
            token_hours: of(hours.token_hours, default.token_hours),
            session_hours: of(hours.session_hours, default.session_hours),
        }))
    }

    /// Defines the tables.
    pub(crate) async fn define(&self, lifetimes: Lifetimes) -> Result<()> {
        let query = self.db().query("RETURN crypto::argon2::generate(rand::string(32))");
        let decoy: Option<String> = self.client.answer(query).await?.take(0)?;
        let decoy = decoy.ok_or_else(|| TeamError::new(Code::Database, "the server made no hash"))?;
        self.client.answer(self.db().query(schema::statements(&decoy, lifetimes))).await?.check()?;
        Ok(())
    }

    /// Checks that the database is a team's, of a version that this program knows. Returns the version.
    pub(crate) async fn ensure_team(&self) -> Result<i64> {
        self.enter().await?;
        let query = self.db().query("SELECT VALUE schema FROM ONLY team:one");
        // Without such a table, the statement fails.
        let version: Option<i64> = self.client.answer(query).await?.take(0).unwrap_or_default();
        match version {
            None => Err(TeamError::new(Code::NotFound, format!("there is no team {:?}", self.database))),
            Some(version) if version > schema::VERSION => {
                let message = "the team was set up by a newer version of AutoKit";
                Err(TeamError::new(Code::NewerSchema, message))
            }
            Some(version) => Ok(version),
        }
    }

    /// Keeps others from changing anything for [`LEASE`].
    ///
    /// # Errors
    /// `Locked` when somebody else does.
    pub(crate) async fn lock(&self) -> Result<Lock> {
        // A database of the first version has no fields for it.
        let define = "DEFINE FIELD IF NOT EXISTS locked_until ON team TYPE option<datetime> PERMISSIONS NONE;
            DEFINE FIELD IF NOT EXISTS locked_by ON team TYPE option<uuid> PERMISSIONS NONE;";
        self.client.answer(self.db().query(define)).await?.check()?;
        let lock = self
            .db()
            .query(
                "UPDATE team:one SET locked_until = time::now() + $lease, locked_by = rand::uuid()
                    WHERE locked_until = NONE OR locked_until < time::now() RETURN VALUE locked_by",
            )
            .bind(("lease", surrealdb::types::Duration::from(LEASE)));
        let holder: Vec<Value> = self.client.answer(lock).await?.take(0)?;
        let holder = holder.into_iter().next();
        let holder = holder.ok_or_else(|| {
            TeamError::new(Code::Locked, "somebody else is upgrading or exporting the team")
        })?;
        Ok(Lock { holder })
    }

    /// Keeps a lock for [`LEASE`] from now on.
    ///
    /// # Errors
    /// `Locked` when it was lost.
    pub(crate) async fn renew(&self, lock: &Lock) -> Result<()> {
        let renew = self
            .db()
            .query(
                "UPDATE team:one SET locked_until = time::now() + $lease
                    WHERE locked_by = $holder AND locked_until > time::now() RETURN VALUE locked_by",
            )
            .bind(("lease", surrealdb::types::Duration::from(LEASE)))
            .bind(("holder", lock.holder.clone()));
        if self.client.answer(renew).await?.take::<Vec<Value>>(0)?.is_empty() {
            return Err(TeamError::new(Code::Locked, "the team was changed meanwhile"));
        }
        Ok(())
    }

    /// Gives a lock back, and notes in the audit log what was done under it. Returns the outcome of that.
    pub(crate) async fn unlock<T>(&self, lock: Lock, what: &'static str, outcome: Result<T>) -> Result<T> {
        let unlock = self
            .db()
            .query(
                "UPDATE team:one SET locked_until = NONE, locked_by = NONE WHERE locked_by = $holder;
                IF $is_done { CREATE audit SET what = $what, about = '' };",
            )
            .bind(("holder", lock.holder))
            .bind(("is_done", outcome.is_ok()))
            .bind(("what", what));
        let unlocked = self.client.answer(unlock).await.and_then(|answers| Ok(answers.check()?));
        let done = outcome?;
        unlocked?;
        Ok(done)
    }

    /// Invites somebody, such as the first administrator.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn invite(&self, role: Role, groups: &[GroupKey], lifetime: Duration) -> Result<Invitation> {
        self.enter().await?;
        invite(&self.client, &self.database, role, groups, lifetime).await
    }

    /// Returns the session, for what only tests and tools do.
    pub fn db(&self) -> &Surreal<Any> {
        &self.client.db
    }
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct HoursRow {
    token_hours: Option<i64>,
    session_hours: Option<i64>,
}

#[derive(SurrealValue)]
#[surreal(crate = "surrealdb::types")]
struct NewInvitation {
    code: String,
    role: String,
    groups: Vec<Value>,
    lifetime: surrealdb::types::Duration,
}

/// Creates an invitation; the database keeps the hash of its code.
pub(crate) async fn invite(
    client: &Client,
    database: &str,
    role: Role,
    groups: &[GroupKey],
    lifetime: Duration,
) -> Result<Invitation> {
    let mut bytes = [0; 24];
    getrandom::fill(&mut bytes).map_err(|error| TeamError::new(Code::Database, error.to_string()))?;
    let code = hex::encode(bytes);
    let query = client
        .db
        .query(
            "CREATE invitation SET id = crypto::sha256($code), role = $role, groups = <set> $groups,
                expires = time::now() + $lifetime RETURN VALUE used",
        )
        .bind(NewInvitation {
            code: code.clone(),
            role: role.as_str().to_owned(),
            groups: groups.iter().map(|group| Value::RecordId(group.record())).collect(),
            lifetime: lifetime.into(),
        });
    let created: Vec<Value> = client.answer(query).await?.take(0)?;
    if created.is_empty() {
        return Err(TeamError::new(Code::NotAllowed, "only administrators invite"));
    }
    Ok(Invitation { database: database.to_owned(), code })
}

fn is_database(name: &str) -> bool {
    let allowed = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    name.starts_with(|c: char| c.is_ascii_lowercase())
        && name.len() <= MAX_DATABASE
        && name.chars().all(allowed)
}
