//! The built-in commands of shells that read without echo.

use super::case::Step::{
    Answer, Burst, Each, Host, Key, Line, Lines, LinesFrom, Paste, See, Times, Type,
};
use super::case::{Case, Step};

/// The user enters a name at `value: `, and the secret at the same prompt.
const NAME_THEN_SECRET: &[Step] = &[Lines("value: ", &["anna"]), Answer];
/// The user enters four words at `value: `, and the secret at the same prompt.
const FOUR_THEN_SECRET: &[Step] = &[Lines("value: ", &["one", "two", "three", "four"]), Answer];

/// Cases of bash's `read`.
pub(super) const BASH: &[Case] = &[
    Case::new(
        "bash read, then read -s, same prompt",
        "bash",
        "read -p '> ' name; read -s -p '> ' word; echo; echo \"$word\" > out",
        &[Lines("> ", &["anna"]), Answer],
    ),
    Case::new(
        "bash read, then read -s, same prompt, pasted",
        "bash",
        "read -p 'value: ' name; read -s -p 'value: ' word; tr -d '\\033' <<< \"$word\" > out",
        &[Lines("value: ", &["anna"]), Paste],
    ),
    Case::new(
        "bash read, then read -s, same prompt, all keys at once",
        "bash",
        "read -p 'value: ' name; read -s -p 'value: ' word; echo \"$word\" > out",
        &[Lines("value: ", &["anna"]), Burst],
    ),
    Case::new(
        "bash read, then read -s, same prompt, datagrams lost",
        "bash",
        "read -p 'value: ' name; read -s -p 'value: ' word; echo \"$word\" > out",
        NAME_THEN_SECRET,
    )
    .loss(0.2),
    Case::new(
        "bash read, then read -s, numbers differ",
        "bash",
        "for n in 1 2 3; do read -p \"item $n of 4: \" name; done
        read -s -p 'item 4 of 4: ' word; echo \"$word\" > out",
        &[
            See("item 1 of 4: "),
            Line("one"),
            See("item 2 of 4: "),
            Line("two"),
            See("item 3 of 4: "),
            Line("three"),
            See("item 4 of 4: "),
            Answer,
        ],
    ),
    Case::new(
        "bash read, then read -s, prompts end alike",
        "bash",
        "for n in one two three; do read -p \"$n item: \" name; done
        read -s -p 'last item: ' word; echo \"$word\" > out",
        &[
            See("one item: "),
            Line("one"),
            See("two item: "),
            Line("two"),
            See("three item: "),
            Line("three"),
            See("last item: "),
            Answer,
        ],
    ),
    Case::new(
        "bash read, then read -s, no prompts",
        "bash",
        "echo ready; read name; echo go; read -s word; echo \"$word\" > out",
        &[See("ready"), Line("anna"), See("go"), Answer],
    ),
    Case::new(
        "bash read -e, then read -e -s, same prompt",
        "bash",
        "read -e -p 'value: ' name; read -e -s -p 'value: ' word; echo \"$word\" > out",
        NAME_THEN_SECRET,
    ),
    Case::new(
        "bash read -e -s, first prompt",
        "bash",
        "read -e -s -p 'value: ' word; echo \"$word\" > out",
        &[See("value: "), Answer],
    ),
    Case::new(
        "bash read -e -s, first prompt, pasted",
        "bash",
        "read -e -s -p 'value: ' word; echo \"$word\" > out",
        &[See("value: "), Paste],
    ),
    Case::new(
        "bash four reads, then read -s, same prompt",
        "bash",
        "for n in 1 2 3 4; do read -p 'value: ' name; done
        read -s -p 'value: ' word; echo \"$word\" > out",
        FOUR_THEN_SECRET,
    ),
    Case::new(
        "bash four read -e, then read -e -s, same prompt",
        "bash",
        "for n in 1 2 3 4; do read -e -p 'value: ' name; done
        read -e -s -p 'value: ' word; echo \"$word\" > out",
        FOUR_THEN_SECRET,
    ),
    Case::new(
        "bash read -s, four reads, then read -s, same prompt",
        "bash",
        "read -s -p 'value: ' word; echo; for n in 1 2 3 4; do read -p 'value: ' name; done
        read -s -p 'value: ' word; echo \"$word\" > out",
        &[See("value: "), Answer, LinesFrom(2, "value:", &["one", "two", "three", "four"]), Answer],
    ),
    Case::new(
        "bash read -s -n 1 in a loop that prints stars",
        "bash",
        "read -p 'value: ' name; printf 'value: '; word=
        while IFS= read -r -s -n 1 c; do [ -n \"$c\" ] || break; word+=$c; printf '*'; done
        echo \"$word\" > out",
        NAME_THEN_SECRET,
    ),
    Case::new(
        "bash read -n, then read -s -n, same prompt",
        "bash",
        "read -n 4 -p 'value: ' name; echo; read -s -n 8 -p 'value: ' word; echo \"$word\" > out",
        &[See("value: "), Type("anna"), Times(2, "value:"), Step::Secret],
    ),
    Case::new(
        "bash select, then read -s with its prompt",
        "bash",
        "n=0; select item in one two three; do n=$((n + 1)); [ $n -lt 3 ] || break; done
        read -s -p '#? ' word; echo \"$word\" > out",
        &[Lines("#? ", &["1", "2", "3"]), Answer],
    ),
    Case::new(
        "bash read, then read -s, a prompt longer than a row",
        "bash",
        "long=$(printf 'a long question %.0s' 1 2 3 4 5 6); read -p \"$long: \" name
        read -s -p \"$long: \" word; echo \"$word\" > out",
        &[Lines("question : ", &["anna"]), Answer],
    ),
    Case::new(
        "bash read of a text longer than a row, then read -s",
        "bash",
        "read -p 'value: ' name; read -s -p 'value: ' word; echo \"$word\" > out",
        &[
            See("value: "),
            Line(
                "a long answer to a short question, and then some more of it until the row is full",
            ),
            Times(2, "value:"),
            Answer,
        ],
    ),
    Case::new(
        "bash read, then read -s, in the last row",
        "bash",
        "printf '\\033[24H'; read -p 'value: ' name; read -s -p 'value: ' word; echo \"$word\" > out",
        NAME_THEN_SECRET,
    ),
    Case::new(
        "bash read, then read -s, near the right edge",
        "bash",
        "printf '%70s' ''; read -p 'value: ' name; printf '%70s' ''; read -s -p 'value: ' word
        echo \"$word\" > out",
        &[Lines("value:", &["ann"]), Answer],
    ),
    Case::new(
        "bash read, then read -s, prompts in Japanese",
        "bash",
        "read -p 'パスワード: ' name; read -s -p 'パスワード: ' word; echo \"$word\" > out",
        &[Lines("ワード", &["anna"]), Answer],
    ),
    Case::new(
        "bash read, then read -s typed before the prompt",
        "bash",
        "read -p 'value: ' name; stty -echo; : > off; sleep 1; read -s -p 'value: ' word
        stty echo; echo \"$word\" > out",
        &[See("value: "), Line("anna"), Host("off"), Answer],
    ),
    Case::new(
        "bash read -e, read -s typed before the prompt",
        "bash",
        "for n in 1 2 3; do read -e -p 'value: ' name; done; stty -echo; : > off; sleep 1
        read -s -p 'value: ' word; stty echo; echo \"$word\" > out",
        &[Lines("value: ", &["one", "two"]), Line("three"), Host("off"), Answer],
    ),
];

/// Cases of the `read` of other shells.
pub(super) const OTHERS: &[Case] = &[
    Case::new(
        "zsh read, then read -s, same prompt",
        "zsh -f",
        "read 'name?value: '; read -s 'word?value: '; print -r -- $word > out",
        NAME_THEN_SECRET,
    ),
    Case::new(
        "zsh vared, then read -s, same prompt",
        "zsh -f",
        "vared -c -p 'value: ' name; read -s 'word?value: '; print -r -- $word > out",
        NAME_THEN_SECRET,
    ),
    Case::new(
        "zsh four vareds, then read -s, same prompt",
        "zsh -f",
        "for n in 1 2 3 4; do name=; vared -p 'value: ' name; done
        read -s 'word?value: '; print -r -- $word > out",
        FOUR_THEN_SECRET,
    ),
    Case::new(
        "zsh read -k in a loop that prints dots",
        "zsh -f",
        "read 'name?value: '; printf 'value: '; word=
        while read -s -k 1 c; do [[ $c == $'\\n' ]] && break; word+=$c; printf .; done
        print -r -- $word > out",
        NAME_THEN_SECRET,
    ),
    Case::new(
        "fish read, then read -s, default prompt",
        "fish --no-config",
        "read user; read -s pin; echo $pin > out",
        &[Lines("read> ", &["anna"]), Answer],
    ),
    Case::new(
        "fish read, then read -s, same -P",
        "fish --no-config",
        "read -P 'value: ' user; read -s -P 'value: ' pin; echo $pin > out",
        NAME_THEN_SECRET,
    ),
    Case::new(
        "fish four reads, then read -s, same -P",
        "fish --no-config",
        "for n in 1 2 3 4; read -P 'value: ' user; end; read -s -P 'value: ' pin; echo $pin > out",
        FOUR_THEN_SECRET,
    ),
    Case::new(
        "fish read -s, first prompt",
        "fish --no-config",
        "read -s -P 'value: ' pin; echo $pin > out",
        &[See("value: "), Answer],
    ),
    Case::new(
        "fish read, then read -s, pasted",
        "fish --no-config",
        "read -P 'value: ' user; read -s -P 'value: ' pin; echo $pin > out",
        &[Lines("value: ", &["anna"]), Paste],
    ),
    Case::new(
        "fish read, then read -s, datagrams lost",
        "fish --no-config",
        "read -P 'value: ' user; read -s -P 'value: ' pin; echo $pin > out",
        NAME_THEN_SECRET,
    )
    .loss(0.2),
    Case::new(
        "mksh read with its editor, then without echo, same prompt",
        "mksh",
        "read -r name?'value: '; stty -echo; read -r word?'value: '; stty echo; echo \"$word\" > out",
        NAME_THEN_SECRET,
    ),
    Case::new(
        "fish read -s after Up",
        "fish --no-config",
        "read -P 'value: ' user; read -s -P 'value: ' pin; echo $pin > out
        read -P 'value: ' user; echo done",
        &[
            Lines("value: ", &["anna"]),
            Answer,
            Times(3, "value:"),
            Each(&[Key("\x1b[A"), Key("\x1b[A")]),
            Key("\x15\r"),
        ],
    ),
];
