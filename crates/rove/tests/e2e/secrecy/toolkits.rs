//! Programs that read each key themselves and draw a line of input.

use super::case::Step::{
    Answer, Burst, Each, Host, Key, Line, Lines, LinesFrom, Paste, Secret, See, Settle, Three,
    Times, Type,
};
use super::case::{Case, Step};

const TOOLKIT: &[(&str, &str)] = &[("toolkit.py", include_str!("programs/toolkit.py"))];
const TOOLKIT_NEEDS: &[(&str, &str)] = &[
    (super::case::PYTHON, "python3"),
    ("/usr/lib/python3/dist-packages/prompt_toolkit/__init__.py", "python3-prompt-toolkit"),
];
const RAW: &[(&str, &str)] = &[("raw.py", include_str!("programs/raw.py"))];
const RAW_NEEDS: &[(&str, &str)] = &[(super::case::PYTHON, "python3")];
const NODE: &[(&str, &str)] = &[("muted.js", include_str!("programs/muted.js"))];
const NODE_NEEDS: &[(&str, &str)] = &[("node", "nodejs")];

/// Creates a case of a program that uses prompt_toolkit.
pub(super) const fn toolkit(
    name: &'static str,
    script: &'static str,
    steps: &'static [Step],
) -> Case {
    Case::new(name, "sh", script, steps).needs(TOOLKIT_NEEDS).with(TOOLKIT)
}

/// Creates a case of the program `raw.py`, which asks in raw mode.
pub(super) const fn raw(name: &'static str, script: &'static str, steps: &'static [Step]) -> Case {
    Case::new(name, "sh", script, steps).needs(RAW_NEEDS).with(RAW)
}

/// Creates a case of a program that uses node's readline.
const fn node(name: &'static str, script: &'static str, steps: &'static [Step]) -> Case {
    Case::new(name, "sh", script, steps).needs(NODE_NEEDS).with(NODE)
}

/// The user enters the secret at the first prompt.
pub(super) const FIRST: &[Step] = &[See("value: "), Answer];
/// The user enters a name at `value: `, and the secret at the same prompt in the next row.
pub(super) const NAME_THEN_SECRET: &[Step] = &[Lines("value: ", &["anna"]), Answer];
/// The user enters a name, and the secret at the same prompt in the same row.
pub(super) const SAME_PLACE: &[Step] = &[See("value: "), Line("anna"), Settle, Answer];
/// The user enters three names, and the secret at the same prompt in the same row.
pub(super) const THREE_SAME_PLACE: &[Step] =
    &[See("value: "), Each(&[Line("one"), Line("two"), Line("three")]), Answer];
/// The user enters three names at `value: `, and the secret at the same prompt in the next row.
pub(super) const THREE_THEN_SECRET: &[Step] = &[Lines("value: ", &["one", "two", "three"]), Answer];

/// Cases of programs with line editors.
pub(super) const EDITORS: &[Case] = &[
    toolkit(
        "prompt_toolkit is_password, first prompt",
        "/usr/bin/python3 toolkit.py prompt '!API key: '",
        &[See("API key: "), Answer],
    ),
    toolkit(
        "prompt_toolkit is_password, first prompt, no words",
        "/usr/bin/python3 toolkit.py prompt '!>>> '",
        &[See(">>> "), Answer],
    ),
    toolkit(
        "prompt_toolkit echoed, then is_password, same prompt",
        "/usr/bin/python3 toolkit.py prompt 'value: ' '!value: '",
        NAME_THEN_SECRET,
    ),
    toolkit(
        "prompt_toolkit three echoed, then is_password, one session",
        "/usr/bin/python3 toolkit.py session '> ' '> ' '> ' '!> '",
        &[Lines("> ", &["one", "two", "three"]), Answer],
    ),
    toolkit(
        "prompt_toolkit is_password, five echoed, then is_password",
        "/usr/bin/python3 toolkit.py prompt '!> ' '> ' '> ' '> ' '> ' '> ' '!> '",
        &[See("> "), Answer, LinesFrom(2, ">", &["one", "two", "three", "four", "five"]), Answer],
    ),
    toolkit(
        "prompt_toolkit is_password, pasted",
        "/usr/bin/python3 toolkit.py prompt '!value: '",
        &[See("value: "), Paste],
    ),
    toolkit(
        "prompt_toolkit is_password, all keys at once",
        "/usr/bin/python3 toolkit.py prompt '!value: '",
        &[See("value: "), Burst],
    ),
    toolkit(
        "prompt_toolkit is_password, datagrams lost",
        "/usr/bin/python3 toolkit.py prompt '!value: '",
        FIRST,
    )
    .loss(0.2),
    toolkit(
        "prompt_toolkit dialogs, echoed, then password",
        "/usr/bin/python3 toolkit.py window 'the value' '!the value'",
        &[
            See("the value"),
            Each(&[Type("anna"), Key("\t")]),
            Line(""),
            See("part 2"),
            Secret,
            Settle,
            Key("\t"),
            Settle,
            Line(""),
        ],
    ),
    toolkit(
        "prompt_toolkit is_password at the prompt of the shell before it",
        "exec bash --norc --noprofile -i",
        &[
            Three("$ "),
            Line("/usr/bin/python3 toolkit.py prompt '!$ '"),
            Times(6, "$ "),
            Answer,
            Settle,
            Settle,
            Line("exit"),
        ],
    )
    .excused(4),
    node("node readline muted, same question", "node muted.js 2 nothing", SAME_PLACE),
    node("node readline muted, first question", "node muted.js 1 nothing", FIRST),
    node("node readline with stars, same question", "node muted.js 2 stars", SAME_PLACE),
    node("node readline muted after three questions", "node muted.js 4 nothing", THREE_SAME_PLACE),
];

