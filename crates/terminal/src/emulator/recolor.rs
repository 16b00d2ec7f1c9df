//! Commands that set and report colours (OSC 4, 5 and 10 to 19) or reset them (OSC 104, 105 and 110 to 119).

use std::sync::Arc;

use crate::emulator::noted_colors::{NotedColor, NotedColors};
use crate::emulator::reply::Answers;
use crate::parse::Terminator;
use crate::screen::palette::{ColorSlot, Colors};
use crate::screen::rgb::Rgb;
use crate::user_terminal::UserTerminal;

/// First and last number of the dynamic colours, such as the default foreground.
/// Source: xterm's ctlseqs, OSC 10.
const DYNAMIC_FIRST: usize = 10;
const DYNAMIC_LAST: usize = 19;
/// The number of the first rendition's colour in OSC 4, directly after the 256 entries of the palette.
const RENDITION_ENTRY: usize = 256;

/// A colour that a program can set or query.
#[derive(Clone, Copy)]
enum Target {
    /// A colour that the screen contains.
    Shown(ColorSlot),
    /// A colour that is only stored, without an effect.
    Noted(NotedColor),
}

impl Target {
    /// Returns the colour for a number in OSC 4: palette entries up to 255, then renditions. `None` for other numbers.
    fn entry(number: usize) -> Option<Self> {
        match u8::try_from(number) {
            Ok(index) => Some(Self::Shown(ColorSlot::Palette(index))),
            Err(_) => Self::rendition(number - RENDITION_ENTRY),
        }
    }

    fn rendition(number: usize) -> Option<Self> {
        NotedColor::of_rendition(number).map(Self::Noted)
    }

    fn dynamic(number: usize) -> Option<Self> {
        Some(match number {
            10 => Self::Shown(ColorSlot::Foreground),
            11 => Self::Shown(ColorSlot::Background),
            12 => Self::Shown(ColorSlot::Cursor),
            _ => return NotedColor::dynamic(number).map(Self::Noted),
        })
    }
}

/// The data of a colour command: the colours that the command may change, and the queue for its answers.
pub(crate) struct Recolor<'a> {
    pub(crate) shown: &'a mut Arc<Colors>,
    pub(crate) noted: &'a mut NotedColors,
    pub(crate) user: &'a UserTerminal,
    pub(crate) answers: &'a mut Answers,
    pub(crate) terminator: Terminator,
}

impl Recolor<'_> {
    /// Performs the operating system command `number` with the text `rest`. Ignores commands that are unrelated to
    /// colours.
    pub(crate) fn perform(mut self, number: &str, rest: &str) {
        if number.starts_with('+') {
            return;
        }
        match number.parse() {
            Ok(4) => self.set_colors("4", rest, Target::entry),
            Ok(5) => self.set_colors("5", rest, Target::rendition),
            Ok(first @ DYNAMIC_FIRST..=DYNAMIC_LAST) => {
                for (number, color) in (first..=DYNAMIC_LAST).zip(rest.split(';')) {
                    let target = Target::dynamic(number).expect("a number of a dynamic colour");
                    self.set_or_tell_color(target, color, &number.to_string());
                }
            }
            Ok(104) => {
                if rest.is_empty() && self.shown.sets_palette() {
                    self.change_colors(Colors::reset_palette);
                }
                self.reset_colors(rest, Target::entry);
            }
            Ok(105) => self.reset_colors(rest, Target::rendition),
            Ok(number) => {
                if let Some(target) = number.checked_sub(100).and_then(Target::dynamic) {
                    self.reset_color(target);
                }
            }
            Err(_) => {}
        }
    }

    /// Performs OSC 4 or 5: pairs of a number and its new colour. A `?` in place of the colour is a query.
    fn set_colors(&mut self, command: &str, text: &str, target: fn(usize) -> Option<Target>) {
        let mut fields = text.split(';');
        while let (Some(number), Some(color)) = (fields.next(), fields.next()) {
            if let Some((number, target)) =
                number.parse().ok().and_then(|number| Some((number, target(number)?)))
            {
                let name = format!("{command};{number}");
                self.set_or_tell_color(target, color, &name);
            }
        }
    }

    /// Resets the colours with the listed numbers (OSC 104, 105). Without a list, resets the colours of all renditions.
    fn reset_colors(&mut self, text: &str, target: fn(usize) -> Option<Target>) {
        if text.is_empty() {
            NotedColor::renditions().for_each(|color| self.noted.set(color, None));
        }
        for target in text.split(';').filter_map(|number| target(number.parse().ok()?)) {
            self.reset_color(target);
        }
    }

    fn reset_color(&mut self, target: Target) {
        match target {
            Target::Noted(color) => self.noted.set(color, None),
            Target::Shown(slot) => {
                if self.shown.get(slot).is_some() {
                    self.change_colors(|colors| colors.reset(slot));
                }
            }
        }
    }

    fn set_or_tell_color(&mut self, target: Target, text: &str, name: &str) {
        if text == "?" {
            return self.tell_color(target, name);
        }
        let Some(color) = Rgb::parse(text) else { return };
        match target {
            Target::Noted(noted) => self.noted.set(noted, Some(color)),
            Target::Shown(slot) => {
                if self.shown.get(slot) != Some(color) {
                    self.change_colors(|colors| colors.set(slot, color));
                }
            }
        }
    }

    fn change_colors(&mut self, change: impl FnOnce(&mut Colors)) {
        change(Arc::make_mut(self.shown));
    }

    /// Answers a query for a colour. `name` is the colour's name in query and answer. An unknown colour gets no answer.
    fn tell_color(&mut self, target: Target, name: &str) {
        let color = match target {
            Target::Shown(slot) => self.shown.get(slot).or_else(|| self.own_color(slot)),
            Target::Noted(noted) => self.noted_color(noted),
        };
        let Some(color) = color else { return };
        self.answers.push(&format!("\x1b]{name};{}{}", color.answer(), self.terminator.as_str()));
    }

    /// Returns the colour that a program has set, or else the user's text or background colour. If that colour is
    /// unknown, renditions such as bold have xterm's text colour.
    fn noted_color(&self, color: NotedColor) -> Option<Rgb> {
        let otherwise = color.is_of_rendition().then_some(Rgb::of_palette(0));
        let look_alike = || self.own_color(color.look_alike());
        self.noted.get(color).or_else(look_alike).or(otherwise)
    }

    /// Returns the user's own colour for `slot`, or xterm's for a palette entry. `None` if the colour is unknown.
    fn own_color(&self, slot: ColorSlot) -> Option<Rgb> {
        let user = self.user;
        let (red, green, blue) = match slot {
            ColorSlot::Palette(index) => return Some(Rgb::of_palette(index)),
            ColorSlot::Foreground => user.foreground,
            ColorSlot::Background => user.background,
            ColorSlot::Cursor => user.cursor,
        }?;
        Some(Rgb::new(red, green, blue))
    }
}
