//! `cargo xtask results [NAME...]`: the tables of docs/results, each made by the commands that its file names.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::available_parallelism;

use anyhow::{Context, Result, ensure};

/// The directory of recordings, as a command line has it: a `$` and the variable's name.
const TRACES: &str = "$ROVE_TRACES";

/// The variable that names the directory of recordings.
const TRACES_VARIABLE: &str = TRACES.split_at("$".len()).1;

/// The folder of the tables.
const FOLDER: &str = concat!("docs", "/results");

/// A table: its name, a command line, and endings of the line. The command runs once for each ending.
type Table = (&'static str, &'static str, &'static [&'static str]);

/// All tables, each of which takes less than six minutes on two cores, without compiling.
#[rustfmt::skip]
const TABLES: [Table; 29] = [
    ("onset", "rove-lab figures onset --full --out target/figures", &[""]),
    ("start", "rove-lab figures start --full --out target/figures", &[""]),
    ("end", "cargo xtask bench end", &[""]),
    ("return", "cargo xtask bench return roaming", &[""]),
    ("programs", "rove-lab figures programs-500ms programs-interrupt --out target/figures", &[""]),
    ("idle", "cargo xtask bench idle-hour", &[""]),
    ("steady-output", "rove-lab figures aoi-small --out target/figures", &[""]),
    ("keys", "rove-lab replay --traces lab/rove-lab/traces bash-long fish --engine none --seeds 5 \
        --link rtt=20ms --link rtt=20ms,loss=5% --link rtt=20ms,loss=29% --link rtt=100ms --link rtt=100ms,loss=1% \
        --link rtt=100ms,loss=5% --link rtt=100ms,loss=29% --link rtt=500ms --link rtt=500ms,loss=5% \
        --link rtt=500ms,loss=29%",
        &["--pace closed --ends stock", "--pace closed --ends rove", "--pace open --ends stock", "--pace open --ends rove"]),
    ("mechanisms", "rove-lab replay --traces lab/rove-lab/traces bash-long fish --engine none --seeds 5 --pace open \
        --link rtt=0ms --link rtt=20ms,loss=5% --link rtt=100ms --link rtt=100ms,loss=29% --link rtt=500ms --ends rove",
        &["", "--sender-without repetition", "--sender-without second-ack", "--sender-without late-ack",
          "--sender-without news", "--sender-without collection"]),
    ("far-path", "rove-lab replay --traces lab/rove-lab/traces fish --engine none --seeds 5 --pace look \
        --link rtt=2s --link rtt=5s --link rtt=5s,loss=10%",
        &["--ends stock", "--ends rove", "--ends rove --sender-without far-path"]),
    ("held-key", "rove-lab replay --traces lab/rove-lab/traces pager --engine none --pace open --link rtt=200ms",
        &["--ends stock", "--ends rove", "--ends rove --sender-without news"]),
    ("predictions", "rove-lab replay --traces lab/rove-lab/traces --pace look --link rtt=500ms,jitter=30ms",
        &["--engine stock", "--engine replay"]),
    ("slow-host", "rove-lab replay --traces lab/rove-lab/traces bash-history bash-long bash-prompt fish zsh-long --seeds 3 \
        --host-delay 600ms --link rtt=100ms,jitter=10ms --link rtt=500ms,jitter=30ms",
        &["", "--without latency", "--without late-echoes", "--without lateness"]),
    ("people", "rove-lab replay --traces $ROVE_TRACES/keys agd-short agd-trace-01 agd-zippy bash-readline python-repl \
        tmux-irssi-links vim-edit --seeds 3 --link rtt=500ms,jitter=30ms", &["", "--prompt-memory"]),
    ("sessions", "rove-lab replay --traces lab/rove-lab/sessions --seeds 3 --link rtt=500ms,jitter=30ms",
        &["", "--prompt-memory", "--first 110", "--first 110 --without statements"]),
    ("agents", "rove-lab replay --traces lab/rove-lab/traces agent-filter agent-ink agent-ratatui agent-stream --seeds 40 \
        --link rtt=100ms,loss=5% --link rtt=300ms,loss=5%",
        &["--engine none", "--engine stock", "--engine replay"]),
    ("sprout", "rove-lab figures sprout-links sprout-constant sprout-loss --out target/figures", &[""]),
    ("streams", "rove-lab figures streams --full --out target/figures", &[""]),
    ("remy", "rove-lab figures remy-dumbbell remy-heavy-tail remy-lte-4 --out target/figures", &[""]),
    ("addresses", "cargo test --quiet --package rove-ssp --test pair a_moment_for_the_first -- --nocapture", &[""]),
    ("continuity", "env ROVE_RESUME_RUNS=1000 cargo test --quiet --package",
        &["rove-ssp --test pair the_times_of_a_start -- --nocapture",
          "rove-ssp --test pair every_session_recovers -- --nocapture",
          "rove-session --test resume a_client_ -- --nocapture",
          "rove-session --test sharing ten_viewers -- --nocapture",
          "rove-session --test succession modes_are_set -- --nocapture",
          "rove-session --test record_cost -- --nocapture"]),
    ("stream-paths", "env ROVE_NETWORK_CHANGES=1000 cargo test --quiet --package",
        &["rove-headless --test changes keys_and_copies -- --nocapture",
          "rove-headless --test copies a_copy_goes_on_within -- --nocapture",
          "rove-headless --test neighbours a_copy_and_keys -- --nocapture",
          "rove-headless --test neighbours keys_are_answered -- --nocapture --test-threads 1"]),
    ("bench-attach", "cargo xtask bench attach --rounds 20", &[""]),
    ("bench-beside", "cargo xtask bench beside --traces $ROVE_TRACES --rounds 5", &[""]),
    ("bench-copy", "cargo xtask bench copy --rounds 3", &[""]),
    ("bench-onset", "cargo xtask bench onset", &[""]),
    ("bench-prediction", "cargo xtask bench prediction", &[""]),
    ("bench-record", "cargo xtask bench record", &[""]),
    ("sizes", "cargo xtask dist --sizes", &[""]),
];

