use std::time::Duration;

use rove_bootstrap::{Sharing, TunnelUse, ssh_config};
use rove_udp::Refusal;

use super::*;
use crate::doctor::facts::{Aftermath, Far, Large, Logout, Path};
use crate::install::remedy::Remedy;
use crate::sessions;

/// Returns the facts of a path without faults.
fn well() -> Facts {
    Facts {
        here: Here {
            locale: Some(("LANG".to_owned(), "de_DE.UTF-8".to_owned())),
            terminal_type: None,
            no_socket: None,
            loopback_works: true,
        },
        host: Some(Host {
            name: "me@host".to_owned(),
            addresses: vec!["192.0.2.7".to_owned(), "2001:db8::7".to_owned()],
            far: Some(Far {
                path: "/usr/bin:/bin".to_owned(),
                charset: "UTF-8".to_owned(),
                locale: "C.UTF-8".to_owned(),
                server: "/usr/bin/rove".to_owned(),
                version: "rove 0.1.0".to_owned(),
                ..Far::default()
            }),
            server: Some(Server { port: 60_001, pid: Some(7), holds_ssh: false }),
            path: Some(answered()),
            ..Host::default()
        }),
    }
}

fn answered() -> Path {
    Path {
        tried: vec!["192.0.2.7:60001".parse().unwrap(), "10.0.0.7:60001".parse().unwrap()],
        answered: Some(0),
        sent: 1,
        round_trip: Some(Duration::from_millis(31)),
        up: Large::Pass(1252),
        down: Large::Pass(1252),
        rebinding: Some(true),
        forwards: Some(true),
        ..Path::default()
    }
}

fn silent(refusal: Option<Refusal>) -> Path {
    Path { tried: answered().tried, sent: 9, refusal, ..Path::default() }
}

/// Changes the facts of a path without faults by `change`. Returns the leg with a problem, and its detail and remedy.
fn verdict(change: impl FnOnce(&mut Facts)) -> (Option<&'static str>, String) {
    let mut facts = well();
    change(&mut facts);
    let diagnosis = diagnose(&facts);
    let problem = diagnosis.problem();
    if let Some(problem) = problem {
        assert!(problem.remedy.is_some(), "a problem without a remedy: {problem:?}");
    }
    let text = problem.map(|problem| format!("{}: {:?}", problem.detail, problem.remedy));
    (problem.map(|problem| problem.leg), text.unwrap_or_default())
}

/// Works as [`verdict`] does, for a change of the facts about the host.
fn of_host(change: impl FnOnce(&mut Host)) -> (Option<&'static str>, String) {
    verdict(|facts| change(facts.host.as_mut().unwrap()))
}

/// Works as [`verdict`] does, for a change of the facts about the UDP path.
fn of_path(change: impl FnOnce(&mut Path)) -> (Option<&'static str>, String) {
    of_host(|host| change(host.path.as_mut().unwrap()))
}

/// Works as [`verdict`] does, for a server that does not answer.
fn of_silence(
    refusal: Option<Refusal>,
    aftermath: Option<Aftermath>,
) -> (Option<&'static str>, String) {
    of_host(|host| (host.path, host.aftermath) = (Some(silent(refusal)), aftermath))
}

#[test]
fn where_all_is_well_every_leg_is_checked_and_fine() {
    let diagnosis = diagnose(&well());
    assert_eq!(diagnosis.problem(), None);
    let legs: Vec<&str> = diagnosis.checks.iter().map(|check| check.leg).collect();
    assert_eq!(
        legs.join(" "),
        "local-locale local-terminal local-udp ssh login-output server-program server-locale \
         server-start server-alive udp-out udp-back address datagram-size rebinding tunnel forwarding"
    );
    for check in &diagnosis.checks {
        assert_eq!(check.status, Status::Ok, "{check:?}");
    }
}

