//! DECRQSS: what a setting is now, as the parameters and the last bytes of the sequence that sets it.

use crate::display::{Repertoire, write_from_scratch};
use crate::emulator::Emulator;
use crate::emulator::protection::Protection;

/// Returns the setting that the last bytes of a sequence name.
pub(crate) fn setting(emulator: &Emulator, name: &str) -> Option<String> {
    let (region, size) = (emulator.region, emulator.screen.size);
    let values = match name {
        "m" => rendition(emulator),
        "r" => format!("{};{}", region.top + 1, region.bottom + 1),
        "s" => format!("{};{}", region.left + 1, region.right + 1),
        " q" => emulator.screen.rich.cursor_style.to_string(),
        "\"q" => {
            // Protection by SPA is not reported as DECSCA's.
            let protected = emulator.screen.pen.attributes.is_protected();
            u8::from(protected && emulator.protection == Protection::Dec).to_string()
        }
        "\"p" => format!("{};1", emulator.level.parameter()),
        "t" | "*|" => size.rows().to_string(),
        "$|" => size.columns().to_string(),
        // DECSASD and DECSSDT: the screen is written to, and there is no status line.
        "$}" | "$~" => "0".to_owned(),
        _ => return None,
    };
    Some(values + name)
}

/// Returns the SGR parameters that set what is set now.
fn rendition(emulator: &Emulator) -> String {
    let mut text = Vec::new();
    let screen = &emulator.screen;
    let rendition = Repertoire::FULL.rendition(screen.pen, &screen.decoration);
    write_from_scratch(&mut text, rendition);
    String::from_utf8(text).expect("numbers are ASCII")
}
