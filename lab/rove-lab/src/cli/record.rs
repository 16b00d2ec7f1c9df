//! The command line of `rove-lab record`.

use clap::{Args, Command};
use rove_cli_docs::{Manual, Words};
use rove_replay::record::RecordOptions;

use crate::cli::program::LABORATORY;

/// The help and manual page of `rove-lab record`.
pub(crate) static MANUAL: Manual = Manual {
    word: "record",
    definition: || {
        RecordOptions::augment_args(Command::new("rove-lab record"))
            .override_usage("rove-lab record [options] -- command...")
    },
    words: Words::Command,
    notes: &[
        "The trace holds everything that is typed and shown, and nobody but you may read its file. What is typed while the terminal gathers a \
         line without echo, as for a password, is written down as that many x, unless --with-secrets is \
         given; a program that reads a password in another way is not recognised.",
        "Keys come from your terminal, from standard input where that is no terminal, or from a script. \
         When a script or standard input has ended, a command that is quiet for two seconds is hung up. \
         docs/lab.md describes trace and script.",
    ],
    lists: &[(
        "A script, one step a line, # for remarks",
        &[
            (
                "line TEXT",
                "types the text as a person does, with slips that are rubbed out, and Enter",
            ),
            ("type TEXT", "the same without Enter"),
            ("exactly TEXT", "the same without slips"),
            ("burst TEXT", "sends the text at once, as an input method does"),
            (
                "press KEY...",
                "presses keys: Enter Tab Space Backspace Escape Up Down Left Right Home End Insert Delete \
                 PageUp PageDown F1 to F12 Shift-Tab Ctrl-a Alt-f Ctrl-Left; Left*5 presses five times",
            ),
            ("hold KEY*TIMES TIME", "holds a key down, which repeats every TIME: PageDown*40 33ms"),
            ("prompt TEXT", "waits until the text is left of the cursor and the program is quiet"),
            ("see TEXT", "waits until the text is on the screen and the program is quiet"),
            ("quiet TIME", "waits until the program has written nothing for so long"),
            ("pause TIME", "does nothing for so long"),
            ("resize COLSxROWS", "gives the terminal another size"),
            ("slips SHARE", "mistypes this share of the letters from here on; 2.5% at first"),
        ],
    )],
    examples: &[
        ("rove-lab record -o session.jsonl -- bash", "a shell, until you leave it"),
        (
            "rove-lab record -o session.jsonl --script typing.txt --seed 7 -- vim notes",
            "an editor, typed at by a script",
        ),
        ("printf 'ls\\rexit\\r' | rove-lab record -o session.jsonl -- sh", "a shell at a pipe"),
    ],
    environment: &[(
        "TERM",
        "The type of terminal the command is told; xterm-256color where it is not set.",
    )],
    exit_status: &[
        ("0 to 255", "The command's own; 128 and the signal where one ended it, or us."),
        (
            "1",
            "The command could not be run, the trace not be written, or the script waited in vain.",
        ),
        ("2", "The command line or the script is wrong."),
    ],
    ..Manual::of(&LABORATORY)
};
