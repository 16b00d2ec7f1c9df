//! The working directory and the progress that programs report.

use rove_terminal::display::{self, Vocabulary};
use rove_terminal::{OscSupport, Progress, Renderer, Screen, Size, Terminal, TerminalCapabilities};

use super::host;

#[test]
fn programs_tell_their_working_directory() {
    for (input, directory) in [
        ("", ""),
        ("\x1b]7;file://host/home/me\x07", "file://host/home/me"),
        ("\x1b]7;file:///a%20b;c\x1b\\", "file:///a%20b;c"),
        ("\x1b]7;kitty-shell-cwd://host/a\x07", "kitty-shell-cwd://host/a"),
        ("\x1b]7;file://host/a\x07\x1b]7;file://host/b\x07", "file://host/b"),
        ("\x1b]7;file://host/a\x07\x1b]7;\x07", ""),
        ("\x1b]7;file://host/a\x07\x1b]7\x07", "file://host/a"),
        ("\x1b]7;file://host/a\x07\x1b]7;http://host/b\x07", "file://host/a"),
        ("\x1b]7;file://host/a\x07\x1b]7;file://host/b c\x07", "file://host/a"),
        ("\x1b]7;file://host/a\x07\x1b]7;file://host/\u{e9}\x07", "file://host/a"),
        ("\x1b]7;file://host/a\x07\x1b[!p", "file://host/a"),
        ("\x1b]7;file://host/a\x07\x1bc", ""),
    ] {
        assert_eq!(host(80, 2, input).screen().directory(), directory, "{input:?}");
    }
}

#[test]
fn a_directory_too_long_is_ignored_whole() {
    for (len, kept) in [(2082, 2082), (2083, 2083), (2084, 0), (40_000, 0)] {
        let uri = format!("file://{}", "a".repeat(len - "file://".len()));
        let mut terminal = Terminal::host(Size::DEFAULT);
        terminal.write(format!("\x1b]7;{uri}\x07").as_bytes());
        assert_eq!(terminal.screen().directory().len(), kept);
    }
}

#[test]
fn programs_tell_how_far_they_have_come() {
    for (input, progress) in [
        ("", None),
        ("\x1b]9;4;1;50\x07", Some((1, 50))),
        ("\x1b]9;4;1\x07", Some((1, 0))),
        ("\x1b]9;4;1;100\x07\x1b]9;4;1;101\x07", Some((1, 100))),
        ("\x1b]9;4;1;70\x1b\\\x1b]9;4;2\x1b\\", Some((2, 70))),
        ("\x1b]9;4;1;70\x07\x1b]9;4;4;\x07", Some((4, 70))),
        ("\x1b]9;4;4;20\x07", Some((4, 20))),
        ("\x1b]9;4;3\x07", Some((3, 0))),
        ("\x1b]9;4;3;7\x07", Some((3, 0))),
        ("\x1b]9;4;1;50\x07\x1b]9;4;0\x07", None),
        ("\x1b]9;4;1;50\x07\x1b]9;4;0;0\x07", None),
        (
            "\x1b]9;4;1;50\x07\x1b]9;4;5;1\x07\x1b]9;4\x07\x1b]9;4;\x07\x1b]9;4;1;x\x07",
            Some((1, 50)),
        ),
        ("\x1b]9;4;1;50\x07\x1b]9;a notification\x07\x1b]9;41;1\x07", Some((1, 50))),
        ("\x1b]9;4;1;50\x07\x1bc", None),
    ] {
        let told = |progress: Progress| (progress.kind as u8, progress.percent);
        assert_eq!(host(80, 2, input).screen().progress().map(told), progress, "{input:?}");
    }
}

#[test]
fn a_stock_client_is_told_neither() {
    let set = host(80, 2, "\x1b]7;file://host/a\x07\x1b]9;4;1;50\x07");
    let blank = Screen::blank(set.screen().size());
    for (old, new) in [(&blank, set.screen()), (set.screen(), &blank)] {
        assert_eq!(display::diff(old, new, Vocabulary::Stock), b"");
    }
}

#[test]
fn the_users_terminal_is_told_again_in_a_repaint_and_has_nothing_left_in_the_end() {
    let size = Size::clamped(10, 2);
    let mut program = Terminal::host(size);
    let capabilities = TerminalCapabilities {
        osc: OscSupport { window: true, progress: true, ..OscSupport::default() },
        ..TerminalCapabilities::default()
    };
    let mut renderer = Renderer::new(capabilities);
    let mut user = Terminal::host(size);
    let told = |terminal: &Terminal| {
        (terminal.screen().directory().to_owned(), terminal.screen().progress())
    };
    user.write(&renderer.open());
    program.write(b"\x1b]7;file://host/a\x07\x1b]9;4;1;50\x07");
    user.write(&renderer.frame(program.screen()));
    assert_eq!(told(&user), told(&program));

    user.write(b"\x1b]7;file://other/\x07\x1b]9;4;0\x07");
    renderer.invalidate();
    user.write(&renderer.frame(program.screen()));
    assert_eq!(told(&user), told(&program));

    program.write(b"\x1b]7;\x07\x1b]9;4;0\x07");
    renderer.invalidate();
    user.write(&renderer.frame(program.screen()));
    assert_eq!(told(&user), told(&program));

    program.write(b"\x1b]7;file://host/a\x07\x1b]9;4;1;50\x07");
    user.write(&renderer.frame(program.screen()));
    user.write(&renderer.close());
    assert_eq!(told(&user), (String::new(), None));

    let mut silent = Renderer::new(TerminalCapabilities::default());
    silent.open();
    let bytes = [silent.frame(program.screen()), silent.close()].concat();
    assert!(!bytes.windows(2).any(|pair| pair == b"\x1b]"));
}
