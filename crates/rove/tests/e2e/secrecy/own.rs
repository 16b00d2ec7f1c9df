//! Sessions whose own program is the shell that asks. In some, another program that asks replaces the shell.

use super::case::Step::{
    Answer, Each, Host, Key, Line, Lines, LinesFrom, Rows, See, Settle, Three, Times,
};
use super::case::{Case, Step};

const BASH_RC: &str = "\
PS1='$ '; HISTFILE=
alike() { read -rs -p \"$PS1\" word; echo; echo \"$word\" > out; }
edited() { read -ers -p \"$PS1\" word; echo; echo \"$word\" > out; }
ask() { : > begun; read -rs -n 8 word < /dev/tty; echo \"$word\" > out; }
trap ask WINCH; finish() { trap - WINCH; exec sh ./canary; }
";
const ZSH_RC: &str = "\
PS1='$ '
alike() { read -rs \"word?$PS1\"; echo; print -r -- $word > out }
secret() { : > begun; IFS= read -rs -k 8 word; print -r -- $word > out }
zle -N secret; bindkey '^G' secret; bindkey '^A' secret; finish() { exec sh ./canary }
";
const FISH_RC: &str = "\
function fish_prompt; echo -n '$ '; end
function fish_greeting; end
function alike; read -s -P '$ ' word; echo $word > out; end
function finish; exec sh ./canary; end
";
const FILES: &[(&str, &str)] = &[
    ("rc", BASH_RC),
    (".zshrc", ZSH_RC),
    ("rc.fish", FISH_RC),
    ("ask", "read -rs -p '$ ' word; echo; echo \"$word\" > out"),
    (
        "helper",
        "for n in 1 2 3; do read -p '% ' name; done; read -s -p '% ' word; echo \"$word\" > out
exec sh ./canary",
    ),
    ("asks.py", "import getpass\nprint(getpass.getpass('>>> '), file=open('out', 'w'))\n"),
    (
        "hides.py",
        "import os\nos.system('stty -echo'); word = input('>>> '); os.system('stty echo')
print(word, file=open('out', 'w'))\n",
    ),
    ("selects.py", SELECTS),
    (
        "asks.gdb",
        "python import getpass\npython print(getpass.getpass('(gdb) '), file=open('out', 'w'))\n",
    ),
    ("serve", SERVES),
    ("edits", "read -ers -p \"$1\" word; echo; echo \"$word\" > out"),
];
/// A Python program that reads a line in a line editor's modes. It waits in select(2), as Python's prompt does.
const SELECTS: &str = "\
import os, select, sys, termios, tty
before = tty.setcbreak(0) or termios.tcgetattr(0)
print('>>> ', end='', flush=True)
word = ''
while '\\n' not in word:
    select.select([0], [], [])
    word += os.read(0, 1).decode().replace('\\r', '\\n')
os.system('stty sane')
print()
print(word, file=open('out', 'w'), end='')
";
/// A PostgreSQL server in Python. It asks the user `asker` for a password, and answers nothing else.
const SERVES: &str = "\
import os, signal, socket, sys
listener = socket.socket(socket.AF_UNIX)
listener.bind('\\0' + sys.argv[1] + '/.s.PGSQL.5432')
listener.listen()
if os.fork():
    sys.exit()
signal.alarm(60)
client = listener.accept()[0]
while os.fork():
    client = listener.accept()[0]
if b'asker' in client.recv(999):
    client.sendall(b'R\\0\\0\\0\\x08\\0\\0\\0\\3')
    word = client.recv(999)[5:-1].decode() or sys.exit()
    print(word, file=open('out', 'w'))
client.sendall(b'R\\0\\0\\0\\x08\\0\\0\\0\\0Z\\0\\0\\0\\x05I')
client.recv(999)
";
const BASH: &str = "exec bash --noprofile --rcfile rc -i";
const ZSH: &str = "exec zsh -i";
const FISH: &str = "exec fish --no-config -C 'source rc.fish' -i";

/// Creates a case whose script is the session's own program.
const fn own(name: &'static str, script: &'static str, steps: &'static [Step]) -> Case {
    Case::new(name, "sh", script, steps)
        .needs(&[("bash", "bash"), ("zsh", "zsh"), ("fish", "fish")])
        .with(FILES)
        .own()
}

/// The user enters three commands, a command that asks with the shell's prompt, the secret, and the end.
macro_rules! command {
    ($line:literal) => {
        &[Three("$ "), Line($line), Times(5, "$ "), Answer, Settle, Settle, Line("finish")]
    };
}
/// The user enters three commands. A step then starts a silent read. The user enters the secret and `finish`.
macro_rules! silence {
    ($step:expr) => {
        &[Three("$ "), $step, Each(&[Host("begun"), Answer]), Line("finish")]
    };
}

/// The session's own shell starts a program. The user enters three lines at the program's prompt, a line that asks with
/// the same prompt, the secret, and the end.
macro_rules! within {
    ($program:literal, $prompt:literal, $line:literal, $ask:literal, $end:literal) => {
        &[
            Three("$ "),
            Line($program),
            Lines($prompt, &[$line, $line, $line]),
            Line($ask),
            Times(5, $prompt),
            Answer,
            Settle,
            Settle,
            Line($end),
            Settle,
            Line("finish"),
        ]
    };
}

/// The cases of this file.
pub(super) const CASES: &[Case] = &[
    own("the session's own bash, read -s with its prompt", BASH, command!("alike")),
    own("the session's own bash, a child asks with its prompt", BASH, command!("bash ask")),
    own(
        "the session's own bash without job control, a child asks with its prompt",
        BASH,
        command!("set +m; bash ask"),
    ),
    own(
        "the session's own bash, a trap of a resize that reads in silence",
        BASH,
        silence!(Rows(20)),
    ),
    own("the session's own zsh, read -s with its prompt", ZSH, command!("alike")),
    own(
        "the session's own zsh without job control, a child asks with its prompt",
        ZSH,
        command!("unsetopt monitor; bash ask"),
    ),
    own("the session's own zsh, a silent widget", ZSH, silence!(Key("\x07"))),
    own("the session's own zsh, a silent widget on Ctrl-A", ZSH, silence!(Key("\x01"))),
    own("the session's own fish, a child asks with its prompt", FISH, command!("bash ask")),
    own(
        "the session's own program is no shell, three reads, then read -s",
        "exec bash helper",
        &[Three("% "), Answer],
    ),
    own(
        "the session's own shell is replaced by a program that asks",
        "PS1='% ' exec dash -i",
        &[
            Three("% "),
            Line("exec bash helper"),
            LinesFrom(5, "% ", &["one", "two", "three"]),
            Answer,
        ],
    ),
];

/// Cases of programs with line editors that the session's own shell starts.
pub(super) const PROGRAMS: &[Case] = &[
    own(
        "the session's own Python, getpass with its prompt",
        BASH,
        within!("/usr/bin/python3", ">>> ", "1 + 1", "import asks", "exit()"),
    ),
    own(
        "the session's own Python, a line without echo with its prompt",
        BASH,
        within!("/usr/bin/python3", ">>> ", "1 + 1", "import hides", "exit()"),
    ),
    own(
        "the session's own Python, keys that select(2) waits for with its prompt",
        BASH,
        within!("/usr/bin/python3", ">>> ", "1 + 1", "import selects", "exit()"),
    ),
    own(
        "the session's own Python, a child asks with its prompt",
        BASH,
        within!(
            "/usr/bin/python3",
            ">>> ",
            "1 + 1",
            "import subprocess; subprocess.run(['bash', 'edits', chr(62) * 3 + ' '])",
            "exit()"
        ),
    ),
    own(
        "the session's own gdb, getpass with its prompt",
        BASH,
        within!("gdb -q -nx", "(gdb) ", "print 1", "source asks.gdb", "quit"),
    )
    .needs(&[("bash", "bash"), ("gdb", "gdb")]),
    own(
        "the session's own gdb, a child asks with its prompt",
        BASH,
        within!("gdb -q -nx", "(gdb) ", "print 1", "shell bash edits '(gd''b) '", "quit"),
    )
    .needs(&[("bash", "bash"), ("gdb", "gdb")]),
    own(
        "the session's own sqlite3, a child asks with its prompt",
        BASH,
        within!("sqlite3", "sqlite> ", "select 1;", ".shell bash edits \"sql\\151te> \"", ".quit"),
    )
    .secret("ZWJXVzj")
    .needs(&[("bash", "bash"), ("sqlite3", "sqlite3")]),
    own(
        "the session's own psql, a child asks with its prompt",
        BASH,
        within!(
            "/usr/bin/python3 serve $$; psql -qh @$$ -p 5432 shop",
            "shop=> ",
            "\\echo 1",
            "\\! bash edits 'sho''p=> '",
            "\\q"
        ),
    )
    .needs(&[("bash", "bash"), ("psql", "postgresql-client")]),
    own(
        "the session's own psql, a connection that asks for a password",
        BASH,
        &[
            Three("$ "),
            Line("/usr/bin/python3 serve $$; psql -qh @$$ -p 5432 shop"),
            Lines("shop=> ", &["\\echo 1", "\\echo 1", "\\echo 1"]),
            Line("\\c - asker"),
            See("user asker: "),
            Each(&[Answer, Line("\\q")]),
            Line("finish"),
        ],
    )
    .needs(&[("bash", "bash"), ("psql", "postgresql-client")]),
    own(
        "the session's own redis-cli, then a program asks with its prompt",
        BASH,
        &[
            Three("$ "),
            Line("redis-cli -p 1"),
            Lines("not connected> ", &["ping", "ping", "ping"]),
            Line("quit"),
            Settle,
            Line("bash edits 'not connec''ted> '"),
            Times(5, "not connected> "),
            Answer,
            Settle,
            Settle,
            Line("finish"),
        ],
    )
    .needs(&[("bash", "bash"), ("redis-cli", "redis-tools")]),
    own(
        "the session's own redis-cli, a password with stars",
        BASH,
        &[
            Three("$ "),
            Line("redis-cli -p 1 --askpass ping; echo \"$SECRET\" > out"),
            See("password: "),
            Answer,
            Settle,
            Line("finish"),
        ],
    )
    .needs(&[("bash", "bash"), ("redis-cli", "redis-tools")]),
];

/// Cases of prompts at which the session's own shell itself waits.
pub(super) const SHELLS: &[Case] = &[
    own("the session's own bash, read -e -s with its prompt", BASH, command!("edited")).excused(4),
    own("the session's own fish, read -s with its prompt", FISH, command!("alike")).excused(4),
];
