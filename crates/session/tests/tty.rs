//! The terminal that the programs run on, as the client learns of it, in virtual time.

mod common;

use common::*;
use rove_link::LinkConfig;
use rove_session::{Tty, TtyModes};
use rove_ssp::{Capabilities, Config};

/// Lines are read and nothing is echoed.
const SECRET: Tty = Tty { modes: TtyModes::USUAL.without(TtyModes::ECHO), ..Tty::USUAL };

/// Tells the server of the terminal, now.
fn tell(pair: &mut Pair, tty: Tty) {
    pair.right.server.handle_tty(tty);
}

#[test]
fn what_was_known_before_the_client_came_is_told_with_its_first_screen() {
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
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
        let mut pair = pair(&link);
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
    let mut pair = pair(&LinkConfig::lossless(ms(20)));
    tell(&mut pair, Tty::USUAL);
    pair.run_for(secs(1));
    print(&mut pair, b"\x1b[?2026h");
    tell(&mut pair, SECRET);
    pair.run_for(ms(60));
    assert_eq!(pair.left.client.tty(), Some(SECRET));
}

#[test]
fn a_change_costs_a_stock_client_nothing() {
    let unaware =
        Config { capabilities: Some(without(rove_session::CAPABILITIES)), ..Config::client() };
    for client in [stock(Config::client()), unaware] {
        let mut pair = pair_with(&LinkConfig::lossless(ms(20)), client, rove(Config::server()));
        print(&mut pair, b"$ ");
        pair.run_for(secs(10));
        let frames = pair.left.frames;
        let sent = sent_during(&mut pair, &[SECRET, Tty::USUAL, SECRET]);
        assert_eq!(sent, sent_during(&mut pair, &[]), "heartbeats and no more");
        assert_eq!((pair.left.client.tty(), pair.left.frames), (None, frames));
    }
}

/// Returns the capabilities without those this is about.
fn without(capabilities: Capabilities) -> Capabilities {
    Capabilities::from_bits(capabilities.bits() & !Capabilities::TTY.bits())
}

/// Returns how many datagrams the server sent in 30 s in which its terminal changed like this.
fn sent_during(pair: &mut Pair, changes: &[Tty]) -> usize {
    let before = pair.right.datagrams;
    for second in 0..30 {
        if let Some(tty) = changes.get(second) {
            tell(pair, *tty);
        }
        pair.run_for(secs(1));
    }
    pair.right.datagrams - before
}
