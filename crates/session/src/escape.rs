//! The escape key: how the user talks to the client instead of to the remote program.
//!
//! The client recognises the escape key as a byte and in the forms that [`KeyEvent`] reads, in every keyboard mode that
//! a program may set. So the user can always end the session.

use rove_terminal::{Key, KeyEvent, Keystroke, Keystrokes};
use rove_units::{Duration, Instant};

use crate::command_line::{CommandLine, Purpose, Typed};

mod help;
mod key;

use key::{is_beginning, is_control, is_pass_key, sequence_start};

const ESC: u8 = 0x1b;
/// Command byte after the escape key: end the session.
const QUIT: u8 = b'.';
/// Command byte after the escape key (Ctrl-Z): suspend the client.
const SUSPEND: u8 = 0x1a;
/// Command byte after the escape key, if the status is offered: show the session's status.
const STATUS: u8 = b's';
/// Command byte after the escape key, if another login is offered: let the user log in again.
const LOG_IN: u8 = b'r';
/// Command byte after the escape key, if the status is offered: lock or unlock the session.
const LOCK: u8 = b'l';
/// Command byte after the escape key, if the status is offered: end the joined clients.
const DISMISS: u8 = b'e';
/// Command byte after the escape key, if the driver asks the user something: say yes.
const YES: u8 = b'y';
/// Command byte after the escape key, if the status is offered: look for a browser login ([`crate::callback`]).
const CALLBACK: u8 = b'o';
/// Ctrl-L, by custom the key that draws the screen again.
const FORM_FEED: u8 = 0x0c;

/// How long the filter waits for the rest of an escape sequence until it handles the first bytes without the rest.
/// Chosen: terminals write a sequence at once, and even 9600 bit/s carry a whole key in this time.
const HOLD: Duration = Duration::from_millis(50);

/// Longest beginning of an escape sequence that may also be a whole key, in bytes: `ESC [`, which is also Alt-[. While
/// no command is awaited, the filter passes these bytes to the program at once.
const KEY_LEN: usize = 2;

/// Maximum number of bytes of key releases and modifiers that are kept while the escape key waits for its command.
/// Chosen: some 80 releases. If there are more, the program gets them at once. A rove that was called as `mosh` then
/// also sends the program the escape key, and awaits no command.
const SILENT_BYTES_MAX: usize = 1024;

/// Pause in a paste after which the escape key works, if at most three bytes follow it. The mark of the paste's end may
/// be lost. Chosen: a slow line to the terminal pauses less, and a user who wants to quit can wait as long.
const PASTE_PAUSE: Duration = Duration::from_secs(5);

/// Longest input that the terminal sends at once for the escape key and a key after it, in bytes.
const TYPED_MAX: usize = 4;

/// How long after the end of a question a yes may still be meant for that question, although the driver asks another.
/// Chosen: longer than a user needs to see a change and to hold back a key.
const MISREAD: Duration = Duration::from_millis(700);

/// How long the help stays visible after a key that is not a command; any key hides it. Chosen: long enough to read it.
const HELP_SHOWN: Duration = Duration::from_secs(5);

/// Requests of the user to the client, read from the bytes of one call of [`EscapeKey::handle`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Requests {
    /// End the session. The filter ignores all bytes after this command.
    pub(crate) quit: bool,
    /// Give the terminal back to the shell and stop the client's process.
    pub(crate) suspend: bool,
    /// Draw the whole screen again. The program gets the key (Ctrl-L) too.
    pub(crate) repaint: bool,
    /// Show the status of the session.
    pub(crate) status: bool,
    /// Let the user log in again.
    pub(crate) login: bool,
    /// Say yes to the driver's question.
    pub(crate) yes: bool,
    /// Lock the session, or unlock it if it is locked.
    pub(crate) lock: bool,
    /// End the joined clients.
    pub(crate) dismiss: bool,
    /// Look for a browser login that redirects to this computer.
    pub(crate) callback: bool,
    /// Close the status, because a key was hit while it was shown.
    pub(crate) closes_status: bool,
}

impl Requests {
    fn close_status(&mut self) {
        (self.status, self.closes_status) = (false, true);
    }
}

