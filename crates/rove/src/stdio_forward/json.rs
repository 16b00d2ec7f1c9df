//! `rove exec --json`: runs the call as a child process, and prints its output, exit status and error messages as lines
//! of JSON.
//!
//! The child's standard error has the messages of rove and ssh. A [`Channel`] of two more descriptors carries the
//! standard error of the program on the host, and messages about the program's end and the network.

use std::env;
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::mpsc;
use std::thread;

use anyhow::Context;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rove_platform::signals;
use rustix::io::{FdFlags, fcntl_setfd};
use rustix::process::{Pid, Signal, kill_process};
use rustix::stdio;
use serde_json::{Value, json};
use signal_hook::consts::{SIGHUP, SIGINT, SIGQUIT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::share::message::{FAILURE, SIGNALLED, Word, line};
use crate::splice::unwritten;
use crate::sys;

/// The environment variable that names the channel's descriptors to the child.
const VARIABLE: &str = "ROVE_EXEC_JSON";

/// The version number of the JSON lines. It changes if existing fields change.
const VERSION: u32 = 1;

/// Most bytes of output in a JSON line. Chosen: the capacity of a pipe.
const PIECE_MAX: usize = 64 * 1024;

/// Longest error message that stays in one JSON line, in bytes. Chosen: several screens.
const TROUBLE_MAX: u64 = 16 * 1024;

/// Longest wait for the last error messages after the child's end, because a background process of the child may keep
/// standard error open. Chosen: the messages are in the pipe already.
const LAST_WORDS: core::time::Duration = core::time::Duration::from_secs(1);

/// The ends of both pipes that the child of `rove exec --json` inherits.
#[derive(Debug)]
pub(crate) struct Channel {
    errors: OwnedFd,
    words: OwnedFd,
}

impl Channel {
    /// Returns whether this process is the child of a `rove exec --json`.
    pub(crate) fn is_there() -> bool {
        env::var_os(VARIABLE).is_some()
    }

    /// Returns the channel that this process has inherited, if any, and makes it close on exec. Call this only once.
    pub(crate) fn take() -> Option<Self> {
        let names = env::var(VARIABLE).ok()?;
        let (errors, words) = names.split_once(' ')?;
        let take = |name: &str| {
            let (number, inode) = name.split_once(':')?;
            // If ssh starts another `rove exec`, that process inherits the variable, but not the descriptors.
            let is_ours =
                fs::metadata(format!("/dev/fd/{number}")).ok()?.ino().to_string() == inode;
            sys::take_descriptor(number.parse().ok().filter(|_| is_ours)?)
        };
        Some(Self { errors: take(errors)?, words: take(words)? })
    }

    /// Returns the descriptor for the standard error of the program on the host.
    pub(crate) fn errors(&self) -> io::Result<OwnedFd> {
        self.errors.try_clone()
    }

    /// Sends a message about the program or the network.
    pub(crate) fn say(&self, word: &Word) {
        // An error is ignored, because the reader may be gone.
        let _ = rustix::io::write(&self.words, &line(word));
    }

    /// Reports that ssh will run the program, and makes `errors` this process's standard error, which ssh inherits.
    pub(crate) fn leave_to_ssh(&self) {
        self.say(&Word::NotCarried);
        let _ = stdio::dup2_stderr(&self.errors);
    }
}

/// Runs `rove exec` with these words as a child. Returns the same exit code as without `--json`.
pub(crate) fn run(args: &[OsString]) -> anyhow::Result<u8> {
    let [(errors, errors_end), (words, words_end)] = [pipe()?, pipe()?];
    let program = env::current_exe().context("rove does not find itself")?;
    let mut child = Command::new(program)
        .arg0("rove")
        .arg("exec")
        .args(args)
        .env(VARIABLE, format!("{} {}", name(&errors_end)?, name(&words_end)?))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start rove")?;
    drop((errors_end, words_end));
    pass_signals_on(&child)?;
    let mut printed = print(&json!({ "version": VERSION }));
    let output = child.stdout.take().context("the output is piped")?;
    let outputs = [
        thread::spawn(move || tell_bytes("stdout", output)),
        thread::spawn(move || tell_bytes("stderr", File::from(errors))),
    ];
    let trouble = child.stderr.take().context("the errors are piped")?;
    let (is_over, over) = mpsc::channel();
    thread::spawn(move || {
        tell_trouble(trouble);
        let _ = is_over.send(());
    });
    let end = thread::spawn(move || follow(File::from(words)));
    let code = child.wait().context("the child cannot be waited for")?.code();
    for output in outputs {
        // A thread that has panicked has printed a message.
        printed = printed.and(output.join().unwrap_or(Ok(())));
    }
    let end = end.join().ok().flatten();
    let _ = over.recv_timeout(LAST_WORDS);
    let code = code.and_then(|code| u8::try_from(code).ok()).unwrap_or(FAILURE);
    let (last, code) = last_line(end, code);
    // As with ssh, a program's own failure is reported also if its output was lost.
    let is_failure = code > 0 && last.get("exit").is_some();
    match printed.and(print(&last)).err().and_then(|error| unwritten(&error)) {
        Some(loss) if !is_failure => Ok(Word::Failed(vec![loss]).conclude()),
        _ => Ok(code),
    }
}

/// Returns the last line, and the exit code, from the child's last message and the child's exit code.
fn last_line(end: Option<Word>, code: u8) -> (Value, u8) {
    match end {
        Some(Word::Code(code)) => (json!({ "exit": code }), code),
        Some(Word::Signal(signal)) => {
            (json!({ "signal": signal }), SIGNALLED.saturating_add(signal))
        }
        // ssh exits with the program's code, or with 255 after an error of its own.
        Some(Word::NotCarried) if code != FAILURE => (json!({ "exit": code }), code),
        _ => (json!({ "lost": true }), code),
    }
}

/// Makes a pipe whose writing end a child inherits.
fn pipe() -> io::Result<(OwnedFd, OwnedFd)> {
    let (reader, writer) = io::pipe()?;
    fcntl_setfd(&writer, FdFlags::empty())?;
    Ok((reader.into(), writer.into()))
}

/// Returns the number of a descriptor, and its inode, by which the child recognises it.
fn name(descriptor: &OwnedFd) -> io::Result<String> {
    Ok(format!("{}:{}", descriptor.as_raw_fd(), rustix::fs::fstat(descriptor)?.st_ino))
}

/// Passes the signals that end a call on to the child.
fn pass_signals_on(child: &Child) -> io::Result<()> {
    let pid = Pid::from_child(child);
    let mut signals = Signals::new(signals::heard(&[SIGTERM, SIGINT, SIGHUP, SIGQUIT]))?;
    thread::spawn(move || {
        for signal in signals.forever() {
            // If the terminal has sent the signal, the child gets a second signal, which does no harm.
            let _ = Signal::from_named_raw(signal).map(|signal| kill_process(pid, signal));
        }
    });
    Ok(())
}

/// Prints a value as a line, in one write.
fn print(value: &Value) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(&line(value))?;
    stdout.flush()
}

