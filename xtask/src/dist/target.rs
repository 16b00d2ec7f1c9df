//! The systems that programs are built for, and how each is linked on any computer.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::commands;
use crate::needs::{PythonProgram, path_of};

/// The compiler's own linker, with which the same toolchain makes the same bytes everywhere.
const RUST_LLD: &str = "rust-lld";

/// The flag that packs the list of addresses that a static program corrects at its start. It saves 163 kB of rove. This
/// form needs musl 1.2.4, and the compiler brings 1.2.5.
const PACKED: &str = "-Clink-arg=-zpack-relative-relocs";

/// The linker for FreeBSD. It brings start-up files, and the names in that system's C library.
pub(super) const ZIG: PythonProgram =
    PythonProgram { package: "ziglang", version: "0.15.2", program: "ziglang/zig" };

/// Libraries that Rust's standard library links on FreeBSD. Programs of ours call none of them, so empty ones suffice.
const FREEBSD_LIBRARIES: [&str; 7] =
    ["memstat", "kvm", "procstat", "devstat", "util", "execinfo", "rt"];

/// The names of functions in macOS's C library, for the linker.
const MACOS_LIBRARY: &str = include_str!("libSystem.tbd");

/// The names under which Rust links macOS's C library.
const MACOS_LIBRARIES: [&str; 4] = ["System", "c", "m", "iconv"];

/// The variable that names Android's NDK.
const NDK: &str = "ANDROID_NDK_HOME";

/// A system and a processor that a program is built for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Target {
    /// The target's name in file names, by which `rove install` finds a program.
    pub(super) name: String,
    /// The target's name for the compiler.
    pub(super) triple: String,
    linking: Linking,
}

/// How a program is linked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Linking {
    /// The program is static, with the compiler's musl.
    Static,
    /// The linker gets a list of names in place of the system's library. The program is signed ad hoc.
    MacOs,
    /// zig is the linker.
    FreeBsd,
    /// The linker is that of Android's NDK.
    Android,
}

impl Target {
    /// Returns the target of static programs for this computer.
    pub(super) fn host() -> Self {
        let name = format!("linux-{}", std::env::consts::ARCH);
        Self { name, triple: static_target(), linking: Linking::Static }
    }

    /// Returns every target that programs are built for on any computer.
    pub(super) fn all() -> Vec<Self> {
        [
            ("linux-x86_64", "x86_64-unknown-linux-musl", Linking::Static),
            ("linux-aarch64", "aarch64-unknown-linux-musl", Linking::Static),
            ("macos-aarch64", "aarch64-apple-darwin", Linking::MacOs),
            ("macos-x86_64", "x86_64-apple-darwin", Linking::MacOs),
            ("freebsd-x86_64", "x86_64-unknown-freebsd", Linking::FreeBsd),
            ("android-aarch64", "aarch64-linux-android", Linking::Android),
        ]
        .map(|(name, triple, linking)| Self { name: name.into(), triple: triple.into(), linking })
        .to_vec()
    }

    /// Returns the targets with these names, or this computer's without names. `all`: each that can be linked here.
    ///
    /// # Errors
    ///
    /// Returns an error if a name is unknown, or the NDK is missing for it.
    pub(super) fn choose(names: &[String], all: bool) -> Result<Vec<Self>> {
        let mut known = Self::all();
        if all {
            if std::env::var_os(NDK).is_none() {
                println!("== android-aarch64: left out, because {NDK} names no NDK");
                known.retain(|target| target.linking != Linking::Android);
            }
            return Ok(known);
        }
        if names.is_empty() {
            return Ok(vec![Self::host()]);
        }
        let chosen =
            names.iter().map(|name| Self::find(&known, name)).collect::<Result<Vec<_>>>()?;
        if chosen.iter().any(|target| target.linking == Linking::Android) {
            android_linker(std::env::var_os(NDK).map(PathBuf::from))?;
        }
        Ok(chosen)
    }

    fn find(known: &[Self], name: &String) -> Result<Self> {
        let host = Self::host();
        let mut targets = known.iter().chain([&host]);
        let found = targets.find(|target| [&target.name, &target.triple].contains(&name));
        found.cloned().with_context(|| {
            let names: Vec<_> = known.iter().map(|target| target.name.as_str()).collect();
            format!("there is no target {name}; the targets are {}", names.join(", "))
        })
    }

    /// Returns whether programs for this target are static.
    pub(super) fn is_static(&self) -> bool {
        self.linking == Linking::Static
    }

    /// Returns the system's number for a program's header (`EI_OSABI`), if the linker writes a wrong number. Zig's
    /// linker writes System V's number, so that a program for FreeBSD would look like one for Linux.
    pub(super) fn elf_system(&self) -> Option<u8> {
        const FREEBSD: u8 = 9;
        (self.linking == Linking::FreeBsd).then_some(FREEBSD)
    }

    /// Returns the program from a Python package that links for this target, if there is one.
    pub(super) fn python_program(&self) -> Option<PythonProgram> {
        (self.linking == Linking::FreeBsd).then_some(ZIG)
    }

