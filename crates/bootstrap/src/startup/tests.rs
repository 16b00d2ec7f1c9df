use proptest::prelude::*;

use super::*;
use crate::line::LINE_BYTES_MAX;

const KEY: &str = "4NeCCgvZFe2RnPgrcU1PQw";
const STOCK: Rules = Rules::Stock(StockAddress::Proxy);

/// Rules of a run whose challenge is 32 zeros.
fn tolerant(proxy: bool, start: bool) -> Rules {
    Rules::Tolerant { challenge: Challenge::from_bytes([0; 16]), proxy, start }
}

/// Replaces the abbreviations in the tables: `KEY` by a key, and `WORD` by the challenge.
fn written_out(text: &str) -> String {
    text.replace("KEY", KEY).replace("WORD", &"0".repeat(32))
}

/// Reads both streams, each in one piece. Returns the announced facts, and the text for the user.
fn read(rules: &Rules, errors: &str, output: &str) -> Result<(Announced, String), StartupError> {
    let mut startup = Startup::new(rules.clone());
    let mut text = Vec::new();
    for (stream, said) in [(Stream::Errors, errors), (Stream::Output, output)] {
        if startup.read(stream, written_out(said).as_bytes(), &mut text)? == Progress::Reading {
            startup.finish(stream, &mut text)?;
        }
    }
    Ok((startup.announced, String::from_utf8(text).unwrap()))
}

/// Returns the announced addresses and port, and the text for the user.
fn summary(rules: &Rules, errors: &str, output: &str) -> String {
    match read(rules, errors, output) {
        Ok((announced, text)) => {
            let port = announced.connect.map(|connect| {
                assert_eq!(connect.key, KEY);
                connect.port
            });
            let address = |address: Option<String>| address.unwrap_or_else(|| "-".to_owned());
            format!(
                "{} {} {} {text:?}",
                address(announced.proxy_address),
                address(announced.server_address),
                address(port)
            )
        }
        Err(error) => error.to_string(),
    }
}

