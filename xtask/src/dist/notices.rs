//! The licences of everything that a program contains.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::place::Place;
use super::product::Product;
use crate::commands;
use crate::workspace::entries;

/// Beginnings of the names of licence files, in lower case.
const FILES: [&str; 4] = ["license", "licence", "copying", "notice"];

/// The notice for the part of all programs that is no crate: Rust's standard library.
const STANDARD: &str = "\
The program also holds parts of the Rust standard library (MIT OR Apache-2.0, the Rust project's contributors)";

/// Returns the names and licences of all crates in a program, and each licence's text once.
///
/// # Errors
///
/// Returns an error when cargo does not list the program's crates, or a crate has no licence.
pub(super) fn text(place: &Place, product: &Product) -> Result<String> {
    let mut cargo = place.cargo();
    cargo.args(["metadata", "--locked", "--format-version=1"]);
    cargo.args(["--filter-platform", &place.target.triple]);
    let metadata = commands::output(&mut cargo)?;
    let metadata: Value = serde_json::from_str(&metadata).context("cargo metadata is no JSON")?;
    let mut list = String::new();
    // Texts are the keys, so that the many copies of the Apache licence are printed once.
    let mut texts: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for package in linked(&metadata, product.package)? {
        let field = |name: &str| package[name].as_str().unwrap_or_default();
        let crate_name = format!("{} {}", field("name"), field("version"));
        let has_licence = !field("license").is_empty() || !field("license_file").is_empty();
        ensure!(has_licence, "{crate_name} names no licence");
        list += &format!("{crate_name}: {}, {}\n", field("license"), field("repository"));
        let folder = Path::new(field("manifest_path")).parent().context("a manifest's folder")?;
        for text in licence_files(folder)? {
            texts.entry(text).or_default().push(crate_name.clone());
        }
    }
    let runtime = place.target.runtime();
    let mut whole =
        format!("The program is built from these crates:\n\n{list}\n{STANDARD}{runtime}.\n");
    for (text, crates) in texts {
        whole += &format!("\n{}\n{}\n\n{}\n", "-".repeat(70), crates.join(", "), text.trim());
    }
    Ok(whole)
}

/// Returns the third-party packages in the program of the package `start`, by name.
fn linked<'a>(metadata: &'a Value, start: &str) -> Result<Vec<&'a Value>> {
    let array = |value: &'_ Value| value.as_array().cloned().unwrap_or_default();
    let nodes: BTreeMap<String, Value> = array(&metadata["resolve"]["nodes"])
        .into_iter()
        .map(|node| (node["id"].as_str().unwrap_or_default().to_owned(), node))
        .collect();
    let packages = metadata["packages"].as_array().context("cargo metadata lists no packages")?;
    let id = |package: &Value| package["id"].as_str().unwrap_or_default().to_owned();
    let is_start = |package: &&Value| package["name"] == start;
    let mut todo: Vec<String> = packages.iter().filter(is_start).map(id).collect();
    let mut seen: BTreeSet<String> = todo.iter().cloned().collect();
    while let Some(next) = todo.pop() {
        for dependency in nodes.get(&next).map(|node| array(&node["deps"])).unwrap_or_default() {
            // Tests and build scripts are in no program. The kind of all other dependencies is null.
            let is_linked =
                array(&dependency["dep_kinds"]).iter().any(|kind| kind["kind"].is_null());
            let package = dependency["pkg"].as_str().unwrap_or_default();
            if is_linked && seen.insert(package.to_owned()) {
                todo.push(package.to_owned());
            }
        }
    }
    // Third-party packages have a source. Packages of the workspace have none.
    let mut found: Vec<&Value> = packages
        .iter()
        .filter(|package| seen.contains(&id(package)) && !package["source"].is_null())
        .collect();
    found.sort_by_key(|package| (package["name"].to_string(), package["version"].to_string()));
    Ok(found)
}

/// Returns the texts of the licences in a crate's folder, in the order of their names.
fn licence_files(folder: &Path) -> Result<Vec<String>> {
    let is_licence = |path: &&PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().to_lowercase();
        path.is_file() && FILES.iter().any(|start| name.starts_with(start))
    };
    let paths = entries(folder)?;
    let paths = paths.iter().filter(is_licence);
    paths.map(|path| Ok(fs::read_to_string(path)?.replace("\r\n", "\n"))).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_only_builds_or_tests_is_not_inside() {
        let package = |name: &str, source: Option<&str>| json!({"id": name, "name": name, "version": "1", "source": source});
        let needs =
            |name: &str, kind: Option<&str>| json!({"pkg": name, "dep_kinds": [{"kind": kind}]});
        let metadata = json!({
            "packages": [
                package("rove-shell", None), package("rove-ssp", None), package("b", Some("x")),
                package("a", Some("x")), package("tester", Some("x")), package("builder", Some("x")),
                package("stranger", Some("x")),
            ],
            "resolve": {"nodes": [
                {"id": "rove-shell", "deps": [needs("rove-ssp", None), needs("tester", Some("dev"))]},
                {"id": "rove-ssp", "deps": [needs("b", None), needs("builder", Some("build"))]},
                {"id": "b", "deps": [needs("a", None), needs("rove-ssp", None)]},
                {"id": "stranger", "deps": []},
            ]},
        });
        let names: Vec<_> =
            linked(&metadata, "rove-shell").unwrap().iter().map(|it| it["name"].clone()).collect();
        assert_eq!(names, ["a", "b"]);
    }
}
