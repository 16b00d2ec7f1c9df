use super::*;

const KEY: &str = "AAECAwQFBgcICQoLDA0ODw";
/// Reads both streams in pieces of 7 bytes. `KEY` in them stands for a key, and `WORD` for the run's random word.
fn read(errors: &str, output: &str) -> Listener {
    let challenge = Challenge::from_bytes([0; 16]);
    let rules = Rules::Tolerant { challenge: challenge.clone(), proxy: true, start: true };
    let mut listener = Listener::new(challenge, rules);
    for (stream, said) in [(Stream::Errors, errors), (Stream::Output, output)] {
        let said = said.replace("KEY", KEY).replace("WORD", &"0".repeat(32));
        for piece in said.as_bytes().chunks(7) {
            listener.read(stream, piece);
        }
    }
    listener
}

#[test]
fn output_before_the_survey_is_noise_and_never_the_servers() {
    for (errors, output, lines, sample, escapes, fake) in [
        ("", "", 0, "", false, false),
        ("ROVE IP WORD 192.0.2.7\r\n", "", 0, "", false, false),
        ("ROVE IP WORD 192.0.2.7\nMOSH IP 192.0.2.8\n", "", 1, "MOSH IP 192.0.2.8", false, true),
        ("", "MOSH IP 192.0.2.8\n", 1, "MOSH IP 192.0.2.8", false, true),
        ("", "MOSH CONNECT 1 KEY\n", 0, "", false, true),
        ("", "MOSH CONNECT 1 x\n", 0, "", false, true),
        ("MOSH CONNECT 1 KEY\n", "", 0, "", false, true),
        ("", "hello\n\n\x1b[1mbold\x1b[m\n", 2, "hello", true, false),
        ("", "\x1b]0;title\x07\n", 0, "", true, false),
        ("Warning: Permanently added 'far' to the list of known hosts.\n", "", 0, "", false, false),
    ] {
        let heard = read(errors, &format!("{output}\nROVE DOCTOR begin WORD\n"));
        assert!(heard.has_begun && heard.said.is_empty(), "{output:?}");
        let announced = heard.startup.announced;
        let mut noise = heard.noise;
        noise.fake |= announced.early_output == EarlyOutput::Impostor;
        let sample = sample.to_owned();
        assert_eq!(noise, Noise { lines, sample, escapes, fake }, "{errors:?} {output:?}");
        assert!(announced.connect.is_none());
    }
}

#[test]
fn a_program_that_does_not_know_the_word_begins_no_survey() {
    for (errors, output) in [
        ("", "ROVE DOCTOR begin now\nROVE DOCTOR path /bin\n"),
        ("ROVE DOCTOR begin WORD\n", "ROVE DOCTOR path /bin\n"),
        ("", "ROVE DOCTOR begin WORD0\nROVE DOCTOR path /bin\n"),
        ("ROVE DOCTOR path /bin\n", "ROVE DOCTOR begin WORD\n"),
    ] {
        let heard = read(errors, output);
        assert_eq!(heard.far, Far::default(), "{errors:?} {output:?}");
    }
}

#[test]
fn a_server_is_known_by_its_line_its_number_and_its_version() {
    let goodbye = "\r\nrove 0.1.0\r\n\r\n[rove server detached, pid = 321]\r\n";
    let connect = "MOSH CONNECT 60001 KEY\r\n";
    // A server without a terminal prints its last message on the error output.
    for (errors, after) in [("Connection to far closed.\n", goodbye), (goodbye, "")] {
        let output = format!(
            "ROVE DOCTOR begin WORD\nROVE DOCTOR path /bin\nROVE START WORD\r\n\
             MOSH SSH_CONNECTION 192.0.2.1 5 10.0.0.7 22\n{connect}{after}"
        );
        let (begun, rest) = output.split_once('\n').unwrap();
        let mut heard = read("ROVE IP WORD 192.0.2.7\n", &format!("{begun}\n"));
        let rest = rest.replace("KEY", KEY).replace("WORD", &"0".repeat(32));
        heard.read(Stream::Errors, errors.as_bytes());
        heard.read(Stream::Output, rest.as_bytes());
        assert!(heard.is_announced);
        assert_eq!((heard.pid, heard.far.version.as_str()), (Some(321), "rove 0.1.0"));
        assert_eq!(heard.far.path, "/bin");
        let announced = heard.startup.announced;
        assert_eq!(announced.connect.unwrap().port, "60001");
        assert_eq!(announced.proxy_address.as_deref(), Some("192.0.2.7"));
        assert_eq!(announced.server_address.as_deref(), Some("10.0.0.7"));
    }
}

#[test]
fn no_key_is_kept_among_what_may_be_shown() {
    for line in [
        "MOSH CONNECT 60001 KEY",
        " MOSH CONNECT 1 KEY",
        "x MOSH CONNECT 99999 KEY",
        "MOSH CONNECT KEY",
    ] {
        for output in [format!("{line}\n"), format!("ROVE DOCTOR begin WORD\n{line}\n")] {
            for heard in [read("", &output), read(&output, "")] {
                assert!(!format!("{:?} {:?}", heard.said, heard.noise).contains(KEY), "{output:?}");
            }
        }
    }
}

#[test]
fn kept_output_is_bounded() {
    for (count, kept) in [(SAID_MAX, SAID_MAX), (SAID_MAX + 1, SAID_MAX)] {
        assert_eq!(read("", &"line\n".repeat(count)).said.len(), kept);
    }
    for (len, kept) in [(SHOWN_LEN_MAX, SHOWN_LEN_MAX), (SHOWN_LEN_MAX + 1, SHOWN_LEN_MAX)] {
        assert_eq!(read("", &format!("{}\n", "x".repeat(len))).said[0].len(), kept);
    }
    for (len, kept) in [(LINE_LEN_MAX, LINE_LEN_MAX), (LINE_LEN_MAX + 1, LINE_LEN_MAX)] {
        let heard = read(&"x".repeat(len), &"x".repeat(len));
        assert_eq!(heard.lines.map(|line| line.len()), [kept; 2]);
    }
    for (len, kept) in [(OUTPUT_LEN_MAX, OUTPUT_LEN_MAX), (OUTPUT_LEN_MAX + 1, OUTPUT_LEN_MAX)] {
        let mut output = Vec::new();
        keep(&mut output, &vec![b'x'; len - 1]);
        keep(&mut output, b"x");
        assert_eq!(output.len(), kept);
    }
}
