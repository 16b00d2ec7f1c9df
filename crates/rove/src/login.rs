//! Prepares the program that the server starts on the host: its shell, variables, directory and message of the day.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use rove_bootstrap::quote;
use rove_bootstrap::remote::SESSION_VARIABLE;
use rove_host::program::{Program, assignment, c_string, candidates};
use rove_platform::termux;
use rustix::process::Rlimit;

use crate::answer;
use crate::getent::User;
use crate::locale;

pub(crate) mod piped;
mod scrub;

/// Least number of colours at which programs get `TERM=xterm-256color` instead of `TERM=xterm`.
const MANY_COLORS: u32 = 256;
/// Files of messages of the day. The first dynamic file that can be read is shown, and then the static file. Source:
/// Mosh 1.4.0 as observed.
const DYNAMIC_MESSAGES: [&str; 2] = ["/run/motd.dynamic", "/var/run/motd.dynamic"];
const STATIC_MESSAGE: &str = "/etc/motd";
/// Most bytes shown of a message of the day. Chosen: several screens.
const MESSAGE_MAX: u64 = 65_536;

type Environment = BTreeMap<OsString, OsString>;

/// The session's program and its user.
pub(crate) struct Login<'a> {
    /// The command and its arguments; empty for the login shell.
    pub(crate) command: &'a [OsString],
    /// The random word by which the server recognises a client that runs inside the session.
    pub(crate) word: &'a str,
    /// How many colours the user's terminal has. `None` if the client has not named a number.
    pub(crate) colors: Option<u32>,
    /// The locale variables of the user's computer, for a host whose own locale is not UTF-8, and `COLORTERM`.
    pub(crate) offered: &'a [(String, String)],
    /// The user's entry in the user database, if there is one.
    pub(crate) user: Option<User>,
    /// The path of the session's pseudo-terminal, if known.
    pub(crate) terminal: Option<&'a str>,
    /// The limit on core dumps that was in force before the server lowered it.
    pub(crate) core_limit: Rlimit,
}

impl Login<'_> {
    /// Prepares the program to be executed. Its environment is `inherited`, with this login's changes.
    pub(crate) fn program(&self, inherited: impl Iterator<Item = (OsString, OsString)>) -> Program {
        let mut environment: Environment = inherited.collect();
        choose_locale(&mut environment, self.offered, is_installed);
        scrub::forget(&mut environment, self.terminal);
        let home = self.home(&environment);
        self.describe_session(&mut environment, &home);

        let (path, arguments) = if self.command.is_empty() {
            let shell = self.shell(&environment);
            let mut name = OsString::from("-");
            name.push(shell.file_name().unwrap_or(shell.as_os_str()));
            (shell.into_os_string(), vec![name])
        } else {
            (self.command[0].clone(), self.command.to_vec())
        };
        let greeting = if self.is_greeted(&home) { greeting() } else { Vec::new() };
        Program {
            candidates: candidates(&path, environment.get(OsStr::new("PATH"))),
            arguments: arguments.into_iter().filter_map(c_string).collect(),
            environment: environment.iter().filter_map(|(k, v)| assignment(k, v)).collect(),
            directory: c_string(home.into_os_string()).unwrap_or_default(),
            greeting,
            not_found: not_found(&path),
            not_executable: not_executable(&path),
            core_limit: self.core_limit,
        }
    }

    /// Returns a warning that the user's locale is not installed here. `None` if no locale is missing.
    pub(crate) fn locale_warning(
        &self,
        inherited: impl Iterator<Item = (OsString, OsString)>,
    ) -> Option<String> {
        let missing = missing_locale(&inherited.collect(), self.offered, is_installed)?;
        Some(format!(
            "the locale {} is not installed on {}; programs read and write characters as in {}",
            missing.escape_debug(),
            host_name(),
            locale::FALLBACK
        ))
    }

    /// Sets the variables that describe the session to programs.
    fn describe_session(&self, environment: &mut Environment, home: &Path) {
        let many = self.colors.is_some_and(|colors| colors >= MANY_COLORS);
        let term = if many { "xterm-256color" } else { "xterm" };
        environment.insert("TERM".into(), term.into());
        // A value that ssh has passed (`SendEnv`) takes precedence.
        if let Some((name, value)) =
            self.offered.iter().rfind(|(name, _)| name == locale::COLORTERM)
        {
            environment.entry(name.into()).or_insert_with(|| value.into());
        }
        // ncurses must draw lines by UTF-8 characters instead of shifting to the alternate character set.
        environment.insert("NCURSES_NO_UTF8_ACS".into(), "1".into());
        environment.insert(SESSION_VARIABLE.into(), self.word.into());
        // With this variable, GNU screen would believe that it runs inside another screen, and refuse to start.
        environment.remove(OsStr::new("STY"));
        if home.is_dir() {
            environment.insert("PWD".into(), home.into());
        }
    }

    /// Returns the user whose detached sessions are named as the program starts. `None` if the session runs a command.
    /// Under Mosh's name (`is_stock`), also `None` if `~/.hushlogin` exists.
    pub(crate) fn told_of_sessions(
        &self,
        home: Option<OsString>,
        is_stock: bool,
    ) -> Option<OsString> {
        let environment = home.map(|home| ("HOME".into(), home)).into_iter().collect();
        let user = self.user.as_ref().map(|user| user.name.clone());
        let is_told = match is_stock {
            true => self.is_greeted(&self.home(&environment)),
            false => self.command.is_empty(),
        };
        user.filter(|_| is_told)
    }

    /// Returns whether messages of the day are shown before the program starts.
    fn is_greeted(&self, home: &Path) -> bool {
        self.command.is_empty() && !home.join(".hushlogin").exists()
    }

    /// Returns the directory in which the program starts.
    fn home(&self, environment: &Environment) -> PathBuf {
        let given = environment.get(OsStr::new("HOME")).filter(|home| !home.is_empty());
        let recorded = || self.user.as_ref().map(|user| user.home.clone());
        given.map(PathBuf::from).or_else(recorded).unwrap_or_else(|| "/".into())
    }

    fn shell(&self, environment: &Environment) -> PathBuf {
        let given = environment.get(OsStr::new("SHELL")).map(PathBuf::from);
        let recorded = self.user.as_ref().map(|user| user.shell.clone());
        [given, recorded]
            .into_iter()
            .flatten()
            .find(|shell| !shell.as_os_str().is_empty())
            .unwrap_or_else(termux::shell)
    }
}

