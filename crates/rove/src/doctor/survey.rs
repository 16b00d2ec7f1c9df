//! The survey is sh code that runs on the host during the login for the trial session, before the server starts. It
//! prints lines such as:
//!
//! ```text
//! ROVE DOCTOR path /usr/local/bin:/usr/bin:/bin
//! ```

use std::ffi::OsString;

use rove_bootstrap::{Challenge, remote};

use crate::doctor::facts::{Aftermath, Far, Logout, Sessions};
use crate::sessions;

/// Beginning of the lines that the survey prints.
const MARKER: &str = "ROVE DOCTOR ";

/// The first line of the survey, followed by this run's random word (challenge). Earlier lines are of start-up files.
const BEGIN: &str = "ROVE DOCTOR begin";

/// An sh function that prints a line of the survey: a name and a value without line breaks.
const SAY: &str = r#"d() { echo "ROVE DOCTOR $*"; }; "#;

/// sh code that lets the host's rove print the user's sessions. It avoids `echo`, because `echo` interprets the list's
/// backslashes in some shells.
const SESSIONS: &str = "; if [ \"$s\" = \"$p\" ]; then printf 'ROVE DOCTOR sessions '; \
                        \"$p\" list --json 2>/dev/null </dev/null || echo; fi";

/// sh code that prints the path of the first rove that is found. A tunnel needs that rove, whichever server is used.
const ROVE: &str = "if [ -z \"$s\" ]; then s=\"$p\"; d rove \"$(command -v \"$p\")\"; fi";

