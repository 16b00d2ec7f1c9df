//! Programs that turn the kernel's echo off.

use super::case::Case;
use super::case::Step::{Answer, Host, Key, Line, Paste, See, Settle, Times};

/// The cases of this file.
pub(super) const CASES: &[Case] = &[
    Case::new(
        "getpass with the text of an earlier input()",
        "/usr/bin/python3",
        "import getpass\ninput('value: ')\nopen('out', 'w').write(getpass.getpass('value: '))",
        &[See("value: "), Line("anna"), Times(2, "value:"), Answer],
    ),
    Case::new(
        "getpass, first prompt, no words",
        "/usr/bin/python3",
        "import getpass\nopen('out', 'w').write(getpass.getpass('\u{1f511} '))",
        &[Settle, Settle, Answer],
    ),
    Case::new(
        "getpass, pasted, with the text of three input()s",
        "/usr/bin/python3",
        "import getpass\nfor n in range(3): input('value: ')
open('out', 'w').write(getpass.getpass('value: '))",
        &[
            See("value: "),
            Line("one"),
            Times(2, "value:"),
            Line("two"),
            Times(3, "value:"),
            Line("three"),
            Times(4, "value:"),
            Paste,
        ],
    ),
    Case::new(
        "getpass in the row of an earlier input()",
        "/usr/bin/python3",
        "import getpass\ninput('value: ')\nprint('\\x1b[A\\r\\x1b[K', end='')
open('out', 'w').write(getpass.getpass('value: '))",
        &[See("value: "), Line("anna"), Settle, Answer],
    ),
    Case::new(
        "three input()s with readline, then one without echo",
        "/usr/bin/python3",
        "import os, readline\nfor n in range(3): input('value: ')\nos.system('stty -echo')
word = input('value: ')\nos.system('stty echo')\nopen('out', 'w').write(word)",
        &[
            See("value: "),
            Line("one"),
            Times(2, "value:"),
            Line("two"),
            Times(3, "value:"),
            Line("three"),
            Times(4, "value:"),
            Answer,
        ],
    ),
    Case::new(
        "python cmd with three commands, then getpass with its prompt",
        "/usr/bin/python3",
        "import cmd, getpass\nclass Shell(cmd.Cmd):
    def default(self, line): pass
    def do_login(self, line):
        open('out', 'w').write(getpass.getpass(self.prompt))
        return True
Shell().cmdloop()",
        &[
            See("(Cmd) "),
            Line("one"),
            Times(2, "(Cmd)"),
            Line("two"),
            Times(3, "(Cmd)"),
            Line("three"),
            Times(4, "(Cmd)"),
            Line("login"),
            Times(5, "(Cmd)"),
            Answer,
        ],
    ),
    Case::new(
        "stty -echo 600 ms after the prompt",
        "sh",
        "printf 'item: '; sleep 0.6; stty -echo; : > off; read -r word; echo \"$word\" > out",
        &[See("item: "), Host("off"), Answer],
    ),
    Case::new(
        "stty -echo 200 ms after the prompt",
        "sh",
        "printf 'item: '; sleep 0.2; stty -echo; : > off; read -r word; echo \"$word\" > out",
        &[See("item: "), Host("off"), Answer],
    ),
    Case::new(
        "stty -echo 2 s after the prompt",
        "sh",
        "printf 'item: '; sleep 2; stty -echo; : > off; read -r word; echo \"$word\" > out",
        &[See("item: "), Host("off"), Answer],
    ),
    Case::new(
        "stty -echo right after the prompt",
        "sh",
        "printf 'item: '; stty -echo; : > off; read -r word; echo \"$word\" > out",
        &[See("item: "), Host("off"), Answer],
    ),
    Case::new(
        "stty -echo 600 ms after the prompt, datagrams lost",
        "sh",
        "printf 'item: '; sleep 0.6; stty -echo; : > off; read -r word; echo \"$word\" > out",
        &[See("item: "), Host("off"), Answer],
    )
    .loss(0.2),
    Case::new(
        "stty -echo on an empty row, no prompt",
        "sh",
        "echo ready; sleep 0.6; stty -echo; : > off; read -r word; echo \"$word\" > out",
        &[See("ready"), Host("off"), Answer],
    ),
    Case::new(
        "stty -echo, echo and -echo again, then typed at once",
        "sh",
        "stty -echo; printf 'item: '; stty echo; sleep 0.4; stty -echo; : > off
        read -r word; echo \"$word\" > out",
        &[See("item: "), Host("off"), Answer],
    ),
    Case::new(
        "five echoed lines, then stty -echo 600 ms after the same prompt",
        "sh",
        "for n in 1 2 3 4 5; do printf 'item: '; read -r name; done
        printf 'item: '; sleep 0.6; stty -echo; : > off; read -r word; echo \"$word\" > out",
        &[
            See("item: "),
            Line("one"),
            Times(2, "item:"),
            Line("two"),
            Times(3, "item:"),
            Line("three"),
            Times(4, "item:"),
            Line("four"),
            Times(5, "item:"),
            Line("five"),
            Times(6, "item:"),
            Host("off"),
            Answer,
        ],
    ),
    Case::new(
        "stty -echo by another process, 900 ms after the prompt",
        "sh",
        "read=$(tty); (sleep 0.9; stty -F \"$read\" -echo; : > off) & printf 'item: '
        read -r word; echo \"$word\" > out",
        &[See("item: "), Host("off"), Answer],
    ),
    Case::new(
        "stty -echo echonl, then the prompt",
        "sh",
        "read -r name; stty -echo echonl; printf 'item: '; read -r word; echo \"$word\" > out",
        &[Settle, Line("anna"), See("item: "), Answer],
    ),
    Case::new(
        "stty cbreak with echo, then without, same prompt",
        "bash",
        "printf 'item: '; stty cbreak; name=$(head -c 4); echo; printf 'item: '; stty -echo
        : > off; head -c 8 > out",
        &[See("item: "), super::case::Step::Type("anna"), Host("off"), super::case::Step::Secret],
    ),
    Case::new(
        "typed ahead behind a name, before a prompt without echo",
        "sh",
        "printf 'name: '; read -r name; stty -echo; : > off; sleep 1.5; printf 'item: '
        read -r word; echo \"$word\" > out",
        &[See("name: "), Line("anna"), Host("off"), Answer],
    ),
    Case::new(
        "typed ahead behind two keys of a name, before a prompt without echo",
        "sh",
        "printf 'item: '; read -r name; stty -echo; : > off; sleep 1; printf 'item: '
        read -r word; echo \"$word\" > out",
        &[See("item: "), Line("ab"), Host("off"), Answer],
    ),
    Case::new(
        "a secret that is asked for again after a wrong one",
        "sh",
        "stty -echo; printf 'item: '; read -r word; echo; printf 'item: '; read -r word
        stty echo; echo \"$word\" > out",
        &[See("item: "), Answer, Times(2, "item:"), Answer],
    ),
    Case::new(
        "Ctrl-Z at a prompt without echo, then fg",
        "sh",
        "exec bash --norc --noprofile -i",
        &[
            See("$ "),
            Line("echo one"),
            Times(2, "$ "),
            Line("sh ask"),
            See("item: "),
            Key("\x1a"),
            See("Stopped"),
            Settle,
            Line("fg"),
            Settle,
            Settle,
            Answer,
            Settle,
            Line("exit"),
        ],
    )
    .with(&[("ask", "stty -echo; printf 'item: '; read -r word; stty echo; echo \"$word\" > out")]),
];
