//! Rules that no other tool checks: sizes, names, module docs, the dependency graph, and the crates' maps. It also
//! checks cited documents, promised tests, the tables of limits and of files, `house`, and stray words.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Result, bail};

use crate::workspace::{self, Texts, text};
use crate::{house, limits, reference};

/// Most lines of a source file. A longer file must be split. Tests count only in a file of their own.
const FILE_LINES_MAX: usize = 700;

/// The crates that each crate may depend on, separated by spaces. Chosen: the map in ARCHITECTURE.md. No crate of the
/// product depends on the laboratory, except for the links of `demo`.
const MAY_DEPEND_ON: [(&str, &str); 30] = [
    ("crates/units", ""),
    ("crates/ssp", "units"),
    ("crates/terminal", "units"),
    ("crates/congestion", "units"),
    ("crates/streams", "units congestion"),
    ("crates/predict", "units terminal"),
    ("crates/session", "units ssp terminal predict congestion streams"),
    ("crates/cli-docs", ""),
    ("crates/platform", "units terminal"),
    ("crates/host", "units terminal platform"),
    ("crates/udp", "units ssp"),
    ("crates/relay", "units link platform"),
    ("crates/windows", "units ssp terminal session bootstrap platform udp relay cli-docs"),
    ("crates/control", "units session platform host"),
    ("crates/bootstrap", "units ssp terminal session"),
    (
        "crates/rove",
        "units ssp terminal streams session platform host udp relay windows control bootstrap cli-docs",
    ),
    ("lab/stock-predict", "units terminal predict"),
    ("lab/link", "units"),
    ("lab/headless", "units ssp terminal predict link session streams congestion"),
    ("lab/net", "units link platform host"),
    ("lab/oracle", "terminal"),
    ("lab/rig", "units terminal session net"),
    ("lab/runs", "units terminal host"),
    ("lab/flows", "units ssp link congestion headless platform runs"),
    (
        "lab/replay",
        "units ssp terminal stock-predict link session headless platform host runs flows",
    ),
    ("lab/remy", "units link congestion platform runs"),
    (
        "lab/rove-lab",
        "units ssp terminal stock-predict link congestion session headless net rig platform host cli-docs runs flows replay remy",
    ),
    (
        "lab/trials",
        "units ssp terminal stock-predict link session headless net rig host runs shell",
    ),
    (
        "fuzz",
        "units ssp terminal predict congestion streams session control bootstrap stock-predict link headless oracle shell",
    ),
    // xtask depends on none, so that packaging compiles nothing twice, and the gate starts before any build.
    ("xtask", ""),
];

/// The sections of a manifest that list dependencies.
const DEPENDENCIES: [&str; 3] =
    ["[dependencies]", "[target.'cfg(unix)'.dependencies]", "[target.'cfg(windows)'.dependencies]"];

/// The crates whose `src/sys.rs` may hold `unsafe`. All others forbid it.
const UNSAFE_CRATES: [&str; 4] = ["crates/host", "crates/platform", "crates/rove", "lab/net"];

/// The engine's own file beside `replay.rs`. No other file in `replay/` may import the engine or give it methods.
const ENGINE_FILE: &str = "crates/predict/src/replay/judge.rs";

/// The models of the prediction engine, each with its files. A model must not import another one. The numbers of
/// `ruler` are part of two models.
const MODELS: [(&str, &[&str]); 10] = [
    ("prompts", &["context"]),
    ("ends of modes", &["exit"]),
    ("echo timeouts", &["echo_timeout"]),
    ("history", &["history"]),
    ("late answers", &["late"]),
    ("latency", &["latency"]),
    ("motions", &["navigation", "ruler", "explore"]),
    ("drawn cursors", &["drawn_cursor", "ruler"]),
    ("colours", &["paint"]),
    ("wraps", &["wrap"]),
];

/// The files of the prediction engine that play keys. They import no model.
const SIMULATOR_FILES: [&str; 12] = [
    "simulate",
    "edge",
    "program_text",
    "roaming",
    "suggestion",
    "window_text",
    "bounds",
    "canvas",
    "layout",
    "motion",
    "history_cursor",
    "class",
];

/// Runs every check and lists what it finds.
///
/// # Errors
///
/// Returns an error when there is a finding, or a file cannot be read.
pub(crate) fn run(root: &Path) -> Result<()> {
    let mut findings = Vec::new();
    let texts = workspace::texts(root)?;
    for (path, text) in &texts {
        check_words(path, text, &mut findings);
        check_citations(&texts, path, text, &mut findings);
        if path.ends_with(".rs") {
            check_source(path, text, &mut findings);
            check_engine(path, text, &mut findings);
        }
    }
    check_promises(&texts, &mut findings)?;
    check_code_map(&texts, &mut findings)?;
    check_dependency_graph(&texts, &mut findings);
    check_dependency_reasons(&texts, &mut findings)?;
    limits::check(&texts, &mut findings)?;
    reference::check(&texts, &mut findings)?;
    findings.extend(house::check(&texts)?);
    if findings.is_empty() {
        return Ok(());
    }
    for finding in &findings {
        eprintln!("tidy: {finding}");
    }
    bail!("{} findings", findings.len());
}

