//! What the system knows of this process, asked when somebody looks.

use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::gauge::ConstGauge;
use prometheus_client::registry::Unit;
use std::fs;

/// The process as `/proc/self` shows it; on a system without, only when it began.
#[derive(Debug)]
pub(super) struct Process {
    /// Unix time of its start, in seconds.
    pub(super) started: f64,
}

impl Collector for Process {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> std::fmt::Result {
        let started = ConstGauge::new(self.started);
        let help = "Unix time at which the process began";
        let metric =
            encoder.encode_descriptor("process_start_time", help, Some(&Unit::Seconds), started.metric_type())?;
        started.encode(metric)?;
        if let Some(bytes) = resident_bytes() {
            let resident = ConstGauge::new(bytes);
            let help = "Memory that the process holds in RAM";
            let metric = encoder.encode_descriptor(
                "process_resident_memory",
                help,
                Some(&Unit::Bytes),
                resident.metric_type(),
            )?;
            resident.encode(metric)?;
        }
        if let Some(count) = open_descriptors() {
            let open = ConstGauge::new(count);
            let metric =
                encoder.encode_descriptor("process_open_fds", "File descriptors in use", None, open.metric_type())?;
            open.encode(metric)?;
        }
        Ok(())
    }
}

/// `VmRSS:     7344 kB`
fn resident_bytes() -> Option<i64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    Some(line.trim().strip_suffix(" kB")?.parse::<i64>().ok()? * 1024)
}

/// The one by which they are counted left out.
fn open_descriptors() -> Option<i64> {
    let count = fs::read_dir("/proc/self/fd").ok()?.count();
    Some(i64::try_from(count).ok()? - 1)
}
