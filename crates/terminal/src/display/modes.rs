//! The state that every terminal has besides its cells: titles, copied text and modes.

use std::borrow::Cow;

use super::motion::push_number;
use crate::screen::Screen;
use crate::screen::mode::MouseEncoding;

/// Most code points of a title that are sent. Further ones are cut off. Source: Mosh 1.4.0 as observed,
/// docs/terminal.md: 256, including the two of `2;` before the title.
pub(crate) const TITLE_CHARS_MAX: usize = 254;

/// Most code points of copied text that are sent. A longer text is not sent at all. Source: Mosh 1.4.0 as observed,
/// docs/terminal.md: 16384, including the five of `52;c;` before the text.
pub(crate) const CLIPBOARD_CHARS_MAX: usize = 16_379;

/// Resets every mode that [`modes`] writes. In this order, no kind of mouse report stays on.
pub(crate) const MODES_OFF: &[u8] = b"\x1b[?5l\x1b[?2004l\x1b[?1004l\
    \x1b[?1003l\x1b[?1002l\x1b[?1001l\x1b[?1000l\x1b[?9l\x1b[?1016l\x1b[?1015l\x1b[?1006l\x1b[?1005l";

/// Writes the titles of `new` that differ from those of `old`. If `old` is `None`, writes both, but no empty icon name.
///
/// Puts `prefix` before the window title. If the icon name is the same text, it gets the prefix too.
pub(crate) fn titles(out: &mut Vec<u8>, old: Option<&Screen>, new: &Screen, prefix: &str) {
    let old = old.filter(|old| old.titles.given);
    let unchanged = |old: &Screen| {
        old.titles.title == new.titles.title && old.titles.icon_name == new.titles.icon_name
    };
    if !new.titles.given || old.is_some_and(unchanged) {
        return;
    }
    let (icon_name, title) = prefixed(new, prefix);
    let (icon_differs, title_differs) = match old.map(|old| prefixed(old, prefix)) {
        Some((old_icon, old_title)) => (old_icon != icon_name, old_title != title),
        // If no program has set an icon name, the user's terminal keeps its own.
        None => (!icon_name.is_empty(), true),
    };
    if icon_differs && title_differs && icon_name == title {
        operating_system_command(out, b"0;", &title);
        return;
    }
    if icon_differs {
        operating_system_command(out, b"1;", &icon_name);
    }
    if title_differs {
        operating_system_command(out, b"2;", &title);
    }
}

fn prefixed<'a>(screen: &'a Screen, prefix: &str) -> (Cow<'a, str>, Cow<'a, str>) {
    let (icon_name, title) = (&*screen.titles.icon_name, &*screen.titles.title);
    if prefix.is_empty() {
        return (icon_name.into(), title.into());
    }
    let long = Cow::from(format!("{prefix}{title}"));
    if icon_name == title { (long.clone(), long) } else { (icon_name.into(), long) }
}

fn operating_system_command(out: &mut Vec<u8>, number: &[u8], text: &str) {
    out.extend(b"\x1b]");
    out.extend(number);
    let printable = text.chars().filter(|c| !c.is_control()).take(TITLE_CHARS_MAX);
    let mut utf8 = [0; 4];
    for c in printable {
        out.extend(c.encode_utf8(&mut utf8).as_bytes());
    }
    out.push(b'\x07');
}

/// Writes copied text (OSC 52) that is base64 and short enough for a stock Mosh client. Omits the text `?`, because it
/// would make the user's terminal send its clipboard to the remote program. Omits an empty text, because it would empty
/// the clipboard.
pub(crate) fn clipboard(out: &mut Vec<u8>, text: &str) {
    let base64 = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=');
    if (1..=CLIPBOARD_CHARS_MAX).contains(&text.len()) && text.bytes().all(base64) {
        out.extend(b"\x1b]52;c;");
        out.extend(text.as_bytes());
        out.push(b'\x07');
    }
}

/// Writes the modes of `new` that differ from those of `old`. Writes all modes if `old` is `None`. If `pixels` is
/// false, a mouse report in pixels (mode 1016) becomes a report in cells (mode 1006).
pub(crate) fn modes(out: &mut Vec<u8>, old: Option<&Screen>, new: &Screen, pixels: bool) {
    let Some(old) = old else {
        out.extend(MODES_OFF);
        let off = Screen::blank(crate::Size::clamped(1, 1));
        modes(out, Some(&off), new, pixels);
        return;
    };
    for (number, was, now) in [
        (5, old.reverse_video, new.reverse_video),
        (2004, old.input.bracketed_paste, new.input.bracketed_paste),
        (1004, old.input.focus_reporting, new.input.focus_reporting),
    ] {
        if was != now {
            private_mode(out, number, now);
        }
    }
    exchange(out, old.input.mouse_reporting as u16, new.input.mouse_reporting as u16);
    let encoding = |screen: &Screen| match screen.input.mouse_encoding {
        MouseEncoding::SgrPixels if !pixels => MouseEncoding::Sgr as u16,
        encoding => encoding as u16,
    };
    exchange(out, encoding(old), encoding(new));
}

/// Resets the mode `old` and sets the mode `new`, which exclude each other. The number 0 stands for no mode.
fn exchange(out: &mut Vec<u8>, old: u16, new: u16) {
    for (number, on) in [(old, false), (new, true)] {
        if old != new && number > 0 {
            private_mode(out, number, on);
        }
    }
}

/// Writes the sequence that sets (`CSI ? number h`) or resets (`l`) a private mode.
pub(crate) fn private_mode(out: &mut Vec<u8>, number: u16, on: bool) {
    out.extend(b"\x1b[?");
    push_number(out, number);
    out.push(if on { b'h' } else { b'l' });
}
