//! Control functions that some terminals lack.

/// The control functions that some terminals lack, by their names in terminfo. By default the terminal has none.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Functions {
    /// `ech`: whether `CSI X` erases characters without moving the cursor.
    pub erase_characters: bool,
    /// `bce`: whether erased cells get the current background colour.
    pub background_color_erase: bool,
    /// `vpa`: whether `CSI d` moves the cursor to a row.
    pub absolute_rows: bool,
    /// `hpa`: whether `CSI G` moves the cursor to a column.
    pub absolute_columns: bool,
    /// `smkx`: whether `ESC =` and `ESC >` change the form of the keypad's keys.
    pub application_keypad: bool,
}

impl Functions {
    /// All functions. Current terminals and all replicas (the client's copies of the screen) have them.
    pub const ALL: Self = Self {
        erase_characters: true,
        background_color_erase: true,
        absolute_rows: true,
        absolute_columns: true,
        application_keypad: true,
    };
}
