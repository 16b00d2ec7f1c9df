//! The needs of a command beside the pinned toolchain and a C linker. They are programs of Debian packages, programs of
//! cargo, a program from a Python package, and targets of the compiler.

use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::{commands, packages, workspace};

/// The programs and targets that a command needs.
#[derive(Clone, Debug, Default)]
pub(crate) struct Needs<'a> {
    /// Programs, each with the Debian package that brings it.
    pub(crate) programs: &'a [(&'static str, &'static str)],
    /// Programs of cargo, each with the version that the project uses.
    pub(crate) cargo_programs: &'a [(&'static str, &'static str)],
    /// The program from a Python package, if the command needs one.
    pub(crate) python_program: Option<PythonProgram>,
    /// Targets whose standard library the compiler needs.
    pub(crate) targets: &'a [&'a str],
}

/// A program in a Python package, with the project's version of it. The package is installed in the target folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PythonProgram {
    pub(crate) package: &'static str,
    pub(crate) version: &'static str,
    /// The path of the program within the package's folder.
    pub(crate) program: &'static str,
}

/// A step that installs something missing.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Step {
    Debian(Vec<&'static str>),
    /// The words of a command.
    Command(Vec<String>),
}

impl Needs<'_> {
    /// Installs what is missing, if [`Needs::check`] permits it. Its errors are those of both.
    pub(crate) fn require(&self, command: &str, install: bool) -> Result<()> {
        self.check(command, install)?;
        self.install()
    }

    /// Checks that everything is installed, or may be installed: if `install` is set, or `CI=true`.
    ///
    /// # Errors
    ///
    /// Returns an error that names all that is missing with the commands that install it.
    pub(crate) fn check(&self, command: &str, install: bool) -> Result<()> {
        let missing = self.missing();
        let may_install = install || std::env::var("CI").as_deref() == Ok("true");
        ensure!(missing.is_empty() || may_install, "{}", advice(command, &missing));
        Ok(())
    }

    /// Installs what is missing. The error names what could not be installed.
    pub(crate) fn install(&self) -> Result<()> {
        for step in self.missing() {
            println!("== {step}");
            step.run()?;
        }
        let still: Vec<_> = self.missing().iter().map(ToString::to_string).collect();
        ensure!(still.is_empty(), "this succeeded, and had no effect: {}", still.join("; "));
        Ok(())
    }

    fn missing(&self) -> Vec<Step> {
        let command = |start: &str, arguments: Vec<String>| {
            Step::Command(start.split(' ').map(str::to_owned).chain(arguments).collect())
        };
        let packages = packages::missing(self.programs);
        let debian = (!packages.is_empty()).then_some(Step::Debian(packages));
        let programs = self.cargo_programs.iter();
        let programs: Vec<_> = programs
            .filter(|(program, _)| !packages::is_installed(program))
            .map(|(program, version)| format!("{program}@{version}"))
            .collect();
        // The programs are not optimised. They run for seconds, and would take minutes more to compile.
        let cargo =
            (!programs.is_empty()).then(|| command("cargo install --locked --debug", programs));
        let python = self.python_program.filter(|program| !path_of(program).is_file());
        let python = python.map(|program| {
            let folder = folder_of(&program).display().to_string();
            let package = format!("{}=={}", program.package, program.version);
            command("python3 -m pip install --target", vec![folder, package])
        });
        let targets = self.targets.iter().filter(|target| !has_target(target));
        let targets =
            targets.map(|target| command("rustup target add", vec![(*target).to_owned()]));
        // Debian packages come first, because programs of cargo may need one to be compiled.
        debian.into_iter().chain(cargo).chain(python).chain(targets).collect()
    }
}

impl Step {
    fn run(&self) -> Result<()> {
        let words = match self {
            Self::Debian(packages) => return packages::install(packages),
            Self::Command(words) => words.as_slice(),
        };
        let mut command = Command::new(&words[0]);
        let status = command.args(&words[1..]).current_dir(workspace::root()).status();
        let status = status.with_context(|| match words {
            [rustup, .., target] if rustup == "rustup" => format!(
                "there is no rustup; install the standard library for {target} as this toolchain was installed"
            ),
            _ => format!("{} did not start", words[0]),
        })?;
        ensure!(status.success(), "this failed ({status}): {self}");
        Ok(())
    }
}

impl fmt::Display for Step {
    /// Writes a command for a shell.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Debian(packages) => {
                write!(f, "apt-get update && apt-get install -y {}", packages.join(" "))
            }
            Self::Command(words) => f.write_str(&words.join(" ")),
        }
    }
}

/// Returns the path of a program from a Python package.
pub(crate) fn path_of(program: &PythonProgram) -> PathBuf {
    folder_of(program).join(program.program)
}

fn folder_of(program: &PythonProgram) -> PathBuf {
    let folder = workspace::target(&workspace::root());
    folder.join("python").join(format!("{}-{}", program.package, program.version))
}

/// Returns a text that lists what is missing, with the commands that install it.
fn advice(command: &str, missing: &[Step]) -> String {
    let lines: String = missing.iter().map(|step| format!("\n  {step}")).collect();
    format!(
        "cargo xtask {command} needs more than this computer has. Install it with\n{lines}\n\n\
         or let the command do that:  cargo xtask {command} --install"
    )
}

/// Returns whether the compiler has the standard library for a target, however the toolchain was installed.
fn has_target(target: &str) -> bool {
    let words = ["--print", "target-libdir", "--target", target];
    let mut rustc = commands::new("rustc", &words, &workspace::root());
    commands::output(&mut rustc).is_ok_and(|folder| Path::new(folder.trim_end()).is_dir())
}

#[cfg(test)]
mod tests {
    use super::*;

    const PYTHON: PythonProgram =
        PythonProgram { package: "no-such", version: "1.2", program: "no-such" };

    #[test]
    fn everything_that_is_missing_is_named_with_its_command() {
        let needs = Needs {
            programs: &[("sh", "dash"), ("no-such-program", "no-such-package")],
            cargo_programs: &[("cargo", "1.0.0"), ("cargo-no-such", "1.2.3")],
            python_program: Some(PYTHON),
            targets: &["wasm99-no-such"],
        };
        let missing = needs.missing();
        assert_eq!(missing.len(), 4);
        let said = advice("dist", &missing);
        let mut rest = said.as_str();
        for line in [
            "  apt-get update && apt-get install -y no-such-package\n",
            "  cargo install --locked --debug cargo-no-such@1.2.3\n",
            "  python3 -m pip install --target ",
            "no-such-1.2 no-such==1.2\n",
            "  rustup target add wasm99-no-such\n",
            "cargo xtask dist --install",
        ] {
            rest = rest.split_once(line).unwrap_or_else(|| panic!("{line:?}: {said}")).1;
        }
        let is_fine = Needs { programs: &[("sh", "dash")], ..Needs::default() };
        assert_eq!(is_fine.missing(), []);
    }
}
