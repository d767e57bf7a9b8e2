//! How long a bot thought: a histogram whose classes grow with the time.

use super::cell::add_all;

/// Classes of one microsecond each.
const SINGLE: u64 = 16;
/// All classes; each of the 33 doublings beyond those has eight: up to 2³⁷ µs, more than a day.
const CLASSES: usize = 16 + 8 * 33;

/// Counts of thinking times. A quantile read from it is right within 1/16.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Thoughts(Box<[u64; CLASSES]>);

impl Default for Thoughts {
    fn default() -> Self {
        Self(Box::new([0; CLASSES]))
    }
}

impl Thoughts {
    pub(super) fn add(&mut self, us: u64) {
        self.0[class(us)] += 1;
    }

    pub(super) fn merge(&mut self, other: &Self) {
        add_all(&mut self.0[..], &other.0[..]);
    }

    /// The time that `percent` of the thoughts did not exceed, in microseconds.
    pub(super) fn quantile(&self, percent: u64) -> Option<u64> {
        let all: u64 = self.0.iter().sum();
        let rank = (all * percent).div_ceil(100).max(1);
        let mut passed = 0;
        let at = self.0.iter().position(|count| {
            passed += count;
            passed >= rank
        })?;
        Some(middle(at))
    }
}

/// The class of a time; all beyond the last bound share it.
fn class(us: u64) -> usize {
    let Some(exponent) = us.checked_ilog2().filter(|_| us >= SINGLE) else { return usize::try_from(us).unwrap_or(0) };
    // Three bits after the leading one.
    let eighth = (us >> (exponent - 3)) & 7;
    let at = u64::from(exponent - SINGLE.ilog2()) * 8 + eighth + SINGLE;
    usize::try_from(at).unwrap_or(CLASSES).min(CLASSES - 1)
}

/// The middle of a class, in microseconds.
const fn middle(class: usize) -> u64 {
    let class = class as u64;
    if class < SINGLE {
        return class;
    }
    let (doubling, eighth) = ((class - SINGLE) / 8, (class - SINGLE) % 8);
    let width = 2 << doubling;
    (8 + eighth) * width + width / 2
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_class_holds_its_middle_and_is_narrow() {
        for at in 0..CLASSES {
            assert_eq!(class(middle(at)), at, "{}", middle(at));
        }
        for us in (0..200_000).chain([1 << 30, 1 << 35]) {
            let found = middle(class(us));
            assert!(found.abs_diff(us) * 16 <= us, "{us} is counted as {found}");
        }
        assert_eq!(class(u64::MAX), CLASSES - 1);
    }

    #[test]
    fn quantiles_are_those_of_the_counts() {
        let mut thoughts = Thoughts::default();
        assert_eq!(thoughts.quantile(50), None);
        for us in 1..=10 {
            thoughts.add(us);
        }
        assert_eq!([5, 25, 50, 95].map(|percent| thoughts.quantile(percent)), [1, 3, 5, 10].map(Some));
    }
}
