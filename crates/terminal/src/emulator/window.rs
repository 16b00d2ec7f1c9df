//! Reports about the window and the user's terminal. Programs query them, or request a report of each change (modes
//! 2031 and 2048).

use crate::screen::Size;
use crate::user_terminal::UserTerminal;

/// Returns the answer to XTWINOPS 14 (the window in pixels), 16 (a cell in pixels) and 18 (the window in cells). `None`
/// for another `what`, or if a size in pixels is unknown.
pub(crate) fn report(what: u16, user: &UserTerminal, size: Size) -> Option<String> {
    match what {
        14 => pixels(user, size).map(|(height, width)| format!("\x1b[4;{height};{width}t")),
        16 => user.cell_pixels.map(|(width, height)| format!("\x1b[6;{height};{width}t")),
        18 => Some(format!("\x1b[8;{};{}t", size.rows(), size.columns())),
        _ => None,
    }
}

/// Returns whether mode 2048 is supported. Programs assume that a terminal that reports its size also reports the mouse
/// in pixels. They divide by the size of a cell. Source: Textual 8.2.8 as observed. If the size of a cell is 0, Textual
/// ends with an error at the first click. If a click is reported in cells, Textual mistakes its place.
pub(crate) const fn has_size_announcements(user: &UserTerminal) -> bool {
    user.cell_pixels.is_some() && user.pixel_mouse
}

/// Returns the report of mode 2048: the size in cells and pixels. `None` if the size of a cell is unknown.
pub(crate) fn announcement(user: &UserTerminal, size: Size) -> Option<String> {
    let (height, width) = pixels(user, size)?;
    Some(format!("\x1b[48;{};{};{height};{width}t", size.rows(), size.columns()))
}

/// Returns the report of mode 2031: whether the user's background is dark or light. `None` if it is unknown.
pub(crate) fn color_scheme(user: &UserTerminal) -> Option<String> {
    user.background.map(|color| format!("\x1b[?997;{}n", if is_light(color) { 2 } else { 1 }))
}

/// Returns the height and width of all the window's cells in pixels. `None` if the size of a cell is unknown.
fn pixels(user: &UserTerminal, size: Size) -> Option<(u32, u32)> {
    let (width, height) = user.cell_pixels?;
    let product = |cells: u16, pixels: u16| u32::from(cells) * u32::from(pixels);
    Some((product(size.rows(), height), product(size.columns(), width)))
}

/// Returns whether a background colour is light, so that dark text suits it.
/// Source: luma of ITU-R BT.601, as in vim and neovim.
fn is_light((red, green, blue): (u8, u8, u8)) -> bool {
    let luma = 299 * u32::from(red) + 587 * u32::from(green) + 114 * u32::from(blue);
    luma >= 1000 * 128
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn light_backgrounds_are_told_from_dark_ones() {
        for (color, light) in [
            ((0, 0, 0), false),
            ((255, 255, 255), true),
            ((127, 127, 127), false),
            ((128, 128, 128), true),
            ((0, 0, 255), false),
            ((0, 255, 0), true),
            ((0x28, 0x2c, 0x34), false),
            ((0xfd, 0xf6, 0xe3), true),
        ] {
            assert_eq!(is_light(color), light, "{color:?}");
        }
    }
}
