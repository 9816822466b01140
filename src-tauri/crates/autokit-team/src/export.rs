//! A team in a file, from which it can be made anew at another server.
//!
//! The first line says what the file is, each further one holds a row as the database has it, and the last one counts and
//! hashes them. `surreal export` is no way to do this: it leaves out the keys for signing tokens and cannot be read back
//! without them.

use std::io::{BufRead, Write};

use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};
use surrealdb::types::{Object, Value};

use crate::error::{Code, Result, TeamError};
use crate::owner::{Lock, Owner};
use crate::schema;
use crate::session::rows_after;

const FORMAT: &str = "autokit-team";
/// Rows read or written at a time.
const ROWS: usize = 500;
/// Fewer of those tables whose rows may be large: clients take messages of up to 64 MiB.
const LARGE_ROWS: [(&str, usize); 2] = [("revision", 100), ("proposal", 20)];
/// Bytes of rows after which no more are written at the same time.
const BYTES: usize = 16 << 20;
/// Most bytes of a line: a card is far shorter.
const LONGEST_LINE: u64 = 64 << 20;
/// What is exported; wrong passwords are not. The row of the team comes last: without it, there is none.
const TABLES: [&str; 14] = [
    "group",
    "member",
    "identity",
    "invitation",
    "policy",
    "card",
    "revision",
    "vector",
    "proposal",
    "comment",
    "revocation",
    "request",
    "audit",
    "team",
];
/// What marks a database that is being filled.
const UNFINISHED: &str = "unfinished_import";

#[derive(Serialize, Deserialize)]
struct Header {
    format: String,
    schema: i64,
}

#[derive(Serialize, Deserialize)]
struct Row {
    table: String,
    row: Value,
}

#[derive(Serialize, Deserialize)]
struct Footer {
    rows: u64,
    sha256: String,
}

fn unreadable(message: impl std::fmt::Display) -> TeamError {
    TeamError::new(Code::Invalid, format!("the export of a team cannot be read: {message}"))
}

fn failed(error: &std::io::Error) -> TeamError {
    TeamError::new(Code::Invalid, format!("the export cannot be written: {error}"))
}

fn write_line<T: Serialize>(out: &mut impl Write, hasher: &mut Sha256, value: &T) -> Result<()> {
    let mut line = serde_json::to_vec(value)
        .map_err(|error| TeamError::new(Code::Database, format!("a row cannot be written down: {error}")))?;
    line.push(b'\n');
    hasher.update(&line);
    out.write_all(&line).map_err(|error| failed(&error))
}

impl Owner {
    /// Writes everything of the team, members' hashed passwords included. Meanwhile nobody changes anything; changes of
    /// members wait in their replicas. Returns the number of rows.
    ///
    /// # Errors
    /// `NotFound` for a database that is no team's; `Locked` when somebody else upgrades or exports the team; `Invalid`
    /// when the file cannot be written.
    pub async fn export(&self, out: &mut (impl Write + Send)) -> Result<u64> {
        let version = self.ensure_team().await?;
        let lock = self.lock().await?;
        let outcome = self.write_rows(out, version, &lock).await;
        self.unlock(lock, "exported", outcome).await
    }

    async fn write_rows(&self, out: &mut (impl Write + Send), version: i64, lock: &Lock) -> Result<u64> {
        // Earlier versions have no such tables.
        let define = "DEFINE TABLE IF NOT EXISTS revocation PERMISSIONS NONE;
            DEFINE TABLE IF NOT EXISTS identity PERMISSIONS NONE;";
        self.answer(self.db().query(define)).await?.check()?;
        let (mut rows, mut hasher) = (0, Sha256::new());
        let header = Header { format: FORMAT.to_owned(), schema: version };
        write_line(out, &mut hasher, &header)?;
        for table in TABLES {
            let most =
                LARGE_ROWS.into_iter().find(|(large, _)| *large == table).map_or(ROWS, |(_, most)| most);
            let mut last = None;
            loop {
                self.renew(lock).await?;
                let query = self
                    .db()
                    .query("SELECT * FROM $rows LIMIT $limit")
                    .bind(("rows", rows_after(table, last.as_ref())))
                    .bind(("limit", most as i64));
                let page: Vec<Object> = self.answer(query).await?.take(0)?;
                let count = page.len();
                for mut row in page {
                    if table == "team" {
                        row.remove("locked_until");
                        row.remove("locked_by");
                    }
                    match row.get("id") {
                        Some(Value::RecordId(id)) => last = Some(id.key.clone()),
                        _ => return Err(TeamError::new(Code::Database, "the server gave a row without id")),
                    }
                    write_line(out, &mut hasher, &Row { table: table.to_owned(), row: Value::Object(row) })?;
                }
                rows += count as u64;
                if count < most {
                    break;
                }
            }
        }
        let footer = Footer { rows, sha256: hex::encode(hasher.finalize()) };
        write_line(out, &mut Sha256::new(), &footer)?;
        out.flush().map_err(|error| failed(&error))?;
        Ok(rows)
    }

