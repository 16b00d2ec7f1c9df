//! The status panel: its contents, and when it closes.

use rove_link::LinkConfig;
use rove_session::ClientConfig;
use rove_ssp::Config;

use crate::common::{
    Pair, client_config, far, join, ms, near, pair, pair_with, print, rove, secs, size,
};
use crate::common::{stock, type_text};

/// Returns the first rows as the user sees them, without the digits of the amounts sent and received.
fn rows(pair: &Pair, count: u16) -> String {
    let screen = pair.left.terminal.screen();
    (0..count)
        .map(|row| {
            let text = screen.row_text(row);
            let masks = text.starts_with("  Received") || text.starts_with("  Sent");
            if masks { text.replace(|c: char| c.is_ascii_digit(), "#") + "\n" } else { text + "\n" }
        })
        .collect()
}

fn is_shown(pair: &Pair) -> bool {
    rows(pair, 24).contains("rove: Status")
}

#[test]
fn the_escape_key_and_s_show_the_path_and_the_peer() {
    let mut pair = pair(&LinkConfig::lossless(ms(50)));
    pair.left.client.handle_local_port(40_123);
    print(&mut pair, b"one\r\ntwo\r\n3\r\n4\r\n5\r\n6\r\n7\r\n8\r\n9\r\n10\r\n11\r\ntwelve");
    pair.run_for(secs(10));
    type_text(&mut pair, b"\x1es");
    pair.run_for(ms(10));
    insta::assert_snapshot!(rows(&pair, 12));
    assert!(pair.right.program.typed.is_empty(), "both keys are for the client");
}

#[test]
fn a_stock_server_has_no_extensions_and_losses_are_counted() {
    let link = LinkConfig::lossless(ms(50));
    let mut pair = pair_with(&link, rove(Config::client()), stock(Config::server()));
    pair.run_for(secs(5));
    pair.downlink.drop_next(1);
    print(&mut pair, b"lost");
    pair.run_for(secs(5));
    type_text(&mut pair, b"\x1es");
    pair.run_for(ms(10));
    let rows = rows(&pair, 11);
    assert!(rows.contains("  Server      stock Mosh\n"), "{rows}");
    assert!(rows.contains("inbound  1 of the last"), "{rows}");
    assert!(rows.contains("outbound not known: stock Mosh does not tell it\n"), "{rows}");
}

#[test]
fn losses_on_the_way_there_are_told_by_a_rove_server() {
    let mut pair = pair(&LinkConfig::lossless(ms(50)));
    pair.run_for(secs(5));
    type_text(&mut pair, b"\x1es");
    pair.run_for(ms(10));
    assert!(rows(&pair, 11).contains("outbound 0 of the last"), "{}", rows(&pair, 11));
    pair.uplink.drop_next(2);
    // Two heartbeats are lost. The server's report counts them as lost once three later datagrams have arrived.
    let is_told = pair.run_until(secs(60), |near, _| {
        (0..11).any(|row| near.row_text(row).contains("outbound 2 of the last"))
    });
    let shown = rows(&pair, 11);
    assert!(is_told, "{shown}");
    assert!(shown.contains("inbound  0 of the last"), "{shown}");
}

#[test]
fn the_next_key_closes_it_and_the_one_after_reaches_the_program() {
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(1));
    type_text(&mut pair, b"\x1es");
    pair.run_for(ms(1));
    assert!(is_shown(&pair));
    // The release of the "s" does not count as a key.
    type_text(&mut pair, b"\x1b[115;1:3u");
    pair.run_for(ms(1));
    assert!(is_shown(&pair));
    type_text(&mut pair, b"x");
    pair.run_for(ms(1));
    assert!(!is_shown(&pair));
    type_text(&mut pair, b"y");
    pair.run_for(secs(1));
    assert_eq!(pair.right.program.typed, b"\x1b[115;1:3uy");
}

#[test]
fn keys_are_for_the_program_once_it_has_gone_by_itself() {
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(1));
    type_text(&mut pair, b"\x1es");
    pair.run_for(secs(16));
    assert!(!is_shown(&pair));
    type_text(&mut pair, b"x");
    pair.run_for(secs(1));
    assert_eq!(pair.right.program.typed, b"x");
}

#[test]
fn an_unknown_command_shows_the_help_for_a_while_and_sends_nothing() {
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(1));
    type_text(&mut pair, b"\x1ex");
    pair.run_for(ms(4_999));
    assert!(rows(&pair, 1).contains("s status, l lock, "), "{}", rows(&pair, 1));
    pair.run_for(ms(2));
    assert!(!rows(&pair, 1).contains("l lock"), "{}", rows(&pair, 1));
    assert!(pair.right.program.typed.is_empty());
}

#[test]
fn it_goes_by_itself_and_is_renewed_each_second_without_a_datagram_for_it() {
    let mut pair = pair(&LinkConfig::lossless(ms(5)));
    pair.run_for(secs(20));
    type_text(&mut pair, b"\x1es");
    pair.run_for(ms(14_999));
    assert!(is_shown(&pair));
    pair.run_for(ms(2));
    assert!(!is_shown(&pair));
    let frames = pair.left.user.frames;
    pair.run_for(secs(10));
    assert_eq!(pair.left.user.frames, frames, "nothing to draw any more");
}

#[test]
fn a_notice_stays_above_it_and_a_small_window_shows_what_fits() {
    let link = LinkConfig::lossless(ms(5));
    let mut pair = pair(&link);
    pair.run_for(secs(1));
    type_text(&mut pair, b"\x1es");
    pair.downlink.drop_next(1_000);
    pair.run_for(ms(7_500));
    assert!(rows(&pair, 1).starts_with("rove: Last contact"), "{}", rows(&pair, 2));
    assert!(is_shown(&pair));

    let config = ClientConfig { size: size(20, 3), ..client_config(rove(Config::client())) };
    let mut pair = join(near(config), far(rove(Config::server())), &link);
    pair.run_for(secs(1));
    type_text(&mut pair, b"\x1es");
    pair.run_for(ms(1));
    assert!(is_shown(&pair));
}

#[test]
fn under_the_name_of_mosh_both_keys_reach_the_program() {
    let link = LinkConfig::lossless(ms(5));
    let config = ClientConfig { offers_status: false, ..client_config(stock(Config::client())) };
    let mut pair = join(near(config), far(rove(Config::server())), &link);
    pair.run_for(secs(1));
    type_text(&mut pair, b"\x1es");
    pair.run_for(secs(1));
    assert!(!is_shown(&pair));
    assert_eq!(pair.right.program.typed, b"\x1es");
}
