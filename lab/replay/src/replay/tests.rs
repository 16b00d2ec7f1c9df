use std::path::PathBuf;

use rove_runs::statistics::Times;
use rove_session::{MakeEngine, Preference};
use rove_terminal::Size;
use rove_units::{Duration, Instant};

use super::*;
use crate::replay::judge::Outcome;
use crate::replay::origin::Origin;
use crate::replay::script::{Class, ScriptError};
use crate::trace::{Event, Record};

mod corpus;

/// Sum of the client's delay to collect keys and the server's delay to collect output. Source: docs/wire.md, the
/// collection delays.
const COLLECTION: Duration = ms(1 + 8);

const fn ms(millis: u64) -> Duration {
    Duration::from_millis(millis)
}

/// Creates a recording on a small screen. Each record has a time in ms, `>` (keys) or `<` (output), and a text.
fn trace(records: &[(u64, char, &str)]) -> Trace {
    let records = records.iter().map(|(at, who, text)| Record {
        at: Instant::from_millis(*at),
        event: match who {
            '>' => Event::User(text.as_bytes().to_vec()),
            _ => Event::Host(text.as_bytes().to_vec()),
        },
    });
    Trace { size: Size::clamped(40, 5), records: records.collect() }
}

fn script_of(records: &[(u64, char, &str)]) -> Script {
    Script::new("made".to_owned(), trace(records), None).expect("a recording that can be played")
}

/// A shell that echoes words, each key at once, one key every 400 ms.
fn echo(text: &str) -> Script {
    let mut records = vec![(0, '<', "$ ".to_owned())];
    for (number, c) in (1..).zip(text.chars()) {
        records.push((number * 400, '>', c.to_string()));
        records.push((number * 400, '<', c.to_string()));
    }
    let records: Vec<_> = records.iter().map(|(at, who, c)| (*at, *who, c.as_str())).collect();
    script_of(&records)
}

fn options(preference: Preference, link: &str) -> RunOptions {
    let engine = Some(rove_stock_predict::engine as MakeEngine);
    let prediction = Prediction { engine, preference, ..Prediction::default() };
    RunOptions::new(prediction, Ends::Stock, link.parse().expect("a path"))
}

fn play(script: &Script, options: &RunOptions) -> Run {
    let run = run::play(script, options).expect("the session begins");
    assert!(run.ends_true && run.unexpected == 0, "{run:?}");
    run
}

fn latency(outcome: &Outcome) -> Duration {
    outcome.latency().expect("every key is sent, and every answer seen")
}

#[test]
fn without_predictions_an_echo_takes_a_round_trip() {
    let script = echo("echo of keys");
    let run = play(&script, &options(Preference::Never, "rtt=200ms"));
    for outcome in &run.outcomes {
        assert_eq!(latency(outcome), ms(200) + COLLECTION);
        assert_eq!(outcome.answered_at, outcome.seen_at);
    }
    let figures = Figures::of(&script, &run);
    assert_eq!(figures.latencies(|_| true).instant(), 0);
    assert_eq!((figures.wrong_any, figures.revealed_any, figures.wrong_paint), (0, 0, 0));
}

#[test]
fn every_reference_policy_brings_the_true_screen_over_a_lossy_path() {
    let lossy = options(Preference::Never, "rtt=200ms,jitter=20ms,loss=20%");
    let script = echo("echo of keys");
    for (reference, ..) in mechanisms::REFERENCE {
        play(&script, &RunOptions { reference: Some(reference), ..lossy.clone() });
    }
}

#[test]
fn nobody_waits_for_an_answer_that_was_there_before_the_key() {
    // A character is rubbed out before it is on the screen, so that the screen never changes.
    let script = script_of(&[
        (0, '<', "$ "),
        (400, '>', "x"),
        (400, '<', "x"),
        (400, '>', "\x7f"),
        (400, '<', "\x08 \x08"),
        (1400, '>', "y"),
        (1400, '<', "y"),
    ]);
    let run = play(&script, &options(Preference::Never, "rtt=2s"));
    let sent = |key: usize| run.outcomes[key].sent_at.expect("every key is sent");
    let wait = sent(2).saturating_since(sent(1));
    // The recorded pause begins with the echo ack, which tells that the host has answered.
    assert!((ms(2990)..ms(3500)).contains(&wait), "waits {wait:?}");
    for outcome in &run.outcomes {
        assert!((ms(2000)..ms(2500)).contains(&latency(outcome)), "{outcome:?}");
    }
}

