//! Other programs' prompts that end in a shell's sign. Several use a shell's bracketed paste and window titles, too.

use super::case::Step::{
    Answer, Burst, Each, Host, Key, Line, Lines, LinesFrom, Rows, See, Settle, Three, Times, Type,
};
use super::case::{Case, PYTHON, Step};

const BASH: &[(&str, &str)] = &[("bash", "bash")];
const TOOLKIT: &[(&str, &str)] = &[
    (PYTHON, "python3"),
    ("/usr/lib/python3/dist-packages/prompt_toolkit/__init__.py", "python3-prompt-toolkit"),
];
const FILES: &[(&str, &str)] = &[
    // The prompt, the options for reading names, and the options for reading the secret.
    (
        "helper",
        "for n in 1 2 3; do read $2 -p \"$1\" name; done; read -s $3 -p \"$1\" word
echo \"$word\" > \"$OUT\"; [ -z \"$TMUX\" ] || tmux kill-server",
    ),
    ("ask", "read -s -p \"$1\" word; echo; echo \"$word\" > \"$OUT\""),
    ("hush", "stty -echo; : > off; bash ask '$ '; stty echo"),
    ("toolkit.py", include_str!("programs/toolkit.py")),
    ("raw.py", include_str!("programs/raw.py")),
    ("nested", super::panes::NESTED),
    ("rc", "PS1='$ '; HISTFILE=; bind -x '\"\\C-g\": kill -9 $$'\n"),
    (
        "titled",
        "PS1='\\[\\e]0;anna@db1: ~\\a\\]anna@db1:~$ '; HISTFILE=; bind 'set enable-bracketed-paste off'
",
    ),
    ("bare.conf", "set -g status off\nset -s exit-unattached on\n"),
    (
        "ask.pl",
        "$| = 1; for (1..3) { print '% '; <STDIN> } system 'stty -echo'; print '% '; my $word = <STDIN>;
system 'stty echo'; open my $out, '>', 'out'; print $out $word;\n",
    ),
    (
        "ask.rb",
        "require 'io/console'
3.times { print '% '; $stdout.flush; gets }
File.write('out', $stdin.getpass('% '))\n",
    ),
    (
        "ask.exp",
        "spawn -noecho bash helper {% }; interact\n",
    ),
    (
        "ask.tcsh",
        "set prompt = '% '; alias ask 'stty -echo; echo -n \"% \"; set word = $<; stty echo; echo $word > out'\n",
    ),
    (
        "ask.py",
        "import getpass, readline
for n in range(3): input('\u{bb} ')
open('out', 'w').write(getpass.getpass('\u{bb} '))\n",
    ),
];

/// Creates a case of an `sh` script with the files [`FILES`].
const fn case(
    name: &'static str,
    needs: &'static [(&'static str, &'static str)],
    script: &'static str,
    steps: &'static [Step],
) -> Case {
    Case::new(name, "sh", script, steps).needs(needs).with(FILES)
}

/// The user enters three lines at a prompt, and the secret at the same prompt.
macro_rules! at {
    ($prompt:literal) => {
        &[Three($prompt), Answer]
    };
}
/// The user enters three commands at a shell's prompt, a command that asks with the prompt `$prompt`, the secret, and
/// the shell's end. `$count` is how often the prompt is on the screen with the question.
macro_rules! command {
    ($prompt:literal, $line:literal, $count:literal) => {
        &[Three($prompt), Line($line), Times($count, $prompt), Answer, Settle, Settle, Line("exit")]
    };
}

