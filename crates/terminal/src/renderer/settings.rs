//! What the user's terminal is set to beside its cells: keys, wheel, cursor style, screen.

use super::capabilities::TerminalCapabilities;
use crate::display::rich::{application_keypad, cursor_style, kitty_keyboard, modify_other_keys};
use crate::display::{Vocabulary, private_mode};
use crate::screen::Screen;
use crate::screen::mode::RichModes;

/// Pops the flags of kitty's keyboard protocol that the session pushed.
pub(super) const POP_KITTY_KEYBOARD: &[u8] = b"\x1b[<u";

/// The cursor's style back to the user's own. Source: terminals of today take 0 for that. `Se` is left
/// alone: that of xterm-256color is a steady block, whatever the user has chosen.
pub(super) const OWN_CURSOR_STYLE: &[u8] = b"\x1b[0 q";

/// What the user's terminal is set to. The default is what it was found with.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Settings {
    /// An alternate scroll of `None` was never touched; the alternate screen is the one that only the
    /// program asked for.
    modes: RichModes,
    /// Whether flags of kitty's protocol were pushed on the screen that is shown.
    has_pushed: bool,
}

impl Settings {
    /// Returns whether the terminal went to its alternate screen with the program.
    pub(super) const fn alternate_screen(&self) -> bool {
        self.modes.alternate_screen
    }

    /// Returns whether alternate scroll was touched.
    pub(super) const fn sets_alternate_scroll(&self) -> bool {
        self.modes.alternate_scroll.is_some()
    }

    /// Goes where `wanted` is to be shown; returns whether that is another screen than before.
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
        out.extend(if wanted.alternate_screen { &capabilities.enter } else { &capabilities.leave });
        self.modes.alternate_screen = wanted.alternate_screen;
        true
    }

    /// Goes from the alternate screen, where the session has lived, to the normal one.
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
        out.extend(&capabilities.leave);
    }

    /// Writes what differs from `wanted`. With `all`, others may have changed the terminal; what no
    /// program has ever asked for is left alone even then.
    pub(super) fn change(&mut self, out: &mut Vec<u8>, wanted: RichModes, all: bool) {
        let old = core::mem::replace(&mut self.modes, wanted);
        if all || old.application_cursor_keys != wanted.application_cursor_keys {
            private_mode(out, 1, wanted.application_cursor_keys);
        }
        if all || old.application_keypad != wanted.application_keypad {
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

    /// Sets everything but the screen back to what it was found as.
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
        application_keypad(out, false);
    }

    fn pop_kitty_keyboard(&mut self, out: &mut Vec<u8>) {
        if core::mem::take(&mut self.has_pushed) {
            out.extend(POP_KITTY_KEYBOARD);
        }
        self.modes.kitty_keyboard = 0;
    }
}

/// Returns whether the program of a frame is on the alternate screen, where the terminal has one.
pub(super) fn wants_alternate_screen(
    frame: &Screen,
    capabilities: &TerminalCapabilities,
    vocabulary: Vocabulary,
) -> bool {
    vocabulary != Vocabulary::Stock && !capabilities.enter.is_empty() && frame.rich.alternate_screen
}

/// Returns what the user's terminal is to be set to for a frame.
pub(super) fn wanted(
    frame: &Screen,
    capabilities: &TerminalCapabilities,
    vocabulary: Vocabulary,
) -> RichModes {
    if vocabulary == Vocabulary::Stock {
        // The server translates: it expects cursor keys in application form.
        return RichModes { application_cursor_keys: true, ..RichModes::default() };
    }
    let program = frame.rich;
    let alternate_scroll = program.alternate_scroll.unwrap_or(capabilities.has_alternate_scroll());
    let kept = |known: bool, value: u8| if known { value } else { 0 };
    RichModes {
        cursor_style: kept(capabilities.cursor_styles, program.cursor_style),
        alternate_screen: !capabilities.init
            && wants_alternate_screen(frame, capabilities, vocabulary),
        // All of the session is on the terminal's alternate screen: without this, turns of the wheel
        // would become cursor keys for the shell too.
        alternate_scroll: capabilities.init.then_some(program.alternate_screen && alternate_scroll),
        kitty_keyboard: kept(capabilities.kitty_keyboard, program.kitty_keyboard),
        modify_other_keys: kept(capabilities.modify_other_keys, program.modify_other_keys),
        ..program
    }
}

#[cfg(test)]
mod tests;
