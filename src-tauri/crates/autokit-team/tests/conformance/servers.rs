//! What only a server does: it shows a certificate, and it ends.

use anyhow::{Result, ensure};
use autokit_team::{Address, Code, Connection, Owner};
use autokit_test_server::{Certificate, Server};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};

use crate::place::credentials;

/// Makes an authority; returns its certificate and what it signs with.
fn authority() -> Result<(String, Issuer<'static, KeyPair>)> {
    let mut params = CertificateParams::new(Vec::new())?;
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate()?;
    Ok((params.self_signed(&key)?.pem(), Issuer::new(params, key)))
}

#[tokio::test(flavor = "multi_thread")]
async fn only_the_given_authorities_name_the_server() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let (known, issuer) = authority()?;
    let (stranger, _) = authority()?;
    let key = KeyPair::generate()?;
    let signed = CertificateParams::new(vec!["127.0.0.1".to_owned()])?.signed_by(&key, &issuer)?;
    let (chain, private) = (folder.path().join("server.pem"), folder.path().join("server.key"));
    std::fs::write(&chain, signed.pem())?;
    std::fs::write(&private, key.serialize_pem())?;
    let certificate = Certificate { chain, key: private };
    let server = Server::start(&folder.path().join("server"), Some(certificate)).await?;
    let open = async |authorities: Option<&str>| {
        let address = Address::Server { url: server.url(), authorities: authorities.map(str::to_owned) };
        Connection::open(&address, None).await
    };

    let connection = open(Some(&known)).await?;
    Owner::sign_in(&connection, &credentials(), "kitchen").await?.create("The kitchen").await?;
    // Several authorities: one of them is enough.
    open(Some(&format!("{stranger}{known}"))).await?;
    for authorities in [None, Some(stranger.as_str())] {
        let refused = open(authorities).await;
        ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Unreachable), "{refused:?}");
    }
    for text in ["", "nothing of the kind"] {
        let refused = open(Some(text)).await;
        ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Invalid), "{refused:?}");
    }
    Ok(())
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_ended_is_noticed() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let mut server = Server::start(&folder.path().join("server"), None).await?;
    let address = Address::Server { url: server.url(), authorities: None };
    let patience = std::time::Duration::from_millis(200);
    let connection = Connection::open(&address, None).await?;
    let owner = Owner::sign_in(&connection, &credentials(), "kitchen").await?;
    owner.create("The kitchen").await?;
    let hasty = connection.clone().with_patience(patience);
    server.kill().await?;
    let refused = Owner::sign_in(&hasty, &credentials(), "kitchen").await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Unreachable), "{refused:?}");
    let refused = Connection::open(&address, None).await;
    ensure!(refused.as_ref().is_err_and(|error| error.code == Code::Unreachable), "{refused:?}");
    // A new connection finds it again.
    server.start_again().await?;
    let connection = Connection::open(&address, None).await?;
    let again = Owner::sign_in(&connection, &credentials(), "kitchen").await?.create("The kitchen").await;
    ensure!(again.as_ref().is_err_and(|error| error.code == Code::Taken), "{again:?}");
    Ok(())
}
