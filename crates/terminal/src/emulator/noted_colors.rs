//! Colours that have no effect here, but are kept for whoever asks.
//!
//! xterm can draw bold, underlined, blinking, reversed or slanted text in a colour of its own, where its user has switched
//! that on, and has colours for the mouse pointer, its Tektronix window and what is selected. These are the user's own
//! terminal's, or there is nothing like them here. A program may set and reset them, and reads back what it set.

use crate::screen::palette::ColorSlot;
use crate::screen::rgb::Rgb;

/// Something that has a colour without an effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NotedColor(usize);

impl NotedColor {
    /// How many renditions have a colour: bold, underlined, blinking, reversed, slanted.
    /// Source: xterm's ctlseqs, OSC 5.
    const RENDITIONS: usize = 5;
    /// The number of the first of the dynamic colours that are noted, and of the last.
    /// Source: xterm's ctlseqs, OSC 10: foreground and background of the pointer, of the Tektronix window and of what is
    /// selected, and the Tektronix window's cursor.
    const DYNAMIC: (usize, usize) = (13, 19);
    const COUNT: usize = Self::RENDITIONS + Self::DYNAMIC.1 - Self::DYNAMIC.0 + 1;

    /// Returns the colour of a rendition, as OSC 5 numbers them.
    pub(crate) fn of_rendition(number: usize) -> Option<Self> {
        (number < Self::RENDITIONS).then_some(Self(number))
    }

    /// Returns the dynamic colour of this number.
    pub(crate) fn dynamic(number: usize) -> Option<Self> {
        let (first, last) = Self::DYNAMIC;
        (first..=last).contains(&number).then(|| Self(Self::RENDITIONS + number - first))
    }

    /// Returns all colours of renditions.
    pub(crate) fn renditions() -> impl Iterator<Item = Self> {
        (0..Self::RENDITIONS).map(Self)
    }

    /// Returns the colour that this one equals until a program sets it: text's, or that of the background.
    /// Source: xterm 379 as observed.
    pub(crate) fn look_alike(self) -> ColorSlot {
        // A selection exchanges the two colours: 17, which is behind it, equals text's.
        const BACKGROUNDS: [usize; 3] = [14, 16, 19];
        let dynamic = self.0.checked_sub(Self::RENDITIONS).map(|index| Self::DYNAMIC.0 + index);
        if dynamic.is_some_and(|number| BACKGROUNDS.contains(&number)) {
            ColorSlot::Background
        } else {
            ColorSlot::Foreground
        }
    }

    /// Returns whether this is the colour of a rendition.
    pub(crate) const fn is_of_rendition(self) -> bool {
        self.0 < Self::RENDITIONS
    }
}

/// The colours that programs have set.
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
