//! A histogram that takes a measurement without a lock: two relaxed additions.

use crate::clock::Micros;
use prometheus_client::encoding::{EncodeMetric, MetricEncoder, NoLabelSet};
use prometheus_client::metrics::MetricType;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Upper bounds for times, in microseconds: 0.1 ms to a minute.
const TIMES: &[u64] = &[
    100, 250, 500, 1_000, 2_500, 5_000, 10_000, 25_000, 50_000, 100_000, 250_000, 500_000, 1_000_000, 2_500_000,
    5_000_000, 10_000_000, 30_000_000, 60_000_000,
];
/// Upper bounds for how many stand together.
const COUNTS: &[u64] = &[1, 2, 4, 8, 16, 32, 64, 128, 256];

/// How often a measured value lay below each bound.
#[derive(Clone, Debug)]
pub struct Histogram(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    bounds: &'static [u64],
    /// How many of what is measured make one of what is shown.
    per_unit: f64,
    /// One more than bounds: the last is for what lies beyond them.
    found: Box<[AtomicU64]>,
    sum: AtomicU64,
}

impl Histogram {
    /// Of times, shown in seconds.
    pub(super) fn of_times() -> Self {
        Self::new(TIMES, 1_000_000.0)
    }

    /// Of numbers of things.
    pub(super) fn of_counts() -> Self {
        Self::new(COUNTS, 1.0)
    }

    fn new(bounds: &'static [u64], per_unit: f64) -> Self {
        let found = (0..=bounds.len()).map(|_| AtomicU64::new(0)).collect();
        Self(Arc::new(Inner { bounds, per_unit, found, sum: AtomicU64::new(0) }))
    }

    /// Takes a time.
    pub fn time(&self, time: Micros) {
        self.count(time.0);
    }

    /// Takes a number.
    pub fn count(&self, value: u64) {
        let inner = &self.0;
        let at = inner.bounds.partition_point(|bound| *bound < value);
        inner.found[at].fetch_add(1, Ordering::Relaxed);
        inner.sum.fetch_add(value, Ordering::Relaxed);
    }
}

impl EncodeMetric for Histogram {
    #[allow(clippy::cast_precision_loss)] // a sum of microseconds is exact for 285 years
    fn encode(&self, mut encoder: MetricEncoder<'_>) -> std::fmt::Result {
        let Inner { bounds, per_unit, found, sum } = &*self.0;
        let found: Vec<u64> = found.iter().map(|found| found.load(Ordering::Relaxed)).collect();
        let uppers = bounds.iter().map(|bound| *bound as f64 / per_unit).chain([f64::INFINITY]);
        let buckets: Vec<(f64, u64)> = uppers.zip(found.iter().copied()).collect();
        let sum = sum.load(Ordering::Relaxed) as f64 / per_unit;
        encoder.encode_histogram::<NoLabelSet>(sum, found.iter().sum(), &buckets, None)
    }

    fn metric_type(&self) -> MetricType {
        MetricType::Histogram
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prometheus_client::encoding::text::encode;
    use prometheus_client::registry::{Registry, Unit};

    #[test]
    fn a_value_on_a_bound_lies_below_it() {
        let histogram = Histogram::of_times();
        for micros in [100, 101, 60_000_001] {
            histogram.time(Micros(micros));
        }
        let mut registry = Registry::default();
        registry.register_with_unit("wait", "Wait", Unit::Seconds, histogram);
        let mut text = String::new();
        encode(&mut text, &registry).unwrap();
        for line in [
            "wait_seconds_bucket{le=\"0.0001\"} 1",
            "wait_seconds_bucket{le=\"0.00025\"} 2",
            "wait_seconds_bucket{le=\"60.0\"} 2",
            "wait_seconds_bucket{le=\"+Inf\"} 3",
            "wait_seconds_count 3",
            "wait_seconds_sum 60.000202",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in {text}");
        }
    }
}
