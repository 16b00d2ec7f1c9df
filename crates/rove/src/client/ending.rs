//! The end of a client: its exit code, and the sentences that tell the user why it ended and how to go on.

use std::net::SocketAddr;

use rove_bootstrap::{ProgramName, quote};
use rove_session::{ClientOutcome, Dismissal, ExitStatus, MissingLines, Outside};

/// Exit code of a session that failed. Source: Mosh 1.4.0 as observed, docs/wire.md.
pub(super) const FAILURE: u8 = 1;

/// Returns the sentence about a session that failed. `None` after an orderly end. `silence` returns the sentence about
/// a server that never answered.
pub(super) fn failure(
    outcome: ClientOutcome,
    name: ProgramName,
    server: SocketAddr,
    host: Option<&str>,
    silence: impl FnOnce() -> String,
) -> Option<String> {
    let host = host.unwrap_or("HOST").escape_debug();
    match (outcome, name) {
        (ClientOutcome::Ended(_), _) => None,
        (ClientOutcome::NeverConnected, _) => Some(silence()),
        (ClientOutcome::Unacknowledged, ProgramName::Rove) => Some(format!(
            "the server at {server} did not confirm the end of the session, so it may still be running: \
             `rove list {host}` shows it there, and `rove kill {host} {}` ends it. If UDP no longer passes, \
             `rove --tunnel {host}` does, and `rove doctor {host}` says what fails.",
            server.port()
        )),
        (ClientOutcome::Unacknowledged, ProgramName::Mosh) => Some(format!(
            "the server at {server} did not confirm the end of the session, so it may still be \
             running: log in and look for it with `pgrep -l 'mosh-server|rove'`."
        )),
        (ClientOutcome::Gone, _) => Some(format!(
            "the server at {server} is gone: its host refuses the UDP port. `rove list {host}` shows \
             what still runs there; log in again for a new session."
        )),
        (ClientOutcome::KeyExhausted, _) => {
            Some("the session key has sealed all it safely may; start a new session.".to_owned())
        }
    }
}

/// Returns the sentence about what ended this client. The cause is a signal to client or server, `rove kill`, a long
/// silence, another client that took over, or the dismissal of a joined client. `None` if the program was called as
/// `mosh`, or if the client ended in another way.
pub(super) fn ended_by(
    outcome: ClientOutcome,
    name: ProgramName,
    signal: Option<i32>,
) -> Option<String> {
    let outside = match outcome {
        ClientOutcome::Ended(Some(ExitStatus::Outside(outside))) => outside,
        _ if name == ProgramName::Rove => {
            return signal
                .map(|signal| format!("{} ended this client and its session", named(signal)));
        }
        _ => return None,
    };
    let by = match outside {
        Outside::Kill => "`rove kill` on the host".to_owned(),
        Outside::Signal(signal) => {
            format!("{}, sent to its server on the host", named(signal.into()))
        }
        Outside::Silence => {
            "its server, as nothing was heard of this client for too long".to_owned()
        }
        Outside::TakenOver(by) => {
            let from = by.map_or(String::new(), |by| format!(" from {}", by.to_canonical()));
            let sentence = format!("another rove{from} took the session over; it goes on there");
            return (name == ProgramName::Rove).then_some(sentence);
        }
        Outside::Dismissed(reason) => {
            let reason = match reason {
                Some(Dismissal::Wanted) => "its own client has ended this one",
                Some(Dismissal::Unseen) => "its own client shows nobody who joins",
                Some(Dismissal::Silence) => "this one was silent for too long",
                None => {
                    "its own client has ended this one, or shows nobody who joins, or this one was silent for too long"
                }
            };
            let sentence = format!("the session goes on without this client: {reason}");
            return (name == ProgramName::Rove).then_some(sentence);
        }
    };
    (name == ProgramName::Rove).then(|| format!("the session was ended by {by}"))
}

/// Returns stock Mosh's message about a server that never answered. Source: Mosh 1.4.0 as observed.
pub(super) fn stock_silence(server: SocketAddr) -> String {
    format!(
        "did not make a successful connection to {server}.\nPlease verify that UDP port {port} is not \
         firewalled and can reach the server.\n\n(By default, mosh uses a UDP port between 60000 and \
         61000. The -p option\nselects a specific UDP port number.)",
        port = server.port()
    )
}

/// Returns the exit code. Under the name `rove`, it is the session's, if known. Else, it is 128 and the number of the
/// signal that ended this client. Otherwise, and as `mosh`, it is 0 after an orderly end, else [`FAILURE`].
pub(super) fn exit_code(outcome: ClientOutcome, name: ProgramName, signal: Option<i32>) -> u8 {
    let by_signal = signal.and_then(|signal| u8::try_from(signal).ok()).map(ExitStatus::Signal);
    match (outcome, name) {
        (ClientOutcome::Ended(status), ProgramName::Rove) => {
            status.or(by_signal).map_or(0, ExitStatus::shell_code)
        }
        // Stock Mosh exits with 0 after an orderly end, whatever the command's exit code is.
        (ClientOutcome::Ended(_), ProgramName::Mosh) => 0,
        (_, ProgramName::Rove) => by_signal.map_or(FAILURE, ExitStatus::shell_code),
        (_, ProgramName::Mosh) => FAILURE,
    }
}

