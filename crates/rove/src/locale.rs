//! Chooses the locale variables for the server, and tells whether a locale's name promises UTF-8. rove does not use the
//! C library's encoding. So no locale, set or missing, ever prevents a session.

use std::env;

use rove_bootstrap::ProgramName;
use rove_bootstrap::remote::SESSION_VARIABLE;

/// The locale variables that are passed to the server with `-l`, in this order. Source: Mosh 1.4.0 as observed.
pub(crate) const VARIABLES: [&str; 15] = [
    "LANG",
    "LANGUAGE",
    "LC_CTYPE",
    "LC_NUMERIC",
    "LC_TIME",
    "LC_COLLATE",
    "LC_MONETARY",
    "LC_MESSAGES",
    "LC_PAPER",
    "LC_NAME",
    "LC_ADDRESS",
    "LC_TELEPHONE",
    "LC_MEASUREMENT",
    "LC_IDENTIFICATION",
    "LC_ALL",
];

/// The locale that is used if the user's locale is not UTF-8. It exists in glibc, musl and the BSDs without any
/// language pack.
pub(crate) const FALLBACK: &str = "C.UTF-8";

/// The variable that tells programs that the terminal has more colours than its terminfo entry says. The client sends
/// it by `-l` like a locale variable, because Mosh's server accepts any name in that option.
pub(crate) const COLORTERM: &str = "COLORTERM";

/// Returns the locale variables that are set in this process's environment.
pub(crate) fn from_environment() -> Vec<(String, String)> {
    VARIABLES.into_iter().filter_map(variable).collect()
}

/// Returns the variables that are sent to the server. Under the name `rove` they include a UTF-8 locale, `COLORTERM`,
/// and the word that identifies the session in which this process runs, if any.
pub(crate) fn for_server(name: ProgramName) -> Vec<(String, String)> {
    let variables = from_environment();
    if name == ProgramName::Mosh {
        return variables;
    }
    let colorterm = variable(COLORTERM).filter(|(_, value)| !value.is_empty());
    let is_word = |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_alphanumeric());
    let inside = variable(SESSION_VARIABLE).filter(|(_, value)| is_word(value));
    as_utf8(variables).into_iter().chain(colorterm).chain(inside).collect()
}

fn variable(name: &str) -> Option<(String, String)> {
    Some((name.to_owned(), env::var_os(name)?.to_string_lossy().into_owned()))
}

/// Changes `variables` so that their character set is UTF-8, by a name that servers know.
///
/// Stock servers refuse to run without a UTF-8 locale, although only the user's terminal needs UTF-8. macOS sets
/// `LC_CTYPE=UTF-8`, a name unknown elsewhere.
fn as_utf8(mut variables: Vec<(String, String)>) -> Vec<(String, String)> {
    match effective(&variables) {
        Some((_, value)) if is_utf8(value) && charset(value) != Some(value) => variables,
        _ => {
            variables.retain(|(name, _)| name != "LC_ALL" && name != "LC_CTYPE");
            variables.push(("LC_CTYPE".to_owned(), FALLBACK.to_owned()));
            variables
        }
    }
}

/// Returns whether a locale's name promises UTF-8: `en_US.UTF-8`, `C.utf8`, macOS' bare `UTF-8`.
pub(crate) fn is_utf8(locale: &str) -> bool {
    charset(locale).is_some_and(|charset| {
        let plain: String = charset.chars().filter(|&c| c != '-').collect();
        plain.eq_ignore_ascii_case("utf8")
    })
}

/// Returns the character set in `language_TERRITORY.charset@modifier`, or a bare `UTF-8`. `None` if there is none.
fn charset(locale: &str) -> Option<&str> {
    let name = locale.split_once('@').map_or(locale, |(name, _)| name);
    match name.split_once('.') {
        Some((_, charset)) => Some(charset),
        None => name.starts_with(['U', 'u']).then_some(name),
    }
}

/// Returns the variable that decides the character set, by POSIX precedence. `None` if all are unset or empty.
pub(crate) fn effective(variables: &[(String, String)]) -> Option<(&'static str, &str)> {
    ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(|wanted| {
        let set = variables.iter().rev().find(|(name, _)| name == wanted);
        set.filter(|(_, value)| !value.is_empty()).map(|(_, value)| (wanted, value.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(text: &str) -> Vec<(String, String)> {
        text.split_whitespace()
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap();
                (name.to_owned(), value.to_owned())
            })
            .collect()
    }

    #[test]
    fn a_name_promises_utf8_whatever_its_spelling() {
        for (name, promises) in [
            ("en_US.UTF-8", true),
            ("C.utf8", true),
            ("de_DE.Utf-8@euro", true),
            ("UTF-8", true),
            ("utf8", true),
            ("en_US", false),
            ("C", false),
            ("POSIX", false),
            ("", false),
            ("de_DE.ISO-8859-15", false),
            ("uk_UA", false),
            ("utf.8", false),
        ] {
            assert_eq!(is_utf8(name), promises, "{name}");
        }
    }

    #[test]
    fn the_character_set_follows_posix_precedence() {
        for (set, decides) in [
            ("LANG=a LC_CTYPE=b LC_ALL=c", Some(("LC_ALL", "c"))),
            ("LANG=a LC_CTYPE=b LC_ALL=", Some(("LC_CTYPE", "b"))),
            ("LANG=a LC_TIME=b", Some(("LANG", "a"))),
            ("LC_TIME=b", None),
            ("LANG=", None),
        ] {
            assert_eq!(effective(&variables(set)), decides, "{set}");
        }
    }

    #[test]
    fn the_locale_sent_always_names_utf8_and_keeps_the_rest() {
        for (set, travels) in [
            ("LANG=en_US.UTF-8 LC_TIME=C", "LANG=en_US.UTF-8 LC_TIME=C"),
            ("", "LC_CTYPE=C.UTF-8"),
            ("LANG=C LC_TIME=sv_SE", "LANG=C LC_TIME=sv_SE LC_CTYPE=C.UTF-8"),
            ("LANG=en_US.UTF-8 LC_CTYPE=UTF-8", "LANG=en_US.UTF-8 LC_CTYPE=C.UTF-8"),
            ("LANG=en_US.UTF-8 LC_ALL=C", "LANG=en_US.UTF-8 LC_CTYPE=C.UTF-8"),
        ] {
            assert_eq!(as_utf8(variables(set)), variables(travels), "{set}");
        }
    }
}
