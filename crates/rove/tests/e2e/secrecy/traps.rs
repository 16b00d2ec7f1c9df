//! Secrets that look like an echo, fields that hide their input unannounced, and prompts that look like a shell's.

use super::case::Case;
use super::case::Step::{
    Answer, Each, Gone, Host, Key, Line, Lines, LinesFrom, Paste, Secret, See, Settle, Times, Type,
};
use super::toolkits::{
    FIRST, NAME_THEN_SECRET, SAME_PLACE, THREE_SAME_PLACE, THREE_THEN_SECRET, raw, toolkit,
};

/// The cases of this file.
pub(super) const CASES: &[Case] = &[
    raw(
        "a secret that begins with its mask's stars",
        "/usr/bin/python3 raw.py 'echo:value: ' 'star:value: '",
        NAME_THEN_SECRET,
    )
    .secret("**ZWJX*VQzj"),
    raw(
        "a secret that begins with its mask's dots, first prompt",
        "/usr/bin/python3 raw.py 'dot:value: '",
        FIRST,
    )
    .secret("...ZWJX.VQzj"),
    raw(
        "a secret with its mask's letters, same place",
        "/usr/bin/python3 raw.py 'echo,at5-3:value: ' 'x,at5-3:value: '",
        SAME_PLACE,
    )
    .secret("xxxZWJXxVQzj"),
    raw(
        "a secret with its mask's hashes, pastes marked",
        "/usr/bin/python3 raw.py 'hash,paste:value: '",
        FIRST,
    )
    .secret("##ZWJX#VQzj"),
    raw(
        "a secret with blanks, its mask's blanks",
        "/usr/bin/python3 raw.py 'echo:value: ' 'blank:value: '",
        NAME_THEN_SECRET,
    )
    .secret("  ZWJX VQzj"),
    raw(
        "a secret that begins as the hint in its field",
        "/usr/bin/python3 raw.py 'echo:value: ' 'holder:value: '",
        NAME_THEN_SECRET,
    )
    .secret("passZWJXVQzj"),
    raw(
        "a secret that begins as the name before it",
        "/usr/bin/python3 raw.py 'echo,at5-3:value: ' 'none,at5-3:value: '",
        SAME_PLACE,
    )
    .secret("annaZWJXVQzj"),
    raw(
        "a field that moves and loses its echo",
        "/usr/bin/python3 raw.py 'echo,at3-3:value: ' 'echo,at7-9:value: ' 'none,at11-20:value: '",
        &[Lines("value: ", &["anna", "berta"]), Answer],
    ),
    raw(
        "a field that goes on by itself to one without echo",
        "/usr/bin/python3 raw.py 'echo,auto4:value: ' 'none:value: '",
        &[See("value: "), Type("anna"), Times(2, "value:"), Answer],
    ),
    raw(
        "a field that goes on by itself in the same place",
        "/usr/bin/python3 raw.py 'echo,auto4,at5-3:value: ' 'star,at5-3:value: '",
        &[See("value: "), Type("anna"), Settle, Gone("anna"), Answer],
    ),
    raw(
        "a key that hides what is typed, answers seen",
        "/usr/bin/python3 raw.py 'toggle:value: '",
        &[See("value: "), Each(&[Type("anna"), Key("\x14")]), Answer],
    ),
    raw(
        "a key that hides what is typed, typed on at once",
        "/usr/bin/python3 raw.py 'toggle:value: '",
        &[See("value: "), Type("anna"), Settle, Key("\x14"), Answer],
    ),
    raw(
        "a command whose argument is hidden without a sign",
        "/usr/bin/python3 raw.py 'auth:value: '",
        &[See("value: "), Type("auth "), Settle, Answer],
    )
    .excused(4),
    raw(
        "a key that ends the echo and shows nothing, typed on at once",
        "/usr/bin/python3 raw.py 'mute:value: '",
        &[See("value: "), Type("anna"), Settle, Key("\x14"), Answer],
    ),
    raw(
        "a Tab that ends the echo and shows nothing, answers awaited",
        "/usr/bin/python3 raw.py 'mute:value: '",
        &[See("value: "), Each(&[Type("anna"), Key("\t")]), Answer],
    ),
    raw(
        "an Enter that shows nothing for a second, typed on at once",
        "/usr/bin/python3 raw.py 'echo,at5-3:value: ' 'none,wait,at5-3:value: '",
        &[See("value: "), Line("anna"), Answer],
    ),
    raw(
        "raw mode, echo then nothing, same place, typed on at once",
        "/usr/bin/python3 raw.py 'echo,at5-3:value: ' 'none,at5-3:value: '",
        &[See("value: "), Type("anna"), Key("\r"), Answer],
    ),
    raw(
        "raw mode, three echoed lines, then stars, typed on at once",
        "/usr/bin/python3 raw.py 'echo:value: ' 'echo:value: ' 'echo:value: ' 'star:value: '",
        &[
            See("value: "),
            Type("one"),
            Key("\r"),
            Type("two"),
            Key("\r"),
            Type("three"),
            Key("\r"),
            Answer,
        ],
    ),
    raw(
        "raw mode, three rows of text without prompts, then nothing",
        "/usr/bin/python3 raw.py 'echo:' 'echo:' 'echo:' 'none:'",
        &[Each(&[Host("ready"), Line("one"), Line("two"), Line("three")]), Answer],
    ),
    raw(
        "raw mode, three rows of text without prompts, then stars, typed on at once",
        "/usr/bin/python3 raw.py 'echo:' 'echo:' 'echo:' 'star:'",
        &[Host("ready"), Settle, Line("one"), Line("two"), Line("three"), Answer],
    ),
    raw(
        "raw mode, long echoed lines, then nothing",
        "/usr/bin/python3 raw.py 'echo:value: ' 'echo:value: ' 'echo:value: ' 'none:value: '",
        &[
            Lines(
                "value: ",
                &[
                    "a line that has more than thirty letters in it",
                    "another line that has more than thirty of them",
                    "and the last one that has more than thirty too",
                ],
            ),
            Answer,
        ],
    ),
    raw(
        "raw mode, stars that come late, after an echo",
        "/usr/bin/python3 raw.py 'echo:value: ' 'lag:value: '",
        NAME_THEN_SECRET,
    ),
    raw(
        "raw mode, stars that come late, first prompt, pastes marked",
        "/usr/bin/python3 raw.py 'lag,paste:value: '",
        FIRST,
    ),
    raw(
        "raw mode, a field filled from the right, echo then stars",
        "/usr/bin/python3 raw.py 'fill,at5-3:value: ' 'fillstar,at5-3:value: '",
        SAME_PLACE,
    ),
    raw(
        "raw mode, a cursor that the program draws itself, echo then nothing",
        "/usr/bin/python3 raw.py 'echo,hide,at5-3:value: ' 'none,hide,at5-3:value: '",
        SAME_PLACE,
    ),
    raw(
        "raw mode, capitals for what is typed, then stars",
        "/usr/bin/python3 raw.py 'upper:value: ' 'upper:value: ' 'star:value: '",
        &[Lines("value: ", &["anna", "berta"]), Answer],
    ),
    raw(
        "raw mode, marks of a shell's prompt, three echoed lines, then nothing",
        "p=mark,paste:value:; /usr/bin/python3 raw.py \"echo,$p \" \"echo,$p \" \"echo,$p \" \"none,$p \"",
        THREE_THEN_SECRET,
    ),
    raw(
        "raw mode, marks of a shell's prompt, stars at the first one",
        "/usr/bin/python3 raw.py 'star,mark,paste:$ '",
        &[See("$ "), Answer],
    ),
    raw(
        "raw mode, a row that says that text is inserted, echo then nothing",
        "p=insert,at5-3:value:; /usr/bin/python3 raw.py \"echo,$p \" \"echo,$p \" \"echo,$p \" \"none,$p \"",
        THREE_SAME_PLACE,
    ),
    raw(
        "raw mode, lines of output above while a secret is typed",
        "(sleep 2; for n in 1 2 3 4 5 6 7 8 9; do sleep 0.3; printf 'tick\\r\\n'; done) &
        /usr/bin/python3 raw.py 'echo:value: ' 'none:value: '; wait",
        NAME_THEN_SECRET,
    ),
    raw(
        "raw mode, echo, stars, three echoes, then stars at the same prompt",
        "p=value:; /usr/bin/python3 raw.py \"echo:$p \" \"star:$p \" \"echo:$p \" \"echo:$p \" \\
            \"echo:$p \" \"star:$p \"",
        &[
            Lines("value: ", &["anna"]),
            Answer,
            LinesFrom(3, "value:", &["one", "two", "three"]),
            Answer,
        ],
    ),
    raw(
        "raw mode, silence at one prompt, then at its like with another number",
        "/usr/bin/python3 raw.py 'none:item 1: ' 'echo:item 2: ' 'echo:item 3: ' 'echo:item 4: ' 'none:item 5: '",
        &[
            See("item 1: "),
            Answer,
            See("item 2: "),
            Line("one"),
            See("item 3: "),
            Line("two"),
            See("item 4: "),
            Line("three"),
            See("item 5: "),
            Answer,
        ],
    ),
    raw(
        "raw mode, a secret pasted after three echoed lines",
        "p=paste:value:; /usr/bin/python3 raw.py \"echo,$p \" \"echo,$p \" \"echo,$p \" \"star,$p \"",
        &[Lines("value: ", &["one", "two", "three"]), Paste],
    ),
    Case::new(
        "a beginning of the secret is typed again where it is echoed",
        "bash",
        "read -e -p 'value: ' name; read -e -s -p 'value: ' word; echo \"$word\" > out
        read -e -p 'value: ' name; read -e -p 'value: ' name",
        &[
            Lines("value: ", &["bert"]),
            Answer,
            Times(3, "value:"),
            Type("anna"),
            Settle,
            Line(""),
            Times(4, "value:"),
            Each(&[Key("\x1b[A"), Key("\x1b[A")]),
            Line(""),
        ],
    )
    .secret("annaZWJXVQzj"),
    Case::new(
        "letters of a secret that are not ASCII",
        "bash",
        "read -e -p 'value: ' name; read -e -s -p 'value: ' word; echo \"$word\" > out",
        NAME_THEN_SECRET,
    )
    .secret("ZüWJ€XVñQzj"),
    Case::new(
        "bash read -e -s, a secret that is corrected",
        "bash",
        "read -e -p 'value: ' name; read -e -s -p 'value: ' word; echo \"$word\" > out",
        &[
            Lines("value: ", &["anna"]),
            Secret,
            Key("\x7f"),
            Key("\x7f"),
            Settle,
            Key("\x01"),
            Secret,
            Settle,
            Key("\x15"),
            Settle,
            Answer,
        ],
    ),
    toolkit(
        "prompt_toolkit is_password, a secret that is corrected",
        "/usr/bin/python3 toolkit.py prompt 'value: ' '!value: '",
        &[
            Lines("value: ", &["anna"]),
            Secret,
            Key("\x7f"),
            Key("\x7f"),
            Settle,
            Key("\x01"),
            Secret,
            Settle,
            Key("\x05"),
            Key("\x15"),
            Settle,
            Answer,
        ],
    ),
];
