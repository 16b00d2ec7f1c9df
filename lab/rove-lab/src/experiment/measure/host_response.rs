//! Time from a key to the next output, in the recording itself.

use rove_flows::course::ABSENT;
use rove_replay::trace::Event;

use crate::experiment::conditions::{Conditions, RunFigure, Samples, nanos};

/// Longest time in ns in which the Mosh paper (section 3.2) counts an answer as quick.
const SOON: u64 = 100_000_000;

/// The figure of a recording beside the times.
pub(super) const FIGURES: [RunFigure; 1] =
    [RunFigure { name: "< 100 ms (%)", scale: 1e-4, is_compared: false }];

/// Returns the response times of keys that were answered before the next key. Omits other keys, because it is unknown
/// which output answers them.
pub(super) fn run(conditions: &Conditions<'_>) -> Samples {
    let mut typed_at = None;
    let mut times = Vec::new();
    for record in &conditions.recording().trace.records {
        match record.event {
            Event::User(_) => typed_at = Some(record.at),
            Event::Host(_) => {
                times.extend(typed_at.take().map(|at| nanos(record.at.saturating_since(at))));
            }
            Event::Size(_) | Event::Tty(_) => {}
        }
    }
    let soon = times.iter().filter(|time| **time < SOON).count() as u64;
    let figures = vec![(soon * 1_000_000).checked_div(times.len() as u64).unwrap_or(ABSENT)];
    Samples { times, figures, ..Samples::default() }
}

#[cfg(test)]
mod tests {
    use rove_replay::trace::Trace;

    use super::*;
    use crate::experiment::conditions::Recording;

    #[test]
    fn only_the_first_output_after_a_key_answers_it() {
        let line =
            |t: &str, dir: &str| format!("{{\"t\":{t},\"dir\":\"{dir}\",\"data\":\"YQ==\"}}\n");
        let text = [
            "{\"t\":0.0,\"dir\":\"size\",\"cols\":80,\"rows\":24}\n".to_owned(),
            line("0.5", "host"),
            line("1.0", "user"),
            line("1.25", "user"),
            line("1.5", "host"),
            line("1.75", "host"),
        ];
        let trace = Trace::read(text.concat().as_bytes()).expect("a trace");
        let recording = Recording { name: "r".to_owned(), trace };
        let conditions = Conditions { recording: Some(&recording), ..Conditions::NONE };
        assert_eq!(
            run(&conditions),
            Samples { times: vec![250_000_000], figures: vec![0], ..Samples::default() }
        );
    }
}
