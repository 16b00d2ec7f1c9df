//! The keyboard modes of programs: kitty's protocol, and xterm's modifyOtherKeys.

use std::collections::VecDeque;

use rove_units::push_newest;

use crate::parse::Sequence;
use crate::screen::mode::{KITTY_FLAGS_MAX, MODIFY_OTHER_KEYS_MAX, RichModes};

/// Most sets of kitty's keyboard flags that programs push for a screen. Another push drops the oldest set. Chosen: as
/// many as kitty keeps. The protocol leaves the number to the terminal.
const STACK_MAX: usize = 8;

/// The number of modifyOtherKeys among the key modifier options. Source: xterm, XTMODKEYS.
const OTHER_KEYS: u16 = 4;

/// The sets of flags of kitty's keyboard protocol that programs have pushed, oldest first.
#[derive(Clone, Debug, Default)]
pub(crate) struct KeyboardStack(VecDeque<u8>);

impl KeyboardStack {
    /// Pops the last `count` entries, and returns the oldest of these. With fewer entries, pops all and returns 0.
    fn pop(&mut self, count: u16) -> u8 {
        let Some(left) = self.0.len().checked_sub(usize::from(count)) else {
            self.0.clear();
            return 0;
        };
        let flags = self.0.get(left).copied();
        self.0.truncate(left);
        flags.unwrap_or(0)
    }

