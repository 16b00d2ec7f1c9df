//! Programs that turn the kernel's echo off.

use super::case::Case;
use super::case::Step::{
    Answer, Gone, Host, Key, Line, Lines, Paste, Secret, See, Settle, Times, Type,
};

/// The cases of this file.
pub(super) const CASES: &[Case] = &[
    Case::new(
        "getpass with the text of an earlier input()",
        "/usr/bin/python3",
        "import getpass\ninput('value: ')\nopen('out', 'w').write(getpass.getpass('value: '))",
        &[Lines("value: ", &["anna"]), Answer],
    ),
    Case::new(
        "getpass, first prompt, no words",
        "/usr/bin/python3",
        "import getpass\nopen('out', 'w').write(getpass.getpass('\u{1f511} '))",
        &[See("\u{1f511}"), Answer],
    ),
    Case::new(
        "getpass, pasted, with the text of three input()s",
        "/usr/bin/python3",
        "import getpass\nfor n in range(3): input('value: ')
open('out', 'w').write(getpass.getpass('value: '))",
        &[Lines("value: ", &["one", "two", "three"]), Paste],
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
        &[Lines("value: ", &["one", "two", "three"]), Answer],
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
        &[Lines("(Cmd) ", &["one", "two", "three", "login"]), Answer],
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
        &[Lines("item: ", &["one", "two", "three", "four", "five"]), Host("off"), Answer],
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
        &[See("item: "), Type("anna"), Host("off"), Secret],
    ).excused(4),
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
            Lines("$ ", &["echo one"]),
            Line("/usr/bin/python3 ask.py"),
            See("item: "),
            Key("\x1a"),
            See("Stopped"),
            Settle,
            Line("fg"),
            Host("off"),
            Answer,
            Settle,
            Line("exit"),
        ],
    )
    .needs(PYTHON_AND_BASH)
    .with(&[("ask.py", STOPPED)]),
    Case::new(
        "an echo that is another's affair (EXTPROC)",
        "sh",
        "exec /usr/bin/python3 ask.py",
        &[See("item: "), Settle, Settle, Secret],
    )
    .needs(PYTHON_AND_BASH)
    .with(&[("ask.py", EXTPROC)]),
    Case::new(
        "three reads and one without echo, no prompts",
        "bash",
        "echo ready; read a; read b; read c; stty -echo; : > off; read word; stty echo
        echo \"$word\" > out",
        &[See("ready"), Line("one"), Line("two"), Line("three"), Host("off"), Answer],
    ),
    Case::new(
        "read and read -s on a screen that is cleared for each",
        "bash",
        "clear; read -p 'value: ' name; clear; read -p 'value: ' name; clear
        read -s -p 'value: ' word; echo \"$word\" > out",
        &[
            See("value: "),
            Line("one"),
            Gone("one"),
            See("value: "),
            Settle,
            Line("two"),
            Gone("two"),
            See("value: "),
            Settle,
            Answer,
        ],
    ),
    Case::new(
        "a key that is echoed, then stty -echo in the same row",
        "bash",
        "read -n 1 -p 'sure? ' yes; stty -echo; printf '\\r\\033[Ksure? '; : > off
        read word; stty echo; echo \"$word\" > out",
        &[See("sure? "), Key("y"), Host("off"), Settle, Answer],
    ),
    Case::new(
        "ticks on the screen while a secret is typed without echo",
        "bash",
        "read -p 'value: ' name; stty -echo; printf 'value: '
        (for n in 1 2 3 4 5 6 7 8 9; do sleep 0.2; echo tick; done) &
        read word; stty echo; wait; echo \"$word\" > out",
        &[Lines("value: ", &["anna"]), Answer],
    ),
    Case::new(
        "systemd-ask-password",
        "sh",
        "systemd-ask-password --timeout=80 value: > out",
        &[See("value:"), Answer],
    )
    .needs(&[("systemd-ask-password", "systemd")]),
    Case::new(
        "systemd-ask-password --echo=no at the text of an earlier read",
        "bash",
        "read -p 'value: ' name; systemd-ask-password --timeout=80 --emoji=no --echo=no value: > out",
        &[Lines("value: ", &["anna"]), Answer],
    )
    .needs(&[("systemd-ask-password", "systemd")]),
];

const PYTHON_AND_BASH: &[(&str, &str)] = &[(super::case::PYTHON, "python3"), ("bash", "bash")];

/// A program that asks without echo. When it continues after a stop, it turns the echo off again.
const STOPPED: &str = "\
import signal, sys, termios
def hide(*_):
    modes[3] &= ~termios.ECHO
    termios.tcsetattr(0, termios.TCSANOW, modes)
def again(*_):
    hide()
    open('off', 'w')
before = termios.tcgetattr(0)
modes = termios.tcgetattr(0)
signal.signal(signal.SIGTTOU, signal.SIG_IGN)
signal.signal(signal.SIGCONT, again)
hide()
print('item: ', end='', flush=True)
word = sys.stdin.readline()
termios.tcsetattr(0, termios.TCSANOW, before)
open('out', 'w').write(word)
";

/// A program that reads without echo although the modes include ECHO. With EXTPROC, another program should echo.
const EXTPROC: &str = "\
import os, termios
before = termios.tcgetattr(0)
modes = termios.tcgetattr(0)
modes[3] |= termios.ECHO | termios.ICANON | 0o200000
termios.tcsetattr(0, termios.TCSANOW, modes)
print('item: ', end='', flush=True)
word = b''
while len(word) < 8:
    word += os.read(0, 1)
termios.tcsetattr(0, termios.TCSANOW, before)
open('out', 'w').write(word.decode())
";
