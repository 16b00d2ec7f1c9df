//! Setting, resetting and telling colours: OSC 4, 10, 11, 12, 104, 110, 111, 112.

use std::sync::Arc;

use crate::emulator::Emulator;
use crate::parse::Terminator;
use crate::screen::palette::{ColorSlot, Colors, Rgb};

impl Emulator {
    /// OSC 4: pairs of an entry of the palette and its colour, or a question for it.
    pub(crate) fn set_palette(&mut self, text: &str, terminator: Terminator) {
        let mut fields = text.split(';');
        while let (Some(index), Some(color)) = (fields.next(), fields.next()) {
            if let Ok(index) = index.parse() {
                self.set_or_tell_color(ColorSlot::Palette(index), color, terminator);
            }
        }
    }

    /// OSC 10, 11 and 12: a colour for what the number says, and further ones for what follows it.
    pub(crate) fn set_special_colors(
        &mut self,
        first: ColorSlot,
        text: &str,
        terminator: Terminator,
    ) {
        let slots = [ColorSlot::Foreground, ColorSlot::Background, ColorSlot::Cursor];
        let slots = slots.into_iter().skip_while(|slot| *slot != first);
        for (slot, color) in slots.zip(text.split(';')) {
            self.set_or_tell_color(slot, color, terminator);
        }
    }

    /// OSC 104: the whole palette, or the entries that are listed, as the terminal has them.
    pub(crate) fn reset_palette(&mut self, text: &str) {
        if text.is_empty() {
            self.change_colors(Colors::reset_palette);
            return;
        }
        for index in text.split(';').filter_map(|index| index.parse().ok()) {
            self.reset_color(ColorSlot::Palette(index));
        }
    }

    /// OSC 110, 111 and 112.
    pub(crate) fn reset_color(&mut self, slot: ColorSlot) {
        if self.screen.colors.get(slot).is_some() {
            self.change_colors(|colors| colors.reset(slot));
        }
    }

    fn set_or_tell_color(&mut self, slot: ColorSlot, text: &str, terminator: Terminator) {
        if text == "?" {
            self.tell_color(slot, terminator);
        } else if let Some(color) = Rgb::parse(text)
            && self.screen.colors.get(slot) != Some(color)
        {
            self.change_colors(|colors| colors.set(slot, color));
        }
    }

    fn change_colors(&mut self, change: impl FnOnce(&mut Colors)) {
        change(Arc::make_mut(&mut self.screen.colors));
    }

    /// Answers with a colour, in the form of the question. What is not known goes unanswered.
    fn tell_color(&mut self, slot: ColorSlot, terminator: Terminator) {
        let Some(color) = self.color(slot) else { return };
        let target = match slot {
            ColorSlot::Palette(index) => &format!("4;{index}"),
            ColorSlot::Foreground => "10",
            ColorSlot::Background => "11",
            ColorSlot::Cursor => "12",
        };
        let end = match terminator {
            Terminator::Bel => "\x07",
            Terminator::St => "\x1b\\",
        };
        self.reply(&format!("\x1b]{target};{}{end}", color.answer()));
    }

    /// Returns how something looks to the user, as far as it is known.
    fn color(&self, slot: ColorSlot) -> Option<Rgb> {
        let user = &self.user_terminal;
        let own = match slot {
            ColorSlot::Palette(index) => {
                return self.screen.colors.get(slot).or(Some(Rgb::of_palette(index)));
            }
            ColorSlot::Foreground => user.foreground,
            ColorSlot::Background => user.background,
            ColorSlot::Cursor => user.cursor,
        };
        self.screen
            .colors
            .get(slot)
            .or_else(|| own.map(|(red, green, blue)| Rgb::new(red, green, blue)))
    }
}
