//! One place on the screen, and the pen that paints it. Plain data, 16 bytes a cell.

/// A colour as programs ask for it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Color {
    /// The terminal's own foreground or background.
    #[default]
    Default,
    /// An entry of the 256-colour palette; 0-7 are SGR 30-37, 8-15 are 90-97.
    Indexed(u8),
    /// 24-bit colour.
    Rgb(u8, u8, u8),
}

/// A set of character attributes, one bit each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Attributes(u16);

impl Attributes {
    /// No attribute.
    pub const NONE: Self = Self(0);
    /// SGR 1.
    pub const BOLD: Self = Self(1);
    /// SGR 3.
    pub const ITALIC: Self = Self(1 << 1);
    /// SGR 4.
    pub const UNDERLINE: Self = Self(1 << 2);
    /// SGR 5.
    pub const BLINK: Self = Self(1 << 3);
    /// SGR 7.
    pub const INVERSE: Self = Self(1 << 4);
    /// SGR 8.
    pub const INVISIBLE: Self = Self(1 << 5);

    /// Returns whether every attribute in `other` is set.
    pub const fn contains(self, other: Self) -> bool {
        self.0 & other.0 == other.0
    }

    /// Returns the set with `other` added.
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

/// Colours and attributes: what a printed character is painted with.
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
/// ([`crate::Row::marks`]); `combined` says that some do.
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
