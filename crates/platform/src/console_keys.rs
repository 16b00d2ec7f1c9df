//! Key events of the Windows console as the bytes that a terminal sends.
//!
//! The console of Windows 10 and newer translates keys itself, and reports each byte as an event without a key. Older
//! consoles, and that of Wine, report the key, which this module translates as xterm does.

/// Most repetitions of a key in one event. The rest is dropped. Chosen: a key held for a second repeats some 30 times.
const REPEATS_MAX: u16 = 64;

const _: () = assert!(REPEATS_MAX > 0, "a key that is pressed types something");

/// Virtual key codes. Source: Microsoft, "Virtual-Key Codes".
const BACKSPACE: u16 = 0x08;
const TAB: u16 = 0x09;
const ALT: u16 = 0x12;
const ESCAPE: u16 = 0x1b;
const SPACE: u16 = 0x20;
const DIGIT_2: u16 = 0x32;
/// The key of `@` or of a grave accent on many keyboards.
const OEM_3: u16 = 0xc0;

/// The bits of held modifier keys. Source: Microsoft, `KEY_EVENT_RECORD`.
const RIGHT_ALT: u32 = 0x1;
const LEFT_ALT: u32 = 0x2;
const RIGHT_CONTROL: u32 = 0x4;
const LEFT_CONTROL: u32 = 0x8;
const SHIFT: u32 = 0x10;

/// A key event of the console.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) is_down: bool,
    pub(crate) repeats: u16,
    /// The virtual key code; 0 if the console has translated the key itself.
    pub(crate) code: u16,
    /// The UTF-16 code unit that the key types; 0 for none.
    pub(crate) unit: u16,
    /// The bits of the modifier keys that are held.
    pub(crate) modifiers: u32,
}

impl Key {
    const fn holds(&self, modifiers: u32) -> bool {
        self.modifiers & modifiers != 0
    }

    /// Returns whether AltGr is held, which Windows reports as right Alt with left Ctrl. It does not count as Alt.
    const fn is_alt_gr(&self) -> bool {
        self.holds(RIGHT_ALT) && self.holds(LEFT_CONTROL)
    }

    /// Returns whether the event is a release of Alt that types a character, whose number the user typed with Alt held.
    const fn is_composed(&self) -> bool {
        !self.is_down && self.code == ALT && self.unit != 0
    }

    /// Returns xterm's number for the held modifiers; 1 if no modifier is held.
    fn modifier_number(&self) -> u8 {
        1 + u8::from(self.holds(SHIFT))
            + 2 * u8::from(self.holds(LEFT_ALT | RIGHT_ALT))
            + 4 * u8::from(self.holds(LEFT_CONTROL | RIGHT_CONTROL))
    }
}

/// Translates key events to bytes. Two events may make one character.
#[derive(Debug, Default)]
pub(crate) struct Keys {
    /// The first half of a character beyond the Basic Multilingual Plane, until the second half comes.
    high_surrogate: Option<u16>,
}

impl Keys {
    /// Appends the bytes that a terminal would send for this event.
    pub(crate) fn translate(&mut self, key: &Key, bytes: &mut Vec<u8>) {
        if key.is_down || key.is_composed() {
            for _ in 0..key.repeats.clamp(1, REPEATS_MAX) {
                self.press(key, bytes);
            }
        }
    }

    fn press(&mut self, key: &Key, bytes: &mut Vec<u8>) {
        // If the console has translated a key to a null byte, both the code and the unit are 0.
        if key.is_composed() || key.code == 0 {
            self.type_unit(key.unit, bytes);
            return;
        }
        if let Some(sequence) = sequence(key) {
            bytes.extend(sequence);
            return;
        }
        let is_control = key.holds(LEFT_CONTROL | RIGHT_CONTROL) && !key.is_alt_gr();
        let unit = match (key.code, key.unit) {
            // A terminal sends DEL for the Backspace key, and BS if Ctrl is held.
            (BACKSPACE, _) if is_control => 0x08,
            (BACKSPACE, _) => 0x7f,
            // Wine reports the Escape key without a code unit.
            (ESCAPE, 0) => ESCAPE,
            // Ctrl with these keys types a null byte. The console then reports 0, as for keys that type nothing.
            (SPACE | DIGIT_2 | OEM_3, 0) if is_control => 0,
            (SPACE, SPACE) if is_control => 0,
            (_, 0) => return,
            (_, unit) => unit,
        };
        if key.holds(LEFT_ALT | RIGHT_ALT) && !key.is_alt_gr() {
            bytes.push(0x1b);
        }
        self.type_unit(unit, bytes);
    }

