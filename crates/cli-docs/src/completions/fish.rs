//! Completion for fish.

use std::fmt::Write;

use crate::completions::{own_words, takes_hosts, valued_spellings};
use crate::manual::{Book, Manual, OptionEntry, Suggestions, Words};

/// The part of the script that does not depend on the options.
const FUNCTIONS: &str = r#"
# Whether the command line so far is one of the command $argv[1], or of the session if that is empty.
function __rove_in
    set -l words (commandline -opc)
    if contains -- "$words[2]" COMMANDS
        test "$words[2]" = "$argv[1]"
    else
        test -z "$argv[1]"
    end
end

# The words in the command line so far that are no options; all count behind --.
function __rove_named
    set -l words (commandline -opc)
    set -e words[1]
    contains -- "$words[1]" COMMANDS; and set -e words[1]
    set -l skip 0
    set -l behind_dashes 0
    for word in $words
        if test $skip = 1
            set skip 0
        else if test $behind_dashes = 1
            printf '%s\n' "$word"
        else if test "$word" = --
            set behind_dashes 1
        else if contains -- "$word" VALUED
            set skip 1
        else if not string match -q -- '-*' $word
            printf '%s\n' "$word"
        end
    end
end

function __rove_words
    count (__rove_named)
end

# Whether sessions are named, and not a host.
function __rove_names_sessions
    set -l named (__rove_named)
    test -z "$named[1]"; or string match -qr '^[0-9]+$' -- "$named[1]"
end

# Ports of sessions, each with what it is.
function __rove_sessions
    command PROGRAM list 2>/dev/null | while read -l process port rest
        string match -qr '^[0-9]+$' -- "$port"; and printf '%s\t%s\n' $port "$rest"
    end
end

function __rove_behind_dashes
    contains -- -- (commandline -opc)
end
"#;

/// Finds hosts. A name that begins with a `-` would be an option, and one with other characters than those of names and
/// addresses is no host.
const HOSTS: &str = r#"
function __rove_hosts
    __fish_print_hostnames | string match -r -- '^[[:alnum:]._][[:alnum:]._:%-]*$'
end

function __rove_user_at_hosts
    __fish_complete_user_at_hosts | string match -r -- '^(?:.*@)?[[:alnum:]._][[:alnum:]._:%-]*$'
end
"#;

pub(super) fn script(book: &Book) -> String {
    let (program, name) = (book.program.name, book.identifier());
    let script = lines(book).replace("__rove", &format!("__{name}"));
    format!("# Completion of {program} for fish.\n{script}")
}

fn lines(book: &Book) -> String {
    let manuals = (book.manuals)();
    let mut valued: Vec<String> =
        manuals.iter().flat_map(|manual| valued_spellings(manual)).collect();
    valued.sort_unstable();
    valued.dedup();
    let functions = FUNCTIONS
        .replace("COMMANDS", &book.command_words().join(" "))
        .replace("VALUED", &valued.join(" "))
        .replace("PROGRAM", book.program.name);
    let hosts = if takes_hosts(book) { HOSTS } else { "" };
    let mut script = format!("{functions}{hosts}\ncomplete -c {} -f\n", book.program.name);
    for manual in manuals {
        script.push('\n');
        for option in manual.options() {
            option_line(&mut script, manual, &option);
        }
        word_lines(&mut script, book, manual);
    }
    script
}

fn option_line(script: &mut String, manual: &Manual, option: &OptionEntry) {
    // Options end where the remote command begins.
    let place = match manual.words {
        Words::HostAndCommand => "; and not __rove_behind_dashes; and test (__rove_words) -lt 2",
        _ => "; and not __rove_behind_dashes",
    };
    let program = manual.program.name;
    let _ = write!(script, "complete -c {program} -n {}", condition(manual, place));
    if let Some(letter) = option.short {
        let _ = write!(script, " -s {letter}");
    }
    if let Some(name) = &option.long {
        let _ = write!(script, " -l {name}");
    }
    match option.value.as_ref().map(|value| &value.suggestions) {
        None => {}
        Some(Suggestions::None) => script.push_str(" -x"),
        Some(Suggestions::Words(words)) => {
            let _ = write!(script, " -x -a {}", quoted(&words.join(" ")));
        }
        Some(Suggestions::Programs) => script.push_str(" -x -a '(__fish_complete_command)'"),
        Some(Suggestions::Hosts) => script.push_str(" -x -a '(__rove_hosts)'"),
        Some(Suggestions::Files) => script.push_str(" -r -F"),
    }
    let _ = writeln!(script, " -d {}", quoted(&option.help));
}

fn word_lines(script: &mut String, book: &Book, manual: &Manual) {
    let mut line = |place: &str, words: &str, help: &str| {
        let _ = writeln!(
            script,
            "complete -c {} -n {} -a {}{}",
            manual.program.name,
            condition(manual, place),
            quoted(words),
            if help.is_empty() { String::new() } else { format!(" -d {}", quoted(help)) }
        );
    };
    match manual.words {
        Words::Host => hosts(&mut line),
        Words::HostAndCommand => {
            for command in book.commands() {
                let place = "; and test (count (commandline -opc)) = 1";
                line(place, command.word, &command.about());
            }
            hosts(&mut line);
            line("; and test (__rove_words) = 1", "(__fish_complete_command)", "");
        }
        Words::Command => line("; and __rove_behind_dashes", "(__fish_complete_command)", ""),
        Words::OneOf(_) | Words::OurCommands => {
            line("; and test (__rove_words) = 0", &own_words(book, manual).join(" "), "");
        }
        Words::OneOfThenHost(_, word) => {
            line("; and test (__rove_words) = 0", &own_words(book, manual).join(" "), "");
            let place =
                format!("; and test (__rove_words) = 1; and contains -- {word} (commandline -opc)");
            line(&place, "(__rove_hosts)", "Host");
            line(&place, "(__rove_user_at_hosts)", "Host");
        }
        Words::HostThenSessions => {
            hosts(&mut line);
            line("; and __rove_names_sessions", "(__rove_sessions)", "");
        }
        Words::Unknown => {}
    }
}

/// Writes the lines that offer a host as the first word.
fn hosts(line: &mut impl FnMut(&str, &str, &str)) {
    let place = "; and test (__rove_words) = 0";
    line(place, "(__rove_hosts)", "Host");
    line(place, "(__rove_user_at_hosts)", "Host");
}

/// Returns when a line holds: in this command, and in this place.
fn condition(manual: &Manual, place: &str) -> String {
    quoted(&format!("__rove_in \"{}\"{place}", manual.word))
}

fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\\', "\\\\").replace('\'', "\\'"))
}