#[test]
fn every_leg_that_fails_is_named_with_what_to_do() {
    let far = |host: &mut Host| host.far = None;
    for ((leg, text), expected, part) in [
        (verdict(|f| f.here.no_socket = Some("EPERM".to_owned())), "local-udp", "EPERM"),
        (verdict(|f| f.here.loopback_works = false), "local-udp", "nft"),
        (of_host(|h| h.ssh = Ssh::Missing("cannot run x".to_owned())), "ssh", "--ssh"),
        (of_host(|h| h.ssh = Ssh::NoAddress("no such name".to_owned())), "ssh", "no such name"),
        (of_host(|h| h.ssh = Ssh::TimedOut), "ssh", "`ssh me@host true`"),
        (of_host(|h| h.ssh = Ssh::Failed), "ssh", "ssh -v me@host"),
        (of_host(|h| h.ssh = Ssh::Diverted), "ssh", "start-up file"),
        (
            of_host(|h| {
                (h.no_server_program, h.server) = (Some(Remedy::of("me@host".as_ref(), None)), None)
            }),
            "server-program",
            "/usr/bin:/bin",
        ),
        (of_host(|h| (h.locale_refused, h.server) = (true, None)), "server-locale", "locale -a"),
        (of_host(|h| (h.port_refused, h.server) = (true, None)), "server-start", "-p"),
        (of_host(|h| (h.no_address, h.server) = (true, None)), "server-start", "SSH_CONNECTION"),
        (of_host(|h| h.server = None), "server-start", "by hand"),
        (of_path(|p| p.answered = Some(1)), "address", "192.0.2.7 does not answer, but 10.0.0.7"),
        (of_path(|p| p.up = Large::Only { refused: 1252, passed: 500 }), "datagram-size", "1252"),
        (of_path(|p| p.up = Large::Stuck(Some(1252))), "datagram-size", "to the host"),
        (of_path(|p| p.down = Large::Stuck(None)), "datagram-size", "from the host"),
        (
            of_path(|p| p.down = Large::Only { refused: 1200, passed: 500 }),
            "datagram-size",
            "from the host, datagrams of 1200",
        ),
        (of_path(|p| p.rebinding = Some(false)), "rebinding", "after sleep"),
    ] {
        assert_eq!(leg, Some(expected), "{text}");
        assert!(text.contains(part), "{part} in {text}");
    }
    assert_eq!(of_host(far).0, None, "a host that tells nothing may be well");
}

#[test]
fn silence_is_told_apart_by_what_a_second_login_finds() {
    let found = |alive, heard| Some(Aftermath { alive, heard, bound: None });
    let (yes, no) = (Some(true), Some(false));
    for (refusal, aftermath, expected, part) in [
        (None, found(no, no), "server-alive", "loginctl enable-linger"),
        (Some(Refusal::Port), found(no, no), "server-alive", "gone since ssh has ended"),
        (None, found(yes, yes), "udp-back", "lets UDP out and not in"),
        (None, found(None, yes), "udp-back", "lets UDP out and not in"),
        (None, found(yes, no), "udp-out", "ufw allow"),
        (None, None, "udp-out", "dropped on the way"),
        (Some(Refusal::Port), found(yes, no), "udp-out", "though the server runs"),
        (Some(Refusal::Port), None, "udp-out", "either the server has ended"),
        (Some(Refusal::Host), found(yes, no), "udp-out", "a route is missing"),
        (Some(Refusal::Network), None, "udp-out", "no route"),
        (Some(Refusal::Here), None, "udp-out", "forbids outgoing UDP"),
        (Some(Refusal::Other("x".to_owned())), None, "udp-out", "fail: x"),
        (None, Some(Aftermath { bound: no, ..Aftermath::default() }), "server-alive", "gone"),
        (None, Some(Aftermath { bound: yes, ..Aftermath::default() }), "udp-out", "firewall"),
    ] {
        let case = format!("{refusal:?} {aftermath:?}");
        let (leg, text) = of_silence(refusal, aftermath);
        assert_eq!(leg, Some(expected), "{case}");
        assert!(text.contains(part), "{case}: {part} in {text}");
    }
    for (logout, seen, remedy) in [
        (Logout::Ends, "logind ends", "enable-linger"),
        (Logout::EndsThoughLingering, "logind ends", "dbus-user-session"),
        (Logout::Leaves, "is gone since", "a crash in the log"),
    ] {
        let (leg, text) = of_host(|host| {
            host.far.as_mut().unwrap().logout = Some(logout);
            (host.path, host.aftermath) = (Some(silent(None)), found(no, no));
        });
        assert_eq!(leg, Some("server-alive"), "{logout:?}");
        assert!(text.contains(seen) && text.contains(remedy), "{logout:?}: {text}");
    }
    let (leg, text) = of_host(|host| host.path = Some(Path { foreign: 1, ..silent(None) }));
    assert_eq!(leg, Some("udp-out"));
    assert!(text.contains("another session's key"), "{text}");
}

