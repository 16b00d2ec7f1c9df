//! Logs in again to carry datagrams, by an ssh that may ask the user on the terminal.

use std::io;

use rove_platform::event_loop::EventLoop;
use rustix::process::Signal;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};

use crate::ssh_reaper::SshReaper;
use crate::tunnel::inherited::{ASKS_NOTHING, TELLS};
use crate::tunnel::ssh::{Look, Ssh};

/// Words in front of an ssh command that make ssh ignore SIGHUP, so that it still carries the session's orderly end.
const OUTLIVING: [&str; 4] = ["sh", "-c", "trap '' HUP; exec \"$@\"", "rove"];

/// The result of a login.
pub(super) struct Login {
    /// The ssh that carries datagrams, or why there is none; `Err(None)` if Ctrl-C or a signal cancelled it.
    pub(super) outcome: Result<Ssh, Option<String>>,
    /// The ssh that has failed, which the caller must end. `None` after a success, or if ssh did not start.
    pub(super) ending: Option<SshReaper>,
    /// The signals that arrived during the login.
    pub(super) signals: Vec<i32>,
}

/// Logs in by the command `again`, changed so that ssh may ask the user. Waits until the login succeeds or ends.
pub(super) fn run(
    again: &[String],
    first_line: &str,
    events: &mut EventLoop,
    buffer: &mut [u8],
) -> io::Result<Login> {
    let mut signals = Vec::new();
    let mut ssh = match Ssh::start(&asking(again), first_line, true) {
        Ok(ssh) => ssh,
        Err(error) => {
            let outcome = Err(Some(error.to_string()));
            return Ok(Login { outcome, ending: None, signals });
        }
    };
    let mut reaper: Option<SshReaper> = None;
    let outcome = loop {
        events.wait(&mut ssh.interests(), reaper.as_ref().map(SshReaper::poll_timeout))?;
        signals.extend(events.take_signals());
        if reaper.is_none() && is_breaking_off(&signals) {
            reaper = ssh.process.reaper(events.now());
        }
        // A datagram that arrives during the login is lost, as on any path.
        let look = ssh.look(buffer, |_| ());
        if let Some(reaper) = &mut reaper {
            // ssh may have changed the terminal's modes to ask, and restores them when it ends. After this function the
            // client sets the session's modes, which ssh must not undo.
            if ssh.process.is_silent() {
                break Err(None);
            }
            let signal = reaper.poll_signal(events.now());
            signal.into_iter().for_each(|signal| ssh.process.signal(signal));
            if signal == Some(Signal::KILL) {
                break Err(None);
            }
            continue;
        }
        match look {
            Look::Open if ssh.stands() => break Ok(()),
            Look::Open => {}
            Look::Ended(reason) => {
                // Ctrl-C also ends ssh. The event loop may have noticed ssh's end, but not yet the signal.
                events.look(&mut [])?;
                signals.extend(events.take_signals());
                if is_breaking_off(&signals) {
                    break Err(None);
                }
                let said = ssh.last_words();
                let reason = reason.or((!said.is_empty()).then_some(said));
                break Err(Some(reason.unwrap_or_else(|| "ssh said nothing".to_owned())));
            }
        }
    };
    let ending = if outcome.is_err() { ssh.process.release(events.now()) } else { None };
    Ok(Login { outcome: outcome.map(|()| ssh), ending, signals })
}

/// Returns whether a signal cancels a login.
fn is_breaking_off(signals: &[i32]) -> bool {
    signals.iter().any(|it| [SIGINT, SIGTERM, SIGHUP].contains(it))
}

/// Returns the command of an ssh that may ask the user, made from the command that never asks.
fn asking(again: &[String]) -> Vec<String> {
    let position = again.windows(2).rposition(|pair| pair == ASKS_NOTHING);
    let (before, behind) = again.split_at(position.unwrap_or(0));
    let behind = if position.is_some() { &behind[ASKS_NOTHING.len()..] } else { behind };
    let behind = behind.strip_prefix(&[TELLS.to_owned()]).unwrap_or(behind);
    let words = before.iter().chain(behind).map(String::as_str);
    OUTLIVING.into_iter().chain(words).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_word_against_questions_is_left_out() {
        for (again, words) in [
            (
                "ssh -o ControlMaster=no -o BatchMode=yes -T host -- x",
                "ssh -o ControlMaster=no -T host -- x",
            ),
            ("ssh -o BatchMode=yes -p 2 -o BatchMode=yes h", "ssh -o BatchMode=yes -p 2 h"),
            ("ssh -v -o BatchMode=yes -v -T h", "ssh -v -T h"),
            ("ssh host", "ssh host"),
        ] {
            let again: Vec<String> = again.split(' ').map(str::to_owned).collect();
            let words: Vec<String> = words.split(' ').map(str::to_owned).collect();
            assert_eq!(asking(&again)[OUTLIVING.len()..], words);
        }
    }
}
