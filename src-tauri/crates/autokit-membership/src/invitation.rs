//! Invitations as links: `autokit://join?server=wss://…&invitation=…`.

use autokit_error::{ApiError, ErrorCode, Result};
use autokit_team::Invitation;
use url::Url;

/// Returns the link of an invitation to a team at a server.
pub(crate) fn link(server: &str, invitation: &Invitation) -> String {
    let mut query = url::form_urlencoded::Serializer::new(String::new());
    query.append_pair("server", server).append_pair("invitation", &invitation.to_string());
    format!("autokit://join?{}", query.finish())
}

/// Reads a link; returns the server and the invitation.
pub(crate) fn read(link: &str) -> Result<(String, Invitation)> {
    let wrong = || {
        ApiError::new(
            ErrorCode::Invalid,
            "this is not a link of an invitation",
            "Paste the whole link, which begins with `autokit://join?`.",
        )
    };
    let url = Url::parse(link.trim()).map_err(|_| wrong())?;
    if url.scheme() != "autokit" || url.host_str() != Some("join") {
        return Err(wrong());
    }
    let value =
        |name: &str| url.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned());
    let (Some(server), Some(invitation)) = (value("server"), value("invitation")) else {
        return Err(wrong());
    };
    Ok((server, invitation.parse().map_err(|_| wrong())?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_says_where_and_with_what() {
        let invitation: Invitation = "kitchen.0a1b".parse().expect("an invitation");
        let made = link("wss://teams.example:8000/rpc?a=b", &invitation);
        assert_eq!(read(&made).expect("read"), ("wss://teams.example:8000/rpc?a=b".to_owned(), invitation));
        for other in
            ["", "autokit://join", "autokit://import?server=a&invitation=b.c", "https://join?server=a"]
        {
            assert!(read(other).is_err(), "{other}");
        }
    }
}
