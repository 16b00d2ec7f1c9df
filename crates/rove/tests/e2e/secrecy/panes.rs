//! Programs inside other programs: panes of a multiplexer, a terminal in a terminal, a shell over ssh.

use super::case::Step::{
    Answer, Each, Host, Key, Line, Lines, LinesFrom, See, Settle, Three, Times, Type,
};
use super::case::{Case, Step};

const SSH: &[(&str, &str)] = &[("ssh", "openssh-client"), ("sshd", "openssh-server")];
const TMUX: &[(&str, &str)] = &[("tmux", "tmux")];
const SCREEN: &[(&str, &str)] = &[("screen", "screen")];

/// A script that reads a name, and the secret at the same prompt.
const ASK: &str = "read -p 'value: ' name; read -s -p 'value: ' word; echo \"$word\" > \"$OUT\"
[ -z \"$TMUX\" ] || tmux kill-server";
/// A script that reads three lines, and the secret without a prompt.
const LINES: &str = "echo ready; cat > kept; : > end; read -s word; echo \"$word\" > \"$OUT\"
[ -z \"$TMUX\" ] || tmux kill-server";
/// A script that reads only the secret, at a prompt that looks like a shell's.
const SILENT: &str = "read -s -p '$ ' word; echo \"$word\" > \"$OUT\"; tmux kill-server";
/// The configuration of a tmux without a status line, which ends with its client.
const BARE: &str = "set -g status off\nset -s exit-unattached on\n";
/// The configuration of a tmux with a status line, which ends with its client.
const STATUS: &str = "set -g status-right ''\nset -s exit-unattached on\n";

/// A script that runs a bash script over ssh. Its sshd runs as a proxy command and needs no port. The far shell has the
/// test's home, because the start-up files of the user who runs the tests may print anything.
pub(super) const NESTED: &str = "\
PATH=$PATH:/usr/sbin
ssh-keygen -q -t ed25519 -N '' -f host_key
ssh-keygen -q -t ed25519 -N \"$2\" -f user_key
mkdir -p /run/sshd 2>/dev/null
printf '%s\\n' \"HostKey $HOME/host_key\" \"AuthorizedKeysFile $HOME/user_key.pub\" \\
    'StrictModes no' 'UsePAM no' 'PermitRootLogin yes' 'PrintMotd no' 'PrintLastLog no' \\
    'PidFile none' \"SetEnv HOME=$HOME\" > sshd_config
exec ssh -F /dev/null -tt -o LogLevel=ERROR -o StrictHostKeyChecking=no \\
    -o UserKnownHostsFile=/dev/null -o IdentityAgent=none -i user_key \\
    -o ProxyCommand=\"$(command -v sshd) -i -f $HOME/sshd_config\" far \\
    \"cd $HOME && OUT=$OUT HISTFILE= PS1='$ ' $1\"
";

/// The files in the script's folder, for all cases of this file.
const FILES: &[(&str, &str)] = &[
    ("ask", ASK),
    ("lines", LINES),
    ("silent", SILENT),
    ("nested", NESTED),
    ("bare.conf", BARE),
    ("status.conf", STATUS),
    ("name", "read -p 'value: ' name; sleep 100"),
    ("secret", "read -s -p 'value: ' word; echo \"$word\" > \"$OUT\"; tmux kill-server"),
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

/// The user enters a name at `value: `, and the secret at the same prompt.
const NAME_THEN_SECRET: &[Step] = &[Lines("value: ", &["anna"]), Answer];
/// The user enters three lines into `cat`, and then the secret.
const LINES_THEN_SECRET: &[Step] = &[
    See("ready"),
    Line("one"),
    Line("two"),
    Line("three"),
    Settle,
    Key("\x04"),
    Host("end"),
    Settle,
    Answer,
];
/// The user enters three commands, switches to another pane or window, and enters the secret there at the same prompt.
const SWITCHED: &[Step] =
    &[LinesFrom(2, "$ ", &["echo one", "echo two", "echo three"]), Key("\x02o"), Settle, Answer];

/// The cases of this file.
pub(super) const CASES: &[Case] = &[
    case(
        "nested ssh, bash read, then read -s, same prompt",
        SSH,
        "sh ./nested 'bash ask' ''",
        NAME_THEN_SECRET,
    ),
    case(
        "nested ssh, bash read, then read -s, same prompt, datagrams lost",
        SSH,
        "sh ./nested 'bash ask' ''",
        NAME_THEN_SECRET,
    )
    .loss(0.2),
    case(
        "nested ssh, cat took three lines, then read -s",
        SSH,
        "sh ./nested 'bash lines' ''",
        LINES_THEN_SECRET,
    ),
    case(
        "nested ssh, three commands, then read -s with the shell's prompt",
        SSH,
        "sh ./nested 'bash --norc --noprofile -i' ''",
        &[
            Lines("$ ", &["echo one", "echo two", "echo three", ". ./silent"]),
            Answer,
            Settle,
            Line("exit"),
        ],
    ),
    case(
        "a terminal in a terminal, bash read, then read -s, same prompt",
        &[("script", "bsdutils")],
        "script -q -c 'bash ask' typescript",
        NAME_THEN_SECRET,
    ),
    case(
        "expect passes keys on, bash read, then read -s, same prompt",
        &[("expect", "expect")],
        "expect -c 'log_user 1; spawn -noecho bash ask; interact'",
        NAME_THEN_SECRET,
    ),
    case(
        "tmux, bash read, then read -s, same prompt",
        TMUX,
        "tmux -S sock -f bare.conf new-session 'bash ask'",
        NAME_THEN_SECRET,
    ),
    case(
        "tmux, cat took three lines, then read -s",
        TMUX,
        "tmux -S sock -f bare.conf new-session 'bash lines'",
        LINES_THEN_SECRET,
    ),
    case(
        "tmux right pane, cat took three lines, then read -s",
        TMUX,
        "tmux -S sock -f bare.conf new-session cat ';' split-window -h 'bash lines'",
        LINES_THEN_SECRET,
    ),
    case(
        "tmux left pane, cat took three lines, then read -s",
        TMUX,
        "tmux -S sock -f bare.conf new-session cat ';' split-window -hb 'bash lines'",
        LINES_THEN_SECRET,
    ),
    case(
        "tmux lower pane above the status line, cat took three lines, then read -s",
        TMUX,
        "tmux -S sock -f status.conf new-session cat ';' split-window -v -l 3 'bash lines'",
        LINES_THEN_SECRET,
    ),
    case(
        "tmux right pane, bash read, then read -s, same prompt",
        TMUX,
        "tmux -S sock -f status.conf new-session cat ';' split-window -h 'bash ask'",
        NAME_THEN_SECRET,
    ),
    case(
        "tmux, three commands, then another pane with the same prompt",
        TMUX,
        "tmux -S sock -f bare.conf new-session 'bash silent' ';' \\
            split-window -h 'bash --norc --noprofile -i'",
        SWITCHED,
    ),
    case(
        "tmux, three commands, then the pane below with the same prompt",
        TMUX,
        "tmux -S sock -f bare.conf new-session 'bash silent' ';' \\
            split-window -v 'bash --norc --noprofile -i'",
        SWITCHED,
    ),
    case(
        "tmux, three commands, then another window with the same prompt",
        TMUX,
        "tmux -S sock -f bare.conf new-session 'bash silent' ';' \\
            new-window 'bash --norc --noprofile -i'",
        &[Three("$ "), Key("\x02n"), Settle, Answer],
    ),
    case(
        "tmux, another window with the same prompt, typed on at once",
        TMUX,
        "tmux -S sock -f bare.conf new-session 'bash silent' ';' \\
            new-window 'bash --norc --noprofile -i'",
        &[Three("$ "), Type(""), Key("\x02n"), Answer],
    ),
    case(
        "tmux in tmux, bash read, then read -s, same prompt",
        TMUX,
        "tmux -S sock -f status.conf new-session \\
            'unset TMUX; tmux -S inner -f status.conf new-session \"bash ask\"'",
        NAME_THEN_SECRET,
    ),
    case(
        "screen, bash read, then read -s, same prompt",
        SCREEN,
        "SCREENDIR=$HOME/screens screen -q bash ask",
        NAME_THEN_SECRET,
    ),
    case(
        "screen, cat took three lines, then read -s",
        SCREEN,
        "SCREENDIR=$HOME/screens screen -q bash lines",
        LINES_THEN_SECRET,
    ),
    case(
        "tmux popup, bash read, then read -s, same prompt",
        TMUX,
        "tmux -S sock -f bare.conf new-session 'tmux display-popup -E \"bash ask\"; cat'",
        NAME_THEN_SECRET,
    ),
    case(
        "tmux, a name in the left pane, then the secret in the same row of the right one",
        TMUX,
        "tmux -S sock -f bare.conf new-session 'bash secret' ';' split-window -hb 'bash name'",
        &[Times(2, "value: "), Each(&[Line("anna"), Key("\x02o")]), Answer],
    ),
    case(
        "ssh to a shell and back, then read -s with the prompt of both",
        SSH,
        "(sh ./nested 'bash --norc --noprofile -i' ''); bash ask",
        &[
            See("$ "),
            Line("read -p 'value: '"),
            Times(2, "value: "),
            Line("one"),
            Times(2, "$ "),
            Line("read -p 'value: '"),
            Times(4, "value: "),
            Line("two"),
            Times(3, "$ "),
            Line("exit"),
            Times(5, "value: "),
            Line("three"),
            Times(6, "value: "),
            Answer,
        ],
    ),
];
