//! The terminal that the programs run on, as the client learns of it, in virtual time.

mod common;
use common::join;

use common::*;
use rove_link::LinkConfig;
use rove_session::{ClientConfig, EngineKind, Prediction, Preference, Tty, TtyModes};
use rove_ssp::{Config, Mechanism};

/// Lines are read and nothing is echoed.
const SECRET: Tty = Tty { modes: TtyModes::USUAL.without(TtyModes::ECHO), ..Tty::USUAL };

/// Returns two ends of which the client makes use of what is told.
fn told_pair(link: &LinkConfig) -> Pair {
    let prediction = Prediction {
        preference: Preference::Always,
        engine: EngineKind::Replay,
        ..Prediction::default()
    };
    let config = ClientConfig { prediction, ..client_config(rove(Config::client())) };
    let server = far(rove(Config::server()));
    join(near(config), server, link)
}

/// Tells the server of the terminal, now.
fn tell(pair: &mut Pair, tty: Tty) {
    pair.right.server.handle_tty(tty);
}

#[test]
fn what_was_known_before_the_client_came_is_told_with_its_first_screen() {
    let mut pair = told_pair(&LinkConfig::lossless(ms(20)));
    tell(&mut pair, Tty::USUAL);
    assert_eq!(pair.left.client.tty(), None);
    pair.run_for(secs(1));
    assert_eq!(pair.left.client.tty(), Some(Tty::USUAL));
}

#[test]
fn no_prompt_is_seen_with_an_older_state_of_the_terminal() {
    // Half of the datagrams are lost, and what is sent again is sent as it is by then.
    let link = LinkConfig { loss: 0.5, jitter: ms(80), ..LinkConfig::lossless(ms(20)) };
    for (before, after) in [(Tty::USUAL, SECRET), (SECRET, Tty::USUAL)] {
        let mut pair = told_pair(&link);
        tell(&mut pair, before);
        print(&mut pair, b"$ ");
        assert!(pair.run_until(secs(60), |client, _| client.client.tty() == Some(before)));
        for prompt in ["one: ", "two: ", "three: "] {
            print(&mut pair, format!("\x1b[H\x1b[2J{prompt}").as_bytes());
            tell(&mut pair, after);
            let shown =
                |client: &ClientEnd| client.client.screen().row_text(0) == prompt.trim_end();
            pair.run_until(secs(60), |client, _| shown(client));
            assert!(shown(&pair.left), "{prompt}");
            assert_eq!(pair.left.client.tty(), Some(after), "{prompt}");
            tell(&mut pair, before);
            assert!(pair.run_until(secs(60), |client, _| client.client.tty() == Some(before)));
        }
    }
}

#[test]
fn that_the_echo_ends_is_told_while_a_program_is_drawing() {
    let mut pair = told_pair(&LinkConfig::lossless(ms(20)));
    tell(&mut pair, Tty::USUAL);
    pair.run_for(secs(1));
    print(&mut pair, b"\x1b[?2026h");
    tell(&mut pair, SECRET);
    pair.run_for(ms(60));
    assert_eq!(pair.left.client.tty(), Some(SECRET));
}

#[test]
fn a_change_costs_a_client_nothing_that_does_not_care() {
    // The other's prediction is off.
    for client in [stock(Config::client()), rove(Config::client())] {
        // Heartbeats that come ever more rarely cannot be counted.
        let server = rove(Config::server()).without(Mechanism::Quiet);
        let mut pair = pair_with(&LinkConfig::lossless(ms(20)), client, server);
        print(&mut pair, b"$ ");
        pair.run_for(secs(10));
        let frames = pair.left.user.frames;
        let sent = sent_during(&mut pair, &[SECRET, Tty::USUAL, SECRET]);
        assert_eq!(sent, sent_during(&mut pair, &[]), "heartbeats and no more");
        assert_eq!((pair.left.client.tty(), pair.left.user.frames), (None, frames));
    }
}

/// Returns how many datagrams the server sent in 30 s in which its terminal changed like this.
fn sent_during(pair: &mut Pair, changes: &[Tty]) -> u64 {
    let before = pair.right.traffic.datagrams;
    for second in 0..30 {
        if let Some(tty) = changes.get(second) {
            tell(pair, *tty);
        }
        pair.run_for(secs(1));
    }
    pair.right.traffic.datagrams - before
}
