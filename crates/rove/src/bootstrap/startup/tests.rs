use proptest::prelude::*;

use super::*;

const KEY: &str = "4NeCCgvZFe2RnPgrcU1PQw";
const STOCK: Rules = Rules::Stock { address_known: false };
const PROXY: Rules = Rules::Tolerant { proxy: true, start: false };

/// Reads `output` in one piece; `KEY` in it stands for a key.
fn read(rules: Rules, output: &str) -> Result<(Announced, String), StartupError> {
    let mut startup = Startup::new(rules);
    let mut text = Vec::new();
    let output = output.replace("KEY", KEY);
    if startup.read(output.as_bytes(), &mut text)? == Progress::Reading {
        startup.finish(&mut text)?;
    }
    Ok((startup.into_announced(), String::from_utf8(text).unwrap()))
}

/// The addresses and the port that `output` announces, and the text left for the user.
fn summary(rules: Rules, output: &str) -> String {
    match read(rules, output) {
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
    for (output, outcome) in [
        ("MOSH IP 1.2.3.4\nMOSH CONNECT 60001 KEY\n", r#"1.2.3.4 - 60001 """#),
        ("MOSH IP 1.2.3.4  \r\nMOSH CONNECT 60001 KEY \r\n", r#"1.2.3.4 - 60001 """#),
        ("MOSH IP 1.2.3.4\nMOSH CONNECT 60001 KEY", r#"1.2.3.4 - 60001 """#),
        ("MOSH IP 1.2.3.4\nMOSH CONNECT 60001 KEY\nmore", r#"1.2.3.4 - 60001 """#),
        ("MOSH IP foo\nMOSH CONNECT 99999 KEY\n", r#"foo - 99999 """#),
        ("MOSH CONNECT 60001 KEY\n", r#"- - 60001 """#),
        ("MOSH IP 1.2.3.4\n", r#"1.2.3.4 - - """#),
        ("\nMOSH SSH_CONNECTION a 1 ::1 22\r\nx\r\n", r#"- ::1 - "\nx\r\n""#),
        (
            "x MOSH IP 1.2.3.4\nMOSH IPX\nMOSH CONNECTED\nMOSH",
            r#"- - - "x MOSH IP 1.2.3.4\nMOSH IPX\nMOSH CONNECTED\nMOSH""#,
        ),
        ("MOSH  CONNECT 60001 KEY\n", &format!(r#"- - - "MOSH  CONNECT 60001 {KEY}\n""#)),
        ("MOSH IP 1.2.3.4\nMOSH IP 1.2.3.4\n", "detected attempt to redefine MOSH IP"),
        ("MOSH IP \nx", "Bad MOSH IP string: MOSH IP"),
        ("MOSH IP 1.2.3.4 x\n", "Bad MOSH IP string: MOSH IP 1.2.3.4 x"),
        ("MOSH IP --help\n", "Bad MOSH IP string: MOSH IP --help"),
        (
            "MOSH SSH_CONNECTION a 1 b\n",
            "Bad MOSH SSH_CONNECTION string: MOSH SSH_CONNECTION a 1 b",
        ),
        ("MOSH CONNECT 60001 ABC\n", "Bad MOSH CONNECT string: MOSH CONNECT 60001 ..."),
        ("MOSH CONNECT 60001\n", "Bad MOSH CONNECT string: MOSH CONNECT 60001"),
        ("MOSH CONNECT \x1b[2J\n", "Bad MOSH CONNECT string: MOSH CONNECT \\u{1b}[2J"),
        ("MOSH CONNECT 6x KEY\n", "Bad MOSH CONNECT string: MOSH CONNECT 6x ..."),
    ] {
        assert_eq!(summary(STOCK, output), outcome, "{output:?}");
    }
    let known = Rules::Stock { address_known: true };
    assert_eq!(summary(known, "MOSH IP 1.2.3.4\n"), "detected attempt to redefine MOSH IP");
}

#[test]
fn tolerance_takes_well_formed_lines_and_shows_the_others() {
    for (output, outcome) in [
        ("MOSH IP 1.2.3.4\nMOSH IP 6.6.6.6\nMOSH CONNECT 60001 KEY\n", r#"1.2.3.4 - 60001 """#),
        ("MOSH IP fe80::1%eth0\n", r#"fe80::1%eth0 - - """#),
        ("MOSH IP foo\n", r#"- - - "MOSH IP foo\n""#),
        ("MOSH IP fe80::1%\x1b[2J\n", r#"- - - "MOSH IP fe80::1%\u{1b}[2J\n""#),
        ("MOSH CONNECT 60001 short\nMOSH CONNECT 1 KEY\n", r#"- - 1 "MOSH CONNECT 60001 short\n""#),
        (
            "MOSH SSH_CONNECTION a\nMOSH SSH_CONNECTION a 1 b 2\n",
            r#"- - - "MOSH SSH_CONNECTION a\nMOSH SSH_CONNECTION a 1 b 2\n""#,
        ),
        ("MOSH SSH_CONNECTION ::1 1 1.1.1.1 2\nMOSH SSH_CONNECTION ::1 1 ::2 2\n", r#"- ::2 - """#),
    ] {
        assert_eq!(summary(PROXY, output), outcome, "{output:?}");
    }
    for port in ["0", "65536", "99999999999999999999", "+1"] {
        let line = format!("MOSH CONNECT {port} KEY\n");
        assert!(summary(PROXY, &line).starts_with("- - - "), "{port}");
    }
    let no_proxy = Rules::Tolerant { proxy: false, start: false };
    assert_eq!(summary(no_proxy, "MOSH IP 1.2.3.4\n"), r#"- - - "MOSH IP 1.2.3.4\n""#);
}

#[test]
fn what_is_announced_before_our_command_starts_is_somebody_elses() {
    let rules = Rules::Tolerant { proxy: true, start: true };
    for (output, outcome) in [
        ("MOSH CONNECT 1 KEY\nROVE START\nMOSH CONNECT 2 KEY\n", r#"- - 2 """#),
        ("MOSH CONNECT 1 KEY\r\nROVE START\r\n", r#"- - - """#),
        ("MOSH IP ::1\nMOSH IP ::2\nROVE START\nMOSH CONNECT 2 KEY\n", r#"::1 - 2 """#),
        ("MOSH SSH_CONNECTION a 1 ::1 2\nROVE START\nMOSH CONNECT 2 KEY\n", r#"- - 2 """#),
        ("ROVE START\nMOSH SSH_CONNECTION a 1 ::1 2\nMOSH CONNECT 2 KEY\n", r#"- ::1 2 """#),
        // A command that the host forces upon us never says it.
        ("hello\nMOSH CONNECT 1 KEY\nMOSH CONNECT 2 KEY\nbye\n", r#"- - 2 "hello\nbye\n""#),
    ] {
        assert_eq!(summary(rules, output), outcome, "{output:?}");
    }
    assert_eq!(summary(PROXY, "ROVE START\n"), r#"- - - "ROVE START\n""#);
}

#[test]
fn complaints_about_the_host_are_noticed() {
    let (announced, text) = read(PROXY, "mosh-server: Bad UDP port (1:2)\r\n").unwrap();
    assert!(announced.port_refused);
    assert_eq!(text, "mosh-server: Bad UDP port (1:2)\r\n");
    let (announced, text) = read(PROXY, &format!("{NO_SERVER_PROGRAM}\r\n")).unwrap();
    assert!(announced.no_server_program);
    assert_eq!(text, "");
}

#[test]
fn text_is_passed_on_before_its_line_ends() {
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
        startup.read(bytes.as_bytes(), &mut text).unwrap();
        assert_eq!(String::from_utf8_lossy(&text), shown, "{bytes:?}");
    }
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
    assert_eq!(summary(PROXY, &at), r#"1.2.3.4 - - """#);
    let past = line(LINE_BYTES_MAX + 1);
    assert_eq!(summary(PROXY, &past), format!("- - - {past:?}"));
}

proptest! {
    #[test]
    fn any_cut_gives_the_same_and_nothing_is_lost(
        lines in proptest::collection::vec("(MOSH (IP|CONNECT|X) ?)?[ -~]{0,30}(\r)?\n", 0..8),
        cuts in proptest::collection::vec(0..300_usize, 0..4),
    ) {
        let output = lines.concat();
        let whole = summary(PROXY, &output);
        let mut startup = Startup::new(PROXY);
        let mut text = Vec::new();
        let mut rest = output.as_bytes();
        for cut in cuts {
            let (head, tail) = rest.split_at(cut.min(rest.len()));
            startup.read(head, &mut text).unwrap();
            rest = tail;
        }
        startup.read(rest, &mut text).unwrap();
        startup.finish(&mut text).unwrap();
        let text = format!("{:?}", String::from_utf8(text).unwrap());
        prop_assert!(whole.ends_with(&text));
    }
}

#[test]
fn other_addresses_are_our_proxys_and_nobody_elses() {
    let lines = "ROVE ADDRESS 192.0.2.7\nROVE ADDRESS 2001:db8::7\nROVE ADDRESS x\nMOSH IP 192.0.2.7\n\
                 ROVE ADDRESS 192.0.2.8\nMOSH CONNECT 60001 KEY\n";
    let (announced, text) = read(PROXY, lines).unwrap();
    assert_eq!(announced.other_addresses, ["192.0.2.7", "2001:db8::7"]);
    // What comes behind the proxy's word could be anybody's.
    assert_eq!(text, "ROVE ADDRESS x\nROVE ADDRESS 192.0.2.8\n");
    for rules in [STOCK, Rules::Tolerant { proxy: false, start: false }] {
        let (announced, text) = read(rules, "ROVE ADDRESS 192.0.2.7\n").unwrap();
        assert_eq!(
            (announced.other_addresses.len(), text.as_str()),
            (0, "ROVE ADDRESS 192.0.2.7\n")
        );
    }
    let many = "ROVE ADDRESS 192.0.2.7\n".repeat(OTHER_ADDRESSES_MAX + 1);
    let (announced, text) = read(PROXY, &many).unwrap();
    assert_eq!(announced.other_addresses.len(), OTHER_ADDRESSES_MAX);
    assert_eq!(text, "ROVE ADDRESS 192.0.2.7\n");
}