/// Sets the locale variables so that programs find an installed UTF-8 locale. The locale is that of `environment`, else
/// the user's (`offered`). Without both, only the character set changes, to [`locale::FALLBACK`].
fn choose_locale(
    environment: &mut Environment,
    offered: &[(String, String)],
    installed: impl Fn(&str) -> bool,
) {
    let is_utf8 = |environment: &Environment| {
        character_locale(environment).is_some_and(|name| locale::is_utf8(&name) && installed(&name))
    };
    if is_utf8(environment) {
        return;
    }
    let offer = with_locale(environment, offered);
    if is_utf8(&offer) {
        *environment = offer;
        return;
    }
    // LC_ALL would override LC_CTYPE. Its value therefore moves to LANG, which decides all other categories.
    if let Some(all) = environment.remove(OsStr::new("LC_ALL")).filter(|all| !all.is_empty()) {
        environment.retain(|name, _| !name.as_bytes().starts_with(b"LC_"));
        environment.insert("LANG".into(), all);
    }
    environment.insert("LC_CTYPE".into(), locale::FALLBACK.into());
}

/// Returns a UTF-8 locale that the environment or the user names, but that is not installed. `None` if another named
/// locale is installed, or only the fallback is missing.
fn missing_locale(
    environment: &Environment,
    offered: &[(String, String)],
    installed: impl Fn(&str) -> bool,
) -> Option<String> {
    let offer = with_locale(environment, offered);
    let wanted = [environment, &offer].into_iter().filter_map(character_locale);
    let wanted: Vec<String> = wanted.filter(|name| locale::is_utf8(name)).collect();
    let has_none = !wanted.iter().any(|name| installed(name));
    wanted.into_iter().find(|name| has_none && name != locale::FALLBACK)
}

fn with_locale(environment: &Environment, offered: &[(String, String)]) -> Environment {
    let mut offer = environment.clone();
    for name in locale::VARIABLES {
        offer.remove(OsStr::new(name));
    }
    let known = offered.iter().filter(|(name, _)| locale::VARIABLES.contains(&name.as_str()));
    offer.extend(known.map(|(name, value)| (name.into(), value.into())));
    offer
}

/// Returns the name of the locale that decides the character set; `None` if no variable is set.
fn character_locale(environment: &Environment) -> Option<String> {
    ["LC_ALL", "LC_CTYPE", "LANG"]
        .into_iter()
        .filter_map(|name| environment.get(OsStr::new(name)))
        .find(|value| !value.is_empty())
        .and_then(|value| value.to_str().map(str::to_owned))
}

/// Asks the host's program `locale`, because musl accepts every name. A host without this program has no locales to miss.
fn is_installed(locale: &str) -> bool {
    let mut charmap = Command::new("locale");
    charmap.arg("charmap").env_remove("LC_ALL").env("LC_CTYPE", locale);
    let answer = answer::of(&mut charmap, 64);
    answer.is_none_or(|answer| answer.trim_ascii().eq_ignore_ascii_case(b"UTF-8"))
}

