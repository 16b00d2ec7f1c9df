use rove_units::{Bytes, Duration, Seed};

use super::large::REPEATS_MAX;
use super::*;
use crate::config::{Config, ReferencePolicy, SENT_BYTES_MAX};
use crate::rtt::RttEstimator;
use crate::send_timing::PathView;
use crate::tests::Blob;

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// A path over IPv4 that loses nothing.
const PATH: PathView =
    PathView { rtt_min: Some(ms(100)), loss_out: 0.0, loss_in: 0.0, contents_max: 1214 };

const PEER: Capabilities = Capabilities::empty();

/// A sender whose round-trip time is 100 ms: RTO 300 ms at first, frames 50 ms apart.
struct Bench {
    sender: Sender<Blob>,
    config: Config,
    rtt: RttEstimator,
    now: Instant,
    peer: Capabilities,
}

impl Bench {
    fn new() -> Self {
        let mut rtt = RttEstimator::new();
        let (config, now) = (Config::server(), Instant::from_millis(1_000));
        rtt.handle_sample(now, ms(100), &config.rtt);
        let mut sender = Sender::new(Blob::default(), Seed::new(1).stream("lots"), now);
        sender.handle_new_remote(now, StateNum::new(1), 0);
        Self { sender, config, rtt, now, peer: PEER }
    }

    /// Publishes `text`. Returns the frame with it: the numbers of its reference and its state, and its diff's length.
    fn frame(&mut self, text: &str, bytes: Bytes) -> (u64, u64, usize) {
        self.sender.publish(Blob::new(text, bytes));
        self.next().expect("a frame is due within 250 ms")
    }

    /// Returns the next frame within 250 ms: the numbers of its reference and its state, and its diff's length.
    fn next(&mut self) -> Option<(u64, u64, usize)> {
        let deadline = self.now + ms(250);
        while self.now < deadline {
            self.now += ms(1);
            let timing = SendTiming::new(&self.config, &self.rtt, PATH, self.peer);
            if let Some(step) = self.sender.step(self.now, &timing) {
                let Step::Send(out) = step else { panic!("nothing was kept to be repeated") };
                return Some((out.old_num.get(), out.new_num.get(), out.diff.len()));
            }
        }
        None
    }

    fn nums(&self) -> Vec<u64> {
        self.sender.sent.list.iter().map(|state| state.num.get()).collect()
    }
}

#[test]
fn thirty_two_entries_are_kept_and_of_the_thirty_third_on_the_sixteenth_from_the_end_goes() {
    let mut bench = Bench::new();
    for number in 1..32 {
        bench.frame(&format!("{number}"), Bytes::ZERO);
    }
    assert_eq!(bench.nums(), (0..32).collect::<Vec<u64>>());
    bench.frame("32", Bytes::ZERO);
    assert_eq!(bench.nums(), (0..=16).chain(18..=32).collect::<Vec<u64>>());
}

#[test]
fn the_byte_limit_culls_from_the_middle_and_never_the_ends() {
    let third = Bytes::new(SENT_BYTES_MAX.get() / 2);
    let rest = SENT_BYTES_MAX - third;
    for (last, kept) in [(rest, vec![0, 1, 2]), (rest + Bytes::new(1), vec![0, 2])] {
        let mut bench = Bench::new();
        bench.frame("a", third);
        bench.frame("b", last);
        assert_eq!(bench.nums(), kept);
    }
    let mut bench = Bench::new();
    for text in ["a", "b", "c"] {
        bench.frame(text, SENT_BYTES_MAX + Bytes::new(1));
    }
    assert_eq!(bench.nums(), [0, 3]);
}

#[test]
fn the_known_state_is_preferred_where_its_diff_costs_little_more() {
    // Blobs are sent whole, so that both diffs have the same length.
    let mut bench = Bench::new();
    assert_eq!(bench.frame("a", Bytes::ZERO), (0, 1, 1));
    assert_eq!(bench.frame("b", Bytes::ZERO), (0, 2, 1));
    bench.sender.handle_ack(bench.now, StateNum::new(1));
    assert_eq!(bench.frame("c", Bytes::ZERO), (1, 3, 1));
}

#[test]
fn a_state_that_goes_back_to_the_known_one_is_sent_although_its_diff_is_empty() {
    let mut bench = Bench::new();
    bench.frame("a", Bytes::ZERO);
    bench.sender.handle_ack(bench.now, StateNum::new(1));
    assert_eq!(bench.frame("b", Bytes::ZERO), (1, 2, 1));
    assert_eq!(bench.frame("a", Bytes::ZERO), (1, 3, 0));
    assert_eq!(bench.next(), None, "once");
}

