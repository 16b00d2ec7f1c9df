use super::*;

fn call(name: ProgramName, line: &str) -> Result<HostCall, UsageError> {
    parse(name, line.split_whitespace().map(OsString::from).collect())
}

fn connect(name: ProgramName, line: &str) -> HostOptions {
    match call(name, line) {
        Ok(HostCall::Connect(options)) => *options,
        other => panic!("{line}: {other:?}"),
    }
}

#[test]
fn defaults_are_stocks() {
    let options = connect(ProgramName::Mosh, "me@host");
    let expected = HostOptions {
        name: ProgramName::Mosh,
        client: None,
        server: None,
        predict: Prediction::Adaptive,
        predict_overwrite: false,
        family: "prefer-inet".to_owned(),
        port: None,
        bind_server: BindServer::Ssh,
        ssh: vec!["ssh".to_owned()],
        ssh_pty: true,
        init: true,
        local: false,
        remote_ip: None,
        escape_key: None,
        strict: false,
        host: "me@host".into(),
        command: Vec::new(),
    };
    assert_eq!(options, expected);
}

#[test]
fn the_last_of_contradicting_options_wins() {
    for (line, family) in [
        ("-4 -6 h", "inet6"),
        ("-6 -4 h", "inet"),
        ("-4 --family=ALL h", "all"),
        ("--family=all -6 h", "inet6"),
        ("--family=all --family=auto h", "auto"),
    ] {
        assert_eq!(connect(ProgramName::Mosh, line).family, family, "{line}");
    }
    for (line, predict) in [
        ("-a -n h", Prediction::Never),
        ("-n --predict=always h", Prediction::Always),
        ("--predict=never -a h", Prediction::Always),
    ] {
        assert_eq!(connect(ProgramName::Mosh, line).predict, predict, "{line}");
    }
    for (line, init) in [("--no-init --init h", true), ("--init --noinit h", false)] {
        assert_eq!(connect(ProgramName::Mosh, line).init, init, "{line}");
    }
    let options = connect(ProgramName::Mosh, "-p 5 -o --no-predict-overwrite -p 6:7 h");
    assert_eq!((options.port.as_deref(), options.predict_overwrite), (Some("6:7"), false));
}

#[test]
fn values_keep_their_meaning() {
    let options = connect(ProgramName::Rove, "--bind-server=ANY --escape-key=^] --strict h a -p b");
    assert_eq!(options.bind_server, BindServer::Any);
    assert_eq!(options.escape_key, Some(Some(0x1d)));
    assert!(options.strict);
    assert_eq!(options.command, ["a", "-p", "b"]);
    let words = ["--ssh", "ssh -p '22 2' a\\ b", "--bind-server=::1", "h"].map(OsString::from);
    let Ok(HostCall::Connect(options)) = parse(ProgramName::Mosh, words.to_vec()) else { panic!() };
    assert_eq!(options.ssh, ["ssh", "-p", "22 2", "a b"]);
    assert_eq!(options.bind_server, BindServer::Address("::1".to_owned()));
}

#[test]
fn what_is_wrong_is_said_in_one_sentence() {
    for (line, sentence, has_usage) in [
        ("", "", true),
        ("--bogus h", "Unknown option: bogus", true),
        (
            "--predict=x h",
            "Unknown mode \"x\": know adaptive, always, never and experimental",
            true,
        ),
        (
            "--experimental-remote-ip=x h",
            "--experimental-remote-ip is proxy, remote or local, not \"x\"",
            false,
        ),
        ("-p 70000 h", "Server-side (low) port (70000) must be within 0 to 65535.", false),
        (
            "-p 99999999999999999999 h",
            "Server-side (low) port (18446744073709551615) must be",
            false,
        ),
        ("-p 5:70000 h", "Server-side high port (70000) must be within 1 to 65535.", false),
        ("-p 5:0 h", "Server-side high port (0) must be within 1 to 65535.", false),
        ("-p 0:5 h", "A server-side port range cannot start with port 0 (0:5).", false),
        ("-p 6:5 h", "Server-side low port (6) is above the high port (5).", false),
        ("-p 5: h", "Server-side port or range (5:) is not a number or LOW:HIGH.", false),
        ("-p -5 h", "Server-side port or range (-5) is not a number or LOW:HIGH.", false),
        ("-- -oProxyCommand=x", "\"-oProxyCommand=x\" is not a host name", false),
        ("--ssh=' h", "--ssh: a quote is not closed", false),
        ("--escape-key=^C h", "\"^C\" cannot be the escape key", false),
        ("--fake-proxy h", "--fake-proxy needs HOST and PORT", false),
    ] {
        let error = call(ProgramName::Mosh, line).unwrap_err();
        assert!(error.message.starts_with(sentence), "{line}: {}", error.message);
        assert_eq!(error.usage.is_some(), has_usage, "{line}");
    }
    assert!(call(ProgramName::Rove, "--family=x h").is_err());
    assert_eq!(connect(ProgramName::Mosh, "--family=X h").family, "x");
}

#[test]
fn help_precedes_version_and_both_precede_every_check() {
    assert!(matches!(call(ProgramName::Mosh, "--version --help -p x"), Ok(HostCall::Help(_))));
    assert!(matches!(call(ProgramName::Mosh, "-v --predict=x"), Ok(HostCall::Version)));
    for name in [ProgramName::Mosh, ProgramName::Rove] {
        let Ok(HostCall::Help(text)) = call(name, "-h") else { panic!() };
        assert!(text.starts_with(&format!("Usage: {} ", name.as_str())), "{text}");
        for option in [
            "--client",
            "--server",
            "--predict",
            "-a",
            "-n",
            "-o",
            "--family",
            "-4",
            "-6",
            "-p",
            "--bind-server",
            "--ssh",
            "--no-ssh-pty",
            "--no-init",
            "--local",
            "--help",
            "--experimental-remote-ip",
            "--version",
        ] {
            assert!(text.contains(option), "{option}");
        }
    }
}

#[test]
fn the_proxy_role_has_its_own_words() {
    let call = call(ProgramName::Mosh, "--family=inet --fake-proxy -- example.org 22");
    let Ok(HostCall::FakeProxy { family, host, port }) = call else { panic!() };
    assert_eq!((&*family, &*host, &*port), ("inet", "example.org", "22"));
}