/// Prompts that end in a shell's sign.
pub(super) const CASES: &[Case] = &[
    case(
        "bash read with a dollar, then read -s",
        BASH,
        "exec bash helper '$ '",
        at!("$ "),
    ),
    case(
        "bash read with a hash, then read -s, --predict=always",
        BASH,
        "exec bash helper '# '",
        at!("# "),
    ).always(),
    case(
        "bash read -e with a percent, then read -s",
        BASH,
        "exec bash helper '% ' -e",
        at!("% "),
    ),
    case(
        "bash read with a lambda, then read -e -s",
        BASH,
        "exec bash helper 'λ ' '' -e",
        at!("λ "),
    ),
    case(
        "bash read with an arrow in script, then read -s",
        &[("script", "bsdutils"), ("bash", "bash")],
        "script -q -c \"bash helper '➜ '\" /dev/null",
        at!("➜ "),
    ),
    case(
        "bash read with a hash over ssh, then read -s",
        &[("ssh", "openssh-client"), ("sshd", "openssh-server"), ("bash", "bash")],
        "sh ./nested \"bash helper '# '\" ''",
        at!("# "),
    ),
    case(
        "bash read -e with a hash over ssh, then read -s",
        &[("ssh", "openssh-client"), ("sshd", "openssh-server"), ("bash", "bash")],
        "sh ./nested \"bash helper '# ' -e\" ''",
        at!("# "),
    ),
    case(
        "bash read with a percent in expect, then read -s",
        &[("expect", "expect"), ("bash", "bash")],
        "exec expect -f ask.exp",
        at!("% "),
    ),
    case(
        "bash read with a percent in tmux, then read -s, beside a shell",
        &[("tmux", "tmux"), ("bash", "bash")],
        "tmux -S sock -f bare.conf new-session 'bash --norc --noprofile -i' ';' \\
            split-window -h \"bash helper '% '\"",
        &[See("$ "), Three("% "), Each(&[Key("\x02o"), Key("\x02o")]), Answer],
    ),
    case(
        "bash read with a percent in dtach, then read -s",
        &[("dtach", "dtach"), ("bash", "bash")],
        "exec dtach -c sock bash helper '% '",
        at!("% "),
    ),
    case(
        "bash read with a percent, the window shrinks, then read -s",
        BASH,
        "exec bash helper '% '",
        &[Three("% "), Rows(20), Answer],
    ),
    case(
        "bash read with a percent, then read -s, all keys at once",
        BASH,
        "exec bash helper '% ' -e",
        &[Three("% "), Burst],
    ),
    case(
        "readline in python with a shell's sign, then getpass",
        &[(PYTHON, "python3")],
        "exec /usr/bin/python3 ask.py",
        at!("» "),
    ),
    case(
        "perl with a percent, then without echo",
        &[("perl", "perl-base")],
        "exec perl ask.pl",
        at!("% "),
    ),
    case(
        "ruby with a percent, then without echo",
        &[("ruby", "ruby")],
        "exec ruby ask.rb",
        at!("% "),
    ),
    case(
        "bash select with a dollar, then read -s with it",
        BASH,
        "exec bash chosen",
        &[Lines("$ ", &["1", "2", "3", "4"]), Answer],
    )
    .with(&[("chosen", "PS3='$ '; n=0; select item in a b c d; do n=$((n + 1)); [ $n -lt 4 ] || break; done
read -s -p '$ ' word; echo \"$word\" > out")]),
    case(
        "zsh vared with a percent, then read -s",
        &[("zsh", "zsh")],
        "exec zsh -f asks",
        at!("% "),
    )
    .with(&[("asks", "for n in 1 2 3; do name=; vared -p '%% ' name; done; read -s 'word?% '; print -r -- $word > out")]),
    case(
        "raw mode, a shell's sign, pastes marked at the names only",
        &[(PYTHON, "python3")],
        "p='» '; /usr/bin/python3 raw.py \"echo,paste:$p\" \"echo,paste:$p\" \"echo,paste:$p\" \"none:$p\"",
        at!("» "),
    ),
    case(
        "raw mode, a shell's sign, pastes marked at the secret only",
        &[(PYTHON, "python3")],
        "p='» '; /usr/bin/python3 raw.py \"echo:$p\" \"echo:$p\" \"echo:$p\" \"none,paste:$p\"",
        at!("» "),
    ),
    case(
        "bash read, then read -s, a title with one-letter names",
        BASH,
        "printf '\\033]0;%s\\007' 'a@b: ~'; exec bash helper 'able b$ '",
        at!("able b$ "),
    ),
    case(
        "bash read, then read -s, a title with the path of the root",
        BASH,
        "printf '\\033]0;%s\\007' 'anna@far: /'; exec bash helper 'yes/no $ '",
        at!("yes/no $ "),
    ),
    case(
        "bash read, then read -s, a title that counts",
        BASH,
        "printf '\\033]0;%s\\007' 'value 3 %'; exec bash helper 'value % '",
        at!("value % "),
    ),
    case(
        "bash read, then read -s, a title with a word of the prompt",
        BASH,
        "printf '\\033]0;%s\\007' 'value: asked'; exec bash helper 'value $ '",
        at!("value $ "),
    ),
    case(
        "bash read, then read -s, a title that is the prompt",
        BASH,
        "printf '\\033]0;%s\\007' 'value $'; exec bash helper 'value $ '",
        at!("value $ "),
    ),
    case(
        "bash read, then read -s, a title of another host",
        BASH,
        "printf '\\033]0;%s\\007' 'anna@far: ~'; exec bash helper 'anna@near $ '",
        at!("anna@near $ "),
    ),
    case(
        "bash read, then a title that names the prompt's host, and read -s",
        BASH,
        "exec bash late 'anna@db1:~$ '",
        at!("anna@db1:~$ "),
    )
    .with(&[("late", "for n in 1 2 3; do read -p \"$1\" name; done; printf '\\033]0;anna@db1: ~\\007'
read -s -p \"$1\" word; echo \"$word\" > out")]),
    case(
        "tcsh, three commands, then one without echo at its prompt",
        &[("tcsh", "tcsh")],
        "HOME=$PWD; mv ask.tcsh .tcshrc; exec tcsh -i",
        command!("% ", "ask", 5),
    ),
    case(
        "mksh, three commands, then one without echo at its prompt",
        &[("mksh", "mksh")],
        "PS1='# ' exec mksh -i",
        command!("# ", "bash ask '# '", 6),
    ),
    case(
        "dash, three commands, then read -s at its prompt",
        BASH,
        "PS1='$ ' exec dash -i",
        command!("$ ", "bash ask '$ '", 6),
    ),
    case(
        "busybox's shell, three commands, then its read -s at its prompt",
        &[("busybox", "busybox")],
        "PS1='$ ' exec busybox ash -i",
        command!("$ ", "read -s -p '$ ' word; echo; echo $word > out", 7),
    ),
    case(
        "sqlite3 with a hash, three lines, then read -s with it in a command",
        &[("sqlite3", "sqlite3"), ("bash", "bash")],
        "exec sqlite3 -cmd '.prompt \"# \"' box",
        &[
            Lines("# ", &["select 1;", "select 2;", "select 3;"]),
            Line(".shell bash ask '# '"),
            Times(6, "# "),
            Answer,
            Settle,
            Settle,
            Line(".quit"),
        ],
    )
    .secret("ZWJXVzj"),
    case(
        "sudo asks with the prompt of the shell before it",
        &[("sudo", "sudo"), ("setpriv", "util-linux"), ("bash", "bash")],
        "exec bash --noprofile --rcfile rc -i",
        &[
            Three("$ "),
            Line(". ./become"),
            Times(5, "$ "),
            Each(&[Answer, Key("\x03")]),
            Line("exit"),
        ],
    )
    .with(&[("rc", "PS1='$ '; HISTFILE=\n"), ("become", "echo \"$SECRET\" > out; setpriv --reuid=65534 --clear-groups sudo -k -p '$ ' true")]),
    case(
        "dash, three commands, then without echo at its prompt, typed on at once",
        BASH,
        "PS1='$ ' exec dash -i",
        &[
            Three("$ "),
            Line("sh hush"),
            Host("off"),
            Answer,
            Settle,
            Settle,
            Line("exit"),
        ],
    ),
];

