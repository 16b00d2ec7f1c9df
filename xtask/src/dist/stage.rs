//! The tree of files that people install: a program, man pages, completions, documents, licences.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::notices;
use super::place::Place;
use super::product::Product;
use crate::commands;

/// For each shell, the path of a program's completions: the part before the program's name, and the part after it.
const COMPLETIONS: [(&str, &str, &str); 3] = [
    ("bash", "share/bash-completion/completions/", ""),
    ("zsh", "share/zsh/vendor-completions/_", ""),
    ("fish", "share/fish/vendor_completions.d/", ".fish"),
];

/// Documents of the workspace that are installed with a program.
const DOCUMENTS: [&str; 3] = ["LICENSE-MIT", "LICENSE-APACHE", "CHANGELOG.md"];

/// Makes the tree and returns its folder, whose name says what it holds. Pages and completions come from `speaker`, the
/// same program built for this computer.
///
/// # Errors
///
/// Returns an error when `speaker` fails, or a file cannot be written.
pub(super) fn make(
    place: &Place,
    product: &Product,
    program: &Path,
    speaker: &Path,
) -> Result<PathBuf> {
    let name = product.program;
    let tree = format!("{name}-{}-{}", place.version, place.target.name);
    let tree = place.work().join(tree);
    install(&tree, &format!("bin/{name}"), &fs::read(program)?)?;
    fs::set_permissions(tree.join("bin").join(name), executable())?;
    for (page, text) in pages(speaker, name)? {
        install(&tree, &format!("share/man/man1/{page}.1"), text.as_bytes())?;
    }
    for (shell, folder, end) in COMPLETIONS {
        let script = commands::output(Command::new(speaker).args(["completions", shell]))?;
        install(&tree, &format!("{folder}{name}{end}"), script.as_bytes())?;
    }
    for document in DOCUMENTS.into_iter().chain([product.introduction]) {
        let path = place.root.join(document);
        let text = fs::read(&path).with_context(|| format!("cannot read {document}"))?;
        let file_name = path.file_name().context("a document has a name")?.display();
        install(&tree, &format!("share/doc/{name}/{file_name}"), &text)?;
    }
    let notices = notices::text(place, product)?;
    install(&tree, &format!("share/doc/{name}/THIRD-PARTY-LICENSES"), notices.as_bytes())?;
    Ok(tree)
}

/// Returns the manual pages of a program by their names: its own page, and the pages of the commands that it names.
fn pages(program: &Path, name: &str) -> Result<Vec<(String, String)>> {
    let own = commands::output(Command::new(program).arg("man"))?;
    let words = command_words(&own, name);
    ensure!(!words.is_empty(), "the page of {name} names none of its commands");
    let mut pages = vec![(name.to_owned(), own)];
    for word in words {
        let page = commands::output(Command::new(program).args(["man", &word]))?;
        pages.push((format!("{name}-{word}"), page));
    }
    Ok(pages)
}

/// Returns the commands to whose pages a program's page refers.
fn command_words(page: &str, program: &str) -> Vec<String> {
    let see_also = page.split_once(".SH SEE ALSO\n").map_or("", |(_, rest)| rest);
    let plain =
        see_also.replace("\\fB", "").replace("\\fR", "").replace("\\fP", "").replace('\\', "");
    let names = plain.split([',', '\n']).filter_map(|word| word.trim().strip_suffix("(1)"));
    names
        .filter_map(|name| Some(name.strip_prefix(program)?.strip_prefix('-')?.to_owned()))
        .collect()
}

fn install(tree: &Path, name: &str, bytes: &[u8]) -> Result<()> {
    let path = tree.join(name);
    fs::create_dir_all(path.parent().context("a file lies in a folder")?)?;
    fs::write(&path, bytes).with_context(|| format!("cannot write {}", path.display()))
}

pub(super) fn executable() -> fs::Permissions {
    std::os::unix::fs::PermissionsExt::from_mode(0o755)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_programs_page_names_its_commands() {
        let page = ".SH NAME\nx\n.SH SEE ALSO\n\\fBrove\\-demo\\fR(1),\n\\fBrove\\-list\\fR(1),\n\\fBssh\\fR(1)\n";
        assert_eq!(command_words(page, "rove"), ["demo", "list"]);
        assert!(command_words(page, "mosh").is_empty());
    }
}
