//! Completion for zsh.

use std::fmt::Write;

use crate::completions::{own_words, quoted, takes_hosts, takes_sessions};
use crate::manual::{Book, Manual, OptionEntry, Suggestions, Words};

/// Finds hosts. A name that begins with a `-` would be an option, and one with other characters than those of names and
/// addresses is no host. `_ssh_hosts` puts these words before its own; the dashes keep a host of a file from being read as an option there.
const HOSTS: &str = r#"
_rove_hosts() {
  local -a refused=('-*' '*[^[:alnum:]._:%-]*')
  compset -P '*@'
  _ssh_hosts -F refused - --
}
"#;

/// Finds sessions.
const SESSIONS: &str = r#"
_rove_sessions() {
  local -a sessions
  local process port rest
  command PROGRAM list 2> /dev/null | while read -r process port rest; do
    [[ $port == <-> ]] && sessions+=("$port:${rest//:/\\:}")
  done
  _describe -t sessions session sessions
}

_rove_host_or_session() {
  [[ $PREFIX == *@* ]] || _rove_sessions
  _rove_hosts
}

_rove_more_sessions() {
  [[ $line[1] == <-> ]] && _rove_sessions
}
"#;

/// Completes a command line behind others.
const FUNCTIONS: &str = r#"
_rove_command() {
  if (( CURRENT == 1 )); then
    _command_names -e
  else
    _normal
  fi
}
"#;

pub(super) fn script(book: &Book) -> String {
    let (program, name) = (book.program.name, book.identifier());
    let functions = functions(book).replace("_rove", &format!("_{name}"));
    format!("#compdef {program}\n# Completion of {program} for zsh.\n{functions}")
}

fn functions(book: &Book) -> String {
    let mut script = String::new();
    if takes_hosts(book) {
        script.push_str(HOSTS);
        first_word_function(book, &mut script);
    }
    if takes_sessions(book) {
        script.push_str(&SESSIONS.replace("PROGRAM", book.program.name));
    }
    script.push_str(FUNCTIONS);
    let commands = book.command_words().join("|");
    let _ = write!(
        script,
        "\n_rove() {{\n  local curcontext=\"$curcontext\" command= line\n  typeset -A opt_args\n  \
         if (( CURRENT > 2 )) && [[ $words[2] == ({commands}) ]]; then\n    \
         command=$words[2]\n    shift words\n    (( CURRENT-- ))\n  fi\n  case $command in\n"
    );
    for manual in (book.manuals)() {
        let _ = write!(script, "    ({})\n      _arguments -s -S -C", pattern(manual));
        for option in manual.options() {
            let _ = write!(script, " \\\n        {}", option_spec(&option));
        }
        for spec in word_specs(book, manual) {
            let _ = write!(script, " \\\n        {}", quoted(&spec));
        }
        script.push_str("\n      ;;\n");
    }
    let _ = write!(
        script,
        "  esac\n}}\n\n# As a function of fpath it is called at once; sourced it is registered.\n\
         if [[ $funcstack[1] == _rove ]]; then\n  _rove \"$@\"\nelse\n  compdef _rove {}\nfi\n",
        book.program.name
    );
    script
}

fn first_word_function(book: &Book, script: &mut String) {
    script.push_str("\n_rove_first() {\n  local -a commands=(\n");
    for manual in book.commands() {
        let entry = format!("{}:{}", manual.word, manual.about().replace(':', "\\:"));
        let _ = writeln!(script, "    {}", quoted(&entry));
    }
    script.push_str(
        "  )\n  [[ -z $command && $CURRENT == 2 && $PREFIX != *@* ]] && _describe -t commands 'command' commands\n  \
         _rove_hosts\n}\n",
    );
}

fn pattern(manual: &Manual) -> String {
    if manual.word.is_empty() { "''".to_owned() } else { manual.word.to_owned() }
}

/// Returns what `_arguments` is told of an option: `'(-p --port)'{-p+,--port=}'[help]:PORT:'`.
fn option_spec(option: &OptionEntry) -> String {
    let spellings: Vec<String> = option
        .spellings()
        .into_iter()
        .map(|spelling| match (&option.value, spelling.starts_with("--")) {
            (None, _) => spelling,
            (Some(_), true) => format!("{spelling}="),
            (Some(_), false) => format!("{spelling}+"),
        })
        .collect();
    let (excluded, names) = match (spellings.as_slice(), option.repeats) {
        (names, true) => (quoted("*"), brace(names)),
        ([name], false) => (String::new(), name.clone()),
        (names, false) => (quoted(&format!("({})", option.spellings().join(" "))), brace(names)),
    };
    let mut tail = format!("[{}]", escaped(&option.help));
    if let Some(value) = &option.value {
        let action = match &value.suggestions {
            Suggestions::None => " ".to_owned(),
            Suggestions::Words(words) => format!("({})", words.join(" ")),
            Suggestions::Programs => "_command_names -e".to_owned(),
            Suggestions::Hosts => "_rove_hosts".to_owned(),
            Suggestions::Files => "_files".to_owned(),
        };
        let _ = write!(tail, ":{}:{action}", escaped(&value.name));
    }
    format!("{excluded}{names}{}", quoted(&tail))
}

fn brace(names: &[String]) -> String {
    match names {
        [name] => name.clone(),
        names => format!("{{{}}}", names.join(",")),
    }
}

fn word_specs(book: &Book, manual: &Manual) -> Vec<String> {
    match manual.words {
        Words::HostAndCommand => {
            vec!["1:host:_rove_first".to_owned(), "*::remote command:_rove_command".to_owned()]
        }
        Words::Command => vec!["*::command:_rove_command".to_owned()],
        Words::Host => vec!["1:host:_rove_hosts".to_owned()],
        Words::HostThenSessions => vec![
            "1:host or session:_rove_host_or_session".to_owned(),
            "*:session:_rove_more_sessions".to_owned(),
        ],
        Words::OneOfThenHost(..) => vec![
            format!("1:word:({})", own_words(book, manual).join(" ")),
            "2:host:_rove_hosts".to_owned(),
        ],
        Words::OneOf(_) | Words::OurCommands => {
            vec![format!("1:word:({})", own_words(book, manual).join(" "))]
        }
        Words::Unknown => Vec::new(),
    }
}

/// Escapes what ends a part of a specification.
fn escaped(text: &str) -> String {
    let mut out = String::new();
    for character in text.chars() {
        if matches!(character, '[' | ']' | ':' | '\\') {
            out.push('\\');
        }
        out.push(character);
    }
    out
}