/// Returns advice about a command that was probably meant for a shell. `None` for other commands.
pub(super) fn shell_hint(command: &str, host: &str) -> Option<String> {
    let words = shell_words::split(command).ok()?;
    let [line] = words.as_slice() else { return None };
    quote::is_for_a_shell(line).then(|| {
        let with_a_shell = quote::with_a_shell(line);
        format!("commands are run without a shell; with one: rove {host} -- {with_a_shell}")
    })
}

/// Returns the sentence about lines of a command's output that did not arrive, and how to get them.
pub(super) fn missing_output(
    missing: MissingLines,
    (host, command): (&str, &str),
    is_strict: bool,
) -> String {
    // The command is quoted, because two shells split it: first this computer's shell, then the host's shell.
    let command = shell_words::quote(command);
    let ssh = format!("`ssh {host} {command}` prints them all");
    match missing {
        MissingLines::Count(1) => format!("1 screen row of the output was not kept; {ssh}"),
        MissingLines::Count(count) => {
            format!("{count} screen rows of the output were not kept; {ssh}")
        }
        MissingLines::AboveLastScreen => {
            let cause = match is_strict {
                true => "stock Mosh's protocol (--strict) carries none".to_owned(),
                false => format!(
                    "its server sends and counts none (`rove install {host}` puts one there that does)"
                ),
            };
            format!(
                "the lines that scrolled off above the last screen are missing, as {cause}; {ssh}"
            )
        }
    }
}

