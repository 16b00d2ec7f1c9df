//! The traffic of senders that share a path, as a scenario file describes it.

use rove_congestion::Begin;
use rove_flows::flow::source::FULL;
use rove_units::{Bytes, Duration, parse_duration};
use serde::Deserialize;

use crate::experiment::system::System;

/// Most senders of a scenario. Chosen: as many as in the evaluator's priors.
const SENDERS_MAX: usize = 256;

/// The word that the varied value replaces in a text.
pub(crate) const VALUE: &str = "{value}";

/// The data that the senders have to send.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Traffic {
    /// How many senders there are.
    pub(crate) senders: usize,
    /// The mean size of a flow in bytes; left out for the heavy-tailed sizes of the Remy paper.
    pub(crate) mean_flow_bytes: Option<u64>,
    /// The size of the largest flows in bytes; left out for any size.
    pub(crate) largest_flow_bytes: Option<u64>,
    /// The way in which flows of TCP begin.
    #[serde(default)]
    pub(crate) begin: TcpBegin,
    /// The first window of flows of TCP in packets, in place of that of `begin`.
    pub(crate) initial_window: Option<u32>,
    /// The size of a full IP packet; that of Ethernet where it is left out.
    pub(crate) packet_bytes: Option<u64>,
    /// How long an acknowledgment waits for a second packet; none where it is left out.
    pub(crate) acknowledgment_delay: Option<String>,
    /// How much longer the round trip of these senders is than the path's.
    pub(crate) extra_rtt: Option<String>,
    /// Senders of other systems on the same path, beside which each system is measured.
    #[serde(default)]
    pub(crate) others: Vec<Others>,
    /// The mean pause between two flows. The varied value replaces `{value}` in it.
    pub(crate) mean_pause: String,
    /// How long a run takes.
    pub(crate) length: String,
}

/// Senders of a system beside those that are measured.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(crate) struct Others {
    /// The system of these senders. By default, it is the one that is measured.
    pub(crate) system: Option<System>,
    /// How many of these senders there are.
    pub(crate) senders: usize,
    /// How much longer the round trip of these senders is than the path's.
    pub(crate) extra_rtt: Option<String>,
    /// When their first flows may begin; at once where it is left out.
    pub(crate) start_at: Option<String>,
}

/// The way in which flows of TCP begin, as scenarios name it.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum TcpBegin {
    /// Ten packets, and HyStart++.
    #[default]
    Modern,
    /// Two packets, and slow start until a loss.
    Classic,
}

/// Returns `text` with the value in place of [`VALUE`].
pub(crate) fn with_value(text: &str, value: Option<f64>) -> String {
    value.map_or_else(|| text.to_owned(), |value| text.replace(VALUE, &value.to_string()))
}

impl Traffic {
    /// Returns the traffic with a varied value in the place of `{value}`.
    pub(crate) fn at(&self, value: Option<f64>) -> Self {
        Self { mean_pause: with_value(&self.mean_pause, value), ..self.clone() }
    }

    /// Returns how flows of TCP begin.
    pub(crate) fn begin(&self) -> Begin {
        let begin = match self.begin {
            TcpBegin::Modern => Begin::MODERN,
            TcpBegin::Classic => Begin::CLASSIC,
        };
        Begin { packets: self.initial_window.unwrap_or(begin.packets), ..begin }
    }

    /// Returns the payload of a full packet.
    pub(crate) fn packet(&self) -> Bytes {
        self.packet_bytes.map_or(FULL, |bytes| Bytes::new(bytes) - rove_headless::HEADERS)
    }

    /// Returns a sentence if such traffic is impossible.
    pub(crate) fn check(&self) -> Result<(), String> {
        let others: usize = self.others.iter().map(|it| it.senders).sum();
        let has_none = self.others.iter().any(|it| it.senders == 0) || self.senders == 0;
        if has_none || self.senders.saturating_add(others) > SENDERS_MAX {
            return Err(format!("senders are from 1 to {SENDERS_MAX}, with all others"));
        }
        if self.mean_flow_bytes == Some(0) || self.largest_flow_bytes == Some(0) {
            return Err("mean-flow-bytes and largest-flow-bytes are above 0".to_owned());
        }
        if self.initial_window.is_some_and(|packets| !(1..=1_000).contains(&packets)) {
            return Err("initial-window is from 1 to 1000 packets".to_owned());
        }
        if self.packet_bytes.is_some_and(|bytes| !(100..=1_500).contains(&bytes)) {
            return Err("packet-bytes are from 100 to 1500".to_owned());
        }
        let of_others = self.others.iter().flat_map(|it| [&it.extra_rtt, &it.start_at]);
        let times = of_others.chain([&self.acknowledgment_delay, &self.extra_rtt]).flatten();
        for time in times.chain([&self.mean_pause, &self.length]) {
            let duration = parse_duration(time).map_err(|error| error.to_string())?;
            if duration.is_zero() || duration > Duration::from_secs(3_600) {
                return Err(format!("{time:?} is no time up to an hour"));
            }
        }
        Ok(())
    }
}
