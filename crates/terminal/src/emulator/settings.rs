//! Reports settings in the form of the sequences that set them (DECRQSS).

use crate::emulator::grid::Grid;
use crate::emulator::level::Level;
use crate::emulator::protection::Protection;
use crate::screen::Screen;
use crate::screen::cell::{Attributes, Color, Underline};

/// Returns a setting in the form of the sequence that sets it: parameters, then `name`. `None` for an unknown name.
pub(crate) fn setting(grid: &Grid, level: Level, name: &str) -> Option<String> {
    let Grid { region, screen, .. } = grid;
    let size = screen.size;
    let values = match name {
        "m" => rendition(screen),
        "r" => format!("{};{}", region.top + 1, region.bottom + 1),
        "s" => format!("{};{}", region.left + 1, region.right + 1),
        " q" => screen.rich.cursor_style.to_string(),
        "\"q" => {
            // Protection by SPA is not reported as protection by DECSCA.
            let protected = screen.pen.attributes.is_protected();
            u8::from(protected && grid.protection == Protection::Dec).to_string()
        }
        "\"p" => format!("{};1", level.parameter()),
        "t" | "*|" => size.rows().to_string(),
        "$|" => size.columns().to_string(),
        // DECSASD reports that text goes to the screen, and DECSSDT that there is no status line.
        "$}" | "$~" => "0".to_owned(),
        _ => return None,
    };
    Some(values + name)
}

/// The attributes after bold and underlined in an answer, in the order of xterm. Source: xterm 379 as observed.
/// Overlined text is last, because xterm 379 does not know it.
const ATTRIBUTES: [(Attributes, u8); 7] = [
    (Attributes::BLINK, 5),
    (Attributes::INVERSE, 7),
    (Attributes::INVISIBLE, 8),
    (Attributes::FAINT, 2),
    (Attributes::ITALIC, 3),
    (Attributes::STRIKE, 9),
    (Attributes::OVERLINE, 53),
];

/// Returns the SGR parameters that set the current pen, in xterm's form, with colons within a numbered colour.
fn rendition(screen: &Screen) -> String {
    let Screen { pen, decoration, .. } = screen;
    let mut text = "0".to_owned();
    if pen.attributes.contains(Attributes::BOLD) {
        text += ";1";
    }
    match pen.attributes.underline() {
        Underline::None | Underline::Double => {}
        Underline::Straight => text += ";4",
        kind => text += &format!(";4:{}", kind as u8),
    }
    for (_, parameter) in ATTRIBUTES.iter().filter(|(one, _)| pen.attributes.contains(*one)) {
        text += &format!(";{parameter}");
    }
    if pen.attributes.underline() == Underline::Double {
        text += ";21";
    }
    text + &color(pen.foreground, 30)
        + &color(pen.background, 40)
        + &color(decoration.underline_color, 50)
}

/// Returns the SGR parameter of a colour, or an empty text for the default colour. The parameter of named colour 0 is
/// `first` (30, 40 or 50), and other colours begin with `first` + 8. Underlines have no named colours.
fn color(color: Color, first: u8) -> String {
    match (color.named(), first) {
        (Color::Default, _) => String::new(),
        (Color::Named(n @ 0..8), 30 | 40) => format!(";{}", first + n),
        (Color::Named(n), 30 | 40) => format!(";{}", first + 52 + n),
        (Color::Named(n) | Color::Indexed(n), _) => format!(";{}:5:{n}", first + 8),
        (Color::Rgb(red, green, blue), _) => format!(";{}:2::{red}:{green}:{blue}", first + 8),
    }
}