/// The filter's state between two keys.
#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Keys go to the program. A printable escape key counts only at the start of a line.
    Text { line_start: bool },
    /// The escape key was hit, and the next key may be a command.
    Escaped {
        /// The bytes with which the terminal sent the escape key.
        key: Vec<u8>,
        /// Key releases, modifiers and terminal messages since the escape key. The program gets them after the command.
        silent: Vec<u8>,
    },
    /// The status panel is shown. The next key closes it and does not go to the program.
    Status,
    /// The user types a line for the client. No key goes to the program.
    Line(CommandLine),
}

/// Filters the escape key and the commands after it out of the user's keys.
#[derive(Clone, Debug)]
pub(crate) struct EscapeKey {
    key: Option<u8>,
    /// Whether the client offers the status panel. If so, the program gets no unknown key after the escape key, unless
    /// the escape key is ESC.
    offers_status: bool,
    /// Whether the client offers the command to log in again.
    offers_login: bool,
    /// Whether the driver asks the user something.
    is_asking: bool,
    /// When the driver last replaced or withdrew a question. `None` if it never did.
    replaced_at: Option<Instant>,
    /// Whether a yes in the present read counts. It does not if it may be meant for an earlier question.
    may_agree: bool,
    state: State,
    keystrokes: Keystrokes,
    /// The first bytes of a key whose sequence is not complete.
    beginning: Vec<u8>,
    /// How many bytes of `beginning` the filter has already handled as keys.
    passed: usize,
    /// When the filter stops waiting for the rest of `beginning`; set at the end of a read, `None` while nothing waits.
    due: Option<Instant>,
    /// The newest line that the user has ended. `None` after [`EscapeKey::take_line`].
    line: Option<(Purpose, String)>,
    /// When the newest bytes of an unfinished paste arrived. `None` outside a paste. Pasted text must neither give a
    /// permission nor end the session. After an end, the user's own shell would run the rest of the text.
    pasted_at: Option<Instant>,
    /// Whether the newest key after the escape key was not a command, so that the help is to be shown.
    is_help_due: bool,
    /// Until when the help is shown after a key that was not a command. `None` if it is not shown.
    help_until: Option<Instant>,
}

impl EscapeKey {
    /// Creates a filter for the escape key `key`; with `None` all keys go to the program.
    pub(crate) fn new(key: Option<u8>, offers_status: bool) -> Self {
        // The start of the session does not count as the start of a line: nothing has been typed.
        let state = State::Text { line_start: false };
        Self {
            key,
            offers_status,
            offers_login: false,
            is_asking: false,
            replaced_at: None,
            may_agree: true,
            state,
            keystrokes: Keystrokes::default(),
            beginning: Vec::new(),
            passed: 0,
            due: None,
            line: None,
            pasted_at: None,
            is_help_due: false,
            help_until: None,
        }
    }

    /// Sets whether the client offers another login, and returns whether that changed.
    pub(crate) fn offer_login(&mut self, is_offered: bool) -> bool {
        core::mem::replace(&mut self.offers_login, is_offered) != is_offered
    }

    /// Sets whether the driver asks the user a question. A yes within [`MISREAD`] after the end of another question has
    /// no effect, because it may be meant for that other question.
    pub(crate) const fn ask(&mut self, now: Instant, is_asking: bool) {
        if self.is_asking {
            self.replaced_at = Some(now);
        }
        self.is_asking = is_asking;
    }

    /// Tells the filter that the status was hidden, so that keys go to the program again.
    pub(crate) fn status_gone(&mut self) {
        if self.state == State::Status {
            self.state = State::Text { line_start: self.is_printable() };
        }
    }

    /// Returns the line for the client that the user has ended, and its purpose. `None` without one, or after a call.
    pub(crate) fn take_line(&mut self) -> Option<(Purpose, String)> {
        self.line.take()
    }

