//! Cells of the screen, and the pen (colours and attributes) of their text. A cell is plain data of 16 bytes.

use std::hash::{Hash, Hasher};

/// A colour in the form in which a program sets it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Color {
    /// The terminal's own text or background colour.
    #[default]
    Default,
    /// A named colour: 0-7 are SGR 30-37, and 8-15 are 90-97.
    ///
    /// It looks like the palette's entry of the same number, except that some terminals brighten bold text only in
    /// named colours. A stock Mosh peer does not distinguish the two forms.
    Named(u8),
    /// An entry of the 256-colour palette by its number: SGR `38;5;n`.
    Indexed(u8),
    /// 24-bit colour.
    Rgb(u8, u8, u8),
}

impl Color {
    /// Returns the number of the colour's palette entry. `None` for the default colour and 24-bit colours.
    pub const fn palette_index(self) -> Option<u8> {
        match self {
            Self::Named(index) | Self::Indexed(index) => Some(index),
            Self::Default | Self::Rgb(..) => None,
        }
    }

    /// Returns the named colour for one of the first sixteen palette entries, and any other colour unchanged.
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
    /// No underline: SGR 24.
    #[default]
    None = 0,
    /// A straight line: SGR 4.
    Straight = 1,
    /// Two lines: SGR 21. A stock Mosh peer shows every kind of underline as a straight line.
    Double = 2,
    /// A wavy line: SGR 4:3.
    Curly = 3,
    /// A dotted line: SGR 4:4.
    Dotted = 4,
    /// A dashed line: SGR 4:5.
    Dashed = 5,
}

impl Underline {
    /// Returns the kind of underline with the number of SGR `4:n`. `None` for an unknown number.
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
/// A further bit states whether selective erasing spares the character (DECSCA). Because this is invisible, comparisons
/// of attributes, pens, cells, rows and screens ignore it.
#[derive(Clone, Copy, Debug, Default)]
pub struct Attributes(u16);

impl Attributes {
    /// The set without attributes.
    pub const NONE: Self = Self(0);
    /// Bold or brighter text: SGR 1.
    pub const BOLD: Self = Self(1);
    /// Italic text: SGR 3.
    pub const ITALIC: Self = Self(1 << 1);
    /// Blinking text: SGR 5.
    pub const BLINK: Self = Self(1 << 2);
    /// Text with foreground and background exchanged: SGR 7.
    pub const INVERSE: Self = Self(1 << 3);
    /// Hidden text: SGR 8.
    pub const INVISIBLE: Self = Self(1 << 4);
    /// Faint text: SGR 2. Stock Mosh does not transfer it.
    pub const FAINT: Self = Self(1 << 5);
    /// Struck out text: SGR 9. Stock Mosh does not transfer it.
    pub const STRIKE: Self = Self(1 << 6);
    /// Text with a line above: SGR 53. Stock Mosh does not transfer it.
    pub const OVERLINE: Self = Self(1 << 7);
    /// The number of the lowest bit that stores the kind of underline.
    const UNDERLINE_SHIFT: u16 = 8;
    const UNDERLINE_MASK: u16 = 7 << Self::UNDERLINE_SHIFT;
    /// Protection against selective erasing (DECSCA, SPA). Only a host stores it, because diffs carry the erased cells.
    const PROTECTED: u16 = 1 << 11;

    /// Returns whether the character is protected against selective erasing.
    pub(crate) const fn is_protected(self) -> bool {
        self.0 & Self::PROTECTED != 0
    }

    /// Returns the set with the protection against selective erasing switched on or off.
    #[must_use]
    pub(crate) const fn protected(self, protected: bool) -> Self {
        let bit = if protected { Self::PROTECTED } else { 0 };
        Self(self.0 & !Self::PROTECTED | bit)
    }

    /// Returns the bits of visible attributes, which comparisons use.
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

    /// Returns whether every attribute in `other` is in `self`.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the attributes that are in both sets.
    #[must_use]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the set with `other` added. At most one of the two may contain an underline.
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

/// The colours and attributes of a printed character. Hyperlinks and underline colours are rare, so they are stored
/// beside the row's cells ([`crate::Decoration`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Pen {
    /// Colour of the text.
    pub foreground: Color,
    /// Background colour, which erased cells also get.
    pub background: Color,
    /// Bold, underline and all other attributes.
    pub attributes: Attributes,
}

impl Pen {
    /// Returns the pen of erased cells: the background colour of this pen, and nothing else.
    #[must_use]
    pub const fn erased(self) -> Self {
        Self {
            foreground: Color::Default,
            background: self.background,
            attributes: Attributes::NONE,
        }
    }
}

/// A cell of the screen: one column of one row.
///
/// An empty cell has no character, and differs from a cell with a space. The right half of a wide character is an empty
/// cell. Combining characters ([`crate::Row::marks`]) and decorations ([`crate::Row::decoration`]) are stored beside
/// the row's cells.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cell {
    /// The base character, or `None` for an empty cell.
    pub base: Option<char>,
    /// The colours and attributes with which the cell was printed. An erased cell has only the pen's background.
    pub pen: Pen,
    /// Whether the character occupies two columns. The next cell is then its right half.
    pub wide: bool,
    /// Whether the cell has combining characters. Without a base character, they are drawn after a no-break space.
    pub combined: bool,
}

const _: () = assert!(size_of::<Cell>() == 16);

impl Cell {
    /// Creates the empty cell that erasing with `pen` leaves.
    pub const fn erased(pen: Pen) -> Self {
        Self { base: None, pen: pen.erased(), wide: false, combined: false }
    }

    /// Returns whether the cell has neither a base nor combining characters.
    pub(crate) const fn is_blank(&self) -> bool {
        self.base.is_none() && !self.combined
    }

    /// Returns how many columns the cell's character occupies: 1 or 2.
    pub const fn width(&self) -> u16 {
        if self.wide { 2 } else { 1 }
    }
}
