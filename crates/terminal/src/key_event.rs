//! Keys that a terminal sends as control sequences: kitty's keyboard protocol and xterm's `modifyOtherKeys`.
//!
//! A terminal in one of these modes sends Ctrl-^ as `CSI 94;5u` or `CSI 27;5;94~` instead of a byte. Sources: the kitty
//! keyboard protocol's own page; xterm's ctlseqs, "Alt and Meta Keys"; kitty's table of legacy keys for the byte of a
//! key held with Ctrl.

/// Key codes of modifier keys and locks. Source: kitty's table of functional keys.
const MODIFIER_KEYS: [core::ops::RangeInclusive<u32>; 2] = [57_358..=57_360, 57_441..=57_454];

/// Key codes of keys that type no character. Source: kitty's table of functional keys; Unicode's private use area.
const FUNCTIONAL_KEYS: core::ops::RangeInclusive<u32> = 0xe000..=0xf8ff;

/// The modifier bits of Caps Lock and Num Lock, which this module ignores.
const LOCKS: u32 = 64 | 128;

/// The event number of a key release.
const RELEASE: u32 = 3;

/// Keys of a US keyboard, and in the same order their characters with Shift, which not all terminals report.
const SHIFTED: [&[u8]; 2] = [b"`1234567890-=[]\\;',./", b"~!@#$%^&*()_+{}|:\"<>?"];

/// Keys, and in the same order their bytes with Ctrl. The keys from `@` to `_` follow a rule instead.
const CONTROLLED: [&[u8]; 2] = [b" 2345678/?", b"\x00\x00\x1b\x1c\x1d\x1e\x1f\x7f\x1f\x7f"];

/// A key event that arrived as a control sequence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct KeyEvent {
    /// The Unicode character that the key types without modifiers, or kitty's number for a key that types no character.
    pub code: u32,
    /// The bits of the modifiers that are held, without Caps Lock and Num Lock.
    pub modifiers: u32,
    /// Whether a key was pressed or repeated. It is false for a release, and for a modifier key.
    pub is_hit: bool,
    /// The key's character with Shift. `None` if the terminal does not report it.
    shifted: Option<u32>,
    /// The key's character on a US keyboard. `None` if it is `code`, or if the terminal does not report it.
    base: Option<u32>,
    /// The character that the key types. `None` if it types no or several characters, or if this is not reported.
    text: Option<u32>,
}

impl KeyEvent {
    /// The bit of Shift among the modifiers.
    pub const SHIFT: u32 = 1;
    /// The bit of Alt among the modifiers.
    pub const ALT: u32 = 2;
    /// The bit of Ctrl among the modifiers.
    pub const CTRL: u32 = 4;

    /// Parses a whole control sequence, `CSI parameters last`. `None` if it is not a key event.
    pub fn of_sequence(sequence: &[u8]) -> Option<Self> {
        let (last, parameters) = sequence.strip_prefix(b"\x1b[")?.split_last()?;
        Self::read(parameters, *last)
    }

    /// Parses the control sequence `CSI parameters last`, given without the `CSI`. `None` if it is not a key event.
    pub(crate) fn read(parameters: &[u8], last: u8) -> Option<Self> {
        match last {
            b'u' => kitty_key(parameters),
            b'~' => other_key(parameters),
            _ => None,
        }
    }

    /// Returns the byte that the key sends in a terminal without a keyboard protocol. `None` if it sends no byte or
    /// several, as keys held with Alt or Super do.
    pub fn as_byte(self) -> Option<u8> {
        if self.modifiers & !(Self::SHIFT | Self::CTRL) != 0 {
            return None;
        }
        // With a keyboard of another script, Ctrl applies to the character on a US keyboard.
        let code = self.base.filter(|_| self.code >= 128).unwrap_or(self.code);
        let key = ascii(code)?;
        let has_shift = self.modifiers & Self::SHIFT != 0;
        let typed =
            if has_shift { self.shifted.map_or(Some(with_shift(key)), ascii)? } else { key };
        Some(match self.modifiers & Self::CTRL {
            0 => self.text.and_then(ascii).unwrap_or(typed),
            // On a US keyboard Ctrl-Shift-6 is Ctrl-^, and Ctrl-6 is the same byte.
            _ => with_ctrl(typed),
        })
    }