    /// Filters the bytes of one read: appends the bytes for the remote program to `out`, and returns the user's
    /// requests. Call it with no bytes when [`EscapeKey::poll_timeout`] is reached.
    pub(crate) fn handle(&mut self, now: Instant, bytes: &[u8], out: &mut Vec<u8>) -> Requests {
        let mut requests = Requests::default();
        self.may_agree = self.replaced_at.is_none_or(|at| at + MISREAD <= now);
        if self.due.is_some_and(|due| due <= now) {
            self.give_up(now, out, &mut requests);
        }
        let mut bytes = bytes;
        if let (Some(at), [first, rest @ ..]) = (self.pasted_at, bytes) {
            let is_typed = now >= at + PASTE_PAUSE && bytes.len() <= TYPED_MAX;
            if is_typed && Some(*first) == self.key && matches!(self.state, State::Text { .. }) {
                self.state = State::Escaped { key: vec![*first], silent: Vec::new() };
                bytes = rest;
            }
            self.pasted_at = Some(now);
        }
        for &byte in bytes {
            if byte == ESC && !self.keeps_keys() {
                // An ESC may begin a new sequence, for which the wait starts again.
                self.due = None;
            }
            self.beginning.push(byte);
            if let Some(keystroke) = self.keystrokes.push(byte) {
                self.take_keystroke(now, keystroke, out, &mut requests);
            }
            if requests.quit {
                return requests;
            }
        }
        if core::mem::take(&mut self.is_help_due) {
            self.help_until = Some(now + HELP_SHOWN);
        }
        self.help_until = self.help_until.filter(|until| now < *until);
        if !self.beginning.is_empty() {
            self.due.get_or_insert(now + HOLD);
        }
        if !self.keeps_keys() {
            self.pass_beginning(out, &mut requests);
        }
        requests
    }

    /// Returns when to call [`EscapeKey::handle`] with no bytes. `None` if nothing waits.
    pub(crate) fn poll_timeout(&self) -> Option<Instant> {
        let waits = self.passed < self.beginning.len();
        self.due.filter(|_| waits).into_iter().chain(self.help_until).min()
    }

    /// Handles a whole key, or a message of the terminal that is not a key, such as a mouse report.
    fn take_keystroke(
        &mut self,
        now: Instant,
        Keystroke { key, len }: Keystroke,
        out: &mut Vec<u8>,
        requests: &mut Requests,
    ) {
        self.pasted_at = match key {
            Key::PasteStart => Some(now),
            Key::PasteEnd => None,
            _ => self.pasted_at,
        };
        let bytes: Vec<u8> = self.beginning.drain(..len).collect();
        let passed = self.passed.min(len);
        self.passed -= passed;
        self.due = None;
        let start = sequence_start(&bytes);
        let keeps = self.keeps_keys();
        let event = KeyEvent::of_sequence(&bytes[start..]).filter(|_| start == 0 || !keeps);
        if let Some(event) = event {
            let (before, typed) = bytes[passed..].split_at(start.saturating_sub(passed));
            self.take_bytes(before, out, requests);
            if let (true, State::Line(line), None, Some(c)) =
                (event.is_hit, &mut self.state, event.as_byte(), event.as_text())
            {
                let mut bytes = [0; 4];
                c.encode_utf8(&mut bytes).bytes().for_each(|byte| drop(line.handle(Some(byte))));
            } else if event.is_hit {
                self.take_key(event.as_byte(), typed, out, requests);
            } else {
                self.take_silent(typed, out);
            }
        } else if len > 1 && keeps {
            self.keep(key, &bytes[passed..], out, requests);
        } else {
            self.take_bytes(&bytes[passed..], out, requests);
        }
    }

    /// Handles each of the bytes as a separate key.
    fn take_bytes(&mut self, bytes: &[u8], out: &mut Vec<u8>, requests: &mut Requests) {
        for byte in bytes {
            if !requests.quit {
                self.take_key(Some(*byte), &[*byte], out, requests);
            }
        }
    }

