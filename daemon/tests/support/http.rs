//! A monitor: GETs by hand, and what `/metrics` says.

use super::Daemon;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// How long a condition may take to come true.
const PATIENCE: Duration = Duration::from_secs(60);

/// An answer of the web port.
#[derive(Debug)]
pub struct Page {
    pub status: u16,
    pub head: String,
    pub body: String,
}

/// What `/metrics` says: each line's name with its labels, and its value.
pub type Values = BTreeMap<String, f64>;

impl Daemon {
    /// One GET.
    pub fn get(&self, path: &str) -> Page {
        self.try_get(path).unwrap()
    }

    /// One GET, where there is an answer to it.
    pub fn try_get(&self, path: &str) -> Option<Page> {
        let mut stream = TcpStream::connect(self.http).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: test\r\nConnection: close\r\n\r\n").as_bytes()).ok()?;
        let mut answer = String::new();
        stream.read_to_string(&mut answer).ok()?;
        let (head, body) = answer.split_once("\r\n\r\n")?;
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Page { status, head: head.to_owned(), body: body.to_owned() })
    }

    /// The values of `/metrics`.
    pub fn metrics(&self) -> Values {
        let page = self.get("/metrics");
        assert_eq!(page.status, 200, "{page:?}");
        let lines = page.body.lines().filter(|line| !line.starts_with('#'));
        lines
            .map(|line| line.rsplit_once(' ').unwrap())
            .map(|(name, value)| (name.into(), value.parse().unwrap()))
            .collect()
    }

    /// Waits until `/readyz` has this status; its text.
    pub fn wait_for_readiness(&self, status: u16) -> String {
        let mut page = self.get("/readyz");
        let deadline = Instant::now() + PATIENCE;
        while page.status != status {
            assert!(Instant::now() < deadline, "{status} was awaited: {page:?}");
            std::thread::sleep(Duration::from_millis(20));
            page = self.get("/readyz");
        }
        page.body
    }

    /// Waits until a metric has this value: what is counted a moment after it was told needs that moment.
    pub fn wait_for_metric(&self, name: &str, value: f64) -> Values {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let values = self.metrics();
            if values.get(name) == Some(&value) {
                return values;
            }
            assert!(Instant::now() < deadline, "{name} = {value} was awaited: {values:#?}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}
