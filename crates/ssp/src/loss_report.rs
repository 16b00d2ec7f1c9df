//! The loss report, by which an end tells its peer how many of the peer's datagrams arrived.
//!
//! Only the receiver of datagrams can count the missing ones. Field 101 of the transport instruction, used between two
//! roves only, carries this count back. A report is not part of a state. No instruction is sent for it, a lost report
//! is not repeated, and the next report replaces it.

use prost::encoding::{decode_varint, encode_varint};
use rove_units::{Duration, Instant};

use crate::loss_estimate::{LossEstimate, TOLD_APART};
use crate::path::Loss;
use crate::window::OVERTAKEN_LOST;

/// The loss reports that one end has sent and received.
#[derive(Clone, Debug, Default)]
pub(crate) struct LossReports {
    told_at: Option<Instant>,
    /// How many missing datagrams the newest report to the peer has counted.
    told_missing: u64,
    heard: Option<Loss>,
    dropped: Dropped,
    /// The estimate of the loss on the way to the peer.
    estimate: LossEstimate,
}

/// The dropped datagrams. They were lost on a path that this end has given up. The peer counts them as missing.
#[derive(Clone, Copy, Debug, Default)]
struct Dropped {
    /// How many dropped datagrams the peer counts as missing in every further report.
    counted: u64,
    /// How many further dropped datagrams the peer may still count as missing, all among the first `sent` datagrams.
    open: u64,
    sent: u64,
    /// How many missing datagrams the peer's newest report has counted.
    told_missing: u64,
    /// How many missing datagrams the peer had counted when the path was given up.
    missing_before: u64,
}

impl Dropped {
    /// Returns a report of the peer without the dropped datagrams.
    fn leave_out(&mut self, report: Loss) -> Loss {
        self.told_missing = report.missing;
        let open = self.open.min(report.missing.saturating_sub(self.missing_before));
        let dropped = self.counted + open;
        if report.sent >= self.sent + OVERTAKEN_LOST {
            (self.counted, self.open) = (dropped, 0);
        }
        let is_recent = report.sent < self.sent + u64::from(report.recent_sent);
        let recent = if is_recent { u32::try_from(dropped).unwrap_or(u32::MAX) } else { 0 };
        Loss {
            missing: report.missing.saturating_sub(dropped),
            recent_missing: report.recent_missing.saturating_sub(recent),
            ..report
        }
    }
}

impl LossReports {
    /// Returns the report that an instruction sent at `now` carries, or `None`. Within an `interval`, there is at most
    /// one report, unless the number of missing datagrams has changed. The first report follows the first arrival.
    pub(crate) fn poll(&mut self, now: Instant, loss: Loss, interval: Duration) -> Option<Loss> {
        let is_news = loss.missing != self.told_missing;
        let is_due = is_news || self.told_at.is_none_or(|told_at| told_at + interval <= now);
        let report = (is_due && loss.sent > 0).then_some(loss)?;
        (self.told_at, self.told_missing) = (Some(now), loss.missing);
        Some(report)
    }

    /// Called with a report of the peer, when this end has sent `sent` datagrams. A report is ignored if it contradicts
    /// itself, counts more datagrams than were sent, or was overtaken by a later one.
    pub(crate) fn handle_report(&mut self, report: Loss, sent: u64) {
        let is_late = self.heard.is_some_and(|heard| heard.sent > report.sent);
        if is_consistent(&report) && report.sent <= sent && !is_late {
            let report = self.dropped.leave_out(report);
            let before = self.heard.replace(report).unwrap_or_default();
            self.learn(before, report);
        }
    }

    /// Called when this end has given up a path on which up to `count` of the `sent` datagrams may have been lost.
    /// These datagrams do not count as losses of the path now in use.
    pub(crate) fn forgive(&mut self, count: u64, sent: u64) {
        if count == 0 {
            return;
        }
        let Dropped { counted, open, told_missing, .. } = self.dropped;
        let missing_before = if open == 0 { told_missing } else { self.dropped.missing_before };
        self.dropped = Dropped { counted, open: open + count, sent, told_missing, missing_before };
    }

    /// Returns the peer's newest report, without the losses of paths that this end gave up. `None` before the first.
    pub(crate) const fn heard(&self) -> Option<Loss> {
        self.heard
    }

    /// Records that a datagram from the peer was lost, because the other direction may then lose datagrams, too.
    pub(crate) fn handle_loss_of_peers(&mut self) {
        self.estimate.handle_loss_of_other();
    }

    /// Returns the share of datagrams that do not reach the peer, by its reports; `None` before the first report.
    pub(crate) fn rate(&self) -> Option<f64> {
        self.heard.map(|_| self.estimate.rate())
    }