    /// Handles a key press. `byte` is the character of the key, or `None` for a key without one. `typed` holds the
    /// bytes that the terminal sent for it.
    fn take_key(
        &mut self,
        byte: Option<u8>,
        typed: &[u8],
        out: &mut Vec<u8>,
        requests: &mut Requests,
    ) {
        self.help_until = None;
        let is_escape_key = byte.is_some() && byte == self.key && self.pasted_at.is_none();
        let escaped = State::Escaped { key: typed.to_vec(), silent: Vec::new() };
        match &self.state {
            State::Text { line_start }
                if is_escape_key && (*line_start || !self.is_printable()) =>
            {
                self.state = escaped;
            }
            State::Text { .. } => {
                out.extend(typed);
                requests.repaint |= byte == Some(FORM_FEED);
                self.state = State::Text { line_start: matches!(byte, Some(b'\r' | b'\n')) };
            }
            State::Status if is_escape_key && self.key != Some(ESC) => {
                requests.close_status();
                self.state = escaped;
            }
            State::Line(_) if is_escape_key && !self.is_printable() => self.state = escaped,
            State::Status => self.keep(Key::Other, typed, out, requests),
            State::Escaped { .. } => self.take_command(byte, typed, out, requests),
            State::Line(_) => self.take_line_key(byte),
        }
    }

    /// Handles a key while the user types a line for the client.
    fn take_line_key(&mut self, byte: Option<u8>) {
        let State::Line(line) = &mut self.state else { return };
        match line.handle(byte) {
            Typed::More => return,
            Typed::Ended(text) => self.line = Some((line.purpose(), text)),
            Typed::Cancelled => {}
        }
        self.state = State::Text { line_start: self.is_printable() };
    }

    /// Handles the key after the escape key: a command, the escape key itself, or another key.
    fn take_command(
        &mut self,
        byte: Option<u8>,
        typed: &[u8],
        out: &mut Vec<u8>,
        requests: &mut Requests,
    ) {
        // Until a paste ends, no key gives a permission, even after [`PASTE_PAUSE`].
        let is_open = self.pasted_at.is_none();
        let (shows_status, logs_in) =
            (self.is_status_key(byte), self.is_login_key(byte) && is_open);
        let decides = |key| self.offers_status && byte == Some(key) && !is_pass_key(self.key, byte);
        let may_act = |key| decides(key) && is_open;
        let (locks, dismisses) = (may_act(LOCK), may_act(DISMISS));
        let says_yes = self.is_yes_key(byte) && is_open;
        let (calls_back, purpose) =
            (may_act(CALLBACK), Purpose::ALL.into_iter().find(|it| may_act(it.key())));
        let is_command = matches!(byte, Some(QUIT | SUSPEND))
            || [shows_status, logs_in, locks, dismisses, says_yes, calls_back].contains(&true)
            || purpose.is_some();
        let is_pass = !is_command && is_pass_key(self.key, byte);
        let keeps = self.keeps_keys();
        let State::Escaped { key, silent } = &mut self.state else { return };
        if !is_command && !is_pass && keeps {
            if byte.is_none() || byte != self.key {
                return self.keep(Key::Other, typed, out, requests);
            }
            // If the user hits the escape key twice, the help stays, and the next key may be a command.
            *key = typed.to_vec();
            return;
        }
        if !is_command {
            out.append(key);
        }
        out.append(silent);
        if !is_command && !is_pass {
            out.extend(typed);
            requests.repaint |= byte == Some(FORM_FEED);
        }
        requests.quit |= byte == Some(QUIT);
        requests.suspend |= byte == Some(SUSPEND);
        requests.login |= logs_in;
        requests.yes |= says_yes && self.may_agree;
        requests.callback |= calls_back;
        (requests.lock, requests.dismiss) = (requests.lock ^ locks, requests.dismiss | dismisses);
        // After a suspension the shell prints a new prompt, so the line counts as empty.
        let line_start = matches!(byte, Some(b'\r' | b'\n' | SUSPEND));
        self.state = State::Text { line_start };
        if shows_status {
            (requests.status, requests.closes_status) = (true, false);
            self.state = State::Status;
        }
        if let Some(purpose) = purpose {
            self.state = State::Line(CommandLine::new(purpose));
        }
    }

    /// Returns whether a key that is not a command is kept from the program.
    fn keeps_keys(&self) -> bool {
        match self.state {
            State::Text { .. } => false,
            State::Escaped { .. } => self.offers_status && self.key != Some(ESC),
            State::Status | State::Line(_) => true,
        }
    }