    /// Returns the character that the key types. `None` for none or an unknown one, or with other modifiers than Shift.
    pub fn as_text(self) -> Option<char> {
        if self.modifiers & !Self::SHIFT != 0 {
            return None;
        }
        let typed = match (self.text, self.modifiers) {
            (Some(text), _) => text,
            (None, 0) => self.code,
            (None, _) => match self.shifted {
                Some(shifted) => shifted,
                None => u32::from(with_shift(ascii(self.code)?)),
            },
        };
        let c = char::from_u32(typed).filter(|c| !c.is_control())?;
        (!FUNCTIONAL_KEYS.contains(&typed)).then_some(c)
    }
}

/// Parses kitty's form, `code:shifted:base;modifiers:event;text`. Everything except the code may be missing.
fn kitty_key(parameters: &[u8]) -> Option<KeyEvent> {
    let mut fields = parameters.split(|&byte| byte == b';').map(subfields);
    let [code, shifted, base] = fields.next()?;
    let [modifiers, kind, _] = fields.next().unwrap_or_default();
    let [text, more_text, _] = fields.next().unwrap_or_default();
    let code = code?;
    let is_modifier = MODIFIER_KEYS.iter().any(|keys| keys.contains(&code));
    Some(KeyEvent {
        code,
        modifiers: modifiers.unwrap_or(1).saturating_sub(1) & !LOCKS,
        is_hit: !is_modifier && kind != Some(RELEASE),
        shifted,
        base,
        text: text.filter(|_| more_text.is_none()),
    })
}

/// Parses the form of modifyOtherKeys, `27;modifiers;code`. `None` for other parameters.
fn other_key(parameters: &[u8]) -> Option<KeyEvent> {
    let mut fields = parameters.split(|&byte| byte == b';').map(subfields);
    let (first, modifiers, code) = (fields.next()?, fields.next()?, fields.next()?);
    if first != [Some(27), None, None] || fields.next().is_some() {
        return None;
    }
    let ([Some(modifiers), None, None], [Some(code), None, None]) = (modifiers, code) else {
        return None;
    };
    Some(KeyEvent {
        code,
        modifiers: modifiers.saturating_sub(1) & !LOCKS,
        is_hit: true,
        // The code in this form is the key's character with Shift.
        shifted: Some(code),
        base: None,
        text: None,
    })
}

/// Returns the first three numbers of a field, split at colons. A missing or too large number becomes `None`.
fn subfields(field: &[u8]) -> [Option<u32>; 3] {
    let mut numbers = field.split(|&byte| byte == b':').map(number);
    core::array::from_fn(|_| numbers.next().flatten())
}

pub(crate) fn number(digits: &[u8]) -> Option<u32> {
    str::from_utf8(digits).ok()?.parse().ok()
}

fn ascii(code: u32) -> Option<u8> {
    u8::try_from(code).ok().filter(u8::is_ascii)
}

fn with_shift(key: u8) -> u8 {
    translated(SHIFTED, key).unwrap_or(key.to_ascii_uppercase())
}

fn with_ctrl(key: u8) -> u8 {
    match key {
        b'@'..=b'_' | b'a'..=b'z' => key & 0x1f,
        _ => translated(CONTROLLED, key).unwrap_or(key),
    }
}

