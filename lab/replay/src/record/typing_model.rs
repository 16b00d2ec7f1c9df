//! How a person types: in bursts, with time to think, with slips that are rubbed out.
//!
//! The figures are those of a person who types about seventy words a minute. A pause is a minimum plus a draw from an
//! exponential distribution, because people have a fastest pace and no slowest.

use rove_units::{Duration, Seed, Stream};

use crate::record::keys::Key;

/// Least time between two keys. Chosen: the fastest pairs of letters of a practised hand.
const STROKE_MIN_MS: f64 = 45.0;
/// Mean time between two keys of a word, beyond the shortest. Chosen: both make about 110 ms.
const STROKE_MEAN_MS: f64 = 65.0;
/// Mean time that the first key of a word takes in addition. Chosen: a word is typed in one go.
const WORD_MEAN_MS: f64 = 70.0;
/// Share of words before which the person stops to think. Chosen: one in nine.
const THOUGHT_SHARE: f64 = 0.11;
/// Shortest pause for a thought in the middle of a text, and the mean time beyond it. Chosen: for 70 words a minute.
const THOUGHT_MS: (f64, f64) = (300.0, 350.0);
/// Shortest time to read the last answer before a new line, and the mean time beyond it. Chosen: for 70 words a minute.
const READING_MS: (f64, f64) = (350.0, 450.0);
/// Shortest time between two presses of keys such as arrows, and the mean beyond it. Chosen: slower than key repeat.
const PRESS_MS: (f64, f64) = (70.0, 60.0);
/// Shortest time to choose a word from an input method's list, and the mean beyond it. Chosen: for 70 words a minute.
const CHOICE_MS: (f64, f64) = (250.0, 250.0);
/// Shortest time until a person notices a slip, and the mean time beyond it. Chosen: for 70 words a minute.
const NOTICE_MS: (f64, f64) = (160.0, 140.0);
/// Most letters that a person types after a slip before noticing it. Chosen: for 70 words a minute.
const BLIND_LETTERS_MAX: u64 = 2;
/// Longest pause of any kind. Chosen: an exponential distribution has no longest value, but patience ends.
const LONGEST_MS: f64 = 2_500.0;

/// The letters as they lie on the keyboard. A slip hits a neighbour of the right key.
const KEYBOARD: [&str; 3] = ["qwertyuiop", "asdfghjkl", "zxcvbnm"];

/// Draws the pauses and slips of one person.
#[derive(Debug)]
pub(crate) struct TypingModel {
    stream: Stream,
    draws: u64,
}

/// A key that is about to be pressed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Stroke {
    /// How long after the previous stroke this one comes.
    pub(crate) after: Duration,
    /// The key that is hit.
    pub(crate) hit: Hit,
}

/// The key or text of a stroke.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Hit {
    /// The key of a character.
    Character(char),
    /// Another key.
    Key(Key),
    /// A text that comes at once.
    Burst(String),
}

impl TypingModel {
    /// Creates a person. Each `seed` gives another person.
    pub(crate) fn new(seed: Seed) -> Self {
        Self { stream: seed.stream("record.fingers"), draws: 0 }
    }

    /// Returns the strokes that type `text`. The share `slips` of its letters is first mistyped and rubbed out.
    pub(crate) fn type_text(&mut self, text: &str, slips: f64) -> Vec<Stroke> {
        let text: Vec<char> = text.chars().collect();
        let mut strokes = Vec::new();
        let mut before = ' ';
        for (index, &character) in text.iter().enumerate() {
            if let Some(neighbour) = neighbour(character, self.unit())
                && self.unit() < slips
            {
                self.slip(neighbour, &text[index + 1..], &mut strokes);
            }
            let begins_word = index > 0 && before == ' ' && character != ' ';
            strokes
                .push(Stroke { after: self.stroke(begins_word), hit: Hit::Character(character) });
            before = character;
        }
        strokes
    }

    /// Returns the strokes of a key pressed several times.
    pub(crate) fn press(&mut self, key: Key, times: u16) -> Vec<Stroke> {
        (0..times).map(|_| Stroke { after: self.time(PRESS_MS), hit: Hit::Key(key) }).collect()
    }

    /// Returns the strokes of a key that is held down: the keyboard repeats it at a fixed interval.
    pub(crate) fn hold(key: Key, times: u16, every: Duration) -> Vec<Stroke> {
        (0..times).map(|_| Stroke { after: every, hit: Hit::Key(key) }).collect()
    }

    /// Returns the stroke that sends a text at once, after it was chosen from an input method's list.
    pub(crate) fn burst(&mut self, text: String) -> Stroke {
        Stroke { after: self.time(CHOICE_MS), hit: Hit::Burst(text) }
    }

    /// Returns how long it takes to read what is there and to think of what comes next.
    pub(crate) fn reading(&mut self) -> Duration {
        self.time(READING_MS)
    }

