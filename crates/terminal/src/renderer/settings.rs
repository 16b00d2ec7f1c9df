//! Settings of the user's terminal: keys, wheel, cursor style, and which of its two screens is displayed.

use super::capabilities::TerminalCapabilities;
use crate::display::rich::{application_keypad, cursor_style, kitty_keyboard, modify_other_keys};
use crate::display::{Vocabulary, private_mode};
use crate::screen::Screen;
use crate::screen::mode::RichModes;

/// Removes the flags of kitty's keyboard protocol that the session has set.
pub(super) const POP_KITTY_KEYBOARD: &[u8] = b"\x1b[<u";

/// Restores the user's own cursor style. Source: style 0 has this meaning in current terminals. `Se` is not used,
/// because for xterm-256color it is a steady block, even if the user has chosen another style.
pub(super) const OWN_CURSOR_STYLE: &[u8] = b"\x1b[0 q";

/// The settings that the renderer has changed in the user's terminal. By default there are none.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settings {
    /// The modes that the renderer has set. `None` for the alternate scroll stands for the terminal's own setting. The
    /// alternate screen is included only if the program has requested it.
    modes: RichModes,
    /// Whether the session has pushed flags of kitty's keyboard protocol on the displayed screen.
    has_pushed: bool,
}

impl Settings {
    /// Returns whether the terminal displays its alternate screen because the program has requested it.
    pub(super) const fn alternate_screen(&self) -> bool {
        self.modes.alternate_screen
    }

    /// Returns whether the renderer has changed alternate scroll (mode 1007).
    pub(super) const fn sets_alternate_scroll(&self) -> bool {
        self.modes.alternate_scroll.is_some()
    }

    /// Switches to the normal or alternate screen of `wanted`. Returns whether this is a change.
    pub(super) fn change_screen(
        &mut self,
        out: &mut Vec<u8>,
        wanted: RichModes,
        capabilities: &TerminalCapabilities,
    ) -> bool {
        if self.modes.alternate_screen == wanted.alternate_screen {
            return false;
        }
        self.pop_kitty_keyboard(out); // each screen has its own flags
        out.extend(b"\x1b[m"); // `smcup` keeps the pen for the way back
        out.extend(if wanted.alternate_screen {
            &capabilities.alternate_screen.enter
        } else {
            &capabilities.alternate_screen.leave
        });
        self.modes.alternate_screen = wanted.alternate_screen;
        true
    }

    /// Writes the bytes that move the session from the alternate screen to the normal one.
    pub(super) fn leave_alternate_screen(
        &mut self,
        out: &mut Vec<u8>,
        capabilities: &TerminalCapabilities,
    ) {
        self.pop_kitty_keyboard(out);
        if self.modes.alternate_scroll.take().is_some() {
            private_mode(out, 1007, capabilities.has_alternate_scroll());
        }
        out.extend(b"\x1b[m");
        out.extend(&capabilities.alternate_screen.leave);
    }

    /// Writes the settings of `wanted` that differ from the terminal's. If `all` is true, writes all of them, because
    /// other programs may have changed the terminal. Omits cursor style and keyboard protocols that nobody requested.
    pub(super) fn change(
        &mut self,
        out: &mut Vec<u8>,
        wanted: RichModes,
        capabilities: &TerminalCapabilities,
        all: bool,
    ) {
        let old = core::mem::replace(&mut self.modes, wanted);
        if all || old.application_cursor_keys != wanted.application_cursor_keys {
            private_mode(out, 1, wanted.application_cursor_keys);
        }
        if capabilities.functions.application_keypad
            && (all || old.application_keypad != wanted.application_keypad)
        {
            application_keypad(out, wanted.application_keypad);
        }
        let differs = |old: u8, new: u8| old != new || all && new != 0;
        if differs(old.cursor_style, wanted.cursor_style) {
            cursor_style(out, wanted.cursor_style);
        }
        if differs(old.modify_other_keys, wanted.modify_other_keys) {
            modify_other_keys(out, wanted.modify_other_keys);
        }
        if let Some(set) = wanted.alternate_scroll
            && (all || old.alternate_scroll != wanted.alternate_scroll)
        {
            private_mode(out, 1007, set);
        }
        if wanted.kitty_keyboard != 0 && !self.has_pushed {
            self.has_pushed = true;
            out.extend(b"\x1b[>0u");
        }
        if self.has_pushed && (all || old.kitty_keyboard != wanted.kitty_keyboard) {
            kitty_keyboard(out, wanted.kitty_keyboard);
        }
    }

    /// Writes the bytes that restore all settings, except which screen is displayed.
    pub(super) fn restore(&mut self, out: &mut Vec<u8>, capabilities: &TerminalCapabilities) {
        self.pop_kitty_keyboard(out);
        let RichModes { modify_other_keys: level, cursor_style, alternate_scroll, .. } = self.modes;
        if level != 0 {
            modify_other_keys(out, 0);
        }
        if cursor_style != 0 {
            out.extend(OWN_CURSOR_STYLE);
        }
        if alternate_scroll.is_some() {
            private_mode(out, 1007, capabilities.has_alternate_scroll());
        }
        private_mode(out, 1, false);
        if capabilities.functions.application_keypad {
            application_keypad(out, false);
        }
    }

    fn pop_kitty_keyboard(&mut self, out: &mut Vec<u8>) {
        if core::mem::take(&mut self.has_pushed) {
            out.extend(POP_KITTY_KEYBOARD);
        }
        self.modes.kitty_keyboard = 0;
    }
}

/// Returns whether the program uses the alternate screen, and the user's terminal has one. False for a stock server.
pub(super) fn wants_alternate_screen(
    frame: &Screen,
    capabilities: &TerminalCapabilities,
    vocabulary: Vocabulary,
) -> bool {
    vocabulary != Vocabulary::Stock
        && !capabilities.alternate_screen.enter.is_empty()
        && frame.rich.alternate_screen
}

/// Returns the settings that the user's terminal must have while it displays `frame`.
pub(super) fn wanted(
    frame: &Screen,
    capabilities: &TerminalCapabilities,
    vocabulary: Vocabulary,
) -> RichModes {
    if vocabulary == Vocabulary::Stock {
        // A stock server translates keys, and expects cursor keys in application form.
        return RichModes { application_cursor_keys: true, ..RichModes::default() };
    }
    let program = frame.rich;
    let alternate_scroll = program.alternate_scroll.unwrap_or(capabilities.has_alternate_scroll());
    let kept = |known: bool, value: u8| if known { value } else { 0 };
    RichModes {
        cursor_style: kept(capabilities.cursor_styles, program.cursor_style),
        alternate_screen: !capabilities.init
            && wants_alternate_screen(frame, capabilities, vocabulary),
        // With `init`, the whole session is on the alternate screen. Without this setting, the wheel would send cursor
        // keys to the shell too.
        alternate_scroll: capabilities.init.then_some(program.alternate_screen && alternate_scroll),
        kitty_keyboard: kept(capabilities.kitty_keyboard, program.kitty_keyboard),
        modify_other_keys: kept(capabilities.modify_other_keys, program.modify_other_keys),
        ..program
    }
}

#[cfg(test)]
mod tests;