#[test]
fn a_named_server_says_nothing_about_rove_on_the_host() {
    let leg = |server: &str, rove: &str, version: &str| {
        let mut facts = well();
        let far = facts.host.as_mut().and_then(|host| host.far.as_mut()).unwrap();
        (far.server, far.rove) = (server.to_owned(), rove.to_owned());
        far.version = version.to_owned();
        let checks = diagnose(&facts).checks;
        let leg = checks.into_iter().find(|check| check.leg == "tunnel").unwrap();
        (leg.status, leg.detail)
    };
    let carries =
        "a session goes by UDP; where no UDP passes, --tunnel carries a session through ssh";
    let lacks = "where no UDP passes, --tunnel needs rove on the host, which it lacks";
    let stock = "mosh-server (mosh 1.4.0)";
    for (server, rove, version, expected) in [
        ("/usr/bin/rove", "/usr/bin/rove", "rove 0.1.0", (Status::Ok, carries)),
        ("/usr/bin/mosh-server", "", stock, (Status::Note, lacks)),
        ("", "/usr/bin/rove", stock, (Status::Ok, carries)),
        ("", "/usr/bin/rove", "", (Status::Ok, carries)),
        ("", "", stock, (Status::Note, lacks)),
        ("", "", "rove 0.1.0", (Status::Note, lacks)),
    ] {
        let (status, detail) = leg(server, rove, version);
        assert_eq!((status, &*detail), expected, "{server} {rove} {version}");
    }
}

#[test]
fn sessions_that_go_through_ssh_while_udp_is_silent_are_said_to_work() {
    let yes = Some(true);
    for (tunnel, aftermath, works) in [
        (Some(TunnelUse::Auto), Aftermath { alive: yes, ..Aftermath::default() }, true),
        (Some(TunnelUse::Always), Aftermath { alive: yes, heard: yes, bound: yes }, true),
        (Some(TunnelUse::Auto), Aftermath { alive: Some(false), ..Aftermath::default() }, false),
        (None, Aftermath { alive: yes, ..Aftermath::default() }, false),
    ] {
        let mut facts = well();
        let host = facts.host.as_mut().unwrap();
        (host.path, host.aftermath) = (Some(silent(None)), Some(aftermath));
        host.tunnel = tunnel;
        let diagnosis = diagnose(&facts);
        assert!(diagnosis.problem().is_some());
        let wanted = works.then(|| "sessions with me@host work through ssh".to_owned());
        assert_eq!(diagnosis.meanwhile, wanted, "{tunnel:?}");
        let detail = |leg| diagnosis.checks.iter().find(|check| check.leg == leg).unwrap();
        assert_eq!(detail("address").detail, "no answer came from 192.0.2.7 and 10.0.0.7");
        let unknown = "no answer says whether the server forwards connections";
        assert_eq!(detail("forwarding").detail, unknown);
    }
    assert_eq!(diagnose(&well()).meanwhile, None);
}

#[test]
fn legs_behind_one_that_fails_are_unchecked_and_say_why() {
    let mut facts = well();
    facts.host = Some(Host { ssh: Ssh::Failed, ..Host::default() });
    let diagnosis = diagnose(&facts);
    let at = diagnosis.checks.iter().position(|check| check.leg == "ssh").unwrap();
    for check in &diagnosis.checks[at + 1..] {
        assert_eq!(check.status, Status::Unchecked, "{check:?}");
        assert!(!check.detail.is_empty());
    }
}

