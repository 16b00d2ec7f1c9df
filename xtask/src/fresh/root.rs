//! A minimal Debian root, and the script that enters it.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use crate::commands;

/// Files of this computer that the root may need for package mirrors and registries. They are apt's sources and
/// settings, the certificates that this network trusts, and the name servers.
const NETWORK_FILES: [&str; 6] = [
    "etc/apt/sources.list",
    "etc/apt/sources.list.d/debian.sources",
    "etc/apt/apt.conf.d",
    "etc/ssl/certs/ca-certificates.crt",
    "etc/resolv.conf",
    "etc/hosts",
];

/// A script that mounts the folders of a running system, and runs a command in the root. `$1` is the root. `$2` is a
/// folder of this computer, and `$3` its path in the root. `$4` is the command's folder, and `$5` the kind of `/tmp`.
/// The command follows. All mounts and processes end with the namespaces.
pub(super) const ENTER: &str = r#"
set -e
root=$1 folder=$2 place=$3 directory=$4 tmp=$5
shift 5
# Tests call unshare and nsenter, for which the root has to be that of the namespace: chroot would not do.
mount --bind "$root" "$root"
mount --rbind /dev "$root/dev"
mount -t proc proc "$root/proc"
# The system forgets an emulator with the last mount of this kind.
if [ -e /proc/sys/fs/binfmt_misc/aarch64 ]; then
    mount -t binfmt_misc binfmt_misc "$root/proc/sys/fs/binfmt_misc"
fi
mount --rbind /sys "$root/sys"
if [ "$tmp" = tmpfs ]; then mount -t tmpfs tmpfs "$root/tmp"; fi
mount -t tmpfs tmpfs "$root/run"
mkdir -p "$root/$place"
mount --bind -o ro "$folder" "$root/$place"
cd "$root"
mkdir -p mnt/host
pivot_root . mnt/host
cd "$directory"
umount --lazy /mnt/host
# The shell stays: it is the first process, and reaps those that tests leave behind.
env -i HOME=/root LANG=C.UTF-8 TERM="${TERM:-dumb}" \
    PATH=/opt/rust/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin "$@"
exit 0
"#;

/// Makes a complete root with these packages, or no root. `run` runs mmdebstrap, with these `arguments` as well.
pub(super) fn make_root(
    folder: &Path,
    suite: &str,
    packages: &str,
    arguments: &[&str],
    run: impl FnOnce(Command) -> Result<()>,
) -> Result<()> {
    println!("== a minimal Debian {suite} in {}", folder.display());
    let name = folder.file_name().context("the root needs a name")?;
    let unfinished = &folder.with_file_name(format!("{}.unfinished", name.display()));
    // A call that was killed may have left an unfinished root.
    let _ = fs::remove_dir_all(unfinished);
    let fill = || {
        let mut command = Command::new("mmdebstrap");
        command.args(["--quiet", "--variant=minbase", "--mode=root", "--skip=output/dev"]);
        command.arg(format!("--include={packages}")).args(arguments);
        command.args([suite.as_ref(), unfinished.as_os_str()]);
        run(command)?;
        for file in NETWORK_FILES {
            copy(&Path::new("/").join(file), &unfinished.join(file))?;
        }
        for mount_point in ["dev", "proc", "sys", "run"] {
            let path = unfinished.join(mount_point);
            fs::create_dir_all(&path)
                .with_context(|| format!("cannot create {}", path.display()))?;
        }
        Ok(())
    };
    fill()
        .and_then(|()| fs::rename(unfinished, folder).context("cannot name the root"))
        .inspect_err(|_| drop(fs::remove_dir_all(unfinished)))
}

/// Copies a file or folder with its attributes, if it exists. Links become copies of their targets.
pub(super) fn copy(from: &Path, to: &Path) -> Result<()> {
    if !from.exists() {
        return Ok(());
    }
    let folder = to.parent().context("a path in the root has a parent")?;
    fs::create_dir_all(folder).with_context(|| format!("cannot create {}", folder.display()))?;
    // If the target folder exists, cp would copy the folder into it: a trailing `.` copies the contents.
    let from = if from.is_dir() { from.join(".") } else { from.to_owned() };
    commands::run(
        Command::new("cp")
            .args(["--recursive", "--dereference", "--preserve", "--"])
            .arg(from)
            .arg(to),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_root_is_there_whole_or_not_at_all() {
        let parent = std::env::temp_dir().join(format!("rove-root-{}", std::process::id()));
        let folder = parent.join("root");
        let make = |is_whole: bool| {
            make_root(&folder, "sid", "less", &[], |command| {
                let root = Path::new(command.get_args().last().expect("a folder"));
                fs::create_dir_all(root.join("usr"))?;
                fs::write(root.join("usr").join(is_whole.to_string()), "")?;
                if is_whole { Ok(()) } else { anyhow::bail!("interrupted") }
            })
        };
        assert!(make(false).is_err() && !folder.exists());
        // A killed call leaves such a folder behind.
        fs::create_dir_all(parent.join("root.unfinished/usr")).expect("a folder");
        fs::write(parent.join("root.unfinished/usr/false"), "").expect("a file");
        make(true).expect("a root");
        assert!(folder.join("usr/true").exists() && !folder.join("usr/false").exists());
        assert_eq!(fs::read_dir(&parent).expect("a folder").count(), 1);
        fs::remove_dir_all(&parent).expect("our own folder");
    }
}
