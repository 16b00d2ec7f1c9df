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
         first line tells the size, and is not played, nor is the last one. JSON output is one object on a line; rows and columns count from 0. New fields may come; \
         these keep their meaning.",
    ],
    lists: &[
        (
            "Fields of the JSON",
            &[
                (
                    "size, cursor",
                    "columns, rows; row, column (below the width when a wrap is pending), visible",
                ),
                (
                    "modes",
                    "set or not: reverse_video, bracketed_paste, focus_reporting, alternate_screen, synchronized_output, application_cursor_keys, \
                     application_keypad. mouse_reporting: off, x10, normal, highlight, button-motion, any-motion (modes 9, 1000 to 1003). \
                     mouse_encoding: default, utf8, sgr, urxvt, sgr-pixels. cursor_style: 0 to 6 (0: the terminal's own). modify_other_keys: 0 to 2. \
                     alternate_scroll: mode 1007 as last set or reset; null if never. kitty_keyboard: flags in force, 0 to 31; the user's terminal \
                     counts as one with the protocol and pixel reports",
                ),
                (
                    "title and the like",
                    "title, icon_name, directory (OSC 7: an address) as last set, or empty; clipboard: the last copy in base64, up to 16,379 characters",
                ),
                (
                    "colors, progress",
                    "#rrggbb by palette number, foreground, background, cursor, if set; kind (running, failed, indeterminate, paused) and percent, if any",
                ),
                (
                    "bells, replies",
                    "how many bells; the terminal's answers, 64 KiB at most, escaped as in Rust, with the length of all in reply_bytes",
                ),
                ("rows", "text, wrapped (goes on in the next row without a line break), runs"),
            ],
        ),
        (
            "Fields of a run of cells that are alike",
            &[
                (
                    "column, cells, width, text",
                    "its first column, how many cells, the columns of each (1 or 2); text: a code point for each cell, \"\" if empty. A cell with \
                     combining characters is a run of its own; an empty one without a colour is in none",
                ),
                (
                    "looks",
                    "foreground, background: default, a palette index, or #rrggbb; attributes: of bold, faint, italic, blink, inverse, invisible, strike, \
                     overline. If set: underline (straight, double, curly, dotted, dashed), underline_color, link (id, uri)",
                ),
            ],
        ),
    ],
    examples: &[
        ("rove-lab screen < typescript", "the screen as text, of what script recorded"),
        ("rove-lab screen --size 80x24 < recording", "the same of any bytes"),
        (
            "printf 'a\\033[7mb' | rove-lab screen --size 80x24 --json | jq '.rows[0].runs'",
            "the cells of the first row",
        ),
    ],
    exit_status: &[
        ("0", "The screen was written."),
        ("1", "The input could not be read, or the output not written."),
        ("2", "The command line is wrong, or standard input is a terminal."),
    ],
    ..Manual::of(&LABORATORY)
};