#[test]
fn a_slow_host_answers_as_much_later_and_stock_predicts_nothing_there() {
    let script = echo("echo");
    let slow = |preference| RunOptions { host_delay: ms(300), ..options(preference, "rtt=200ms") };
    let run = play(&script, &slow(Preference::Never));
    for outcome in &run.outcomes {
        assert_eq!(latency(outcome), ms(500) + COLLECTION);
    }
    // The echo ack comes before the echo and refutes each prediction.
    let run = play(&script, &slow(Preference::Always));
    assert_eq!(Figures::of(&script, &run).latencies(|_| true).instant(), 0);
}

#[test]
fn stock_waits_for_its_first_key_and_predicts_the_others() {
    let script = echo("echo of keys");
    let run = play(&script, &options(Preference::Adaptive, "rtt=200ms"));
    // The echo ack comes 50 ms after the echo.
    assert!((ms(200)..ms(300)).contains(&latency(&run.outcomes[0])), "{:?}", run.outcomes[0]);
    for outcome in &run.outcomes[1..] {
        assert_eq!(latency(outcome), Duration::ZERO);
    }
    assert!(run.mistakes.is_empty());
}

#[test]
fn equal_seeds_are_equal_runs() {
    let script = echo("the same losses for the same seed");
    let lossy = options(Preference::Adaptive, "rtt=200ms,jitter=20ms,loss=20%");
    let json = |options: &RunOptions| Figures::of(&script, &play(&script, options)).row();
    assert_eq!(json(&lossy), json(&lossy));
    assert_ne!(json(&lossy), json(&RunOptions { seed: 2, ..lossy.clone() }));
}

#[test]
fn at_pace_open_keys_keep_their_times_and_at_pace_look_a_pause_waits() {
    let script = echo("abc");
    for (pace, expected) in [
        (Pace::Open, [400, 800, 1200]),
        (Pace::Look, [400, 1309, 2218]),
        (Pace::Closed, [400, 1309, 2218]),
    ] {
        let options = RunOptions { pace, ..options(Preference::Never, "rtt=500ms") };
        let run = play(&script, &options);
        let sent = run
            .outcomes
            .iter()
            .map(|outcome| outcome.sent_at.map(|at| at.saturating_since(run.start).as_millis()));
        assert_eq!(sent.collect::<Vec<_>>(), expected.map(Some), "{pace:?}");
    }
}

#[test]
fn a_prediction_that_does_not_come_true_is_wrong_until_the_host_says_so() {
    // The last key is not echoed, as if it were a password.
    let mut records = vec![(0, '<', "$ ")];
    for at in [400, 800, 1200] {
        records.push((at, '>', "x"));
        records.push((at, '<', "x"));
    }
    records.push((1600, '>', "y"));
    records.push((1600, '<', "\x1b[2;1Hno\x1b[1;6H"));
    let script = script_of(&records);
    let run = play(&script, &options(Preference::Adaptive, "rtt=200ms"));
    let wrong: Vec<bool> = run.outcomes.iter().map(|outcome| outcome.own.text).collect();
    assert_eq!(wrong, [false, false, false, true]);
    let [mistake] = run.mistakes.as_slice() else { panic!("{:?}", run.mistakes) };
    assert_eq!(mistake.key, 3);
    let lasted = mistake.corrected_at.map(|at| at.saturating_since(mistake.since));
    // The echo ack that refutes the prediction comes 50 ms and up to a frame interval after the echo.
    assert!(lasted.is_some_and(|lasted| (ms(200)..ms(400)).contains(&lasted)), "{lasted:?}");
    assert!(mistake.is_late(Some(mistake.since)));
    let counts = Origin::stays(&script, &run).map(|stays| stays.count());
    assert_eq!(counts, [0, 0, 0, 1], "the host wrote elsewhere");
    // With predictions off nothing is wrong.
    let run = play(&script, &options(Preference::Never, "rtt=200ms"));
    assert!(run.mistakes.is_empty());
}

#[test]
fn a_key_that_nobody_answers_is_left_out_and_one_never_answered_is_never_seen() {
    let script = script_of(&[(0, '<', "$ "), (10, '>', "a"), (200, '<', "a"), (300, '>', "b")]);
    // The host's output came after 190 ms, too late for a response.
    assert!(script.keys.iter().all(|key| key.after.is_none()));
    let script = echo("ab");
    let dead = options(Preference::Never, "rtt=200ms,loss=100%");
    let run = run::play(&script, &dead).expect("the session begins before the path dies");
    assert!(run.outcomes.iter().all(|outcome| outcome.seen_at.is_none()));
    assert!(!run.ends_true);
}

