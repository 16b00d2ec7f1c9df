//! The built-in scenarios and recordings.

use rove_replay::trace::Trace;

use crate::experiment::conditions::Recording;

/// Expands to pairs of a name and the text of the file of that name in a folder.
macro_rules! texts {
    ($directory:literal, $ending:literal: $($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../", $directory, "/", $name, $ending)))),*]
    };
}

/// The names and texts of the scenarios, in the order of the list.
pub(super) const BUILT_IN: &[(&str, &str)] = texts!("experiments", ".toml":
    "response-500ms" "response-5s" "response-273ms" "response-loss" "response-lte" "response-download" "pager"
    "response-instant" "mosh-mistakes" "mosh-echo-ack" "mosh-flight" "mosh-outage" "host-response" "protocol-delay"
    "start" "onset" "interrupt" "aoi-study" "aoi-small" "aoi-scroll" "aoi-full" "aoi-rate" "aoi-rtt" "aoi-burst"
    "aoi-handover" "aoi-timeout" "aoi-boxes" "aoi-compression" "remy-dumbbell" "remy-heavy-tail" "remy-lte-4"
    "remy-lte-8" "remy-range" "remy-utility" "remy-rtt" "remy-beside-tcp" "sprout-links" "sprout-loss"
    "sprout-confidence" "sprout-gain" "sprout-tunnel" "sprout-frontier" "sprout-constant" "sprout-kernel"
    "sprout-belief" "cellular-rate" "cellular-download" "cellular-gaps" "streams-steady" "streams-jitter"
    "streams-cellular" "streams-download" "programs-500ms" "programs-wired" "programs-lte" "programs-loss"
    "programs-cellular" "programs-pager" "programs-interrupt" "programs-ssh"
);

/// The names and texts of the recordings.
const RECORDINGS: &[(&str, &str)] = texts!("traces", ".jsonl":
    "bash-long" "dump" "fish" "listing" "pager" "prose" "vim-modes"
);

/// Returns a built-in recording, or `None` if no recording has this name.
pub(super) fn recording(name: &str) -> Option<Recording> {
    let (name, text) = RECORDINGS.iter().find(|(its, _)| *its == name)?;
    let trace = Trace::read(text.as_bytes()).expect("a test reads each of them");
    Some(Recording { name: (*name).to_owned(), trace })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_recording_that_we_bring_is_read() {
        for (name, _) in RECORDINGS {
            let recording = recording(name).expect("it is there");
            assert!(!recording.trace.records.is_empty(), "{name}");
        }
        assert!(recording("nothing").is_none());
    }
}
