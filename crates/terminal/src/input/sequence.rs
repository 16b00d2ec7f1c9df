//! Reads keys that are encoded as `CSI` and `SS3` sequences.

use super::key::{Key, alt_key, ascii_key};
use crate::key_event::{KeyEvent, number};

/// Longest `CSI` or `SS3` sequence in the user's input, in bytes. The rest of a longer one is read as typed keys.
/// Chosen: twice the longest known answer about device attributes, and twice the longest known key with all its fields.
const SEQUENCE_BYTES_MAX: usize = 128;

/// The bytes that introduce a sequence: `CSI` or `SS3`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Introducer {
    #[default]
    Csi,
    /// SS3 (`ESC O`), which begins cursor keys in application mode, and F1 to F4.
    SingleShift,
}

/// The bytes of an incomplete sequence, without its introducer.
#[derive(Clone, Debug, Default)]
pub(super) struct Sequence {
    introducer: Introducer,
    bytes: Vec<u8>,
}

impl Sequence {
    pub(super) const fn new(introducer: Introducer) -> Self {
        Self { introducer, bytes: Vec::new() }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    pub(super) fn is_csi(&self) -> bool {
        self.introducer == Introducer::Csi
    }

    /// Handles a byte other than ESC. Returns the key that the byte completes, if any.
    pub(super) fn push(&mut self, byte: u8, has_alt: bool) -> Option<Key> {
        match byte {
            // In rxvt, `$` ends the sequence of a function key held with Shift. Other sequences continue after a `$`.
            b'$' if self.is_csi()
                && !self.is_empty()
                && self.bytes.iter().all(u8::is_ascii_digit) =>
            {
                Some(Key::Other)
            }
            0x20..=0x3f if self.bytes.len() < SEQUENCE_BYTES_MAX => {
                self.bytes.push(byte);
                None
            }
            0x40..=0x7e => Some(self.key(byte, has_alt)),
            _ => Some(Key::Other),
        }
    }

    fn key(&self, last: u8, has_alt: bool) -> Key {
        match self.introducer {
            Introducer::Csi => csi_key(&self.bytes, last, has_alt),
            Introducer::SingleShift => single_shift_key(&self.bytes, last, has_alt),
        }
    }
}

/// The modifiers held with a key, and whether the key was pressed rather than released.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    modifiers: u32,
    is_hit: bool,
}

impl Held {
    /// Parses the field `modifiers:event`, of which each part may be missing. `has_alt` adds Alt.
    fn read(field: &[u8], has_alt: bool) -> Self {
        let mut parts = field.split(|byte| *byte == b':').map(number);
        let modifiers = parts.next().flatten().unwrap_or(1).saturating_sub(1);
        let is_hit = parts.next().flatten() != Some(3);
        // Caps Lock and Num Lock do not change the meaning of a key.
        let modifiers = modifiers & !(64 | 128) | if has_alt { KeyEvent::ALT } else { 0 };
        Self { modifiers, is_hit }
    }

    /// Returns `plain` if no modifier is held, `word` if only Alt or only Ctrl is held, and else [`Key::Other`].
    /// Returns [`Key::Neutral`] for a key release.
    fn choose(self, plain: Key, word: Key) -> Key {
        match self.modifiers {
            _ if !self.is_hit => Key::Neutral,
            0 => plain,
            KeyEvent::ALT | KeyEvent::CTRL => word,
            _ => Key::Other,
        }
    }
}

