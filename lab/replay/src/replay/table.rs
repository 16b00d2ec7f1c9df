//! The summary of a replay for a person.

use rove_runs::report::line;
use serde::Serialize;

use crate::replay::figures::Row;

/// A row of figures, with the recording, the path and the seed that the figures belong to.
#[derive(Debug, Serialize)]
pub(super) struct Named<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) trace: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) link: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
    #[serde(flatten)]
    pub(super) row: Row,
}

pub(super) const LAYOUT: &str = "trace<22=trace keys>6=keys judged>6=all.keys | \
    all>6=all.instant_percent:1%?all.keys typing>6=typing.instant_percent:1%?typing.keys | \
    char>6=classes.character.instant_percent:1%?classes.character.keys \
    bksp>6=classes.backspace.instant_percent:1%?classes.backspace.keys \
    arrow>6=classes.arrow.instant_percent:1%?classes.arrow.keys other>6=classes.other.instant_percent:1%?classes.other.keys | \
    p50>7=all.latency_ms.p50:0?all.keys p90>7=all.latency_ms.p90:0?all.keys p99>7=all.latency_ms.p99:0?all.keys | \
    wrong>6=wrong.percent:2% any>6=wrong_any.percent:2% color>6=wrong_color.percent:2% revealed>8=revealed_wrong.percent:2% | \
    corrected>13=corrected_ms.p50+corrected_ms.p100:0?mistakes late>4=mistakes_gone_late | \
    flicker>16=flicker.own+flicker.all+flicker.local blinks>13=cursor_blinks.own+cursor_blinks.all+cursor_blinks.local | \
    up>9=uplink.bytes_of_run down>9=downlink.bytes_of_run";

/// Returns the line of one or of several recordings: the row, then the faults.
pub(super) fn text(named: &Named<'_>) -> String {
    let mut text = line(LAYOUT, named);
    let Row { runs, true_ends, unexpected_bytes, inside, .. } = &named.row;
    let (secrets, shown) = inside.as_ref().map_or((0, 0), |it| (it.secrets, it.secrets_shown));
    for (found, what) in [
        (runs - true_ends, format!("of {runs} ended untrue")),
        (*unexpected_bytes, "bytes unexpected".to_owned()),
        (shown, format!("of {secrets} SECRET keys shown")),
    ] {
        if found > 0 {
            text += &format!("  {found} {what}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::figures::Figures;

    #[test]
    fn without_keys_no_answer_has_never_come() {
        let row = Figures::default().row();
        let text = text(&Named { trace: Some("t"), link: None, seed: None, row });
        assert!(!text.contains("never"), "{text}");
    }
}