#[test]
fn stock_takes_each_line_as_stock_does() {
    const CONNECT: &str = "MOSH CONNECT 60001 KEY\n";
    for (errors, output, outcome) in [
        ("MOSH IP 1.2.3.4\n", CONNECT, r#"1.2.3.4 - 60001 """#),
        ("MOSH IP 1.2.3.4  \r\n", "MOSH CONNECT 60001 KEY \r\n", r#"1.2.3.4 - 60001 """#),
        ("MOSH IP 1.2.3.4\n", "MOSH CONNECT 60001 KEY", r#"1.2.3.4 - 60001 """#),
        ("MOSH IP 1.2.3.4\n", "MOSH CONNECT 60001 KEY\nmore", r#"1.2.3.4 - 60001 """#),
        ("MOSH IP foo\n", "MOSH CONNECT 99999 KEY\n", r#"foo - 99999 """#),
        ("", CONNECT, r#"- - 60001 """#),
        ("MOSH IP 1.2.3.4\n", "", r#"1.2.3.4 - - """#),
        ("x\r\n", "\nMOSH SSH_CONNECTION a 1 ::1 22\r\n", r#"- ::1 - "x\r\n\n""#),
        (
            "x MOSH IP 1.2.3.4\nMOSH IPX\nMOSH",
            "MOSH CONNECTED\nMOSH",
            r#"- - - "x MOSH IP 1.2.3.4\nMOSH IPX\nMOSHMOSH CONNECTED\nMOSH""#,
        ),
        ("", "MOSH  CONNECT 60001 KEY\n", &format!(r#"- - - "MOSH  CONNECT 60001 {KEY}\n""#)),
        ("MOSH IP 1.2.3.4\nMOSH IP 1.2.3.4\n", CONNECT, "detected attempt to redefine MOSH IP"),
        ("MOSH IP \nx", "", "Bad MOSH IP string: MOSH IP"),
        ("MOSH IP 1.2.3.4 x\n", "", "Bad MOSH IP string: MOSH IP 1.2.3.4 x"),
        ("MOSH IP --help\n", "", "Bad MOSH IP string: MOSH IP --help"),
        (
            "",
            "MOSH SSH_CONNECTION a 1 b\n",
            "Bad MOSH SSH_CONNECTION string: MOSH SSH_CONNECTION a 1 b",
        ),
        ("", "MOSH CONNECT 60001 ABC\n", "Bad MOSH CONNECT string: MOSH CONNECT 60001 ..."),
        ("", "MOSH CONNECT 60001\n", "Bad MOSH CONNECT string: MOSH CONNECT 60001"),
        ("", "MOSH CONNECT \x1b[2J\n", "Bad MOSH CONNECT string: MOSH CONNECT \\u{1b}[2J"),
        ("", "MOSH CONNECT 6x KEY\n", "Bad MOSH CONNECT string: MOSH CONNECT 6x ..."),
    ] {
        assert_eq!(summary(&STOCK, errors, output), outcome, "{errors:?} {output:?}");
    }
    let known = Rules::Stock(StockAddress::Known);
    let refused = "detected attempt to redefine MOSH IP";
    assert_eq!(summary(&known, "MOSH IP 1.2.3.4\n", CONNECT), refused);
    let host = Rules::Stock(StockAddress::Host);
    let outcome = r#"- - 60001 "MOSH IP 1.2.3.4\n""#;
    assert_eq!(summary(&host, "MOSH IP 1.2.3.4\n", CONNECT), outcome);
}

#[test]
fn each_line_counts_on_its_own_stream_only() {
    let host = "MOSH SSH_CONNECTION ::1 1 ::2 2\nMOSH CONNECT 60001 KEY\n";
    let start = "ROVE START WORD\n";
    let none = "ROVE NO SERVER PROGRAM\nROVE NO TUNNEL PROGRAM\n";
    let proxy = "ROVE ADDRESS WORD ::7\nROVE IP WORD 1.2.3.4\nMOSH IP 1.2.3.4\n";
    for rules in [STOCK, tolerant(true, true), tolerant(true, false), tolerant(false, true)] {
        let has_started = !matches!(rules, Rules::Tolerant { start: true, .. });
        let nothing = Announced { has_started, ..Announced::default() };
        let forged = format!("{start}{none}{host}");
        let (announced, text) = read(&rules, &forged, "").unwrap();
        assert_eq!(announced, nothing, "{rules:?}");
        assert_eq!(text, written_out(&forged), "the user sees all of it");
        let (announced, text) = read(&rules, "", proxy).unwrap();
        let early_output = if has_started { EarlyOutput::Blank } else { EarlyOutput::Text };
        assert_eq!(announced, Announced { early_output, ..nothing }, "{rules:?}");
        assert_eq!(text, written_out(proxy), "the user sees all of it");
        // The host's lines on the standard output are recognised, whatever is on the error output.
        let output = format!("{start}{host}");
        let (announced, _) = read(&rules, &host.replace("60001", "6"), &output).unwrap();
        assert_eq!(announced.connect.unwrap().port, "60001", "{rules:?}");
        assert_eq!(announced.server_address.as_deref(), Some("::2"), "{rules:?}");
    }
}

#[test]
fn tolerance_takes_well_formed_lines_and_shows_the_others() {
    let rules = tolerant(true, false);
    for (errors, outcome) in [
        ("ROVE IP WORD 1.2.3.4\nROVE IP WORD 6.6.6.6\n", r#"1.2.3.4 - - """#),
        ("ROVE IP WORD fe80::1%eth0\r\n", r#"fe80::1%eth0 - - """#),
        ("ROVE IP WORD foo\n", r#"- - - "ROVE IP WORD foo\n""#),
        ("ROVE IP WORD fe80::1%\x1b[2J\n", r#"- - - "ROVE IP WORD fe80::1%\u{1b}[2J\n""#),
        ("ROVE IP WORD1 1.2.3.4\n", r#"- - - "ROVE IP WORD1 1.2.3.4\n""#),
        ("ROVE IP 1.2.3.4\n", r#"- - - "ROVE IP 1.2.3.4\n""#),
        ("MOSH IP 1.2.3.4\n", r#"- - - "MOSH IP 1.2.3.4\n""#),
    ] {
        assert_eq!(summary(&rules, errors, ""), written_out(outcome), "{errors:?}");
    }
    for (output, outcome) in [
        ("MOSH CONNECT 60001 short\nMOSH CONNECT 1 KEY\n", r#"- - 1 "MOSH CONNECT 60001 short\n""#),
        (
            "MOSH SSH_CONNECTION a\nMOSH SSH_CONNECTION a 1 b 2\n",
            r#"- - - "MOSH SSH_CONNECTION a\nMOSH SSH_CONNECTION a 1 b 2\n""#,
        ),
        ("MOSH SSH_CONNECTION ::1 1 1.1.1.1 2\nMOSH SSH_CONNECTION ::1 1 ::2 2\n", r#"- ::2 - """#),
        ("MOSH SSH_CONNECTION UNKNOWN 65535 UNKNOWN 65535\n", r#"- - - """#),
    ] {
        assert_eq!(summary(&rules, "", output), outcome, "{output:?}");
    }
    for port in ["0", "65536", "99999999999999999999", "+1"] {
        let line = format!("MOSH CONNECT {port} KEY\n");
        assert!(summary(&rules, "", &line).starts_with("- - - "), "{port}");
    }
    let line = "ROVE IP WORD 1.2.3.4\n";
    let wanted = written_out(r#"- - - "ROVE IP WORD 1.2.3.4\n""#);
    assert_eq!(summary(&tolerant(false, true), line, ""), wanted, "there is no proxy");
}

#[test]
fn announcements_before_our_command_starts_do_not_count() {
    let rules = tolerant(true, true);
    for (output, outcome) in [
        ("MOSH CONNECT 1 KEY\nROVE START WORD\nMOSH CONNECT 2 KEY\n", r#"- - 2 """#),
        ("MOSH CONNECT 1 KEY\r\nROVE START WORD\r\n", r#"- - - """#),
        ("ROVE START WORD\nMOSH SSH_CONNECTION a 1 ::1 2\nMOSH CONNECT 2 KEY\n", r#"- ::1 2 """#),
        (
            "MOSH SSH_CONNECTION a 1 ::1 2\nROVE START WORD\nMOSH CONNECT 2 KEY\n",
            r#"- - 2 "MOSH SSH_CONNECTION a 1 ::1 2\n""#,
        ),
        ("hello\nMOSH CONNECT 1 KEY\nMOSH CONNECT 2 KEY\nbye\n", r#"- - - "hello\nbye\n""#),
        ("ROVE START\nMOSH CONNECT 2 KEY\n", r#"- - - "ROVE START\n""#),
        ("ROVE START WORD0\nMOSH CONNECT 2 KEY\n", r#"- - - "ROVE START WORD0\n""#),
        ("+ echo ROVE START WORD\nMOSH CONNECT 2 KEY\n", r#"- - - "+ echo ROVE START WORD\n""#),
        ("ROVE NO SERVER PROGRAM\n", r#"- - - "ROVE NO SERVER PROGRAM\n""#),
    ] {
        assert_eq!(summary(&rules, "", output), written_out(outcome), "{output:?}");
    }
    for (output, has_impostor) in [
        ("MOSH CONNECT 1 KEY\n", true),
        ("MOSH CONNECT 1 KEY\nROVE START WORD\n", true),
        ("ROVE START WORD\nMOSH CONNECT 1 KEY\n", false),
        ("", false),
    ] {
        let (announced, _) = read(&rules, "", output).unwrap();
        assert_eq!(announced.early_output == EarlyOutput::Impostor, has_impostor, "{output:?}");
    }
    let outcome = written_out(r#"- - - "ROVE START WORD\n""#);
    assert_eq!(summary(&tolerant(true, false), "", "ROVE START WORD\n"), outcome);
}

#[test]
fn complaints_about_the_host_are_noticed_on_either_stream() {
    let line = "mosh-server: Bad UDP port (1:2)\r\n";
    for (errors, output) in [(line, ""), ("", line)] {
        let (announced, text) = read(&tolerant(true, true), errors, output).unwrap();
        assert!(announced.port_refused);
        assert_eq!(text, line);
    }
    let output = "ROVE START WORD\r\nROVE SYSTEM Linux aarch64\r\nROVE NO SERVER PROGRAM\r\n\
                  ROVE NO TUNNEL PROGRAM\r\n";
    let (announced, text) = read(&tolerant(true, true), "", output).unwrap();
    assert!(announced.no_server_program && announced.no_tunnel_program);
    assert_eq!(announced.platform, Platform::from_uname("Linux aarch64"));
    assert_eq!(text, "");
}

#[test]
fn text_is_passed_on_before_its_line_ends() {
    for stream in Stream::ALL {
        let mut startup = Startup::new(STOCK);
        let mut text = Vec::new();
        for (bytes, shown) in [
            ("Passw", "Passw"),
            ("ord: ", "Password: "),
            ("\nMOS", "Password: \n"),
            ("S", "Password: \nMOSS"),
            ("\nMOSH xyz", "Password: \nMOSS\n"),
            ("\n", "Password: \nMOSS\nMOSH xyz\n"),
        ] {
            startup.read(stream, bytes.as_bytes(), &mut text).unwrap();
            assert_eq!(String::from_utf8_lossy(&text), shown, "{bytes:?}");
        }
    }
}

#[test]
fn a_line_on_one_stream_does_not_end_that_on_the_other() {
    let mut startup = Startup::new(tolerant(true, true));
    let mut text = Vec::new();
    for (stream, bytes) in [
        (Stream::Errors, "ROVE IP WORD 1."),
        (Stream::Output, "\nROVE START WORD\nMOSH CONN"),
        (Stream::Errors, "2.3.4\nbanner\nMOSH CONN"),
        (Stream::Output, "ECT 60001 KEY\n"),
    ] {
        startup.read(stream, written_out(bytes).as_bytes(), &mut text).unwrap();
    }
    let announced = startup.announced;
    assert_eq!(announced.proxy_address.as_deref(), Some("1.2.3.4"));
    assert_eq!(announced.connect.unwrap().port, "60001");
    assert_eq!(String::from_utf8(text).unwrap(), "\nbanner\n");
}

#[test]
fn a_line_at_the_bound_is_ours_and_one_past_it_is_text() {
    let line = |len: usize| {
        let mut line = "MOSH IP 1.2.3.4".to_owned();
        line.push_str(&" ".repeat(len - line.len()));
        line.push('\n');
        line
    };
    let at = line(LINE_BYTES_MAX);
    assert_eq!(summary(&STOCK, &at, ""), r#"1.2.3.4 - - """#);
    let past = line(LINE_BYTES_MAX + 1);
    assert_eq!(summary(&STOCK, &past, ""), format!("- - - {past:?}"));
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_and_nothing_is_lost(
        lines in proptest::collection::vec("(ROVE (IP|START|X) ?)?[ -~]{0,30}(\r)?\n", 0..8),
        cuts in proptest::collection::vec(0..300_usize, 0..4),
    ) {
        let output = lines.concat();
        let rules = tolerant(true, true);
        let whole = summary(&rules, "", &output);
        let mut startup = Startup::new(rules);
        let mut text = Vec::new();
        let mut rest = output.as_bytes();
        for cut in cuts {
            let (head, tail) = rest.split_at(cut.min(rest.len()));
            startup.read(Stream::Output, head, &mut text).unwrap();
            rest = tail;
        }
        startup.read(Stream::Output, rest, &mut text).unwrap();
        startup.finish(Stream::Output, &mut text).unwrap();
        let text = format!("{:?}", String::from_utf8(text).unwrap());
        prop_assert!(whole.ends_with(&text));
    }
}

#[test]
fn other_addresses_are_our_proxys_and_nobody_elses() {
    let lines = "ROVE ADDRESS WORD 192.0.2.7\nROVE ADDRESS WORD 2001:db8::7\nROVE ADDRESS WORD x\n\
                 ROVE ADDRESS 192.0.2.9\nROVE IP WORD 192.0.2.7\nROVE ADDRESS WORD 192.0.2.8\n";
    let (announced, text) = read(&tolerant(true, true), lines, "").unwrap();
    assert_eq!(announced.other_addresses, ["192.0.2.7", "2001:db8::7"]);
    // After the `ROVE IP` line, a `ROVE ADDRESS` line is only text.
    let left = "ROVE ADDRESS WORD x\nROVE ADDRESS 192.0.2.9\nROVE ADDRESS WORD 192.0.2.8\n";
    assert_eq!(text, written_out(left));
    for rules in [STOCK, tolerant(false, false)] {
        let line = "ROVE ADDRESS WORD 192.0.2.7\n";
        let (announced, text) = read(&rules, line, "").unwrap();
        assert_eq!((announced.other_addresses.len(), text), (0, written_out(line)));
    }
    let many = "ROVE ADDRESS WORD 192.0.2.7\n".repeat(OTHER_ADDRESSES_MAX + 1);
    let (announced, text) = read(&tolerant(true, true), &many, "").unwrap();
    assert_eq!(announced.other_addresses.len(), OTHER_ADDRESSES_MAX);
    assert_eq!(text, written_out("ROVE ADDRESS WORD 192.0.2.7\n"));
}

#[test]
fn a_stock_server_is_told_by_our_own_command_only() {
    let rules = tolerant(false, true);
    let wrong = "1".repeat(32);
    for (output, has_started, is_stock) in [
        ("ROVE START WORD\nROVE STOCK WORD\n", true, true),
        ("ROVE STOCK WORD\nROVE START WORD\n", true, false),
        (&format!("ROVE START WORD\nROVE STOCK {wrong}\n"), true, false),
        ("ROVE STOCK WORD\n", false, false),
        ("", false, false),
    ] {
        let (announced, _) = read(&rules, "", output).unwrap();
        assert_eq!(
            (announced.has_started, announced.is_stock),
            (has_started, is_stock),
            "{output}"
        );
    }
}

#[test]
fn a_proxy_that_has_failed_speaks_for_ssh() {
    let ssh = "kex_exchange_identification: Connection closed by remote host\n\
               Connection closed by UNKNOWN port 65535";
    for (marker, is_unknown) in [(FAILED, false), (UNKNOWN, true)] {
        let errors = format!("a banner\n{marker} WORD cannot\u{202e} connect\n{ssh}");
        let (announced, text) = read(&tolerant(true, true), &errors, "").unwrap();
        let sentence = "cannot connect".to_owned();
        assert_eq!(announced.proxy_failure, Some(ProxyFailure { sentence, is_unknown }));
        assert_eq!(text, written_out("a banner\n"));
        // The challenge is wrong, or ssh does not run rove's proxy command.
        for (rules, word) in [(tolerant(true, true), "DROW"), (tolerant(false, true), "WORD")] {
            let errors = errors.replace("WORD", word);
            let (announced, text) = read(&rules, &errors, "").unwrap();
            assert_eq!(announced.proxy_failure, None);
            assert_eq!(text, written_out(&errors));
        }
    }
}