#[test]
fn a_difference_without_a_diff_sends_nothing_and_wakes_nobody() {
    let mut bench = Bench::new();
    bench.frame("a", Bytes::ZERO);
    bench.sender.handle_ack(bench.now, StateNum::new(1));
    bench.sender.publish(Blob::new("a", Bytes::new(1)));
    assert_eq!(bench.next(), None);
    assert!(bench.sender.next_step() > bench.now + ms(1_000), "only the heartbeat is due");
}

#[test]
fn an_instruction_to_be_sent_again_unchanged_is_repeated_until_an_acknowledgment_is_due() {
    let mut bench = Bench::new();
    // Only small first contents are repeated early. This small blob plays large contents.
    bench.config.repetition.says_again_at_first = false;
    let timing = SendTiming::new(&bench.config, &bench.rtt, PATH, PEER);
    bench.sender.publish(Blob::new("large", Bytes::ZERO));
    let sent_at = bench.now + ms(60);
    let Some(Step::Send(out)) = bench.sender.step(sent_at, &timing) else {
        panic!("the frame is due")
    };
    bench.sender.large.keep(bench.now, out);
    let lost_at = sent_at + timing.in_flight();
    assert_eq!(bench.sender.step(lost_at - ms(1), &timing), None);
    assert_eq!(bench.sender.step(lost_at, &timing), Some(Step::Repeat));

    // Newer contents wait for the instruction that is being repaired.
    bench.sender.publish(Blob::new("newer", Bytes::ZERO));
    let next = lost_at + timing.frame_interval;
    assert_eq!(bench.sender.step(lost_at + ms(1), &timing), None);
    assert_eq!(bench.sender.step(next, &timing), Some(Step::Repeat));

    // An acknowledgment waits for at most a second. Its instruction then carries the newer contents.
    bench.sender.handle_new_remote(next, StateNum::new(2), 9);
    let due = next + bench.config.acks.delay_in_repair;
    let step = bench.sender.step(due, &timing);
    assert!(
        matches!(step, Some(Step::Send(out)) if out.diff == b"newer" && out.ack_num.get() == 2)
    );
}

#[test]
fn newer_contents_wait_for_a_number_of_repeats_and_no_more() {
    let mut bench = Bench::new();
    let timing = SendTiming::new(&bench.config, &bench.rtt, PATH, PEER);
    bench.sender.publish(Blob::new("large", Bytes::ZERO));
    let mut now = bench.now + ms(60);
    let Some(Step::Send(out)) = bench.sender.step(now, &timing) else { panic!("due") };
    bench.sender.large.keep(now, out);
    bench.sender.publish(Blob::new("newer", Bytes::ZERO));
    now += timing.ack_expected;
    let mut repeats = 0;
    let sent = loop {
        now += ms(1);
        match bench.sender.step(now, &timing) {
            None => {}
            Some(Step::Repeat) => repeats += 1,
            Some(Step::Send(out) | Step::Heartbeat(out)) => break out,
        }
    };
    assert_eq!((repeats, sent.diff.as_slice()), (REPEATS_MAX, &b"newer"[..]));
}

#[test]
fn the_known_policy_never_starts_from_another_state() {
    let mut bench = Bench::new();
    bench.config.reference = ReferencePolicy::Known;
    bench.sender.publish(Blob::new("x".repeat(5_000), Bytes::ZERO));
    assert_eq!(bench.next(), Some((0, 1, 5_000)));
    assert_eq!(bench.frame("y", Bytes::ZERO), (0, 2, 1));
}

#[test]
fn after_a_change_of_the_network_a_frame_waits_for_further_changes_alone() {
    for (changes, wait) in [(false, 50), (true, 9)] {
        let mut bench = Bench::new();
        bench.frame("before", Bytes::ZERO);
        let start = bench.now;
        if changes {
            bench.sender.handle_network_change();
        }
        bench.frame("after", Bytes::ZERO);
        assert_eq!(bench.now.saturating_since(start), ms(wait), "{changes}");
    }
}

/// Returns the times of frames with changes, in milliseconds after the peer's contents, up to `within`. The object
/// changes at the times in `changes`. Another frame was sent right before the contents.
fn frames_of_changes(config: Config, within: u64, changes: &[(u64, &str)]) -> Vec<u64> {
    let mut bench = Bench::new();
    bench.config = config;
    bench.frame("before", Bytes::ZERO);
    let start = bench.now;
    bench.sender.handle_new_remote(start, StateNum::new(2), 9);
    let mut frames = Vec::new();
    for elapsed in 0..within {
        for (_, text) in changes.iter().filter(|(at, _)| *at == elapsed) {
            bench.sender.publish(Blob::new(*text, Bytes::ZERO));
        }
        let timing = SendTiming::new(&bench.config, &bench.rtt, PATH, PEER);
        let sent = bench.sender.step(start + ms(elapsed), &timing);
        if matches!(sent, Some(Step::Send(out)) if !out.diff.is_empty()) {
            frames.push(elapsed);
        }
    }
    frames
}

