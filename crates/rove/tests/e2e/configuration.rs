//! rove ignores a configuration file that other users can write.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::Path;
use std::process::Output;

use crate::support::{Invocation, SIZE, Scratch, Terminal, rove, side_by_side, within_guard};

/// The user number of `nobody`, and the number of a group.
const NOBODY: u32 = 65_534;

/// A home directory with a configuration file in `.config/rove`, which is safe until a case changes it.
struct Home {
    scratch: Scratch,
}

impl Home {
    fn new() -> Self {
        let home = Self { scratch: Scratch::new() };
        // If rove obeys these settings, they create the file `mark`.
        let mark = home.scratch.path("mark");
        let settings = format!("ssh = \"sh -c ': > {}; exit 255' ssh\"\n", mark.display());
        for folder in ["home", "home/.config", "home/.config/rove", "home/open", "home/safe"] {
            fs::create_dir(home.scratch.path(folder)).expect("the scratch folder takes folders");
            home.set(folder, 0o755);
        }
        for file in ["home/.config/rove/config.toml", "home/open/file", "home/safe/file"] {
            home.scratch.write(file, &settings);
            home.set(file, 0o644);
        }
        home.set("home/open", 0o777);
        home
    }

    fn set(&self, path: &str, mode: u32) {
        fs::set_permissions(self.scratch.path(path), Permissions::from_mode(mode)).expect("ours");
    }

    fn give(&self, path: &str, owner: Option<u32>, group: Option<u32>) {
        chown(self.scratch.path(path), owner, group).expect("only root tries this");
    }

    /// Replaces the configuration file by a link to `target`.
    fn link(&self, target: &str) {
        let file = self.scratch.path("home/.config/rove/config.toml");
        fs::remove_file(&file).expect("the file is there");
        symlink(self.scratch.path(target), file).expect("the folder takes links");
    }

    /// Returns a call of rove with this home directory.
    fn call(&self, words: &[&str]) -> Invocation {
        let call = Invocation::new("env").args(["-u", "ROVE_CONFIG"]).arg(rove()).args(words);
        call.env("HOME", self.scratch.path("home"))
    }

    /// Runs rove without a terminal. Returns the output as it is and as text.
    fn run(&self, words: &[&str]) -> (Output, String) {
        run(&self.call(words))
    }

    /// Returns whether rove obeyed the settings since the last call.
    fn is_obeyed(&self) -> bool {
        let mark = self.scratch.path("mark");
        let is_obeyed = mark.exists();
        let _ = fs::remove_file(mark);
        is_obeyed
    }
}

fn run(call: &Invocation) -> (Output, String) {
    let (call, words) = (call.clone(), call.words());
    let output = within_guard(&words, move || call.command().output().expect("the program starts"));
    let said = String::from_utf8_lossy(&[&output.stdout[..], &output.stderr].concat()).into_owned();
    (output, said)
}

/// The case's name, the change that it makes, and the command that repairs the change.
type Case = (&'static str, fn(&Home), &'static str);

const CASES: [Case; 8] = [
    ("file", |home| home.set("home/.config/rove/config.toml", 0o666), "chmod go-w"),
    ("folder", |home| home.set("home/.config/rove", 0o777), "chmod go-w"),
    ("folder above", |home| home.set("home/.config", 0o777), "chmod go-w"),
    ("home", |home| home.set("home", 0o777), "chmod go-w"),
    ("sticky folder", |home| home.set("home/.config/rove", 0o1777), "chmod go-w"),
    ("target's folder", |home| home.link("home/open/file"), "chmod go-w"),
    (
        "link's folder",
        |home| {
            home.link("home/safe/file");
            home.set("home/.config/rove", 0o777);
        },
        "chmod go-w",
    ),
    (
        "target",
        |home| {
            home.link("home/safe/file");
            home.set("home/safe/file", 0o646);
        },
        "chmod go-w",
    ),
];

/// Further cases, in which a file or folder belongs to another user or group. Only root can make them.
const CASES_OF_ROOT: [Case; 6] = [
    ("owner", |home| home.give("home/.config/rove/config.toml", Some(NOBODY), None), "chown -h 0"),
    ("folder's owner", |home| home.give("home/.config", Some(NOBODY), None), "chown -h 0"),
    (
        "group",
        |home| {
            home.give("home/.config/rove/config.toml", None, Some(NOBODY));
            home.set("home/.config/rove/config.toml", 0o664);
        },
        "chmod g-w",
    ),
    (
        "folder's group",
        |home| {
            home.give("home/.config/rove", None, Some(NOBODY));
            home.set("home/.config/rove", 0o2775);
        },
        "chmod g-w",
    ),
    ("another's home", |home| home.give("home", Some(NOBODY), None), "sudo -H"),
    (
        "another's home without a file",
        |home| {
            fs::remove_dir_all(home.scratch.path("home/.config")).expect("it is there");
            home.give("home", Some(NOBODY), None);
        },
        "sudo -H",
    ),
];

