use std::process::{Command, Stdio};

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;

use super::*;

/// The shells that read a path, and their options for running one command line.
const SHELLS: [(&str, &[&str]); 5] = [
    ("sh", &["-c"]),
    ("bash", &["--norc", "-c"]),
    ("zsh", &["-f", "-c"]),
    ("fish", &["-N", "-c"]),
    ("tcsh", &["-f", "-c"]),
];

/// Returns the words that a shell reads in `text`. `None` if the shell is not installed.
fn read_by(shell: &str, options: &[&str], text: &str) -> Option<String> {
    let line = format!("/usr/bin/printf '<%s>' {text}");
    let output = Command::new(shell).args(options).arg(line).stderr(Stdio::null()).output().ok()?;
    Some(String::from_utf8(output.stdout).expect("it is text"))
}

#[test]
fn every_shell_reads_back_the_path_that_is_typed() {
    let names = proptest::collection::vec("[ -.0-~é界]{1,40}", 6);
    let mut runner = TestRunner::deterministic();
    let fixed =
        ["/h/a b", "/h/it's", "/h/\"$HOME\" `id` \\", "/h/-rf", "/h/!x*?[a]{b,c}~#", "/h/\\'"];
    let mut tried = 0;
    for round in 0..6 {
        let drawn = names.new_tree(&mut runner).expect("a list of names").current();
        let drawn = drawn.into_iter().map(|name| format!("/h/{name}"));
        let fixed = fixed.iter().filter(|_| round == 0).map(|it| (*it).to_owned());
        let paths: Vec<String> = fixed.chain(drawn).collect();
        let typed: Vec<String> =
            paths.iter().map(|path| word(path.as_ref()).expect("it can be typed")).collect();
        let expected: String = paths.iter().map(|path| format!("<{path}>")).collect();
        for (shell, options) in SHELLS {
            if let Some(read) = read_by(shell, options, &typed.join(" ")) {
                assert_eq!(read, expected, "{shell}: {typed:?}");
                tried += 1;
            }
        }
    }
    assert!(tried >= 6, "there is a shell");
}

#[test]
fn a_usual_path_is_typed_as_it_is_and_one_with_controls_not_at_all() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    assert_eq!(
        word("/home/u/.cache/rove/drop/a-1.png".as_ref()).unwrap(),
        "/home/u/.cache/rove/drop/a-1.png"
    );
    for path in [&b"/h/a\nb"[..], b"/h/\x1b[2J", b"/h/\xff", "/h/\u{9b}x".as_bytes()] {
        assert_eq!(word(OsStr::from_bytes(path).as_ref()), None, "{}", path.escape_ascii());
    }
}
