//! Congestion controllers in files, as a scenario names them: tables, and programs over a pipe.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rustix::process::{Pid, Signal, kill_process, test_kill_process};
use serde_json::Value;

mod folder;

use folder::Folder;

/// Returns a scenario of a flow over 12 Mbit/s.
fn scenario(systems: &str, more: &str) -> String {
    format!(
        "title = \"t\"\nabout = \"a\"\nmeasure = \"flow\"\nplot = \"use-by-time\"\nsystems = [{systems}]\n{more}\n\
         [[link]]\nname = \"l\"\npath = \"rtt=40ms,rate=12Mbit,queue=500p\"\nseconds = 10\n"
    )
}

fn figures(folder: &Folder, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
    command.arg("figures").args(args).current_dir(&folder.0).output().expect("rove-lab runs")
}

/// Links a file of the repository beside the scenarios.
fn link(folder: &Folder, file: &str, name: &str) {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    std::os::unix::fs::symlink(file, folder.0.join(name)).expect("a link");
}

fn parsed(output: &Output) -> Value {
    let said = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{said}"))
}

fn series(json: &Value) -> &[Value] {
    json["figures"][0]["series"].as_array().expect("series")
}

fn median_ms(series: &Value) -> f64 {
    series["quantiles_ms"]["p50"].as_f64().unwrap_or_else(|| panic!("{series:#}"))
}

fn has_python() -> bool {
    let is_there = Command::new("python3").arg("--version").output().is_ok();
    if !is_there {
        println!("skipped: there is no python3");
    }
    is_there
}

#[test]
fn a_table_in_a_file_is_the_table_that_the_laboratory_brings() {
    let folder = Folder::new("controller-table");
    link(&folder, "remy/remy-two-senders.toml", "tr.toml");
    let text =
        scenario("\"tr.toml\", \"remy-two-senders\", \"mine.dna\"", "drawn = [\"mine.dna\"]");
    fs::create_dir(folder.0.join("sub")).expect("a folder");
    link(&folder, "remy/remy-two-senders.toml", "sub/tr.toml");
    let mut convert = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
    convert.args(["remy", "convert", "tr.toml", "--out", "sub/mine.dna"]).current_dir(&folder.0);
    assert!(convert.status().expect("rove-lab runs").success());
    fs::write(folder.0.join("sub/flow.toml"), text).expect("a file");
    let output = figures(&folder, &["sub/flow.toml", "--json"]);
    let json = parsed(&output);
    let [file, own, dna] = series(&json) else { panic!("{json:#}") };
    assert_eq!([&file["system"], &dna["system"]], ["tr.toml", "mine.dna"]);
    assert_eq!(file["figures"], own["figures"], "{json:#}");
    assert!(file["figures"]["use (%)"]["mean"].as_f64() > Some(10.0), "{json:#}");
}