/// Secrets at prompts with every sign of a shell. The client takes these for a shell's until it sees the silence.
pub(super) const SHELLS: &[Case] = &[
    case(
        "bash read with a percent in rlwrap, then read -s",
        &[("rlwrap", "rlwrap"), ("bash", "bash")],
        "exec rlwrap bash helper '% '",
        at!("% "),
    )
    .excused(4),
    case(
        "bash that was killed leaves pastes marked, then read and read -s",
        BASH,
        "(while [ ! -s pid ]; do sleep 0.1; done; sleep 0.5; kill -9 $(cat pid)) & \\
            bash -c 'echo $$ > pid; read -e -p \"one: \" name'; stty sane; echo; exec bash helper '% '",
        at!("% "),
    )
    .excused(4),
    case(
        "bash read -e with a shell's sign, then read -e -s",
        BASH,
        "exec bash helper '» ' -e -e",
        at!("» "),
    )
    .excused(4),
    case(
        "fish read with a shell's sign, then read -s",
        &[("fish", "fish")],
        "exec fish --no-config asks",
        at!("λ "),
    )
    .with(&[("asks", "for n in 1 2 3; read -P 'λ ' user; end; read -s -P 'λ ' pin; echo $pin > out")])
    .excused(4),
    case(
        "prompt_toolkit with a shell's sign, then is_password",
        TOOLKIT,
        "exec /usr/bin/python3 toolkit.py session '❯ ' '❯ ' '❯ ' '!❯ '",
        at!("❯ "),
    )
    .excused(4),
    case(
        "raw mode, a shell's sign, pastes marked, then nothing",
        &[(PYTHON, "python3")],
        "p='» '; /usr/bin/python3 raw.py \"echo,paste:$p\" \"echo,paste:$p\" \"echo,paste:$p\" \"none,paste:$p\"",
        at!("» "),
    )
    .excused(4),
    case(
        "bash, titles for pastes, then read -s with the shell's prompt",
        BASH,
        "exec bash --noprofile --rcfile titled -i",
        command!("anna@db1:~$ ", "bash ask 'anna@db1:~$ '", 6),
    )
    .excused(4),
    case(
        "a shell's prompt and title without a shell, then read -s",
        BASH,
        "printf '\\033]0;anna@db1: ~\\007'; exec bash helper 'anna@db1:~$ '",
        at!("anna@db1:~$ "),
    )
    .excused(4),
    case(
        "tmux, three commands, then a pane with read -e -s at the same prompt",
        &[("tmux", "tmux"), ("bash", "bash")],
        "tmux -S sock -f bare.conf new-session 'bash edited' ';' \\
            split-window -h 'bash --norc --noprofile -i'",
        &[
            LinesFrom(2, "$ ", &["echo one", "echo two", "echo three"]),
            Key("\x02o"),
            Settle,
            Answer,
        ],
    )
    .with(&[
        ("bare.conf", "set -g status off\nset -s exit-unattached on\n"),
        ("edited", "read -es -p '$ ' word; echo \"$word\" > \"$OUT\"; tmux kill-server"),
    ])
    .excused(4),
];

