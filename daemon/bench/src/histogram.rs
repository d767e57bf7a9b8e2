//! Latencies, counted in buckets.

/// Buckets for each doubling: a value is known to one part in 64.
const PARTS: u64 = 64;
const BUCKETS: usize = 64 * 59;

/// Counts of times in nanoseconds, from one to all that 64 bits hold.
#[derive(Clone, Debug)]
pub struct Histogram {
    counts: Vec<u64>,
    total: u64,
}

impl Default for Histogram {
    fn default() -> Self {
        Self { counts: vec![0; BUCKETS], total: 0 }
    }
}

impl Histogram {
    /// Counts one time.
    pub fn count(&mut self, nanos: u64) {
        self.counts[bucket(nanos)] += 1;
        self.total += 1;
    }

    /// The time that `share` of all did not exceed, in microseconds; 0 where nothing was counted.
    pub fn percentile(&self, share: f64) -> f64 {
        let mut left = self.total as f64 * share;
        for (bucket, &count) in self.counts.iter().enumerate().filter(|(_, count)| **count > 0) {
            left -= count as f64;
            if left <= 0.0 {
                return highest(bucket) as f64 / 1000.0;
            }
        }
        0.0
    }
}

fn bucket(value: u64) -> usize {
    let shift = u64::from(value.max(PARTS).ilog2() - PARTS.ilog2());
    usize::try_from(shift * PARTS + (value >> shift)).unwrap_or(BUCKETS - 1)
}

fn highest(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    let shift = (bucket / PARTS).saturating_sub(1);
    let lowest = (bucket - shift * PARTS) << shift;
    lowest + ((1 << shift) - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_value_is_in_its_bucket_and_within_a_64th_of_its_end() {
        for value in (0..200).chain([1 << 20, (1 << 20) + 12_345, u64::MAX / 3, u64::MAX]) {
            let end = highest(bucket(value));
            assert!(end >= value && end - value <= value / PARTS, "{value}: {end}");
        }
    }

    #[test]
    fn percentiles_of_a_thousand_equal_steps() {
        let mut histogram = Histogram::default();
        (1..=1000).for_each(|step| histogram.count(step * 1000));
        for (share, wanted) in [(0.5, 500.0), (0.99, 990.0), (0.999, 999.0), (1.0, 1000.0)] {
            let found = histogram.percentile(share);
            assert!((found - wanted).abs() <= wanted / 60.0, "{share}: {found}");
        }
        assert!(Histogram::default().percentile(0.5).abs() < f64::EPSILON, "of nothing");
    }
}
