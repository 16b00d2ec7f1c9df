//! tmux's control mode is refused with a notice, and the terminal's state stays the same.

use rove_terminal::{Size, Terminal};

use super::{cell, check, cursor, host, paint, rows};

const REFUSAL: &str =
    "tmux -CC cannot run in rove: press Enter to leave it, and start it over ssh.";
/// The start of a session as tmux 3.3a prints it, and the end after Enter.
const BEGIN: &str = "\x1bP1000p%begin 1 259 0\r\n%end 1 259 0\r\n%output %0 \\033[?2004h$ \r\n";
const END: &str = "%exit\r\n\x1b\\";

#[test]
fn the_user_is_told_of_ssh_and_how_to_go_on() {
    let whole = [BEGIN, END, "$ "].concat();
    check(
        80,
        4,
        &[
            (BEGIN, &[REFUSAL], (2, 1)),
            (&whole, &[REFUSAL, "$"], (2, 3)),
            (&["$ tmux -CC", BEGIN, END, "$ "].concat(), &["$ tmux -CC", REFUSAL, "$"], (3, 3)),
            // The text of the session is not printed, however long it is.
            (&[BEGIN, &"%output x\r\n".repeat(400), END, "$"].concat(), &[REFUSAL, "$"], (2, 2)),
            (&["\x1b[4;1H$", BEGIN].concat(), &["", "$", REFUSAL], (4, 1)),
        ],
    );
    assert_eq!(host(80, 4, BEGIN).take_replies(), b"");
}

#[test]
fn the_sentence_is_plain_whatever_is_set_and_changes_no_setting() {
    let set = "\x1b[31;7m\x1b(0\x1b[4h\x1b[?7l";
    let terminal = host(40, 4, [set, BEGIN, END, "q"].concat());
    let (first, second) = REFUSAL.split_at(40);
    assert_eq!(rows(terminal.screen()), [first.trim_end(), second.trim_end(), "─"]);
    assert_eq!(paint(cell(terminal.screen(), 1, 1)), "");
    assert_eq!(paint(cell(terminal.screen(), 3, 1)), "r on 1");
    assert_eq!(cursor(terminal.screen()), (3, 2));
}

#[test]
fn other_strings_are_refused_nothing() {
    for input in [
        "\x1bP1000q\x1b\\",
        "\x1bP100p\x1b\\",
        "\x1bPp\x1b\\",
        "\x1bP?1000p\x1b\\",
        "\x1bP1000$p\x1b\\",
        "\x1bP1000",
        "\x1b[1000p",
    ] {
        assert!(rows(host(80, 4, input).screen()).is_empty(), "{input:?}");
    }
    let mut replica = Terminal::replica(Size::DEFAULT);
    replica.write(BEGIN.as_bytes());
    assert!(rows(replica.screen()).is_empty());
}
