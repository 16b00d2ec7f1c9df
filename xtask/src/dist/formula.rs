//! The formula by which Homebrew installs a program from its archive.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result};

use super::place::Place;
use super::product::ROVE;
use crate::commands;

/// The systems and processors in Homebrew's words, with the name of the archive's target.
const ARCHIVES: [(&str, &str, &str); 4] = [
    ("macos", "arm", "macos-aarch64"),
    ("macos", "intel", "macos-x86_64"),
    ("linux", "arm", "linux-aarch64"),
    ("linux", "intel", "linux-x86_64"),
];

/// The part of the formula after the archives.
const INSTALL: &str = r##"
  def install
    bin.install "bin/rove"
    man1.install Dir["share/man/man1/*"]
    bash_completion.install "share/bash-completion/completions/rove"
    zsh_completion.install "share/zsh/vendor-completions/_rove"
    fish_completion.install "share/fish/vendor_completions.d/rove.fish"
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/rove --version")
  end
end
"##;

/// Writes the formula for the archives in the folder `dist`.
///
/// # Errors
///
/// Returns an error when an archive cannot be read, or the formula cannot be written.
pub(super) fn make(place: &Place, dist: &Path, url: &str) -> Result<()> {
    println!("== Homebrew formula");
    let mut archives = Vec::new();
    for (system, processor, target) in ARCHIVES {
        let name = format!("{}-{}-{target}.tar.gz", ROVE.program, place.version);
        if dist.join(&name).is_file() {
            let sum = commands::output(Command::new("sha256sum").arg(&name).current_dir(dist))?;
            let sum = sum.split(' ').next().unwrap_or_default().to_owned();
            archives.push((system, processor, name, sum));
        }
    }
    fs::write(dist.join("rove.rb"), text(&place.version, url, &archives))
        .context("cannot write the formula")
}

/// Returns the formula for archives, each with its system, processor, name and checksum.
fn text(version: &str, url: &str, archives: &[(&str, &str, String, String)]) -> String {
    let url = url.trim_end_matches('/');
    let mut text = format!(
        "class Rove < Formula\n  desc \"Remote shell that survives the network\"\n  homepage \"{url}\"\n  version \"{version}\"\n  \
         license any_of: [\"MIT\", \"Apache-2.0\"]\n"
    );
    for (system, processor, name, sum) in archives {
        text += &format!(
            "\n  on_{system} do\n    on_{processor} do\n      url \"{url}/{name}\"\n      sha256 \"{sum}\"\n    end\n  end\n"
        );
    }
    text + INSTALL
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_formula_names_each_archive_with_its_checksum() {
        let archive = ("macos", "arm", "rove-1-macos-aarch64.tar.gz".to_owned(), "abc".to_owned());
        let formula = text("1", "https://example.org/rove/", &[archive]);
        let part = "  on_macos do\n    on_arm do\n      url \"https://example.org/rove/rove-1-macos-aarch64.tar.gz\"\n      \
                    sha256 \"abc\"\n    end\n  end\n\n  def install\n";
        assert!(formula.contains(part), "{formula}");
        assert_eq!(formula.matches(" do\n").count() + 2, formula.matches("end\n").count());
    }
}