#[test]
fn harmless_findings_are_notes() {
    let status = |change: fn(&mut Facts), leg: &str| {
        let mut facts = well();
        change(&mut facts);
        let diagnosis = diagnose(&facts);
        assert_eq!(diagnosis.problem(), None, "{leg}");
        diagnosis.checks.into_iter().find(|check| check.leg == leg).unwrap().status
    };
    for (change, leg) in [
        ((|f| f.here.locale = None) as fn(&mut Facts), "local-locale"),
        (|f| f.here.locale = Some(("LANG".into(), "C".into())), "local-locale"),
        (|f| f.here.terminal_type = Some("what?".into()), "local-terminal"),
        (|f| f.host.as_mut().unwrap().noise.lines = 2, "login-output"),
        (|f| f.host.as_mut().unwrap().noise.escapes = true, "login-output"),
        (|f| f.host.as_mut().unwrap().noise.fake = true, "login-output"),
        (
            |f| {
                let far = f.host.as_mut().unwrap().far.as_mut().unwrap();
                (far.locale, far.charset) = ("POSIX".into(), "ANSI_X3.4-1968".into());
            },
            "server-locale",
        ),
        (|f| f.host.as_mut().unwrap().server.as_mut().unwrap().holds_ssh = true, "server-start"),
        (
            |f| {
                let far = f.host.as_mut().unwrap().far.as_mut().unwrap();
                far.logout = Some(Logout::Ends);
            },
            "server-alive",
        ),
    ] {
        assert_eq!(status(change, leg), Status::Note, "{leg}");
    }
}

#[test]
fn ssh_words_lead_to_their_cause_even_when_a_consequence_follows() {
    for (said, line, part) in [
        (&["me@host: Permission denied (publickey)."][..], 0, "ssh-add"),
        (
            &[
                "rove: cannot connect to h port 22: Connection refused (os error 111)",
                "Connection closed by UNKNOWN port 65535",
            ],
            0,
            "sshd runs",
        ),
        (&["Welcome!", "Host key verification failed."], 1, "ssh-keygen -R"),
        (&["banner", "something new"], 1, "ssh -v host"),
    ] {
        let said: Vec<String> = said.iter().map(|line| (*line).to_owned()).collect();
        let (found, remedy) = ssh_words::explain(&said, "host");
        assert_eq!(found, Some(said[line].as_str()));
        assert!(remedy.contains(part) && !remedy.contains("{}"), "{remedy}");
    }
    assert_eq!(ssh_words::explain(&[], "host").0, None);
}

#[test]
fn the_agents_leg_names_why_a_session_would_lend_none() {
    let lent = |loan, agent: &str, version: &str| {
        of_host(|host| {
            let far = host.far.as_mut().unwrap();
            far.loan = loan;
            (far.agent, far.version) = (agent.to_owned(), version.to_owned());
        })
    };
    let (answers, silent) = (Some(Loan::Answers), Some(Loan::Silent));
    for (loan, agent, version, part) in [
        (silent, "/tmp/ssh-x/agent.1", "rove 0.1.0", "ssh-add"),
        (answers, "", "rove 0.1.0", "AllowAgentForwarding"),
        (answers, "/tmp/ssh-x/agent.1", "mosh-server (mosh 1.4.0)", "rove install"),
    ] {
        let (leg, text) = lent(loan, agent, version);
        assert!(leg == Some("agent") && text.contains(part), "{leg:?} {text}");
    }
    assert_eq!(lent(answers, "/tmp/ssh-x/agent.1", "rove 0.1.0").0, None);
    assert_eq!(lent(None, "", "rove 0.1.0").0, None);
}