/// Finds paths of a developer's computer, notes of unfinished work, and ignored tests, which must not exist.
fn check_words(path: &str, text: &str, findings: &mut Vec<String>) {
    // Spelled in pieces, so that this list does not find itself.
    let banned = [
        concat!("/ro", "ot/"),
        concat!("/wo", "rk/"),
        concat!("TO", "DO"),
        concat!("FIX", "ME"),
        concat!("#[ig", "nore"),
    ];
    if path == "Cargo.lock" {
        return;
    }
    for (number, line) in (1..).zip(text.lines()) {
        for word in banned.iter().filter(|word| line.contains(**word)) {
            findings.push(format!("{path}:{number}: holds {word:?}"));
        }
    }
}

/// Checks that each cited document exists.
fn check_citations(texts: &Texts, path: &str, text: &str, findings: &mut Vec<String>) {
    for (number, line) in (1..).zip(text.lines()) {
        // Spelled in pieces, so that this line cites nothing.
        for (start, _) in line.match_indices(concat!("docs", "/")) {
            let rest = &line[start..];
            let len = rest.find(|c: char| !c.is_alphanumeric() && !"/_-.".contains(c));
            let cited = rest[..len.unwrap_or(rest.len())].trim_end_matches('.');
            if cited.ends_with(".md") && !texts.contains_key(cited) {
                findings.push(format!("{path}:{number}: there is no {cited}"));
            }
        }
    }
}

/// Checks that SECURITY.md names only tests that exist, and names each file with unsafe code.
fn check_promises(texts: &Texts, findings: &mut Vec<String>) -> Result<()> {
    let promises = text(texts, "SECURITY.md")?;
    for test in tests_named(promises) {
        let head = format!("fn {test}(");
        if !texts.iter().any(|(path, text)| path.ends_with(".rs") && text.contains(&head)) {
            findings.push(format!("SECURITY.md: there is no test {test}"));
        }
    }
    let files = UNSAFE_CRATES.map(|folder| format!("{folder}/src/sys.rs"));
    for file in files.iter().filter(|file| !promises.contains(*file)) {
        findings.push(format!("SECURITY.md: does not say that {file} holds unsafe code"));
    }
    Ok(())
}

/// Returns the names of tests in a document: words between backticks that are joined by at least two underscores.
fn tests_named(text: &str) -> impl Iterator<Item = &str> {
    let is_name = |word: &&str| {
        let is_part = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        word.chars().all(is_part) && word.matches('_').count() >= 2
    };
    text.split('`').skip(1).step_by(2).filter(is_name)
}

/// Checks that no part of the prediction engine imports the engine, and no model another model.
fn check_engine(path: &str, text: &str, findings: &mut Vec<String>) {
    if !path.starts_with("crates/predict/src/replay/") || path.contains("tests") {
        return;
    }
    let code = text.split("#[cfg(test)]\nmod tests").next().unwrap_or_default();
    let mut imports = code.lines().filter(|line| line.starts_with("use crate::replay::"));
    let names = |line: &str| line.split(|c: char| !c.is_alphanumeric()).any(|it| it == "Replay");
    if path != ENGINE_FILE && imports.any(names) {
        findings.push(format!("{path}: imports the engine that it is a part of"));
    }
    find_imported_models(path, code, findings);
}

/// Finds imports of models in a file that may import only its own model's files.
fn find_imported_models(path: &str, code: &str, findings: &mut Vec<String>) {
    let stem = path.rsplit('/').next().and_then(|name| name.strip_suffix(".rs"));
    let own = MODELS.iter().find(|(_, files)| stem.is_some_and(|stem| files.contains(&stem)));
    let is_simulator = stem.is_some_and(|stem| SIMULATOR_FILES.contains(&stem));
    if own.is_none() && !is_simulator {
        return;
    }
    for line in code.lines().filter_map(|line| line.strip_prefix("use crate::replay::")) {
        let modules = line.trim_start_matches('{').split([',', ' ', ':', ';', '}']);
        // In a single path, the first part is a module. In a list, each part is a module.
        let count = if line.starts_with('{') { usize::MAX } else { 1 };
        for module in modules.take(count) {
            let other = MODELS.iter().find(|(_, files)| files.contains(&module));
            let is_own = own.is_some_and(|(_, files)| files.contains(&module));
            if let Some((model, _)) = other.filter(|_| !is_own) {
                findings.push(format!("{path}: imports the model of {model}"));
            }
        }
    }
}

