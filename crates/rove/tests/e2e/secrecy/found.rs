//! Cases in which an outside attacker once saw letters: editors' modes near questions, and programs that look like
//! shells.

use super::case::Step::{Answer, Each, Insert, Key, Line, Lines, See, Settle, Three, Times};
use super::case::{Case, Step};

const TMUX: &[(&str, &str)] = &[("tmux", "tmux"), ("vim", "vim")];
const FILES: &[(&str, &str)] = &[
    ("bare.conf", "set -g status off\nset -s exit-unattached on\n"),
    ("insert.conf", "set -g status-left 'INSERT '\nset -s exit-unattached on\n"),
    ("secret", "read -s -p 'value: ' word; echo \"$word\" > \"$OUT\"; sh ./end"),
    ("end", "[ -z \"$TMUX\" ] || tmux kill-server; [ -z \"$STY\" ] || screen -X quit"),
    (
        "crypt",
        "ccrypt -e it; ccrypt -c -E SECRET it.cpt > got && echo \"$SECRET\" > \"$OUT\"; sh ./end",
    ),
    ("it", "the text\n"),
    (
        "screenrc",
        "startup_message off\nscreen -t ask bash secret\nsplit\nfocus down
screen -t text vim -N -u NONE -i NONE text\n",
    ),
    (
        "comment",
        "printf '\\033[23H-- INSERT\\n'; read -s -p 'value: ' word; echo \"$word\" > \"$OUT\"",
    ),
    ("nested", super::panes::NESTED),
    (
        "rc",
        "PS1='$ '; HISTFILE=; set -o vi
bind 'set vi-ins-mode-string \"-- INSERT -- \"'; bind 'set show-mode-in-prompt on'
ask() { read -s -p 'value: ' word; echo; echo \"$word\" > out; }\n",
    ),
    (
        ".zshrc",
        "PS1='$ '; secret() { read -s word < /dev/tty; print -r -- $word > out }
zle -N secret; bindkey '^G' secret\n",
    ),
    ("rc.vim", "inoremap <expr> <F5> system('kill -9 ' . getpid())\n"),
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

/// The user types text in a vim in the lower pane, and the secret in the upper pane.
const INSERTED_BELOW: &[Step] = &[See("value: "), Insert, Key("\x02o"), Settle, Answer];
const SECRET: &[Step] = &[See("value: "), Answer];

/// The cases of this file.
pub(super) const CASES: &[Case] = &[
    case(
        "found: tmux, vim inserts in the lower pane, read -s in the upper one",
        TMUX,
        "tmux -S sock -f bare.conf new-session 'bash secret' ';' \\
            split-window -v 'vim -N -u NONE -i NONE text'",
        INSERTED_BELOW,
    ),
    case(
        "found: tmux, vim inserts in the lower pane, ccrypt in the upper one",
        &[("tmux", "tmux"), ("vim", "vim"), ("ccrypt", "ccrypt")],
        "tmux -S sock -f bare.conf new-session 'bash crypt' ';' \\
            split-window -v 'vim -N -u NONE -i NONE text'",
        &[See("encryption key: "), Insert, Key("\x02o"), Settle, Answer, See("repeat"), Answer],
    ),
    case(
        "found: screen, vim inserts in the lower region, read -s in the upper one",
        &[("screen", "screen"), ("vim", "vim")],
        "SCREENDIR=$HOME/screens screen -q -c screenrc",
        &[See("value: "), Insert, Key("\x01\t"), Settle, Answer],
    )
    .secret("WJXVQj"),
    case(
        "found: tmux, a status line that begins with INSERT",
        TMUX,
        "tmux -S sock -f insert.conf new-session 'bash secret'",
        SECRET,
    ),
    case(
        "found: a comment of SQL above the question, in script",
        &[("script", "bsdutils"), ("bash", "bash")],
        "script -q -c 'bash comment' /dev/null",
        SECRET,
    ),
    case(
        "found: a comment of SQL above the question, over ssh",
        &[("ssh", "openssh-client"), ("sshd", "openssh-server"), ("bash", "bash")],
        "sh ./nested 'bash comment' ''",
        SECRET,
    ),
    case(
        "found: readline's own mode in the row above the question",
        &[("bash", "bash"), ("script", "bsdutils")],
        "printf '\\033[24H'; script -q -c 'bash --noprofile --rcfile rc -i' /dev/null",
        &[
            See("-- INSERT -- $ "),
            Line("ask"),
            See("value: "),
            Answer,
            Times(2, "-- INSERT -- $ "),
            Line("exit"),
        ],
    ),
    case(
        "found: a vim that was killed leaves its mode, then read -s",
        &[("vim", "vim"), ("bash", "bash")],
        "vim -N -u NONE -i NONE -c 'source rc.vim' text; stty sane
        printf '\\r'; bash secret",
        &[Insert, Key("\x1b[15~"), See("value: "), Answer],
    ),
    case(
        "found: a bar whose first word is a mode, read -s above it",
        &[("bash", "bash")],
        "printf '\\033[24H\\033[7mINSERT a name\\033[m\\033[5H'; bash secret",
        SECRET,
    ),
    case(
        "found: a wizard with a shell's sign, four reads, then read -s",
        &[("bash", "bash")],
        "exec bash wizard",
        &[Lines("helper » ", &["one", "two", "three", "four"]), Answer],
    )
    .with(&[(
        "wizard",
        "for n in 1 2 3 4; do read -p 'helper » ' name; done; read -s -p 'helper » ' word
echo \"$word\" > out",
    )]),
    Case::new(
        "found: a chat that takes nine lines, then getpass with its prompt",
        "/usr/bin/python3",
        "import getpass\nfor n in range(9): input('> ')
open('out', 'w').write(getpass.getpass('> '))",
        &[
            Lines("> ", &["one", "two", "three", "four", "five", "six", "seven", "eight", "nine"]),
            Answer,
        ],
    ),
    case(
        "found: zsh, a key that runs read -s and leaves the prompt",
        &[("zsh", "zsh")],
        "exec zsh -i",
        &[Three("$ "), Each(&[Key("\x07"), Answer]), Line("exit")],
    ),
];
