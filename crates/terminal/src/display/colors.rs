//! The sequences (OSC 4, 10 to 12 and 104 to 112) for colours that programs have set. Each sequence sets a single
//! colour, because every terminal understands this form.

use super::motion::push_number;
use crate::screen::palette::{ColorSlot, Colors};
use crate::screen::rgb::Rgb;

/// Writes the sequences that change a terminal's colours from `old` to `new`.
pub(crate) fn colors(out: &mut Vec<u8>, old: &Colors, new: &Colors) {
    if old == new {
        return;
    }
    reset_colors(out, old, new);
    let changed = new.iter().filter(|&(slot, color)| old.get(slot) != Some(color));
    changed.for_each(|(slot, color)| set(out, slot, color));
}

/// Writes the sequences that reset each colour that is set in `old` but not in `new`.
pub(crate) fn reset_colors(out: &mut Vec<u8>, old: &Colors, new: &Colors) {
    let all_entries = old.sets_palette() && !new.sets_palette();
    if all_entries {
        out.extend(b"\x1b]104\x07");
    }
    for (slot, _) in old.iter().filter(|&(slot, _)| new.get(slot).is_none()) {
        let reset: &[u8] = match slot {
            ColorSlot::Palette(_) if all_entries => continue,
            ColorSlot::Palette(_) => b"\x1b]104;",
            ColorSlot::Foreground => b"\x1b]110",
            ColorSlot::Background => b"\x1b]111",
            ColorSlot::Cursor => b"\x1b]112",
        };
        out.extend(reset);
        if let ColorSlot::Palette(index) = slot {
            push_number(out, u16::from(index));
        }
        out.push(b'\x07');
    }
}

fn set(out: &mut Vec<u8>, slot: ColorSlot, color: Rgb) {
    match slot {
        ColorSlot::Palette(index) => {
            out.extend(b"\x1b]4;");
            push_number(out, u16::from(index));
        }
        ColorSlot::Foreground => out.extend(b"\x1b]10"),
        ColorSlot::Background => out.extend(b"\x1b]11"),
        ColorSlot::Cursor => out.extend(b"\x1b]12"),
    }
    let Rgb { red, green, blue } = color;
    out.extend(format!(";rgb:{red:02x}/{green:02x}/{blue:02x}\x07").as_bytes());
}
