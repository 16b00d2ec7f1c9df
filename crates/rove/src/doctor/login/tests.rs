use super::*;

const KEY: &str = "AAECAwQFBgcICQoLDA0ODw";
const RULES: Rules = Rules::Tolerant { proxy: true, start: true };

/// Hears all of `output`, in pieces; `KEY` in it stands for a key.
fn hear(output: &str) -> Listener {
    let mut listener = Listener::new(RULES);
    for piece in output.replace("KEY", KEY).as_bytes().chunks(7) {
        listener.read(piece);
    }
    listener
}

#[test]
fn what_stands_before_the_survey_is_noise_and_never_the_servers() {
    for (output, lines, sample, escapes, fake) in [
        ("", 0, "", false, false),
        ("MOSH IP 192.0.2.7\r\n", 0, "", false, false),
        ("MOSH IP 192.0.2.7\nMOSH IP 192.0.2.8\n", 0, "", false, true),
        ("MOSH CONNECT 1 KEY\n", 0, "", false, true),
        ("MOSH CONNECT 1 x\n", 0, "", false, true),
        ("hello\n\n\x1b[1mbold\x1b[m\n", 2, "hello", true, false),
        ("\x1b]0;title\x07\n", 0, "", true, false),
        ("Warning: Permanently added 'far' to the list of known hosts.\n", 0, "", false, false),
    ] {
        let heard = hear(&format!("{output}\nROVE DOCTOR begin now\n"));
        let sample = sample.to_owned();
        assert_eq!(heard.noise, Noise { lines, sample, escapes, fake }, "{output:?}");
        assert!(heard.has_begun && heard.startup.connect.is_none() && heard.said.is_empty());
    }
}

#[test]
fn a_server_is_known_by_its_line_its_number_and_its_version() {
    let heard = hear(
        "MOSH IP 192.0.2.7\nROVE DOCTOR begin now\nROVE DOCTOR path /bin\nROVE START\r\n\
         MOSH SSH_CONNECTION 192.0.2.1 5 10.0.0.7 22\nMOSH CONNECT 60001 KEY\r\n\r\n\
         rove 0.1.0\r\n\r\n[rove server detached, pid = 321]\r\nConnection to far closed.\n",
    );
    assert!(heard.is_announced);
    assert_eq!(heard.startup.connect.unwrap().port, "60001");
    assert_eq!(heard.before.proxy_address.as_deref(), Some("192.0.2.7"));
    assert_eq!(heard.startup.server_address.as_deref(), Some("10.0.0.7"));
    assert_eq!((heard.pid, heard.far.version.as_str()), (Some(321), "rove 0.1.0"));
    assert_eq!(heard.far.path, "/bin");
}

#[test]
fn no_key_is_kept_among_what_may_be_shown() {
    for line in [
        "MOSH CONNECT 60001 KEY",
        " MOSH CONNECT 1 KEY",
        "x MOSH CONNECT 99999 KEY",
        "MOSH CONNECT KEY",
    ] {
        for output in [format!("{line}\n"), format!("ROVE DOCTOR begin now\n{line}\n")] {
            let heard = hear(&output);
            assert!(!format!("{:?} {:?}", heard.said, heard.noise).contains(KEY), "{output:?}");
        }
    }
}

#[test]
fn what_is_kept_of_any_output_is_bounded() {
    for (count, kept) in [(SAID_MAX, SAID_MAX), (SAID_MAX + 1, SAID_MAX)] {
        assert_eq!(hear(&"line\n".repeat(count)).said.len(), kept);
    }
    for (len, kept) in [(SHOWN_LEN_MAX, SHOWN_LEN_MAX), (SHOWN_LEN_MAX + 1, SHOWN_LEN_MAX)] {
        assert_eq!(hear(&format!("{}\n", "x".repeat(len))).said[0].len(), kept);
    }
    for (len, kept) in [(LINE_LEN_MAX, LINE_LEN_MAX), (LINE_LEN_MAX + 1, LINE_LEN_MAX)] {
        assert_eq!(hear(&"x".repeat(len)).line.len(), kept);
    }
    for (len, kept) in [(OUTPUT_LEN_MAX, OUTPUT_LEN_MAX), (OUTPUT_LEN_MAX + 1, OUTPUT_LEN_MAX)] {
        let mut output = Vec::new();
        keep(&mut output, &vec![b'x'; len - 1]);
        keep(&mut output, b"x");
        assert_eq!(output.len(), kept);
    }
}
