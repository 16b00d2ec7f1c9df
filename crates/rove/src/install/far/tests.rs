use std::ffi::OsStr;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rove_bootstrap::Challenge;
use rove_bootstrap::remote::{self, START};
use rove_rig::scratch::{Scratch, install_script};
use sha2::{Digest, Sha256};

use super::*;

/// The programs that the script itself calls.
const BASICS: [&str; 11] =
    ["sh", "cat", "chmod", "find", "mkdir", "mv", "rm", "sleep", "uname", "wc", "touch"];

/// A program that prints a version as rove does. As its own SHA-256 it prints the text of the file `own-sum`.
const PROGRAM: &str = "#!/bin/sh\ncase \"$*\" in --version) echo rove 7.8.9; echo License;; \
                       'install --own-sum') read -r sum <\"$HOME/own-sum\"; echo \"$sum\";; esac\n";

const SHELLS: [&str; 7] = ["sh", "dash", "bash", "zsh", "fish", "csh", "tcsh"];

/// A host: a home directory of its own, and a PATH with few programs.
struct Host {
    home: Scratch,
}

impl Host {
    fn new(programs: &[&str]) -> Self {
        let home = Scratch::new();
        fs::create_dir(home.path("bin")).unwrap();
        for program in BASICS.iter().chain(programs) {
            let target = find(program).unwrap_or_else(|| panic!("this test needs {program}"));
            std::os::unix::fs::symlink(target, home.join("bin").join(program)).unwrap();
        }
        Self { home }
    }

    /// Runs the script as sshd would, in `shell`, after the sh text `prefix`. Returns the script's lines without their
    /// common beginning.
    fn run(&self, shell: &Path, prefix: &str, input: &[u8]) -> String {
        let challenge = Challenge::from_bytes([0; 16]);
        let mut child = Command::new("/bin/sh")
            .args(["-c", &format!("{prefix} exec \"$@\""), "sh"])
            .arg(shell)
            .arg("-c")
            .arg(remote::script_with(&challenge, &script(), &[]))
            .env_clear()
            .env("HOME", self.home.folder())
            .env("PATH", self.home.join("bin"))
            .env("LC_ALL", "C")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        let input = input.to_vec();
        let writer = std::thread::spawn(move || drop(stdin.write_all(&input)));
        let output = child.wait_with_output().unwrap();
        writer.join().unwrap();
        assert_eq!(String::from_utf8_lossy(&output.stderr), "", "{}", shell.display());
        let said = String::from_utf8(output.stdout).unwrap();
        let lines = said.strip_prefix(&format!("\n{START} {challenge}\n")).expect(&said);
        let ours = lines.lines().map(|line| {
            line.strip_prefix(&format!("{MARKER} ")).unwrap_or_else(|| panic!("{said}"))
        });
        ours.filter(|line| !line.starts_with("system ") && !line.starts_with("has "))
            .collect::<Vec<_>>()
            .join("; ")
    }

    fn run_in_sh(&self, input: &[u8]) -> String {
        self.run(Path::new("/bin/sh"), "", input)
    }

    /// Returns the names of the files in the folder of programs.
    fn folder(&self) -> String {
        let Ok(entries) = fs::read_dir(self.home.join(".local/bin")) else {
            return String::new();
        };
        let mut names: Vec<_> = entries.map(|it| it.unwrap().file_name()).collect();
        names.sort();
        names.join(OsStr::new(" ")).into_string().unwrap()
    }

    fn rove(&self) -> Vec<u8> {
        fs::read(self.home.join(".local/bin/rove")).unwrap_or_default()
    }
}

