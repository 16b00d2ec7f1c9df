//! Sequences for the modes that stock Mosh does not transfer.

use super::modes::private_mode;
use super::motion::push_number;
use crate::screen::mode::RichModes;

/// Writes the sequences that change a replica's modes from `old` to `new`.
pub(super) fn rich_modes(out: &mut Vec<u8>, old: RichModes, new: RichModes) {
    if old.cursor_style != new.cursor_style {
        cursor_style(out, new.cursor_style);
    }
    if old.application_cursor_keys != new.application_cursor_keys {
        private_mode(out, 1, new.application_cursor_keys);
    }
    if old.application_keypad != new.application_keypad {
        application_keypad(out, new.application_keypad);
    }
    // A replica only stores which of the two screens is in use. The diff draws the cells.
    if old.alternate_screen != new.alternate_screen {
        private_mode(out, 47, new.alternate_screen);
    }
    if old.alternate_scroll != new.alternate_scroll {
        match new.alternate_scroll {
            Some(set) => private_mode(out, 1007, set),
            None => out.extend(b"\x1b[?1007r"),
        }
    }
    if old.kitty_keyboard != new.kitty_keyboard {
        kitty_keyboard(out, new.kitty_keyboard);
    }
    if old.modify_other_keys != new.modify_other_keys {
        modify_other_keys(out, new.modify_other_keys);
    }
}

/// Sets the style of the cursor, 0 to 6 (DECSCUSR).
pub(crate) fn cursor_style(out: &mut Vec<u8>, style: u8) {
    numbered(out, b"", u16::from(style), b" q");
}

/// Sets or resets the application keypad (DECKPAM, DECKPNM).
pub(crate) fn application_keypad(out: &mut Vec<u8>, on: bool) {
    out.extend(if on { b"\x1b=" } else { b"\x1b>" });
}

/// Sets the flags of kitty's keyboard protocol to exactly `flags`.
pub(crate) fn kitty_keyboard(out: &mut Vec<u8>, flags: u8) {
    numbered(out, b"=", u16::from(flags), b";1u");
}

/// Sets the level of modifyOtherKeys (XTMODKEYS). At level 0, the terminal's own setting applies.
pub(crate) fn modify_other_keys(out: &mut Vec<u8>, level: u8) {
    if level == 0 {
        out.extend(b"\x1b[>4m");
    } else {
        numbered(out, b">4;", u16::from(level), b"m");
    }
}

fn numbered(out: &mut Vec<u8>, before: &[u8], number: u16, after: &[u8]) {
    out.extend(b"\x1b[");
    out.extend(before);
    push_number(out, number);
    out.extend(after);
}
