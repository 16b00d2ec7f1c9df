//! The operating system and processor of a program, read from a host's `uname` or from a program file's header.

use core::fmt;

/// An operating system and a kind of processor, by the names that Rust uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Platform {
    system: String,
    processor: String,
}

/// The names of processors that differ between `uname` and Rust, in this order.
const PROCESSORS: [(&str, &str); 5] =
    [("amd64", "x86_64"), ("arm64", "aarch64"), ("i386", "x86"), ("i586", "x86"), ("i686", "x86")];

/// Longest name of a system or processor that rove accepts from a host, in characters. Chosen: twice the longest known.
const NAME_CHARS_MAX: usize = 32;

impl Platform {
    /// Returns the platform from the output of `uname -s` and `uname -m`, with a space between. `None` unless there are
    /// two names of usual characters and length.
    pub fn from_uname(text: &str) -> Option<Self> {
        let mut names = text.split_ascii_whitespace();
        let (system, machine) = (names.next()?, names.next()?);
        let is_name = |name: &str| {
            let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
            name.len() <= NAME_CHARS_MAX && name.bytes().all(is_plain)
        };
        if names.next().is_some() || !is_name(system) || !is_name(machine) {
            return None;
        }
        let system = match system.to_ascii_lowercase().as_str() {
            "darwin" => "macos".to_owned(),
            other => other.to_owned(),
        };
        let known = PROCESSORS.iter().find(|(name, _)| *name == machine);
        let processor = known.map_or(machine, |(_, processor)| processor).to_owned();
        Some(Self { system, processor })
    }

    /// Returns the platform of a program file (ELF or Mach-O). `None` for other files.
    pub fn of_program(file: &[u8]) -> Option<Self> {
        let (system, processor) = elf(file).or_else(|| mach_o(file))?;
        Some(Self { system: system.to_owned(), processor: processor.to_owned() })
    }

    /// Returns the platform's name, as in file names and in `cargo xtask dist --target`.
    pub fn name(&self) -> String {
        format!("{}-{}", self.system, self.processor)
    }

    /// Returns the name of rove's program file for this platform.
    pub fn file_name(&self) -> String {
        format!("rove-{}", self.name())
    }

    /// Returns whether a program file runs on this platform. A Linux program must need neither a loader nor libraries,
    /// because these differ between distributions.
    pub fn runs(&self, file: &[u8]) -> bool {
        let processor = if self.processor.starts_with("armv") { "arm" } else { &self.processor };
        let fits = |it: Self| it.system == self.system && it.processor == processor;
        Self::of_program(file).is_some_and(fits) && (self.system != "linux" || is_static(file))
    }
}

impl fmt::Display for Platform {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let system = match self.system.as_str() {
            "linux" => "Linux",
            "macos" => "macOS",
            "freebsd" => "FreeBSD",
            other => other,
        };
        write!(f, "{system} on {}", self.processor)
    }
}

/// Returns the system and processor in the header of a little-endian ELF file (`EI_OSABI`, `e_machine`). `None` for
/// other files and unknown numbers. Source: System V ABI, edition 4.1, chapter 4.
fn elf(file: &[u8]) -> Option<(&'static str, &'static str)> {
    const LITTLE_ENDIAN: u8 = 1;
    if !file.starts_with(b"\x7fELF") || file.get(5) != Some(&LITTLE_ENDIAN) {
        return None;
    }
    // Linux linkers write 0 (System V), or 3 if the file uses a GNU extension.
    let system = match file.get(7)? {
        0 | 3 => "linux",
        9 => "freebsd",
        _ => return None,
    };
    let processor = match number(file, 18, 2)? {
        62 => "x86_64",
        183 => "aarch64",
        243 => "riscv64",
        3 => "x86",
        40 => "arm",
        _ => return None,
    };
    Some((system, processor))
}

/// Returns macOS and the processor (`cputype`) of a 64-bit Mach-O executable (`filetype`). `None` for other files. The
/// header names no system. Source: Apple, mach-o/loader.h and mach/machine.h.
fn mach_o(file: &[u8]) -> Option<(&'static str, &'static str)> {
    const EXECUTE: u64 = 2;
    if number(file, 0, 4)? != 0xfeed_facf || number(file, 12, 4)? != EXECUTE {
        return None;
    }
    match number(file, 4, 4)? {
        0x0100_0007 => Some(("macos", "x86_64")),
        0x0100_000c => Some(("macos", "aarch64")),
        _ => None,
    }
}

/// Returns whether an ELF file needs no loader (`PT_INTERP`), and therefore no libraries.
fn is_static(file: &[u8]) -> bool {
    const LOADER: u64 = 3;
    let is_wide = file.get(4) == Some(&2);
    let (offset, size, count) = if is_wide {
        (number(file, 32, 8), number(file, 54, 2), number(file, 56, 2))
    } else {
        (number(file, 28, 4), number(file, 42, 2), number(file, 44, 2))
    };
    let (Some(offset), Some(size), Some(count)) = (offset, size, count) else { return false };
    (0..count).all(|header| {
        let at = header.checked_mul(size).and_then(|at| at.checked_add(offset));
        let at = at.and_then(|at| usize::try_from(at).ok());
        at.and_then(|at| number(file, at, 4)).is_some_and(|kind| kind != LOADER)
    })
}

