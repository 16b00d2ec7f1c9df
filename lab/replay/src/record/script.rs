//! Scripts for the typist: what is typed, and what is waited for. `docs/lab.md` describes them.

use rove_terminal::Size;
use rove_units::{Duration, parse_duration};

use crate::record::keys::Key;
use crate::screen::parse_size;

/// Largest script of a typist, in bytes. Chosen: a day of typing.
pub(crate) const SCRIPT_BYTES_MAX: usize = 1 << 20;
/// Most times that one word of a script presses a key. Chosen: more than any screen has columns or rows.
const PRESSES_MAX: u16 = 4_096;
/// Longest time that a script can name. Chosen: a recording is made while someone waits for it.
const TIME_MAX: Duration = Duration::from_secs(600);

/// The steps of a typist, one after the other.
#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// The steps, each with the number of its line, from 1.
    pub steps: Vec<(usize, Step)>,
}

/// A step of a typist.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// Types this text.
    Type {
        /// The text.
        text: String,
        /// Whether the typist mistypes some letters, and rubs them out.
        slips: bool,
    },
    /// Presses a key this many times.
    Press(Key, u16),
    /// Holds a key down, which sends it this many times, with this interval.
    Hold(Key, u16, Duration),
    /// Sends this text at once, as an input method or a paste does.
    Burst(String),
    /// Waits until the cursor's row ends with this text, at the cursor.
    WaitPrompt(String),
    /// Waits until this text is somewhere on the screen.
    WaitText(String),
    /// Waits until the program has written nothing, and no key was pressed, for this long.
    Quiet(Duration),
    /// Does nothing for this long.
    Pause(Duration),
    /// Gives the window another size.
    Resize(Size),
    /// Sets the share of letters that are mistyped from here on.
    Slips(f64),
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    ///
    /// Returns a sentence about the first line that is wrong, with its number.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > SCRIPT_BYTES_MAX {
            return Err(format!("the script is longer than {SCRIPT_BYTES_MAX} bytes"));
        }
        let mut steps = Vec::new();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim_start();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (verb, rest) = line.split_once(' ').unwrap_or((line, ""));
            let read = steps_of(verb, rest).map_err(|why| format!("line {number}: {why}"))?;
            steps.extend(read.into_iter().map(|step| (number, step)));
        }
        Ok(Self { steps })
    }
}

/// Reads the steps of one line, given its first word and the rest.
fn steps_of(verb: &str, rest: &str) -> Result<Vec<Step>, String> {
    let text = || match rest {
        "" => Err(format!("`{verb}` wants a text")),
        // Quotes around a text keep blanks at its ends.
        text => {
            let quoted = text.strip_prefix('"').and_then(|text| text.strip_suffix('"'));
            Ok(quoted.unwrap_or(text).to_owned())
        }
    };
    let typed = |slips| text().map(|text| Step::Type { text, slips });
    let enter = Step::Press(Key::Plain(b"\r"), 1);
    let one = |step| vec![step];
    match verb {
        "type" => typed(true).map(one),
        "line" => Ok(vec![typed(true)?, enter]),
        "exactly" => typed(false).map(one),
        "burst" => text().map(Step::Burst).map(one),
        "prompt" => text().map(Step::WaitPrompt).map(one),
        "see" => text().map(Step::WaitText).map(one),
        "quiet" => time(rest).map(Step::Quiet).map(one),
        "pause" => time(rest).map(Step::Pause).map(one),
        "resize" => size(rest).map(Step::Resize).map(one),
        "slips" => share(rest).map(Step::Slips).map(one),
        "press" if rest.trim().is_empty() => Err("`press` wants keys, such as Enter".to_owned()),
        "hold" => hold(rest).map(one),
        "press" => rest.split_whitespace().map(press).collect(),
        _ => Err(format!("there is no `{verb}`")),
    }
}

/// Reads a key: `Left` or `Left*5`.
fn press(word: &str) -> Result<Step, String> {
    let (name, times) = match word.rsplit_once('*') {
        Some((name, times)) if !name.is_empty() && !name.ends_with('-') => (name, times),
        _ => (word, "1"),
    };
    let key = Key::named(name).ok_or_else(|| format!("there is no key `{name}`"))?;
    match times.parse() {
        Ok(times @ 1..=PRESSES_MAX) => Ok(Step::Press(key, times)),
        _ => Err(format!("a key is pressed 1 to {PRESSES_MAX} times, not {times}")),
    }
}

/// Reads a key that is held, and the time between its repetitions: `PageDown*40 33ms`.
fn hold(rest: &str) -> Result<Step, String> {
    match rest.trim().split_once(' ').map(|(key, every)| (press(key), time(every.trim()))) {
        Some((Ok(Step::Press(key, times)), Ok(every))) => Ok(Step::Hold(key, times, every)),
        Some((Err(why), _) | (_, Err(why))) => Err(why),
        _ => Err("`hold` wants a key and a time, such as PageDown*40 33ms".to_owned()),
    }
}

fn time(text: &str) -> Result<Duration, String> {
    let time = parse_duration(text).map_err(|error| error.to_string())?;
    if time > TIME_MAX {
        return Err(format!("no more than {} seconds", TIME_MAX.as_secs()));
    }
    Ok(time)
}

fn size(text: &str) -> Result<Size, String> {
    parse_size(text.trim())
}

/// Reads a share in per cent: `3%`.
fn share(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').and_then(|number| number.parse::<f64>().ok());
    match number {
        Some(percent) if (0.0..=50.0).contains(&percent) => Ok(percent / 100.0),
        _ => Err("a share of slips is from 0% to 50%".to_owned()),
    }
}

#[cfg(test)]
mod tests;
