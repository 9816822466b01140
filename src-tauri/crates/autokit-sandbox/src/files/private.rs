//! Detection of files that hold secrets.

use std::path::Path;

/// Bytes of a file that are searched for a key: a key file begins with its key, after a few certificates at
/// most.
pub(super) const KEY_BYTES: u64 = 256 << 10;

/// Returns why a file of this name is private, if it is.
pub(super) fn name(path: &Path) -> Option<&'static str> {
    // Compared in lower case, because file systems that ignore case would open them too.
    let name = path.file_name()?.to_string_lossy().to_lowercase();
    let folder = path.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().to_lowercase());
    let folder = folder.unwrap_or_default();
    let example = [".example", ".sample", ".template", ".dist", ".defaults"];
    // `prod.env` as well as `.env`.
    if name == ".envrc" || name.rsplit_once('.').is_some_and(|(_, end)| end == "env") {
        return Some("it contains environment settings");
    }
    if name.starts_with(".env.") && !example.iter().any(|end| name.ends_with(end)) {
        return Some("it contains environment settings");
    }
    if matches!(
        name.as_str(),
        "id_rsa" | "id_dsa" | "id_ecdsa" | "id_ed25519" | "id_ecdsa_sk" | "id_ed25519_sk"
    ) {
        return Some("it is a private key");
    }
    if [".p12", ".pfx", ".jks", ".keystore", ".ppk", ".kdbx"].iter().any(|end| name.ends_with(end)) {
        return Some("it is a key store");
    }
    let logins = [".netrc", "_netrc", ".pgpass", ".git-credentials", ".htpasswd", ".pypirc", ".dockercfg"];
    let in_folder = [(".aws", "credentials"), (".docker", "config.json"), (".kube", "config")];
    if logins.contains(&name.as_str()) || in_folder.contains(&(folder.as_str(), name.as_str())) {
        return Some("it contains logins");
    }
    None
}

/// Returns whether the start of a file contains a private key in PEM format, whatever the file's name.
pub(super) fn contains_private_key(start: &[u8]) -> bool {
    let text = String::from_utf8_lossy(start);
    text.lines().map(str::trim).any(|line| {
        // Matched in two parts, so that this source file does not count as one.
        let label = line.strip_prefix("-----BEGIN ").and_then(|rest| rest.strip_suffix("-----"));
        label.is_some_and(|label| label.ends_with("PRIVATE KEY") || label.ends_with("PRIVATE KEY BLOCK"))
    })
}
