//! The Debian packages whose programs tests run.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

/// Programs that tests run, each with the Debian package that brings it. Programs that every Debian has are left out.
pub(crate) const PROGRAMS: [(&str, &str); 51] = [
    ("mosh", "mosh"),
    ("mosh-client", "mosh"),
    ("mosh-server", "mosh"),
    ("ssh", "openssh-client"),
    ("ssh-keygen", "openssh-client"),
    ("sshd", "openssh-server"),
    ("tmux", "tmux"),
    ("ip", "iproute2"),
    ("vim", "vim"),
    ("fish", "fish"),
    ("csh", "csh"),
    ("zsh", "zsh"),
    ("dialog", "dialog"),
    ("whiptail", "whiptail"),
    ("mksh", "mksh"),
    ("screen", "screen"),
    ("expect", "expect"),
    ("gdb", "gdb"),
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
    ("rsync", "rsync"),
    ("sudo", "sudo"),
    ("tcsh", "tcsh"),
    ("/usr/bin/python3", "python3"),
    // These entries are files of packages. A terminal description has no program.
    ("/usr/share/terminfo/x/xterm-direct", "ncurses-term"),
    // Only Debian's own Python finds this package, not another Python in PATH.
    ("/usr/lib/python3/dist-packages/prompt_toolkit/__init__.py", "python3-prompt-toolkit"),
    ("node", "nodejs"),
    ("emacs", "emacs-nox"),
    ("systemd-ask-password", "systemd"),
    ("kak", "kakoune"),
    ("lftp", "lftp"),
    ("mc", "mc"),
    ("nvim", "neovim"),
    ("psql", "postgresql-client"),
    ("redis-cli", "redis-tools"),
    ("ruby", "ruby"),
];

/// Folders besides PATH in which programs are searched, because an ordinary user's PATH lacks them.
const SBIN: [&str; 3] = ["/usr/sbin", "/usr/local/sbin", "/sbin"];

/// Installs packages.
///
/// # Errors
///
/// Returns an error when apt-get fails.
pub(crate) fn install(packages: &[&str]) -> Result<()> {
    apt_get(&["update", "-qq"])?;
    let mut args = vec!["install", "-y", "-qq", "--no-install-recommends"];
    args.extend(packages);
    apt_get(&args)
}

/// Returns the packages whose programs are missing.
pub(crate) fn missing(programs: &[(&'static str, &'static str)]) -> Vec<&'static str> {
    let mut packages: Vec<_> = programs
        .iter()
        .filter(|(program, _)| !is_installed(program))
        .map(|(_, package)| *package)
        .collect();
    packages.dedup();
    packages
}

/// Returns whether a program is installed: in PATH, in [`SBIN`], or in cargo's folder.
pub(crate) fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .chain(SBIN.iter().map(PathBuf::from))
        .chain(cargo_home().map(|home| home.join("bin")))
        .any(|folder| folder.join(program).is_file())
}

/// Returns cargo's own folder. `None` if neither CARGO_HOME nor HOME is set.
pub(crate) fn cargo_home() -> Option<PathBuf> {
    let named = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| Some(PathBuf::from(std::env::var_os("HOME")?).join(".cargo")))
}

fn apt_get(args: &[&str]) -> Result<()> {
    // A user who is not root needs sudo, which asks for a password.
    let words = if is_root() { &["apt-get"][..] } else { &["sudo", "apt-get"] };
    let mut command = Command::new(words[0]);
    // The system's automatic updates may hold apt's lock for some minutes.
    command.args(&words[1..]).args(["-o", "DPkg::Lock::Timeout=300"]).args(args);
    match command.env("DEBIAN_FRONTEND", "noninteractive").status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => bail!("apt-get {} failed: {status}", args.join(" ")),
        Err(error) => bail!("apt-get did not start ({error}); install the packages by hand"),
    }
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}
