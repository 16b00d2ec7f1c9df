//! Programs that hide the terminal's cursor and draw a cursor of their own in a box, as programs built with Ink do.

use super::case::Step::{Answer, Burst, Each, Key, Line, Secret, See, Settle};
use super::case::{Case, Step};
use super::toolkits::{FIRST, SAME_PLACE, THREE_SAME_PLACE};

const PYTHON: &[(&str, &str)] = &[(super::case::PYTHON, "python3")];
const FILES: &[(&str, &str)] = &[("boxed.py", include_str!("programs/boxed.py"))];

/// Creates a case of the program `boxed.py`, which draws its own cursor.
const fn boxed(name: &'static str, script: &'static str, steps: &'static [Step]) -> Case {
    Case::new(name, "sh", script, steps).needs(PYTHON).with(FILES)
}

/// The cases of this file.
pub(super) const CASES: &[Case] = &[
    boxed("a box, stars at the first prompt", "/usr/bin/python3 boxed.py 'star:value: '", FIRST),
    boxed("a box, nothing at the first prompt", "/usr/bin/python3 boxed.py 'none:value: '", FIRST),
    boxed(
        "a box, nothing but the number of characters at the first prompt",
        "/usr/bin/python3 boxed.py 'count:value: '",
        FIRST,
    ),
    boxed(
        "a box, stars, a secret that begins with them",
        "/usr/bin/python3 boxed.py 'star:value: '",
        FIRST,
    )
    .secret("**ZWJX*VQzj"),
    boxed(
        "a box, echo then stars",
        "/usr/bin/python3 boxed.py 'echo:value: ' 'star:value: '",
        SAME_PLACE,
    ),
    boxed(
        "a box, echo then bullets at another prompt",
        "/usr/bin/python3 boxed.py 'echo:value: ' 'bullet:API key: '",
        &[See("value: "), Line("anna"), See("API key: "), Answer],
    ),
    boxed(
        "a box, echo then nothing",
        "/usr/bin/python3 boxed.py 'echo:value: ' 'none:value: '",
        SAME_PLACE,
    ),
    boxed(
        "a box, echo then nothing, a secret that is corrected",
        "/usr/bin/python3 boxed.py 'echo:value: ' 'none:value: '",
        &[See("value: "), Line("anna"), Settle, Secret, Key("\x7f"), Settle, Key("j"), Line("")],
    ),
    boxed(
        "a box, three echoed lines, then nothing",
        "p=value:; /usr/bin/python3 boxed.py \"echo:$p \" \"echo:$p \" \"echo:$p \" \"none:$p \"",
        THREE_SAME_PLACE,
    ),
    boxed(
        "a box, three echoed lines, then stars, typed at once",
        "p=value:; /usr/bin/python3 boxed.py \"echo:$p \" \"echo:$p \" \"echo:$p \" \"star:$p \"",
        &[See("value: "), Each(&[Line("one"), Line("two"), Line("three")]), Burst],
    ),
    boxed(
        "a box, echo then stars, all keys at once",
        "/usr/bin/python3 boxed.py 'echo:value: ' 'star:value: '",
        &[See("value: "), Line("anna"), Settle, Burst],
    ),
];
