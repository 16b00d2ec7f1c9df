//! The loss report: how much of what one end sent has arrived, told to it by the other.
//!
//! Only the receiver of datagrams can count those that are missing. Field 101 of the transport instruction,
//! between roves only, carries its count back. A report is no part of any state: nothing is sent for its sake,
//! a lost one is not repeated, and the next one makes up for it.

use prost::encoding::{decode_varint, encode_varint};
use rove_units::{Duration, Instant};

use crate::path::Loss;
use crate::window::RARE;

/// A loss is remembered for at least so many datagrams, and at most twice as many. Chosen: as the window of a receiver.
const REMEMBERED_MIN: u64 = 256;

/// Both directions of the reports of one end: what it has told, and what it has heard.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossReports {
    told_at: Option<Instant>,
    heard: Option<Loss>,
    /// Two earlier reports or the beginning, the older first, [`REMEMBERED_MIN`] datagrams apart at least.
    before: [Loss; 2],
}

impl LossReports {
    /// Returns the report that an instruction of this instant carries: at most one in an `interval`, and none
    /// before anything was received.
    pub(crate) fn poll(&mut self, now: Instant, loss: Loss, interval: Duration) -> Option<Loss> {
        let is_due = self.told_at.is_none_or(|told_at| told_at + interval <= now);
        let report = (is_due && loss.sent > 0).then_some(loss)?;
        self.told_at = Some(now);
        Some(report)
    }

    /// Takes a report on the `sent` datagrams of this end. A report that contradicts itself, speaks of datagrams that
    /// were never sent, or was overtaken by a later one is ignored.
    pub(crate) fn handle_report(&mut self, report: Loss, sent: u64) {
        let is_late = self.heard.is_some_and(|heard| heard.sent > report.sent);
        if is_consistent(&report) && report.sent <= sent && !is_late {
            self.heard = Some(report);
            let [_, newer] = self.before;
            if report.sent >= newer.sent + REMEMBERED_MIN {
                self.before = [newer, report];
            }
        }
    }

    /// Returns how much of what this end sent has not arrived, by the newest report; `None` before the first.
    pub(crate) const fn heard(&self) -> Option<Loss> {
        self.heard
    }

    /// Returns the share of datagrams that do not reach the peer, by its newest report; `None` before the first.
    pub(crate) fn rate(&self) -> Option<f64> {
        let heard = self.heard?;
        let [before, _] = self.before;
        let is_remembered = heard.recent_missing == 0 && heard.missing > before.missing;
        Some(if is_remembered { RARE } else { heard.recent_rate() })
    }
}

fn is_consistent(report: &Loss) -> bool {
    let Loss { sent, missing, recent_sent, recent_missing } = *report;
    missing <= sent && u64::from(recent_sent) <= sent && recent_missing <= recent_sent
}

/// Returns the contents of the instruction's field: four varints, in the order of [`Loss`].
pub(crate) fn encode(loss: &Loss) -> Vec<u8> {
    let mut bytes = Vec::new();
    let recent = [loss.recent_sent, loss.recent_missing].map(u64::from);
    for number in [loss.sent, loss.missing].into_iter().chain(recent) {
        encode_varint(number, &mut bytes);
    }
    bytes
}

/// Reads the contents of the instruction's field; what follows the four numbers is left to later versions. `None`
/// where they are cut short or too large: such a report counts as none.
pub(crate) fn decode(mut bytes: &[u8]) -> Option<Loss> {
    let mut number = || decode_varint(&mut bytes).ok();
    Some(Loss {
        sent: number()?,
        missing: number()?,
        recent_sent: number()?.try_into().ok()?,
        recent_missing: number()?.try_into().ok()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const INTERVAL: Duration = Duration::from_secs(1);

    fn loss(sent: u64, missing: u64) -> Loss {
        Loss { sent, missing, recent_sent: 0, recent_missing: 0 }
    }

    #[test]
    fn a_report_has_these_bytes() {
        let loss = Loss { sent: 300, missing: 7, recent_sent: 128, recent_missing: 2 };
        let bytes = [0xac, 2, 7, 0x80, 1, 2];
        assert_eq!(encode(&loss), bytes);
        assert_eq!(decode(&bytes), Some(loss));
        assert_eq!(
            decode(&[&bytes[..], &[0xff; 9]].concat()),
            Some(loss),
            "a later version's more"
        );
        for len in 0..bytes.len() {
            assert_eq!(decode(&bytes[..len]), None, "{len} bytes");
        }
        assert_eq!(decode(&[1, 1, 0xff, 0xff, 0xff, 0xff, 0x7f, 1]), None, "beyond 32 bits");
    }

    #[test]
    fn at_most_one_report_goes_in_an_interval_and_none_on_nothing() {
        let mut reports = LossReports::default();
        let at = Instant::from_millis;
        assert_eq!(reports.poll(at(0), loss(0, 0), INTERVAL), None);
        assert_eq!(reports.poll(at(5), loss(3, 1), INTERVAL), Some(loss(3, 1)));
        assert_eq!(reports.poll(at(1_004), loss(9, 2), INTERVAL), None);
        assert_eq!(reports.poll(at(1_005), loss(9, 2), INTERVAL), Some(loss(9, 2)));
    }

    #[test]
    fn the_newest_possible_report_counts() {
        let mut reports = LossReports::default();
        for (report, heard) in [
            (loss(11, 1), None),
            (loss(10, 11), None),
            (Loss { recent_sent: 11, ..loss(10, 1) }, None),
            (Loss { recent_sent: 9, recent_missing: 10, ..loss(10, 1) }, None),
            (loss(8, 2), Some(loss(8, 2))),
            (loss(7, 0), Some(loss(8, 2))),
            // A datagram that was late has come.
            (loss(8, 1), Some(loss(8, 1))),
            (loss(10, 10), Some(loss(10, 10))),
        ] {
            reports.handle_report(report, 10);
            assert_eq!(reports.heard(), heard, "after {report:?}");
        }
    }

    #[test]
    fn a_loss_that_is_not_among_the_newest_is_remembered_for_256_datagrams_and_at_most_512() {
        let mut reports = LossReports::default();
        assert_eq!(reports.rate(), None);
        let mut rates = Vec::new();
        for (sent, missing, recent_missing) in [
            (10, 0, 0),
            (20, 1, 1),
            (140, 1, 0),
            (266, 1, 0),
            (521, 1, 0),
            (522, 1, 0),
            (560, 2, 1),
            (690, 2, 0),
        ] {
            let recent_sent = u32::try_from(sent).unwrap().min(128);
            reports.handle_report(Loss { sent, missing, recent_sent, recent_missing }, 1_000);
            rates.push(reports.rate().unwrap());
        }
        assert_eq!(rates, [0.0, 0.05, RARE, RARE, RARE, 0.0, 1.0 / 128.0, RARE]);
    }
}