    /// Performs a control sequence with a private marker and the final byte `m`, `n` or `u`. Returns the answer if the
    /// sequence is a query.
    pub(crate) fn perform(
        &mut self,
        rich: &mut RichModes,
        has_kitty_keyboard: bool,
        sequence: &Sequence<'_>,
    ) -> Option<String> {
        let parameters = sequence.parameters;
        let (first, second) = (parameters.value(0), parameters.value(1));
        let flags = u8::try_from(first & u16::from(KITTY_FLAGS_MAX)).expect("masked");
        match (sequence.private, sequence.last) {
            (b'>', b'm') if first == OTHER_KEYS && second <= MODIFY_OTHER_KEYS_MAX => {
                rich.modify_other_keys = u8::try_from(second).expect("at most 2");
            }
            (b'>', b'm') if !parameters.given() => rich.modify_other_keys = 0,
            (b'>', b'n') if first == OTHER_KEYS => rich.modify_other_keys = 0,
            (b'?', b'm') if first == OTHER_KEYS => {
                return Some(format!("\x1b[>{OTHER_KEYS};{}m", rich.modify_other_keys));
            }
            (_, b'u') if !has_kitty_keyboard => {}
            (b'?', b'u') => return Some(format!("\x1b[?{}u", rich.kitty_keyboard)),
            (b'=', b'u') => {
                let old = rich.kitty_keyboard;
                rich.kitty_keyboard = match second {
                    0 | 1 => flags,
                    2 => old | flags,
                    3 => old & !flags,
                    _ => old,
                };
            }
            (b'>', b'u') => {
                push_newest(&mut self.0, rich.kitty_keyboard, STACK_MAX);
                rich.kitty_keyboard = flags;
            }
            (b'<', b'u') => {
                rich.kitty_keyboard = self.pop(parameters.count(0));
            }
            _ => {}
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::Size;
    use crate::terminal::Terminal;
    use crate::user_terminal::UserTerminal;

    fn host(input: &str) -> Terminal {
        let mut host = Terminal::host(Size::clamped(8, 2));
        host.set_user_terminal(UserTerminal { kitty_keyboard: true, ..UserTerminal::default() });
        host.write(input.as_bytes());
        host
    }

    #[test]
    fn flags_are_set_pushed_and_popped() {
        for (input, flags) in [
            ("\x1b[=5u", 5),
            ("\x1b[=5;1u\x1b[=2;1u", 2),
            ("\x1b[=5;2u\x1b[=2;2u", 7),
            ("\x1b[=7u\x1b[=2;3u", 5),
            ("\x1b[=7u\x1b[=2;4u", 7),
            ("\x1b[=7u\x1b[=u", 0),
            ("\x1b[=255u", 31),
            ("\x1b[>1u\x1b[>3u", 3),
            ("\x1b[>1u\x1b[>3u\x1b[<u", 1),
            ("\x1b[>1u\x1b[>3u\x1b[>u", 0),
            ("\x1b[>1u\x1b[>3u\x1b[>7u\x1b[<2u", 1),
            ("\x1b[>1u\x1b[>3u\x1b[<9u", 0),
            ("\x1b[=4u\x1b[>1u\x1b[<u", 4),
            ("\x1b[=4u\x1b[<u", 0),
            ("\x1b[>1u\x1bc", 0),
            ("\x1b[>1u\x1b[>3u\x1b[!p\x1b[<u", 0),
        ] {
            assert_eq!(host(input).screen().rich_modes().kitty_keyboard, flags, "{input:?}");
        }
    }

    #[test]
    fn each_screen_has_its_own_flags() {
        for (input, flags) in [
            ("\x1b[>1u\x1b[?1049h", 0),
            ("\x1b[>1u\x1b[?1049h\x1b[>3u\x1b[?1049l", 1),
            ("\x1b[>1u\x1b[?1049h\x1b[>3u\x1b[?1049l\x1b[<u", 0),
            ("\x1b[?1049h\x1b[>3u\x1b[?1049l\x1b[?1049h", 3),
            ("\x1b[?1049h\x1b[>3u\x1b[?1049l\x1b[!p\x1b[?1049h", 0),
        ] {
            assert_eq!(host(input).screen().rich_modes().kitty_keyboard, flags, "{input:?}");
        }
    }

    #[test]
    fn one_more_flag_put_aside_displaces_the_oldest() {
        let pushes = |count: usize| -> String {
            (1..=count).map(|flags| format!("\x1b[>{flags}u")).collect()
        };
        // The first push saves the initial flags, 0.
        for (count, bottom) in [(STACK_MAX, 0), (STACK_MAX + 1, 1)] {
            let mut host = host(&pushes(count));
            host.write(format!("\x1b[<{STACK_MAX}u").as_bytes());
            assert_eq!(host.screen().rich_modes().kitty_keyboard, bottom);
        }
    }

    #[test]
    fn a_terminal_without_the_protocol_neither_answers_nor_has_flags() {
        let mut host = host("\x1b[?u\x1b[>5u\x1b[?u");
        assert_eq!(host.take_replies(), b"\x1b[?0u\x1b[?5u");
        host.set_user_terminal(UserTerminal::default());
        assert_eq!(host.screen().rich_modes().kitty_keyboard, 0, "the terminal was exchanged");
        host.write(b"\x1b[?u\x1b[>5u\x1b[=5u\x1b[?u");
        assert_eq!((host.take_replies(), host.screen().rich_modes().kitty_keyboard), (vec![], 0));
        host.set_user_terminal(UserTerminal { kitty_keyboard: true, ..UserTerminal::default() });
        host.write(b"\x1b[?u\x1b[>5u\x1bc\x1b[?u\x1b[>1u");
        assert_eq!(host.take_replies(), b"\x1b[?0u\x1b[?0u", "a reset forgets no terminal");
        assert_eq!(host.screen().rich_modes().kitty_keyboard, 1);
    }

    #[test]
    fn other_keys_are_modified_up_to_level_two() {
        for (input, level) in [
            ("\x1b[>4;1m", 1),
            ("\x1b[>4;2m", 2),
            ("\x1b[>4;2m\x1b[>4;3m", 2),
            ("\x1b[>4;2m\x1b[>4m", 0),
            ("\x1b[>4;2m\x1b[>4;m", 0),
            ("\x1b[>4;2m\x1b[>m", 0),
            ("\x1b[>4;2m\x1b[>4n", 0),
            ("\x1b[>4;2m\x1b[>1;0m\x1b[>2n", 2),
            ("\x1b[>4;2m\x1bc", 0),
            ("\x1b[>4;2m\x1b[!p", 0),
            ("\x1b[>4;2m\x1b[?1049h", 2),
        ] {
            assert_eq!(host(input).screen().rich_modes().modify_other_keys, level, "{input:?}");
        }
        let mut host = host("\x1b[?4m\x1b[>4;2m\x1b[?4m\x1b[?1m");
        assert_eq!(host.take_replies(), b"\x1b[>4;0m\x1b[>4;2m");
    }
}
