//! Reading keys and passwords, which are never arguments: those would be in the shell's history.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};

use crate::outcome::Result;

/// Asks for a secret without showing it; reads one line where standard input is not a terminal.
pub(crate) fn read(prompt: &str) -> Result<String> {
    if io::stdin().is_terminal() {
        let mut err = anstream::stderr();
        write!(err, "{prompt}: ")?;
        err.flush()?;
        return Ok(rpassword::read_password()?.trim().to_owned());
    }
    let mut text = String::new();
    io::stdin().lock().read_line(&mut text)?;
    Ok(text.trim().to_owned())
}
