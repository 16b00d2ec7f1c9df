//! Programs that read keys by themselves and draw a line of input.

use super::Case;
use super::Step::{BurstSecret, Key, PasteSecret, Secret, See, SeeTimes, Settle, Type};

const TOOLKIT: &[(&str, &str)] = &[("toolkit.py", include_str!("programs/toolkit.py"))];
const RAW: &[(&str, &str)] = &[("raw.py", include_str!("programs/raw.py"))];

/// The cases of this file.
pub(super) const CASES: [Case; 8] = [
    Case {
        name: "prompt_toolkit is_password, first prompt",
        needs: &[("python3", "python3-prompt-toolkit")],
        files: TOOLKIT,
        script: "/usr/bin/python3 toolkit.py '!API key: '",
        steps: &[See("API key: "), Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "prompt_toolkit echoed, then is_password, same prompt",
        needs: &[("python3", "python3-prompt-toolkit")],
        files: TOOLKIT,
        script: "/usr/bin/python3 toolkit.py 'value: ' '!value: '",
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
        name: "prompt_toolkit is_password, pasted",
        needs: &[("python3", "python3-prompt-toolkit")],
        files: TOOLKIT,
        script: "/usr/bin/python3 toolkit.py '!value: '",
        steps: &[See("value: "), PasteSecret, Settle, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "prompt_toolkit is_password, all keys at once",
        needs: &[("python3", "python3-prompt-toolkit")],
        files: TOOLKIT,
        script: "/usr/bin/python3 toolkit.py '!value: '",
        steps: &[See("value: "), BurstSecret, Settle, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "node readline muted, same question",
        needs: &[("node", "nodejs")],
        files: &[("muted.js", include_str!("programs/muted.js"))],
        script: "node muted.js",
        steps: &[See("value: "), Type("anna"), Settle, Key("\r"), Settle, Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "raw mode wizard, echo then nothing, same place",
        files: RAW,
        script: "/usr/bin/python3 raw.py 'echo@5,3:value: ' 'none@5,3:value: '",
        steps: &[See("value: "), Type("anna"), Key("\r"), Settle, Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "raw mode wizard, echo then stars, same place",
        files: RAW,
        script: "/usr/bin/python3 raw.py 'echo@5,3:value: ' 'star@5,3:value: '",
        steps: &[See("value: "), Type("anna"), Key("\r"), Settle, Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "raw mode wizard, three echoed lines, then nothing",
        files: RAW,
        script: "/usr/bin/python3 raw.py 'echo:value: ' 'echo:value: ' 'echo:value: ' 'none:value: '",
        steps: &[
            See("value: "),
            Type("anna"),
            Key("\r"),
            SeeTimes("value:", 2),
            Type("bert"),
            Key("\r"),
            SeeTimes("value:", 3),
            Type("carl"),
            Key("\r"),
            SeeTimes("value:", 4),
            Secret,
            Key("\r"),
        ],
        ..Case::PLAIN
    },
];
