//! Cells, and the pen that paints them. A cell is plain data of 16 bytes.

use std::hash::{Hash, Hasher};

/// A colour in the form in which a program sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Color {
    /// The terminal's own foreground or background.
    #[default]
    Default,
    /// A colour of the sixteen with names: 0-7 are SGR 30-37, 8-15 are 90-97.
    ///
    /// It looks like the palette's entry of the same number, except on terminals that brighten bold text in a named
    /// colour only. A stock peer does not distinguish the two.
    Named(u8),
    /// An entry of the 256-colour palette by its number: SGR `38;5;n`.
    Indexed(u8),
    /// 24-bit colour.
    Rgb(u8, u8, u8),
}

impl Color {
    /// Returns the number of its entry in the palette; `None` for other colours.
    pub const fn palette_index(self) -> Option<u8> {
        match self {
            Self::Named(index) | Self::Indexed(index) => Some(index),
            Self::Default | Self::Rgb(..) => None,
        }
    }

    /// Returns a named colour for the first sixteen entries of the palette, and other colours unchanged.
    #[must_use]
    pub(crate) const fn named(self) -> Self {
        match self {
            Self::Indexed(index @ 0..=15) => Self::Named(index),
            color => color,
        }
    }
}

/// A kind of underline. The values are those of SGR `4:n`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Underline {
    /// No underline.
    #[default]
    None = 0,
    /// A line: SGR 4.
    Straight = 1,
    /// Two lines: SGR 21. A stock peer shows this kind and those below as a line.
    Double = 2,
    /// A wave.
    Curly = 3,
    /// Dots.
    Dotted = 4,
    /// Dashes.
    Dashed = 5,
}

impl Underline {
    /// Returns the kind of a number; `None` for an unknown number.
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

/// A set of character attributes: a bit for each, and the kind of underline.
///
/// Another bit says whether selective erasing spares the character (DECSCA). It is invisible, so comparisons ignore it,
/// also those of pens, cells, rows and screens.
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
    /// SGR 2. Only another rove understands it, and those below.
    pub const FAINT: Self = Self(1 << 5);
    /// SGR 9: struck out.
    pub const STRIKE: Self = Self(1 << 6);
    /// SGR 53.
    pub const OVERLINE: Self = Self(1 << 7);
    /// The position of the kind of underline among the bits.
    const UNDERLINE_SHIFT: u16 = 8;
    const UNDERLINE_MASK: u16 = 7 << Self::UNDERLINE_SHIFT;
    /// DECSCA and SPA. Only a host stores it: diffs carry the result of each erasing.
    const PROTECTED: u16 = 1 << 11;

    /// Returns whether the character is protected against erasing.
    pub(crate) const fn is_protected(self) -> bool {
        self.0 & Self::PROTECTED != 0
    }

    /// Returns the set with the character protected, or not.
    #[must_use]
    pub(crate) const fn protected(self, protected: bool) -> Self {
        let bit = if protected { Self::PROTECTED } else { 0 };
        Self(self.0 & !Self::PROTECTED | bit)
    }

    /// Returns the bits that are visible.
    const fn visible(self) -> u16 {
        self.0 & !Self::PROTECTED
    }

    /// Returns the kind of underline.
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

    /// Returns the set with another kind of underline.
    #[must_use]
    pub const fn underlined(self, underline: Underline) -> Self {
        Self(self.0 & !Self::UNDERLINE_MASK | (underline as u16) << Self::UNDERLINE_SHIFT)
    }

    /// Returns whether every attribute in `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the attributes that are in both sets.
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

/// The colours and attributes of a printed character. Few cells have more than that, which is stored beside the row's
/// cells ([`crate::Decoration`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pen {
    /// Text colour.
    pub foreground: Color,
    /// Background colour, which erased cells also get.
    pub background: Color,
    /// All attributes.
    pub attributes: Attributes,
}

impl Pen {
    /// Returns the pen of erased cells: this background, and nothing else.
    #[must_use]
    pub const fn erased(self) -> Self {
        Self {
            foreground: Color::Default,
            background: self.background,
            attributes: Attributes::NONE,
        }
    }
}

/// A place on the screen.
///
/// An empty cell has no character. A cell with a space is not empty. The right half of a wide character is an empty
/// cell. Combining characters ([`crate::Row::marks`]) and decorations ([`crate::Row::decoration`]) are stored beside the
/// row's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The base character; `None` for an empty cell.
    pub base: Option<char>,
    /// The pen that it was painted with.
    pub pen: Pen,
    /// Whether it takes two columns.
    pub wide: bool,
    /// Whether it has combining characters. Without a base they are drawn after a no-break space.
    pub combined: bool,
}

const _: () = assert!(size_of::<Cell>() == 16);

impl Cell {
    /// Creates the empty cell that erasing with `pen` leaves.
    pub const fn erased(pen: Pen) -> Self {
        Self { base: None, pen: pen.erased(), wide: false, combined: false }
    }

    /// Returns whether it has neither a base nor combining characters.
    pub(crate) const fn is_blank(&self) -> bool {
        self.base.is_none() && !self.combined
    }

    /// Returns the columns it takes: 1 or 2.
    pub const fn width(&self) -> u16 {
        if self.wide { 2 } else { 1 }
    }
}
