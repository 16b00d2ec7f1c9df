//! Forms that fill the whole screen.

use super::case::Step::{Answer, Each, Gone, Key, Line, Secret, See, Settle, Type};
use super::case::{Case, Step};

const DIALOG: &[(&str, &str)] = &[("dialog", "dialog")];
const WHIPTAIL: &[(&str, &str)] = &[("whiptail", "whiptail")];
const PYTHON: &[(&str, &str)] = &[(super::case::PYTHON, "python3")];
const FILES: &[(&str, &str)] = &[
    ("form.py", include_str!("programs/form.py")),
    ("panel.py", include_str!("programs/panel.py")),
];

/// Creates a case that uses the program `dialog`.
const fn dialog(name: &'static str, script: &'static str, steps: &'static [Step]) -> Case {
    Case::new(name, "sh", script, steps).needs(DIALOG)
}

/// Creates a case of a form that a Python program draws.
const fn form(name: &'static str, script: &'static str, steps: &'static [Step]) -> Case {
    Case::new(name, "sh", script, steps).needs(PYTHON).with(FILES)
}

/// The user enters a name in the first box, and the secret in the second.
const NAME_THEN_SECRET: &[Step] =
    &[See("value:"), Line("anna"), Gone("anna"), Settle, Settle, Answer];
/// The user enters two names, each with Enter, and then the secret.
const THREE_FIELDS: &[Step] = &[Each(&[See("an account"), Line("anna"), Line("berta")]), Answer];
/// The user enters two names, each with Tab, and then the secret.
const TABBED: &[Step] =
    &[Each(&[See("an account"), Type("anna"), Key("\t"), Type("berta"), Key("\t")]), Answer];

/// The cases of this file.
pub(super) const CASES: &[Case] = &[
    dialog(
        "dialog --inputbox, then --passwordbox",
        "dialog --inputbox value: 8 40 2> name; dialog --passwordbox value: 8 40 2> out",
        NAME_THEN_SECRET,
    ),
    dialog(
        "dialog --inputbox, then --insecure --passwordbox",
        "dialog --inputbox value: 8 40 2> name; dialog --insecure --passwordbox value: 8 40 2> out",
        NAME_THEN_SECRET,
    ),
    dialog(
        "dialog --passwordbox, first",
        "dialog --passwordbox value: 8 40 2> out",
        &[See("value:"), Answer],
    ),
    dialog(
        "dialog --insecure --passwordbox, first",
        "dialog --insecure --passwordbox value: 8 40 2> out",
        &[See("value:"), Answer],
    ),
    dialog(
        "dialog three --inputboxes, then --passwordbox",
        "for n in 1 2 3; do dialog --inputbox value: 8 40 2> name; done
        dialog --passwordbox value: 8 40 2> out",
        &[
            See("value:"),
            Line("one"),
            Gone("one"),
            Settle,
            Line("two"),
            Gone("two"),
            Settle,
            Line("three"),
            Gone("three"),
            Settle,
            Answer,
        ],
    ),
    dialog(
        "dialog --inputbox, then --passwordbox, another size",
        "dialog --inputbox value: 8 40 2> name; dialog --insecure --passwordbox value: 9 60 2> out",
        NAME_THEN_SECRET,
    ),
    dialog(
        "dialog --form, then --passwordform",
        "dialog --form a 9 40 2 name: 1 1 '' 1 9 20 0 user: 2 1 '' 2 9 20 0 2> name
        dialog --passwordform a 9 40 2 name: 1 1 '' 1 9 20 0 user: 2 1 '' 2 9 20 0 2> out",
        &[
            See("name:"),
            Each(&[Type("anna"), Key("\x1bOB")]),
            Line("berta"),
            Gone("berta"),
            Settle,
            Settle,
            Answer,
        ],
    ),
    dialog(
        "dialog --insecure --mixedform",
        "dialog --insecure --mixedform a 9 40 2 name: 1 1 '' 1 9 20 0 0 word: 2 1 '' 2 9 20 0 1 2> out",
        &[See("name:"), Each(&[Type("anna"), Key("\x1bOB")]), Answer],
    ),
    dialog(
        "dialog --mixedform, typed on without a wait",
        "dialog --mixedform a 9 40 2 name: 1 1 '' 1 9 20 0 0 word: 2 1 '' 2 9 20 0 1 2> out",
        &[See("name:"), Type("anna"), Key("\x1bOB"), Secret, Settle, Line("")],
    ),
    Case::new(
        "whiptail --inputbox, then --passwordbox",
        "sh",
        "whiptail --inputbox value: 8 40 2> name; whiptail --passwordbox value: 8 40 2> out",
        NAME_THEN_SECRET,
    )
    .needs(WHIPTAIL),
    Case::new(
        "whiptail --passwordbox twice",
        "sh",
        "whiptail --passwordbox value: 8 40 2> name; whiptail --passwordbox value: 8 40 2> out",
        &[See("value:"), Answer, Settle, Settle, Answer],
    )
    .needs(WHIPTAIL),
    Case::new(
        "whiptail --passwordbox, --inputbox twice, --passwordbox",
        "sh",
        "whiptail --passwordbox value: 8 40 2> name
        for n in 1 2; do whiptail --inputbox value: 8 40 2> name; done
        whiptail --passwordbox value: 8 40 2> out",
        &[
            See("value:"),
            Answer,
            Settle,
            Settle,
            Line("one"),
            Gone("one"),
            Settle,
            Settle,
            Line("two"),
            Gone("two"),
            Settle,
            Settle,
            Answer,
        ],
    )
    .needs(WHIPTAIL),
    form("curses, fields in one place, stars", "/usr/bin/python3 form.py same star", THREE_FIELDS),
    form(
        "curses, fields in one place, nothing",
        "/usr/bin/python3 form.py same none",
        THREE_FIELDS,
    ),
    form("curses, a row for each field, stars", "/usr/bin/python3 form.py rows star", THREE_FIELDS),
    form(
        "curses, a row for each field, nothing",
        "/usr/bin/python3 form.py rows none",
        THREE_FIELDS,
    ),
    form("curses, fields in one row, stars", "/usr/bin/python3 form.py row star", TABBED),
    form("curses, fields in one row, nothing", "/usr/bin/python3 form.py row none", TABBED),
    form("curses, a field that moves, stars", "/usr/bin/python3 form.py moves star", THREE_FIELDS),
    form(
        "curses, a field that moves, nothing",
        "/usr/bin/python3 form.py moves none",
        THREE_FIELDS,
    ),
    form(
        "curses, getstr with echo, then without",
        "/usr/bin/python3 form.py string none",
        THREE_FIELDS,
    ),
    form(
        "widgets redrawn for each key, bullets in the third field",
        "/usr/bin/python3 panel.py echo:name echo:user bullet:word",
        TABBED,
    ),
    form(
        "widgets redrawn for each key, nothing in the third field",
        "/usr/bin/python3 panel.py echo:name echo:user none:word",
        THREE_FIELDS,
    ),
    form(
        "widgets, one field at a time in one place, bullets",
        "/usr/bin/python3 panel.py one echo:value echo:value bullet:value",
        THREE_FIELDS,
    ),
    form(
        "widgets, one field at a time in one place, nothing",
        "/usr/bin/python3 panel.py one echo:value echo:value none:value",
        TABBED,
    ),
    form(
        "widgets, the only field is hidden",
        "/usr/bin/python3 panel.py bullet:value",
        &[See("value"), Answer],
    ),
];
