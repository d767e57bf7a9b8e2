//! How many connections there may be: in all, and from one address (`limits.connections`).

use std::collections::HashMap;
use std::fmt;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Most connections to the web port at once.
pub const WEB_CONNECTIONS: u8 = 16;
/// Descriptors kept for everything that is no bot's connection: the store, the journal, those being refused, the web port.
const RESERVE: u64 = 32 + WEB_CONNECTIONS as u64;
/// Refused connections that may be reading why at one moment; one more is closed without a word.
const REFUSING: u64 = 32;

/// Raises the process's bound of open files as far as it may, and tells how many connections it leaves room for.
pub(super) fn room_for_connections() -> u64 {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    // Refused: the bound stays as it is.
    let _ = setrlimit(Resource::Nofile, limit);
    getrlimit(Resource::Nofile).current.map_or(u64::MAX, |files| files.saturating_sub(RESERVE).max(1))
}

/// Where a connection comes from, as it is counted: whoever has an IPv6 address has 2^64 of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Origin {
    /// An IPv4 address, also where IPv6 maps it.
    V4(Ipv4Addr),
    /// The /64 of an IPv6 address.
    V6([u16; 4]),
}

impl From<IpAddr> for Origin {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self::V6([a, b, c, d])
            }
        }
    }
}

/// How many connections there may be at present.
#[derive(Clone, Copy, Debug)]
pub(super) struct Places {
    /// In all.
    pub(super) all: u64,
    /// From one origin.
    pub(super) of_one: u64,
}

impl fmt::Display for Places {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} may be in all, {} from one address", self.all, self.of_one.min(self.all))
    }
}

/// Counts the connections and lets them in up to a limit.
#[derive(Debug, Default)]
pub(super) struct Admission {
    counts: Mutex<Counts>,
}

#[derive(Debug, Default)]
struct Counts {
    all: u64,
    refusing: u64,
    by_origin: HashMap<Origin, u64>,
}

/// What becomes of a connection. Its place is free again when the pass is dropped.
#[derive(Debug)]
pub(super) enum Admitted {
    /// It is served.
    Yes(Pass),
    /// It is told that there are too many.
    No(Pass),
    /// There are even too many to be told.
    Unheard,
}

/// One connection's place.
#[derive(Debug)]
pub(super) struct Pass {
    admission: Arc<Admission>,
    /// Nowhere for one that is refused.
    origin: Option<Origin>,
}

impl Admission {
    /// Gives a connection from `address` a place, if one is free.
    pub(super) fn admit(self: &Arc<Self>, address: IpAddr, places: Places) -> Admitted {
        let origin = Origin::from(address);
        let mut counts = self.lock();
        let of_one = counts.by_origin.get(&origin).copied().unwrap_or_default();
        let pass = |origin| Pass { admission: Arc::clone(self), origin };
        if counts.all < places.all && of_one < places.of_one {
            counts.all += 1;
            counts.by_origin.insert(origin, of_one + 1);
            Admitted::Yes(pass(Some(origin)))
        } else if counts.refusing < REFUSING {
            counts.refusing += 1;
            Admitted::No(pass(None))
        } else {
            Admitted::Unheard
        }
    }

    fn lock(&self) -> MutexGuard<'_, Counts> {
        self.counts.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let mut counts = self.admission.lock();
        let Some(origin) = self.origin else {
            counts.refusing -= 1;
            return;
        };
        counts.all -= 1;
        if let Some(of_one) = counts.by_origin.get_mut(&origin) {
            *of_one -= 1;
            if *of_one == 0 {
                counts.by_origin.remove(&origin);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_let_in(admission: &Arc<Admission>, (all, of_one): (u64, u64), address: &str) -> Option<Pass> {
        match admission.admit(address.parse().unwrap(), Places { all, of_one }) {
            Admitted::Yes(pass) => Some(pass),
            Admitted::No(_) | Admitted::Unheard => None,
        }
    }

    /// `limits.connections`: at the limit and one past it, for one address and in all.
    #[test]
    fn places_are_counted_and_come_back() {
        let (admission, places) = (Arc::new(Admission::default()), (3, 2));
        let one = is_let_in(&admission, places, "10.0.0.1").unwrap();
        let _two = is_let_in(&admission, places, "10.0.0.1").unwrap();
        assert!(is_let_in(&admission, places, "10.0.0.1").is_none());
        let three = is_let_in(&admission, places, "10.0.0.2").unwrap();
        assert!(is_let_in(&admission, places, "10.0.0.3").is_none());
        drop(one);
        let one = is_let_in(&admission, places, "10.0.0.1").unwrap();
        // Those that are here stay where there may be fewer from now on.
        assert!(is_let_in(&admission, (2, 2), "10.0.0.3").is_none());
        drop((three, one));
        assert_eq!(admission.lock().by_origin.len(), 1);
    }

    #[test]
    fn an_ipv6_address_counts_by_its_network_and_a_mapped_one_as_ipv4() {
        let (admission, places) = (Arc::new(Admission::default()), (9, 1));
        let _passes = ["2001:db8:0:1::1", "2001:db8:0:2::1", "::ffff:10.0.0.1"]
            .map(|address| is_let_in(&admission, places, address).unwrap());
        for taken in ["2001:db8:0:1:ffff::2", "10.0.0.1"] {
            assert!(is_let_in(&admission, places, taken).is_none(), "{taken}");
        }
        assert!(is_let_in(&admission, places, "10.0.0.2").is_some());
    }

    #[test]
    fn only_so_many_are_told_why() {
        let (admission, places) = (Arc::new(Admission::default()), Places { all: 1, of_one: 1 });
        let nobody = "10.0.0.1".parse().unwrap();
        let _one = admission.admit(nobody, places);
        let told: Vec<_> = (0..REFUSING).map(|_| admission.admit(nobody, places)).collect();
        assert!(told.iter().all(|admitted| matches!(admitted, Admitted::No(_))));
        assert!(matches!(admission.admit(nobody, places), Admitted::Unheard));
        drop(told);
        assert!(matches!(admission.admit(nobody, places), Admitted::No(_)));
    }
}