#[test]
fn the_example_of_the_documentation_fills_a_link_and_keeps_its_queue_short() {
    if !has_python() {
        return;
    }
    let folder = Folder::new("controller-example");
    link(&folder, "examples/controller.py", "mine.py");
    fs::write(folder.0.join("flow.toml"), scenario("\"mine.py\", \"mine.py 3\", \"cubic\"", ""))
        .expect("a file");
    let output = figures(&folder, &["flow.toml", "--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let json = parsed(&output);
    let [mine, patient, cubic] = series(&json) else { panic!("{json:#}") };
    assert!(mine["figures"]["use (%)"]["mean"].as_f64() > Some(80.0), "{json:#}");
    assert!(
        median_ms(mine) < median_ms(patient) && median_ms(patient) < median_ms(cubic),
        "{json:#}"
    );
    // Nothing is kept for the other runs: shards of another folder make the same bytes.
    for part in ["1/2", "2/2"] {
        assert!(
            figures(&folder, &["flow.toml", "--out", "parts", "--shard", part]).status.success()
        );
    }
    let parts = figures(&folder, &["flow.toml", "--out", "parts", "--json"]);
    assert_eq!(parts.stdout, output.stdout);
}

#[test]
fn a_copy_beside_keys_follows_the_controller_of_a_file() {
    if !has_python() {
        return;
    }
    let folder = Folder::new("controller-beside");
    link(&folder, "examples/controller.py", "mine.py");
    link(&folder, "remy/remy-bulk.toml", "tr.toml");
    // The example keeps its queue short, and a download by CUBIC takes the link from it.
    for (measure, least) in [("beside", 500.0), ("beside-download", 100.0)] {
        let text = scenario("\"mine.py\", \"tr.toml\", \"remy-bulk\"", "")
            .replace("\"flow\"", &format!("\"{measure}\""))
            .replace("use-by-time", "distribution");
        fs::write(folder.0.join("beside.toml"), text).expect("a file");
        let json = parsed(&figures(&folder, &["beside.toml", "--json"]));
        let [mine, table, own] = series(&json) else { panic!("{json:#}") };
        assert_eq!(mine["fault"], Value::Null, "{json:#}");
        assert!(mine["figures"]["kbit/s"]["mean"].as_f64() > Some(least), "{json:#}");
        assert!(mine["samples"].as_u64() > Some(10), "{json:#}");
        assert_eq!(table["figures"], own["figures"], "{json:#}");
    }
    let tunnel = scenario("\"mine.py\"", "").replace("\"flow\"", "\"tunnel\"");
    fs::write(folder.0.join("tunnel.toml"), tunnel).expect("a file");
    let said = figures(&folder, &["tunnel.toml"]);
    let said = String::from_utf8_lossy(&said.stderr);
    assert!(said.contains("measure = \"tunnel\" has no system mine.py of its own"), "{said}");
}

#[test]
fn a_program_that_fails_is_named_in_its_row_and_asked_again_the_next_time() {
    let folder = Folder::new("controller-fault");
    link(&folder, "tests/controllers/window.sh", "window.sh");
    fs::write(folder.0.join("flow.toml"), scenario("\"window.sh 20 7\", \"window.sh\"", ""))
        .expect("a file");
    let run = || {
        let output = figures(&folder, &["flow.toml"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("text")
    };
    let text = run();
    let row = text.lines().find(|line| line.starts_with("window.sh 20 7, l")).expect("a row");
    assert!(row.ends_with("it ended after 7 answers (exit status: 5)"), "{text}");
    let row = text.lines().find(|line| line.starts_with("window.sh, l")).expect("a row");
    assert!(!row.contains("it "), "{text}");
    let kept =
        || fs::read_to_string(folder.0.join("figures/runs.jsonl")).expect("runs").lines().count();
    assert_eq!((kept(), run(), kept()), (1, text, 1));
    // Runs without samples are all equal, but that does not mean that nothing is left to chance.
    fs::write(folder.0.join("flow.toml"), scenario("\"window.sh 20 7\"", "seeds = 2"))
        .expect("a file");
    assert!(run().contains("it ended after 7 answers (exit status: 5)"));
    let page = fs::read_to_string(folder.0.join("figures/figures.html")).expect("a page");
    assert!(page.contains("<td>it ended after 7 answers (exit status: 5)</td>"));
    fs::write(folder.0.join("flow.toml"), scenario("\"flow.sh\"", "")).expect("a file");
    fs::write(folder.0.join("flow.sh"), "").expect("a file");
    let said = String::from_utf8(figures(&folder, &["flow.toml"]).stderr).expect("text");
    assert!(
        said.contains("flow.toml:5: ./flow.sh is no program that may be run: chmod +x"),
        "{said}"
    );
}

#[test]
fn senders_that_share_a_path_may_be_programs_and_a_value_their_argument() {
    let folder = Folder::new("controller-shared");
    link(&folder, "tests/controllers/window.sh", "window.sh");
    let text = scenario("\"window.sh\"", "[traffic]\nsenders = 2\nmean-flow-bytes = 1_000_000\nmean-pause = \"1s\"\nlength = \"20s\"")
        .replace("\"flow\"", "\"shared\"").replace("\"use-by-time\"", "\"ellipses\"").replace("seconds = 10\n", "").replace("rate=12Mbit,queue", "down.rate=12Mbit,down.queue");
    fs::write(folder.0.join("shared.toml"), text).expect("a file");
    let output = figures(&folder, &["shared.toml", "--json"]);
    let json = parsed(&output);
    assert_eq!(series(&json)[0]["samples"], 2, "{json:#}");
    let text = scenario("\"window.sh 20\"", "value = \"answers\"\nvalues = [3, 1000000]")
        .replace("\"flow\"", "\"flow-setting\"");
    fs::write(folder.0.join("value.toml"), text).expect("a file");
    let output = figures(&folder, &["value.toml", "--json"]);
    let json = parsed(&output);
    let [three, many] = series(&json) else { panic!("{json:#}") };
    assert!(three["fault"].as_str().is_some_and(|it| it.contains("after 3 answers")), "{json:#}");
    assert!(many["fault"].is_null(), "{json:#}");
    // A value that belongs to the link is not passed to the program.
    let of_link = scenario("\"window.sh 20\"", "value = \"rtt (ms)\"\nvalues = [3]")
        .replace("rtt=40ms", "rtt={value}ms");
    fs::write(folder.0.join("link.toml"), of_link).expect("a file");
    let json = parsed(&figures(&folder, &["link.toml", "--json"]));
    assert!(series(&json)[0]["fault"].is_null(), "{json:#}");
}

#[test]
fn a_user_who_interrupts_hears_how_to_go_on() {
    let folder = Folder::new("controller-interrupt");
    // A program that never answers keeps the figure unfinished until the interrupt.
    fs::write(folder.0.join("flow.toml"), scenario("\"/usr/bin/wc\", \"aimd\"", ""))
        .expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
    command.args(["figures", "flow.toml"]).current_dir(&folder.0);
    let child =
        command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().expect("rove-lab runs");
    let runs = folder.0.join("figures/runs.jsonl");
    while fs::read_to_string(&runs).is_ok_and(|text| text.is_empty()) || !runs.exists() {
        std::thread::yield_now();
    }
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number")).expect("a process");
    kill_process(pid, Signal::INT).expect("it runs");
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(130));
    let said = String::from_utf8(output.stderr).expect("text");
    assert!(said.contains("the same command goes on with the runs that have not ended"), "{said}");
}

#[test]
fn an_interrupt_ends_the_programs_that_hang() {
    let folder = Folder::new("controller-ends");
    let text = scenario("\"hang.sh\"", "");
    fs::write(folder.0.join("flow.toml"), text).expect("a file");
    let script = folder.0.join("hang.sh");
    fs::write(&script, "#!/bin/sh\necho $$ >> pids\nexec sleep 1000\n").expect("a file");
    fs::set_permissions(&script, fs::Permissions::from_mode(0o755)).expect("a program");
    for (number, more) in [&[][..], &["--shard", "1/1"]].into_iter().enumerate() {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
        command.args(["figures", "flow.toml"]).args(more).current_dir(&folder.0);
        let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn();
        let mut child = child.expect("rove-lab runs");
        let program = || -> Option<i32> {
            let text = fs::read_to_string(folder.0.join("pids")).ok()?;
            text.split_inclusive('\n').nth(number)?.strip_suffix('\n')?.parse().ok()
        };
        let program = loop {
            if let Some(program) = program() {
                break program;
            }
            std::thread::yield_now();
        };
        let pid = Pid::from_raw(i32::try_from(child.id()).expect("a number")).expect("a process");
        kill_process(pid, Signal::TERM).expect("it runs");
        assert!(!child.wait().expect("it ends").success());
        let program = Pid::from_raw(program).expect("a process");
        let is_there = test_kill_process(program).is_ok();
        if is_there {
            let _ = kill_process(program, Signal::KILL);
        }
        assert!(!is_there, "{more:?}: the program goes on");
    }
}

#[test]
fn the_example_of_a_figure_draws_a_bar_for_each_system() {
    if !has_python() {
        return;
    }
    let folder = Folder::new("controller-figure");
    let systems = scenario("\"aimd\", \"sprout-one-way\"", "seeds = 3")
        .replace("queue=500p", "queue=500p,loss=0.1%");
    fs::write(folder.0.join("flow.toml"), systems).expect("a file");
    assert!(figures(&folder, &["flow.toml"]).status.success());
    let draw = |metric: &str| {
        let mut command = Command::new("python3");
        command.arg(Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/figure.py"));
        command
            .args(["figures/figures.csv", metric])
            .current_dir(&folder.0)
            .output()
            .expect("it runs")
    };
    let svg = String::from_utf8(draw("kbit/s").stdout).expect("text");
    assert!(svg.contains(">AIMD, l<") && svg.contains(">Sprout, one way, l<"), "{svg}");
    fs::copy(folder.0.join("flow.toml"), folder.0.join("again.toml")).expect("a file");
    assert!(figures(&folder, &["again.toml"]).status.success());
    let both = String::from_utf8(draw("kbit/s").stdout).expect("text");
    assert!(both.contains(">flow, AIMD, l<") && both.contains(">again, AIMD, l<"), "{both}");
    assert_eq!(svg.matches("<rect").count(), 2, "{svg}");
    let said = String::from_utf8(draw("speed").stderr).expect("text");
    assert!(said.contains("has no metric 'speed'"), "{said}");
}

#[test]
fn the_same_program_runs_in_real_time_over_an_emulated_link() {
    if !has_python() || !rustix::process::geteuid().is_root() {
        println!("skipped: only root is sure to have network namespaces");
        return;
    }
    let folder = Folder::new("controller-real");
    link(&folder, "examples/controller.py", "mine.py");
    let is_used = [4, 8, 16, 32].into_iter().any(|seconds| {
        let text = scenario("\"mine.py\"", "clock = \"real\"")
            .replace("seconds = 10", &format!("seconds = {seconds}"))
            .replace("12M", "3M");
        fs::write(folder.0.join("flow.toml"), text).expect("a file");
        let output = figures(&folder, &["flow.toml", "--json"]);
        let json = parsed(&output);
        let [mine] = series(&json) else { panic!("{json:#}") };
        // A busy computer may be too slow for a program, whose row then says so.
        if !mine["fault"].is_null() {
            return true;
        }
        assert!(median_ms(mine) >= 20.0, "no packet is there before the link's delay: {json:#}");
        mine["figures"]["use (%)"]["mean"].as_f64() > Some(10.0)
    });
    assert!(is_used, "the program has not used a tenth of the link in half a minute");
}