/// Returns the little-endian number of `len` bytes at offset `at`. `None` if the number reaches beyond the file's end.
fn number(file: &[u8], at: usize, len: usize) -> Option<u64> {
    let bytes = file.get(at..at.checked_add(len)?)?;
    Some(bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Makes a 64-bit ELF file whose program headers have these kinds.
    fn elf(machine: u8, kinds: &[u8]) -> Vec<u8> {
        let mut file = vec![0; 64];
        file[..6].copy_from_slice(b"\x7fELF\x02\x01");
        file[18] = machine;
        file[32] = 64;
        file[54] = 56;
        file[56] = u8::try_from(kinds.len()).unwrap();
        for kind in kinds {
            file.push(*kind);
            file.resize(file.len() + 55, 0);
        }
        file
    }

    fn platform(uname: &str) -> Platform {
        Platform::from_uname(uname).unwrap()
    }

    #[test]
    fn a_host_says_what_it_is_in_plain_names() {
        for (uname, shown, file) in [
            ("Linux x86_64", "Linux on x86_64", "rove-linux-x86_64"),
            ("Linux arm64", "Linux on aarch64", "rove-linux-aarch64"),
            ("FreeBSD amd64", "FreeBSD on x86_64", "rove-freebsd-x86_64"),
            ("Darwin arm64", "macOS on aarch64", "rove-macos-aarch64"),
            ("MINGW64_NT-10 x86_64", "mingw64_nt-10 on x86_64", "rove-mingw64_nt-10-x86_64"),
        ] {
            assert_eq!(platform(uname).to_string(), shown);
            assert_eq!(platform(uname).file_name(), file);
        }
        let long = format!("Linux {}", "x".repeat(NAME_CHARS_MAX + 1));
        for uname in ["", "Linux", "Linux x86_64 more", "../x y", "a\u{1b}[2J b", &long] {
            assert_eq!(Platform::from_uname(uname), None, "{uname}");
        }
        assert!(Platform::from_uname(&long[..long.len() - 1]).is_some());
    }

    #[test]
    fn each_program_runs_on_its_own_system_and_processor_alone() {
        let mach_o = |processor| {
            [0xcf, 0xfa, 0xed, 0xfe, processor, 0, 0, 1, 0, 0, 0, 0, 2, 0, 0, 0].to_vec()
        };
        let mut freebsd = elf(62, &[3, 1]);
        freebsd[7] = 9;
        let programs = [
            ("Linux x86_64", elf(62, &[1])),
            ("Linux arm64", elf(183, &[1])),
            ("Darwin arm64", mach_o(12)),
            ("Darwin x86_64", mach_o(7)),
            ("FreeBSD amd64", freebsd),
        ];
        for (own, file) in &programs {
            assert_eq!(Platform::of_program(file), Platform::from_uname(own));
            for (uname, _) in &programs {
                assert_eq!(platform(uname).runs(file), uname == own, "{own} on {uname}");
            }
        }
        let mut library = mach_o(12);
        library[12] = 6;
        assert_eq!(Platform::of_program(&library), None);
        assert!(platform("Linux armv7l").runs(&elf(40, &[1])));
    }

    #[test]
    fn only_a_static_program_for_the_same_processor_runs() {
        let (intel, arm) = (platform("Linux x86_64"), platform("Linux aarch64"));
        for (file, on_intel, on_arm) in [
            (elf(62, &[1, 6, 2]), true, false),
            (elf(183, &[1]), false, true),
            (elf(62, &[6, 3, 1]), false, false),
            (b"#!/bin/sh\n".to_vec(), false, false),
            (Vec::new(), false, false),
        ] {
            assert_eq!([intel.runs(&file), arm.runs(&file)], [on_intel, on_arm], "{file:x?}");
        }
        let whole = elf(62, &[1, 2]);
        assert!(!intel.runs(&whole[..whole.len() - 56]), "a header is missing");
        assert!(!platform("FreeBSD amd64").runs(&whole));
    }

    proptest! {
        #[test]
        fn no_file_is_too_broken_to_be_looked_at(
            mut file in proptest::collection::vec(any::<u8>(), 0..200),
            start in prop_oneof![Just(b"\x7fELF\x02\x01\x01\x00"), Just(b"\xcf\xfa\xed\xfe\x0c\0\0\x01")],
        ) {
            let len = file.len().min(start.len());
            file[..len].copy_from_slice(&start[..len]);
            platform("Linux x86_64").runs(&file);
            is_static(&file);
        }
    }
}