fn greeting() -> Vec<u8> {
    let mut greeting = DYNAMIC_MESSAGES.iter().find_map(|p| message(p)).unwrap_or_default();
    greeting.extend(message(STATIC_MESSAGE).unwrap_or_default());
    greeting
}

/// Reads a message of the day. `None` if its file cannot be opened.
fn message(path: &str) -> Option<Vec<u8>> {
    let mut message = Vec::new();
    let file = std::fs::File::open(path).ok()?;
    // After a read error, the first part of the message is shown.
    let _ = file.take(MESSAGE_MAX).read_to_end(&mut message);
    Some(message)
}

/// Returns this computer's name, for sentences that are read on another computer.
fn host_name() -> String {
    rustix::system::uname().nodename().to_string_lossy().escape_debug().to_string()
}

fn not_found(name: &OsStr) -> Vec<u8> {
    let text = name.to_string_lossy();
    let hint = match quote::is_for_a_shell(&text) {
        true => {
            format!(". Commands are run without a shell; with one: {}", quote::with_a_shell(&text))
        }
        false if text.contains('/') => String::new(),
        false => " in any directory of PATH".to_owned(),
    };
    format!("rove: cannot run {text:?}: {} has no such program{hint}\n", host_name()).into_bytes()
}

/// Returns the message on the screen for a program that exists but cannot be started.
fn not_executable(name: &OsStr) -> Vec<u8> {
    let name = name.to_string_lossy();
    format!(
        "rove: cannot run {name:?}: it is there, but is no program, needs an interpreter that is not there, or may \
         not be executed by you\n"
    )
    .into_bytes()
}

#[cfg(test)]
mod tests {
    use std::ffi::CString;
    use std::iter;

    use super::*;

    fn environment(variables: &[(&str, &str)]) -> Environment {
        variables.iter().map(|(name, value)| (name.into(), value.into())).collect()
    }

