use rove_bootstrap::{BindServer, RemoteIp, Resume, WantedSession};

use super::*;
use crate::cli::help::BRIEF;

fn call(name: ProgramName, line: &str) -> Result<HostCall, UsageError> {
    parse(name, line.split_whitespace().map(OsString::from).collect(), || Ok(Config::default()))
}

/// Parses a command line of `rove` with the configuration `file`.
fn call_with(file: &str, line: &str) -> Result<HostCall, UsageError> {
    let words = line.split_whitespace().map(OsString::from).collect();
    let config = Config::parse(file.as_bytes());
    let config = config.map_err(|fault| UsageError::without_usage(fault.sentence))?;
    parse(ProgramName::Rove, words, || Ok(config))
}

fn connected(call: Result<HostCall, UsageError>) -> HostOptions {
    match call {
        Ok(HostCall::Connect(options)) => *options,
        other => panic!("{other:?}"),
    }
}

fn connect(name: ProgramName, line: &str) -> HostOptions {
    connected(call(name, line))
}

#[test]
fn a_forward_to_a_host_of_the_name_socks_is_refused_because_ssh_prints_it_as_socks() {
    for line in [
        "-L 1080:socks:1080 h",
        "-Lb:1080:socks:80 h",
        "-N -L1:h:2 -L 3:socks:4 h",
        "-L 1080:socks:http h",
        "-L socks:1080:[socks]:80 h",
    ] {
        let error = call(ProgramName::Rove, line).unwrap_err();
        assert!(error.message.contains("of the name socks as -D"), "{line}: {error:?}");
    }
    for line in
        ["-L 1080:socks.:1080 h", "-L socks:1:h:2 h", "-D 1080 h", "-R 1:socks:2 h", "-L /a:h:1 h"]
    {
        assert!(call(ProgramName::Rove, line).is_ok(), "{line}");
    }
}

#[test]
fn defaults_are_stocks() {
    let options = connect(ProgramName::Mosh, "me@host");
    let expected = HostOptions {
        no_program: false,
        background: false,
        session: WantedSession::New,
        name: ProgramName::Mosh,
        client: None,
        server: None,
        choices: Choices::default(),
        family: "prefer-inet".to_owned(),
        port: None,
        bind_server: BindServer::Ssh,
        ssh: vec!["ssh".to_owned()],
        ssh_pty: true,
        local: false,
        tunnel: TunnelUse::Never,
        remote_ip: None,
        escape_key: None,
        quiet: false,
        verbose: false,
        install: InstallPolicy::Ask,
        agent: AgentUse::Notify,
        prompt_memory: true,
        detached: DetachedUse::Hint,
        config: None,
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
        ("-a -n h", Preference::Never),
        ("-n --predict=always h", Preference::Always),
        ("--predict=never -a h", Preference::Always),
    ] {
        assert_eq!(connect(ProgramName::Mosh, line).choices.predict, predict, "{line}");
    }
    for (line, scrollback, init) in [
        ("h", None, true),
        ("--scrollback h", Some(true), false),
        ("--scrollback --no-scrollback h", Some(false), true),
        ("--no-init h", None, false),
    ] {
        let options = connect(ProgramName::Rove, line);
        assert_eq!(
            (options.choices.scrollback, options.choices.init),
            (scrollback, init),
            "{line}"
        );
    }
    for (line, init) in [("--no-init --init h", true), ("--init --noinit h", false)] {
        assert_eq!(connect(ProgramName::Mosh, line).choices.init, init, "{line}");
    }
    let options = connect(ProgramName::Mosh, "-p 5 -o --no-predict-overwrite -p 6:7 h");
    assert_eq!((options.port.as_deref(), options.choices.predict_overwrite), (Some("6:7"), false));
}

#[test]
fn values_keep_their_meaning() {
    let options = connect(ProgramName::Rove, "--bind-server=ANY --escape-key=^] --strict h a -p b");
    assert_eq!(options.bind_server, BindServer::Any);
    assert_eq!(options.escape_key, Some(Some(0x1d)));
    assert!(options.choices.strict);
    assert_eq!(options.command, ["a", "-p", "b"]);
    let words = ["--ssh", "ssh -p '22 2' a\\ b", "--bind-server=::1", "h"].map(OsString::from);
    let call = parse(ProgramName::Mosh, words.to_vec(), || Ok(Config::default()));
    let options = connected(call);
    assert_eq!(options.ssh, ["ssh", "-p", "22 2", "a b"]);
    assert_eq!(options.bind_server, BindServer::Address("::1".to_owned()));
}

