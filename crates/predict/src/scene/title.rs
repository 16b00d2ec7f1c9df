//! The window's title, in which shells and their programs show the user, the host and the directory.

use core::ops::Range;

use rove_terminal::Screen;

use super::row::{cells, characters};

/// How many words of the title a prompt must contain. Chosen: a single one, such as the name of a user or a database,
/// may occur in the prompt of any program.
const WORDS_MIN: usize = 2;

/// Most characters of the window's title that are read. Chosen: more than a user, a host and a path of usual length.
const TITLE_CHARACTERS_MAX: usize = 256;

/// Returns whether the text in `columns` of a row contains at least two of the names in the window's title (user, host
/// and path). An example is the title `ada@mill: ~/src` with the prompt `ada@mill:~/src$`.
pub(crate) fn is_titled(screen: &Screen, row: u16, columns: Range<u16>) -> bool {
    let cells = cells(screen, row);
    let end = usize::from(columns.end).min(cells.len());
    let prompt: String = characters(&cells[usize::from(columns.start).min(end)..end]).collect();
    let title: String = screen.title().chars().take(TITLE_CHARACTERS_MAX).collect();
    let mut named: Vec<&str> = words(&title).collect();
    named.sort_unstable();
    named.dedup();
    named.iter().filter(|word| words(&prompt).any(|other| other == **word)).count() >= WORDS_MIN
}

/// Returns the names and paths in a text, without those of one character except `~` and `/`.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let is_end = |c: char| c.is_whitespace() || "@:()[]{}<>$#%".contains(c);
    let is_name = |word: &&str| *word == "~" || *word == "/" || word.chars().nth(1).is_some();
    text.split(is_end).filter(is_name)
}

#[cfg(test)]
mod tests {
    use rove_terminal::{Size, Terminal};

    use super::*;

    #[test]
    fn a_prompt_is_titled_by_two_of_user_host_and_path() {
        for (title, prompt, is_it) in [
            ("ada@mill: ~", "ada@mill:~$ ", true),
            ("ada@mill: /usr/src", "[ada@mill src]$ ", true),
            ("ada@mill: /usr/src", "/usr/src ada % ", true),
            ("ada@mill: ~/src", "ada» ", false),
            ("ada@mill: ~/src", "~/src $ ", false),
            ("ada ada", "ada$ ", false),
            ("a b", "a b$ ", false),
            ("", "ada@mill:~$ ", false),
            ("vim", "ada@mill:~$ ", false),
        ] {
            let mut terminal = Terminal::host(Size::DEFAULT);
            terminal.write(format!("\x1b]2;{title}\x07{prompt}").as_bytes());
            let screen = terminal.snapshot();
            let columns = 0..screen.cursor().column;
            assert_eq!(is_titled(&screen, 0, columns), is_it, "{title:?}, {prompt:?}");
        }
    }
}