    fn login<'a>(command: &'a [OsString], colors: Option<u32>) -> Login<'a> {
        let user =
            Some(User { name: "nobody".into(), home: "/".into(), shell: "/bin/recorded".into() });
        let core_limit = Rlimit { current: None, maximum: None };
        Login { command, word: "abc", colors, offered: &[], user, terminal: None, core_limit }
    }

    fn texts(strings: &[CString]) -> Vec<&str> {
        strings.iter().map(|text| text.to_str().unwrap()).collect()
    }

    #[test]
    fn programs_always_find_a_utf8_locale() {
        // Each case has the host's variables, the client's variables, and the variables that programs get.
        type Variables<'a> = &'a [(&'a str, &'a str)];
        let cases: [(Variables, Variables, Variables); 7] = [
            (&[("LANG", "xx.UTF-8")], &[("LANG", "yy.UTF-8")], &[("LANG", "xx.UTF-8")]),
            (&[("LANG", "C")], &[("LANG", "yy.UTF-8")], &[("LANG", "yy.UTF-8")]),
            (&[("LANG", "lost.UTF-8")], &[("LANG", "yy.UTF-8")], &[("LANG", "yy.UTF-8")]),
            (&[], &[("LANG", "lost.UTF-8")], &[("LC_CTYPE", "C.UTF-8")]),
            (&[("LANG", "C")], &[], &[("LANG", "C"), ("LC_CTYPE", "C.UTF-8")]),
            (
                &[("LANG", "xx.UTF-8"), ("LC_ALL", "C"), ("LC_TIME", "xx.UTF-8")],
                &[],
                &[("LANG", "C"), ("LC_CTYPE", "C.UTF-8")],
            ),
            (&[], &[("LD_PRELOAD", "x"), ("LC_ALL", "yy.UTF-8")], &[("LC_ALL", "yy.UTF-8")]),
        ];
        for (inherited, offered, wanted) in cases {
            let mut found = environment(inherited);
            let offered: Vec<_> =
                offered.iter().map(|&(name, value)| (name.to_owned(), value.to_owned())).collect();
            choose_locale(&mut found, &offered, |name| !name.starts_with("lost"));
            assert_eq!(found, environment(wanted), "{inherited:?} {offered:?}");
        }
    }

    #[test]
    fn a_locale_is_missed_where_it_was_asked_for_and_none_else_will_do() {
        let installed = |name: &str| ["C.UTF-8", "de_DE.UTF-8"].contains(&name);
        for (own, offered, missed) in [
            ("", "", None),
            ("C", "", None),
            ("de_DE.UTF-8", "xx_YY.UTF-8", None),
            ("xx_YY.UTF-8", "", Some("xx_YY.UTF-8")),
            ("xx_YY.UTF-8", "de_DE.UTF-8", None),
            ("C", "xx_YY.UTF-8", Some("xx_YY.UTF-8")),
            ("C", "xx_YY.ISO-8859-1", None),
        ] {
            let variables = environment(&[("LANG", own)]);
            let offered = [("LC_CTYPE".to_owned(), offered.to_owned())];
            let found = missing_locale(&variables, &offered, installed);
            assert_eq!(found.as_deref(), missed, "{own} {offered:?}");
        }
        // The user did not ask for the fallback.
        let offered = [("LC_CTYPE".to_owned(), locale::FALLBACK.to_owned())];
        assert_eq!(missing_locale(&Environment::new(), &offered, |_| false), None);
    }

    #[test]
    fn a_missing_locale_is_told_with_the_part_that_is_replaced() {
        let offered = [("LANG".to_owned(), "xx_YY.UTF-8".to_owned())];
        let login = Login { offered: &offered, ..login(&[], None) };
        let warning = login.locale_warning(iter::empty()).unwrap();
        let wanted = format!(
            "the locale xx_YY.UTF-8 is not installed on {}; programs read and write characters as in C.UTF-8",
            host_name()
        );
        assert_eq!(warning, wanted);
    }

    #[test]
    fn a_login_shell_is_called_with_a_dash() {
        for (variables, path, name) in [
            (&[("SHELL", "/bin/given")] as &[_], "/bin/given", "-given"),
            (&[("SHELL", "")], "/bin/recorded", "-recorded"),
            (&[], "/bin/recorded", "-recorded"),
        ] {
            let program = login(&[], None).program(environment(variables).into_iter());
            assert_eq!(texts(&program.candidates), [path]);
            assert_eq!(texts(&program.arguments), [name]);
        }
    }

    #[test]
    fn only_a_login_is_told_of_other_sessions() {
        let quiet = std::env::temp_dir().join(format!("rove-quiet-{}", std::process::id()));
        std::fs::create_dir_all(&quiet).unwrap();
        std::fs::write(quiet.join(".hushlogin"), "").unwrap();
        let command = ["ls".into()];
        for (command, home, is_stock, is_told) in [
            (&[][..], "/nowhere".into(), true, true),
            (&[], "/nowhere".into(), false, true),
            (&[], quiet.clone(), true, false),
            (&[], quiet.clone(), false, true),
            (&command, "/nowhere".into(), false, false),
        ] {
            let told = login(command, None).told_of_sessions(Some(home.into()), is_stock);
            assert_eq!(told.is_some(), is_told, "{command:?} {is_stock}");
        }
        std::fs::remove_dir_all(&quiet).unwrap();
    }

    #[test]
    fn a_command_is_looked_for_along_the_path_and_keeps_its_words() {
        let command = ["ls".into(), "a b".into()];
        let variables = environment(&[("PATH", "/x:/y")]);
        let program = login(&command, None).program(variables.into_iter());
        assert_eq!(texts(&program.candidates), ["/x/ls", "/y/ls"]);
        assert_eq!(texts(&program.arguments), ["ls", "a b"]);
        assert!(program.greeting.is_empty(), "only a login is greeted");

        let program = login(&["./ls".into()], None).program([].into_iter());
        assert_eq!(texts(&program.candidates), ["./ls"]);
    }

    #[test]
    fn the_terminal_is_named_by_its_colors_and_screen_may_start() {
        for (colors, term) in [
            (None, "TERM=xterm"),
            (Some(8), "TERM=xterm"),
            (Some(255), "TERM=xterm"),
            (Some(256), "TERM=xterm-256color"),
            (Some(1 << 24), "TERM=xterm-256color"),
        ] {
            let variables = environment(&[("STY", "1.x"), ("TERM", "vt52"), ("HOME", "/")]);
            let program = login(&[], colors).program(variables.into_iter());
            let environment = texts(&program.environment);
            assert!(environment.contains(&term), "{environment:?}");
            assert!(environment.contains(&"NCURSES_NO_UTF8_ACS=1"));
            assert!(environment.contains(&"PWD=/"));
            assert!(!environment.iter().any(|variable| variable.starts_with("STY=")));
        }
    }

    #[test]
    fn programs_are_told_of_true_colors_where_the_users_terminal_has_them() {
        for (offered, inherited, told) in [
            (&["truecolor"][..], None, Some("truecolor")),
            (&["truecolor", "24bit"], None, Some("24bit")),
            (&["24bit"], Some("truecolor"), Some("truecolor")),
            (&[], Some("truecolor"), Some("truecolor")),
            (&[], None, None),
        ] {
            let offered: Vec<_> =
                offered.iter().map(|value| ("COLORTERM".to_owned(), (*value).to_owned())).collect();
            let login = Login { offered: &offered, ..login(&[], Some(256)) };
            let variables = inherited.map(|value| ("COLORTERM".into(), value.into()));
            let program = login.program(variables.into_iter());
            let found = texts(&program.environment);
            let found = found.iter().find_map(|variable| variable.strip_prefix("COLORTERM="));
            assert_eq!(found, told);
        }
    }
}