/// Returns the JSON value for bytes of the stream `name`, with the bytes in base64.
fn piece(name: &str, bytes: &[u8]) -> Value {
    json!({ name: STANDARD.encode(bytes) })
}

/// Prints the bytes of a stream until its end. If printing fails, closes the stream, so that the program's writes fail.
///
/// # Errors
///
/// Returns the error of the line that was not printed.
fn tell_bytes(name: &str, mut from: impl Read) -> io::Result<()> {
    let mut buffer = vec![0; PIECE_MAX];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(len) => print(&piece(name, &buffer[..len]))?,
            Err(error) if error.kind() != io::ErrorKind::Interrupted => return Ok(()),
            Err(_) => {}
        }
    }
}

/// Prints each message of rove and ssh.
fn tell_trouble(from: impl Read) {
    let mut from = BufReader::new(from);
    let mut text = Vec::new();
    while from.by_ref().take(TROUBLE_MAX).read_until(b'\n', &mut text).is_ok_and(|len| len > 0) {
        let sentence = String::from_utf8_lossy(&text);
        let _ = print(&json!({ "trouble": rove_terminal::plain(sentence.trim_end()) }));
        text.clear();
    }
}

/// Prints the child's messages about the network, to their end. Returns the last message about the program, if any.
fn follow(from: impl Read) -> Option<Word> {
    let mut end = None;
    for text in BufReader::new(from).split(b'\n').map_while(Result::ok) {
        let network = match serde_json::from_slice(&text) {
            Ok(Word::Dark) => "dark",
            Ok(Word::Back) => "back",
            Ok(word) => {
                end = Some(word);
                continue;
            }
            Err(_) => continue,
        };
        let _ = print(&json!({ "network": network }));
    }
    end
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn any_bytes_come_back_from_their_line(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let line = line(&piece("stdout", &bytes));
            let (end, rest) = line.split_last().expect("a line has an end");
            prop_assert!(*end == b'\n' && rest.iter().all(|byte| (b' '..=b'~').contains(byte)));
            let read: Value = serde_json::from_slice(&line).expect("it is JSON");
            let text = read["stdout"].as_str().expect("it is text");
            prop_assert_eq!(STANDARD.decode(text).expect("it is base64"), bytes);
        }
    }

    #[test]
    fn the_last_line_tells_a_program_from_a_lost_connection() {
        for (end, code, last, exit) in [
            (Some(Word::Code(255)), 255, json!({ "exit": 255 }), 255),
            (Some(Word::Signal(15)), 143, json!({ "signal": 15 }), 143),
            (Some(Word::NotCarried), 7, json!({ "exit": 7 }), 7),
            (Some(Word::NotCarried), 255, json!({ "lost": true }), 255),
            (Some(Word::Failed(Vec::new())), 255, json!({ "lost": true }), 255),
            (None, 10, json!({ "lost": true }), 10),
        ] {
            assert_eq!(last_line(end, code), (last, exit));
        }
    }
}
