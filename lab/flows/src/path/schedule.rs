//! A link that changes in steps, from the scenario JSON of a container testbed: netem under a token bucket.

use rove_link::{LinkConfig, Netem, Steps};
use rove_units::{BitRate, Bytes, Duration, Instant};
use serde::{Deserialize, Deserializer, de};

/// Most steps of a schedule. Chosen: a step each second for two hours and more.
const STEPS_MAX: usize = 10_000;
/// Longest delay and jitter, in milliseconds. Chosen: as for `rtt`.
const LONGEST_DELAY: f64 = 60_000.0;
/// Highest rate, in kbit/s. Chosen: a hundred times what an emulator can carry.
const HIGHEST_RATE: f64 = 100_000_000.0;
/// Longest step, in seconds. Chosen: a day.
const LONGEST_STEP: f64 = 86_400.0;

/// The steps with their lengths. The last step goes on for ever.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct StepSchedule(Vec<(Duration, Netem)>);

/// A schedule file that is an object and not only a list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    /// How `delay_ms` is shared: `each` direction has all of it, which is the default, or `half`.
    #[serde(default)]
    delay_split: DelaySplit,
    /// The steps in turn.
    steps: Vec<Step>,
}

/// How the two directions share `delay_ms`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
enum DelaySplit {
    /// Each direction has all of it, as the testbed sets it at both ends.
    #[default]
    Each,
    /// Each direction has half of it: it is the delay of a round trip.
    Half,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    /// The delay of each direction, or of both as `delay_split` says, up to 60,000.
    #[serde(default, deserialize_with = "delay")]
    delay_ms: f64,
    /// The standard deviation of the delay, up to 60,000. Delays are distributed normally, and packets may overtake.
    #[serde(default, deserialize_with = "jitter")]
    jitter_ms: f64,
    /// The percentage of packets lost, independently of each other.
    #[serde(default, deserialize_with = "loss")]
    loss_pct: f64,
    /// The rate of a token bucket, up to 100,000,000, with Ethernet's 14 bytes counted. 0 means no bucket. The
    /// bucket holds 10 ms (at least 1600 bytes), its queue 400 ms, and the line 1000 packets.
    #[serde(default, deserialize_with = "rate")]
    rate_kbit: f64,
    /// How long the step lasts, up to 86,400. Only the last step, which stays, may leave it out.
    #[serde(default, deserialize_with = "duration")]
    duration_s: Option<f64>,
}

impl StepSchedule {
    /// Reads a list of steps, or an object with such a list in `steps`.
    ///
    /// # Errors
    ///
    /// Returns a sentence that names the place of the first mistake.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let read = if text.trim_start().starts_with('{') {
            serde_json::from_str(text)
        } else {
            serde_json::from_str(text)
                .map(|steps| Document { delay_split: DelaySplit::default(), steps })
        };
        let Document { delay_split, steps } = read.map_err(|error| sentence(&error))?;
        let count = steps.len();
        if !(1..=STEPS_MAX).contains(&count) {
            return Err(format!("there are {count} steps; from 1 to {STEPS_MAX} are expected"));
        }
        let steps = steps.into_iter().zip(1..).map(|(step, number)| {
            let duration = match step.duration_s {
                Some(duration) => Duration::from_secs_f64(duration),
                None if number == count => Duration::ZERO,
                None => {
                    return Err(format!(
                        "step {number} of {count} has no duration_s; only the last may leave it out"
                    ));
                }
            };
            Ok((duration, step.netem(delay_split)))
        });
        steps.collect::<Result<_, _>>().map(Self)
    }

    /// Returns the link of one direction, whose first step begins at `start`. The rate counts `headers` for each packet
    /// beside its own bytes and Ethernet's header.
    pub(super) fn steps(&self, start: Instant, headers: Bytes) -> Steps {
        // The first step also holds before the start.
        let mut before = start.saturating_since(Instant::ZERO);
        let steps = self.0.iter().map(|(duration, netem)| {
            let config = LinkConfig::from(*netem);
            let config = LinkConfig { overhead: config.overhead + headers, ..config };
            (core::mem::take(&mut before) + *duration, config)
        });
        Steps::new(steps).expect("a schedule has at least one step")
    }

    /// Returns the link as it is in the first step.
    pub(super) fn first(&self) -> LinkConfig {
        self.0.first().map(|(_, netem)| LinkConfig::from(*netem)).unwrap_or_default()
    }
}

