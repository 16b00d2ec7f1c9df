use std::ffi::OsString;
use std::path::PathBuf;

use proptest::prelude::*;

use super::file::{FILE_BYTES_MAX, path_from};
use super::*;

/// Returns the path of a file in a folder of this test process.
fn path_of(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("rove-config-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder.join(name)
}

fn config(text: &str) -> Config {
    Config::parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{text}: {fault:?}"))
}

/// Returns the fault of a configuration as text: the line's number, a colon and the sentence.
fn fault(text: &str) -> String {
    let number = text.len() * 31 + text.bytes().map(usize::from).sum::<usize>();
    let path = path_of(&format!("{number:x}.toml"));
    std::fs::write(&path, text).unwrap();
    let error = Config::load_from(&path).unwrap_err().to_string();
    std::fs::remove_file(&path).unwrap();
    error.strip_prefix(&format!("{}:", path.display())).unwrap_or(&error).to_owned()
}

#[test]
fn sections_add_to_the_defaults_and_the_last_that_matches_counts() {
    let config = config(
        "port = 60010\nno-init = true\npredict = 'never'\n\
         [host.'*.example.org']\nport = '60020:60030'\nserver = 'rove'\n\
         [host.web]\nport = 5\n\
         [host.'me@web.*']\nport = 6\nno-init = false\n\
         [host.'a*']\nstrict = true\n",
    );
    for (host, port, server, no_init, strict) in [
        ("other", "60010", None, true, None),
        ("web", "5", None, true, None),
        ("you@web.example.org", "60020:60030", Some("rove"), true, None),
        ("me@web.example.org", "6", Some("rove"), false, None),
        ("ssh://me@web.example.org:22", "6", Some("rove"), false, None),
        ("a.example.org", "60020:60030", Some("rove"), true, Some(true)),
    ] {
        let settings = config.for_host(host.as_ref());
        assert_eq!(settings.text("port"), Some(port), "{host}");
        assert_eq!(settings.text("server"), server, "{host}");
        assert_eq!(settings.flag("no-init"), Some(no_init), "{host}");
        assert_eq!(settings.flag("strict"), strict, "{host}");
        assert_eq!(settings.text("predict"), Some("never"), "{host}");
    }
}

#[test]
fn errors_are_shown_with_their_line() {
    for (text, sentence) in [
        ("\npredcit = 'x'", "2: there is no setting \"predcit\"; did you mean predict?"),
        ("\n\npredict = 'x'", "3: predict: \"x\" is none of adaptive, always"),
        ("predict = true", "1: predict is text, in quotes"),
        ("strict = 1", "1: strict is true or false"),
        ("strict = 'true'", "1: strict is true or false"),
        ("port = 70000", "1: port: \"70000\" is neither a UDP port from"),
        ("port = 0x10", "1: port is text, in quotes"),
        ("port = 1.5", "1: port is text, in quotes"),
        ("ssh = \"ssh 'x\"", "1: ssh: --ssh: a quote is not closed"),
        ("ssh = ''", "1: ssh: this is nothing"),
        ("escape-key = '^C'", "1: escape-key: ^C cannot be the escape key"),
        ("family = 'INET'", "1: family: \"INET\" is none of inet,"),
        ("host = 'x'", "1: settings for a host stand under"),
        ("[host]\nx = 1", "2: settings for a host stand under"),
        ("[host.x]\n\nbogus = 1", "3: there is no setting \"bogus\""),
        ("[host.x]\n[host.y]\nport = []", "3: port is text, in quotes"),
        ("[bogus]\nport = 1", "1: there is no setting \"bogus\""),
        ("port = 1\nport = 2", "2: this is not TOML: duplicate key"),
        ("x", "1: this is not TOML: "),
        ("strict = tru", "1: this is not TOML: "),
        ("\n[host.'x'", "2: this is not TOML: "),
        ("\"\\u001b[2J\" = 1", "1: there is no setting \"\\u{1b}[2J\""),
    ] {
        let fault = fault(text);
        assert!(fault.starts_with(sentence), "{text}: {fault}");
        assert!(!fault.chars().any(char::is_control), "{text}: {fault:?}");
    }
    let fault = Config::parse(b"# \xe4\n").unwrap_err();
    assert_eq!(fault, Fault::new(2, "this is not UTF-8".to_owned()));
}

#[test]
fn everything_that_is_wrong_is_told_once_with_its_line() {
    let path = path_of("all.toml");
    let check = |text: &str| -> Vec<String> {
        std::fs::write(&path, text).unwrap();
        let Err(ConfigError::Faulty(lines)) = Config::check(&path) else { return Vec::new() };
        let place = format!("{}:", path.display());
        lines.iter().map(|line| line.strip_prefix(&place).unwrap_or(line).to_owned()).collect()
    };
    let found = check(
        "predcit = 'never'\nport = 5\nport = 6\nstrict = tru\n\n[host.a]\nbogus = 1\n\
         no-init = 2\n[host]\nx = 3\n[host.b]\nport = 70000\nfamily = 'inet6'\n",
    );
    let wanted = [
        "1: there is no setting \"predcit\"; did you mean predict?",
        "3: this is not TOML: duplicate key",
        "4: this is not TOML: ",
        "7: there is no setting \"bogus\"; there are client,",
        "8: no-init is true or false",
        "10: settings for a host stand under",
        "12: port: \"70000\" is neither",
    ];
    assert_eq!(found.len(), wanted.len(), "{found:#?}");
    for (found, wanted) in found.iter().zip(wanted) {
        assert!(found.starts_with(wanted), "{found} {wanted}");
    }
    assert_eq!(check("port = 5\n"), [] as [&str; 0]);
    assert_eq!(check(&"x = 1\n[x]\n".repeat(FAULTS_SHOWN_MAX)).len(), FAULTS_SHOWN_MAX + 1);
    // A session's error has the first fault, and the command that shows the others.
    std::fs::write(&path, "a = 1\nb = 2\nc = 3\n").unwrap();
    let sentence = Config::load_from(&path).unwrap_err().to_string();
    assert!(sentence.ends_with(" (`rove config check` tells of 2 more)"), "{sentence}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn the_file_has_a_largest_size() {
    let path = path_of("size.toml");
    let mut text = "strict = true\n#".to_owned();
    text.push_str(&"x".repeat(FILE_BYTES_MAX - text.len()));
    std::fs::write(&path, &text).unwrap();
    assert_eq!(Config::load_from(&path).unwrap().defaults.flag("strict"), Some(true));
    text.push('x');
    std::fs::write(&path, &text).unwrap();
    let error = Config::load_from(&path).unwrap_err().to_string();
    assert!(error.ends_with("it is larger than 1048576 bytes"), "{error}");
    std::fs::remove_file(&path).unwrap();
}

#[test]
fn a_file_that_is_not_there_sets_nothing_and_one_that_cannot_be_read_is_named() {
    let missing = Path::new("/nonexistent/rove/config.toml");
    assert_eq!(Config::load_from(missing).unwrap(), Config::default());
    let in_no_folder = Path::new("/dev/null/.config/rove/config.toml");
    assert_eq!(Config::load_from(in_no_folder).unwrap(), Config::default());
    let error = Config::load_from(Path::new("/")).unwrap_err().to_string();
    assert!(error.starts_with("cannot read the configuration /: "), "{error}");
}

#[test]
fn the_file_is_where_the_environment_says() {
    for (variables, path) in [
        (vec![("HOME", "/home/me")], Some("/home/me/.config/rove/config.toml")),
        (vec![("HOME", "/home/me"), ("XDG_CONFIG_HOME", "/c")], Some("/c/rove/config.toml")),
        (vec![("HOME", "/h"), ("XDG_CONFIG_HOME", "c")], Some("/h/.config/rove/config.toml")),
        (vec![("HOME", "/h"), ("XDG_CONFIG_HOME", "")], Some("/h/.config/rove/config.toml")),
        (vec![("HOME", "/h"), ("ROVE_CONFIG", "x.toml")], Some("x.toml")),
        (vec![("HOME", "/h"), ("ROVE_CONFIG", "")], None),
        (vec![], None),
    ] {
        let variable = |name: &str| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| OsString::from(value))
        };
        assert_eq!(path_from(variable), path.map(PathBuf::from), "{variables:?}");
    }
}

#[test]
fn nothing_nested_is_too_deep() {
    for text in
        ["[".repeat(100_000), format!("port = {}", "[".repeat(100_000)), "a.".repeat(50_000)]
    {
        assert!(Config::parse(text.as_bytes()).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn no_bytes_panic_and_every_fault_is_within_them(bytes in prop::collection::vec(any::<u8>(), 0..256)) {
        if let Err(fault) = Config::parse(&bytes) {
            prop_assert!(fault.at <= bytes.len());
        }
    }

    #[test]
    fn no_text_that_looks_like_toml_panics(
        pieces in prop::collection::vec(prop::sample::select(vec![
            "host", "port", "[", "]", "[[", ".", "=", "'", "\"", "\n", "1", "true", "{", "}", ",", "#",
            "\u{e4}", "\\", "\"\"\"", "strict", " ", "1979-05-27",
        ]), 0..40)
    ) {
        let text = pieces.concat();
        if let Err(fault) = Config::parse(text.as_bytes()) {
            prop_assert!(fault.at <= text.len());
        }
    }
}
