//! Characters that the user typed ahead of a prompt, and that the screen shows after the prompt.

use rove_terminal::{Position, Screen};

use crate::scene::text::Text;

/// Returns how many of the first typed characters are directly left of the screen's cursor, and where. There
/// may be several such counts, and the largest comes first.
pub(super) fn echoes<'a>(
    typed: &'a [char],
    screen: &'a Screen,
) -> impl Iterator<Item = (usize, Position)> + 'a {
    let cursor = screen.cursor().position();
    let counts = (1..=typed.len()).rev();
    let starts = counts.filter_map(move |count| {
        let column = cursor.column.checked_sub(u16::try_from(count).ok()?)?;
        Some((count, Position { column, ..cursor }))
    });
    starts.filter(move |(count, start)| {
        (start.column..)
            .zip(&typed[..*count])
            .all(|(column, c)| Text::plain(*c) == Text::of(screen, Position { column, ..*start }))
    })
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    #[test]
    fn the_longest_text_left_of_the_cursor_comes_first() {
        let mut host = Terminal::host(Size::new(20, 2).unwrap());
        host.write(b"$ aa");
        let screen = host.snapshot();
        let counts = |typed: &str| -> Vec<_> {
            let typed: Vec<char> = typed.chars().collect();
            echoes(&typed, &screen).map(|(count, start)| (count, start.column)).collect()
        };
        assert_eq!(counts("aab"), [(2, 2), (1, 3)]);
        assert_eq!(counts("ba"), []);
        assert_eq!(counts("$ aaaaaa"), [(4, 0)]);
    }
}