impl Step {
    fn netem(&self, split: DelaySplit) -> Netem {
        let millis = |value: f64| Duration::from_secs_f64(value * 1e-3);
        let delay = millis(self.delay_ms);
        Netem {
            delay: if split == DelaySplit::Half { delay / 2 } else { delay },
            jitter: millis(self.jitter_ms),
            loss: self.loss_pct / 100.0,
            rate: bits(self.rate_kbit),
        }
    }
}

/// Returns a rate in whole bits per second. 0 means no limit, and any other rate is at least 1.
fn bits(kbit: f64) -> Option<BitRate> {
    let micros = Duration::try_from_secs_f64(kbit * 1e-3).ok()?.as_micros();
    let is_some = kbit > 0.0;
    u64::try_from(micros)
        .ok()
        .filter(|_| is_some)
        .and_then(|bits| BitRate::from_bits_per_second(bits.max(1)))
}

fn delay<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    within("delay_ms", value, LONGEST_DELAY)
}

fn jitter<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    within("jitter_ms", value, LONGEST_DELAY)
}

fn loss<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    within("loss_pct", value, 100.0)
}

fn rate<'de, D: Deserializer<'de>>(value: D) -> Result<f64, D::Error> {
    within("rate_kbit", value, HIGHEST_RATE)
}

fn duration<'de, D: Deserializer<'de>>(value: D) -> Result<Option<f64>, D::Error> {
    within("duration_s", value, LONGEST_STEP).map(Some)
}

/// Reads a number from 0 to `max`.
fn within<'de, D: Deserializer<'de>>(name: &str, value: D, max: f64) -> Result<f64, D::Error> {
    let value = f64::deserialize(value)?;
    if (0.0..=max).contains(&value) {
        return Ok(value);
    }
    Err(de::Error::custom(format!("{name} is a number from 0 to {max}, not {value}")))
}