#[test]
fn answers_go_ahead_of_the_frame_interval_and_what_follows_keeps_to_it() {
    for (answer_frames, frames) in [
        (0, [50, 100, 150].as_slice()),
        (1, &[1, 51, 101, 151]),
        (2, &[1, 28, 78, 128, 178]),
        (3, &[1, 28, 48, 98, 148]),
    ] {
        // The object changes every 20 ms.
        let texts = ["a", "b", "c", "d", "e", "f", "g", "h", "i"];
        let changes: Vec<(u64, &str)> = (0..).step_by(20).zip(texts).collect();
        let mut config = Config::server();
        config.frames.answer_frames = answer_frames;
        assert_eq!(frames_of_changes(config, 180, &changes), frames, "{answer_frames}");
    }
}

#[test]
fn nothing_that_nobody_waits_for_goes_ahead_of_the_frame_interval_by_itself() {
    let server = Config::server();
    assert_eq!(frames_of_changes(server.clone(), 120, &[(0, "a#1"), (10, "a#2")]), [1, 51]);
    // A change that no person sees travels with the next awaited change, which is collected as if it were alone.
    let changes = [(0, "a#1"), (10, "a#2"), (30, "b#2")];
    assert_eq!(frames_of_changes(server.clone(), 120, &changes), [1, 38]);
    // A frame for which no user waits does not count as an answer to the peer's contents.
    let changes = [(0, "before#1"), (60, "a#1"), (70, "b#1"), (80, "c#1")];
    assert_eq!(frames_of_changes(server.clone(), 120, &changes), [50, 61, 78]);
    assert_eq!(frames_of_changes(server.stock(), 120, &changes), [50, 100]);
}

#[test]
fn where_nobody_learns_from_it_an_echo_ack_alone_waits_for_the_next_word_and_holds_no_repair_up() {
    let (late, rtt) = (Capabilities::LATE_ACK, RttEstimator::new());
    let config = Config::server();
    let timing = SendTiming::new(&config, &rtt, PATH, late);
    let start = Instant::from_millis(2_000);
    // (whether the echo is acknowledged, when the change `b#2` is made; when the first two frames are sent), in ms
    for (is_acknowledged, next_at, frames) in
        [(true, 9_000, [0, 3_000]), (true, 2_000, [0, 2_008]), (false, 9_000, [0, 1_250])]
    {
        let mut sender =
            Sender::new(Blob::default(), Seed::new(1).stream("lots"), Instant::from_millis(0));
        sender.handle_new_remote(start, StateNum::new(1), 9);
        sender.publish(Blob::new("a#1", Bytes::ZERO));
        let mut sent = Vec::new();
        for elapsed in 0..4_000 {
            match elapsed {
                20 if is_acknowledged => {
                    sender.handle_ack(start + ms(elapsed), StateNum::new(1));
                }
                50 => sender.publish(Blob::new("a#2", Bytes::ZERO)),
                _ if elapsed == next_at => sender.publish(Blob::new("b#2", Bytes::ZERO)),
                _ => {}
            }
            let step = sender.step(start + ms(elapsed), &timing);
            if matches!(step, Some(Step::Send(out)) if !out.diff.is_empty()) {
                sent.push(elapsed);
            }
        }
        assert_eq!(sent[..2], frames, "acknowledged: {is_acknowledged}, next at {next_at}");
    }
}

#[test]
fn on_a_long_path_a_client_sends_news_more_often_than_anything_else() {
    for (config, interval) in [(Config::client(), 120), (Config::client().stock(), 250)] {
        let mut bench = Bench::new();
        bench.config = config;
        bench.rtt = RttEstimator::new();
        bench.frame("a", Bytes::ZERO);
        let start = bench.now;
        bench.frame("b", Bytes::ZERO);
        assert_eq!(bench.now.saturating_since(start), ms(interval));
    }
}