#[test]
fn what_a_key_is_shows_in_its_effect() {
    let script = script_of(&[
        (0, '<', "$ "),
        (100, '>', "a"),
        (100, '<', "a"),
        (200, '>', "\x1b[D"),
        (200, '<', "\x08"),
        (300, '>', "\x1b[A"),
        (300, '<', "ls"),
        (400, '>', "\x7f"),
        (400, '<', "\x08 \x08"),
        (500, '>', "q"),
        (500, '<', "\x1b[2J"),
        (600, '>', "\r"),
        (600, '<', "\r\n"),
        (700, '>', "\u{4e00}"),
        (700, '<', "\u{4e00}"),
    ]);
    let classes: Vec<Class> = script.keys.iter().map(|key| key.class).collect();
    let expected = [
        Class::Character,
        Class::Arrow,
        Class::Other,
        Class::Backspace,
        Class::Other,
        Class::Other,
        Class::Character,
    ];
    assert_eq!(classes, expected);
}

#[test]
fn a_response_has_no_pause_and_ends_before_the_next_key() {
    let script = script_of(&[
        (0, '>', "a"),
        (100, '<', "a"),
        (200, '<', "b"),
        (301, '<', "late"),
        (400, '>', "c"),
        (501, '<', "late"),
        (600, '>', "d"),
        (600, '>', "e"),
        (600, '<', "de"),
    ]);
    let after: Vec<Option<usize>> = script.keys.iter().map(|key| key.after).collect();
    assert_eq!(after, [Some(2), None, None, Some(5)]);
}

#[test]
fn what_cannot_be_played_is_refused() {
    let nobody = Script::new("made".to_owned(), trace(&[(0, '<', "$ ")]), None);
    assert_eq!(nobody.err(), Some(ScriptError::NoKeys));
    let mut resized = trace(&[(0, '>', "a")]);
    resized
        .records
        .push(Record { at: Instant::from_millis(1), event: Event::Size(Size::clamped(41, 5)) });
    let refused = Script::new("made".to_owned(), resized, None);
    assert_eq!(refused.err(), Some(ScriptError::Resized));
}

#[test]
fn only_so_many_keys_are_taken() {
    let records = [(0, '>', "a"), (1, '<', "a"), (2, '>', "b"), (3, '<', "b")];
    let script = Script::new("made".to_owned(), trace(&records), Some(1)).expect("a recording");
    assert_eq!((script.keys.len(), script.end()), (1, 1));
}

#[test]
fn a_password_is_secret_and_not_shown() {
    let tty = |at, echo, icanon| Record {
        at: Instant::from_millis(at),
        event: Event::Tty(crate::trace::TtyModes { echo, icanon, prompt: false }),
    };
    let mut records: Vec<Record> = trace(&[(0, '<', "$ ")]).records;
    let mut add = |more: &[(u64, char, &str)]| records.extend(trace(more).records);
    add(&[(400, '>', "s"), (400, '<', "s"), (800, '>', "u"), (800, '<', "u")]);
    add(&[(1200, '>', "\r"), (1200, '<', "\r\nPassword: ")]);
    records.push(tty(1201, false, true));
    let mut add = |more: &[(u64, char, &str)]| records.extend(trace(more).records);
    add(&[(1600, '>', "x"), (2000, '>', "y"), (2400, '>', "\r"), (2400, '<', "\r\n$ ")]);
    records.push(tty(2401, false, false));
    let mut add = |more: &[(u64, char, &str)]| records.extend(trace(more).records);
    add(&[(2800, '>', "l"), (2800, '<', "l")]);
    let trace = Trace { size: Size::clamped(40, 5), records };
    let script = Script::new("made".to_owned(), trace, None).expect("a recording");
    let secret: Vec<bool> = script.keys.iter().map(|key| key.is_secret).collect();
    assert_eq!(secret, [false, false, false, true, true, true, false]);
    let engines: [Option<MakeEngine>; 2] = [None, Some(rove_stock_predict::engine)];
    for engine in engines {
        let mut options = options(Preference::Always, "rtt=200ms");
        options.prediction.engine = engine;
        let figures = Figures::of(&script, &play(&script, &options));
        assert_eq!((figures.secrets, figures.secrets_shown), (3, 0), "{engine:?}");
    }
}