/// Makes the tables with these names, or all tables.
///
/// # Errors
///
/// Returns an error when there is no such table, its recordings are not there, a command fails, or a file cannot be written.
pub(crate) fn write(root: &Path, names: &[String]) -> Result<()> {
    for name in names {
        ensure!(TABLES.iter().any(|(it, ..)| it == name), "there is no table {name}");
    }
    let is_wanted = |(name, ..): &&Table| names.is_empty() || names.iter().any(|it| it == name);
    let wanted: Vec<&Table> = TABLES.iter().filter(is_wanted).collect();
    require_traces(&wanted, &std::env::var(TRACES_VARIABLE).unwrap_or_default())?;
    for table in wanted {
        let file = format!("{FOLDER}/{}.md", table.0);
        if table.1.starts_with("rove-lab figures ") {
            run(root, &format!("{} --markdown {file}", table.1))?;
            continue;
        }
        let mut page = format!("# {}\n\n{}\n", table.0, head(root)?);
        for line in lines(table) {
            page += &format!("\n```\n$ {line}\n{}\n```\n", run(root, &line)?.trim_end());
        }
        fs::write(root.join(file), page).context("cannot write a table")?;
    }
    Ok(())
}

/// Fails if a table needs recordings without a directory. A full run would find this out only after an hour.
fn require_traces(tables: &[&Table], traces: &str) -> Result<()> {
    let lacks = |(_, command, _): &&&Table| traces.is_empty() && command.contains(TRACES);
    let names = tables.iter().filter(lacks).map(|it| it.0).collect::<Vec<_>>().join(", ");
    ensure!(names.is_empty(), "name the directory of recordings in {TRACES_VARIABLE} for: {names}");
    Ok(())
}

/// Returns the command lines of a table.
fn lines((_, command, ends): &Table) -> impl Iterator<Item = String> {
    ends.iter().map(move |end| format!("{command} {end}").trim_end().to_owned())
}

/// Returns a line that names the commit and the computer of a table.
fn head(root: &Path) -> Result<String> {
    let commit = run(root, "git log -1 --format=%h --abbrev=12 -- crates lab Cargo.lock")?;
    let changes = run(root, "git status --porcelain -- crates lab xtask Cargo.toml Cargo.lock")?;
    let changed = if changes.is_empty() { "" } else { " with changes" };
    let cpu = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let model = model.map_or(std::env::consts::ARCH, |(_, model)| model);
    let (cores, kernel) = (available_parallelism()?, run(root, "uname -sr")?);
    let kernel = kernel.trim().split('-').next().unwrap_or_default();
    Ok(format!("Commit {}{changed}; {model}, {cores} cores, {kernel}.", commit.trim()))
}

