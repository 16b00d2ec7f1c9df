//! Forms on the whole screen, and windows of a multiplexer.

use super::Case;
use super::Step::{Key, Secret, See, Settle, Type};

const FORM: &[(&str, &str)] = &[("form.py", include_str!("programs/form.py"))];
const DIALOG: &[(&str, &str)] = &[("dialog", "dialog")];
const WHIPTAIL: &[(&str, &str)] = &[("whiptail", "whiptail")];

/// The cases of this file.
pub(super) const CASES: [Case; 6] = [
    Case {
        name: "dialog --inputbox, then --passwordbox",
        needs: DIALOG,
        script: "dialog --inputbox value: 8 40 2> name; dialog --passwordbox value: 8 40 2> out",
        steps: &[See("value:"), Type("anna"), Key("\r"), Settle, Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "dialog --inputbox, then --insecure --passwordbox",
        needs: DIALOG,
        script: "dialog --inputbox value: 8 40 2> name
            dialog --insecure --passwordbox value: 8 40 2> out",
        steps: &[See("value:"), Type("anna"), Key("\r"), Settle, Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "whiptail --inputbox, then --passwordbox",
        needs: WHIPTAIL,
        script: "whiptail --inputbox value: 8 40 2> name; whiptail --passwordbox value: 8 40 2> out",
        steps: &[See("value:"), Type("anna"), Key("\r"), Settle, Secret, Key("\r")],
        ..Case::PLAIN
    },
    Case {
        name: "curses form, all fields in the same place",
        files: FORM,
        script: "/usr/bin/python3 form.py same star",
        steps: &[
            See("field:"),
            Type("anna"),
            Key("\r"),
            Settle,
            Type("berta"),
            Key("\r"),
            Settle,
            Secret,
            Key("\r"),
        ],
        ..Case::PLAIN
    },
    Case {
        name: "curses form, a row for each field, stars",
        files: FORM,
        script: "/usr/bin/python3 form.py rows star",
        steps: &[
            See("name:"),
            Type("anna"),
            Key("\r"),
            See("user:"),
            Type("berta"),
            Key("\r"),
            See("word:"),
            Secret,
            Key("\r"),
        ],
        ..Case::PLAIN
    },
    Case {
        name: "tmux right pane, cat took three lines, then read -s",
        needs: &[("tmux", "tmux")],
        files: &[
            ("tmux.conf", "set -g status off\nset -s exit-unattached on\n"),
            (
                "right",
                "echo ready; cat > n; read -s p; printf %s \"$p\" > \"$OUT\"; tmux -S sock kill-server",
            ),
        ],
        script: "tmux -S sock -f tmux.conf new-session cat ';' split-window -h 'bash ./right'",
        steps: &[
            See("ready"),
            Type("one"),
            Key("\r"),
            Type("two"),
            Key("\r"),
            Type("three"),
            Key("\r"),
            Settle,
            Key("\x04"),
            Settle,
            Secret,
            Key("\r"),
        ],
        ..Case::PLAIN
    },
];
