//! `cargo xtask wine`: builds the program for Windows on Linux, and runs its tests with Wine.

use std::process::Command;

use anyhow::Result;

use crate::commands;
use crate::needs::Needs;
use crate::systems::WINDOWS_TARGET;
use crate::workspace;

/// The programs that build and run rove for Windows, each with its Debian package.
const PROGRAMS: [(&str, &str); 2] = [("wine", "wine"), (COMPILER, "gcc-mingw-w64-x86-64-posix")];
/// The C compiler, which also links the program.
const COMPILER: &str = "x86_64-w64-mingw32-gcc-posix";

/// A library of Windows that Wine 8 lacks. `cargo xtask wine` builds it, and puts it beside rove.
const LIBRARY: &str = "bcryptprimitives.dll";

/// The variable that tells the tests where the program is.
const VARIABLE: &str = "ROVE_WINDOWS_PROGRAM";

/// Builds the program, and runs its tests.
///
/// # Errors
///
/// Returns an error when something is missing, or a step fails.
pub(crate) fn run(install: bool) -> Result<()> {
    let needs = Needs { programs: &PROGRAMS, targets: &[WINDOWS_TARGET], ..Needs::default() };
    needs.require("wine", install)?;
    let root = workspace::root();
    // Cargo locks its target folder, so this build has a separate folder.
    let target = workspace::target(&root).join("wine");
    let words = ["build", "--locked", "--package", "rove-shell", "--bin", "rove"];
    let mut build = commands::new("cargo", &words, &root);
    build.args(["--target", WINDOWS_TARGET]).arg("--target-dir").arg(&target);
    build.env("CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER", COMPILER);
    succeed(&mut build)?;
    let folder = target.join(WINDOWS_TARGET).join("debug");
    let sources = root.join("xtask/src/wine");
    let compile = |result: &str, source: &str, words: &[&str]| {
        let mut compiler = Command::new(COMPILER);
        compiler.arg("-o").arg(folder.join(result)).arg(sources.join(source)).args(words);
        succeed(&mut compiler)
    };
    compile(LIBRARY, "bcryptprimitives.c", &["-shared", "-ladvapi32"])?;
    compile("ssh.exe", "ssh.c", &["-lws2_32"])?;
    let program = folder.join("rove.exe");
    // The first start of a program makes Wine's folder. So rove starts once before the tests.
    let mut first = Command::new("wine");
    first.arg(&program).arg("--version").env("WINEPREFIX", folder.join("wine-prefix"));
    succeed(first.env("WINEDEBUG", "-all"))?;
    let words = ["test", "--locked", "--workspace", "--test", "e2e", "wine::", "--", "--nocapture"];
    succeed(commands::new("cargo", &words, &root).env(VARIABLE, program))
}

fn succeed(command: &mut Command) -> Result<()> {
    println!("== {command:?}");
    commands::run(command)
}
