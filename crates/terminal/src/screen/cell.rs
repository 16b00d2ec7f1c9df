//! One place on the screen, and the pen that paints it. Plain data, 16 bytes a cell.

use std::hash::{Hash, Hasher};

/// A colour as programs ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Color {
    /// The terminal's own foreground or background.
    #[default]
    Default,
    /// A colour of the sixteen with names: 0-7 are SGR 30-37, 8-15 are 90-97.
    ///
    /// It is the entry of the palette with its number, but for terminals that brighten bold text in a
    /// named colour only. A stock peer does not tell the two from each other.
    Named(u8),
    /// An entry of the 256-colour palette by its number: SGR `38;5;n`.
    Indexed(u8),
    /// 24-bit colour.
    Rgb(u8, u8, u8),
}

impl Color {
    /// Returns the number of the palette's entry that it is, whichever way the program asked for it.
    pub const fn palette_index(self) -> Option<u8> {
        match self {
            Self::Named(index) | Self::Indexed(index) => Some(index),
            Self::Default | Self::Rgb(..) => None,
        }
    }

    /// Returns the colour by its name where it has one.
    #[must_use]
    pub(crate) const fn named(self) -> Self {
        match self {
            Self::Indexed(index @ 0..=15) => Self::Named(index),
            color => color,
        }
    }
}

/// How text is underlined; the numbers are those of SGR `4:n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Underline {
    /// Not at all.
    #[default]
    None = 0,
    /// By a line: SGR 4.
    Straight = 1,
    /// By two lines: SGR 21. This and those that follow are straight to a stock peer.
    Double = 2,
    /// By a wave.
    Curly = 3,
    /// By dots.
    Dotted = 4,
    /// By dashes.
    Dashed = 5,
}

impl Underline {
    /// Returns the kind with this number; `None` for a number without one.
    pub const fn from_number(number: u16) -> Option<Self> {
        Some(match number {
            0 => Self::None,
            1 => Self::Straight,
            2 => Self::Double,
            3 => Self::Curly,
            4 => Self::Dotted,
            5 => Self::Dashed,
            _ => return None,
        })
    }
}

/// A set of character attributes: one bit each, and how text is underlined.
///
/// Another bit is stored with them: whether selective erasing leaves the character alone (DECSCA). That bit cannot be
/// seen, so sets that differ in it alone are equal, and so are pens, cells, rows and screens.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes(u16);

impl Attributes {
    /// No attribute.
    pub const NONE: Self = Self(0);
    /// SGR 1.
    pub const BOLD: Self = Self(1);
    /// SGR 3.
    pub const ITALIC: Self = Self(1 << 1);
    /// SGR 5.
    pub const BLINK: Self = Self(1 << 2);
    /// SGR 7.
    pub const INVERSE: Self = Self(1 << 3);
    /// SGR 8.
    pub const INVISIBLE: Self = Self(1 << 4);
    /// SGR 2. Between two roves only, like those that follow.
    pub const FAINT: Self = Self(1 << 5);
    /// SGR 9: struck out.
    pub const STRIKE: Self = Self(1 << 6);
    /// SGR 53.
    pub const OVERLINE: Self = Self(1 << 7);
    /// Where the kind of underline stands.
    const UNDERLINE_SHIFT: u16 = 8;
    const UNDERLINE_MASK: u16 = 7 << Self::UNDERLINE_SHIFT;
    /// DECSCA and SPA. Only of a host terminal: the far end is told what became of it.
    const PROTECTED: u16 = 1 << 11;

    /// Returns whether the character is protected against selective erasing.
    pub(crate) const fn is_protected(self) -> bool {
        self.0 & Self::PROTECTED != 0
    }

    /// Returns the set with the character protected, or not.
    #[must_use]
    pub(crate) const fn protected(self, protected: bool) -> Self {
        let bit = if protected { Self::PROTECTED } else { 0 };
        Self(self.0 & !Self::PROTECTED | bit)
    }

    /// Returns all that can be seen.
    const fn visible(self) -> u16 {
        self.0 & !Self::PROTECTED
    }

    /// Returns how text is underlined.
    pub const fn underline(self) -> Underline {
        match (self.0 & Self::UNDERLINE_MASK) >> Self::UNDERLINE_SHIFT {
            0 => Underline::None,
            2 => Underline::Double,
            3 => Underline::Curly,
            4 => Underline::Dotted,
            5 => Underline::Dashed,
            _ => Underline::Straight,
        }
    }

    /// Returns the set with text underlined this way instead.
    #[must_use]
    pub const fn underlined(self, underline: Underline) -> Self {
        Self(self.0 & !Self::UNDERLINE_MASK | (underline as u16) << Self::UNDERLINE_SHIFT)
    }

    /// Returns whether every attribute in `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns what both sets hold.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the set with `other` added. Only one of the two may hold an underline.
    #[must_use]
    pub const fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the set with `other` removed.
    #[must_use]
    pub const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }
}

impl PartialEq for Attributes {
    fn eq(&self, other: &Self) -> bool {
        self.visible() == other.visible()
    }
}

impl Eq for Attributes {}

impl Hash for Attributes {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.visible().hash(state);
    }
}

/// Colours and attributes: what a printed character is painted with. The few cells with more than that
/// have it beside them ([`crate::Decoration`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pen {
    /// Text colour.
    pub foreground: Color,
    /// Background colour; also what erasing leaves behind.
    pub background: Color,
    /// The rest.
    pub attributes: Attributes,
}

impl Pen {
    /// Returns the pen that erasing paints with: this background, nothing else.
    #[must_use]
    pub const fn erased(self) -> Self {
        Self {
            foreground: Color::Default,
            background: self.background,
            attributes: Attributes::NONE,
        }
    }
}

/// One place on the screen.
///
/// An empty cell holds no character, which is not the same as holding a space. The right half of a
/// wide character is an empty cell. Combining characters live beside the row's cells
/// ([`crate::Row::marks`]); `combined` says that some do. So do decorations ([`crate::Row::decoration`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The base character; `None` for an empty cell.
    pub base: Option<char>,
    /// How it is painted.
    pub pen: Pen,
    /// Whether it takes two columns.
    pub wide: bool,
    /// Whether combining characters follow the base (or stand alone, drawn after a no-break space).
    pub combined: bool,
}

const _: () = assert!(size_of::<Cell>() == 16);

impl Cell {
    /// Creates an empty cell as erasing with `pen` leaves it.
    pub const fn erased(pen: Pen) -> Self {
        Self { base: None, pen: pen.erased(), wide: false, combined: false }
    }

    /// Returns whether it shows nothing.
    pub(crate) const fn is_blank(&self) -> bool {
        self.base.is_none() && !self.combined
    }

    /// Returns the columns it takes: 1 or 2.
    pub const fn width(&self) -> u16 {
        if self.wide { 2 } else { 1 }
    }
}
