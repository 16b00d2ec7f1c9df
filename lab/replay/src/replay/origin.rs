//! The origins of mistakes: how the host answered the last key before a mistake.

use rove_runs::statistics::Times;

use crate::replay::figures::elapsed;
use crate::replay::picture::{BLANK, Picture};
use crate::replay::run::Run;
use crate::replay::script::{Class, Key, Script};

/// An origin of mistakes. Source of the first three: the Mosh paper (USENIX ATC 2012), section 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The host's screen did not change within 100 ms: the echo was late, or there was none.
    LateEcho,
    /// The character replaced another one, and nothing right of it moved.
    Overwriting,
    /// The character moved others up to a place in the row, and text after that place stayed.
    Field,
    /// The host answered in another way.
    Other,
}

impl Origin {
    /// All origins.
    pub const ALL: [Self; 4] = [Self::LateEcho, Self::Overwriting, Self::Field, Self::Other];

    /// Returns the origin of a mistake after this key.
    pub(crate) fn of(key: &Key, script: &Script) -> Self {
        let Some(after) = key.after else { return Self::LateEcho };
        let [before, after] = [key.before, after].map(|number| &script.truth[number]);
        let [from, to] = [before, after].map(|picture| picture.cursor);
        if key.class != Class::Character || from.row != to.row || to.column <= from.column {
            return Self::Other;
        }
        let glyphs = |it: &Picture| script.album.glyphs(it.texts[usize::from(from.row)]).to_vec();
        let [before, after] = [before, after].map(glyphs);
        let pairs = before.iter().zip(&after).rev();
        let end = before.len() - pairs.take_while(|(old, new)| old == new).count();
        if end <= to.column.into() && before[usize::from(from.column)] != BLANK {
            Self::Overwriting
        } else if before[end..].iter().any(|glyph| *glyph != BLANK) {
            Self::Field
        } else {
            Self::Other
        }
    }

    /// Returns how long the mistakes of each origin stayed, in ms, in the order of [`Self::ALL`].
    pub fn stays(script: &Script, run: &Run) -> [Times; Self::ALL.len()] {
        Self::ALL.map(|origin| {
            let is_its = |key: usize| Self::of(&script.keys[key], script) == origin;
            let mistakes = run.mistakes.iter().filter(|mistake| is_its(mistake.key));
            mistakes.map(|mistake| elapsed(mistake.since, mistake.gone_at)).collect()
        })
    }
}