    /// Makes a team of what [`Owner::export`] wrote, with the tables of this version and new keys for signing tokens.
    /// Returns the number of rows.
    ///
    /// # Errors
    /// `Taken` when the database exists, unless it is what is left of an import that did not finish; `NewerSchema`;
    /// `Invalid` for what is not a whole export. The database is removed again then.
    pub async fn import(&self, lines: &mut (impl BufRead + Send)) -> Result<u64> {
        match self.create_database().await {
            Err(error) if error.code == Code::Taken && self.is_unfinished().await? => {
                self.remove_database().await?;
                self.create_database().await?;
            }
            created => created?,
        }
        self.answer(self.db().query(format!("CREATE {UNFINISHED}:one"))).await?.check()?;
        match self.read_rows(lines).await {
            Ok(rows) => {
                let done =
                    format!("REMOVE TABLE {UNFINISHED}; CREATE audit SET what = 'imported', about = '';");
                self.answer(self.db().query(done)).await?.check()?;
                Ok(rows)
            }
            Err(error) => {
                if let Err(left) = self.remove_database().await {
                    let message = format!("{error}; the unfinished database is left: {left}");
                    return Err(TeamError::new(error.code, message));
                }
                Err(error)
            }
        }
    }

    async fn read_rows(&self, lines: &mut (impl BufRead + Send)) -> Result<u64> {
        let (mut rows, mut hasher) = (0, Sha256::new());
        let mut line = String::new();
        let header: Header = read_line(lines, &mut line)
            .and_then(|()| serde_json::from_str(&line).map_err(|_| unreadable("it is not one")))?;
        hasher.update(&line);
        if header.format != FORMAT {
            return Err(unreadable("it is not one"));
        }
        if header.schema > schema::VERSION {
            return Err(TeamError::new(
                Code::NewerSchema,
                "the team was exported by a newer version of AutoKit",
            ));
        }
        let (mut table, mut batch, mut bytes) = (TABLES[0], Vec::new(), 0);
        let footer = loop {
            read_line(lines, &mut line)?;
            let Ok(row) = serde_json::from_str::<Row>(&line) else {
                let footer: Footer = serde_json::from_str(&line).map_err(unreadable)?;
                break footer;
            };
            hasher.update(&line);
            rows += 1;
            let of = TABLES.into_iter().find(|known| *known == row.table);
            let of = of.ok_or_else(|| unreadable(format!("it has rows of {:?}", row.table)))?;
            if of != table || batch.len() == ROWS || bytes > BYTES {
                self.insert(table, std::mem::take(&mut batch)).await?;
                (table, bytes) = (of, 0);
            }
            bytes += line.len();
            batch.push(row.row);
        };
        if footer.rows != rows || footer.sha256 != hex::encode(hasher.finalize()) {
            return Err(unreadable("it is damaged"));
        }
        self.insert(table, batch).await?;
        // The events are defined after the rows are there, so that they say nothing about them.
        let lifetimes = self.lifetimes().await?;
        self.define(lifetimes).await?;
        self.ensure_team().await?;
        if header.schema < schema::WITH_AUDIENCES {
            self.backfill_audiences(None).await?;
        }
        let update = "UPDATE ONLY team:one SET schema = $schema";
        self.answer(self.db().query(update).bind(("schema", schema::VERSION))).await?.check()?;
        Ok(rows)
    }

    async fn insert(&self, table: &str, rows: Vec<Value>) -> Result<()> {
        if rows.is_empty() {
            return Ok(());
        }
        let is_of_table = |row: &Value| match row {
            Value::Object(row) => {
                matches!(row.get("id"), Some(Value::RecordId(id)) if id.table.as_str() == table)
            }
            _ => false,
        };
        if !rows.iter().all(is_of_table) {
            return Err(unreadable(format!("it has a row that is none of {table:?}")));
        }
        let insert = format!("INSERT INTO `{table}` $rows RETURN NONE");
        self.answer(self.db().query(insert).bind(("rows", rows))).await?.check()?;
        Ok(())
    }

    /// Whether the database is what is left of an import that did not finish.
    async fn is_unfinished(&self) -> Result<bool> {
        self.enter().await?;
        let query = self.db().query(format!("SELECT VALUE id FROM {UNFINISHED}"));
        // Without such a table, the statement fails.
        let rows: Vec<Value> = self.answer(query).await?.take(0).unwrap_or_default();
        Ok(!rows.is_empty())
    }

    async fn remove_database(&self) -> Result<()> {
        let remove = format!("REMOVE DATABASE IF EXISTS {}", self.database());
        self.answer(self.db().query(remove)).await?.check()?;
        Ok(())
    }
}

/// Reads a line with its ending.
fn read_line(lines: &mut impl BufRead, line: &mut String) -> Result<()> {
    line.clear();
    let mut limited = std::io::Read::take(lines, LONGEST_LINE);
    match std::io::BufRead::read_line(&mut limited, line) {
        Ok(0) => Err(unreadable("it ends early")),
        Ok(_) if !line.ends_with('\n') => Err(unreadable("it ends early or has too long a line")),
        Ok(_) => Ok(()),
        Err(error) => Err(unreadable(error)),
    }
}