/// Cases of programs that read keys in raw mode.
pub(super) const RAW_MODE: &[Case] = &[
    raw("raw mode, nothing, first prompt", "/usr/bin/python3 raw.py 'none:value: '", FIRST),
    raw(
        "raw mode, nothing, first prompt, no words",
        "/usr/bin/python3 raw.py 'none:'",
        &[Host("ready"), Settle, Answer],
    ),
    raw(
        "raw mode, nothing, first prompt, pastes marked",
        "/usr/bin/python3 raw.py 'none,paste:value: '",
        FIRST,
    ),
    raw(
        "raw mode, stars, first prompt, pastes marked",
        "/usr/bin/python3 raw.py 'star,paste:value: '",
        FIRST,
    ),
    raw(
        "raw mode, stars, first prompt of a shell, pastes marked",
        "/usr/bin/python3 raw.py 'star,paste:user@host:~$ '",
        &[See("user@host:~$ "), Answer],
    ),
    raw(
        "raw mode, bullets, pasted, pastes marked",
        "/usr/bin/python3 raw.py 'bullet,paste:value: '",
        &[See("value: "), Paste],
    ),
    raw(
        "raw mode, echo then nothing, next row",
        "/usr/bin/python3 raw.py 'echo:value: ' 'none:value: '",
        NAME_THEN_SECRET,
    ),
    raw(
        "raw mode, echo then nothing, same place",
        "/usr/bin/python3 raw.py 'echo,at5-3:value: ' 'none,at5-3:value: '",
        SAME_PLACE,
    ),
    raw(
        "raw mode, echo then nothing, same row of a text",
        "/usr/bin/python3 raw.py 'echo:value: ' 'none,same:value: '",
        SAME_PLACE,
    ),
    raw(
        "raw mode, echo then stars, same place",
        "/usr/bin/python3 raw.py 'echo,at5-3:value: ' 'star,at5-3:value: '",
        SAME_PLACE,
    ),
    raw(
        "raw mode, echo then dots, next row",
        "/usr/bin/python3 raw.py 'echo:value: ' 'dot:value: '",
        NAME_THEN_SECRET,
    ),
    raw(
        "raw mode, echo then bullets, next row",
        "/usr/bin/python3 raw.py 'echo:value: ' 'bullet:value: '",
        NAME_THEN_SECRET,
    ),
    raw(
        "raw mode, echo then wide pictures, next row",
        "/usr/bin/python3 raw.py 'echo:value: ' 'wide:value: '",
        NAME_THEN_SECRET,
    ),
    raw(
        "raw mode, echo then up to three stars a key, same place",
        "/usr/bin/python3 raw.py 'echo,at5-3:value: ' 'random,at5-3:value: '",
        SAME_PLACE,
    ),
    raw(
        "raw mode, echo then three stars a key, next row",
        "/usr/bin/python3 raw.py 'echo:value: ' 'triple:value: '",
        NAME_THEN_SECRET,
    ),
    raw(
        "raw mode, echo then random letters, same place",
        "/usr/bin/python3 raw.py 'echo,at5-3:value: ' 'letters,at5-3:value: '",
        SAME_PLACE,
    ),
    raw(
        "raw mode, echo then one flickering sign, same place",
        "/usr/bin/python3 raw.py 'echo,at5-3:value: ' 'flicker,at5-3:value: '",
        SAME_PLACE,
    ),
    raw(
        "raw mode, echo then a sign that turns at the cursor, next row",
        "/usr/bin/python3 raw.py 'echo:value: ' 'spin:value: '",
        NAME_THEN_SECRET,
    ),
    raw(
        "raw mode, echo then a count elsewhere, same place",
        "/usr/bin/python3 raw.py 'echo,at5-3:value: ' 'count,at5-3:value: '",
        SAME_PLACE,
    ),
    raw(
        "raw mode, echo then blanks, next row",
        "/usr/bin/python3 raw.py 'echo:value: ' 'blank:value: '",
        NAME_THEN_SECRET,
    ),
    raw(
        "raw mode, echo then a cursor that moves, next row",
        "/usr/bin/python3 raw.py 'echo:value: ' 'right:value: '",
        NAME_THEN_SECRET,
    ),
    raw(
        "raw mode, echo then inverse blocks, same place",
        "/usr/bin/python3 raw.py 'echo,at5-3:value: ' 'block,at5-3:value: '",
        SAME_PLACE,
    ),
    raw(
        "raw mode, slow echo then nothing, next row",
        "/usr/bin/python3 raw.py 'late:value: ' 'none:value: '",
        &[See("value: "), Line("anna"), Settle, Settle, Times(2, "value:"), Answer],
    ),
    raw(
        "raw mode, three echoed lines, then nothing",
        "/usr/bin/python3 raw.py 'echo:value: ' 'echo:value: ' 'echo:value: ' 'none:value: '",
        THREE_THEN_SECRET,
    ),
    raw(
        "raw mode, three echoed lines, then stars, same place",
        "p=at5-3:value:; /usr/bin/python3 raw.py \"echo,$p \" \"echo,$p \" \"echo,$p \" \"star,$p \"",
        THREE_SAME_PLACE,
    ),
    raw(
        "raw mode, three echoed lines, then dots, pastes marked",
        "p=paste:value:; /usr/bin/python3 raw.py \"echo,$p \" \"echo,$p \" \"echo,$p \" \"dot,$p \"",
        THREE_THEN_SECRET,
    ),
];
