use rove_terminal::Size;

use super::*;

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn notices() -> Notices {
    Notices::new("rove".to_owned(), Some("[To quit: Ctrl-^ .]".to_owned()))
}

fn contact(heard: Option<u64>, acknowledged: Option<u64>) -> Contact {
    Contact {
        start: Instant::ZERO,
        heard_at: heard.map(ms),
        acknowledged_sent_at: acknowledged.map(ms),
        server: "203.0.113.255:60001".parse().unwrap(),
        sent: 12,
    }
}

fn text(notices: &Notices, now: u64, contact: Contact) -> String {
    notices.text(ms(now), contact, None).unwrap_or_default()
}

#[test]
fn a_start_without_an_answer_is_told_after_a_quarter_of_a_second() {
    let silent = contact(None, None);
    let told = "rove: Nothing received from server on UDP port 60001. [To quit: Ctrl-^ .]";
    let later = "rove: No answer from 203.0.113.255:60001 (12 sent in 7 s) [To quit: Ctrl-^ .]";
    for (now, wanted) in [(249, ""), (250, told), (2_999, told), (7_000, later), (7_999, later)] {
        assert_eq!(text(&notices(), now, silent), wanted, "at {now} ms");
    }
    for (now, next) in [(0, 250), (250, 3_000), (3_000, 4_000), (4_500, 5_000)] {
        assert_eq!(notices().poll_timeout(ms(now), silent), Some(ms(next)), "at {now} ms");
    }
}

#[test]
fn silence_is_told_by_what_is_missing() {
    let gone = contact(Some(1_000), Some(1_000));
    let deaf = contact(Some(50_000), Some(40_000));
    let table = [
        (7_499, gone, ""),
        (7_500, gone, "rove: Last contact 6 seconds ago. [To quit: Ctrl-^ .]"),
        (61_000, gone, "rove: Last contact 1:00 ago. [To quit: Ctrl-^ .]"),
        (3_662_000, gone, "rove: Last contact 1:01:01 ago. [To quit: Ctrl-^ .]"),
        (49_999, deaf, ""),
        (51_000, deaf, "rove: Last reply 11 seconds ago. [To quit: Ctrl-^ .]"),
        // Once both are late, contact is what counts.
        (57_000, deaf, "rove: Last contact 7 seconds ago. [To quit: Ctrl-^ .]"),
    ];
    for (now, contact, wanted) in table {
        assert_eq!(text(&notices(), now, contact), wanted, "at {now} ms");
    }
}

#[test]
fn the_count_is_refreshed_each_second_and_after_a_minute_every_three() {
    let gone = contact(Some(0), Some(0));
    for (now, next) in [
        (0, 6_500),
        (6_500, 7_000),
        (7_000, 8_000),
        (9_300, 10_000),
        (59_000, 60_000),
        (60_000, 63_000),
        (61_500, 63_000),
        (600_000, 603_000),
    ] {
        assert_eq!(notices().poll_timeout(ms(now), gone), Some(ms(next)), "at {now} ms");
    }
}

#[test]
fn messages_last_as_long_as_they_matter() {
    let fine = contact(Some(0), Some(0));
    let mut said = notices();
    said.say(ms(100), "something");
    assert_eq!(text(&said, 1_099, fine), "rove: something [To quit: Ctrl-^ .]");
    assert_eq!(said.poll_timeout(ms(100), fine), Some(ms(1_100)));
    assert_eq!(text(&said, 1_100, fine), "");

    let mut broken = notices();
    broken.network_error(ms(100), "no route");
    assert_eq!(text(&broken, 3_199, fine), "rove: no route [To quit: Ctrl-^ .]");
    assert_eq!(text(&broken, 3_200, fine), "");
    broken.heard(ms(200));
    assert_eq!(text(&broken, 1_199, fine), "rove: no route [To quit: Ctrl-^ .]");
    assert_eq!(text(&broken, 1_200, fine), "");

    let mut late = notices();
    late.network_error(ms(8_000), "no route");
    let both = "rove: no route (8 s without contact.) [To quit: Ctrl-^ .]";
    assert_eq!(text(&late, 8_000, fine), both);
}

#[test]
fn a_farewell_stays_and_help_hides_the_rest() {
    let gone = contact(Some(0), Some(0));
    let mut notices = notices();
    let help = notices.text(ms(9_000), gone, Some("Commands".to_owned()));
    assert_eq!(help.as_deref(), Some("rove: Commands"));
    notices.farewell("Exiting on user request...");
    notices.farewell("Signal received, shutting down...");
    notices.say(ms(1_000), "something");
    assert_eq!(text(&notices, 1_000, gone), "rove: Exiting on user request...");
    let both = "rove: Exiting on user request... (9 s without contact.)";
    assert_eq!(text(&notices, 9_000, gone), both);
}

fn top_row(frame: &Screen) -> String {
    frame.row(0).unwrap().cells().iter().map(|cell| cell.base.unwrap_or('.')).collect()
}

#[test]
fn the_bar_takes_the_top_row_and_is_cut_at_its_end() {
    for (columns, row) in [(12_u16, "rove: 広.x..."), (9, "rove: 広.x"), (7, "rove: ."), (1, "r")]
    {
        let mut frame = Screen::blank(Size::new(columns, 2).unwrap());
        draw(&mut frame, "rove: 広\u{7}\u{301}x");
        assert_eq!(top_row(&frame), row);
        let last = frame.row(0).unwrap().cells().last().unwrap().pen;
        assert_eq!(last.background, Color::Named(4));
        assert!(!frame.cursor().visible);
    }
}

#[test]
fn a_text_of_any_length_is_cut() {
    for (len, shown) in [(127, 127), (128, 127)] {
        let mut frame = Screen::blank(Size::new(200, 1).unwrap());
        draw(&mut frame, &"x".repeat(len));
        assert_eq!(top_row(&frame).matches('x').count(), shown);
    }
}

#[test]
fn a_tunnel_that_fails_is_told_until_it_stands_again() {
    let mut notices = notices();
    assert!(notices.tunnel(None) && notices.is_tunnelled());
    assert!(!notices.tunnel(None), "it is no news");
    let silent = contact(None, None);
    for (now, wanted) in [
        (249, ""),
        (250, "rove: Nothing received from server through ssh. [To quit: Ctrl-^ .]"),
        (7_000, "rove: No answer through ssh (12 sent in 7 s) [To quit: Ctrl-^ .]"),
    ] {
        assert_eq!(text(&notices, now, silent), wanted, "at {now} ms");
    }
    let heard = contact(Some(1_000), Some(1_000));
    assert!(notices.tunnel(Some("The ssh tunnel has ended.".to_owned())));
    let told = "rove: The ssh tunnel has ended. [To quit: Ctrl-^ .]";
    let later = "rove: The ssh tunnel has ended. (8 s without contact.) [To quit: Ctrl-^ .]";
    assert_eq!(text(&notices, 2_000, heard), told);
    assert_eq!(text(&notices, 9_000, heard), later);
    assert!(notices.tunnel(None));
    assert_eq!(text(&notices, 2_000, heard), "");
}