/// Checks that ARCHITECTURE.md has a line for each crate, and each crate's root file a map of its modules at its head.
fn check_code_map(texts: &Texts, findings: &mut Vec<String>) -> Result<()> {
    let overview = text(texts, "ARCHITECTURE.md")?;
    for folder in MAY_DEPEND_ON.map(|(folder, _)| folder) {
        if !overview.contains(&format!("- `{folder}` ")) {
            findings.push(format!("ARCHITECTURE.md: has no line for {folder}"));
        }
        let source = format!("{folder}/src/");
        let files = texts.keys().filter(|path| path.starts_with(&source));
        let files: Vec<&str> =
            files.filter_map(|path| Path::new(path).file_stem()?.to_str()).collect();
        let name = if files.contains(&"lib") { "lib.rs" } else { "main.rs" };
        let path = source + name;
        find_map_faults(&path, text(texts, &path)?, &files, findings);
    }
    Ok(())
}

/// Compares the map at the head of a crate's root file with the file's modules, and with the crate's files.
fn find_map_faults(path: &str, text: &str, files: &[&str], findings: &mut Vec<String>) {
    let is_module =
        |word: &&str| !word.is_empty() && word.bytes().all(|c| c.is_ascii_lowercase() || c == b'_');
    let head: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    let head = head.join("\n");
    let named: Vec<&str> = head.split('`').skip(1).step_by(2).filter(is_module).collect();
    for module in text.lines().filter_map(declared_module) {
        if !named.contains(&module) {
            findings.push(format!("{path}: the head does not name {module}"));
        }
    }
    for module in named.into_iter().filter(|module| !files.contains(module)) {
        findings.push(format!("{path}: the head names {module}, and there is no such module"));
    }
}

/// Returns the module that a line declares, if the module has a file of its own.
fn declared_module(line: &str) -> Option<&str> {
    let declaration = line.trim_start_matches("pub(crate) ").trim_start_matches("pub ");
    declaration.strip_prefix("mod ")?.strip_suffix(';')
}

fn check_source(path: &str, text: &str, findings: &mut Vec<String>) {
    let lines = text.lines().count();
    if lines > FILE_LINES_MAX {
        findings.push(format!("{path}: {lines} lines; split it"));
    }
    for (number, line) in (1..).zip(text.lines()) {
        if line.contains(concat!("fn ge", "t_")) {
            findings.push(format!("{path}:{number}: a getter has the thing's name"));
        }
    }
    let is_test = path.split('/').any(|part| part == "tests" || part == "tests.rs");
    if !is_test && !text.starts_with("//!") {
        findings.push(format!("{path}: does not begin with its job (`//!`)"));
    }
    let is_file = |name: &str| path.ends_with(&format!("src/{name}.rs"));
    let is_unsafe_crate = UNSAFE_CRATES.iter().any(|folder| Path::new(path).starts_with(folder));
    if is_file("lib") && !is_unsafe_crate && !text.contains("#![forbid(unsafe_code)]") {
        findings.push(format!("{path}: a core forbids unsafe code"));
    }
    let has_unsafe = text.lines().any(|line| line.trim_start().contains(concat!("unsafe", " {")));
    if has_unsafe && !(is_unsafe_crate && is_file("sys")) && !is_test {
        findings.push(format!("{path}: unsafe code belongs to sys.rs"));
    }
}

fn check_dependency_graph(texts: &Texts, findings: &mut Vec<String>) {
    let allowed: BTreeMap<_, _> = MAY_DEPEND_ON.into_iter().collect();
    for (path, manifest) in texts {
        // The manifest of the workspace lies in no folder.
        let Some(name) = path.strip_suffix("/Cargo.toml") else { continue };
        let Some(allowed) = allowed.get(name) else {
            findings.push(format!("{name}: tidy does not say what it may depend on"));
            continue;
        };
        let sections = DEPENDENCIES.iter().flat_map(|heading| section(manifest, heading));
        for dependency in sections {
            let ours = dependency
                .split(['.', ' ', '='])
                .next()
                .and_then(|package| package.strip_prefix("rove-"));
            if let Some(ours) = ours.filter(|ours| allowed.split(' ').all(|it| it != *ours)) {
                findings.push(format!("{name} must not depend on {ours}"));
            }
        }
    }
}

fn check_dependency_reasons(texts: &Texts, findings: &mut Vec<String>) -> Result<()> {
    for dependency in section(text(texts, "Cargo.toml")?, "[workspace.dependencies]") {
        let name = dependency.split([' ', '=']).next().unwrap_or_default();
        if !name.starts_with("rove-") && !dependency.contains(" # ") {
            findings.push(format!("Cargo.toml: {name} has no reason beside it"));
        }
    }
    Ok(())
}

