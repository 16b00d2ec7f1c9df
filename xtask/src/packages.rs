//! The Debian packages whose programs tests and measurements run.

use std::path::Path;
use std::process::Command;

use anyhow::{Result, bail};

/// A program the tests run, and the Debian package that brings it. What every Debian has is left out.
const PROGRAMS: [(&str, &str); 38] = [
    ("mosh", "mosh"),
    ("mosh-client", "mosh"),
    ("mosh-server", "mosh"),
    ("ssh", "openssh-client"),
    ("ssh-keygen", "openssh-client"),
    ("sshd", "openssh-server"),
    ("tmux", "tmux"),
    ("vim", "vim"),
    ("fish", "fish"),
    ("csh", "csh"),
    ("zsh", "zsh"),
    ("dialog", "dialog"),
    ("whiptail", "whiptail"),
    ("mksh", "mksh"),
    ("screen", "screen"),
    ("expect", "expect"),
    ("git", "git"),
    ("gpg", "gpg"),
    ("gpg-agent", "gpg-agent"),
    ("less", "less"),
    ("openssl", "openssl"),
    ("pinentry-curses", "pinentry-curses"),
    ("sqlite3", "sqlite3"),
    ("zip", "zip"),
    ("unzip", "unzip"),
    ("age", "age"),
    ("busybox", "busybox"),
    ("ccrypt", "ccrypt"),
    ("dtach", "dtach"),
    ("htpasswd", "apache2-utils"),
    ("mkpasswd", "whois"),
    ("pass", "pass"),
    ("rlwrap", "rlwrap"),
    ("sudo", "sudo"),
    ("tcsh", "tcsh"),
    ("/usr/bin/python3", "python3"),
    // Files that packages bring. A terminal description has no program.
    ("/usr/share/terminfo/x/xterm-direct", "ncurses-term"),
    // Debian's Python finds this one, another in PATH does not.
    ("/usr/lib/python3/dist-packages/prompt_toolkit/__init__.py", "python3-prompt-toolkit"),
];

/// Programs of packages that are too large to be asked for. Tests leave out what needs them, and the gate says so.
const OPTIONAL: [(&str, &str); 9] = [
    ("node", "nodejs"),
    ("emacs", "emacs-nox"),
    ("systemd-ask-password", "systemd"),
    ("kak", "kakoune"),
    ("lftp", "lftp"),
    ("mc", "mc"),
    ("nvim", "neovim"),
    ("redis-cli", "redis-tools"),
    ("ruby", "ruby"),
];

/// Where programs are looked for beside PATH: an ordinary user's PATH lacks the sbin folders.
const SBIN: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/sbin"];

/// Checks that these programs are installed, each named with its Debian package.
///
/// # Errors
///
/// Returns an error that names the missing packages and the command that installs them.
pub(crate) fn require_programs(programs: &[(&'static str, &'static str)]) -> Result<()> {
    require_for("the measurement runs", programs)
}

/// Checks that these programs are installed, each named with its Debian package, for what `who` says.
///
/// # Errors
///
/// Returns an error that names the missing packages and the command that installs them.
pub(crate) fn require_for(who: &str, programs: &[(&'static str, &'static str)]) -> Result<()> {
    match missing(programs).as_slice() {
        [] => Ok(()),
        missing => {
            let list = missing.join(" ");
            bail!("{who} programs of Debian packages that are missing: apt-get install {list}")
        }
    }
}

/// Checks that every program the tests run is installed; installs what is missing if `install`.
///
/// # Errors
///
/// Returns an error that names the missing packages and the command that installs them.
pub(crate) fn require(install: bool) -> Result<()> {
    let missing = missing(&PROGRAMS);
    if missing.is_empty() {
        return Ok(());
    }
    let list = missing.join(" ");
    if !install {
        bail!(
            "the tests run programs of these Debian packages, which are missing: {list}\n\
             install them with:  apt-get update && apt-get install -y {list}\n\
             or let this command do it:  cargo xtask test --install"
        );
    }
    println!("== installing {list}");
    apt_get(&["update", "-qq"])?;
    let mut args = vec!["install", "-y", "-qq", "--no-install-recommends"];
    args.extend(&missing);
    apt_get(&args)?;
    match self::missing(&PROGRAMS).as_slice() {
        [] => Ok(()),
        still => bail!("apt-get succeeded, but these are still missing: {}", still.join(" ")),
    }
}

/// Returns the large packages that are missing, for whose programs tests are left out.
pub(crate) fn left_out() -> Vec<&'static str> {
    missing(&OPTIONAL)
}

fn missing(programs: &[(&'static str, &'static str)]) -> Vec<&'static str> {
    let mut packages: Vec<_> = programs
        .iter()
        .filter(|(program, _)| !is_installed(program))
        .map(|(_, package)| *package)
        .collect();
    packages.dedup();
    packages
}

/// Returns whether a program is installed.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(SBIN.iter().map(Into::into))
        .any(|folder: std::path::PathBuf| Path::new(&folder).join(program).is_file())
}

fn apt_get(args: &[&str]) -> Result<()> {
    // A user who is not root is asked by sudo, if there is one.
    let root = Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0");
    let mut command = if root {
        Command::new("apt-get")
    } else {
        let mut sudo = Command::new("sudo");
        sudo.arg("apt-get");
        sudo
    };
    let status = command.args(args).env("DEBIAN_FRONTEND", "noninteractive").status();
    match status {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("apt-get {} failed: {status}", args.join(" ")),
        Err(error) => bail!("apt-get did not start ({error}); install the packages by hand"),
    }
}
