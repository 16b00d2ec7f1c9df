//! Completion of a program's command lines. A shell's script runs the program's `complete` command, and `answer` makes
//! the output of that command from the program's [`Manual`]s.

use std::ffi::OsString;

use clap::{Arg, Command};

use crate::manual::{Book, Manual, Suggested, matches};

mod answer;

pub use answer::{Names, answer};

/// The names of the shells with a completion script: bash from version 4.0 on, zsh from 5.0, fish from 3.0.
pub const SHELLS: &[&str] = &["bash", "zsh", "fish"];

/// The command by which a shell's script asks the program for completions.
pub const COMMAND: &str = "complete";

/// Completion script for bash. Bash splits words at `=` and `@`, and replaces only a word's last part (`$2` below).
const BASH: &str = r#"# Completion of PROGRAM for bash.
_NAME() {
    local found
    mapfile -t found < <(command PROGRAM complete --part="$2" -- "${COMP_WORDS[@]:1:COMP_CWORD}" 2> /dev/null)
    COMPREPLY=()
    case ${found[0]-} in
        words) COMPREPLY=("${found[@]:1}"); COMPREPLY=("${COMPREPLY[@]%%$'\t'*}") ;;
        files) mapfile -t COMPREPLY < <(compgen -f -- "$2"); compopt -o filenames 2> /dev/null ;;
        commands | arguments*)
            mapfile -t COMPREPLY < <(compgen -c -- "$2")
            [[ $2 == */* ]] && compopt -o filenames 2> /dev/null
            ;;
    esac
    [[ ${#COMPREPLY[@]} == 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2> /dev/null
    return 0
}
complete -F _NAME PROGRAM
"#;

/// Completion script for zsh. If loaded from `fpath`, it completes at once. If sourced, it registers its function.
const ZSH: &str = r#"#compdef PROGRAM
_NAME() {
  local -a found valued others
  found=("${(@f)$(command PROGRAM complete -- "${(@Q)words[2,CURRENT-1]}" "${(Q)PREFIX}" 2> /dev/null)}")
  local kind=$found[1]
  found=("${(@)${(@)found[2,-1]//:/\\:}//$'\t'/:}")
  valued=("${(@M)found:#--*=:*}") others=("${(@)found:#--*=:*}")
  case $kind in
    words) _describe PROGRAM valued -S '' -- others ;;
    files) compset -P '--*='; _files ;;
    commands) compset -P '--*='; _command_names -e ;;
    arguments*) shift ${kind#* } words; (( CURRENT -= ${kind#* } )); _normal ;;
  esac
}
if [[ $funcstack[1] == _NAME ]]; then _NAME "$@"; else compdef _NAME PROGRAM; fi
"#;

/// Completion script for fish. It strips the `=` from long options, because fish itself adds the `=`.
const FISH: &str = r#"# Completion of PROGRAM for fish.
function __NAME_answer
    set -l words (commandline -opc)
    set -e words[1]
    set -l word (commandline -ct)
    command PROGRAM complete -- $words "$word" 2>/dev/null
end
function __NAME_words
    set -l found (__NAME_answer)
    switch "$found[1]"
        case words
            string replace -r -- '^(--[^=\t]*)=(?=\t|$)' '$1' $found | tail -n +2
        case commands
            __fish_complete_command
    end
end
complete -c PROGRAM -f -a '(__NAME_words)'
complete -c PROGRAM -n '__NAME_answer | read -l kind; and test "$kind" = files' -F
"#;

/// Returns the script with which a shell of [`SHELLS`] completes the program's command lines.
pub fn script(shell: &str, book: &Book) -> String {
    let script = match shell {
        "bash" => BASH,
        "zsh" => ZSH,
        _ => FISH,
    };
    let program = book.program.name;
    script.replace("PROGRAM", program).replace("NAME", &program.replace('-', "_"))
}

/// Returns the clap definition of the `completions` command. `called` is its full name, such as `rove completions`.
pub fn definition(called: &'static str, about: &'static str, usage: &'static str) -> Command {
    let shell = Arg::new("shell").value_name("SHELL").value_parser(Suggested(SHELLS));
    Command::new(called).about(about).override_usage(usage).arg(shell.required(true).hide(true))
}

/// Reads the arguments of the `completions` command, and returns the one argument: a shell's name from [`SHELLS`].
///
/// # Errors
///
/// Returns clap's error, which may be a request for help, or the error for an unknown shell.
pub fn parse(own: &Manual, args: Vec<OsString>) -> Result<&'static str, clap::Error> {
    let matches = matches(own, args)?;
    let name = matches.get_one::<String>("shell").map_or("", String::as_str);
    SHELLS.iter().find(|shell| **shell == name).copied().ok_or_else(|| {
        let name = name.escape_debug();
        let message = format!("no completions for \"{name}\": know {}\n", SHELLS.join(", "));
        clap::Error::raw(clap::error::ErrorKind::InvalidValue, message)
    })
}