#[test]
fn an_explanation_shows_the_rows_that_matter() {
    let script = echo("ab");
    let options = RunOptions { explain: true, ..options(Preference::Adaptive, "rtt=200ms") };
    let run = play(&script, &options);
    let mut text = Vec::new();
    explain::write(&mut text, &script, &run).expect("memory takes all");
    let text = String::from_utf8(text).expect("text is UTF-8");
    insta::assert_snapshot!(text, @r#"
        0.400 s  key 0    character "a"  waited 209 ms
                   before |$ ▏
                 expected |$ a▏
                    shown |$ ▏
                     host |$ ▏
    "#);
}

#[test]
fn each_model_says_why_a_key_was_shown_or_was_not() {
    let script = echo("ab");
    let mut options = RunOptions { explain: true, ..options(Preference::Adaptive, "rtt=200ms") };
    options.prediction.engine = None;
    let run = play(&script, &options);
    let mut text = Vec::new();
    for number in [0, 1, 2] {
        reasons::write(&mut text, &script, &run, number).expect("memory takes all");
    }
    reasons::write_losses(&mut text, [(&script, &run)].into_iter()).expect("memory takes all");
    let text = String::from_utf8(text).expect("text is UTF-8");
    insta::assert_snapshot!(text, @r#"
key 0 character "a" waited 209 ms
  engine      does not show the key, which may be part of a secret
  simulation  has drawn what the key does
  secrecy     shows no characters: nothing was echoed in this line yet
  context     has seen 0.0 such keys right and 0.0 wrong at such prompts, which is not enough for 98.5 %
  suggest     sees no suggestion
  wrap        sees no text go over the edge of its row
  navigation  has seen no key move the cursor in this window
  own cursor  finds no cursor that the program draws
  ruler       knows of no numbers that follow the cursor
  history     is not asked: the key goes to no other line
  late        waits 100 ms for an answer after its acknowledgment
  policy      lets predictions be shown on this path
key 1 character "b" was shown at once
  engine      predicts the key and all before it likely enough to be shown
  simulation  has drawn what the key does
  secrecy     lets characters be shown: text was echoed in this line
  context     has seen 1.0 such keys right and 0.0 wrong at such prompts, which is enough for 98.5 %
  suggest     sees no suggestion
  wrap        sees no text go over the edge of its row
  navigation  has seen no key move the cursor in this window
  own cursor  finds no cursor that the program draws
  ruler       knows of no numbers that follow the cursor
  history     is not asked: the key goes to no other line
  late        waits 40 ms for an answer after its acknowledgment
  policy      lets predictions be shown on this path
there is no key 2: the keys are 0 to 1
keys that were not instant, of 2: by themselves, and behind such a key
  50.00%   0.00%  may be part of a secret
"#);
}

/// Returns the recordings of real sessions, where there are any: `ROVE_TRACES` names their directory.
fn recordings() -> Vec<PathBuf> {
    let named = std::env::var_os("ROVE_TRACES").filter(|name| !name.is_empty());
    let Some(directory) = named else { return Vec::new() };
    let entries = std::fs::read_dir(directory).expect("ROVE_TRACES names a directory");
    let paths = entries.map(|entry| entry.expect("it can be read").path());
    paths.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl")).collect()
}

#[test]
fn recorded_sessions_end_as_they_were_recorded() {
    for path in recordings() {
        let script = super::script(&path, Some(200)).expect("a recording that can be played");
        for link in ["rtt=500ms,jitter=30ms", "rtt=100ms,loss=29%"] {
            let run = play(&script, &options(Preference::Adaptive, link));
            let figures = Figures::of(&script, &run);
            let all = figures.latencies(|_| true);
            assert!(all.quantile(100).is_some(), "{}: an answer was never seen", script.name);
            assert!(all.instant() > 0, "{}: nothing was predicted", script.name);
        }
    }
}

#[test]
fn stock_rules_come_to_what_stock_programs_were_measured_at() {
    // Source: the real mosh 1.4.0 on emulated links, by other instruments: the shares of all keys and of
    // typing keys that are instant.
    let measured = [
        ("agd-zippy", None, "rtt=500ms,jitter=30ms", 39.0, 47.0),
        ("bash-readline", Some(300), "rtt=500ms,jitter=30ms", 58.0, 64.0),
        ("vim-edit", Some(250), "rtt=500ms,jitter=30ms", 41.0, 49.0),
        ("python-repl", Some(300), "rtt=100ms", 72.0, 78.0),
        ("tmux-irssi-links", Some(300), "rtt=100ms", 79.0, 87.0),
        ("agd-trace-01", Some(300), "rtt=100ms", 44.0, 73.0),
        ("agd-zippy", Some(110), "rtt=5s", 31.0, 37.0),
    ];
    for path in recordings() {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        for (_, first, link, all, typing) in measured.iter().filter(|row| row.0 == name) {
            let script = super::script(&path, *first).expect("a recording that can be played");
            let mut pool = Figures::default();
            for seed in 1..=5 {
                let run_options = RunOptions { seed, ..options(Preference::Adaptive, link) };
                pool.merge(&Figures::of(&script, &play(&script, &run_options)));
            }
            let share = |latencies: Times| latencies.instant_percent();
            let ours = (share(pool.latencies(|_| true)), share(pool.latencies(Class::is_typing)));
            let differs = (ours.0 - all).abs() > 5.0 || (ours.1 - typing).abs() > 5.0;
            assert!(!differs, "{name} at {link}: {ours:?}");
        }
    }
}