/// sh code that prints what systemd-logind does at logout with processes that this user leaves behind. It prints
/// nothing without logind. A login without `XDG_SESSION_ID` is unknown to logind, which then ends no processes.
const LEFTOVERS: &str = r#"u=$(id -un 2>/dev/null);
    k=$(busctl --timeout=2 get-property org.freedesktop.login1 /org/freedesktop/login1 org.freedesktop.login1.Manager
    KillUserProcesses KillOnlyUsers KillExcludeUsers 2>/dev/null);
    case "$k" in "b true"*) e=stay; o=${k%as *};
    case "$XDG_SESSION_ID/${k##*as }" in /*|*"\"$u\""*) ;; *) case "$o" in *"as 0"*|*"\"$u\""*) e=end;; esac;; esac;
    case "$e $(loginctl show-user "$u" -p Linger 2>/dev/null)" in "end Linger=yes") e="end lingering";; esac;
    d leftovers $e;; "b "*) d leftovers stay;; esac; "#;

/// Longest value kept from the survey (except the session list), in characters. Chosen: several times a usual PATH.
const VALUE_LEN_MAX: usize = 4096;

/// Returns the survey's sh code. It looks for the server program if `searches` is true, or else only for rove. The
/// first output is a line break, because a start-up file may have left a line incomplete. If the host lacks a program
/// that the survey runs, a line or its value is missing.
pub(crate) fn script(challenge: &Challenge, searches: bool) -> String {
    let found = "if [ -z \"$s\" ]; then s=\"$p\"; d server \"$(command -v \"$p\")\"; \
                 d version \"$(\"$p\" --version 2>/dev/null </dev/null | \
                 (IFS= read -r v; echo \"$v\"))\"; fi";
    format!(
        "{SAY}s=; echo; d begin {challenge}; d path \"$PATH\"; \
         d charset \"$(locale charmap 2>/dev/null)\"; \
         d locale \"${{LC_ALL:-${{LC_CTYPE:-$LANG}}}}\"; \
         d system \"$(uname -sr 2>/dev/null)\"; \
         d agent \"$SSH_AUTH_SOCK\"; {} {}",
        LEFTOVERS.split_whitespace().collect::<Vec<_>>().join(" "),
        match searches {
            true => remote::search(&format!("{found}{SESSIONS}"), found),
            false => remote::search(ROVE, ":"),
        }
    )
}

/// Returns the sessions in the output of `rove list --json`: `Unknown` if it is empty, `Unreadable` if malformed.
fn listed(listing: &str) -> Sessions {
    match sessions::far::read(listing.as_bytes()) {
        _ if listing.is_empty() => Sessions::Unknown,
        Some(listing) => Sessions::Listed(listing),
        None => Sessions::Unreadable,
    }
}

/// Returns whether `line` is the first line of the output of the survey or of [`aftermath_script`].
pub(crate) fn begins(challenge: &Challenge, line: &str) -> bool {
    challenge.answer(BEGIN, line) == Some("")
}

/// Stores in `far` the fact that a line of the survey states. Returns whether the line belongs to the survey.
pub(crate) fn take(line: &str, far: &mut Far) -> bool {
    let Some((name, value)) = entry(line) else { return false };
    let (value, listing) = (printable(value), value);
    match name {
        "path" => far.path = value,
        "charset" => far.charset = value,
        "locale" => far.locale = value,
        "system" => far.system = value,
        "agent" => far.agent = value,
        "server" => far.server = value,
        "rove" => far.rove = value,
        "version" => far.version = value,
        "sessions" => far.sessions = listed(listing),
        "leftovers" => {
            far.logout = match value.as_str() {
                "end" => Some(Logout::Ends),
                "end lingering" => Some(Logout::EndsThoughLingering),
                _ => Some(Logout::Leaves),
            }
        }
        _ => {}
    }
    true
}

/// The program of the trial session. It creates a file, the mark, which shows that the server has received a datagram
/// of the client. Then it reads lines without echo, if possible. `show` prints all of them, and `end` ends the program.
const SESSION: &str = r#"
    set -C; : > "$1"; trap 'rm -f "$1"' EXIT HUP TERM;
    if stty -echo 2>/dev/null; then echo READY QUIET; else echo READY LOUD; fi;
    t=; while IFS= read -r l; do case "$l" in
        show) echo "$t"; echo SHOWN;;
        again) echo AGAIN;;
        end) exit 0;;
        *) t="$t$l";;
    esac; done"#;

/// sh code that enters the folder of the mark: `/tmp`, or the home directory where that is missing (Android).
const TO_MARK: &str = "cd /tmp 2>/dev/null || cd; ";

/// Returns the command of the trial session; `mark` is the name of the file that the command creates on the host.
pub(crate) fn session_command(mark: &str) -> Vec<OsString> {
    // The script is a single line, because a line break cannot be quoted for every login shell.
    let script = TO_MARK.to_owned() + &SESSION.split_whitespace().collect::<Vec<_>>().join(" ");
    ["sh", "-c", &script, "sh", mark].map(OsString::from).to_vec()
}

/// Returns sh code that looks for traces of a server that does not answer, and ends that server if `pid` is known.
///
/// No text from the host becomes part of the code.
pub(crate) fn aftermath_script(
    challenge: &Challenge,
    mark: &str,
    port: u16,
    pid: Option<u32>,
) -> String {
    let pid = pid.map_or_else(String::new, |pid| {
        format!("if kill -0 {pid} 2>/dev/null; then d alive yes; kill {pid}; else d alive no; fi; ")
    });
    format!(
        "{SAY}{TO_MARK}echo; d begin {challenge}; if [ -e \"{mark}\" ]; then d heard yes; else d heard no; fi; {pid}\
         rm -f \"{mark}\"; \
         if [ -r /proc/net/udp ]; then b=no; \
         for f in /proc/net/udp /proc/net/udp6; do if [ -r $f ]; then \
         while read -r n a r; do case \"$a\" in *:{port:04X}) b=yes;; esac; done < $f; fi; done; \
         d bound $b; fi"
    )
}

/// Reads the output of [`aftermath_script`], which may follow other output.
pub(crate) fn aftermath(challenge: &Challenge, output: &str) -> Aftermath {
    let mut aftermath = Aftermath::default();
    let lines = output.lines().skip_while(|line| !begins(challenge, line.trim_ascii_end()));
    for (name, value) in lines.filter_map(entry) {
        match name {
            "alive" => aftermath.alive = Some(value == "yes"),
            "heard" => aftermath.heard = Some(value == "yes"),
            "bound" => aftermath.bound = Some(value == "yes"),
            _ => {}
        }
    }
    aftermath
}

/// Returns the name and the value in a line of the survey. `None` for other lines.
fn entry(line: &str) -> Option<(&str, &str)> {
    let line = line.strip_prefix(MARKER)?.trim_ascii_end();
    Some(line.split_once(' ').unwrap_or((line, "")))
}

/// Returns the text without control characters, cut off at [`VALUE_LEN_MAX`].
pub(crate) fn printable(text: &str) -> String {
    rove_terminal::plain(text).chars().take(VALUE_LEN_MAX).collect()
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::process::{Command, Stdio};

    use super::*;

    fn run(script: &str) -> String {
        let output = Command::new("/bin/sh").arg("-c").arg(script).output().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "");
        String::from_utf8(output.stdout).unwrap()
    }

    #[test]
    fn the_survey_tells_what_this_computer_is() {
        let challenge = Challenge::from_bytes([7; 16]);
        let output = run(&script(&challenge, true));
        let mut far = Far::default();
        let first = output.lines().find(|line| !line.is_empty());
        assert!(first.is_some_and(|line| begins(&challenge, line)), "{output}");
        assert!(output.lines().skip(1).all(|line| take(line, &mut far)), "{output}");
        assert_eq!(far.path, std::env::var("PATH").unwrap());
        assert!(!far.system.is_empty(), "{far:?}");
    }

    #[test]
    fn the_survey_finds_rove_where_another_server_is_named() {
        let challenge = Challenge::from_bytes([7; 16]);
        let mut far = Far::default();
        // A shell finds its own function before any program.
        for line in run(&format!("rove() {{ :; }}; {}", script(&challenge, false))).lines() {
            take(line, &mut far);
        }
        assert_eq!((far.rove.as_str(), far.server.as_str()), ("rove", ""));
    }

    #[test]
    fn a_list_of_sessions_is_read_whole_or_said_to_be_unreadable() {
        let one = r#"{"version":1,"sessions":[{"pid":5,"port":60001,"title":"a\\b\n"}]}"#;
        let list = |text| {
            let mut far = Far::default();
            assert!(take(&format!("ROVE DOCTOR sessions {text}"), &mut far));
            far.sessions
        };
        let Sessions::Listed(listing) = list(one) else { panic!() };
        assert_eq!((listing.sessions[0].pid, &*listing.sessions[0].title), (5, "a\\b\n"));
        assert_eq!(list(&one[..one.len() - 1]), Sessions::Unreadable);
        assert_eq!(list(""), Sessions::Unknown);
    }

    #[test]
    fn the_survey_tells_whose_processes_logind_ends() {
        let usual = "b true\nas 0\nas 1 \"root\"";
        for (settings, session, linger, expected) in [
            ("", "3", "no", None),
            ("b false\nas 0\nas 1 \"root\"", "3", "no", Some(Logout::Leaves)),
            (usual, "", "no", Some(Logout::Leaves)),
            (usual, "3", "no", Some(Logout::Ends)),
            (usual, "3", "yes", Some(Logout::EndsThoughLingering)),
            ("b true\nas 0\nas 2 \"you\" \"me\"", "3", "no", Some(Logout::Leaves)),
            ("b true\nas 1 \"you\"\nas 0", "3", "yes", Some(Logout::Leaves)),
            ("b true\nas 1 \"me\"\nas 0", "3", "no", Some(Logout::Ends)),
        ] {
            let programs = format!(
                "busctl() {{ echo '{settings}'; }}; loginctl() {{ echo Linger={linger}; }}; \
                 id() {{ echo me; }}; XDG_SESSION_ID={session}; "
            );
            let mut far = Far::default();
            for line in run(&(programs + &script(&Challenge::from_bytes([7; 16]), false))).lines() {
                take(line, &mut far);
            }
            assert_eq!(far.logout, expected, "{settings} {session} {linger}");
        }
    }

    #[test]
    fn a_line_is_taken_only_with_our_mark_and_never_acts_on_a_terminal() {
        for (line, taken, path) in [
            ("ROVE DOCTOR path /bin:\x1b[2J/x\r", true, "/bin:[2J/x"),
            ("ROVE DOCTOR path", true, ""),
            ("ROVE DOCTOR", false, ""),
            (" ROVE DOCTOR path /x", false, ""),
            ("path /x", false, ""),
        ] {
            let mut far = Far::default();
            assert_eq!((take(line, &mut far), far.path.as_str()), (taken, path), "{line:?}");
        }
        for (len, kept) in [(VALUE_LEN_MAX, VALUE_LEN_MAX), (VALUE_LEN_MAX + 1, VALUE_LEN_MAX)] {
            assert_eq!(printable(&"x".repeat(len)).len(), kept);
        }
    }

    #[test]
    fn a_second_login_looks_for_the_mark_where_the_session_has_left_it() {
        let mark = format!("rove-survey-mark-{}", std::process::id());
        let words = session_command(&mark);
        let mut session = Command::new(&words[0])
            .args(&words[1..])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = String::new();
        let mut output = BufReader::new(session.stdout.take().unwrap());
        output.read_line(&mut said).unwrap();
        assert!(said.starts_with("READY "), "{said}");
        let challenge = Challenge::from_bytes([7; 16]);
        let found = aftermath(&challenge, &run(&aftermath_script(&challenge, &mark, 9, None)));
        drop(session.stdin.take());
        session.wait().unwrap();
        assert_eq!(found.heard, Some(true));
    }

    #[test]
    fn a_second_login_finds_the_mark_and_ends_the_server() {
        let mark = std::env::temp_dir().join(format!("rove-survey-test-{}", std::process::id()));
        std::fs::write(&mark, "").unwrap();
        let mut server = Command::new("sleep").arg("600").spawn().unwrap();
        let challenge = Challenge::from_bytes([7; 16]);
        let script = |pid| aftermath_script(&challenge, mark.to_str().unwrap(), 9, pid);
        let output = run(&script(Some(server.id())));
        // Lines without the random word of this run say nothing about the server.
        let others = aftermath(&Challenge::from_bytes([8; 16]), &output);
        assert_eq!(others, Aftermath::default());
        let found = aftermath(&challenge, &format!("ROVE DOCTOR bound yes\n{output}"));
        let bound = found.bound;
        assert!(bound.is_none() || bound == Some(false), "nobody listens at the port: {found:?}");
        assert_eq!((found.alive, found.heard), (Some(true), Some(true)));
        assert!(!server.wait().unwrap().success());
        let found = aftermath(&challenge, &run(&script(None)));
        assert_eq!((found.alive, found.heard), (None, Some(false)), "the mark is gone");
    }
}
