//! Finds the program to copy to a host: the running program, or a build for the host's platform.

use std::env;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use rove_bootstrap::Platform;
use sha2::{Digest, Sha256};

use crate::bounded;
use crate::exposure::{self, Exposure};
use crate::install::version::Version;
use crate::xdg::Folder;

/// Largest program that `rove install` copies, in bytes. Chosen: ten times the size of rove.
const BUILD_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The path of the folder of builds, below the user's data folder.
const BUILDS: &str = "rove/builds";

/// A program for the host's platform.
pub(crate) struct Build {
    /// The contents of the program's file.
    pub(crate) bytes: Vec<u8>,
    /// The SHA-256 of the file, in hexadecimal.
    pub(crate) sum: String,
    pub(crate) version: Version,
}

/// Why there is no program to copy.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BuildError {
    /// Neither this program nor a build runs on the host's platform.
    #[error(
        "there is no rove for {platform} on this computer that runs by itself: run `cargo xtask dist --install --target {}` \
         in rove's sources, and put {} from target/dist into {}, or name it with --build", platform.name(),
        platform.file_name(), folder.display()
    )]
    None { platform: Platform, folder: PathBuf },
    /// Other users can change the file of a build that the user has not named.
    #[error("{0}, so the build is not trusted: if you trust it, name it with --build")]
    Exposed(#[from] Exposure),
    /// The file of the program cannot be read.
    #[error("cannot read {}: {error}", path.display())]
    Unreadable { path: PathBuf, error: io::Error },
    /// The file is no program for the host's platform. `found` is the platform that the file is for, if known.
    #[error(
        "{} {}; `cargo xtask dist --target {}` makes a program for {platform}", path.display(),
        unfitness(found.as_ref(), platform), platform.name()
    )]
    Unfit { path: PathBuf, found: Option<Platform>, platform: Platform },
    /// The file is not a build of rove.
    #[error("{} is not rove: it holds no version of rove", path.display())]
    Stranger { path: PathBuf },
}

impl Build {
    /// Finds the program to copy to a host of this platform. It is the file that the user named, else the running
    /// program if it fits the platform, else a file from the folders of builds.
    ///
    /// # Errors
    ///
    /// Returns why there is no program to copy.
    pub(crate) fn find(platform: &Platform, named: Option<&Path>) -> Result<Self, BuildError> {
        if let Some(path) = named {
            return Self::read(path, platform);
        }
        // On Linux the first path is the running program, even if its file has been replaced.
        let mut running = ["/proc/self/exe".into()].into_iter().chain(env::current_exe());
        if let Some(build) = running.find_map(|path| Self::read(&path, platform).ok()) {
            return Ok(build);
        }
        Self::among(folders(|name| env::var_os(name), env::current_exe().ok().as_deref()), platform)
    }

    fn among(folders: Vec<PathBuf>, platform: &Platform) -> Result<Self, BuildError> {
        for path in folders.iter().map(|folder| folder.join(platform.file_name())) {
            if let Ok(found) = path.metadata() {
                // Other users may have put the file there, as in a shared folder into which rove was unpacked.
                let end = exposure::way(&path, exposure::home().ok().flatten().as_deref())?;
                exposure::file(&end, &found)?;
                return Self::read(&end, platform);
            }
        }
        let folder = folders.into_iter().next().unwrap_or_default();
        Err(BuildError::None { platform: platform.clone(), folder })
    }

    fn read(path: &Path, platform: &Platform) -> Result<Self, BuildError> {
        let bytes =
            read(path).map_err(|error| BuildError::Unreadable { path: path.into(), error })?;
        if !platform.runs(&bytes) {
            let found = Platform::of_program(&bytes);
            return Err(BuildError::Unfit { path: path.into(), found, platform: platform.clone() });
        }
        let version =
            Version::in_file(&bytes).ok_or_else(|| BuildError::Stranger { path: path.into() })?;
        Ok(Self { sum: sum(&bytes), bytes, version })
    }

    /// Returns the program's size as text for a person.
    pub(crate) fn size(&self) -> String {
        megabytes(self.bytes.len())
    }
}

/// Returns the SHA-256 of the running program, in hexadecimal.
pub(crate) fn own_sum() -> io::Result<String> {
    Ok(sum(&read(&env::current_exe()?)?))
}

/// Returns a number of bytes as text, in megabytes (10^6 bytes) with one decimal.
pub(crate) fn megabytes(bytes: usize) -> String {
    let tenths = (bytes + 50_000) / 100_000;
    format!("{}.{} MB", tenths / 10, tenths % 10)
}

/// Returns why a file does not run on a platform, as the end of a sentence. `found` is the file's platform, if known.
fn unfitness(found: Option<&Platform>, platform: &Platform) -> String {
    match found {
        Some(found) if found == platform => "needs libraries of the host".to_owned(),
        Some(found) => format!("is a program for {found}, not for {platform}"),
        None => format!("is no program for {platform}"),
    }
}

