//! Formats sessions as lines of text.

use rove_control::SessionStatus;

/// Most characters of a command shown on a terminal. Chosen: for terminals wider than 80 columns, which are common.
pub(super) const COMMAND_WIDTH: usize = 60;

const HEADINGS: [&str; 9] =
    ["PID", "PORT", "STATE", "AGE", "CONTACT", "KEY", "SIZE", "PATH", "CLIENT"];
const LAST_HEADING: &str = "COMMAND";

/// Returns a table of sessions. Marks the session on `own_terminal`, and cuts commands to `command_width` characters.
pub(super) fn sessions(
    sessions: &[SessionStatus],
    own_terminal: Option<&str>,
    command_width: usize,
) -> String {
    let mut rows = vec![HEADINGS.map(str::to_owned)];
    let mut last = vec![LAST_HEADING.to_owned()];
    for status in sessions {
        let is_own = own_terminal.is_some_and(|terminal| terminal == status.terminal);
        let mark = if is_own { " (here)" } else { "" };
        let ago = |seconds: Option<u64>| seconds.map_or("-".to_owned(), age);
        rows.push([
            status.pid.to_string(),
            status.port.to_string(),
            format!("{}{}{mark}", status.state.as_str(), joined(status)),
            age(status.age_seconds),
            ago(status.contact_age_seconds),
            ago(status.key_age_seconds),
            size(status),
            path(status),
            status.path.client.as_deref().map_or("-".to_owned(), printable),
        ]);
        last.push(cut(&command(status), command_width));
    }
    let mut widths = [0; HEADINGS.len()];
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = cell.chars().count().max(*width);
        }
    }
    let mut text = String::new();
    for (row, last) in rows.iter().zip(last) {
        for (cell, width) in row.iter().zip(widths) {
            text.push_str(&format!("{cell:<width$}  "));
        }
        text.push_str(&last);
        text.push('\n');
    }
    text
}

/// Returns the text that names a session in a message.
pub(crate) fn one(status: &SessionStatus) -> String {
    let client = match &status.path.client {
        Some(client) => format!(", client {}", printable(client)),
        None => String::new(),
    };
    let command = cut(&command(status), COMMAND_WIDTH);
    let (pid, port, state) = (status.pid, status.port, status.state.as_str());
    format!("session {pid} (port {port}, {state}{client}: {command})")
}

/// Returns the text for a session in the list from which a user of `rove attach` chooses.
pub(crate) fn describe_running(status: &SessionStatus) -> String {
    let command = cut(&command(status), COMMAND_WIDTH);
    format!("{}{}: {command}", status.state.as_str(), last_contact(status))
}

/// Returns the text for a session in the notice about detached sessions.
pub(crate) fn describe_detached(status: &SessionStatus) -> String {
    let command = cut(&command(status), COMMAND_WIDTH);
    format!("{} (port {}{}): {command}", status.pid, status.port, last_contact(status))
}

/// Returns how long ago the client was heard, as text after other words. Empty if no client has been heard.
fn last_contact(status: &SessionStatus) -> String {
    let seconds = status.contact_age_seconds;
    seconds.map_or(String::new(), |seconds| format!(", last contact {} ago", age(seconds)))
}

/// Returns how many clients have joined, as text after a session's state. Empty if no client has joined.
fn joined(status: &SessionStatus) -> String {
    match status.attachment.joined.len() {
        0 => String::new(),
        count => format!(", {count} joined"),
    }
}

fn size(status: &SessionStatus) -> String {
    if status.attachment.no_program {
        return "-".to_owned();
    }
    format!("{}x{}", status.window.columns, status.window.rows)
}

/// Returns the name of the client's path (UDP or ssh), and for how long the client has used it; `-` if unknown.
fn path(status: &SessionStatus) -> String {
    let Some(name) = status.path.name() else { return "-".to_owned() };
    let span = status.path.path_age_seconds;
    let span = span.map_or(String::new(), |seconds| format!(" {}", age(seconds)));
    format!("{name}{span}")
}

/// Returns a duration, rounded down, in the largest unit of which it contains at least two.
pub(crate) fn age(seconds: u64) -> String {
    const UNITS: [(u64, &str); 3] = [(86_400, "d"), (3600, "h"), (60, "min")];
    let unit = UNITS.iter().find(|(length, _)| seconds >= 2 * length);
    let (length, name) = unit.copied().unwrap_or((1, "s"));
    format!("{} {name}", seconds / length)
}

