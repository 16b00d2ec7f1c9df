//! Keys, signals and hooks of interactive shells that read a secret while the prompt stays on the screen.

use super::case::Step::{
    Answer, Each, Host, Key, Line, LinesFrom, Rows, Settle, Three, Times, Type,
};
use super::case::{Case, Step};

/// In zsh, each key that a case uses runs the same widget.
const ZSH_RC: &str = "\
PS1='$ '; KEYTIMEOUT=1
secret() { : > begun; IFS= read -rs -k 8 word; print -r -- $word > out }
named() { zle -M 'one word, please'; secret }
typed() { BUFFER+='echo '; CURSOR=5; zle -R; secret }
rung() { printf '\\a\\e]0;asked\\a\\e[4 q' > /dev/tty; secret }
shown() { BUFFER+=$KEYS; ((++CURSOR)); zle -R; [[ $BUFFER != *auth: ]] || { secret; BUFFER= } }
entered() { if [[ $BUFFER == hush* ]]; then secret; BUFFER=; fi; zle .accept-line }
paused() { IFS= read -rs -k 1; print; zle -I; zle -R; secret }
for name in secret named typed rung shown entered paused; do zle -N $name; done
hush() { : }
bindkey '^G' secret; bindkey '^Xm' named; bindkey '^Xt' typed; bindkey '^Xr' rung
[[ -z $USE ]] || source $HOME/$USE\n";
const BASH_RC: &str = "\
PS1='$ '; HISTFILE=
ask() { : > begun; read -rs -n 8 word < /dev/tty; echo \"$word\" > out; }
[ -z \"$USE\" ] || . $HOME/$USE\n";
const FISH_RC: &str = "\
function fish_prompt; echo -n '$ '; end
function fish_greeting; end
function ask; touch begun; bash ./ask; end
bind \\cg ask; bind \\ca ask\n";

const FILES: &[(&str, &str)] = &[
    (".zshrc", ZSH_RC),
    ("rc", BASH_RC),
    ("rc.fish", FISH_RC),
    ("ask", ": > begun; read -rs -n 8 word < /dev/tty; echo \"$word\" > out"),
    ("enter", "zle -N accept-line entered\n"),
    ("titled", "bindkey '^A' paused; PS1='ada@relay:~$ '; printf '\\e]0;ada@relay: ~\\a'\n"),
    (
        "known",
        "for key in '^A' '^E' '^U' '^K' '^?' '^L' '^[[C' '^[OC' '^[[D' '^[OD' '^[[A' '^[OA' '^[[3~' '^[[H' '^[OH' '^['
do bindkey $key secret; done\n",
    ),
    ("letter", "bindkey : shown\n"),
    ("space", "magic() { if [[ -n $BUFFER ]]; then zle .self-insert; else secret; fi }
zle -N magic; bindkey ' ' magic\n"),
    ("focus", "bindkey '^[[I' secret; printf '\\e[?1004h'\n"),
    ("paste", "pasted() { zle .bracketed-paste; BUFFER=; zle -R; secret }; zle -N bracketed-paste pasted\n"),
    ("interrupt", "TRAPINT() { secret; return 0 }\n"),
    ("winch", "TRAPWINCH() { secret }\n"),
    ("clear", "clear-screen() { zle .clear-screen; zle -R; secret }; zle -N clear-screen\n"),
    ("alarm", "TRAPALRM() { if [[ -e go ]]; then TMOUT=0; secret; fi }; TMOUT=1\n"),
    ("init", "zle-line-init() { [[ -e go ]] || return; rm go; secret }; zle -N zle-line-init\n"),
    (
        "finish",
        "zle-line-finish() { [[ $BUFFER == hush* ]] && secret }; zle -N zle-line-finish\n",
    ),
    ("complete", "_secret() { secret }; autoload -Uz compinit; compinit -D; compdef _secret hush\n"),
    (
        "tmux.conf",
        "set -s exit-unattached on\nset -g status-interval 1\nset -g status-right '%S'
set -g window-status-current-format ''
set -g status-left ''\nset -s escape-time 0\n",
    ),
    ("bash-keys", "bind -x '\"\\C-a\": ask'; bind -x '\"\\C-g\": ask'\n"),
    ("bash-interrupt", "trap ask INT\n"),
    ("bash-winch", "trap ask WINCH\n"),
    ("bash-tab", "_ask() { ask; }; complete -F _ask -o nospace hush; complete -E -F _ask\n"),
    ("bash-debug", "asked() { case $BASH_COMMAND in hush*) read -rs -p \"$PS1\" word; echo \"$word\" > out;; esac; }
hush() { :; }; trap asked DEBUG\n"),
    ("bash-unknown", "command_not_found_handle() { read -rs -p \"$PS1\" word; echo \"$word\" > out; }\n"),
    ("bash-before", "hush() { PROMPT_COMMAND=before; }; before() { PROMPT_COMMAND=; ask; }\n"),
    ("bash-ps0", "hush() { touch go; PS0='$(rm go 2> log && ask)'; }\n"),
    ("bash-prompt", "hush() { touch go; PS1='$(rm go 2> log && ask)$ '; }\n"),
];

/// Creates a case of an interactive zsh.
const fn zsh(name: &'static str, script: &'static str, steps: &'static [Step]) -> Case {
    Case::new(name, "sh", script, steps).needs(&[("zsh", "zsh")]).with(FILES)
}

/// Creates a case of an interactive bash.
const fn bash(name: &'static str, script: &'static str, steps: &'static [Step]) -> Case {
    Case::new(name, "sh", script, steps).needs(&[("bash", "bash")]).with(FILES)
}

/// The user enters three commands, does the given steps, waits until the silent read has begun, and enters the secret.
macro_rules! silence {
    ($($step:expr),+) => {
        &[Three("$ "), $($step,)+ Each(&[Host("begun"), Answer]), Line("exit")]
    };
}
/// The user enters three commands, does the given steps, and enters the secret at once.
macro_rules! at_once {
    ($($step:expr),+) => {
        &[Three("$ "), $($step,)+ Answer, Settle, Line("exit")]
    };
}

/// Cases of zsh.
pub(super) const ZSH: &[Case] = &[
    zsh(
        "zsh, a silent widget at once behind its key, --predict=always",
        "exec zsh -i",
        at_once!(Key("\x07")),
    )
    .always(),
    zsh("zsh, a silent widget that says below that it asks", "exec zsh -i", silence!(Key("\x18m"))),
    zsh("zsh, a silent widget that adds to the line", "exec zsh -i", silence!(Key("\x18t"))),
    zsh(
        "zsh, a silent widget that rings and sets the title",
        "exec zsh -i",
        silence!(Key("\x18r")),
    ),
    zsh("zsh, a silent widget on Ctrl-A", "USE=known exec zsh -i", silence!(Key("\x01"))),
    zsh(
        "zsh, a silent widget on Ctrl-E, typed on at once",
        "USE=known exec zsh -i",
        at_once!(Key("\x05")),
    ),
    zsh("zsh, a silent widget on Ctrl-U", "USE=known exec zsh -i", silence!(Key("\x15"))),
    zsh("zsh, a silent widget on Backspace", "USE=known exec zsh -i", silence!(Key("\x7f"))),
    zsh(
        "zsh, a silent widget on Backspace, typed on at once",
        "USE=known exec zsh -i",
        at_once!(Key("\x7f")),
    ),
    zsh("zsh, a silent widget on Right", "USE=known exec zsh -i", silence!(Key("\x1b[C"))),
    zsh(
        "zsh, a silent widget on Left, typed on at once",
        "USE=known exec zsh -i",
        at_once!(Key("\x1b[D")),
    ),
    zsh("zsh, a silent widget on Up", "USE=known exec zsh -i", silence!(Key("\x1b[A"))),
    zsh(
        "zsh, a silent widget on Home, --predict=always",
        "USE=known exec zsh -i",
        silence!(Key("\x1b[H")),
    )
    .always(),
    zsh("zsh, a silent widget on Ctrl-K", "USE=known exec zsh -i", silence!(Key("\x0b"))),
    zsh("zsh, a silent widget on a blank", "USE=space exec zsh -i", silence!(Key(" "))),
    zsh(
        "zsh, a silent widget when the window gets the focus",
        "USE=focus exec zsh -i",
        silence!(Key("\x1b[I")),
    ),
    zsh(
        "zsh, a silent widget instead of a paste",
        "USE=paste exec zsh -i",
        silence!(Key("\x1b[200~some\x1b[201~")),
    ),
    zsh(
        "zsh, a trap of a resize that reads in silence",
        "USE=winch exec zsh -i",
        silence!(Rows(20)),
    ),
    zsh(
        "zsh, Enter reads in silence before the line runs",
        "USE=enter exec zsh -i",
        silence!(Type("hush"), Settle, Key("\r")),
    ),
    zsh(
        "zsh, Enter reads in silence, typed on at once",
        "USE=enter exec zsh -i",
        at_once!(Type("hush"), Key("\r")),
    ),
    zsh(
        "zsh, a hook at the line's end reads in silence",
        "USE=finish exec zsh -i",
        silence!(Type("hush"), Settle, Key("\r")),
    ),
    zsh(
        "zsh, completion of a word reads in silence",
        "USE=complete exec zsh -i",
        silence!(Type("hush "), Settle, Key("\t")),
    ),
    zsh(
        "zsh, a silent widget while a clock ticks in tmux",
        "tmux -S sock -f tmux.conf new-session 'zsh -i'",
        silence!(Key("\x07")),
    )
    .needs(&[("zsh", "zsh"), ("tmux", "tmux")]),
    zsh(
        "zsh, a silent widget on Ctrl-A while a clock ticks in tmux",
        "USE=known tmux -S sock -f tmux.conf new-session 'zsh -i'",
        silence!(Key("\x01")),
    )
    .needs(&[("zsh", "zsh"), ("tmux", "tmux")]),
    zsh(
        "zsh, a silent widget in a pane that is left and come back to",
        "USE=known tmux -S sock -f tmux.conf new-session 'zsh -i' ';' split-window -h 'zsh -i'",
        &[
            LinesFrom(2, "$ ", &["echo one", "echo two", "echo three"]),
            Key("\x01"),
            Each(&[Host("begun"), Key("\x02o"), Line("echo four"), Key("\x02o"), Answer]),
            Line("tmux kill-server"),
        ],
    )
    .needs(&[("zsh", "zsh"), ("tmux", "tmux")]),
    zsh(
        "zsh, a silent widget twice",
        "exec zsh -i",
        &[
            Three("$ "),
            Key("\x07"),
            Settle,
            Answer,
            Times(5, "$ "),
            Line("echo four"),
            Times(6, "$ "),
            Key("\x07"),
            Answer,
            Settle,
            Line("exit"),
        ],
    ),
    zsh(
        "zsh, a silent widget that takes Enter and draws the prompt again first",
        "USE=titled exec zsh -i",
        silence!(Key("\x01"), Settle, Key("\r")),
    ),
    zsh(
        "zsh, a silent widget on Ctrl-A, datagrams lost",
        "USE=known exec zsh -i",
        silence!(Key("\x01")),
    )
    .loss(0.2),
];

/// Cases of bash and fish.
pub(super) const OTHERS: &[Case] = &[
    bash(
        "bash, a silent command on Ctrl-A at its prompt",
        "USE=bash-keys exec bash --noprofile --rcfile rc -i",
        silence!(Key("\x01")),
    ),
    bash(
        "bash, a silent command on Ctrl-A, typed on at once",
        "USE=bash-keys exec bash --noprofile --rcfile rc -i",
        at_once!(Key("\x01")),
    ),
    bash(
        "bash, a trap of Ctrl-C that reads in silence",
        "USE=bash-interrupt exec bash --noprofile --rcfile rc -i",
        silence!(Key("\x03")),
    ),
    bash(
        "bash, a trap of a resize that reads in silence",
        "USE=bash-winch exec bash --noprofile --rcfile rc -i",
        silence!(Rows(20)),
    ),
    bash(
        "bash, completion of an empty line reads in silence",
        "USE=bash-tab exec bash --noprofile --rcfile rc -i",
        silence!(Key("\t")),
    ),
    bash(
        "bash, completion of a word reads in silence, typed on at once",
        "USE=bash-tab exec bash --noprofile --rcfile rc -i",
        at_once!(Type("hush "), Settle, Key("\t")),
    ),
    bash(
        "bash, a hook before the prompt reads in silence",
        "USE=bash-before exec bash --noprofile --rcfile rc -i",
        silence!(Line("hush")),
    ),
    bash(
        "bash, a prompt that reads in silence before it is there",
        "USE=bash-prompt exec bash --noprofile --rcfile rc -i",
        silence!(Line("hush")),
    ),
    bash(
        "bash, text before each command's output reads in silence",
        "USE=bash-ps0 exec bash --noprofile --rcfile rc -i",
        silence!(Line("hush"), Settle, Line("echo four")),
    ),
    bash(
        "bash, a trap before a command asks with the shell's prompt",
        "USE=bash-debug exec bash --noprofile --rcfile rc -i",
        &[Three("$ "), Line("hush"), Times(5, "$ "), Answer, Settle, Settle, Line("exit")],
    ),
    bash(
        "bash, an unknown command asks with the shell's prompt",
        "USE=bash-unknown exec bash --noprofile --rcfile rc -i",
        &[Three("$ "), Line("hush"), Times(5, "$ "), Answer, Settle, Settle, Line("exit")],
    ),
    bash(
        "bash, an unknown command asks with the shell's prompt, typed on at once",
        "USE=bash-unknown exec bash --noprofile --rcfile rc -i",
        &[Three("$ "), Line("hush"), Answer, Settle, Settle, Line("exit")],
    ),
    Case::new(
        "fish, a key that runs read -s in silence",
        "sh",
        "exec fish --no-config -C 'source rc.fish' -i",
        silence!(Key("\x07")),
    )
    .needs(&[("fish", "fish"), ("bash", "bash")])
    .with(FILES),
    Case::new(
        "fish, Ctrl-A that runs read -s in silence, typed on at once",
        "sh",
        "exec fish --no-config -C 'source rc.fish' -i",
        at_once!(Key("\x01")),
    )
    .needs(&[("fish", "fish"), ("bash", "bash")])
    .with(FILES),
];

/// Cases in which a shell's hook reads silently, at a prompt with every sign of a shell.
pub(super) const HOOKS: &[Case] = &[
    zsh(
        "zsh, a silent widget on Ctrl-L, which clears the screen first",
        "USE=clear exec zsh -i",
        silence!(Key("\x0c")),
    )
    .excused(4),
    zsh(
        "zsh, a trap of Ctrl-C that reads in silence",
        "USE=interrupt exec zsh -i",
        silence!(Key("\x03")),
    )
    .excused(4),
    zsh(
        "zsh, a hook at the line's beginning reads in silence",
        "USE=init exec zsh -i",
        silence!(Line("touch go")),
    )
    .excused(4),
    zsh(
        "zsh, a timer reads in silence at the prompt",
        "USE=alarm exec zsh -i",
        silence!(Line("touch go")),
    )
    .excused(4),
    zsh(
        "zsh, a letter that is shown, then reads in silence",
        "USE=letter exec zsh -i",
        silence!(Type("auth:")),
    )
    .excused(4),
];
