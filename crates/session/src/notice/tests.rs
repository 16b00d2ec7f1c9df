use super::*;

fn ms(millis: u64) -> Instant {
    Instant::from_millis(millis)
}

fn notices() -> Notices {
    Notices::new("rove".to_owned(), Some("[To quit: Ctrl-^ .]".to_owned()), true)
}

fn contact(heard: Option<u64>, acknowledged: Option<u64>) -> Contact {
    Contact {
        start: Instant::ZERO,
        heard_at: heard.map(ms),
        due_at: ms(heard.unwrap_or(0) + 3_000),
        acknowledged_sent_at: acknowledged.map(ms),
        server: "203.0.113.255:60001".parse().unwrap(),
        sent: 12,
        refused_at: None,
    }
}

fn text(notices: &Notices, now: u64, contact: Contact) -> String {
    text_in(notices, now, contact, 80)
}

/// Returns the bar's text in a window of this width.
fn text_in(notices: &Notices, now: u64, contact: Contact, columns: u16) -> String {
    let bar = notices.bar(ms(now), contact, None, Vec::new());
    bar.map_or(String::new(), |bar| bar.rows(Size::clamped(columns, 24)).join("\n"))
}

#[test]
fn a_question_comes_before_other_notices_and_goes_when_it_is_answered() {
    let (mut notices, heard) = (notices(), contact(Some(0), Some(0)));
    notices.announce(ms(1_000), "Somebody has joined.");
    notices.ask(Some("May the host sign?".to_owned()), vec!["[To allow it: Ctrl-^ y]".to_owned()]);
    let asked = "rove: May the host sign? [To allow it: Ctrl-^ y]";
    assert!(text(&notices, 2_000, heard).starts_with(asked));
    notices.set_hidden(ms(2_000), false);
    assert!(text(&notices, 32_000, heard).starts_with(asked));
    notices.ask(None, Vec::new());
    notices.set_hidden(ms(32_000), false);
    for at in [32_000, 40_000] {
        assert!(text(&notices, at, heard).contains("has joined"), "the question hid it");
    }
}