/// Returns the session's label, its command, the window title, its `-R` listeners and its number of streams.
fn command(status: &SessionStatus) -> String {
    let name =
        status.attachment.session.as_deref().map_or(String::new(), |name| format!("{name}: "));
    let command = match status.attachment.no_program {
        true => "no program".to_owned(),
        false => status.command.join(" "),
    };
    let mut text = printable(&(name + &command));
    if !status.title.is_empty() {
        text.push_str(&format!(" [{}]", printable(&status.title)));
    }
    if !status.attachment.forwards.listeners.is_empty() {
        text.push_str(&format!(
            " (-R {})",
            printable(&status.attachment.forwards.listeners.join(", "))
        ));
    }
    match status.attachment.forwards.streams {
        0 => {}
        1 => text.push_str(" (1 stream)"),
        many => text.push_str(&format!(" ({many} streams)")),
    }
    text
}

/// Returns the text in one line without control characters.
fn printable(text: &str) -> String {
    let shown = |c: char| match c {
        '\n' | '\t' => ' ',
        c if c.is_control() => '?',
        c => c,
    };
    rove_terminal::plain(&text.chars().map(shown).collect::<String>())
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(3)).chain("...".chars()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use rove_control::{Attachment, Carrier, ClientPath, State, Window};

    fn status() -> SessionStatus {
        SessionStatus {
            pid: 1234,
            port: 60_001,
            state: State::Detached,
            age_seconds: 200_000,
            path: ClientPath {
                client: Some("192.0.2.1:4242".to_owned()),
                path: Some(Carrier::Udp),
                path_age_seconds: Some(7200),
                by_jump_host: false,
                ..ClientPath::default()
            },
            contact_age_seconds: Some(7200),
            key_age_seconds: Some(10_000),
            window: Window { columns: 80, rows: 24 },
            terminal: "/dev/pts/3".to_owned(),
            title: "mail\u{1b}]2;x\u{7}".to_owned(),
            command: vec!["-bash".to_owned()],
            ..SessionStatus::default()
        }
    }

    #[test]
    fn a_table_has_a_line_for_each_session_and_marks_our_own() {
        let attachment = Attachment { session: Some("work".to_owned()), ..Attachment::default() };
        let new = SessionStatus { pid: 5, port: 60_002, attachment, ..SessionStatus::default() };
        let joined = vec!["192.0.2.2 (process 7) views".to_owned(); 2];
        let attachment = Attachment { no_program: true, joined, ..Attachment::default() };
        let bare = SessionStatus { pid: 6, port: 60_003, attachment, ..SessionStatus::default() };
        let text = sessions(&[status(), new, bare], Some("/dev/pts/3"), 12);
        assert_eq!(
            text,
            "PID   PORT   STATE              AGE  CONTACT  KEY  SIZE   PATH     CLIENT          COMMAND\n\
             1234  60001  detached (here)    2 d  2 h      2 h  80x24  UDP 2 h  192.0.2.1:4242  -bash [ma...\n\
             5     60002  waiting            0 s  -        -    0x0    -        -               work: \n\
             6     60003  waiting, 2 joined  0 s  -        -    -      -        -               no program\n"
        );
    }

    #[test]
    fn a_session_without_a_client_is_described_by_its_last_contact() {
        assert_eq!(
            describe_detached(&status()),
            "1234 (port 60001, last contact 2 h ago): -bash [mail?]2;x?]"
        );
    }

    #[test]
    fn nothing_that_a_program_has_said_commands_the_terminal() {
        for text in [sessions(&[status()], None, usize::MAX), one(&status())] {
            assert!(!text.contains(['\u{1b}', '\u{7}']) && text.contains("mail?]2;x?"), "{text}");
        }
    }

    #[test]
    fn an_age_is_in_its_largest_unit() {
        for (seconds, text) in [
            (0, "0 s"),
            (119, "119 s"),
            (120, "2 min"),
            (7199, "119 min"),
            (7200, "2 h"),
            (172_799, "47 h"),
            (172_800, "2 d"),
        ] {
            assert_eq!(age(seconds), text);
        }
    }
}
