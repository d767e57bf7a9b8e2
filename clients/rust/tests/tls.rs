//! TLS, against a server with a certificate of its own.

#![cfg(feature = "tls")]
#![allow(clippy::unwrap_used)] // a test fails so

use modiar_client::{Client, Error, Settings};
use rustls::pki_types::{PrivateKeyDer, PrivatePkcs8KeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpListener;
use std::path::PathBuf;
use std::sync::Arc;
use std::thread::{JoinHandle, spawn};

/// Lets a bot in over TLS, tells it that its seek is done, and reads its bye.
fn server() -> (u16, PathBuf, JoinHandle<Vec<String>>) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let file = std::env::temp_dir().join(format!("modiar-client-{port}-{}.pem", std::process::id()));
    std::fs::write(&file, made.cert.pem()).unwrap();
    let key = PrivateKeyDer::Pkcs8(PrivatePkcs8KeyDer::from(made.signing_key.serialize_der()));
    let config = ServerConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    let script = spawn(move || {
        let (socket, _) = listener.accept().unwrap();
        let stream = StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), socket);
        let mut lines = BufReader::new(stream);
        let mut said = Vec::new();
        let mut line = String::new();
        while lines.read_line(&mut line).is_ok_and(|count| count > 0) {
            let message: Value = serde_json::from_str(&line).unwrap();
            let kind = message["type"].as_str().unwrap().to_owned();
            let answer = match kind.as_str() {
                "hello" => json!({
                    "type": "welcome", "protocol": 1, "server": "modiar/9", "pools": [], "games": [], "missed": [],
                    "bot": {"name": "guest-1", "guest": true, "ratings": {}},
                    "limits": {"line_bytes": 4096, "messages_per_s": 20, "games": 1},
                }),
                "seek" => json!({"type": "seek_ended", "pool": "practice", "reason": "cancelled"}),
                _ => json!({"type": "goodbye", "reason": "bye", "message": "goodbye"}),
            };
            lines.get_mut().write_all(format!("{answer}\n").as_bytes()).unwrap();
            said.push(kind);
            line.clear();
        }
        said
    });
    (port, file, script)
}

#[test]
fn a_bot_plays_over_tls() {
    let (port, file, script) = server();
    let settings = Settings::new().host("localhost").port(port).ca(file.to_str().unwrap());
    let client = Client::connect(settings).unwrap();
    assert!(client.turns("practice", 1).unwrap().next().is_none());
    client.close();
    assert_eq!(script.join().unwrap(), ["hello", "seek", "bye"]);
    std::fs::remove_file(file).unwrap();
}

#[cfg(feature = "tokio")]
#[tokio::test]
async fn a_bot_on_tokio_plays_over_tls() {
    let (port, file, script) = server();
    let settings = Settings::new().host("localhost").port(port).ca(file.to_str().unwrap());
    let client = modiar_client::aio::Client::connect(settings).await.unwrap();
    assert!(client.turns("practice", 1).unwrap().next().await.unwrap().is_none());
    client.close().await;
    assert_eq!(script.join().unwrap(), ["hello", "seek", "bye"]);
    std::fs::remove_file(file).unwrap();
}

#[test]
fn who_is_not_trusted_is_not_talked_to() {
    let (port, file, script) = server();
    let other = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap();
    std::fs::write(&file, other.cert.pem()).unwrap();
    let settings = Settings::new().host("localhost").port(port).ca(file.to_str().unwrap());
    assert!(matches!(Client::connect(settings).err(), Some(Error::Connect(_))));
    assert_eq!(script.join().unwrap(), Vec::<String>::new());
    std::fs::remove_file(file).unwrap();
}

#[test]
fn a_port_without_tls_and_a_wrong_file_are_told() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let plain = spawn(move || listener.accept().unwrap().0.write_all(b"{\"type\":\"error\"}\n").unwrap());
    let ca = rcgen::generate_simple_self_signed(["localhost".to_owned()]).unwrap().cert.pem();
    let file = std::env::temp_dir().join(format!("modiar-client-plain-{}.pem", std::process::id()));
    std::fs::write(&file, ca).unwrap();
    let settings = || Settings::new().host("localhost").port(port);
    let error = Client::connect(settings().ca(file.to_str().unwrap())).err().unwrap().to_string();
    assert!(error.contains("the port speaks no TLS"), "{error}");
    plain.join().unwrap();
    std::fs::write(&file, "nothing").unwrap();
    let error = Client::connect(settings().ca(file.to_str().unwrap())).err().unwrap().to_string();
    assert!(error.starts_with("MODIAR_CA is ") && error.contains("it has no certificate"), "{error}");
    std::fs::remove_file(file).unwrap();
}