#[test]
fn a_forward_that_the_host_does_not_carry_is_a_problem_if_it_is_asked_for() {
    let asked = |line: &str| ssh_config::parse(line, |_| Sharing::Unknown).forwards;
    let rules = |rules: &str| {
        let text = format!(r#"{{"version":1,"sessions":[],"rules":{rules}}}"#);
        Sessions::Listed(sessions::far::read(text.as_bytes()).unwrap())
    };
    let (open, listen) = (r#"{"permit-open":["h:80"]}"#, r#"{"permit-listen":["8080"]}"#);
    for (line, rules_of_host, part) in [
        ("localforward 1 [h]:80", open, ""),
        ("localforward 1 [h]:81", open, "-L 1:h:81 (permit-open)"),
        ("localforward 1 [h]:81", listen, ""),
        ("localforward 1 [h]:81", r#"{"permit-open":[],"later":1}"#, ""),
        ("dynamicforward 1", open, ""),
        ("remoteforward 8080 [h]:81", listen, ""),
        ("remoteforward 8081 [h]:81", listen, "-R 8081:h:81 (permit-listen)"),
        ("dynamicforward 1", r#"{"permit-open":[]}"#, "-D 1 reaches nothing"),
        ("dynamicforward 1", r#"{"permit-open":["/run/s"]}"#, "-D 1 reaches nothing"),
        ("dynamicforward 1", r#"{"permit-open":["none"]}"#, "-D 1 reaches nothing"),
        ("dynamicforward 1", r#"{"permit-open":["any"]}"#, ""),
        ("dynamicforward 1", r#"{"permit-open":["h:80","*"]}"#, ""),
        ("remoteforward [*]:1 [h]:81", "{}", "-R *:1:h:81 opens no port, because the host's"),
        ("remoteforward [192.0.2.1]:1 [h]:81", "{}", "gateway-ports = true"),
        ("remoteforward [192.0.2.1]:1 [h]:81", r#"{"gateway-ports":true}"#, ""),
        ("remoteforward [::1]:1 [h]:81", "{}", ""),
        ("remoteforward [name]:1 [h]:81", r#"{"gateway-ports":true}"#, "not at a name"),
        ("remoteforward 1 [socks]:0\npermitremoteopen none", "{}", "PermitRemoteOpen here"),
        ("remoteforward 1 [socks]:0\npermitremoteopen h:80", "{}", ""),
    ] {
        let (leg, text) = of_host(|host| {
            let far = host.far.as_mut().unwrap();
            (far.forwards, far.sessions) = (asked(line), rules(rules_of_host));
        });
        assert_eq!(leg, (!part.is_empty()).then_some("forwarding"), "{line}: {text}");
        assert!(text.contains(part), "{text}");
    }
    let mut facts = well();
    let far = facts.host.as_mut().and_then(|host| host.far.as_mut()).unwrap();
    (far.forwards, far.sessions) = (asked("dynamicforward 1"), rules(open));
    let checks = diagnose(&facts).checks;
    let last =
        checks.last().map(|it| (it.status, it.detail.contains("only the ports of permit-open")));
    assert_eq!(last, Some((Status::Note, true)));
    for (line, version, part) in [
        ("", "mosh-server (mosh 1.4.0)", ""),
        ("", "rove 0.1.0", ""),
        ("dynamicforward 1", "mosh-server (mosh 1.4.0)", "rove install"),
        ("remoteforward 1", "rove 0.1.0", "forbids streams"),
    ] {
        let (leg, text) = of_host(|host| {
            host.path.as_mut().unwrap().forwards = Some(false);
            let far = host.far.as_mut().unwrap();
            (far.forwards, far.version) = (asked(line), version.to_owned());
        });
        assert_eq!(leg, (!part.is_empty()).then_some("forwarding"), "{line}: {text}");
        assert!(text.contains(part), "{text}");
    }
    let (leg, text) = of_host(|host| {
        host.path.as_mut().unwrap().forwards = Some(false);
        let far = host.far.as_mut().unwrap();
        (far.loan, far.agent) = (Some(Loan::Answers), "/s".to_owned());
    });
    assert_eq!(leg, Some("agent"));
    assert!(text.contains("forbids streams"), "{text}");
}
