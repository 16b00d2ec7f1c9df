//! Further programs that ask for passphrases, and editors, pagers and multiplexers that ask for secrets.

use super::case::Step::{Answer, Each, Key, Line, See, Settle, Three, Times};
use super::case::{Case, Step};

const BASH: (&str, &str) = ("bash", "bash");
const FILES: &[(&str, &str)] = &[
    ("it", "the text\n"),
    ("secret", "read -s -p 'value: ' word; echo; echo \"$word\" > \"$OUT\""),
    (
        "lock.conf",
        "set -g lock-command 'bash ./secret'\nbind l lock-session\nset -g status off\nset -s exit-unattached on\n",
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

/// The cases of this file.
pub(super) const CASES: &[Case] = &[
    case(
        "ccrypt asks for a key twice",
        &[("ccrypt", "ccrypt")],
        "ccrypt -e it; ccrypt -c -E SECRET it.cpt > got && echo \"$SECRET\" > out",
        &[See("encryption key: "), Answer, See("repeat"), Answer],
    ),
    case(
        "htpasswd asks for a password twice",
        &[("htpasswd", "apache2-utils")],
        "htpasswd -c users anna; htpasswd -vb users anna \"$SECRET\" && echo \"$SECRET\" > out",
        &[See("New password: "), Answer, See("Re-type"), Answer],
    ),
    case(
        "mkpasswd asks for a password",
        &[("mkpasswd", "whois")],
        "mkpasswd -m sha-512 -S saltsalt > got
        [ \"$(cat got)\" = \"$(mkpasswd -m sha-512 -S saltsalt \"$SECRET\")\" ] && echo \"$SECRET\" > out",
        &[See("assword: "), Answer],
    ),
    case(
        "age asks for a passphrase twice",
        &[("age", "age")],
        "age -p -o box it; [ -s box ] && echo \"$SECRET\" > out",
        &[See("Enter passphrase"), Answer, See("Confirm"), Answer],
    ),
    case(
        "openssl genpkey asks for a passphrase twice",
        &[("openssl", "openssl")],
        "openssl genpkey -algorithm ed25519 -aes256 -out key
        openssl pkey -in key -passin env:SECRET -noout && echo \"$SECRET\" > out",
        &[See("pass phrase:"), Answer, See("Verifying"), Answer],
    )
    .secret("ZWJXQzj"),
    case(
        "ssh-add asks for the passphrase of a key",
        &[("ssh-add", "openssh-client"), ("ssh-agent", "openssh-client")],
        "ssh-keygen -q -t ed25519 -N \"$SECRET\" -C '' -f key
        ssh-agent sh -c 'ssh-add -q key && echo \"$SECRET\" > out'",
        &[See("passphrase for"), Answer],
    ),
    case(
        "redis-cli asks for a password with stars",
        &[("redis-cli", "redis-tools")],
        "redis-cli -p 1 --askpass ping; echo \"$SECRET\" > out",
        &[See("password: "), Answer],
    ),
    case(
        "lftp, three commands, then its user asks",
        &[("lftp", "lftp")],
        "lftp; echo \"$SECRET\" > out",
        &[
            Three("lftp :~> "),
            Line("open -u anna 127.0.0.1"),
            See("assword: "),
            Answer,
            See("anna@127"),
            Line("exit"),
        ],
    ),
    case(
        "vim -x asks for a key twice",
        &[("vim", "vim")],
        "vim -N -u NONE -i NONE -c 'set cm=blowfish2' -x text
        vim -N -u NONE -i NONE -es --cmd \"set key=$SECRET\" -c 'w! plain' -c 'set key=' -c 'w! plain' -c 'q!' text
        ! grep -q inner plain || echo \"$SECRET\" > out",
        &[
            See("encryption key: "),
            Answer,
            See("again: "),
            Answer,
            Each(&[See("~"), Key("i")]),
            Line("inner"),
            Key("\x1b"),
            Settle,
            Line(":wq"),
        ],
    )
    .secret("ZWJVQzj"),
    case(
        "less, a command that asks",
        &[("less", "less"), BASH],
        "seq 500 | less",
        &[
            See("22"),
            Settle,
            Line("!bash secret"),
            See("value: "),
            Answer,
            See("done"),
            Line(""),
            Settle,
            Key("q"),
        ],
    ),
    case(
        "screen's own password, asked twice",
        &[("screen", "screen"), BASH],
        "SCREENDIR=$HOME/screens screen -q bash --norc --noprofile -i; echo \"$SECRET\" > out",
        &[
            Three("$ "),
            Key("\x01:"),
            Settle,
            Line("password"),
            See("New screen password:"),
            Answer,
            See("Retype"),
            Answer,
            See("copybuffer"),
            Settle,
            Line("exit"),
        ],
    ),
    case(
        "tmux locks, and its command asks",
        &[("tmux", "tmux"), BASH],
        "tmux -S sock -f lock.conf new-session 'bash --norc --noprofile -i'",
        &[Three("$ "), Key("\x02l"), See("value: "), Answer, Times(4, "$ "), Settle, Line("exit")],
    ),
    case(
        "mc, three commands in its row, then one that asks",
        &[("mc", "mc"), BASH],
        "mkdir mc; printf '[Midnight-Commander]\\nconfirm_exit=false\\n' > mc/ini; SHELL=/bin/bash exec mc -b",
        &[
            Each(&[See("10Quit"), Line("echo one"), Line("echo two"), Line("echo three")]),
            Line("bash secret"),
            See("value: "),
            Each(&[Answer, See("10Quit")]),
            Key("\x1b[21~"),
        ],
    )
    .secret("ZWJXj"),
    case(
        "systemd-ask-password, Tab for no echo, typed on at once",
        &[("systemd-ask-password", "systemd")],
        "systemd-ask-password --timeout=80 value: > out",
        &[See("value:"), Key("\t"), Answer],
    ),
    case(
        "systemd-ask-password, Backspace for no echo, then the secret",
        &[("systemd-ask-password", "systemd")],
        "systemd-ask-password --timeout=80 value: > out",
        &[See("value:"), Key("\x7f"), Settle, Answer],
    ),
    case(
        "systemd-ask-password --echo, Tab for none",
        &[("systemd-ask-password", "systemd")],
        "systemd-ask-password --timeout=80 --echo value: > out",
        &[See("value:"), Key("\t"), Settle, Answer],
    ),
    case(
        "pass asks for a password twice",
        &[("pass", "pass"), ("gpg", "gpg"), ("gpg-agent", "gpg-agent")],
        "export GNUPGHOME=$HOME/.gnupg; mkdir -m 700 .gnupg
        gpg -q --batch --passphrase '' --quick-gen-key anna future-default
        pass init anna > log; clear; pass insert site; pass show site > out; gpgconf --kill gpg-agent",
        &[See("password for site: "), Answer, See("Retype"), Answer],
    ),
];