/// Runs a command line, and returns its output. `rove-lab` is the release build, `$ROVE_TRACES` the variable's value.
fn run(root: &Path, line: &str) -> Result<String> {
    eprintln!("xtask: {line}");
    let words = words(line, &std::env::var(TRACES_VARIABLE).unwrap_or_default());
    let (program, args) = words.split_first().context("a command line is empty")?;
    let mut command = Command::new(program);
    command.args(args).current_dir(root).stderr(Stdio::inherit());
    let output = command.output().with_context(|| format!("{program} did not start"))?;
    ensure!(output.status.success(), "{line}: {}", output.status);
    String::from_utf8(output.stdout).context("a table is not text")
}

/// Returns the words of a command line. The directory of recordings is a single word, even with blanks in its name.
fn words(line: &str, traces: &str) -> Vec<String> {
    let line = line.replace("rove-lab ", "cargo run --quiet --locked --release -p rove-lab -- ");
    line.split_whitespace().map(|word| word.replace(TRACES, traces)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_directory_of_recordings_is_one_word_and_is_asked_for_first() {
        let words = words("rove-lab replay --traces $ROVE_TRACES/keys", "/my traces");
        assert_eq!(words[words.len() - 3..], ["replay", "--traces", "/my traces/keys"]);
        let all: Vec<&Table> = TABLES.iter().collect();
        assert!(require_traces(&all, "/my traces").is_ok());
        let error = require_traces(&all, "").expect_err("people need it").to_string();
        assert_eq!(
            error,
            "name the directory of recordings in ROVE_TRACES for: people, bench-beside"
        );
        let others = all.into_iter().filter(|it| !error.contains(it.0)).collect::<Vec<_>>();
        assert!(require_traces(&others, "").is_ok());
    }

    #[test]
    fn each_file_holds_the_command_lines_of_its_table() {
        let folder = crate::workspace::root().join(FOLDER);
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), TABLES.len() + 1);
        for table in TABLES {
            let file = folder.join(table.0).with_extension("md");
            let text = fs::read_to_string(file).unwrap_or_default();
            let ran = text.lines().filter_map(|line| line.strip_prefix("$ "));
            assert!(ran.eq(lines(&table)), "{}: run `cargo xtask results {0}`", table.0);
        }
    }

    /// Returns the numbers in a text, and how many decimals each has.
    fn numbers(text: &str) -> Vec<(f64, usize)> {
        let words = text.split(|c: char| !c.is_ascii_digit() && c != '.');
        let decimals = |word: &str| word.split_once('.').map_or(0, |(_, decimals)| decimals.len());
        words.filter_map(|word| Some((word.parse().ok()?, decimals(word)))).collect()
    }

    #[test]
    fn each_number_in_the_readmes_table_stands_in_the_page_that_its_row_names() {
        let root = crate::workspace::root();
        let readme = fs::read_to_string(root.join("README.md")).expect("there is a README");
        let rows = readme.lines().filter(|line| line.starts_with("| ") && !line.starts_with("| |"));
        let rows: Vec<Vec<&str>> = rows.map(|line| line.split('|').collect()).collect();
        assert_eq!(rows.len(), 8);
        for row in rows {
            let page = row[5].split(['(', ')']).find(|word| word.starts_with(FOLDER));
            let page = page.unwrap_or_else(|| panic!("{}: no page", row[1]));
            let text = fs::read_to_string(root.join(page)).expect("the page");
            let table = TABLES.iter().find(|table| page.ends_with(&format!("/{}.md", table.0)));
            let (_, command, _) = table.unwrap_or_else(|| panic!("{page} has no command"));
            let named = row[5].split('`').nth(1).unwrap_or_default();
            assert!(named.split(' ').all(|word| command.contains(word)), "{named}: {command}");
            for (number, decimals) in numbers(&row[2..5].concat()) {
                let is_it = |(found, _): &(f64, usize)| {
                    format!("{found:.decimals$}") == format!("{number:.decimals$}")
                };
                assert!(numbers(&text).iter().any(is_it), "{page} has no {number}");
            }
        }
    }

    #[test]
    fn a_command_that_fails_makes_no_table() {
        assert!(run(Path::new("."), "false").is_err());
        assert!(write(Path::new("."), &["nothing".to_owned()]).is_err());
    }
}
