//! The modes of the pty on the host, as the client learns of them, in virtual time.

use rove_link::LinkConfig;
use rove_session::{ClientConfig, Prediction, Preference, Tty, TtyModes};
use rove_ssp::{Config, Mechanism};

use crate::common::*;

/// The modes while a program reads lines and nothing is echoed.
const SECRET: Tty = Tty { modes: TtyModes::USUAL.difference(TtyModes::ECHO), ..Tty::USUAL };

/// Returns two ends. The client uses the modes that the server reports.
fn told_pair(link: &LinkConfig) -> Pair {
    let prediction = Prediction { preference: Preference::Always, ..Prediction::default() };
    let config = ClientConfig { prediction, ..client_config(rove(Config::client())) };
    let server = far(rove(Config::server()));
    join(near(config), server, link)
}

/// Tells the server the modes of the pty.
fn tell(pair: &mut Pair, tty: Tty) {
    pair.right.server.handle_tty(tty);
}

#[test]
fn a_terminal_known_before_the_client_came_is_told_with_its_first_screen() {
    let mut pair = told_pair(&LinkConfig::lossless(ms(20)));
    tell(&mut pair, Tty::USUAL);
    assert_eq!(pair.left.client.tty(), None);
    pair.run_for(secs(1));
    assert_eq!(pair.left.client.tty(), Some(Tty::USUAL));
}

#[test]
fn no_prompt_is_seen_with_an_older_state_of_the_terminal() {
    // Half of the datagrams are lost. A state that is sent again has the modes of that later time.
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
fn a_shell_at_its_prompt_is_told_up_to_the_newest_input() {
    let mut pair = told_pair(&LinkConfig::lossless(ms(20)));
    assert_eq!(pair.right.server.written_input(), None, "nobody is told yet");
    pair.run_for(secs(1));
    let at_prompt = |pair: &mut Pair| {
        let prompt = pair.right.server.written_input();
        assert!(prompt.is_some());
        tell(pair, Tty { prompt, ..Tty::USUAL });
        pair.run_for(secs(1));
        assert_eq!(pair.left.client.tty(), Some(Tty { prompt, ..Tty::USUAL }));
        prompt
    };
    let before = at_prompt(&mut pair);
    type_text(&mut pair, b"a");
    pair.run_for(secs(1));
    assert!(at_prompt(&mut pair) > before);
    // The shell stops waiting at its prompt, although no key was typed.
    tell(&mut pair, Tty::USUAL);
    pair.run_for(secs(1));
    assert_eq!(pair.left.client.tty(), Some(Tty::USUAL));
    // The shell has not read keys that the pty has not taken.
    pair.right.program.stuck = true;
    type_text(&mut pair, b"b");
    pair.run_for(secs(1));
    assert_eq!(pair.right.server.written_input(), None);
    pair.right.program.stuck = false;
    pair.run_for(secs(1));
    at_prompt(&mut pair);
    // A shell does not count as waiting either while the client cannot see its screen (synchronized output).
    print(&mut pair, b"\x1b[?2026h");
    assert_eq!(pair.right.server.written_input(), None);
}

#[test]
fn a_statement_that_a_key_has_ended_is_taken_back_with_the_next_screen() {
    let mut sent = [0; 2];
    for (sent, takes_back) in sent.iter_mut().zip([false, true]) {
        let mut pair = told_pair(&LinkConfig::lossless(ms(20)));
        pair.run_for(secs(1));
        let prompt = pair.right.server.written_input();
        tell(&mut pair, Tty { prompt, ..Tty::USUAL });
        type_text(&mut pair, b"\r");
        pair.run_for(secs(1));
        let before = pair.right.traffic.datagrams;
        if takes_back {
            tell(&mut pair, Tty::USUAL);
        }
        pair.run_for(ms(200));
        *sent = pair.right.traffic.datagrams - before;
        let told = pair.left.client.tty().map(|tty| tty.prompt);
        assert_eq!(told, Some(prompt), "which says nothing of the newer key");
        print(&mut pair, b"Password: ");
        pair.run_for(secs(1));
        let told = pair.left.client.tty().map(|tty| tty.prompt);
        assert_eq!(told, Some(prompt.filter(|_| !takes_back)));
    }
    assert_eq!(sent[0], sent[1], "no datagram for that");
}

#[test]
fn a_change_costs_a_client_nothing_that_does_not_care() {
    // A client without predictions does not ask for the modes. Stock clients do not know them.
    for client in [stock(Config::client()), rove(Config::client())] {
        // Heartbeats whose intervals grow would disturb the count of datagrams.
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

/// Returns how many datagrams the server sends in 30 s. Each second the pty gets the next of these modes.
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