/// Returns the key with the encoding `CSI parameters last`.
fn csi_key(parameters: &[u8], last: u8, has_alt: bool) -> Key {
    if let Some(event) = KeyEvent::read(parameters, last) {
        return event_key(event);
    }
    let mut fields = parameters.split(|byte| *byte == b';');
    let (first, second) = (fields.next().unwrap_or_default(), fields.next().unwrap_or_default());
    let held = Held::read(second, has_alt);
    match (last, parameters) {
        // Mouse reports, and answers: device attributes, modes, keyboard protocols.
        (_, [b'<'..=b'?', ..]) => Key::Neutral,
        // Mouse reports of urxvt, focus reports, and answers about status, modes, parameters and the window.
        (b'M' | b'c' | b'n' | b'y' | b'x' | b't', _) | (b'I' | b'O', []) => Key::Neutral,
        // This is F3 with modifiers, or a report of the cursor's position, which looks the same.
        (b'R', _) if first == b"1" && number(second).is_some_and(|held| held <= 16) => Key::Other,
        (b'R', [_, ..]) => Key::Neutral,
        (b'~', _) => numbered_key(number(first), held),
        (b'a'..=b'd', []) => Key::Other,
        // rxvt's keys held with Ctrl.
        (b'^', _) if number(first) == Some(3) => Key::KillWordRight,
        _ => lettered_key(last, held),
    }
}

/// Returns the key with the encoding `SS3 parameters last`. Old terminals send modifiers in the parameters.
fn single_shift_key(parameters: &[u8], last: u8, has_alt: bool) -> Key {
    let field = parameters.rsplit(|byte| *byte == b';').next().unwrap_or_default();
    match (last, parameters) {
        // rxvt's cursor keys held with Ctrl.
        (b'c', []) => Key::WordRight,
        (b'd', []) => Key::WordLeft,
        (b'M', []) => Key::Enter,
        _ => lettered_key(last, Held::read(field, has_alt)),
    }
}

fn lettered_key(last: u8, held: Held) -> Key {
    match last {
        b'A' => held.choose(Key::Up, Key::Other),
        b'B' => held.choose(Key::Down, Key::Other),
        b'C' => held.choose(Key::Right, Key::WordRight),
        b'D' => held.choose(Key::Left, Key::WordLeft),
        b'F' => held.choose(Key::End, Key::Other),
        b'H' => held.choose(Key::Home, Key::Other),
        _ => held.choose(Key::Other, Key::Other),
    }
}

/// Returns the key with this number in its sequence, such as Delete for `CSI 3 ~`.
fn numbered_key(number: Option<u32>, held: Held) -> Key {
    match number {
        Some(1 | 7) => held.choose(Key::Home, Key::Other),
        Some(2) => held.choose(Key::Insert, Key::Other),
        Some(3) => held.choose(Key::Delete, Key::KillWordRight),
        Some(4 | 8) => held.choose(Key::End, Key::Other),
        Some(200) => Key::PasteStart,
        Some(201) => Key::PasteEnd,
        _ => held.choose(Key::Other, Key::Other),
    }
}

/// Returns the key that a keyboard protocol has reported.
fn event_key(event: KeyEvent) -> Key {
    /// The code of the Backspace key. Source, also for the codes below: kitty's table of functional keys.
    const BACKSPACE: u32 = 127;
    if !event.is_hit {
        return Key::Neutral;
    }
    let held = Held { modifiers: event.modifiers, is_hit: true };
    match event.code {
        27 => return held.choose(Key::Escape, Key::Other),
        BACKSPACE => return held.choose(Key::Backspace, Key::KillWordLeft),
        57_414 => return held.choose(Key::Enter, Key::Other),
        57_417 => return lettered_key(b'D', held),
        57_418 => return lettered_key(b'C', held),
        57_419 => return lettered_key(b'A', held),
        57_420 => return lettered_key(b'B', held),
        57_423 => return lettered_key(b'H', held),
        57_424 => return lettered_key(b'F', held),
        57_425 => return numbered_key(Some(2), held),
        57_426 => return numbered_key(Some(3), held),
        _ => {}
    }
    if let Some(c) = event.as_text() {
        return Key::Text(c);
    }
    let mut unheld = event;
    unheld.modifiers &= !KeyEvent::ALT;
    match (event.as_byte(), unheld.as_byte()) {
        (Some(byte), _) => ascii_key(byte),
        (None, Some(byte)) if event.modifiers & KeyEvent::CTRL == 0 => alt_key(byte),
        _ => Key::Other,
    }
}