fn translated([from, to]: [&[u8]; 2], key: u8) -> Option<u8> {
    let at = from.iter().position(|&byte| byte == key)?;
    to.get(at).copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(body: &str) -> Option<KeyEvent> {
        let (parameters, last) = body.as_bytes().split_at(body.len() - 1);
        KeyEvent::read(parameters, last[0])
    }

    #[test]
    fn keys_are_what_they_would_be_as_bytes() {
        let table: [(&str, Option<u8>); 33] = [
            // Ctrl-^ in each form.
            ("94;5u", Some(0x1e)),
            ("94;6u", Some(0x1e)),
            ("54;5u", Some(0x1e)),
            ("54;6u", Some(0x1e)),
            ("54:94;6u", Some(0x1e)),
            ("54:94:54;6:1u", Some(0x1e)),
            ("94::54;5:2u", Some(0x1e)),
            ("54;70u", Some(0x1e)),
            ("54;198;u", Some(0x1e)),
            ("27;5;94~", Some(0x1e)),
            ("27;6;94~", Some(0x1e)),
            ("27;6;54~", Some(0x1e)),
            // The key of another script where a US keyboard has Z.
            ("1103::122;5u", Some(0x1a)),
            ("122;5u", Some(0x1a)),
            ("90;5u", Some(0x1a)),
            ("108;5u", Some(0x0c)),
            ("27;5;108~", Some(0x0c)),
            ("46u", Some(b'.')),
            ("46;1:1u", Some(b'.')),
            ("46;5u", Some(b'.')),
            ("27;5;46~", Some(b'.')),
            ("59:46;2u", Some(b'.')),
            ("59;2;46u", Some(b'.')),
            ("96;2u", Some(b'~')),
            ("97;2u", Some(b'A')),
            ("97;;98u", Some(b'b')),
            ("13u", Some(b'\r')),
            ("27u", Some(0x1b)),
            ("94;7u", None),
            ("94;13u", None),
            ("233;5u", None),
            ("57376u", None),
            ("4294967295;4294967295u", None),
        ];
        for (body, byte) in table {
            let event = read(body).expect(body);
            assert_eq!((event.as_byte(), event.is_hit), (byte, true), "{body}");
        }
    }

    #[test]
    fn keys_type_the_character_that_the_terminal_names_or_that_shift_makes() {
        for (body, text) in [
            ("97u", Some('a')),
            ("97;2u", Some('A')),
            ("49;2u", Some('!')),
            ("97:65;2u", Some('A')),
            ("233u", Some('\u{e9}')),
            ("233:201;2u", Some('\u{c9}')),
            ("233;2u", None),
            ("97;;8364u", Some('\u{20ac}')),
            ("97;1;101:769u", Some('a')),
            ("0;;20013u", Some('\u{4e2d}')),
            ("27;2;65~", Some('A')),
            ("27;1;233~", Some('\u{e9}')),
            ("97;5u", None),
            ("97;3u", None),
            ("13u", None),
            ("57414u", None),
            ("57400;;49u", Some('1')),
            ("55296u", None),
        ] {
            assert_eq!(read(body).expect(body).as_text(), text, "{body}");
        }
    }

    #[test]
    fn releases_and_modifiers_are_no_key_hit() {
        for body in ["94;5:3u", "46;1:3u", "57442;5u", "57448;1:3u", "57358u", "97;1:3;97u"] {
            assert!(!read(body).expect(body).is_hit, "{body}");
        }
    }

    #[test]
    fn keys_are_found_in_both_forms_and_whole_only() {
        for whole in [&b"\x1b[94;5u"[..], b"\x1b[27;5;94~"] {
            let event = KeyEvent::of_sequence(whole).expect("a key");
            assert_eq!((event.as_byte(), event.is_hit), (Some(0x1e), true));
            for len in 0..whole.len() {
                assert_eq!(KeyEvent::of_sequence(&whole[..len]), None, "{len} bytes");
            }
        }
        assert_eq!(KeyEvent::of_sequence(b"\x1b\x1b[94;5u"), None);
    }

    #[test]
    fn other_sequences_are_no_key() {
        for body in [
            "A",
            "1;5A",
            "3~",
            "27;5~",
            "27;5;94;1~",
            "26;5;94~",
            "27:1;5;94~",
            "u",
            ";5u",
            "4294967296u",
            "?1u",
        ] {
            assert_eq!(read(body), None, "{body}");
        }
    }
}