    /// Updates the estimate with the datagrams between two reports, as if the lost datagrams were spread evenly.
    fn learn(&mut self, before: Loss, report: Loss) {
        let lost = report.missing.saturating_sub(before.missing);
        let sent = (report.sent - before.sent).max(lost);
        for place in sent.saturating_sub(TOLD_APART as u64)..sent {
            let lost_until = |place: u64| u128::from(place) * u128::from(lost) / u128::from(sent);
            self.estimate.handle_datagram(lost_until(place) < lost_until(place + 1));
        }
        self.estimate.handle_late(before.missing.saturating_sub(report.missing));
    }
}

fn is_consistent(report: &Loss) -> bool {
    let Loss { sent, missing, recent_sent, recent_missing } = *report;
    missing <= sent && u64::from(recent_sent) <= sent && recent_missing <= recent_sent
}

/// Encodes the contents of the instruction's loss report field: four varints, in the order of [`Loss`].
pub(crate) fn encode(loss: &Loss) -> Vec<u8> {
    let mut bytes = Vec::new();
    let recent = [loss.recent_sent, loss.recent_missing].map(u64::from);
    for number in [loss.sent, loss.missing].into_iter().chain(recent) {
        encode_varint(number, &mut bytes);
    }
    bytes
}

/// Decodes the contents of the instruction's loss report field. Bytes after the four numbers belong to later versions.
/// Returns `None` if numbers are cut short or too large, which counts as no report.
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
        assert_eq!(reports.poll(at(1_004), loss(9, 1), INTERVAL), None);
        assert_eq!(reports.poll(at(1_005), loss(9, 1), INTERVAL), Some(loss(9, 1)));
    }

    #[test]
    fn a_datagram_that_was_lost_or_late_is_told_at_once() {
        let mut reports = LossReports::default();
        let at = Instant::from_millis;
        assert_eq!(reports.poll(at(0), loss(3, 0), INTERVAL), Some(loss(3, 0)));
        for (millis, missing, is_told) in [(1, 0, false), (2, 1, true), (3, 1, false), (4, 0, true)]
        {
            let told = reports.poll(at(millis), loss(3 + millis, missing), INTERVAL);
            assert_eq!(told.is_some(), is_told, "after {millis} ms");
        }
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
            // A missing datagram has arrived late.
            (loss(8, 1), Some(loss(8, 1))),
            (loss(10, 10), Some(loss(10, 10))),
        ] {
            reports.handle_report(report, 10);
            assert_eq!(reports.heard(), heard, "after {report:?}");
        }
    }

    #[test]
    fn a_datagram_that_ended_with_a_path_is_no_loss_and_a_further_one_is() {
        let mut reports = LossReports::default();
        reports.handle_report(loss(10, 1), 10);
        let recent = |sent, missing| Loss {
            recent_sent: 16,
            recent_missing: u32::try_from(missing).expect("few"),
            ..loss(sent, missing)
        };
        reports.forgive(2, 20);
        for (sent, missing, told, recent_told) in [
            (19, 1, 1, 1),
            (20, 2, 1, 1),
            (22, 3, 1, 1),
            // Only two datagrams are forgiven, so further missing ones count.
            (23, 4, 2, 2),
            (24, 5, 3, 3),
            (40, 5, 3, 5),
        ] {
            reports.handle_report(recent(sent, missing), 99);
            let heard = reports.heard().expect("a report has come");
            assert_eq!((heard.missing, heard.recent_missing), (told, recent_told), "{sent}");
        }
        // If a dropped datagram has arrived after all, no other missing one is forgiven.
        let mut reports = LossReports::default();
        reports.forgive(1, 20);
        reports.handle_report(loss(30, 0), 99);
        reports.handle_report(loss(40, 1), 99);
        assert_eq!(reports.heard(), Some(loss(40, 1)));
        assert!(reports.rate() > Some(0.0));
    }

    #[test]
    fn the_estimate_is_that_of_the_datagrams_between_the_reports() {
        let mut reports = LossReports::default();
        assert_eq!(reports.rate(), None);
        let mut rate_after = |sent, missing| {
            reports.handle_report(loss(sent, missing), 1 << 40);
            reports.rate().expect("a report has come")
        };
        assert_eq!(rate_after(300, 0), 0.0);
        assert!(rate_after(301, 1) > 0.1, "at once");
        assert_eq!(rate_after(303, 0), 0.0, "it was late");
        let rate = rate_after(100_303, 5_000);
        assert!((0.03..0.15).contains(&rate), "evenly among the others: {rate}");
        assert!(rate_after(1 << 40, 1 << 39) > 0.4);
    }
}