#[test]
fn settings_that_others_can_write_are_refused_and_the_repair_is_shown() {
    let mut cases = CASES.to_vec();
    if rustix::process::geteuid().is_root() {
        cases.extend(CASES_OF_ROOT);
    }
    side_by_side(cases, |(name, change, repair)| {
        let home = Home::new();
        change(&home);
        for words in [
            &["list", "far"][..],
            &["kill", "far", "--all"],
            &["install", "far"],
            &["doctor", "far"],
            &["config", "show"],
        ] {
            let (output, said) = home.run(words);
            assert!(!output.status.success(), "{name}: {words:?}: {said}");
            let sentences = said.matches("`rove config check` tells what to do").count();
            assert_eq!(sentences, 1, "{name}: {words:?}: {said}");
            assert!(!home.is_obeyed(), "{name}: {words:?}: {said}");
        }
        let exit = Terminal::start(&home.call(&["far"]), SIZE).wait_exit();
        exit.assert_code(255);
        assert!(!home.is_obeyed(), "{name}: {}", exit.output.escape_debug());
        let (output, said) = home.run(&["config", "check"]);
        assert_eq!(output.status.code(), Some(1), "{name}: {said}");
        assert!(said.contains(repair), "{name}: {said}");
        // rove also checks a configuration file whose path is in an environment variable.
        let (folder, file) = ("home/.config", "home/.config/rove/config.toml");
        for (variable, path) in [("XDG_CONFIG_HOME", folder), ("ROVE_CONFIG", file)] {
            let call = Invocation::new("env").args(["-u", "ROVE_CONFIG"]);
            let call = call.arg(format!("{variable}={}", home.scratch.path(path).display()));
            let (_, said) = run(&call.arg(rove()).args(["list", "far"]));
            assert!(!home.is_obeyed(), "{name}: {said}");
        }
        // The command that rove suggests repairs the home.
        if let Some((_, command)) = said.split_once("to repair it: ") {
            repair_by(&home, command.trim_end());
        }
    });
}

/// Runs the command that repairs a home, and each command that rove suggests next, until rove obeys the settings.
fn repair_by(home: &Home, first: &str) {
    let mut command = first.to_owned();
    loop {
        let (output, said) = run(&Invocation::new("sh").arg("-c").arg(&command));
        assert!(output.status.success(), "{command}: {said}");
        let (output, said) = home.run(&["config", "check"]);
        if output.status.success() {
            break;
        }
        let (_, next) = said.split_once("to repair it: ").unwrap_or_else(|| panic!("{said}"));
        assert_ne!(next.trim_end(), command, "it did not help");
        command = next.trim_end().to_owned();
    }
    home.run(&["list", "far"]);
    assert!(home.is_obeyed(), "{first} repaired it");
}

#[test]
fn settings_of_the_users_own_are_obeyed_wherever_they_are() {
    let home = Home::new();
    let obeys = |call: &Invocation, what: &str| {
        let (_, said) = run(call);
        assert!(home.is_obeyed(), "{what}: {said}");
    };
    let list = home.call(&["list", "far"]);
    obeys(&list, "the usual place");
    home.set("home/.config/rove/config.toml", 0o600);
    obeys(&list, "a private file");
    home.link("home/safe/file");
    obeys(&list, "a link to a file of the user's");
    let named =
        |path: &Path| Invocation::new(rove()).args(["list", "far"]).env("ROVE_CONFIG", path);
    obeys(&named(&home.scratch.path("home/safe/file")), "a file elsewhere");
    obeys(&named(&home.scratch.path("home/open/../safe/file")), "a way around");
    // The user is not responsible for the folders above the home directory.
    home.set("home/open", 0o777);
    fs::create_dir(home.scratch.path("home/open/home")).expect("the folder takes folders");
    fs::rename(home.scratch.path("home/safe"), home.scratch.path("home/open/home/.config"))
        .expect("it can be moved");
    let inner = home.scratch.path("home/open/home");
    let file = inner.join(".config/file");
    obeys(&named(&file).env("HOME", &inner), "below a home");
    let (output, _) = run(&named(&file));
    assert!(!output.status.success() && !home.is_obeyed(), "the same without that home");
}

#[test]
fn where_there_is_no_file_nothing_is_refused_and_mosh_reads_none() {
    let home = Home::new();
    home.set("home", 0o777);
    let mosh = home.scratch.path("mosh");
    symlink(rove(), &mosh).expect("the scratch folder takes links");
    let ssh = "--ssh=sh -c 'exit 255' ssh";
    let call = Invocation::new("env").args(["-u", "ROVE_CONFIG"]).arg(&mosh).args([ssh, "far"]);
    let exit = Terminal::start(&call.env("HOME", home.scratch.path("home")), SIZE).wait_exit();
    assert!(!exit.output.contains("configuration"), "{}", exit.output.escape_debug());
    assert!(!home.is_obeyed());
    fs::remove_file(home.scratch.path("home/.config/rove/config.toml")).expect("it is there");
    let (output, said) = home.run(&["config", "check"]);
    assert!(output.status.success() && said.contains("not there"), "{said}");
    let none = Invocation::new(rove()).args(["config", "show"]).env("ROVE_CONFIG", "");
    assert!(run(&none).0.status.success());
    let null = Invocation::new(rove()).args(["config", "show"]).env("ROVE_CONFIG", "/dev/null");
    assert!(run(&null).0.status.success());
}
