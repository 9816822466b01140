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
/// Longest name of a team's database.
const MAX_DATABASE: usize = 40;

/// The rights of whoever runs the server, in the database of one team.
#[derive(Clone, Debug)]
pub struct Owner {
    client: Client,
    database: String,
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
        // Both are known to need no quotes.
        let define = format!(
            "DEFINE NAMESPACE IF NOT EXISTS {NAMESPACE}; USE NS {NAMESPACE}; DEFINE DATABASE {};",
            self.database
        );
        self.client.answer(self.db().query(define)).await?.check()?;
        self.upgrade().await?;
        let create = self
            .db()
            .query("CREATE ONLY team:one SET name = $name, schema = $schema")
            .bind(("name", name.to_owned()))
            .bind(("schema", schema::VERSION));
        self.client.answer(create).await?.check()?;
        Ok(())
    }

    /// Defines the tables of this version of AutoKit. Whoever else does so at the same time waits or fails; running it
    /// again changes nothing.
    ///
    /// # Errors
    /// `NewerSchema` when a newer version of AutoKit defined them.
    pub async fn upgrade(&self) -> Result<()> {
        self.client.answer(self.db().use_ns(NAMESPACE).use_db(self.database.as_str())).await?;
        let query =
            "SELECT VALUE schema FROM ONLY team:one; RETURN crypto::argon2::generate(rand::string(32));";
        let mut response = self.client.answer(self.db().query(query)).await?;
        // Before the tables are defined for the first time, the first statement fails.
        let version: Option<i64> = response.take(0).unwrap_or_default();
        if version.is_some_and(|version| version > schema::VERSION) {
            return Err(TeamError::new(
                Code::NewerSchema,
                "the team was set up by a newer version of AutoKit",
            ));
        }
        let decoy: Option<String> = response.take(1)?;
        let decoy = decoy.ok_or_else(|| TeamError::new(Code::Database, "the server made no hash"))?;
        self.client.answer(self.db().query(schema::statements(&decoy))).await?.check()?;
        if version.is_some() {
            let update = "UPDATE ONLY team:one SET schema = $schema";
            let update = self.db().query(update).bind(("schema", schema::VERSION));
            self.client.answer(update).await?.check()?;
        }
        Ok(())
    }

    /// Invites somebody, such as the first administrator.
    ///
    /// # Errors
    /// When the server does not answer.
    pub async fn invite(&self, role: Role, groups: &[GroupKey], lifetime: Duration) -> Result<Invitation> {
        self.client.answer(self.db().use_ns(NAMESPACE).use_db(self.database.as_str())).await?;
        invite(&self.client, &self.database, role, groups, lifetime).await
    }

    /// Returns the session, for what only tests and tools do.
    pub fn db(&self) -> &Surreal<Any> {
        &self.client.db
    }
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