    /// Adds the strokes of a slip: the wrong key, perhaps some letters of `rest`, and a backspace for each.
    fn slip(&mut self, wrong: char, rest: &[char], strokes: &mut Vec<Stroke>) {
        let blind = usize::try_from(self.draw_below(BLIND_LETTERS_MAX + 1)).unwrap_or(0);
        let blind = &rest[..blind.min(rest.len())];
        for &character in std::iter::once(&wrong).chain(blind) {
            strokes.push(Stroke { after: self.stroke(false), hit: Hit::Character(character) });
        }
        for erased in 0..=blind.len() {
            let pace = if erased == 0 { NOTICE_MS } else { PRESS_MS };
            let hit = Hit::Key(Key::Plain(b"\x7f"));
            strokes.push(Stroke { after: self.time(pace), hit });
        }
    }

    /// Returns the time before the next key of a text.
    fn stroke(&mut self, begins_word: bool) -> Duration {
        let mean = if begins_word { STROKE_MEAN_MS + WORD_MEAN_MS } else { STROKE_MEAN_MS };
        let stroke = self.time((STROKE_MIN_MS, mean));
        if begins_word && self.unit() < THOUGHT_SHARE {
            return stroke + self.time(THOUGHT_MS);
        }
        stroke
    }

    /// Draws a time: `least`, and above it an exponential distribution of this mean, at most [`LONGEST_MS`].
    fn time(&mut self, (least, mean): (f64, f64)) -> Duration {
        let above = -mean * (1.0 - self.unit()).ln();
        Duration::from_secs_f64((least + above).min(LONGEST_MS) / 1_000.0)
    }

    fn unit(&mut self) -> f64 {
        self.draws += 1;
        self.stream.at(self.draws).unit()
    }

    fn draw_below(&mut self, bound: u64) -> u64 {
        self.draws += 1;
        self.stream.at(self.draws).below(bound)
    }
}

/// Returns the letter beside `character` on the keyboard, the left one if `side` (0 to 1) is below one half.
fn neighbour(character: char, side: f64) -> Option<char> {
    let row = KEYBOARD.iter().find(|row| row.contains(character))?;
    let index = row.find(character)?;
    let left = row[..index].chars().next_back();
    let right = row[index..].chars().nth(1);
    if side < 0.5 { left.or(right) } else { right.or(left) }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the text that is left after all corrections.
    fn result(strokes: &[Stroke]) -> String {
        let mut text = String::new();
        for stroke in strokes {
            match &stroke.hit {
                Hit::Character(character) => text.push(*character),
                Hit::Key(_) => drop(text.pop()),
                Hit::Burst(burst) => text.push_str(burst),
            }
        }
        text
    }

    const TEXT: &str = "find the notes of yesterday, Straße 7";

    #[test]
    fn slips_are_rubbed_out_and_nothing_else_is_changed() {
        for seed in 0..200 {
            let strokes = TypingModel::new(Seed::new(seed)).type_text(TEXT, 0.3);
            assert!(strokes.len() > TEXT.chars().count(), "seed {seed}");
            assert_eq!(result(&strokes), TEXT, "seed {seed}");
        }
    }

    #[test]
    fn without_slips_each_character_is_one_key() {
        let strokes = TypingModel::new(Seed::new(1)).type_text(TEXT, 0.0);
        assert_eq!(strokes.len(), TEXT.chars().count());
        assert_eq!(result(&strokes), TEXT);
    }

    #[test]
    fn a_seed_is_a_person_on_a_day() {
        let type_text = |seed| TypingModel::new(Seed::new(seed)).type_text(TEXT, 0.1);
        assert_eq!(type_text(7), type_text(7));
        assert_ne!(type_text(7), type_text(8));
    }

    #[test]
    fn seventy_words_a_minute_and_never_faster_than_a_person_types() {
        let text = "words are typed in bursts and thoughts come in between ".repeat(40);
        let strokes = TypingModel::new(Seed::new(3)).type_text(&text, 0.0);
        let total: Duration = strokes.iter().map(|stroke| stroke.after).sum();
        let words_per_minute = 400.0 / (total.as_secs_f64() / 60.0);
        assert!((60.0..90.0).contains(&words_per_minute), "{words_per_minute}");
        let fastest = strokes.iter().map(|stroke| stroke.after).min();
        assert!(fastest.is_some_and(|fastest| fastest >= Duration::from_millis(45)));
        let slowest = strokes.iter().map(|stroke| stroke.after).max();
        assert!(slowest.is_some_and(|slowest| slowest <= Duration::from_secs(5)));
    }

    #[test]
    fn a_slip_hits_the_neighbour() {
        for (letter, left, right) in [
            ('q', Some('w'), Some('w')),
            ('w', Some('q'), Some('e')),
            ('p', Some('o'), Some('o')),
            ('m', Some('n'), Some('n')),
            ('7', None, None),
            ('ß', None, None),
        ] {
            assert_eq!(neighbour(letter, 0.0), left, "{letter}");
            assert_eq!(neighbour(letter, 0.9), right, "{letter}");
        }
    }
}
