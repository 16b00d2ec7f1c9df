//! The command line of `rove-lab screen`.

use clap::{Args, Command};
use rove_cli_docs::Manual;
use rove_replay::screen::ScreenOptions;

use crate::cli::program::LABORATORY;

/// The help and manual page of `rove-lab screen`.
pub(crate) static MANUAL: Manual = Manual {
    word: "screen",
    definition: || {
        ScreenOptions::augment_args(Command::new("rove-lab screen"))
            .override_usage("rove-lab screen [options] < recording")
    },
    notes: &[
        "Text output is one line for each row of the screen, always as many as the screen has, without \
         the blanks at the end of the line. Without --size the input is a typescript, as script writes it in a terminal: its \
         first line tells the size, and is not played, nor is the last one. JSON output is one object; rows and columns count from 0.",
    ],
    lists: &[(
        "Fields of the JSON, which docs/lab.md describes",
        &[
            ("size", "columns, rows"),
            ("cursor", "row, column, visible"),
            (
                "modes",
                "reverse_video, bracketed_paste, focus_reporting, mouse_reporting, mouse_encoding, \
                 alternate_screen, application_cursor_keys, synchronized_output, cursor_style, \
                 application_keypad, alternate_scroll, kitty_keyboard, modify_other_keys",
            ),
            ("title, icon_name, clipboard", "as last set; the clipboard in base64"),
            ("bells", "how often the bell rang"),
            (
                "replies",
                "what the terminal would have answered the program, escaped; reply_bytes says how much",
            ),
            (
                "rows",
                "for each row: text, wrapped (it goes on in the next row), and runs of cells that are \
                 alike: column, cells, width (of each cell), text, foreground, background, attributes",
            ),
        ],
    )],
    examples: &[
        ("rove-lab screen < typescript", "the screen as text, of what script recorded"),
        ("rove-lab screen --size 80x24 < recording", "the same of any bytes"),
        (
            "printf 'a\\033[7mb' | rove-lab screen --size 80x24 --json | jq '.rows[0].runs'",
            "the cells of the first row",
        ),
        (
            "rove-lab screen --size 80x24 --stats < recording > /dev/null",
            "how fast the emulator takes it",
        ),
    ],
    exit_status: &[
        ("0", "The screen was written."),
        ("1", "The input could not be read, or the output not written."),
        ("2", "The command line is wrong, or standard input is a terminal."),
    ],
    ..Manual::of(&LABORATORY)
};