#[test]
fn nothing_that_passes_hides_an_event() {
    let (mut notices, heard) = (notices(), contact(Some(0), Some(0)));
    notices.announce(ms(1_000), "Somebody has joined.");
    notices.say(ms(1_500), "Bad datagram.");
    notices.network_error(ms(1_600), "Network is down");
    assert!(text(&notices, 1_700, heard).contains("has joined"));
    notices.announce(ms(1_800), "Another has joined.");
    notices.answer(ms(2_000), "Locked.");
    assert!(text(&notices, 2_000, heard).contains("Locked"));
    assert!(text(&notices, 5_000, heard).contains("Somebody has joined"));
    assert!(text(&notices, 8_000, heard).contains("Another has joined"));
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
fn silence_that_the_server_has_announced_is_told_once_its_word_is_late() {
    let quiet = Contact { due_at: ms(25_000), ..contact(Some(1_000), Some(25_000)) };
    assert_eq!(text(&notices(), 28_499, quiet), "");
    assert_eq!(
        text(&notices(), 28_500, quiet),
        "rove: Last contact 27 seconds ago. [To quit: Ctrl-^ .]"
    );
    assert_eq!(notices().poll_timeout(ms(1_000), quiet), Some(ms(28_500)));
}

#[test]
fn silence_is_told_by_what_is_missing() {
    let gone = contact(Some(1_000), Some(1_000));
    let deaf = contact(Some(50_000), Some(40_000));
    let table = [
        (7_499, gone, ""),
        (7_500, gone, "rove: Last contact 6 seconds ago. [To quit: Ctrl-^ .]"),
        (
            61_000,
            gone,
            "rove: Last contact 1:00 ago. Try --tunnel, rove doctor [To quit: Ctrl-^ .]",
        ),
        (
            3_662_000,
            gone,
            "rove: Last contact 1:01:01 ago. Try --tunnel, rove doctor [To quit: Ctrl-^ .]",
        ),
        (49_999, deaf, ""),
        (51_000, deaf, "rove: Last reply 11 seconds ago. [To quit: Ctrl-^ .]"),
        // If the last contact and the last reply are both long ago, the bar tells the last contact.
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

    // After half a minute, the bar tells the time and the remedy, and hides neither.
    for (error, reply_at, wanted) in [
        ("No route to host", None, "No route to host (30 s.) Try --tunnel, rove doctor"),
        ("No route to host", Some(29_900), "No route to host (30 s.) Try --tunnel, rove doctor"),
        ("Network is unreachable", None, "Network is unreachable (30 s without contact.)"),
        ("Operation not permitted", None, "Sending failed: firewall? (30 s.) Try rove doctor"),
    ] {
        let mut blocked = notices();
        blocked.network_error(ms(29_900), error);
        let contact = contact(reply_at.or(Some(0)), Some(0));
        assert_eq!(text(&blocked, 30_000, contact), format!("rove: {wanted} [To quit: Ctrl-^ .]"));
    }
    let mut forbidden = notices();
    forbidden.network_error(ms(100), "Operation not permitted");
    let shown = "rove: Sending failed: firewall? Try --tunnel, rove doctor [To quit: Ctrl-^ .]";
    assert_eq!(text(&forbidden, 200, fine), shown);
}

#[test]
fn a_farewell_stays_and_help_hides_the_rest() {
    let gone = contact(Some(0), Some(0));
    let mut notices = notices();
    let help = notices.bar(ms(9_000), gone, Some(vec!["Commands".to_owned()]), Vec::new());
    assert_eq!(help.unwrap().rows(Size::clamped(80, 1)), ["rove: Commands"]);
    notices.farewell("Exiting on user request...");
    notices.farewell("Signal received, shutting down...");
    notices.say(ms(1_000), "something");
    assert_eq!(text(&notices, 1_000, gone), "rove: Exiting on user request...");
    let both = "rove: Exiting on user request... (9 s without contact.)";
    assert_eq!(text(&notices, 9_000, gone), both);
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
    let trouble = |needs_login| {
        let (text, reason) = ("The ssh tunnel has ended and waits".to_owned(), "x".to_owned());
        Some(Trouble { text, reason, needs_login })
    };
    assert!(notices.tunnel(trouble(false)) && !notices.needs_login());
    let told = "rove: The ssh tunnel has ended and waits: x. [To quit: Ctrl-^ .]";
    let later = "rove: The ssh tunnel has ended and waits: x. [To quit: Ctrl-^ .]";
    let wide =
        "rove: The ssh tunnel has ended and waits: x. (8 s without contact.) [To quit: Ctrl-^ .]";
    assert!(told.len() < 80 && wide.len() > 80);
    assert_eq!(text(&notices, 2_000, heard), told);
    assert_eq!(text(&notices, 9_000, heard), later);
    assert_eq!(text_in(&notices, 9_000, heard, 90), wide);
    let narrow = [
        "rove: The ssh tunnel has ended. [To quit: Ctrl-^ .]",
        "rove: Tunnel ended. [To quit: Ctrl-^ .]",
    ];
    for (columns, wanted) in [(60, narrow[0]), (40, narrow[1])] {
        assert_eq!(text_in(&notices, 9_000, heard, columns), wanted);
    }
    assert!(notices.tunnel(trouble(true)) && notices.needs_login());
    let hints =
        ["[To log in again: Ctrl-^ r] [To quit: Ctrl-^ .]", "[Log in: Ctrl-^ r. Quit: Ctrl-^ .]"];
    let hints = hints.map(str::to_owned).to_vec();
    let bar = notices.bar(ms(2_000), heard, None, hints).unwrap();
    for (columns, wanted) in [
        (80, "rove: The ssh tunnel has ended. [To log in again: Ctrl-^ r] [To quit: Ctrl-^ .]"),
        (40, "rove: The ssh tunnel has ended.\n[Log in: Ctrl-^ r. Quit: Ctrl-^ .]"),
    ] {
        assert_eq!(bar.rows(Size::clamped(columns, 24)).join("\n"), wanted);
    }
    assert!(notices.tunnel(None));
    assert_eq!(text(&notices, 2_000, heard), "");
}

#[test]
fn half_a_minute_without_contact_names_what_helps_where_udp_is_blocked() {
    let gone = contact(Some(1_000), Some(1_000));
    let told = "rove: Last contact 30 seconds ago. Try --tunnel, rove doctor [To quit: Ctrl-^ .]";
    let wide = "rove: Last contact 30 seconds ago. If UDP is blocked here, try rove --tunnel; \
                rove doctor names what fails. [To quit: Ctrl-^ .]";
    for (now, columns, wanted) in [
        (30_999, 200, "rove: Last contact 29 seconds ago. [To quit: Ctrl-^ .]"),
        (31_000, 80, told),
        (31_000, 127, wide),
        (31_000, 200, wide),
        (31_000, 79, "rove: Last contact 30 seconds ago. [To quit: Ctrl-^ .]"),
        (31_000, 40, "rove: Silent 30 s [To quit: Ctrl-^ .]"),
        (3_662_000, 40, "rove: Silent 1:01:01 [To quit: Ctrl-^ .]"),
    ] {
        assert_eq!(text_in(&notices(), now, gone, columns), wanted, "{now} ms, {columns} columns");
    }
    // The client hears the server, or heard it until some time ago, but the server hears nothing.
    let reply = "rove: Last reply 30 seconds ago. Try --tunnel, rove doctor [To quit: Ctrl-^ .]";
    let then = "rove: Last contact 8 seconds ago. Try --tunnel, rove doctor [To quit: Ctrl-^ .]";
    for (now, heard, wanted) in [
        (30_999, 30_999, "rove: Last reply 29 seconds ago. [To quit: Ctrl-^ .]"),
        (31_000, 31_000, reply),
        (39_000, 31_000, then),
    ] {
        assert_eq!(text(&notices(), now, contact(Some(heard), Some(1_000))), wanted, "{now} ms");
    }
    // With a tunnel the advice `--tunnel` is useless, and the program `mosh` has no such option.
    let mut tunnelled = notices();
    tunnelled.tunnel(None);
    let mosh = Notices::new("mosh".to_owned(), None, false);
    assert!(!text(&tunnelled, 31_000, gone).contains("--tunnel"));
    assert_eq!(text(&mosh, 31_000, gone), "mosh: Last contact 30 seconds ago.");
}

#[test]
fn a_server_whose_host_refuses_is_gone_after_ten_seconds_without_contact() {
    let refused = |heard, at: u64| Contact { refused_at: Some(ms(at)), ..contact(heard, heard) };
    let told = "rove: Server gone: port 60001 is refused. Log in again. [To quit: Ctrl-^ .]";
    let silent = "rove: Last contact 10 seconds ago. [To quit: Ctrl-^ .]";
    for (now, contact, wanted) in [
        (
            10_999,
            refused(Some(1_000), 4_000),
            "rove: Last contact 9 seconds ago. [To quit: Ctrl-^ .]",
        ),
        (11_000, refused(Some(1_000), 4_000), told),
        // A refusal counts only if the host sent it after the server was last heard.
        (11_000, refused(Some(1_000), 999), silent),
        (11_000, refused(Some(1_000), 1_000), silent),
        (11_000, refused(Some(1_000), 1_001), told),
        (41_001, refused(Some(31_000), 31_000), silent),
    ] {
        assert_eq!(text(&notices(), now, contact), wanted, "{now} ms, {contact:?}");
    }
    let old = text(&notices(), 14_001, refused(Some(1_000), 4_000));
    assert!(!old.contains("gone"), "{old}");
    // The bar does not call a server gone that never answered, and `mosh` calls no server gone.
    assert!(!text(&notices(), 11_000, refused(None, 4_000)).contains("gone"));
    let mosh = Notices::new("mosh".to_owned(), None, false);
    assert!(!text(&mosh, 11_000, refused(Some(1_000), 4_000)).contains("gone"));
    // The notice that the server is gone hides the network error "Connection refused".
    let mut notices = notices();
    notices.network_error(ms(10_500), "Connection refused");
    assert_eq!(text(&notices, 11_000, refused(Some(1_000), 10_500)), told);
    let narrow = text_in(&notices, 11_000, refused(Some(1_000), 10_500), 40);
    assert_eq!(narrow, "rove: Server is gone [To quit: Ctrl-^ .]");
    let next = notices.poll_timeout(ms(2_000), refused(Some(1_000), 1_500));
    assert!(next <= Some(ms(11_000)));
}

#[test]
fn the_user_reads_once_why_a_session_goes_through_ssh() {
    let fine = contact(Some(60_000), Some(60_000));
    let told = "rove: UDP port 60001 is silent: using ssh. See rove doctor. [To quit: Ctrl-^ .]";
    let mut notices = notices();
    for (now, since, wanted) in [
        (0, Some(0), ""),
        (2_999, Some(0), ""),
        (3_000, Some(0), told),
        (12_999, Some(0), told),
        (13_000, Some(0), ""),
        (20_000, None, ""),
        // If UDP comes back soon, the bar says nothing.
        (21_000, Some(21_000), ""),
        (24_000, Some(21_000), told),
    ] {
        notices.aside(ms(now), since.map(ms), fine);
        assert!(text(&notices, now, fine).starts_with(wanted), "at {now} ms");
        assert_eq!(text(&notices, now, fine).is_empty(), wanted.is_empty(), "at {now} ms");
    }
    notices.aside(ms(40_000), Some(ms(40_000)), fine);
    assert_eq!(notices.poll_timeout(ms(40_000), fine), Some(ms(43_000)));
    // A session that ssh carries needs no advice about a tunnel.
    let silent = contact(Some(0), Some(0));
    assert!(text(&notices, 41_000, silent).starts_with("rove: Last contact 41 seconds ago. [To"));
}

#[test]
fn a_server_that_is_gone_is_not_called_silent() {
    let mut notices = notices();
    let gone = "rove: Server gone: port 60001 is refused. Log in again. [To quit: Ctrl-^ .]";
    for (now, heard, refused, wanted) in [
        (2_000, 1_000, 1_500, ""),
        (5_000, 1_000, 4_500, ""),
        (7_000, 1_000, 6_500, ""),
        (11_000, 1_000, 10_500, gone),
        (17_000, 1_000, 16_500, gone),
        // The host's refusals were of an earlier time, and the server is heard through ssh.
        (21_000, 20_000, 16_500, "rove: UDP port 60001 is silent: using ssh. See rove doctor."),
    ] {
        let contact =
            Contact { refused_at: Some(ms(refused)), ..contact(Some(heard), Some(heard)) };
        notices.aside(ms(now), Some(ms(2_000)), contact);
        let shown = text(&notices, now, contact);
        assert!(shown.starts_with(wanted), "at {now} ms: {shown}");
        assert!(!shown.contains("silent") || !wanted.is_empty() && wanted != gone, "{shown}");
    }
}
