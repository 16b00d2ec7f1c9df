//! Text that the server types on the user's behalf, such as the path of a file that was copied to the host.
//!
//! This module decides whether a program may get such a text. If a program does not show typed text, the text could
//! become part of a secret. A program that reads single keys and takes no pastes would take the letters for commands.

use rove_terminal::{Screen, Tty, TtyModes};

use super::host_input::HostInput;

/// The marks around a paste. Source: xterm's control sequences, mode 2004.
const PASTE_START: &str = "\x1b[200~";
const PASTE_END: &str = "\x1b[201~";

/// Why the server does not type a text on the user's behalf.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Untyped {
    /// No program has the pty, or the pty's modes are not known.
    #[error("no program reads what is typed")]
    NoProgram,
    /// Earlier keys, or answers of the terminal, still wait for the pty.
    #[error("the program does not read its keys")]
    Busy,
    /// The program reads lines without echo, or the screen asks for a secret.
    #[error("the program may be asking for a secret")]
    Secret,
    /// The program reads single keys, and takes no pastes.
    #[error("the program reads keys one by one and takes no pastes")]
    Keys,
    /// The user has locked the session.
    #[error("the session is locked")]
    Locked,
}

/// Queues a text for the pty, marked as a paste where the program accepts pastes. `tty` has the pty's present modes.
/// The text must have no control characters.
///
/// # Errors
///
/// Returns the reason why the text is not typed.
pub(super) fn type_text(
    input: &mut HostInput,
    screen: &Screen,
    tty: Option<Tty>,
    text: &str,
) -> Result<(), Untyped> {
    debug_assert!(!text.contains(char::is_control), "a control character would be a key");
    if !input.waiting().is_empty() {
        return Err(Untyped::Busy);
    }
    let (start, end) = if may_type(screen, tty)? { (PASTE_START, PASTE_END) } else { ("", "") };
    input.bytes.extend([start, text, end].concat().bytes());
    Ok(())
}

/// Returns whether to mark a text as a paste (mode 2004). Programs that read lines get the text even without the mark,
/// because the kernel echoes it. Line and full-screen editors read single keys, and set mode 2004 if they take pastes.
///
/// # Errors
///
/// Returns the reason why no text may be typed.
fn may_type(screen: &Screen, tty: Option<Tty>) -> Result<bool, Untyped> {
    let modes = tty.ok_or(Untyped::NoProgram)?.modes;
    let (echoes, reads_lines) =
        (modes.contains(TtyModes::ECHO), modes.contains(TtyModes::CANONICAL));
    let is_bracketed = screen.input_modes().bracketed_paste;
    if reads_lines && !echoes || rove_predict::asks_for_secret(screen, screen.cursor().position()) {
        return Err(Untyped::Secret);
    }
    if !reads_lines && !is_bracketed {
        return Err(Untyped::Keys);
    }
    Ok(is_bracketed)
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal, TtyCharacters};

    use super::*;

    #[test]
    fn a_text_is_typed_only_where_its_echo_is_certain() {
        let (echo, lines) = (TtyModes::ECHO, TtyModes::CANONICAL);
        let none = TtyModes::empty();
        for (shown, modes, expected) in [
            ("$ ", Some(echo | lines), Ok(false)),
            ("\x1b[?2004h$ ", Some(echo | lines), Ok(true)),
            // These are the modes of bash, zsh, fish and vim.
            ("\x1b[?2004h$ ", Some(none), Ok(true)),
            // These are the modes of `read -s`, sudo and ssh.
            ("Code: ", Some(lines), Err(Untyped::Secret)),
            ("\x1b[?2004h", Some(lines), Err(Untyped::Secret)),
            // These are the modes of `read -sn1`, less and games.
            ("(END)", Some(none), Err(Untyped::Keys)),
            ("(END)", Some(echo), Err(Untyped::Keys)),
            // A multiplexer takes pastes, but a program in its pane asks for a secret.
            ("\x1b[?2004hPassword: ", Some(none), Err(Untyped::Secret)),
            ("\x1b[?2004hPassword: ", Some(echo | lines), Err(Untyped::Secret)),
            ("$ ", None, Err(Untyped::NoProgram)),
        ] {
            let mut terminal = Terminal::host(Size::DEFAULT);
            terminal.write(shown.as_bytes());
            let tty =
                modes.map(|modes| Tty { modes, characters: TtyCharacters::USUAL, prompt: None });
            assert_eq!(may_type(terminal.screen(), tty), expected, "{shown:?} {modes:?}");
        }
    }
}