    /// Keeps a key from the program. Messages of the terminal that are not keys still go to the program.
    fn keep(&mut self, key: Key, typed: &[u8], out: &mut Vec<u8>, requests: &mut Requests) {
        if key == Key::Neutral {
            return self.take_silent(typed, out);
        }
        let is_paste = matches!(key, Key::PasteStart | Key::PasteEnd);
        if let State::Line(line) = &mut self.state {
            line.handle_paste(key);
            // A letter of several bytes belongs to the line.
            if typed.first().is_some_and(|byte| !byte.is_ascii()) {
                typed.iter().for_each(|byte| drop(line.handle(Some(*byte))));
            }
            return;
        }
        let fresh = State::Text { line_start: self.is_printable() };
        match core::mem::replace(&mut self.state, fresh) {
            State::Text { .. } | State::Line(_) => {}
            State::Status => requests.close_status(),
            State::Escaped { silent, .. } => {
                out.extend(silent);
                self.is_help_due = !is_paste;
            }
        }
        // The program gets these marks of a paste: an end without its beginning would confuse it.
        if is_paste {
            out.extend(typed);
        }
    }

    /// Returns whether the escape key is printable, so that it counts only at the start of a line.
    fn is_printable(&self) -> bool {
        self.key.is_some_and(|key| !is_control(key))
    }

    fn is_status_key(&self, byte: Option<u8>) -> bool {
        self.offers_status && byte == Some(STATUS) && !is_pass_key(self.key, byte)
    }

    fn is_yes_key(&self, byte: Option<u8>) -> bool {
        self.is_asking && byte == Some(YES) && !is_pass_key(self.key, byte)
    }

    fn is_login_key(&self, byte: Option<u8>) -> bool {
        self.offers_login && byte == Some(LOG_IN) && !is_pass_key(self.key, byte)
    }

    /// Handles a key release, a press of only a modifier key, or a terminal message such as a mouse report.
    fn take_silent(&mut self, typed: &[u8], out: &mut Vec<u8>) {
        match &mut self.state {
            State::Text { .. } | State::Status | State::Line(_) => out.extend(typed),
            State::Escaped { silent, .. } if silent.len() + typed.len() <= SILENT_BYTES_MAX => {
                silent.extend(typed);
            }
            State::Escaped { silent, .. } if self.offers_status => {
                out.append(silent);
                out.extend(typed);
            }
            State::Escaped { key, silent } => {
                out.append(key);
                out.append(silent);
                out.extend(typed);
                self.state = State::Text { line_start: false };
            }
        }
    }

    /// Passes the first bytes of a key to the program at once, because a user who hits ESC must not wait. The filter
    /// still reads them together with the bytes that follow. It keeps back only bytes that may become a [`KeyEvent`].
    fn pass_beginning(&mut self, out: &mut Vec<u8>, requests: &mut Requests) {
        let start = sequence_start(&self.beginning);
        let may_be_event = is_beginning(&self.beginning[start..]);
        let may_be_key = self.beginning.len() - start <= KEY_LEN;
        while let Some(&byte) = self.beginning.get(self.passed) {
            let is_text = matches!(self.state, State::Text { .. });
            if self.passed >= start && may_be_event && !(is_text && may_be_key) {
                return;
            }
            self.passed += 1;
            self.take_key(Some(byte), &[byte], out, requests);
        }
    }

    /// Stops waiting for the rest of a sequence: its first bytes count as a key, as single keys or as a message.
    fn give_up(&mut self, now: Instant, out: &mut Vec<u8>, requests: &mut Requests) {
        let len = self.beginning.len();
        let is_told = core::mem::take(&mut self.keystrokes).flush().is_some();
        // No user types an escape sequence longer than `KEY_LEN`.
        let is_key = is_told || len <= KEY_LEN || self.beginning.first() != Some(&ESC);
        let key = if is_key { Key::Other } else { Key::Neutral };
        self.take_keystroke(now, Keystroke { key, len }, out, requests);
    }
}

#[cfg(test)]
mod tests;