/// Returns the entries of one section of a manifest.
fn section<'a>(manifest: &'a str, heading: &str) -> impl Iterator<Item = &'a str> {
    manifest
        .lines()
        .skip_while(move |line| *line != heading)
        .skip(1)
        .take_while(|line| !line.starts_with('['))
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(path: &str, text: &str) -> Vec<String> {
        let mut findings = Vec::new();
        check_words(path, text, &mut findings);
        check_citations(&Texts::new(), path, text, &mut findings);
        check_source(path, text, &mut findings);
        findings
    }

    #[test]
    fn a_tidy_file_has_no_findings() {
        assert_eq!(findings("crates/ssp/src/key.rs", "//! Keys.\n"), Vec::<String>::new());
    }

    #[test]
    fn each_habit_is_checked() {
        let long = format!("//! Long.\n{}", "\n".repeat(FILE_LINES_MAX));
        for (path, text, finding) in [
            ("crates/ssp/src/key.rs", "use x;\n", "does not begin"),
            ("crates/ssp/src/lib.rs", "//! A core.\n", "forbids unsafe"),
            ("crates/ssp/src/key.rs", long.as_str(), "701 lines"),
            ("crates/rove/src/tty.rs", concat!("//! A.\nunsafe", " {}\n"), "belongs to"),
            ("crates/ssp/src/key.rs", concat!("//! A.\nfn ge", "t_key() {}\n"), "a getter"),
            ("README.md", concat!("see docs", "/lost.md.\n"), "no docs"),
            ("README.md", concat!("TO", "DO: write it\n"), "holds"),
        ] {
            let all = findings(path, text).join("\n");
            assert!(all.contains(finding), "{path}: {all:?} lacks {finding:?}");
        }
    }

    #[test]
    fn tests_are_told_from_other_names_in_a_document() {
        let text = "`no_nonce_seals_twice`, in `crates/a_b_c.rs` (`MOSH_KEY`, `fd`, `a_pair`)";
        assert_eq!(tests_named(text).collect::<Vec<_>>(), ["no_nonce_seals_twice"]);
    }

    #[test]
    fn the_head_of_a_crate_names_its_modules_and_no_others() {
        let modules = "\nmod key;\n#[cfg(test)]\npub(crate) mod ocb;\npub mod path;\nmod tests {\n";
        let files = ["lib", "key", "ocb", "path", "ring"];
        let head = "//! A crate of [`Key`]s.\n//!\n//! - `ocb`, with a `ring`, below [`key`] and `path`; `x --y` too.\n";
        for (head, faults) in [
            (head.to_owned(), ""),
            (head.replace("`path`", "path"), "lib.rs: the head does not name path"),
            (
                head.replace("`ring`", "`wheel`"),
                "lib.rs: the head names wheel, and there is no such module",
            ),
        ] {
            let mut findings = Vec::new();
            find_map_faults("lib.rs", &format!("{head}{modules}"), &files, &mut findings);
            assert_eq!(findings.join("\n"), faults);
        }
    }

    #[test]
    fn sections_end_at_the_next_heading() {
        let manifest = "[a]\nx = 1\n\n[b]\ny = 2 # why\n# note\nz = 3\n[c]\nw = 4\n";
        assert_eq!(section(manifest, "[b]").collect::<Vec<_>>(), ["y = 2 # why", "z = 3"]);
    }

    #[test]
    fn a_model_that_knows_the_engine_or_another_model_is_a_knot() {
        let engine = "use crate::replay::{Base, Replay};\nimpl Replay {\n";
        let knots = |name: &str, code: &str| {
            let mut findings = Vec::new();
            let path = format!("crates/predict/src/replay/{name}.rs");
            check_engine(&path, code, &mut findings);
            findings.join("\n")
        };
        let imports = "use crate::replay::wrap::Wraps;\n";
        let list = "use crate::replay::{base, paint};\n";
        for (name, code, words) in [
            ("judge", engine, ""),
            ("a", "use crate::replay::Base;\n", ""),
            ("recall", engine, "recall.rs: imports the engine"),
            ("wrap", imports, ""),
            ("judge", imports, ""),
            ("echo_timeout", imports, "echo_timeout.rs: imports the model of wraps"),
            ("simulate/edge", imports, "edge.rs: imports the model of wraps"),
            ("late", list, "late.rs: imports the model of colours"),
            ("ruler", "use crate::replay::navigation::Navigation;\n", ""),
            ("drawn_cursor", "use crate::replay::ruler::Ruler;\n", ""),
            ("drawn_cursor", imports, "drawn_cursor.rs: imports the model of wraps"),
        ] {
            assert!(knots(name, code).contains(words), "{name}");
            assert_eq!(knots(name, code).is_empty(), words.is_empty(), "{name}");
        }
    }
}
