//! Programs that ask for passphrases, and editors that ask in the last row.

use super::case::Case;
use super::case::Step::{Answer, Each, Key, Line, Lines, Secret, See, Settle, Times, Type};

const VIM: &[(&str, &str)] = &[("vim", "vim")];
const EMACS: &[(&str, &str)] = &[("emacs", "emacs-nox")];
const MINIBUFFER: &[(&str, &str)] = &[("minibuffer.py", include_str!("programs/minibuffer.py"))];
const PYTHON: &[(&str, &str)] = &[(super::case::PYTHON, "python3")];

/// The user enters three lines, each in a row that the key `:` opens, and does the given steps.
macro_rules! after_three_lines {
    ($($then:expr),*) => {
        &[
            See("end of text"),
            Each(&[Key(":"), Line("one"), Key(":"), Line("two"), Key(":"), Line("three")]),
            $($then),*
        ]
    };
}

/// Cases of programs that ask for a passphrase.
pub(super) const PASSPHRASES: &[Case] = &[
    Case::new(
        "ssh-keygen asks for a passphrase twice",
        "sh",
        "ssh-keygen -q -t ed25519 -C ''
        ssh-keygen -y -P \"$SECRET\" -f id > /dev/null && echo \"$SECRET\" > out",
        &[See("which to save"), Line("id"), See("passphrase"), Answer, See("again"), Answer],
    )
    .needs(&[("ssh-keygen", "openssh-client")]),
    Case::new(
        "ssh asks for the passphrase of a key",
        "sh",
        "sh ./nested \"sh -c 'echo $SECRET > out'\" \"$SECRET\"",
        &[See("passphrase for key"), Answer],
    )
    .needs(&[("ssh", "openssh-client"), ("sshd", "openssh-server")])
    .with(&[("nested", super::panes::NESTED)]),
    Case::new(
        "openssl enc asks for a password twice",
        "sh",
        "echo it | openssl enc -aes-256-cbc -pbkdf2 -out box
        openssl enc -d -aes-256-cbc -pbkdf2 -in box -pass env:SECRET > got && echo \"$SECRET\" > out",
        &[See("encryption password:"), Answer, Times(2, "encryption password:"), Answer],
    )
    .needs(&[("openssl", "openssl")])
    .secret("ZWJXQzj"),
    Case::new(
        "gpg asks for a passphrase twice",
        "sh",
        "echo it | gpg -q --pinentry-mode loopback -c -o box
        echo \"$SECRET\" | gpg -q --batch --pinentry-mode loopback --passphrase-fd 0 -d box > got 2> log \\
            && echo \"$SECRET\" > out
        gpgconf --kill gpg-agent",
        &[See("passphrase"), Answer],
    )
    .needs(&[("gpg", "gpg")]),
    Case::new(
        "pinentry on the whole screen",
        "sh",
        "tty=$(tty); printf 'SETPROMPT value:\\nGETPIN\\nBYE\\n' | pinentry-curses --ttyname \"$tty\" \\
            --ttytype \"$TERM\" > out",
        &[See("value:"), Answer],
    )
    .needs(&[("pinentry-curses", "pinentry-curses")]),
    Case::new(
        "git asks for a name, then for a password",
        "sh",
        "printf 'protocol=https\\nhost=host\\n\\n' | git credential fill > out",
        &[See("Username"), Line("anna"), See("Password"), Answer],
    )
    .needs(&[("git", "git")]),
    Case::new(
        "zip -e asks for a password twice",
        "sh",
        "echo it > it; zip -e box it > log; unzip -P \"$SECRET\" -p box > got && echo \"$SECRET\" > out",
        &[See("password:"), Answer, See("erify"), Answer],
    )
    .needs(&[("zip", "zip"), ("unzip", "unzip")])
    .secret("ZWJXQzj"),
    Case::new(
        "su asks for a password",
        "sh",
        // The user cannot become root here. Input that su has not read would be echoed afterwards.
        "user=$(id -u); [ \"$user\" != 0 ] || as='setpriv --reuid=65534 --clear-groups'
        $as su -c true root; echo \"$SECRET\" > out",
        &[See("assword:"), Answer],
    )
    .needs(&[("su", "util-linux"), ("setpriv", "util-linux")]),
    Case::new(
        "expect's own prompt without echo",
        "sh",
        "exec expect -f ask.exp",
        &[Lines("value: ", &["anna"]), Answer],
    )
    .needs(&[("expect", "expect")])
    .with(&[(
        "ask.exp",
        "send_user {value: }; expect_user -re {(.*)\\n}; stty -echo; send_user {value: }
expect_user -re {(.*)\\n}; stty echo; set f [open out w]; puts $f $expect_out(1,string); close $f\n",
    )]),
];