#[test]
fn roves_own_users_read_one_form_of_sentence() {
    for (line, sentence, has_usage) in [
        ("", "no host is named", true),
        ("-l far", "no host is named", true),
        (
            "--predict=x h",
            "--predict is one of adaptive, always, never, experimental, not \"x\"",
            true,
        ),
        (
            "-p 70000 h",
            "--port: \"70000\" is neither a UDP port from 0 to 65535 nor a range such as 60001:60010",
            false,
        ),
        ("-p 6:5 h", "--port: \"6:5\" is neither a UDP port ", false),
        ("-p ssh h", "--port: \"ssh\" is neither a UDP port ", false),
        (
            "--bind-server=eth0 h",
            "--bind-server is ssh, any or a numeric IP address, not \"eth0\"",
            false,
        ),
        (
            "--family=ipv6 h",
            "--family is one of inet, inet6, prefer-inet, prefer-inet6, all, auto, not \"ipv6\"",
            false,
        ),
        (
            "--controller=vegas h",
            "--controller is one of low-delay, ledbat, cubic, new-reno, sprout-ack, not \"vegas\"",
            false,
        ),
    ] {
        let error = call(ProgramName::Rove, line).unwrap_err();
        assert!(error.message.starts_with(sentence), "{line}: {}", error.message);
        assert_eq!(error.usage.is_some(), has_usage, "{line}");
    }
    // Stock `mosh` accepts any word.
    let options = connect(ProgramName::Mosh, "--bind-server=eth0 h");
    assert_eq!(options.bind_server, BindServer::Address("eth0".to_owned()));
}

