//! Circles of modules: modules of a crate that reach each other by the paths in their code.

use std::collections::{BTreeMap, BTreeSet};

use super::source::{Source, is_identifier};

/// Most re-exports that are followed from a path. The code has no longer chain.
const REEXPORTS_MAX: usize = 8;

/// A module's path from the root of its crate. The root has the empty path.
type Module = Vec<String>;

/// The modules of a crate, each with the paths in its code.
pub(super) struct Modules(BTreeMap<Module, Vec<Vec<String>>>);

impl Modules {
    /// Reads a crate. The `main.rs` beside a `lib.rs` is left out, and so are files of tests.
    pub(super) fn new(sources: &[Source]) -> Self {
        let mut modules = BTreeMap::new();
        for source in sources.iter().filter(|source| !source.code.is_empty()) {
            let Some((_, path)) = source.path.split_once("/src/") else { continue };
            let path = path.trim_end_matches(".rs").trim_end_matches("/mod");
            let parts = path.split('/').filter(|_| !matches!(path, "lib" | "main"));
            modules
                .entry(parts.map(str::to_owned).collect())
                .or_insert_with(|| paths(&source.code));
        }
        Self(modules)
    }

    /// Returns the modules of the largest circle. `with_parents` also counts paths from a module into its own parent.
    pub(super) fn largest(&self, with_parents: bool) -> Vec<String> {
        let targets = |(from, paths): (&'_ Module, &'_ Vec<Vec<String>>)| {
            let parent = from.split_last().filter(|_| !with_parents).map(|it| it.1);
            let targets = paths.iter().filter_map(|path| self.resolve(from, path, REEXPORTS_MAX));
            targets.filter(|to| *to != from && Some(to.as_slice()) != parent).collect()
        };
        let mut reached: BTreeMap<&Module, BTreeSet<&Module>> =
            self.0.iter().map(|module| (module.0, targets(module))).collect();
        for middle in self.0.keys() {
            let onwards = reached[middle].clone();
            for row in reached.values_mut().filter(|row| row.contains(middle)) {
                row.extend(&onwards);
            }
        }
        let circle = |at: &Module| -> Vec<String> {
            let members = reached[at].iter().filter(|it| reached[**it].contains(at));
            members.map(|member| member.join("::")).collect()
        };
        self.0.keys().map(circle).max_by_key(Vec::len).unwrap_or_default()
    }

    /// Returns the module to which a path in `from` leads. A re-exported name leads to the module that defines it.
    fn resolve(&self, from: &Module, path: &[String], reexports: usize) -> Option<&Module> {
        let mut at = if path[0] == "crate" { Module::new() } else { from.clone() };
        for name in path.iter().filter(|name| !matches!(name.as_str(), "crate" | "self")) {
            match name.as_str() {
                "super" => drop(at.pop()?),
                _ => at.push(name.clone()),
            }
        }
        let mut leaf = None;
        while !self.0.contains_key(&at) {
            leaf = Some(at.pop()?);
        }
        let (module, paths) = self.0.get_key_value(&at)?;
        let passed_on = paths.iter().filter(|it| reexports > 0 && it.last() == leaf.as_ref());
        let mut origins = passed_on.filter_map(|path| self.resolve(module, path, reexports - 1));
        origins.next().or(Some(module))
    }
}

/// Returns the paths of more than one name in a file's code, and the leaves of its `use` trees.
fn paths(code: &str) -> Vec<Vec<String>> {
    // A leaf `b as c` becomes the single name `b_c`, which leads to the module that holds `b`.
    let code = code.replace(" as ", "_").replace("::<", "<").replace("(in crate::", "(");
    let is_end = |c: char| !is_identifier(c) && c != ':';
    let (mut found, mut stems) = (Vec::new(), Vec::new());
    for piece in code.split_inclusive(is_end) {
        let word = piece.trim_end_matches(is_end);
        let mut path: Vec<String> = stems.last().cloned().unwrap_or_default();
        path.extend(word.split("::").filter(|part| !part.is_empty()).map(str::to_owned));
        path.pop_if(|last| last == "self");
        if word.ends_with("::") && piece.ends_with('{') {
            stems.push(path);
        } else if path.len() > 1 && !word.is_empty() {
            found.push(path);
        }
        stems.pop_if(|_| piece.ends_with('}'));
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn largest(files: &[(&str, &str)]) -> [String; 2] {
        let source = |(path, code): &(&str, &str)| Source::new(&format!("lab/x/src/{path}"), code);
        let modules = Modules::new(&files.iter().map(source).collect::<Vec<_>>());
        [false, true].map(|with_parents| modules.largest(with_parents).join(" "))
    }

    #[test]
    fn circles_are_found_with_and_without_parents() {
        let root = ("lib.rs", "mod a;\nmod b;\nmod c;\npub(crate) use a::A;\n");
        for (files, without, with) in [
            (vec![("a.rs", "use crate::b::B;\n"), ("b.rs", "use std::fmt;\n")], "", ""),
            (
                vec![("a.rs", "use crate::b::B;\n"), ("b.rs", "fn f() -> super::a::A {")],
                "a b",
                "a b",
            ),
            (
                vec![
                    ("a.rs", "use crate::{\n  c::{self, C},\n  b::B as A,\n};\n"),
                    ("c.rs", "c::d()"),
                    ("b.rs", "pub use super::a;\n"),
                ],
                "a b",
                "a b",
            ),
            // The root re-exports `A`, so that a module that uses `A` from the root depends only on `a`.
            (vec![("a.rs", "use crate::b::B;\n"), ("b.rs", "use crate::A;\n")], "a b", "a b"),
            (
                vec![("a.rs", "mod d;\nuse d::D;\n"), ("a/d.rs", "use super::Shared;\n")],
                "",
                "a a::d",
            ),
            (
                vec![
                    ("a.rs", "mod d;\nfn f() { d::g() }"),
                    ("a/d.rs", "use crate::c::C;\n"),
                    ("c.rs", "use crate::a::Own;\n"),
                ],
                "a a::d c",
                "a a::d c",
            ),
            (
                vec![
                    ("a.rs", "mod d;\n"),
                    ("a/mod.rs", ""),
                    ("a/d.rs", "use self::super::super::a;\n"),
                ],
                "",
                "",
            ),
        ] {
            let files: Vec<_> = [root].into_iter().chain(files).collect();
            assert_eq!(largest(&files), [without, with], "{files:?}");
        }
    }

    #[test]
    fn paths_are_the_leaves_of_their_trees() {
        let code = "use a::b;\npub use c::{\n  self, d::{E as F, G},\n *};\nlet x = y(f::g::<H>(), self::i { j });\npub(in crate::k) l\n";
        let found: Vec<_> = paths(code).iter().map(|path| path.join("::")).collect();
        assert_eq!(found, ["a::b", "c::d::E_F", "c::d::G", "f::g", "self::i"]);
    }
}
