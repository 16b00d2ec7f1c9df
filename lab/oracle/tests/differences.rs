//! Checks that the stream of each entry in the table of differences shows the difference.

use rove_oracle::{Alacritty, DIFFERENCES, Emulator as _, Oracle, Ours, Vt100};
use rove_terminal::Size;

fn differs<T: Oracle>(stream: &str) -> bool {
    let size = Size::clamped(10, 6);
    let (mut ours, mut theirs) = (Ours::blank(size), T::blank(size));
    ours.write(stream.as_bytes());
    theirs.write(stream.as_bytes());
    ours.picture().limited_to(T::KNOWN, T::UNDERLINES) != theirs.picture()
}

#[test]
fn every_difference_shows_on_its_stream() {
    let mut gone = Vec::new();
    for difference in &DIFFERENCES {
        for (who, shows) in [
            (Alacritty::WHO, differs::<Alacritty>(difference.shown_by)),
            (Vt100::WHO, differs::<Vt100>(difference.shown_by)),
        ] {
            if !shows && difference.who.includes(who) {
                gone.push((who, difference.theirs));
            }
        }
    }
    assert!(gone.is_empty(), "{gone:#?}");
}