/// Returns the line and column of a JSON text's mistake, then what is wrong.
fn sentence(error: &serde_json::Error) -> String {
    let (line, column) = (error.line(), error.column());
    // The quoted name of a field may hold a line break.
    let text = error.to_string().replace('\n', " ");
    let place = format!(" at line {line} column {column}");
    format!("line {line}, column {column}: {}", text.strip_suffix(&place).unwrap_or(&text))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rove_link::Link;
    use rove_units::Seed;

    use super::*;

    const TWO: &str = r#"[
        {"delay_ms": 50, "jitter_ms": 5, "loss_pct": 1.5, "rate_kbit": 1000, "duration_s": 10},
        {"delay_ms": 200, "loss_pct": 20}
    ]"#;

    #[test]
    fn steps_are_read_as_netem_under_a_token_bucket() {
        let StepSchedule(steps) = StepSchedule::parse(TWO).unwrap();
        let [(ten, first), (_, second)] = steps[..] else { panic!("{steps:?}") };
        assert_eq!(ten, Duration::from_secs(10));
        let rate = BitRate::from_bits_per_second(1_000_000);
        let [delay, jitter] = [50, 5].map(Duration::from_millis);
        assert_eq!(first, Netem { delay, jitter, loss: 0.015, rate });
        let delay = Duration::from_millis(200);
        assert_eq!(second, Netem { delay, loss: 0.2, ..Netem::default() });
        let half = format!(r#"{{"delay_split": "half", "steps": {TWO}}}"#);
        let StepSchedule(steps) = StepSchedule::parse(&half).unwrap();
        assert_eq!(steps[1].1.delay, Duration::from_millis(100));
    }

    #[test]
    fn steps_begin_with_the_run() {
        let schedule = StepSchedule::parse(TWO).unwrap();
        let mut link = Link::new(
            schedule.steps(Instant::from_millis(5_000), Bytes::ZERO),
            Seed::new(3).stream("uplink"),
        );
        let mut delay_at = |at| {
            let at = Instant::from_millis(at);
            let sent = (0..20).map(|_| link.handle_packet(at, [0_u8; 8])).count();
            let last = core::iter::from_fn(|| link.poll_packet(Instant::FAR_FUTURE)).last();
            (sent, last.expect("one of twenty").0.saturating_since(at).as_millis())
        };
        assert!((30..80).contains(&delay_at(14_999).1), "the first step");
        assert_eq!(delay_at(15_000), (20, 200), "the second");
    }

    #[test]
    fn what_is_no_schedule_is_refused_with_its_place() {
        for (text, expected) in [
            ("", "line 1, column 0: EOF"),
            ("[]", "there are 0 steps; from 1 to 10000"),
            ("7", "line 1, column 1: invalid type: integer `7`, expected a sequence"),
            (
                "[{\"delay_ms\": 5,\n\"delay\": 6}]",
                "line 2, column 7: unknown field `delay`, expected one of",
            ),
            (
                "[{\"delay_ms\": \"5\"}]",
                "line 1, column 17: invalid type: string \"5\", expected f64",
            ),
            ("[{\"de\\nlay\": 6}]", "line 1, column 11: unknown field `de lay`, expected one of"),
            ("[{\"delay_ms\": 60001}]", "delay_ms is a number from 0 to 60000, not 60001"),
            ("[{\"jitter_ms\": -1}]", "jitter_ms is a number from 0 to 60000, not -1"),
            ("[{\"loss_pct\": 100.5}]", "loss_pct is a number from 0 to 100, not 100.5"),
            ("[{\"rate_kbit\": 1e12}]", "rate_kbit is a number from 0 to 100000000"),
            ("[{\"rate_kbit\": 1e999}]", "number out of range"),
            ("[{\"duration_s\": 1e6}]", "duration_s is a number from 0 to 86400, not 1000000"),
            (
                "[{\"delay_ms\": 1}, {}]",
                "step 1 of 2 has no duration_s; only the last may leave it out",
            ),
            ("[{\"delay_ms\": 1, \"delay_ms\": 2}]", "duplicate field `delay_ms`"),
            ("[{}] 5", "line 1, column 6: trailing characters"),
            ("{\"steps\": 5}", "expected a sequence"),
            (
                "{\"delay_split\": \"both\", \"steps\": [{}]}",
                "unknown variant `both`, expected `each` or `half`",
            ),
            ("{\"delay_split\": \"half\"}", "missing field `steps`"),
        ] {
            let error = StepSchedule::parse(text).expect_err(text);
            assert!(error.contains(expected), "{text}: {error}");
        }
        let many = format!("[{}{{}}]", "{\"duration_s\":1},".repeat(STEPS_MAX));
        assert!(StepSchedule::parse(&many).unwrap_err().starts_with("there are 10001 steps"));
        assert!(StepSchedule::parse(&"[".repeat(100_000)).is_err());
    }

    /// Numbers at the edges of what is allowed, and beyond.
    fn number() -> impl Strategy<Value = String> {
        let edges = [
            "0", "-0", "1e-300", "0.0005", "100", "60000", "86400", "1e8", "-1", "1e300", "null",
            "\"1\"",
        ];
        prop_oneof![
            3 => any::<f64>().prop_map(|number| number.to_string()),
            3 => (0..100_000_u32).prop_map(|number| number.to_string()),
            4 => prop::sample::select(edges.to_vec()).prop_map(str::to_owned),
        ]
    }

    proptest! {
        #[test]
        fn whatever_a_file_has_it_is_a_link_or_a_sentence(
            fields in prop::collection::vec(
                (prop::sample::select(vec!["delay_ms", "jitter_ms", "loss_pct", "rate_kbit", "duration_s"]), number()),
                0..12,
            ),
            cut in 0..400_usize,
            noise in "\\PC{0,6}",
        ) {
            let steps: Vec<String> =
                fields.iter().map(|(name, number)| format!("{{\"{name}\": {number}, \"duration_s\": 1}}")).collect();
            let whole = format!("[{}]", steps.join(","));
            let (head, tail) = whole.split_at(cut.min(whole.len()));
            for text in [&whole, &format!("{head}{noise}"), &format!("{head}{noise}{tail}"), &noise] {
                match StepSchedule::parse(text) {
                    Ok(schedule) => {
                        let steps = schedule.steps(Instant::from_millis(1), Bytes::new(28));
                        let mut link = Link::new(steps, Seed::new(1).stream("uplink"));
                        link.handle_packet(Instant::ZERO, [0_u8; 100]);
                        link.handle_packet(Instant::from_millis(5_000), [0_u8; 100]);
                        let _ = link.poll_packet(Instant::FAR_FUTURE);
                    }
                    Err(sentence) => prop_assert!(!sentence.is_empty() && !sentence.contains('\n')),
                }
            }
        }
    }
}