    /// Appends a code unit as UTF-8. Joins it with the preceding unit if both form one character.
    fn type_unit(&mut self, unit: u16, bytes: &mut Vec<u8>) {
        let (before, after) = match (self.high_surrogate.take(), unit) {
            (before, 0xd800..=0xdbff) => {
                self.high_surrogate = Some(unit);
                (before, None)
            }
            (before, unit) => (before, Some(unit)),
        };
        for character in char::decode_utf16(before.into_iter().chain(after)) {
            let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
            bytes.extend(character.encode_utf8(&mut [0; 4]).bytes());
        }
    }
}

/// Returns the escape sequence of a motion key, Insert, Delete, F1 to F12 or Shift-Tab. `None` for any other key.
/// Source: xterm, "Control Sequences", PC-style function keys.
fn sequence(key: &Key) -> Option<Vec<u8>> {
    /// The keys whose sequences end in a letter, with this letter.
    const LETTERS: [(u16, char); 10] = [
        (0x23, 'F'),
        (0x24, 'H'),
        (0x25, 'D'),
        (0x26, 'A'),
        (0x27, 'C'),
        (0x28, 'B'),
        (0x70, 'P'),
        (0x71, 'Q'),
        (0x72, 'R'),
        (0x73, 'S'),
    ];
    /// The first function key. The sequences of F1 to F4 begin with `ESC O` while no modifier is held.
    const F1: u16 = 0x70;
    /// The keys whose sequences end in a tilde, with the number before the tilde.
    const NUMBERS: [(u16, u8); 12] = [
        (0x21, 5),
        (0x22, 6),
        (0x2d, 2),
        (0x2e, 3),
        (0x74, 15),
        (0x75, 17),
        (0x76, 18),
        (0x77, 19),
        (0x78, 20),
        (0x79, 21),
        (0x7a, 23),
        (0x7b, 24),
    ];
    let modifier = key.modifier_number();
    if key.code == TAB && key.holds(SHIFT) {
        return Some(b"\x1b[Z".to_vec());
    }
    if let Some((code, letter)) = LETTERS.iter().find(|(code, _)| *code == key.code) {
        let text = match modifier {
            1 if *code >= F1 => format!("\x1bO{letter}"),
            1 => format!("\x1b[{letter}"),
            modifier => format!("\x1b[1;{modifier}{letter}"),
        };
        return Some(text.into_bytes());
    }
    let (_, number) = NUMBERS.iter().find(|(code, _)| *code == key.code)?;
    let text = match modifier {
        1 => format!("\x1b[{number}~"),
        modifier => format!("\x1b[{number};{modifier}~"),
    };
    Some(text.into_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(keys: &[Key]) -> Vec<u8> {
        let (mut translator, mut bytes) = (Keys::default(), Vec::new());
        keys.iter().for_each(|key| translator.translate(key, &mut bytes));
        bytes
    }

    fn down(code: u16, unit: u16, modifiers: u32) -> Key {
        Key { is_down: true, repeats: 1, code, unit, modifiers }
    }

    #[test]
    fn keys_are_sent_as_xterm_sends_them() {
        for (key, bytes) in [
            (down(0x41, 0x61, 0), &b"a"[..]),
            (down(0x41, 0x01, LEFT_CONTROL), b"\x01"),
            (down(0x41, 0x61, LEFT_ALT), b"\x1ba"),
            (down(0x51, 0x40, RIGHT_ALT | LEFT_CONTROL), b"@"),
            (down(0x0d, 0x0d, 0), b"\r"),
            (down(ESCAPE, 0x1b, 0), b"\x1b"),
            (down(ESCAPE, 0, 0), b"\x1b"),
            (down(0, 0, 0), b"\0"),
            (down(BACKSPACE, 0x08, 0), b"\x7f"),
            (down(BACKSPACE, 0x7f, LEFT_CONTROL), b"\x08"),
            (down(BACKSPACE, 0x08, LEFT_ALT), b"\x1b\x7f"),
            (down(TAB, 0x09, 0), b"\t"),
            (down(TAB, 0x09, SHIFT), b"\x1b[Z"),
            (down(SPACE, 0x20, 0), b" "),
            (down(SPACE, 0, RIGHT_CONTROL), b"\0"),
            (down(SPACE, 0x20, LEFT_CONTROL), b"\0"),
            (down(SPACE, 0x20, LEFT_CONTROL | LEFT_ALT), b"\x1b\0"),
            (down(SPACE, 0x20, LEFT_CONTROL | RIGHT_ALT), b" "),
            // With AltGr, a dead key types nothing yet.
            (down(DIGIT_2, 0, LEFT_CONTROL | RIGHT_ALT), b""),
            (down(OEM_3, 0, LEFT_CONTROL | RIGHT_ALT), b""),
            (down(OEM_3, 0, LEFT_CONTROL | SHIFT), b"\0"),
            (down(DIGIT_2, 0, LEFT_CONTROL | SHIFT), b"\0"),
            (down(0x26, 0, 0), b"\x1b[A"),
            (down(0x26, 0, LEFT_CONTROL), b"\x1b[1;5A"),
            (down(0x24, 0, 0), b"\x1b[H"),
            (down(0x70, 0, 0), b"\x1bOP"),
            (down(0x70, 0, SHIFT | LEFT_ALT), b"\x1b[1;4P"),
            (down(0x74, 0, 0), b"\x1b[15~"),
            (down(0x2e, 0, SHIFT), b"\x1b[3;2~"),
            (down(0x10, 0, SHIFT), b""),
            (down(ALT, 0, LEFT_ALT), b""),
        ] {
            assert_eq!(typed(&[key]), bytes, "{key:x?}");
        }
    }

    #[test]
    fn events_without_a_key_are_taken_as_they_are() {
        let sequence: Vec<Key> = "\x1b[A\x7f".bytes().map(|byte| down(0, byte.into(), 0)).collect();
        assert_eq!(typed(&sequence), b"\x1b[A\x7f");
    }

    #[test]
    fn releases_type_nothing_but_a_character_composed_by_its_number() {
        let up = Key { is_down: false, ..down(0x41, 0x61, 0) };
        let composed = Key { is_down: false, ..down(ALT, 0xe9, 0) };
        assert_eq!(typed(&[up, composed]), "é".as_bytes());
    }

    #[test]
    fn a_held_key_repeats_within_a_bound() {
        for (repeats, count) in [(0, 1), (1, 1), (3, 3), (REPEATS_MAX, 64), (u16::MAX, 64)] {
            let key = Key { repeats, ..down(0x58, 0x78, 0) };
            assert_eq!(typed(&[key]).len(), count, "{repeats}");
        }
    }

    #[test]
    fn characters_of_two_units_are_joined_and_halves_are_replaced() {
        let units = |units: &[u16]| {
            let keys: Vec<Key> = units.iter().map(|&unit| down(0, unit, 0)).collect();
            String::from_utf8(typed(&keys)).unwrap()
        };
        assert_eq!(units(&[0xd83d, 0xde00]), "\u{1f600}");
        assert_eq!(units(&[0xd83d, 0x61]), "\u{fffd}a");
        assert_eq!(units(&[0xde00, 0x61]), "\u{fffd}a");
        assert_eq!(units(&[0xd83d, 0xd83d, 0xde00]), "\u{fffd}\u{1f600}");
    }
}