#[test]
fn where_acknowledgments_are_late_news_is_a_third_of_the_round_trip_apart_within_bounds() {
    let late = Capabilities::LATE_ACK;
    for (rtt, peer, interval) in
        [(300, late, 120), (420, late, 140), (500, late, 160), (2_000, late, 160), (500, PEER, 120)]
    {
        let mut bench = Bench { peer, ..Bench::new() };
        bench.config = Config::client();
        bench.rtt = RttEstimator::new();
        bench.rtt.handle_sample(bench.now, ms(rtt), &bench.config.rtt);
        bench.frame("a", Bytes::ZERO);
        let start = bench.now;
        bench.frame("b", Bytes::ZERO);
        assert_eq!(bench.now.saturating_since(start), ms(interval), "{rtt} ms");
    }
}

/// Returns when a client sends, in ms after contents of `contents_len` bytes arrive. No other contents arrive. The
/// round trip takes 300 ms, and the user presses a key at `key`. The client last sent an acknowledgment, 1.7 s before.
fn sent_beside_an_acknowledgment(
    peer: Capabilities,
    loss_out: f64,
    contents_len: usize,
    key: u64,
) -> Vec<u64> {
    let config = Config::client();
    let mut rtt = RttEstimator::new();
    for _ in 0..50 {
        rtt.handle_sample(Instant::ZERO, ms(300), &config.rtt);
    }
    let path = PathView { rtt_min: Some(ms(300)), loss_out, ..PATH };
    let timing = SendTiming::new(&config, &rtt, path, peer);
    let rng = Seed::new(1).stream("lots");
    let mut sender = Sender::new(Blob::default(), rng, Instant::ZERO);
    let send = |sender: &mut Sender<Blob>, now| sender.step(now, &timing).is_some();
    sender.handle_new_remote(Instant::ZERO, StateNum::new(1), 9);
    assert!(send(&mut sender, Instant::ZERO), "the first word");
    sender.handle_ack(Instant::ZERO, StateNum::new(1));
    sender.handle_new_remote(Instant::ZERO, StateNum::new(2), 9);
    assert!(send(&mut sender, Instant::from_millis(300)), "an acknowledgment");
    let start = Instant::from_millis(2_000);
    sender.handle_new_remote(start, StateNum::new(3), contents_len);
    let is_sent = |elapsed: &u64| {
        if *elapsed == key {
            sender.publish(Blob::new("key", Bytes::ZERO));
        }
        send(&mut sender, start + ms(*elapsed))
    };
    (0..700).filter(is_sent).collect()
}

#[test]
fn an_acknowledgment_waits_for_a_key_where_both_ends_wait_for_it_and_little_is_lost() {
    let late = Capabilities::LATE_ACK;
    assert_eq!(sent_beside_an_acknowledgment(late, 0.0, 9, 999), [250]);
    assert_eq!(sent_beside_an_acknowledgment(PEER, 0.0, 9, 999), [100]);
    assert_eq!(sent_beside_an_acknowledgment(late, 0.1, 9, 999), [250]);
    assert_eq!(sent_beside_an_acknowledgment(late, 0.11, 9, 999), [100], "a lossy path");
    assert_eq!(sent_beside_an_acknowledgment(late, 0.0, 1_000, 999), [100], "a large answer");
}

#[test]
fn a_key_is_sent_once_although_an_empty_acknowledgment_before_it_never_was_acknowledged() {
    let (late, old) = (Capabilities::LATE_ACK, PEER);
    assert_eq!(
        sent_beside_an_acknowledgment(late, 0.0, 9, 200),
        [200, 601, 620],
        "presumed lost, and a copy"
    );
    assert_eq!(sent_beside_an_acknowledgment(old, 0.0, 9, 50), [50, 200, 219, 369, 519, 669]);
}

#[test]
fn a_key_does_not_wait_for_an_acknowledgment_that_took_contents_along() {
    let mut bench = Bench::new();
    (bench.config, bench.rtt) = (Config::client(), RttEstimator::new());
    bench.frame("a", Bytes::ZERO);
    for (peer, wait) in [(Capabilities::LATE_ACK, 1), (PEER, 120)] {
        let timing = SendTiming::new(&bench.config, &bench.rtt, PATH, peer);
        let num = bench.sender.acks.num.next();
        bench.sender.handle_new_remote(bench.now, num, 9);
        bench.now += ms(250);
        assert!(bench.sender.step(bench.now, &timing).is_some(), "the acknowledgment");
        let start = bench.now;
        bench.sender.publish(Blob::new(num.get().to_string(), Bytes::ZERO));
        while bench.sender.step(bench.now, &timing).is_none() {
            bench.now += ms(1);
        }
        let waited = bench.now.saturating_since(start);
        assert!(waited <= ms(wait) && waited + ms(1) >= ms(wait), "{waited:?} of {wait} ms");
    }
}
