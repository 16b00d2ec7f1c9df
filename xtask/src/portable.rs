//! The tests with the branches of macOS and the BSDs, which Linux takes if the compiler gets `--cfg rove_portable`.

use std::path::Path;
use std::process::Command;

use crate::{commands, workspace};

/// A compiler that sets the flag for the workspace's own crates. Third-party crates stay as they were compiled.
const COMPILER: &str = "xtask/src/portable-rustc.sh";

/// The end-to-end modules that the gate runs with these branches: those whose processes take them.
const MODULES: [&str; 6] =
    ["interop::", "life::", "logins::", "network::", "path_size::", "sessions::"];

/// Tests of abilities that only Linux has. docs/platforms.md gives the reasons. These tests are left out.
const LINUX_ONLY: [&str; 2] = [
    "a_viewer_sees_and_does_not_type_and_the_owner_sees_it_come_and_go",
    "nobody_looks_into_client_and_server_and_their_shell_is_an_ordinary_process",
];

/// Returns the command that runs all tests of the workspace.
pub(crate) fn suite(root: &Path) -> Command {
    skip(test(root, &["--no-fail-fast", "--"]))
}

/// Returns the command that runs the end-to-end modules.
pub(crate) fn modules(root: &Path) -> Command {
    skip(end_to_end(root, &[&["--"], MODULES.as_slice()].concat()))
}

/// Returns the command that compiles the tests of [`modules`].
pub(crate) fn build(root: &Path) -> Command {
    end_to_end(root, &["--no-run"])
}

fn end_to_end(root: &Path, arguments: &[&str]) -> Command {
    let mut command = test(root, &["--test", "e2e"]);
    // These tests mostly wait, so they need no optimisation: compiling takes 23 s of a processor. Third-party crates
    // keep their own setting.
    command.env("CARGO_PROFILE_DEV_OPT_LEVEL", "0").env("CARGO_PROFILE_DEV_DEBUG", "0");
    command.env("CARGO_INCREMENTAL", "0").args(arguments);
    command
}

fn test(root: &Path, arguments: &[&str]) -> Command {
    let target = workspace::target(root);
    // Both commands name the whole workspace, so that third-party crates have the same features as in other steps.
    let mut command = commands::new("cargo", &["test", "--locked", "--workspace"], root);
    command.args(arguments).env("RUSTC_WORKSPACE_WRAPPER", root.join(COMPILER));
    // The tested programs get a separate target folder. Cargo shares the compiled third-party crates.
    command.env("CARGO_TARGET_DIR", target.join("portable"));
    command.env("CARGO_BUILD_BUILD_DIR", target);
    command
}

fn skip(mut command: Command) -> Command {
    command.args(LINUX_ONLY.iter().flat_map(|test| ["--skip", test]));
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_test_that_is_left_out_has_its_reason_in_the_document() {
        let root = workspace::root();
        let page = std::fs::read_to_string(root.join("docs/platforms.md")).expect("it is there");
        for test in LINUX_ONLY {
            assert!(page.contains(&format!("`{test}`")), "docs/platforms.md does not name {test}");
        }
    }
}
