//! Programs that turn the kernel's echo off.

use super::Case;
use super::Step::{Host, Key, Secret, See, SeeTimes, Type};

/// The cases of this file.
pub(super) const CASES: [Case; 4] = [
    Case {
        name: "getpass with the text of an earlier input()",
        needs: &[("python3", "python3")],
        files: &[(
            "ask.py",
            "import getpass\ninput('value: ')\nopen('out', 'w').write(getpass.getpass('value: '))\n",
        )],
        script: "/usr/bin/python3 ask.py",
        steps: &[See("value: "), Type("anna"), Key("\r"), SeeTimes("value:", 2), Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "stty -echo 600 ms after the prompt",
        script: "printf 'item: '; sleep 0.6; stty -echo; : > off; read -r word; printf %s \"$word\" > out",
        steps: &[See("item: "), Host("off"), Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "stty -echo 200 ms after the prompt",
        script: "printf 'item: '; sleep 0.2; stty -echo; : > off; read -r word; printf %s \"$word\" > out",
        steps: &[See("item: "), Host("off"), Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "stty -echo right after the prompt",
        script: "printf 'item: '; stty -echo; : > off; read -r word; printf %s \"$word\" > out",
        steps: &[See("item: "), Host("off"), Secret, Key("\r")],
        ..Case::PLAIN
    },
];