fn find(program: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap();
    std::env::split_paths(&path).map(|folder| folder.join(program)).find(|path| path.is_file())
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns the bytes that are sent to the script: a line about the program, then the program.
fn sent(program: &[u8]) -> Vec<u8> {
    let line = format!("{} {} 7.8.9\n", program.len(), sum(program));
    [line.as_bytes(), program].concat()
}

#[test]
fn every_login_shell_takes_a_program_into_a_home_without_the_folder() {
    for shell in SHELLS {
        let Some(path) = find(shell) else { continue };
        let host = Host::new(&["sha256sum"]);
        assert_eq!(host.run(&path, "", &sent(PROGRAM.as_bytes())), "ready; done", "{shell}");
        assert_eq!(host.folder(), "rove", "{shell}");
        assert_eq!(host.rove(), PROGRAM.as_bytes(), "{shell}");
        // At the second run, the script reports the installed rove.
        let said = host.run(&path, "", b"");
        let wanted = format!("found rove 7.8.9; sum {}; ready", sum(PROGRAM.as_bytes()));
        assert_eq!(said, wanted, "{shell}");
    }
}

#[test]
fn where_nothing_is_sent_nothing_is_made() {
    let host = Host::new(&["sha256sum"]);
    assert_eq!(host.run_in_sh(b""), "ready");
    assert!(!host.home.join(".local").exists());
}

#[test]
fn sums_are_made_by_whichever_program_is_there() {
    for maker in ["sha256sum", "shasum", "openssl"] {
        let Some(path) = find(maker) else { continue };
        // `shasum` is a Perl script, so it needs a PATH that contains perl.
        let host = Host::new(&[]);
        let script = format!("#!/bin/sh\nPATH=/usr/bin:/bin exec {} \"$@\"\n", path.display());
        install_script(&host.home.join("bin").join(maker), &script);
        assert_eq!(host.run_in_sh(&sent(PROGRAM.as_bytes())), "ready; done", "{maker}");
        let mut wrong = sent(PROGRAM.as_bytes());
        *wrong.last_mut().unwrap() = b' ';
        let said = host.run_in_sh(&wrong);
        assert!(said.contains("; ready; failed sum "), "{maker}: {said}");
        assert_eq!(host.rove(), PROGRAM.as_bytes(), "{maker}: what was there stays");
        assert_eq!(host.folder(), "rove", "{maker}");
    }
}

#[test]
fn where_nothing_makes_sums_the_program_is_asked_for_its_own() {
    let host = Host::new(&[]);
    fs::write(host.home.join("own-sum"), "0123\n").unwrap();
    assert_eq!(host.run_in_sh(&sent(PROGRAM.as_bytes())), "ready; failed sum 0123");
    assert_eq!(host.folder(), "");
    fs::write(host.home.join("own-sum"), sum(PROGRAM.as_bytes()) + "\n").unwrap();
    assert_eq!(host.run_in_sh(&sent(PROGRAM.as_bytes())), "ready; done");
    assert_eq!(host.folder(), "rove");
}

#[test]
fn a_truncated_or_broken_program_leaves_nothing_behind() {
    let host = Host::new(&["sha256sum"]);
    let whole = sent(PROGRAM.as_bytes());
    let refused: [(&[u8], &str); 5] = [
        (&whole[..whole.len() - 1], "failed size "),
        (&whole[..80], "failed size "),
        (&sent(b"#!/bin/sh\necho rove 7.8.8\n"), "failed run 0 rove 7.8.8"),
        (&sent(b"#!/bin/sh\necho broken >&2; exit 3\n"), "failed run 3 broken"),
        // A file system that is mounted noexec causes the same status.
        (&sent(b"#!/etc/passwd\n"), "failed run 126 "),
    ];
    for (input, failure) in refused {
        let said = host.run_in_sh(input);
        assert!(said.starts_with(&format!("ready; {failure}")), "{said}");
        assert_eq!(host.folder(), "", "{said}");
    }
}

#[test]
fn a_full_disk_leaves_nothing_behind() {
    let host = Host::new(&["sha256sum"]);
    let large = [PROGRAM.as_bytes(), &vec![b'#'; 1_000_000]].concat();
    // At a limit on the size of files, `cat` ends early, as on a full disk.
    let said = host.run(Path::new("/bin/sh"), "ulimit -f 100;", &sent(&large));
    assert!(said.starts_with("ready; failed write "), "{said}");
    assert_eq!(host.folder(), "");
}

#[test]
fn a_home_that_cannot_hold_the_folder_is_named() {
    let host = Host::new(&["sha256sum"]);
    fs::write(host.home.join(".local"), "").unwrap();
    let said = host.run_in_sh(&sent(PROGRAM.as_bytes()));
    assert!(said.starts_with("ready; failed folder mkdir: "), "{said}");
    fs::remove_file(host.home.join(".local")).unwrap();
    fs::create_dir_all(host.home.join(".local/bin/rove")).unwrap();
    let said = host.run_in_sh(&sent(PROGRAM.as_bytes()));
    assert!(said.ends_with("/rove is a folder"), "{said}");
}

#[test]
fn old_debris_is_swept_away_and_another_copy_under_way_is_not() {
    let host = Host::new(&["sha256sum"]);
    let folder = host.home.join(".local/bin");
    fs::create_dir_all(&folder).unwrap();
    for (name, age) in [(".rove-install.1", "3 days ago"), (".rove-install.2", "now")] {
        let status = Command::new("touch").args(["-d", age]).arg(folder.join(name)).status();
        assert!(status.unwrap().success());
    }
    assert_eq!(host.run_in_sh(&sent(PROGRAM.as_bytes())), "ready; done");
    assert_eq!(host.folder(), ".rove-install.2 rove");
}

#[test]
fn another_rove_that_the_path_finds_first_is_named() {
    let host = Host::new(&["sha256sum"]);
    let other = host.home.join("bin/rove");
    install_script(&other, PROGRAM);
    let said = host.run_in_sh(&sent(PROGRAM.as_bytes()));
    assert_eq!(said, format!("other {}; ready; done", other.display()));
}
