//! Completion for bash.

use std::fmt::Write;

use crate::completions::{own_words, quoted, takes_hosts, takes_sessions, valued_spellings};
use crate::manual::{Book, Manual, Suggestions, Words};

/// Finds hosts. Words are never handed to `compgen -W` when they come from a file: it would expand what
/// stands in them.
const HOSTS: &str = r#"
# Adds a file of ssh_config to `configs`, and those that it includes. What it names without a folder is in $2.
_rove_configs() {
    local keyword rest words word file IFS
    [[ -f $1 && -r $1 ]] || return
    for file in "${configs[@]}"; do
        [[ $file == "$1" ]] && return
    done
    configs+=("$1")
    while IFS=$' \t=' read -r keyword rest; do
        [[ ${keyword,,} == include ]] || continue
        IFS=$' \t' read -r -a words <<< "${rest//\"/}"
        for word in "${words[@]}"; do
            case $word in
                '~/'*) word=$HOME/${word:2} ;;
                /*) ;;
                *) word=$2/$word ;;
            esac
            IFS=
            for file in $word; do
                _rove_configs "$file" "$2"
            done
        done
    done < "$1"
}

# Names of hosts from ssh's own files that begin with $1; what stands in front of its last @ stays.
_rove_hosts() {
    local file configs=() known=() name user=
    [[ $1 == *@* ]] && user=${1%@*}@
    _rove_configs ~/.ssh/config ~/.ssh
    _rove_configs /etc/ssh/ssh_config /etc/ssh
    for file in ~/.ssh/known_hosts /etc/ssh/ssh_known_hosts; do
        [[ -r $file ]] && known+=("$file")
    done
    (( ${#configs[@]} + ${#known[@]} )) || return
    while IFS= read -r name; do
        [[ $name == "${1##*@}"* ]] && COMPREPLY+=("$user$name")
    done < <(awk '
        # A name that begins with a - would be an option.
        function show(name) { if (name ~ /^[[:alnum:]._][[:alnum:]._-]*$/) print name }
        kind == "config" {
            sub("=", " ")
            if (tolower($1) == "host") for (i = 2; i <= NF; i++) show($i)
            next
        }
        /^[^|#@]/ {
            count = split($1, names, ",")
            for (i = 1; i <= count; i++) {
                gsub(/^\[|\](:[0-9]+)?$/, "", names[i])
                show(names[i])
            }
        }' kind=config "${configs[@]}" kind=known "${known[@]}" < /dev/null | sort -u)
}
"#;

/// Finds sessions.
const SESSIONS: &str = r#"
# Ports of sessions that begin with $1.
_rove_sessions() {
    local process port rest
    while read -r process port rest; do
        [[ $port =~ ^[0-9]+$ && $port == "$1"* ]] && COMPREPLY+=("$port")
    done < <(command PROGRAM list 2> /dev/null)
}
"#;

/// Functions that do not depend on the options. bash takes `=` for a word of its own, and `@` too where it completes
/// the names of hosts itself (`hostcomplete`); but then `$2`, which is replaced, begins with the `@`.
const FUNCTIONS: &str = r#"
_rove() {
    local cur=$2 prev=${COMP_WORDS[COMP_CWORD-1]} command= first=1
    COMPREPLY=()
    if (( COMP_CWORD > 1 )); then
        case ${COMP_WORDS[1]} in
            COMMANDS) command=${COMP_WORDS[1]}; first=2 ;;
        esac
    fi
    # --option=value is three words.
    if [[ ${COMP_WORDS[COMP_CWORD]} == = ]]; then
        cur=
    elif [[ $prev == = ]]; then
        prev=${COMP_WORDS[COMP_CWORD-2]}
    fi
    if _rove_value "$command $prev" "$cur"; then
        return
    fi
    # How many words stand here that are no options, and the first of them.
    local at words=0 named= behind_dashes=
    for (( at = first; at < COMP_CWORD; at++ )); do
        if [[ $behind_dashes ]]; then
            (( words++ )) || named=${COMP_WORDS[at]}
            continue
        fi
        case ${COMP_WORDS[at]} in
            --) behind_dashes=1 ;;
            =) (( at++ )) ;;
            @) (( at + 1 < COMP_CWORD )) && (( at++ )) ;;
            -*) [[ ${COMP_WORDS[at+1]-} != = ]] && _rove_has_value "$command ${COMP_WORDS[at]}" && (( at++ )) ;;
            *) (( words++ )) || named=${COMP_WORDS[at]} ;;
        esac
    done
    # The word goes on behind an @.
    if (( words > 0 )) && [[ $cur == @* || $prev == @ ]]; then
        (( words-- ))
    fi
    _rove_word "$command" "$words" "$behind_dashes" "$cur"
}
"#;

pub(super) fn script(book: &Book) -> String {
    let mut functions = String::new();
    if takes_hosts(book) {
        functions.push_str(HOSTS);
    }
    if takes_sessions(book) {
        functions.push_str(&SESSIONS.replace("PROGRAM", book.program.name));
    }
    functions.push_str(&FUNCTIONS.replace("COMMANDS", &book.command_words().join("|")));
    has_value_function(book, &mut functions);
    value_function(book, &mut functions);
    word_function(book, &mut functions);
    let (program, name) = (book.program.name, book.identifier());
    let functions = functions.replace("_rove", &format!("_{name}"));
    format!("# Completion of {program} for bash.\n{functions}\ncomplete -F _{name} {program}\n")
}

/// Appends a function that tells whether the option `$1`, behind its command, takes a value.
fn has_value_function(book: &Book, script: &mut String) {
    script.push_str("\n_rove_has_value() {\n    case $1 in\n");
    for manual in (book.manuals)() {
        if let Some(patterns) = patterns(manual, &valued_spellings(manual)) {
            let _ = writeln!(script, "        {patterns}) return 0 ;;");
        }
    }
    script.push_str("    esac\n    return 1\n}\n");
}

/// Appends a function that completes `$2` as the value of the option `$1`; fails if that takes none.
fn value_function(book: &Book, script: &mut String) {
    script.push_str("\n_rove_value() {\n    case $1 in\n");
    for manual in (book.manuals)() {
        for option in manual.options().iter().filter(|option| option.value.is_some()) {
            let suggestions = option.value.as_ref().map(|value| &value.suggestions);
            let action = match suggestions {
                Some(Suggestions::Words(words)) => {
                    format!("COMPREPLY=($(compgen -W {} -- \"$2\"))", quoted(&words.join(" ")))
                }
                Some(Suggestions::Programs) => "COMPREPLY=($(compgen -c -- \"$2\"))".to_owned(),
                // As names of files, folders get their slash and no blank.
                Some(Suggestions::Files) => "mapfile -t COMPREPLY < <(compgen -f -- \"$2\"); \
                                             compopt -o filenames 2> /dev/null"
                    .to_owned(),
                Some(Suggestions::Hosts) => "COMPREPLY=(); _rove_hosts \"$2\"".to_owned(),
                Some(Suggestions::None) | None => "COMPREPLY=()".to_owned(),
            };
            let patterns = patterns(manual, &option.spellings()).unwrap_or_default();
            let _ = writeln!(script, "        {patterns}) {action} ;;");
        }
    }
    // Where nothing matches, there is still a value to be given.
    script.push_str("        *) return 1 ;;\n    esac\n    return 0\n}\n");
}

/// Appends a function that completes `$4` in the command `$1` behind `$2` words, `$3` if behind `--`.
fn word_function(book: &Book, script: &mut String) {
    script.push_str("\n_rove_word() {\n    local words=\n    case $1 in\n");
    for manual in (book.manuals)() {
        let _ = writeln!(script, "        {})", quoted(manual.word));
        let options: Vec<String> = manual
            .options()
            .iter()
            .flat_map(|option| {
                let is_valued = option.value.is_some();
                option.spellings().into_iter().map(move |spelling| {
                    let equals = if is_valued && spelling.starts_with("--") { "=" } else { "" };
                    format!("{spelling}{equals}")
                })
            })
            .collect();
        let _ = writeln!(script, "            words={}", quoted(&options.join(" ")));
        let others = match manual.words {
            Words::HostAndCommand => format!(
                "            if (( $2 > 0 )); then\n                \
                 [[ $2 == 1 && $4 == -* && ! $3 ]] || {{ COMPREPLY=($(compgen -c -- \"$4\")); return; }}\n            \
                 elif [[ $4 != -* || $3 ]]; then\n                \
                 [[ $3 || $4 == *@* || $COMP_CWORD != 1 ]] || COMPREPLY=($(compgen -W {} -- \"$4\"))\n                \
                 _rove_hosts \"$4\"\n                return\n            fi\n",
                quoted(&book.command_words().join(" "))
            ),
            Words::Command => {
                "            [[ $3 ]] && { COMPREPLY=($(compgen -c -- \"$4\")); return; }\n"
                    .to_owned()
            }
            Words::OneOf(_) | Words::OurCommands => first_word(book, manual),
            Words::OneOfThenHost(_, word) => format!(
                "{}            if (( $2 == 1 )) && [[ $4 != -* && \" ${{COMP_WORDS[*]:2}} \" == *' {word} '* ]]; then\n                \
                 _rove_hosts \"$4\"\n                return\n            fi\n",
                first_word(book, manual)
            ),
            Words::Host => "            if (( $2 == 0 )) && [[ $4 != -* || $3 ]]; then\n                \
                            _rove_hosts \"$4\"\n                return\n            fi\n"
                .to_owned(),
            Words::HostThenSessions => "            if [[ $4 != -* || $3 ]]; then\n                \
                                        [[ $2 == 0 || $named =~ ^[0-9]+$ ]] && _rove_sessions \"$4\"\n                \
                                        [[ $2 == 0 ]] && _rove_hosts \"$4\"\n                \
                                        return\n            fi\n"
                .to_owned(),
            Words::Unknown => String::new(),
        };
        let _ = writeln!(script, "{others}            ;;");
    }
    script.push_str(
        "    esac\n    COMPREPLY=($(compgen -W \"$words\" -- \"$4\"))\n    \
         [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null\n    \
         return 0\n}\n",
    );
}

/// Returns what offers a command's own words as its first.
fn first_word(book: &Book, manual: &Manual) -> String {
    let words = quoted(&format!(" {}", own_words(book, manual).join(" ")));
    format!("            (( $2 == 0 )) && words+={words}\n")
}

/// Returns a pattern for these options behind their command's word.
fn patterns(manual: &Manual, spellings: &[String]) -> Option<String> {
    let patterns: Vec<String> =
        spellings.iter().map(|spelling| quoted(&format!("{} {spelling}", manual.word))).collect();
    (!patterns.is_empty()).then(|| patterns.join("|"))
}
