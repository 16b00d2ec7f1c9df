//! The end of a client: its exit code, and the message if the session ended unexpectedly.

use std::net::SocketAddr;

use rove_session::{ClientOutcome, ExitStatus, Outside};

/// Exit code of a session that failed. Source: Mosh 1.4.0 as observed, docs/wire.md.
pub(crate) const FAILURE: u8 = 1;

/// Returns the exit code of the command on the host, or 0 if it is unknown. Returns [`FAILURE`] if the session failed.
pub(crate) fn exit_code(outcome: ClientOutcome) -> u8 {
    match outcome {
        ClientOutcome::Ended(status) => status.map_or(0, ExitStatus::shell_code),
        _ => FAILURE,
    }
}

/// Returns the message about a session that neither its command nor its user has ended. `None` for other endings.
pub(crate) fn sentence(outcome: ClientOutcome, server: SocketAddr) -> Option<String> {
    let text = match outcome {
        ClientOutcome::Ended(Some(ExitStatus::Outside(outside))) => match outside {
            Outside::TakenOver(_) | Outside::Dismissed(_) => {
                "another client took the session over; it goes on there".to_owned()
            }
            Outside::Kill | Outside::Signal(_) | Outside::Silence => {
                format!("the session was ended on the host of {server}")
            }
        },
        ClientOutcome::Ended(_) => return None,
        ClientOutcome::NeverConnected => format!(
            "the server at {server} does not answer: see whether it still runs, whether a firewall passes \
             UDP port {}, and whether MOSH_KEY is the key that it printed",
            server.port()
        ),
        ClientOutcome::Unacknowledged => format!(
            "the server at {server} did not confirm the end of the session, so it may still run: `rove list` \
             on its host shows it, and `rove kill` ends it"
        ),
        ClientOutcome::Gone => format!(
            "the server at {server} is gone: its host refuses the UDP port; start a new session there"
        ),
        ClientOutcome::KeyExhausted => {
            "the session key has sealed all it safely may; start a new session".to_owned()
        }
    };
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_end_has_its_code_and_a_bad_one_its_sentence() {
        let server = "192.0.2.1:60005".parse().unwrap();
        let ended = |status| ClientOutcome::Ended(Some(status));
        for (outcome, code, part) in [
            (ClientOutcome::Ended(None), 0, None),
            (ended(ExitStatus::Code(3)), 3, None),
            (ended(ExitStatus::Signal(15)), 143, None),
            (ended(ExitStatus::Outside(Outside::Kill)), 143, Some("ended on the host")),
            (ended(ExitStatus::Outside(Outside::Dismissed(None))), 79, Some("goes on there")),
            (ClientOutcome::NeverConnected, 1, Some("UDP port 60005")),
            (ClientOutcome::Unacknowledged, 1, Some("`rove kill`")),
            (ClientOutcome::Gone, 1, Some("is gone")),
            (ClientOutcome::KeyExhausted, 1, Some("new session")),
        ] {
            assert_eq!(exit_code(outcome), code, "{outcome:?}");
            let said = sentence(outcome, server);
            assert_eq!(said.is_some(), part.is_some(), "{outcome:?}");
            assert!(said.unwrap_or_default().contains(part.unwrap_or_default()), "{outcome:?}");
        }
    }
}