#[test]
fn errors_are_told_in_one_sentence() {
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
            "--experimental-remote-ip is one of proxy, remote, local, not \"x\"",
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
        ("--escape-key=^C h", "^C cannot be the escape key", false),
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
fn rove_refuses_a_host_that_a_shell_would_interpret_and_mosh_passes_it_on() {
    for host in
        ["a`id`", "a;id", "a|id", "$(id)", "a&b", "a>b", "me@a'b", "a\"b", "a\\b", "{a}", "a\u{1}b"]
    {
        let error = call(ProgramName::Rove, host).unwrap_err();
        assert!(error.message.ends_with("is not a host name"), "{}", error.message);
        assert!(call(ProgramName::Mosh, host).is_ok(), "{host}");
    }
    for host in ["a", "me@[fe80::1%eth0]", "do\\main@host", "a-b_c.example", "münchen.example"] {
        assert!(call(ProgramName::Rove, host).is_ok(), "{host}");
    }
}

#[test]
fn help_precedes_version_and_both_precede_every_check() {
    assert!(matches!(call(ProgramName::Mosh, "--version --help -p x"), Ok(HostCall::Help(_))));
    assert!(matches!(call(ProgramName::Mosh, "-v --predict=x"), Ok(HostCall::Version)));
    for name in [ProgramName::Mosh, ProgramName::Rove] {
        let line = if name == ProgramName::Rove { "--help-all" } else { "-h" };
        let text = match call(name, line) {
            Ok(HostCall::Help(text)) => text,
            Ok(HostCall::HelpAll) => MANUAL.help(),
            other => panic!("{other:?}"),
        };
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
    for (line, wanted) in [
        ("example.org 22", (None, false, None)),
        ("example.org 22 0ab1", (Some("0ab1"), false, None)),
        ("example.org 22 0ab1 hand-over", (Some("0ab1"), true, None)),
        ("example.org 22 0ab1 hand-over 5", (Some("0ab1"), true, Some(5))),
    ] {
        let call = call(ProgramName::Mosh, &format!("--family=inet --fake-proxy -- {line}"));
        let Ok(HostCall::FakeProxy(call)) = call else { panic!() };
        assert_eq!((&*call.family, &*call.host, &*call.port), ("inet", "example.org", "22"));
        assert_eq!((call.word.as_deref(), call.hands_over, call.seconds_max), wanted);
    }
}

/// A configuration that sets every key but `tunnel`.
const FILE: &str = "port = 5\npredict = 'never'\nfamily = 'inet6'\nssh = 'ssh -v'\nserver = 'x'\nno-init = true\nscrollback = true\n\
                 strict = true\nescape-key = '^]'\ntitle-prefix = false\nterminal-query = false\ninstall = 'never'\n\
                 read-copied = true\nresume = 'reboot'\nprompt-memory = false\nattach = 'newest'\nagent = 'confirm'\nshare = false\nsize = '80x24'\ncontroller = 'cubic'\npredict-overwrite = true\nno-ssh-pty = true\nbind-server = 'any'\nexperimental-remote-ip = 'local'\nclient = 'y'\n[host.other]\nport = 7\n";

fn with_file(line: &str) -> HostOptions {
    connected(call_with(FILE, line))
}

#[test]
fn the_file_holds_where_the_line_says_nothing() {
    let expected = HostOptions {
        no_program: false,
        background: false,
        session: WantedSession::New,
        name: ProgramName::Rove,
        client: Some("y".into()),
        server: Some("x".into()),
        choices: Choices {
            predict: Preference::Never,
            predict_overwrite: true,
            init: false,
            scrollback: Some(true),
            title_prefix: false,
            query: false,
            read_copied: true,
            share: false,
            size: Some("80x24".to_owned()),
            controller: Some("cubic".to_owned()),
            resume: Resume::Reboot,
            strict: true,
        },
        family: "inet6".to_owned(),
        port: Some("5".to_owned()),
        bind_server: BindServer::Any,
        ssh: vec!["ssh".to_owned(), "-v".to_owned()],
        ssh_pty: false,
        local: false,
        tunnel: TunnelUse::Auto,
        remote_ip: Some(RemoteIp::Local),
        escape_key: Some(Some(0x1d)),
        quiet: false,
        verbose: false,
        install: InstallPolicy::Never,
        agent: AgentUse::Confirm,
        prompt_memory: false,
        detached: DetachedUse::Newest,
        config: None,
        host: "host".into(),
        command: Vec::new(),
    };
    assert_eq!(with_file("host"), expected);
    assert_eq!(with_file("me@other").port.as_deref(), Some("7"));
}

#[test]
fn the_line_comes_before_the_file() {
    let from_line = with_file(
        "--port=6 -a -4 --ssh=ssh --server=z --init --ssh-pty --no-strict --no-predict-overwrite \
         --escape-key=none --bind-server=ssh --experimental-remote-ip=proxy --client=c --size=typist --controller=ledbat host",
    );
    let expected = HostOptions {
        client: Some("c".into()),
        server: Some("z".into()),
        choices: Choices {
            predict: Preference::Always,
            title_prefix: false,
            query: false,
            read_copied: true,
            share: false,
            size: Some("typist".to_owned()),
            controller: Some("ledbat".to_owned()),
            resume: Resume::Reboot,
            ..Choices::default()
        },
        family: "inet".to_owned(),
        port: Some("6".to_owned()),
        bind_server: BindServer::Ssh,
        ssh: vec!["ssh".to_owned()],
        ssh_pty: true,
        remote_ip: Some(RemoteIp::Proxy),
        escape_key: Some(None),
        ..with_file("host")
    };
    assert_eq!(from_line, expected);
}

#[test]
fn the_environment_comes_before_the_file() {
    let config = Config::parse(b"predict = 'never'\nescape-key = '^]'\nport = 5").unwrap();
    let settings = config.for_host("host".as_ref());
    let command = command(ProgramName::Rove);
    let args = HostArgs::take(ProgramName::Rove, &command, vec!["host".into()]).unwrap();
    assert_eq!(args.words_of(&settings, &command, |_| true), ["--port=5"]);
    let all = ["--escape-key=^]", "--port=5", "--predict=never"];
    assert_eq!(args.words_of(&settings, &command, |_| false), all);
}

#[test]
fn a_wrong_file_stops_a_session_but_neither_help_nor_the_proxy_role() {
    let call = |line: &str| {
        let words = line.split_whitespace().map(OsString::from).collect();
        parse(ProgramName::Rove, words, || {
            Err(ConfigError::Faulty(vec!["config.toml:1: wrong".to_owned()]))
        })
    };
    assert_eq!(call("host").unwrap_err().message, "config.toml:1: wrong");
    for line in ["--help", "--version", "--fake-proxy -- host 22"] {
        assert!(call(line).is_ok(), "{line}");
    }
}

#[test]
fn quiet_and_verbose_are_roves_own_and_no_abbreviation_means_them() {
    for (line, quiet, verbose) in [
        ("-q h", true, false),
        ("h --quiet", true, false),
        ("--verbose h", false, true),
        ("-q --verbose h", false, true),
        ("--verbose -q h", true, false),
    ] {
        let options = connect(ProgramName::Rove, line);
        assert_eq!((options.quiet, options.verbose), (quiet, verbose), "{line}");
    }
    for (name, line) in [
        (ProgramName::Rove, "-V"),
        (ProgramName::Rove, "--versi"),
        (ProgramName::Mosh, "-v"),
        (ProgramName::Mosh, "--ver"),
    ] {
        assert!(matches!(call(name, line), Ok(HostCall::Version)), "{line}");
    }
    for line in ["-q h", "--qui h"] {
        let error = call(ProgramName::Mosh, line).unwrap_err();
        assert!(error.message.starts_with("Unknown option: q"), "{}", error.message);
    }
}

#[test]
fn options_of_ssh_go_to_ssh_and_to_nothing_else() {
    let plain = connect(ProgramName::Rove, "h");
    for (line, ssh) in [
        ("-i key h", "ssh -i key"),
        ("-l alice h", "ssh -l alice"),
        ("h -l alice", "ssh -l alice"),
        ("-J jump h", "ssh -J jump"),
        ("-F file -v h", "ssh -F file -v"),
        ("-o A=b h", "ssh -o A=b"),
    ] {
        let options = connect(ProgramName::Rove, line);
        let expected =
            HostOptions { ssh: ssh.split(' ').map(str::to_owned).collect(), ..plain.clone() };
        assert_eq!(options, expected, "{line}");
    }
    let Ok(HostCall::AskSsh { ssh, host }) = call(ProgramName::Rove, "-G -F f h") else { panic!() };
    assert_eq!((ssh.join(" "), host), ("ssh -F f".to_owned(), "h".into()));
    for line in ["-t h", "-T h", "-e x h"] {
        let error = call(ProgramName::Rove, line).unwrap_err();
        assert_eq!(error.usage, None, "{line}");
        assert!(error.message.starts_with(&line[..2]), "{line}: {}", error.message);
    }
    // Under the name `mosh`, the same letters mean what they mean in stock `mosh`.
    assert_eq!(connect(ProgramName::Mosh, "-A h").choices.predict, Preference::Always);
    assert!(connect(ProgramName::Mosh, "-l h").local);
}

#[test]
fn forwards_are_words_for_ssh_where_a_session_can_carry_them() {
    for (line, ssh, forwards) in [
        ("-L 1:h:2 -gD 3 h", "ssh -L 1:h:2 -g -D 3", true),
        ("-R 0:h:2 -R 9 h", "ssh -R 0:h:2 -R 9", true),
        ("-L1:h:2 --session x h", "ssh -L 1:h:2", true),
        ("-A h", "ssh -A", true),
        ("h", "ssh", true),
        ("--strict h", "ssh", false),
        ("--local 127.0.0.1", "ssh", false),
        ("--client=x h", "ssh", false),
        ("--ssh=dbclient h", "dbclient", false),
    ] {
        let options = connect(ProgramName::Rove, line);
        assert_eq!(
            (options.ssh.join(" "), options.forwards()),
            (ssh.to_owned(), forwards),
            "{line}"
        );
    }
    assert!(!connect(ProgramName::Mosh, "h").forwards());
    assert!(connect(ProgramName::Rove, "-N -L 1:h:2 h").no_program);
    assert!(connect(ProgramName::Rove, "-NL1:h:2 h").no_program);
    for (line, background) in [("-N -f -L 1:h:2 h", true), ("-fNL1:h:2 h", true), ("-N h", false)] {
        assert_eq!(connect(ProgramName::Rove, line).background, background, "{line}");
    }
    for line in ["-f h", "-f -L 1:h:2 h", "-f -W x:1 h"] {
        let error = call(ProgramName::Rove, line).unwrap_err();
        assert!(error.message.starts_with("-f: "), "{line}: {error:?}");
    }
    for line in ["--strict -N h", "-N --client=x h", "-N --session x h", "-N h ls", "-fNW x:1 h"] {
        let error = call(ProgramName::Rove, line).unwrap_err();
        assert!(error.message.starts_with("-N: "), "{line}: {error:?}");
    }
    for (line, part) in [
        ("--strict -L 1:h:2 h", "--strict speaks nothing else"),
        ("--local -D 1 127.0.0.1", "--local"),
        ("--strict -R 1:h:2 h", "--strict speaks nothing else"),
        ("--client=x -D 1 h", "no client but rove's own"),
        ("--ssh=dbclient -L 1:h:2 h", "--ssh names another program"),
    ] {
        let error = call(ProgramName::Rove, line).unwrap_err();
        assert!(
            error.message.starts_with("-L, -R, -D: ") && error.message.contains(part),
            "{error:?}"
        );
    }
    let error = call(ProgramName::Rove, "--strict -A h").unwrap_err();
    assert!(error.message.starts_with("-A: "), "{error:?}");
}

#[test]
fn the_user_that_a_letter_names_counts_for_the_configuration() {
    let file = "[host.'alice@h']\nport = 60010";
    for (line, port) in [
        ("-l alice h", Some("60010")),
        ("alice@h", Some("60010")),
        ("-l bob h", None),
        ("-l alice -l bob h", Some("60010")),
        ("-l alice bob@h", Some("60010")),
    ] {
        assert_eq!(connected(call_with(file, line)).port.as_deref(), port, "{line}");
    }
}

#[test]
fn the_words_of_a_way_lead_another_login_the_same_way() {
    for line in [
        "h",
        "-4 --no-tunnel h",
        "--family=prefer-inet6 --tunnel h",
        "--experimental-remote-ip=local --no-ssh-pty h",
    ] {
        let first = connect(ProgramName::Rove, line);
        let second = connect(ProgramName::Rove, &format!("{} h", first.way_words().join(" ")));
        assert_eq!(second, first, "{line}");
    }
}

#[test]
fn ssh_obeys_the_line_before_the_configuration() {
    for (set, line, ssh) in [
        ("ssh -p 2 -l bob", "-l alice -o Port=3 h", "ssh -l alice -o Port=3 -p 2 -l bob"),
        ("nice ssh -p 2", "-l alice h", "nice ssh -l alice -p 2"),
        // If one of these options is repeated, ssh obeys the last.
        ("ssh -F a -p 2", "-F b -A -S none -i k h", "ssh -i k -F a -p 2 -F b -A -S none"),
        // ssh refuses a second `-J`.
        ("ssh -J a -p 2", "-J b h", "ssh -J b -p 2"),
        ("ssh -Ja -p 2", "-J b h", "ssh -J b -p 2"),
        ("ssh -J a -p 2", "-l alice h", "ssh -l alice -J a -p 2"),
        ("plink -J a", "-J b h", "plink -J a -J b"),
        // The options of one command line keep the user's order.
        ("ssh -p 2", "--ssh='ssh -l bob' -l alice h", "ssh -l bob -l alice"),
    ] {
        let file = format!("[host.h]\nssh = '{set}'");
        let words = shell_words::split(line).unwrap().into_iter().map(OsString::from).collect();
        let call = parse(ProgramName::Rove, words, || Ok(Config::parse(file.as_bytes()).unwrap()));
        assert_eq!(connected(call).ssh.join(" "), ssh, "{set}: {line}");
    }
}

#[test]
fn a_udp_port_that_was_meant_for_ssh_is_explained() {
    for (name, line, is_explained) in [
        (ProgramName::Rove, "-p 22 h", true),
        (ProgramName::Rove, "-p 1023 h", true),
        (ProgramName::Rove, "-p 1024 h", false),
        (ProgramName::Rove, "-p 0 h", false),
        (ProgramName::Rove, "-p 22:60 h", false),
        (ProgramName::Mosh, "-p 22 h", false),
    ] {
        let hint = connect(name, line).port_hint();
        assert_eq!(hint.is_some(), is_explained, "{line}");
        assert!(hint.is_none_or(|hint| hint.contains("--ssh=\"ssh -p ")), "{line}");
    }
}

#[test]
fn a_tunnel_is_asked_for_by_line_or_file_and_needs_ssh_and_our_client() {
    let file = "tunnel = true\n[host.near]\ntunnel = false\n[host.ours]\nclient = 'x'\n[host.auto]\ntunnel = 'auto'";
    use TunnelUse::{Always, Auto, Never};
    for (file, line, wanted) in [
        ("", "h", Ok(Auto)),
        ("", "--tunnel h", Ok(Always)),
        ("", "--tunnel --no-tunnel h", Ok(Never)),
        ("", "--no-tunnel --tunnel=auto h", Ok(Auto)),
        ("", "--tunnel=false h", Ok(Never)),
        ("", "--tunnel=sometimes h", Err("sometimes")),
        (file, "h", Ok(Always)),
        (file, "--no-tunnel h", Ok(Never)),
        (file, "--tunnel=auto h", Ok(Auto)),
        (file, "near", Ok(Never)),
        (file, "auto", Ok(Auto)),
        (file, "--tunnel auto", Ok(Always)),
        ("tunnel = 'sometimes'", "h", Err("tunnel is true, false or \"auto\"")),
        ("", "--tunnel --local ::1", Err("--local")),
        ("", "--tunnel --client=x h", Err("--client")),
        (file, "ours", Err("setting client")),
    ] {
        match (call_with(file, line), wanted) {
            (Err(error), Err(part)) => assert!(error.message.contains(part), "{line}: {error:?}"),
            (found, wanted) => assert_eq!(Ok(connected(found).tunnel), wanted, "{line}"),
        }
    }
}

#[test]
fn the_brief_help_fits_one_screen_and_names_nothing_that_there_is_not() {
    // The help leaves the last of 24 rows to the prompt.
    assert!(BRIEF.lines().count() <= 23 && BRIEF.lines().all(|line| line.len() <= 80), "{BRIEF}");
    let all = MANUAL.help();
    for word in BRIEF.split([' ', '=', ',', ':', '\n']).filter(|word| word.starts_with('-')) {
        assert!(all.contains(word), "{word}");
    }
    for line in ["--help", "-h"] {
        assert!(matches!(call(ProgramName::Rove, line), Ok(HostCall::Help(text)) if text == BRIEF));
    }
    assert!(matches!(call(ProgramName::Rove, "--help-all"), Ok(HostCall::HelpAll)));
    assert!(all.contains("--help-all"));
    assert!(call(ProgramName::Mosh, "--help-all").is_err());
    let Ok(HostCall::Help(mosh)) = call(ProgramName::Mosh, "--hel") else { panic!() };
    assert!(mosh.contains("--experimental-remote-ip") && !mosh.contains("help-all"));
}

#[test]
fn a_connection_is_carried_with_the_options_of_a_login_and_nothing_of_a_session() {
    let carried = |line: &str| match call(ProgramName::Rove, line) {
        Ok(HostCall::Carry(options, target)) => {
            (options.ssh.join(" "), options.host, target.to_string())
        }
        other => panic!("{line}: {other:?}"),
    };
    for (line, ssh, target) in [
        ("-W host:22 gate", "ssh", "host:22"),
        ("-Whost:22 gate", "ssh", "host:22"),
        ("-NW host:22 gate", "ssh", "host:22"),
        ("-W /run/a.sock gate", "ssh", "/run/a.sock"),
        ("-q -i key -4 gate -W [::1]:22", "ssh -q -i key", "[::1]:22"),
    ] {
        assert_eq!(carried(line), (ssh.to_owned(), "gate".into(), target.to_owned()), "{line}");
    }
    for (line, sentence) in [
        ("-W host:0 gate", "-W: \"0\" is neither"),
        ("-W -x:22 gate", "-W: the host \"-x\" begins"),
        ("-W host:22", "no host is named"),
        ("-W host:22 -- -oProxyCommand=x", "\"-oProxyCommand=x\" is not a host name"),
        ("-W host:22 --strict gate", "-W: stock Mosh carries no connections"),
        ("-W host:22 --local 127.0.0.1", "-W: no session starts"),
        ("-W host:22 --session x gate", "-W: no session starts"),
        ("-W host:22 gate true", "-W: no command runs"),
    ] {
        let error = call(ProgramName::Rove, line).unwrap_err();
        assert!(error.message.starts_with(sentence), "{line}: {error:?}");
    }
    assert!(call_with("strict = true", "-W host:22 gate").is_err());
    // Stock `mosh` has no `-W`.
    let error = call(ProgramName::Mosh, "-W host:22 gate").unwrap_err();
    assert!(error.message.contains("Unknown option: w"), "{error:?}");
}
