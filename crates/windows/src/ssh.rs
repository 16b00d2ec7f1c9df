//! Runs ssh. Two threads read its output streams, and a third waits for its end. So a loop can wait for all three.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{self, SyncSender};
use std::thread;

use rove_bootstrap::startup::Stream;
use rove_units::Duration;

/// Most bytes read from a stream at once. Chosen: the longest announcement and banner fit.
const READ_LEN: usize = 4096;

/// Most pieces of ssh's output that wait to be read. Chosen: 64 kB, as much as a pipe holds on other systems.
const PIECES_MAX: usize = 16;

/// Longest wait for each piece of output after ssh has ended. Usually the end of the output ends the wait, but a
/// process that ssh has started may hold the pipes open. Chosen: longer than the reading threads wait for a processor.
const AFTERMATH: Duration = Duration::from_secs(2);

/// Most pieces of output that are read after ssh has ended. Chosen: twice as many as may wait when ssh ends.
const AFTERMATH_PIECES_MAX: usize = 2 * PIECES_MAX;

enum News {
    Said(Stream, Vec<u8>),
    Ended(io::Result<ExitStatus>),
}

/// Runs a command until it ends. Gives it no input, and passes its output to `take`. Returns the exit status.
///
/// # Errors
///
/// Returns the error if the system cannot start the command or wait for it.
pub(crate) fn run(
    command: &mut Command,
    mut take: impl FnMut(Stream, &[u8]),
) -> io::Result<ExitStatus> {
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let news = watch(command.spawn()?);
    let mut status = None;
    let mut pieces = 0;
    loop {
        let next = match status {
            None => news.recv().ok(),
            Some(_) if pieces == AFTERMATH_PIECES_MAX => None,
            Some(_) => news.recv_timeout(AFTERMATH).ok(),
        };
        match next {
            Some(News::Said(stream, bytes)) => {
                pieces += usize::from(status.is_some());
                take(stream, &bytes);
            }
            Some(News::Ended(ended)) => status = Some(ended?),
            None => return Ok(status.expect("the end is reported first")),
        }
    }
}

/// Starts three threads that report the output, the errors and the end of a child. Returns the receiver of the reports.
fn watch(mut child: Child) -> mpsc::Receiver<News> {
    let (sender, news) = mpsc::sync_channel(PIECES_MAX);
    if let Some(output) = child.stdout.take() {
        report(Stream::Output, output, sender.clone());
    }
    if let Some(errors) = child.stderr.take() {
        report(Stream::Errors, errors, sender.clone());
    }
    thread::spawn(move || sender.send(News::Ended(child.wait())));
    news
}

/// Starts a thread that reports the bytes of a stream until the stream ends or the receiver is dropped.
fn report(stream: Stream, mut source: impl Read + Send + 'static, sender: SyncSender<News>) {
    thread::spawn(move || {
        let mut bytes = [0; READ_LEN];
        while let Ok(len @ 1..) = source.read(&mut bytes) {
            if sender.send(News::Said(stream, bytes[..len].to_vec())).is_err() {
                break;
            }
        }
    });
}

/// Splits the value of `--ssh` at blanks outside of double quotes. A backslash is an ordinary character, as in paths.
pub(crate) fn words(text: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word: Option<String> = None;
    let mut is_quoted = false;
    for character in text.chars() {
        match character {
            '"' => {
                is_quoted = !is_quoted;
                word.get_or_insert_default();
            }
            ' ' | '\t' if !is_quoted => words.extend(word.take()),
            character => word.get_or_insert_default().push(character),
        }
    }
    words.extend(word);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    fn output_of(script: &str) -> ([Vec<u8>; 2], ExitStatus) {
        let mut read: [Vec<u8>; 2] = Default::default();
        let take = |stream: Stream, bytes: &[u8]| read[stream as usize].extend(bytes);
        let status = run(Command::new("sh").args(["-c", script]), take).expect("sh runs");
        (read, status)
    }

    #[cfg(unix)]
    #[test]
    fn both_streams_are_read_to_the_end_and_the_status_is_known() {
        let (read, status) = output_of("echo one; echo two >&2; head -c 300000 /dev/zero; exit 3");
        assert_eq!(status.code(), Some(3));
        assert_eq!(read[Stream::Errors as usize], b"two\n");
        let output = &read[Stream::Output as usize];
        assert!(output.starts_with(b"one\n"));
        assert_eq!(output.len(), 300_004);
    }

    #[cfg(unix)]
    #[test]
    fn output_that_comes_after_the_end_is_read() {
        let (read, status) = output_of("(sleep 0.4; echo late) & exit 5");
        assert_eq!((status.code(), &read[Stream::Output as usize][..]), (Some(5), &b"late\n"[..]));
    }

    #[cfg(unix)]
    #[test]
    fn a_process_left_behind_keeps_nobody() {
        for left in ["sleep 600", "yes"] {
            let name = format!("rove-left-{}-{}", std::process::id(), &left[..3]);
            let file = std::env::temp_dir().join(name);
            let (_, status) = output_of(&format!("{left} & echo $! >{}; exit 4", file.display()));
            assert_eq!(status.code(), Some(4));
            let id = std::fs::read_to_string(&file).unwrap();
            Command::new("kill").arg(id.trim()).status().unwrap();
            std::fs::remove_file(file).unwrap();
        }
    }

    #[test]
    fn a_path_of_windows_stays_whole() {
        for (text, split) in [
            ("ssh", &["ssh"][..]),
            (r"C:\Windows\ssh.exe  -p 22", &[r"C:\Windows\ssh.exe", "-p", "22"]),
            (r#""C:\Program Files\ssh.exe" -v"#, &[r"C:\Program Files\ssh.exe", "-v"]),
            (r#"a"b c"d """#, &["ab cd", ""]),
            (" \t", &[]),
            ("", &[]),
        ] {
            assert_eq!(words(text), split, "{text}");
        }
    }
}
