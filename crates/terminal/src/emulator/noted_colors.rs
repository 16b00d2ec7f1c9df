//! Colours that this emulator only stores. Programs can set, reset and query them, and they have no effect.
//!
//! xterm can draw bold, underlined, blinking, reversed or slanted text in a special colour, if its user allows that. It
//! also has colours for the mouse pointer, the selection and its Tektronix window. All these belong to the user's own
//! terminal, or do not exist here.

use crate::screen::palette::ColorSlot;
use crate::screen::rgb::Rgb;

/// A stored colour without an effect: of a rendition such as bold, or of an object such as the mouse pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotedColor(usize);

impl NotedColor {
    /// The number of renditions with a colour: bold, underlined, blinking, reversed, slanted.
    /// Source: xterm's ctlseqs, OSC 5.
    const RENDITIONS: usize = 5;
    /// The first and last number of the dynamic colours without an effect. These are foreground and background of the
    /// pointer, of the Tektronix window and of the selection, and the cursor of the Tektronix window.
    /// Source: xterm's ctlseqs, OSC 10.
    const DYNAMIC: (usize, usize) = (13, 19);
    const COUNT: usize = Self::RENDITIONS + Self::DYNAMIC.1 - Self::DYNAMIC.0 + 1;

    /// Returns the stored colour for a rendition's number in OSC 5. `None` for an unknown number.
    pub(crate) fn of_rendition(number: usize) -> Option<Self> {
        (number < Self::RENDITIONS).then_some(Self(number))
    }

    /// Returns the dynamic colour for a number from 13 to 19, as in OSC 13 to 19. `None` for other numbers.
    pub(crate) fn dynamic(number: usize) -> Option<Self> {
        let (first, last) = Self::DYNAMIC;
        (first..=last).contains(&number).then(|| Self(Self::RENDITIONS + number - first))
    }

    pub(crate) fn renditions() -> impl Iterator<Item = Self> {
        (0..Self::RENDITIONS).map(Self)
    }

    /// Returns the default colour (foreground or background) that answers a query until a program sets this colour.
    /// Source: xterm 379 as observed.
    pub(crate) fn look_alike(self) -> ColorSlot {
        // A selection exchanges foreground and background. So its background (17) counts as a foreground.
        const BACKGROUNDS: [usize; 3] = [14, 16, 19];
        let dynamic = self.0.checked_sub(Self::RENDITIONS).map(|index| Self::DYNAMIC.0 + index);
        if dynamic.is_some_and(|number| BACKGROUNDS.contains(&number)) {
            ColorSlot::Background
        } else {
            ColorSlot::Foreground
        }
    }

    pub(crate) const fn is_of_rendition(self) -> bool {
        self.0 < Self::RENDITIONS
    }
}

/// The colours without an effect, by number. `None` for a colour that no program has set.
#[derive(Clone, Debug, Default)]
pub(crate) struct NotedColors([Option<Rgb>; NotedColor::COUNT]);

impl NotedColors {
    pub(crate) fn get(&self, color: NotedColor) -> Option<Rgb> {
        self.0[color.0]
    }

    pub(crate) fn set(&mut self, color: NotedColor, rgb: Option<Rgb>) {
        self.0[color.0] = rgb;
    }
}
