//! Between two roves, the modes of the user's terminal (keys, wheel, cursor) follow the program. With a stock peer on
//! either side, they stay as they were.
#![allow(clippy::unwrap_used, reason = "the helpers of a test may panic")]

use rove_link::LinkConfig;
use rove_session::ClientConfig;
use rove_ssp::Config;
use rove_terminal::display::Functions;
use rove_terminal::{AlternateScreen, Screen, TerminalCapabilities, UserTerminal};

use crate::common::*;

/// Modes that a program may ask of the user's terminal.
const ASKED: &[u8] = b"\x1b[6 q\x1b=\x1b[?1h\x1b[?1049h\x1b[>5u\x1b[>4;2m";

/// Returns two ends, the client of which is told that its terminal speaks kitty's protocol.
fn pair_of(client: Config, server: Config) -> Pair {
    let capabilities = TerminalCapabilities {
        functions: Functions::ALL,
        alternate_screen: AlternateScreen::xterm(),
        init: true,
        cursor_styles: true,
        modify_other_keys: true,
        ..TerminalCapabilities::default()
    };
    let client = ClientConfig { terminal: capabilities, query: true, ..client_config(client) };
    let link = LinkConfig::lossless(ms(50));
    let mut pair = join(near(client), far(server), &link);
    let user_terminal = UserTerminal { kitty_keyboard: true, ..UserTerminal::default() };
    pair.left.terminal.set_user_terminal(user_terminal);
    pair.left.terminal.write(b"\x1b[?1007h");
    pair.run_for(ms(10));
    type_text(&mut pair, b"\x1b[?0u\x1b[?62c");
    pair.run_for(secs(1));
    pair
}

/// Returns cursor style, keypad, cursor keys, flags of kitty's protocol, modifyOtherKeys and alternate
/// scroll of a terminal.
fn set_to(screen: &Screen) -> (u8, bool, bool, u8, u8, Option<bool>) {
    let modes = screen.rich_modes();
    (
        modes.cursor_style,
        modes.application_keypad,
        modes.application_cursor_keys,
        modes.kitty_keyboard,
        modes.modify_other_keys,
        modes.alternate_scroll,
    )
}

#[test]
fn between_two_roves_the_terminal_follows_the_program_and_is_given_back() {
    let mut pair = pair_of(rove(Config::client()), rove(Config::server()));
    assert_eq!(set_to(pair.left.terminal.screen()), (0, false, false, 0, 0, Some(false)));
    print(&mut pair, ASKED);
    pair.run_for(secs(1));
    assert_eq!(set_to(pair.left.terminal.screen()), (6, true, true, 5, 2, Some(true)));
    print(&mut pair, b"\x1b[?u");
    pair.run_for(secs(1));
    assert_eq!(pair.right.program.typed, b"\x1b[?5u");
    let closing = pair.left.client.close_terminal();
    pair.left.terminal.write(&closing);
    assert_eq!(set_to(pair.left.terminal.screen()), (0, false, false, 0, 0, Some(true)));
    assert!(!pair.left.terminal.screen().rich_modes().alternate_screen);
}

#[test]
fn with_a_stock_peer_the_terminal_stays_as_it_was_and_cursor_keys_are_translated() {
    for (client, server) in [
        (rove(Config::client()), stock(Config::server())),
        (stock(Config::client()), rove(Config::server())),
    ] {
        let mut pair = pair_of(client, server);
        print(&mut pair, ASKED);
        pair.run_for(secs(1));
        assert_eq!(set_to(pair.left.terminal.screen()), (0, false, true, 0, 0, Some(true)));
        print(&mut pair, b"\x1b[?u\x1b[?1l");
        type_text(&mut pair, b"\x1bOA");
        pair.run_for(secs(1));
        assert_eq!(
            pair.right.program.typed, b"\x1b[A",
            "no flags to ask for, and a translated key"
        );
        let closing = pair.left.client.close_terminal();
        pair.left.terminal.write(&closing);
        assert_eq!(set_to(pair.left.terminal.screen()), (0, false, false, 0, 0, Some(true)));
    }
}