fn named(signal: i32) -> String {
    let name = signal_hook::low_level::signal_name(signal);
    name.map_or_else(|| format!("signal {signal}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use rove_udp::Refusal;

    use super::*;
    use crate::doctor;

    #[test]
    fn the_exit_code_is_the_commands_between_two_roves_and_stocks_otherwise() {
        let ended = |status| ClientOutcome::Ended(status);
        for (outcome, rove, mosh) in [
            (ended(None), 0, 0),
            (ended(Some(ExitStatus::Code(0))), 0, 0),
            (ended(Some(ExitStatus::Code(3))), 3, 0),
            (ended(Some(ExitStatus::Signal(15))), 143, 0),
            (ended(Some(ExitStatus::Outside(Outside::Kill))), 143, 0),
            (ended(Some(ExitStatus::Outside(Outside::Signal(2)))), 130, 0),
            (ClientOutcome::NeverConnected, 1, 1),
            (ClientOutcome::Unacknowledged, 1, 1),
            (ClientOutcome::KeyExhausted, 1, 1),
            (ClientOutcome::Gone, 1, 1),
        ] {
            assert_eq!(exit_code(outcome, ProgramName::Rove, None), rove, "{outcome:?}");
            assert_eq!(exit_code(outcome, ProgramName::Mosh, None), mosh, "{outcome:?}");
        }
        for (outcome, rove, mosh) in [
            (ended(None), 143, 0),
            (ended(Some(ExitStatus::Code(3))), 3, 0),
            (ClientOutcome::Unacknowledged, 143, 1),
        ] {
            assert_eq!(exit_code(outcome, ProgramName::Rove, Some(15)), rove, "{outcome:?}");
            assert_eq!(exit_code(outcome, ProgramName::Mosh, Some(15)), mosh, "{outcome:?}");
        }
    }

    #[test]
    fn an_end_from_outside_names_what_it_was() {
        let (rove, mosh) = (ProgramName::Rove, ProgramName::Mosh);
        let outside = |by| ClientOutcome::Ended(Some(ExitStatus::Outside(by)));
        for (outcome, signal, part) in [
            (outside(Outside::Kill), None, "ended by `rove kill`"),
            (outside(Outside::Signal(15)), None, "ended by SIGTERM, sent to its server"),
            (outside(Outside::Signal(200)), None, "ended by signal 200, "),
            (outside(Outside::Silence), None, "for too long"),
            (outside(Outside::TakenOver(None)), None, "another rove took the session over"),
            (
                outside(Outside::TakenOver(Some([192, 0, 2, 9].into()))),
                None,
                "another rove from 192.0.2.9 took the session over",
            ),
            (
                outside(Outside::Dismissed(Some(Dismissal::Wanted))),
                None,
                "goes on without this client: its own client has ended this one",
            ),
            (outside(Outside::Dismissed(None)), None, "this one, or shows nobody who joins, or"),
            (ClientOutcome::Ended(None), Some(15), "SIGTERM ended this client"),
        ] {
            let text = ended_by(outcome, rove, signal).unwrap();
            assert!(text.contains(part), "{text}");
            assert_eq!(ended_by(outcome, mosh, signal), None);
        }
        let ended = ClientOutcome::Ended(Some(ExitStatus::Code(0)));
        assert_eq!(ended_by(ended, rove, None), None);
        assert_eq!(ended_by(ClientOutcome::Ended(None), rove, None), None);
    }

    #[test]
    fn a_line_for_a_shell_is_explained_and_a_command_is_not() {
        let hint = shell_hint("'ls | wc'", "host");
        assert!(hint.unwrap().ends_with("with one: rove host -- sh -c 'ls | wc'"));
        for command in ["", "ls -l", "sh -c 'ls | wc'", "'"] {
            assert_eq!(shell_hint(command, "host"), None, "{command}");
        }
    }

    #[test]
    fn lines_that_are_missing_are_counted_and_the_command_that_prints_them_is_named() {
        let above = MissingLines::AboveLastScreen;
        for (missing, command, parts) in [
            (
                MissingLines::Count(1200),
                "seq 9000",
                ["1200 screen rows of the output were not kept", "`ssh me@host 'seq 9000'`"],
            ),
            (
                MissingLines::Count(1),
                "dmesg",
                ["1 screen row of the output was not kept", "`ssh me@host dmesg`"],
            ),
            (
                above,
                "sh -c 'a | b'",
                ["`rove install me@host`", r"`ssh me@host 'sh -c '\''a | b'\'''`"],
            ),
        ] {
            let text = missing_output(missing, ("me@host", command), false);
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            assert!(!text.contains('\n'), "{text}");
        }
        // With `--strict` the server may be a rove, so no other server is the remedy.
        let strict = missing_output(above, ("me@host", "ls"), true);
        assert!(strict.contains("--strict") && !strict.contains("install"), "{strict}");
    }

    #[test]
    fn a_failure_names_the_address_and_what_to_do() {
        let server = "192.0.2.1:60005".parse().unwrap();
        for (refusal, host, parts) in [
            (None, Some("me@host"), ["192.0.2.1", "60005", "firewall", "`rove doctor me@host`"]),
            (Some(Refusal::Port), None, ["192.0.2.1", "60005", "refuse", "`rove doctor HOST`"]),
        ] {
            let silence = || doctor::one_line(vec![server], refusal.as_ref(), host, None);
            let never = ClientOutcome::NeverConnected;
            let text = failure(never, ProgramName::Rove, server, host, silence).unwrap();
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            assert!(!text.contains('\n') && !text.contains("later login"), "{text}");
        }
        let rove =
            |outcome| failure(outcome, ProgramName::Rove, server, Some("me@host"), String::new);
        for (outcome, parts) in [
            (
                ClientOutcome::Unacknowledged,
                &["may still be running", "`rove list me@host`", "`rove kill me@host 60005`"][..],
            ),
            (ClientOutcome::Unacknowledged, &["`rove --tunnel me@host`", "`rove doctor me@host`"]),
            (ClientOutcome::Gone, &["is gone", "log in again", "`rove list me@host`"]),
        ] {
            let text = rove(outcome).unwrap();
            assert!(parts.iter().all(|part| text.contains(part)), "{text}");
        }
        assert_eq!(rove(ClientOutcome::Ended(None)), None);
        let mosh =
            failure(ClientOutcome::Unacknowledged, ProgramName::Mosh, server, None, String::new);
        assert!(mosh.unwrap().contains("pgrep"));
    }

    #[test]
    fn a_client_of_a_running_session_that_hears_nothing_is_told_of_a_later_login_first() {
        let server = "192.0.2.1:60005".parse().unwrap();
        let (by, host) = (Some("rove attach --view"), Some("me@host"));
        let first = "do: repeat `rove attach --view me@host`, because a later login";
        let udp = |refusal| doctor::one_line(vec![server], refusal, host, by);
        let ssh = |refusal, reason| doctor::tunnel_line(60005, refusal, reason, (by, host));
        for (text, other) in [(udp(None), "firewall"), (ssh(None, ""), "`ssh -T HOST rove tunnel")]
        {
            let (_, rest) = text.split_once(first).expect(&text);
            assert!(rest.contains("If that stays silent, ") && rest.contains(other), "{text}");
        }
        // If the reason for the silence is known, no sentence names a later login as the reason.
        let refused = Some(&Refusal::Port);
        for text in [udp(refused), ssh(refused, ""), ssh(None, "it was killed")] {
            assert!(!text.contains("later login"), "{text}");
        }
    }

    #[test]
    fn called_mosh_a_silent_server_is_reported_in_stocks_words() {
        let text = stock_silence("127.0.0.1:60998".parse().unwrap());
        assert!(text.starts_with("did not make a successful connection to 127.0.0.1:60998.\n"));
        assert!(text.contains("UDP port 60998 is not firewalled"));
    }
}
