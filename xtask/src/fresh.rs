//! `cargo xtask fresh`: the gate in a new Debian root that holds only Rust and a C linker.
//!
//! Programs installed on a developer's machine hide that the tests need them. The root is made by `mmdebstrap`, the
//! toolchain and the crates already fetched come from this machine, the sources from a clone of the last commit.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::needs::Needs;
use crate::{packages, systems, workspace};

/// The programs that make the root, and their Debian packages.
const PROGRAMS: [(&str, &str); 3] =
    [("mmdebstrap", "mmdebstrap"), ("git", "git"), ("unshare", "util-linux")];

/// The packages beside Debian's essential ones: the C linker with its headers, and what HTTPS needs to fetch crates.
const PACKAGES: &str = "gcc,libc6-dev,ca-certificates";

/// Where the toolchain and the sources stand in the root.
const TOOLCHAIN: &str = "opt/rust";
const SOURCES: &str = "srv/rove";

/// Files of this machine without which the root may reach no package mirror and no registry: apt's sources and
/// settings, the certificates that this network trusts, and the name servers.
const NETWORK_FILES: [&str; 6] = [
    "etc/apt/sources.list",
    "etc/apt/sources.list.d/debian.sources",
    "etc/apt/apt.conf.d",
    "etc/ssl/certs/ca-certificates.crt",
    "etc/resolv.conf",
    "etc/hosts",
];

/// Mounts what a running system has and runs the command in the root. `$1` is the root, `$2` the toolchain,
/// `$3` says what `/tmp` is; the command follows. All mounts and processes end with the namespaces.
const ENTER: &str = r#"
set -e
root=$1 toolchain=$2 tmp=$3
shift 3
# Tests call unshare and nsenter, for which the root has to be that of the namespace: chroot would not do.
mount --bind "$root" "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
mount --rbind /sys "$root/sys"
if [ "$tmp" = tmpfs ]; then mount -t tmpfs tmpfs "$root/tmp"; fi
mount -t tmpfs tmpfs "$root/run"
mount --bind -o ro "$toolchain" "$root/opt/rust"
cd "$root"
mkdir -p mnt/host
pivot_root . mnt/host
cd /srv/rove
umount --lazy /mnt/host
# The shell stays: it is the first process, and reaps those that tests leave behind.
env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" \
    PATH=/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
exit 0
"#;

/// Options of `cargo xtask fresh`.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct Options {
    /// Debian release of the root.
    #[arg(long, default_value = "bookworm")]
    suite: String,
    /// Folder for the root; must not exist, and is left there afterwards [default: one below target, removed].
    #[arg(long, value_name = "FOLDER")]
    keep: Option<PathBuf>,
    /// Leave `/tmp` on the root's own disk, in place of a tmpfs.
    #[arg(long)]
    tmp_on_disk: bool,
    /// Install everything first that this computer lacks (also when CI=true).
    #[arg(long)]
    install: bool,
    /// Command to run there in place of the gate.
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
}

/// Makes a minimal root and runs the gate, or the given command, in a clone of the last commit there.
///
/// # Errors
///
/// Returns an error when the caller is not root, a program is missing, the root cannot be made, or the command fails.
pub(crate) fn run(options: &Options) -> Result<()> {
    // The root borrows this toolchain, and has no rustup that could give it targets.
    let targets = systems::targets();
    let needs = Needs { programs: &PROGRAMS, targets: &targets, ..Needs::default() };
    needs.require("fresh", options.install)?;
    if !rustix::process::geteuid().is_root() {
        bail!("a new root needs mounts, which only root may do: run it with sudo");
    }
    let folder = match &options.keep {
        Some(folder) => folder.clone(),
        None => workspace::root().join("target/fresh"),
    };
    if folder.exists() {
        bail!(
            "{} is there already: remove it, or name another folder with --keep",
            folder.display()
        );
    }
    let result = make_root(&folder, &options.suite).and_then(|()| enter(&folder, options));
    if options.keep.is_none() && folder.exists() {
        fs::remove_dir_all(&folder)
            .with_context(|| format!("cannot remove {}", folder.display()))?;
    }
    result
}

fn make_root(folder: &Path, suite: &str) -> Result<()> {
    println!("== a minimal Debian {suite} in {}", folder.display());
    let include = format!("--include={PACKAGES}");
    let arguments: [&OsStr; 6] = [
        "--variant=minbase".as_ref(),
        "--mode=root".as_ref(),
        "--skip=output/dev".as_ref(),
        include.as_ref(),
        suite.as_ref(),
        folder.as_os_str(),
    ];
    succeed(Command::new("mmdebstrap").arg("--quiet").args(arguments))?;
    for file in NETWORK_FILES {
        copy(&Path::new("/").join(file), &folder.join(file))?;
    }
    for mount_point in ["dev", "proc", "sys", "run", TOOLCHAIN] {
        let path = folder.join(mount_point);
        fs::create_dir_all(&path).with_context(|| format!("cannot create {}", path.display()))?;
    }
    // Crates that this machine has fetched need not be fetched again, and its registry settings hold there.
    let cargo_home =
        packages::cargo_home().context("HOME is not set, so cargo's folder is not known")?;
    for part in ["config.toml", "registry/index", "registry/cache"] {
        copy(&cargo_home.join(part), &folder.join("root/.cargo").join(part))?;
    }
    clone_sources(&folder.join(SOURCES))
}

fn clone_sources(target: &Path) -> Result<()> {
    let root = workspace::root();
    let status = Command::new("git")
        .args(["status", "--porcelain"])
        .current_dir(&root)
        .output()
        .context("git did not start")?;
    if !status.stdout.is_empty() {
        println!("   what is not committed is left out");
    }
    succeed(Command::new("git").args(["clone", "--quiet"]).arg(&root).arg(target))
}

fn enter(folder: &Path, options: &Options) -> Result<()> {
    let default = ["cargo", "xtask", "test", "--install"].map(String::from);
    let command = if options.command.is_empty() { &default } else { options.command.as_slice() };
    println!("== {}", command.join(" "));
    succeed(
        Command::new("unshare")
            .args(["--mount", "--pid", "--fork", "--kill-child", "sh", "-c", ENTER, "sh"])
            .arg(folder)
            .arg(sysroot()?)
            .arg(if options.tmp_on_disk { "disk" } else { "tmpfs" })
            .args(command),
    )
}

/// Returns the folder of the toolchain that builds this workspace.
fn sysroot() -> Result<PathBuf> {
    let output = Command::new("rustc")
        .args(["--print", "sysroot"])
        .current_dir(workspace::root())
        .output()
        .context("rustc did not start")?;
    let path = String::from_utf8(output.stdout).context("rustc's sysroot is not UTF-8")?;
    Ok(PathBuf::from(path.trim_end()))
}

/// Copies a file or folder with its attributes, links followed, if it is there.
fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.exists() {
        return Ok(());
    }
    let folder = to.parent().context("a path in the root has a parent")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    // A folder that is there already would receive the copy inside it.
    let from = if from.is_dir() { from.join(".") } else { from.to_owned() };
    succeed(
        Command::new("cp")
            .args(["--recursive", "--dereference", "--preserve", "--"])
            .arg(from)
            .arg(to),
    )
}

fn succeed(command: &mut Command) -> Result<()> {
    let name = command.get_program().to_string_lossy().into_owned();
    let status = command.status().with_context(|| format!("{name} did not start"))?;
    if !status.success() {
        bail!("{name} failed: {status}");
    }
    Ok(())
}