fn sum(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Reads a file. More than [`BUILD_BYTES_MAX`] bytes are an error.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    bounded::read_whole(File::open(path)?, BUILD_BYTES_MAX)
}

/// Returns the folders that may contain builds: the user's folder, and then the folder of the running program.
fn folders(variable: impl Fn(&str) -> Option<OsString>, program: Option<&Path>) -> Vec<PathBuf> {
    let data = Folder::Data.path(variable);
    let beside = program.and_then(Path::parent).map(Path::to_path_buf);
    data.map(|data| data.join(BUILDS)).into_iter().chain(beside).collect()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::PermissionsExt;

    use rove_rig::scratch::Scratch;

    use super::*;

    #[test]
    fn builds_are_looked_for_in_the_users_folder_and_beside_the_program() {
        for (variables, found) in [
            (vec![("HOME", "/h")], "/h/.local/share/rove/builds /usr/bin"),
            (vec![("HOME", "/h"), ("XDG_DATA_HOME", "/d")], "/d/rove/builds /usr/bin"),
            (vec![("HOME", "/h"), ("XDG_DATA_HOME", "d")], "/h/.local/share/rove/builds /usr/bin"),
            (vec![], "/usr/bin"),
        ] {
            let variable = |name: &str| {
                let found = variables.iter().find(|(known, _)| *known == name);
                found.map(|(_, value)| OsString::from(value))
            };
            let folders = folders(variable, Some(Path::new("/usr/bin/rove")));
            let shown: Vec<_> = folders.iter().map(|path| path.display().to_string()).collect();
            assert_eq!(shown.join(" "), found);
        }
    }

    /// Returns a static program for Linux on `x86_64`, and the same as a build of rove.
    fn programs() -> (Vec<u8>, Vec<u8>) {
        let mut file = vec![0; 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        (file[18], file[32], file[54], file[56]) = (62, 64, 56, 1);
        file.push(1);
        file.resize(120, 0);
        let marked = [&file[..], b"\x01rove-build 7.8.9\x01"].concat();
        (file, marked)
    }

    #[test]
    fn a_build_that_others_can_change_is_copied_only_if_it_is_named() {
        let platform = Platform::from_uname("Linux x86_64").unwrap();
        let scratch = Scratch::new();
        let (folder, path) = (scratch.path("folder"), scratch.path("folder/rove-linux-x86_64"));
        fs::create_dir(&folder).unwrap();
        fs::write(&path, programs().1).unwrap();
        // A folder with the sticky bit, too, lets everybody put a new file there.
        for (folder_mode, file_mode, is_safe) in
            [(0o755, 0o755, true), (0o1777, 0o755, false), (0o755, 0o777, false)]
        {
            for (path, mode) in [(&folder, folder_mode), (&path, file_mode)] {
                fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
            }
            match Build::among(vec![folder.clone()], &platform).err() {
                None => assert!(is_safe, "{folder_mode:o} {file_mode:o}"),
                Some(error) => assert!(!is_safe && error.to_string().contains("may write")),
            }
            assert!(Build::find(&platform, Some(&path)).is_ok());
        }
    }

    #[test]
    fn a_file_that_is_named_is_judged_before_it_is_copied() {
        let folder = env::temp_dir().join(format!("rove-build-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let platform = Platform::from_uname("Linux x86_64").unwrap();
        let (file, marked) = programs();
        let path = folder.join("rove");
        let find = |bytes: &[u8]| {
            fs::write(&path, bytes).unwrap();
            Build::find(&platform, Some(&path))
        };
        let build = find(&marked).ok().unwrap();
        assert_eq!(build.version.to_string(), "7.8.9");
        assert_eq!(build.bytes, marked);
        let mut of_freebsd = marked.clone();
        of_freebsd[7] = 9;
        let other = "rove is a program for FreeBSD on x86_64, not for Linux on x86_64; `cargo xtask dist --target linux-x86_64`";
        for (bytes, part) in [
            (&file[..], "is not rove"),
            (b"#!/bin/sh", "is no program for Linux on x86_64"),
            (&of_freebsd, other),
        ] {
            let error = find(bytes).err().unwrap().to_string();
            assert!(error.contains(part), "{error}");
        }
        fs::remove_dir_all(&folder).unwrap();
        let error = Build::find(&platform, Some(&path)).err().unwrap().to_string();
        assert!(error.starts_with("cannot read "), "{error}");
    }

    #[test]
    fn sizes_are_megabytes_and_sums_are_those_of_the_standard() {
        for (bytes, shown) in [(0, "0.0 MB"), (3_949_999, "3.9 MB"), (3_950_000, "4.0 MB")] {
            assert_eq!(megabytes(bytes), shown);
        }
        // FIPS 180-2, appendix B.1.
        let wanted = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        assert_eq!(sum(b"abc"), wanted);
    }
}
