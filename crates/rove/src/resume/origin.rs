//! The computer and boot to which a record belongs. A key whose record is missing is removed only if the record was
//! certainly here. The keys may be on a shared disk, and the record on another computer.

use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::system::uname;

/// A computer between two restarts.
#[derive(Clone, Debug)]
pub(super) struct Origin {
    /// The text of `/etc/machine-id`. Empty on many systems, and the same on copies of a computer.
    pub(super) computer: String,
    host: String,
    /// Linux's identifier of the boot. Empty on other systems.
    pub(super) boot: String,
}

impl Origin {
    pub(super) fn ours() -> Self {
        let text =
            |path| fs::read_to_string(path).map(|it| it.trim().to_owned()).unwrap_or_default();
        let [computer, boot] = ["/etc/machine-id", "/proc/sys/kernel/random/boot_id"].map(text);
        Self { computer, host: uname().nodename().to_string_lossy().into_owned(), boot }
    }

    /// Returns a text that locates a record in the runtime directory: computer, boot, folder and path, each in a line.
    pub(super) fn place(&self, path: &Path) -> Vec<u8> {
        let [computer, boot, folder] = self.lines(path);
        let head = format!("{computer}\n{boot}\n{folder}\n");
        [head.as_bytes(), path.as_os_str().as_bytes()].concat()
    }

    fn lines(&self, path: &Path) -> [String; 3] {
        let folder = path.parent().and_then(|it| it.metadata().ok());
        let folder = folder.map_or_else(String::new, |it| format!("{} {}", it.dev(), it.ino()));
        [format!("{} {}", self.computer, self.host), self.boot.clone(), folder]
    }

    /// Returns whether the record at this place is certainly gone: this computer has restarted, or the folder is here
    /// and lacks the record. Returns `false` for a text that [`Origin::place`] cannot return.
    pub(super) fn has_lost(&self, place: &[u8]) -> bool {
        let lines: Vec<&[u8]> = place.splitn(4, |byte| *byte == b'\n').collect();
        let [computer, boot, folder, path] = lines[..] else { return false };
        let path = Path::new(OsStr::from_bytes(path));
        let [own_computer, own_boot, own_folder] = self.lines(path);
        if computer != own_computer.as_bytes() {
            return false;
        }
        let has_restarted = !self.computer.is_empty() && boot != own_boot.as_bytes();
        let is_missing =
            || path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound);
        has_restarted
            || boot == own_boot.as_bytes() && folder == own_folder.as_bytes() && is_missing()
    }
}

#[cfg(test)]
mod tests {
    use rove_rig::scratch::Scratch;

    use super::*;

    fn origin(computer: &str, host: &str, boot: &str) -> Origin {
        let [computer, host, boot] = [computer, host, boot].map(str::to_owned);
        Origin { computer, host, boot }
    }

    #[test]
    fn a_record_is_lost_only_where_it_was_or_after_a_restart_of_its_computer() {
        let scratch = Scratch::new();
        let path = scratch.write("run/record", "");
        for id in ["", "id"] {
            fs::write(&path, "").unwrap();
            let here = origin(id, "host", "boot");
            let place = here.place(&path);
            assert!(!here.has_lost(&place), "it is there");
            fs::remove_file(&path).unwrap();
            assert!(here.has_lost(&place));
            for other in [origin(id, "other", "boot"), origin("other", "host", "boot")] {
                assert!(!other.has_lost(&place));
            }
            let restarted = origin(id, "host", "next");
            assert_eq!(restarted.has_lost(&place), !id.is_empty(), "its computer is known");
            fs::rename(scratch.path("run"), scratch.path("away")).unwrap();
            assert!(!here.has_lost(&place), "the folder is elsewhere");
            fs::create_dir(scratch.path("run")).unwrap();
            assert!(!here.has_lost(&place), "it is another folder");
            fs::remove_dir(scratch.path("run")).unwrap();
            fs::rename(scratch.path("away"), scratch.path("run")).unwrap();
            // Earlier versions of rove wrote shorter texts.
            for text in [&b""[..], b"/run/record", b"id\n/run/record"] {
                assert!(!here.has_lost(text));
            }
        }
    }
}