/// Cases of editors that ask for a secret.
pub(super) const EDITORS: &[Case] = &[
    Case::new(
        "vim input(), then inputsecret(), same prompt",
        "sh",
        "vim -N -u NONE -i NONE -c \"let n = input('value: ')\" -c \"let p = inputsecret('value: ')\" \\
            -c \"call writefile([p], 'out')\" -c q",
        &[See("value: "), Line("anna"), Settle, Settle, Answer],
    )
    .needs(VIM),
    Case::new(
        "vim three input()s, then inputsecret(), same prompt",
        "sh",
        "vim -N -u NONE -i NONE -c \"for n in range(3) | let w = input('value: ') | endfor\" \\
            -c \"let p = inputsecret('value: ')\" -c \"call writefile([p], 'out')\" -c q",
        &[
            See("value: "),
            Each(&[Line("one"), Line("two"), Line("three")]),
            Settle,
            Answer,
        ],
    )
    .needs(VIM),
    Case::new(
        "vim, lines of text, then inputsecret() with a colon for its prompt",
        "sh",
        "vim -N -u NONE -i NONE -c 'source rc' text",
        &[
            Each(&[See("~"), Key("i")]),
            Line("one line of text"),
            Line("two lines of text"),
            Each(&[
                Type("three"),
                Key("\x1b"),
                Line(":set list"),
                Line(":set nolist"),
                Line(":set list"),
                Key("Q"),
                Answer,
            ]),
            Line(":q!"),
        ],
    )
    .needs(VIM)
    .with(&[("rc", "nnoremap Q :call writefile([inputsecret(':')], 'out')<CR>\n")]),
    Case::new(
        "vim, inputsecret() within text that is inserted",
        "sh",
        "vim -N -u NONE -i NONE -c 'source rc' text",
        &[
            Each(&[See("~"), Key("i")]),
            Line("one line of text"),
            Line("two lines of text"),
            Each(&[Type("three"), Key("\x1b[15~"), Answer, Type("more"), Key("\x1b")]),
            Line(":q!"),
        ],
    )
    .needs(VIM)
    .with(&[("rc", "inoremap <F5> <C-R>=writefile([inputsecret('> ')], 'out')<CR>\n")]),
    Case::new(
        "vim :X",
        "sh",
        "vim -N -u NONE -i NONE -c 'set cm=blowfish2' text
        vim -N -u NONE -i NONE -es --cmd \"set key=$SECRET\" -c 'w! plain' -c 'set key=' -c 'w! plain' -c 'q!' text
        ! grep -q inner plain || echo \"$SECRET\" > out",
        &[
            Each(&[See("~"), Key("i")]),
            Line("inner"),
            Each(&[Key("\x1b"), Key(":"), Key("\x58"), Line(""), Answer, Answer]),
            Line(":wq"),
        ],
    )
    .needs(VIM)
    .secret("ZWJVQzj"),
    Case::new(
        "emacs read-string, then read-passwd, same prompt",
        "sh",
        "emacs -nw -Q --eval '(progn (read-string \"value: \") (write-region (read-passwd \"value: \") nil \"out\") (kill-emacs))'",
        &[See("value: "), Line("anna"), Settle, Settle, Answer],
    )
    .needs(EMACS),
    Case::new(
        "emacs three read-strings, then read-passwd, same prompt",
        "sh",
        "emacs -nw -Q --eval '(progn (dotimes (n 3) (read-string \"value: \")) (write-region (read-passwd \"value: \") nil \"out\") (kill-emacs))'",
        &[
            See("value: "),
            Each(&[Line("one"), Line("two"), Line("three")]),
            Settle,
            Answer,
        ],
    )
    .needs(EMACS),
    Case::new(
        "a row at the bottom opened by a key, echoed, then hidden with the same prompt",
        "sh",
        "/usr/bin/python3 minibuffer.py : none",
        after_three_lines!(Key("s"), Settle, Answer),
    )
    .needs(PYTHON)
    .with(MINIBUFFER),
    Case::new(
        "a row at the bottom opened by a key, typed on at once",
        "sh",
        "/usr/bin/python3 minibuffer.py : star",
        after_three_lines!(Key("s"), Answer),
    )
    .needs(PYTHON)
    .with(MINIBUFFER),
    Case::new(
        "the same key opens an echoed row three times, then a hidden one",
        "sh",
        "/usr/bin/python3 minibuffer.py : none 4",
        after_three_lines!(Key(":"), Secret, Settle, Line("")),
    )
    .needs(PYTHON)
    .with(MINIBUFFER),
];

/// Cases of other programs with a prompt of their own.
pub(super) const PROMPTS: &[Case] = &[
    Case::new(
        "python's shell, three lines, then getpass with its prompt",
        "sh",
        "exec /usr/bin/python3 -q",
        &[
            Lines(
                ">>> ",
                &[
                    "import getpass",
                    "g = getpass.getpass",
                    "w = open('out', 'w').write",
                    "n = w(g('>' '>> '))",
                ],
            ),
            Answer,
            Times(6, ">>>"),
            Line("exit()"),
        ],
    )
    .needs(&[(super::case::PYTHON, "python3")]),
    Case::new(
        "sqlite3, three lines, then getpass with its prompt in a command",
        "sh",
        "exec sqlite3 box",
        &[
            Lines("sqlite> ", &["select 1;", "select 2;", "select 3;", ".shell bash ask"]),
            Answer,
            Settle,
            Settle,
            Line(".quit"),
        ],
    )
    .needs(&[("sqlite3", "sqlite3")])
    .with(&[("ask", "read -s -p 'sqlite> ' word; echo; echo \"$word\" > out")])
    .secret("ZWJXVzj"),
];
