//! Secrets near the prompt of an interactive shell, and near its history.

use super::case::Step::{
    Answer, Each, Host, Key, Line, Lines, Paste, Secret, See, Settle, Three, Times, Type,
};
use super::case::{Case, Step};

const BASH_RC: &str = "\
PS1='$ '; HISTFILE=
ask() { read -s -p 'value: ' word; echo; echo \"$word\" > out; }
alike() { read -s -p \"$PS1\" word; echo; echo \"$word\" > out; }
edited() { read -e -s -p \"$PS1\" word; echo; echo \"$word\" > out; }
stored() { read -e -s -p 'value: ' word; history -s \"$word\"; echo \"$word\" > out; }
silent() { read -s -n 8 word; echo \"$word\" > out; }
bind -x '\"\\C-g\": silent'
";
const ZSH_RC: &str = "\
PS1='$ '
ask() { read -s 'word?value: '; echo; print -r -- $word > out }
alike() { read -s \"word?$PS1\"; echo; print -r -- $word > out }
secret() { read -s word < /dev/tty; print -r -- $word > out; zle reset-prompt }
zle -N secret; bindkey '^G' secret
";
const FISH_RC: &str = "\
function fish_prompt; echo -n '$ '; end
function fish_greeting; end
function ask; read -s -P 'value: ' word; echo $word > out; end
function alike; read -s -P '$ ' word; echo $word > out; end
";
const FILES: &[(&str, &str)] = &[("rc", BASH_RC), (".zshrc", ZSH_RC), ("rc.fish", FISH_RC)];

/// Creates a case of an interactive bash.
const fn bash(name: &'static str, steps: &'static [Step]) -> Case {
    Case::new(name, "sh", "exec bash --noprofile --rcfile rc -i", steps)
        .needs(&[("bash", "bash")])
        .with(FILES)
}

/// Creates a case of an interactive zsh.
const fn zsh(name: &'static str, steps: &'static [Step]) -> Case {
    Case::new(name, "sh", "exec zsh -i", steps).needs(&[("zsh", "zsh")]).with(FILES)
}

/// Creates a case of an interactive fish.
const fn fish(name: &'static str, steps: &'static [Step]) -> Case {
    Case::new(name, "sh", "exec fish --no-config -C 'source rc.fish' -i", steps)
        .needs(&[("fish", "fish")])
        .with(FILES)
}

/// The user enters three commands. A fourth asks for the secret with a prompt of its own.
const ASK: &[Step] =
    &[Three("$ "), Line("ask"), See("value: "), Answer, Times(5, "$ "), Line("exit")];
/// The user enters three commands. A fourth asks for the secret with the shell's own prompt.
const ALIKE: &[Step] = &[
    Lines("$ ", &["echo one", "echo two", "echo three", "alike"]),
    Answer,
    Times(6, "$ "),
    Line("exit"),
];
/// A command asks for a secret three times. Then another command asks with the shell's own prompt.
const ASK_OFTEN: &[Step] = &[
    See("$ "),
    Line("ask"),
    See("value: "),
    Answer,
    Times(2, "$ "),
    Line("ask"),
    Times(2, "value: "),
    Answer,
    Times(3, "$ "),
    Line("alike"),
    Times(4, "$ "),
    Answer,
    Times(5, "$ "),
    Line("exit"),
];
/// Works as [`ALIKE`] does, but the command reads the secret with the shell's line editor.
const EDITED: &[Step] = &[
    Lines("$ ", &["echo one", "echo two", "echo three", "edited"]),
    Answer,
    Times(6, "$ "),
    Line("exit"),
];
/// The user enters a secret, and then presses Up and Ctrl-P at the shell's prompt.
const UP: &[Step] = &[
    Lines("$ ", &["echo one", "echo two"]),
    Line("ask"),
    See("value: "),
    Answer,
    Times(4, "$ "),
    Each(&[Key("\x1b[A"), Key("\x10"), Key("\x1b[A"), Key("\x1b[B")]),
    Key("\x1b[B"),
    Key("\x1b[B"),
    Settle,
    Key("\x15"),
    Line("exit"),
];
/// The user types text, a key that runs a command which reads a secret without a prompt, the secret, and Enter.
const IN_THE_LINE: &[Step] = &[
    Lines("$ ", &["echo one", "echo two"]),
    Each(&[Type("echo three"), Key("\x07"), Answer, Line("")]),
    Line("exit"),
];

/// The cases of this file.
pub(super) const CASES: &[Case] = &[
    bash("bash -i, three commands, then read -s", ASK),
    bash("bash -i, three commands, then read -s with the shell's prompt", ALIKE),
    bash("bash -i, three commands, then read -e -s with the shell's prompt", EDITED).excused(4),
    bash("bash -i, read -s often, then with the shell's prompt", ASK_OFTEN),
    bash("bash -i, Up after read -s", UP),
    bash(
        "bash -i, a secret that goes to the shell's history, no Up",
        &[
            Lines("$ ", &["echo one"]),
            Line("stored"),
            See("value: "),
            Answer,
            Times(3, "$ "),
            Line("echo two"),
            Times(4, "$ "),
            Line("exit"),
        ],
    ),
    bash(
        "bash -i, a key that runs read -s in a line with text",
        &[
            Lines("$ ", &["echo one", "echo two"]),
            Each(&[Type("echo three"), Key("\x07")]),
            Secret,
            Settle,
            Line(""),
            Settle,
            Line("exit"),
        ],
    ),
    bash(
        "bash -i, a key that runs read -s in a line with text, typed on at once",
        &[
            Lines("$ ", &["echo one", "echo two"]),
            Type("echo three"),
            Settle,
            Key("\x07"),
            Secret,
            Settle,
            Line(""),
            Settle,
            Line("exit"),
        ],
    ),
    bash(
        "bash -i, a secret pasted at read -s with the shell's prompt",
        &[
            Lines("$ ", &["echo one", "echo two", "echo three", "edited"]),
            Paste,
            Times(6, "$ "),
            Line("exit"),
        ],
    ),
    bash(
        "bash -i, a secret typed before the prompt of a command",
        &[
            Lines("$ ", &["echo one", "echo two"]),
            Line("stty -echo; : > off; sleep 1; ask; stty echo"),
            Host("off"),
            Answer,
            Times(4, "$ "),
            Line("exit"),
        ],
    ),
    bash(
        "bash -i, stty -echo by hand, then cat",
        &[
            Lines("$ ", &["echo one", "stty -echo"]),
            Line("head -n 1 > out"),
            Settle,
            Answer,
            Times(4, "$ "),
            Line("stty echo"),
            Settle,
            Line("exit"),
        ],
    ),
    bash(
        "bash -i, stty -echo by hand, then a command at the shell's prompt",
        &[
            Lines("$ ", &["echo one", "echo two", "stty -echo"]),
            Type("echo "),
            Settle,
            Secret,
            Each(&[Line(" > out"), Line("stty echo")]),
            Line("exit"),
        ],
    ),
    zsh("zsh -i, three commands, then read -s", ASK),
    zsh("zsh -i, three commands, then read -s with the shell's prompt", ALIKE),
    zsh("zsh -i, Up after read -s", UP),
    zsh("zsh -i, a key that runs read -s in a line with text", IN_THE_LINE),
    fish("fish -i, three commands, then read -s", ASK),
    fish("fish -i, three commands, then read -s with the shell's prompt", ALIKE),
    fish("fish -i, Up after read -s", UP),
    bash(
        "bash -i, a prompt that asks for a secret by itself",
        &[
            Lines("$ ", &["echo one", "echo two", "PROMPT_COMMAND='alike; PROMPT_COMMAND='"]),
            Answer,
            Times(5, "$ "),
            Line("exit"),
        ],
    ),
    bash(
        "bash in bash with the same prompt, then read -s with it",
        &[
            Lines("$ ", &["echo one", "echo two", "bash --rcfile rc -i", "alike"]),
            Answer,
            Times(6, "$ "),
            Line("exit"),
            Times(7, "$ "),
            Line("exit"),
        ],
    ),
    bash(
        "bash -i with vi's keys, then read -s with the shell's prompt",
        &[
            Lines("$ ", &["set -o vi", "echo two", "echo three", "edited"]),
            Answer,
            Times(6, "$ "),
            Line("exit"),
        ],
    )
    .excused(4),
    bash(
        "bash -i, read -s with the shell's prompt, twice",
        &[
            Lines("$ ", &["echo one", "echo two", "edited"]),
            Answer,
            Times(5, "$ "),
            Line("echo three"),
            Times(6, "$ "),
            Line("echo four"),
            Times(7, "$ "),
            Line("edited"),
            Times(8, "$ "),
            Answer,
            Times(9, "$ "),
            Line("exit"),
        ],
    )
    .excused(4),
];