/// Programs that echo the beginning of a line, then stop. Letters before the client sees the silence look like echoed
/// ones. No letter is excused after the cursor moved by itself or the terminal got a new size.
pub(super) const LINES: &[Case] = &[
    stops(
        "only the first character is echoed",
        "exec /usr/bin/python3 stops.py first",
        &[See("value: "), Answer],
    )
    .excused(4),
    stops(
        "a name, a colon, and the secret behind it",
        "exec /usr/bin/python3 stops.py ':'",
        &[See("value: "), Type("anna:"), Settle, Answer],
    )
    .excused(4),
    stops(
        "a name, a blank, and the secret behind it",
        "exec /usr/bin/python3 stops.py ' '",
        &[See("value: "), Type("anna "), Settle, Answer],
    )
    .excused(4),
    stops(
        "a name that is erased, then the secret",
        "exec /usr/bin/python3 stops.py erased",
        &[See("value: "), Type("an"), Key("\x7f"), Key("\x7f"), Settle, Answer],
    )
    .excused(4),
    stops(
        "a name that is erased with Ctrl-U, then the secret",
        "exec /usr/bin/python3 stops.py erased",
        &[See("value: "), Each(&[Type("anna"), Key("\x15")]), Answer],
    )
    .excused(4),
    stops(
        "a name, Right to the next column, then the secret",
        "exec /usr/bin/python3 stops.py right",
        &[See("value: "), Each(&[Type("anna"), Key("\x1b[C")]), Answer],
    ),
    stops(
        "a name, Right to the next column, typed on at once",
        "exec /usr/bin/python3 stops.py right",
        &[See("value: "), Type("anna"), Settle, Key("\x1b[C"), Answer],
    )
    .excused(4),
    stops(
        "a name, Home, then the secret",
        "exec /usr/bin/python3 stops.py home",
        &[See("value: "), Each(&[Type("anna"), Key("\x1b[H")]), Answer],
    )
    .excused(4),
    stops(
        "a name, a smaller window, then the secret",
        "exec /usr/bin/python3 stops.py winch",
        &[See("value: "), Type("anna"), Settle, Rows(20), Answer],
    ),
    Case::new(
        "a secret in black on black",
        "sh",
        "printf 'value: \\033[30;40m'; read -r word; printf '\\033[m'; echo \"$word\" > out",
        &[See("value: "), Answer],
    ),
    Case::new(
        "a secret in black on black behind three names",
        "bash",
        "for n in 1 2 3; do read -p '$ ' name; done; printf '$ \\033[30;40m'; read -r word
printf '\\033[m'; echo \"$word\" > out",
        at!("$ "),
    ),
];

/// Creates a case of the program `stops.py`, which stops its echo within a line.
const fn stops(name: &'static str, script: &'static str, steps: &'static [Step]) -> Case {
    Case::new(name, "sh", script, steps)
        .needs(&[(PYTHON, "python3")])
        .with(&[("stops.py", include_str!("programs/stops.py"))])
}