    /// Returns the licence notice for the parts of a program that come from the system's library.
    pub(super) fn runtime(&self) -> &'static str {
        match self.linking {
            Linking::Static => {
                " and of\nmusl libc (MIT, Rich Felker and others, https://musl.libc.org)"
            }
            Linking::FreeBsd => " and\nFreeBSD's start-up code (BSD-2-Clause, the FreeBSD project)",
            Linking::MacOs | Linking::Android => "",
        }
    }

    /// Sets cargo's environment for linking, and returns flags for the compiler. Files for the linker go to `folder`.
    ///
    /// # Errors
    ///
    /// Returns an error if a file cannot be written, or the NDK is missing.
    pub(super) fn prepare(&self, cargo: &mut Command, folder: &Path) -> Result<Vec<String>> {
        let folder = folder.join(&self.name);
        fs::create_dir_all(&folder)
            .with_context(|| format!("cannot create {}", folder.display()))?;
        let (linker, flags) = match self.linking {
            Linking::Static => (RUST_LLD.into(), vec![PACKED.to_owned()]),
            Linking::MacOs => {
                // Without this variable the compiler asks Apple's tools for the folder of their SDK.
                cargo.env("SDKROOT", &folder);
                (RUST_LLD.into(), macos_libraries(&folder)?)
            }
            Linking::FreeBsd => {
                let linker = zig_linker(&folder)?;
                let flags = freebsd_libraries(&folder, &linker)?;
                (linker, flags)
            }
            Linking::Android => {
                (android_linker(std::env::var_os(NDK).map(PathBuf::from))?, Vec::new())
            }
        };
        let variable = self.triple.to_uppercase().replace('-', "_");
        cargo.env(format!("CARGO_TARGET_{variable}_LINKER"), linker);
        Ok(flags)
    }
}

/// Returns the compiler's name of the target of static programs for this computer.
pub(crate) fn static_target() -> String {
    format!("{}-unknown-linux-musl", std::env::consts::ARCH)
}

/// Writes the list of names in macOS's C library into a folder. Returns flags for the compiler.
fn macos_libraries(folder: &Path) -> Result<Vec<String>> {
    let libraries = folder.join("usr/lib");
    fs::create_dir_all(&libraries)?;
    for name in MACOS_LIBRARIES {
        fs::write(libraries.join(format!("lib{name}.tbd")), MACOS_LIBRARY)?;
    }
    let search = format!("-Clink-arg=-L{}", libraries.display());
    Ok(vec![search, "-Clink-arg=-adhoc_codesign".to_owned()])
}

/// Makes empty libraries for FreeBSD in a folder. Returns flags for the compiler.
fn freebsd_libraries(folder: &Path, linker: &Path) -> Result<Vec<String>> {
    let source = folder.join("empty.c");
    fs::write(&source, "")?;
    for name in FREEBSD_LIBRARIES {
        let library = folder.join(format!("lib{name}.so"));
        commands::run(Command::new(linker).args(["-shared", "-o"]).args([&library, &source]))?;
    }
    Ok(vec![format!("-Clink-arg=-L{}", folder.display())])
}

/// Writes a script that links with zig, and returns its path.
fn zig_linker(folder: &Path) -> Result<PathBuf> {
    let path = folder.join("linker");
    let (zig, cache) = (path_of(&ZIG), folder.join("cache"));
    let (zig, cache) = (zig.display(), cache.display());
    let script = format!(
        "#!/bin/sh\nexport ZIG_GLOBAL_CACHE_DIR='{cache}' ZIG_LOCAL_CACHE_DIR='{cache}'\n\
         exec '{zig}' cc -target x86_64-freebsd \"$@\"\n"
    );
    fs::write(&path, script)?;
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    Ok(path)
}

/// Returns the NDK's linker for the oldest Android that Termux supports, which is 7.
fn android_linker(ndk: Option<PathBuf>) -> Result<PathBuf> {
    const LINKER: &str = "toolchains/llvm/prebuilt/linux-x86_64/bin/aarch64-linux-android24-clang";
    let Some(linker) = ndk.map(|ndk| ndk.join(LINKER)).filter(|linker| linker.is_file()) else {
        bail!(
            "linking for Android needs its NDK: run `sdkmanager --install 'ndk;27.2.12479018'`, and name the folder \
             of the NDK in {NDK}"
        );
    };
    Ok(linker)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_target_has_a_name_and_a_triple_and_others_are_refused() {
        let choose = |name: &str| Target::choose(&[name.to_owned()], false);
        for target in Target::all().iter().filter(|it| it.linking != Linking::Android) {
            for name in [&target.name, &target.triple] {
                assert_eq!(choose(name).expect("it is known"), std::slice::from_ref(target));
            }
        }
        assert_eq!(Target::choose(&[], false).expect("the host's"), [Target::host()]);
        let said = choose("plan9-x86_64").expect_err("unknown").to_string();
        assert!(
            said.starts_with("there is no target plan9-x86_64; the targets are linux-x86_64, ")
        );
    }

    #[test]
    fn a_missing_ndk_is_named_with_the_command_that_gets_it() {
        for ndk in [None, Some(PathBuf::from("/nonexistent"))] {
            let said = android_linker(ndk).expect_err("there is none").to_string();
            assert!(said.contains("sdkmanager --install") && said.contains(NDK), "{said}");
        }
    }
}
