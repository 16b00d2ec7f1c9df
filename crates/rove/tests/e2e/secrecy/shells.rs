//! Shells' own ways to read without echo.

use super::Case;
use super::Step::{Key, Secret, See, SeeTimes, Settle, Type};

/// The cases of this file.
pub(super) const CASES: [Case; 9] = [
    Case {
        name: "bash read, then read -s, same prompt",
        script: "bash -c \"read -p '> ' name; read -s -p '> ' word; printf %s \\\"\\$word\\\" > out\"",
        steps: &[See("> "), Type("anna"), Key("\r"), SeeTimes(">", 2), Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "bash read -e, then read -e -s, same prompt",
        script: "bash -c \"read -e -p 'name: ' name; read -e -s -p 'name: ' word; printf %s \\\"\\$word\\\" > out\"",
        steps: &[See("name: "), Type("anna"), Key("\r"), SeeTimes("name:", 2), Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "bash four reads, then read -s, same prompt",
        script: "bash -c \"for n in 1 2 3 4; do read -p 'item: ' name; done; read -s -p 'item: ' word; printf %s \\\"\\$word\\\" > out\"",
        steps: &[
            See("item: "),
            Type("one"),
            Key("\r"),
            SeeTimes("item:", 2),
            Type("two"),
            Key("\r"),
            SeeTimes("item:", 3),
            Type("three"),
            Key("\r"),
            SeeTimes("item:", 4),
            Type("four"),
            Key("\r"),
            SeeTimes("item:", 5),
            Secret,
            Key("\r"),
        ],
        ..Case::PLAIN
    },
    Case {
        name: "bash four read -e, then read -e -s, same prompt",
        script: "bash -c \"for n in 1 2 3 4; do read -e -p 'item: ' name; done; read -e -s -p 'item: ' word; printf %s \\\"\\$word\\\" > out\"",
        steps: &[
            See("item: "),
            Type("one"),
            Key("\r"),
            SeeTimes("item:", 2),
            Type("two"),
            Key("\r"),
            SeeTimes("item:", 3),
            Type("three"),
            Key("\r"),
            SeeTimes("item:", 4),
            Type("four"),
            Key("\r"),
            SeeTimes("item:", 5),
            Secret,
            Key("\r"),
        ],
        ..Case::PLAIN
    },
    Case {
        name: "zsh read, then read -s, same prompt",
        needs: &[("zsh", "zsh")],
        script: "zsh -f -c \"read 'u?value: '; read -s 'p?value: '; printf %s \\\"\\$p\\\" > out\"",
        steps: &[See("value: "), Type("anna"), Key("\r"), SeeTimes("value:", 2), Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "fish read, then read -s, default prompt",
        needs: &[("fish", "fish")],
        script: "fish --no-config -c 'read user; read -s pin; printf %s $pin > out'",
        steps: &[
            See("read> "),
            Type("anna"),
            Settle,
            Key("\r"),
            SeeTimes("read>", 2),
            Secret,
            Key("\r"),
        ],
        ..Case::PLAIN
    },
    Case {
        name: "fish read, then read -s, same -P",
        needs: &[("fish", "fish")],
        script: "fish --no-config -c \"read -P 'value: ' user; read -s -P 'value: ' pin; printf %s \\$pin > out\"",
        steps: &[
            See("value: "),
            Type("anna"),
            Settle,
            Key("\r"),
            SeeTimes("value:", 2),
            Secret,
            Key("\r"),
        ],
        ..Case::PLAIN
    },
    Case {
        name: "fish read -s, first prompt",
        needs: &[("fish", "fish")],
        script: "fish --no-config -c \"read -s -P 'value: ' pin; printf %s \\$pin > out\"",
        steps: &[See("value: "), Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "bash read, then read -s, same prompt, nested ssh",
        needs: &[("ssh", "openssh-client"), ("sshd", "openssh-server")],
        files: &[
            ("nested", NESTED),
            ("far", "read -p '> ' name; read -s -p '> ' word; printf %s \"$word\" > \"$OUT\""),
        ],
        script: "sh ./nested far",
        steps: &[See("> "), Type("anna"), Key("\r"), SeeTimes(">", 2), Secret, Key("\r")],
        ..Case::PLAIN
    },
];

/// Runs a bash script through an ssh to an sshd of its own, which needs no port.
pub(super) const NESTED: &str = "\
PATH=$PATH:/usr/sbin
ssh-keygen -q -t ed25519 -N '' -f host_key
ssh-keygen -q -t ed25519 -N '' -f user_key
mkdir -p /run/sshd 2>/dev/null
printf '%s\\n' \"HostKey $HOME/host_key\" \"AuthorizedKeysFile $HOME/user_key.pub\" \\
    'StrictModes no' 'UsePAM no' 'PermitRootLogin yes' 'PrintMotd no' 'PrintLastLog no' \\
    'PidFile none' > sshd_config
exec ssh -F /dev/null -tt -o LogLevel=ERROR -o StrictHostKeyChecking=no \\
    -o UserKnownHostsFile=/dev/null -i user_key \\
    -o ProxyCommand=\"$(command -v sshd) -i -f $HOME/sshd_config\" far \\
    \"cd $HOME && OUT=$OUT HISTFILE= bash ./$1\"
";
