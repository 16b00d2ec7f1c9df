//! `rove-lab figures` as its users call it.

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};

mod folder;

use folder::Folder;
use rove_rig::guard::within_guard;
use rustix::process::{Pid, Signal, kill_process};

const SCENARIO: &str = include_str!("scenarios/small.toml");

impl Folder {
    fn figures(&self, args: &[&str]) -> Output {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
        command.arg("figures").args(args).current_dir(&self.0).env_remove("ROVE_TRACES");
        command.output().expect("rove-lab runs")
    }

    fn read(&self, file: impl AsRef<Path>) -> String {
        fs::read_to_string(self.0.join(file)).expect("it was made")
    }

    /// Asserts that runs in real time were kept, but for those that a busy computer made invalid.
    fn assert_valid_runs_are_kept(&self, json: &serde_json::Value, scenario: &str, first: &[u8]) {
        let all = json["figures"][0]["series"].as_array().expect("series");
        let is_valid = |series: &&serde_json::Value| series["invalid"] == serde_json::json!([]);
        let is_there = |series: &&serde_json::Value| series["quantiles_ms"]["p50"].is_f64();
        let measured = all.iter().filter(is_there).count();
        let valid = all.iter().filter(is_there).filter(is_valid).count();
        assert_eq!(self.read("figures/runs.jsonl").lines().count(), valid, "{json:#}");
        if valid == measured {
            // Real times differ from run to run, so that equal times show that the first were kept.
            assert_eq!(self.figures(&[scenario, "--json"]).stdout, first);
        }
    }
}

/// Returns the folder of a test with the scenario in it.
fn folder_of(name: &str) -> Folder {
    let folder = Folder::new(&format!("figures-{name}"));
    fs::write(folder.0.join("small.toml"), SCENARIO).expect("a file");
    folder
}

#[test]
fn a_page_of_results_names_commit_machine_seed_profile_and_command_before_the_tables() {
    let folder = folder_of("markdown");
    let args = ["small.toml", "--seed", "7", "--out", "my figures"];
    let plain = folder.figures(&args);
    let args = [&args[..], &["--markdown", "page.md"]].concat();
    let output = folder.figures(&args);
    assert!(output.status.success(), "{}", stderr(&output));
    let page = folder.read("page.md");
    let (head, rest) = page.split_once("\n\n```\n").expect("a head and a block");
    let head: Vec<&str> = head.lines().collect();
    assert_eq!((head[0], head.len()), ("# page", 3), "{page}");
    let words = ["rove-lab ", " processors, ", "quick profile, seed 7."];
    assert!(words.iter().all(|word| head[2].contains(word)), "{page}");
    let command = "$ rove-lab figures small.toml --seed 7 --out 'my figures'\n";
    let tables = rest.strip_prefix(command).expect("the command without the page's own option");
    let text = String::from_utf8_lossy(&plain.stdout);
    assert!(text.starts_with(tables.strip_suffix("```\n").expect("the block ends").trim_end()));
    let said = stderr(&folder.figures(&["small.toml", "--markdown", "no/such/page.md"]));
    assert!(said.contains("cannot write no/such/page.md"), "{said}");
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_scenario_of_ones_own_becomes_a_table_a_picture_and_a_page() {
    let folder = folder_of("own");
    let output = folder.figures(&["small.toml"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.starts_with("small: A small figure\n"), "{text}");
    assert!(text.contains("All of them with pictures: figures/figures.html"), "{text}");
    assert!(folder.read("figures/small.svg").starts_with("<svg "));
    assert!(folder.read("figures/figures.html").contains("A small figure"));
    let json = folder.figures(&["small.toml", "--json"]).stdout;
    assert_eq!(String::from_utf8_lossy(&json), folder.read("figures/figures.json"));
}

#[test]
fn a_link_may_be_a_schedule_of_steps_beside_the_scenario() {
    let folder = folder_of("schedule");
    let steps = include_str!("scenarios/steps.json");
    fs::create_dir_all(folder.0.join("beside")).expect("a directory");
    fs::write(folder.0.join("beside/steps.json"), steps).expect("a file");
    let scenario = SCENARIO.replace("path = \"rtt=40ms,loss=10%\"", "schedule = \"steps.json\"");
    assert_ne!(scenario, SCENARIO);
    fs::write(folder.0.join("beside/small.toml"), &scenario).expect("a file");
    let output = folder.figures(&["beside/small.toml"]);
    assert!(output.status.success(), "{}", stderr(&output));
    fs::write(folder.0.join("beside/steps.json"), steps.replace("0.5", "\"x\"")).expect("a file");
    let output = folder.figures(&["beside/small.toml"]);
    let said = stderr(&output);
    assert!(said.contains("beside/steps.json is no schedule of a link: line 2, column"), "{said}");
    let both = scenario.replace("schedule =", "cellular = \"x\"\nschedule =");
    fs::write(folder.0.join("beside/small.toml"), both).expect("a file");
    let said = stderr(&folder.figures(&["beside/small.toml"]));
    assert!(said.contains("a schedule describes all of it"), "{said}");
    let packets = SCENARIO
        .replace("path = \"rtt=40ms,loss=10%\"", "path = \"rtt=40ms,loss=10%\"\npackets = 3");
    fs::write(folder.0.join("beside/small.toml"), packets).expect("a file");
    let said = stderr(&folder.figures(&["beside/small.toml"]));
    assert!(said.contains("packets are 1 to 100; they and until are of cellular"), "{said}");
}

#[test]
fn ray_makes_the_figures_of_this_computer_or_says_how_to_get_it() {
    let folder = folder_of("ray");
    let output = folder.figures(&["small.toml", "--engine", "ray", "--out", "ray"]);
    if !output.status.success() {
        let said = stderr(&output);
        let is_missing = said.contains("pip install ray") || said.contains("cannot run python3");
        assert!(is_missing, "{said}");
        assert!(said.contains("without --engine ray"));
        println!("skipped: no Ray; get it with: pip install ray");
        return;
    }
    folder.figures(&["small.toml", "--out", "local"]);
    assert_eq!(folder.read("ray/figures.json"), folder.read("local/figures.json"));
    assert_eq!(folder.read("ray/runs.jsonl").lines().count(), 12, "Ray did all of them");
}

const PROGRAMS: &str = "title = \"Programs\"\nabout = \"a\"\nmeasure = \"response\"\nclock = \"real\"\n\
                        plot = \"distribution\"\nsystems = [\"ssh\"]\nrecordings = [\"fish\"]\nkeys = 5\n\
                        [[link]]\nname = \"l\"\npath = \"rtt=30ms\"\n";

#[test]
fn a_figure_of_programs_that_are_missing_says_so_in_its_place() {
    let folder = folder_of("programs");
    fs::write(folder.0.join("programs.toml"), PROGRAMS).expect("a file");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
    command.args(["figures", "programs.toml", "small.toml", "--out", "out"]);
    let output = command.current_dir(&folder.0).env("PATH", "/nowhere").output().expect("it runs");
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8_lossy(&output.stdout);
    // If the right to make namespaces is missing, the reason names that right.
    let reason = text.lines().find_map(|line| line.strip_prefix("NOT MADE: ")).expect("a reason");
    assert!(
        reason.contains("apt install openssh-client") || reason.contains("run as root"),
        "{reason}"
    );
    assert!(text.contains("small: A small figure"), "{text}");
    assert!(folder.read("out/figures.html").contains("This figure was not made here"));
}

#[test]
fn a_figure_of_programs_has_a_time_for_each_key_and_is_kept() {
    let is_there = |file| Path::new(file).is_file();
    let has_ssh = ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"].map(is_there);
    if has_ssh != [true; 3] || !rustix::process::geteuid().is_root() {
        println!("skipped: it needs root, and ssh with its server");
        return;
    }
    let folder = folder_of("really");
    fs::write(folder.0.join("programs.toml"), PROGRAMS).expect("a file");
    let first = folder.figures(&["programs.toml", "--json"]);
    assert!(first.status.success(), "{}", stderr(&first));
    let json: serde_json::Value = serde_json::from_slice(&first.stdout).expect("JSON");
    let series = &json["figures"][0]["series"][0];
    assert_eq!((&series["system"], &series["samples"]), (&"ssh".into(), &5.into()), "{json:#}");
    let least = series["quantiles_ms"]["p1"].as_f64();
    assert!(least >= Some(30.0), "nothing is answered before the round trip: {least:?}");
    folder.assert_valid_runs_are_kept(&json, "programs.toml", &first.stdout);
}

#[test]
fn a_flood_is_interrupted_in_sessions_of_real_programs() {
    let programs = [
        "/usr/sbin/sshd",
        "/usr/bin/ssh",
        "/usr/bin/ssh-keygen",
        "/usr/bin/mosh-client",
        "/bin/bash",
    ];
    let is_there = programs.iter().all(|file| Path::new(file).is_file());
    if !is_there || !rustix::process::geteuid().is_root() {
        println!("skipped: it needs root, ssh with its server, and Mosh");
        return;
    }
    let folder = folder_of("interrupt");
    let scenario = "title = \"Ctrl-C\"\nabout = \"a\"\nmeasure = \"interrupt\"\nclock = \"real\"\n\
                    plot = \"distribution\"\nsystems = [\"ssh\", \"mosh\"]\n\
                    [[link]]\nname = \"l\"\npath = \"rtt=10ms\"\n";
    fs::write(folder.0.join("interrupt.toml"), scenario).expect("a file");
    let output = folder.figures(&["interrupt.toml", "--json"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let series = json["figures"][0]["series"].as_array().expect("series");
    assert_eq!(series.len(), 2, "a series for each system: {json:#}");
    for series in series {
        assert_eq!(series["samples"], 5, "{json:#}");
        let least = series["quantiles_ms"]["p1"].as_f64();
        assert!(least >= Some(10.0), "no prompt comes before the round trip: {least:?}");
    }
}

#[test]
fn ssh_over_another_congestion_control_is_a_system_of_its_own() {
    let is_there = |file| Path::new(file).is_file();
    let has_ssh = ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"].map(is_there);
    if has_ssh != [true; 3] || !rustix::process::geteuid().is_root() {
        println!("skipped: it needs root, and ssh with its server");
        return;
    }
    let folder = folder_of("ssh-control");
    // Every kernel has NewReno.
    let programs = PROGRAMS.replace("\"ssh\"", "\"ssh-reno\"");
    fs::write(folder.0.join("programs.toml"), programs).expect("a file");
    let output = folder.figures(&["programs.toml", "--json"]);
    let json: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let series = &json["figures"][0]["series"][0];
    let measured = (&series["system"], &series["samples"]);
    assert_eq!(measured, (&"ssh over NewReno".into(), &5.into()), "{json:#}");
}

#[test]
fn flows_of_the_kernels_tcp_are_measured_over_a_link_in_real_time_and_kept() {
    if !rustix::process::geteuid().is_root() {
        println!("skipped: only root is sure to have network namespaces");
        return;
    }
    let folder = folder_of("kernel");
    // Every kernel has NewReno; one without BBR has an empty row of it.
    let scenario = "title = \"Kernel\"\nabout = \"a\"\nmeasure = \"flow\"\nclock = \"real\"\nplot = \"use-by-time\"\n\
                    systems = [\"kernel-reno\", \"kernel-bbr\"]\n\
                    [[link]]\nname = \"l\"\npath = \"rtt=40ms,rate=5Mbit\"\nseconds = 3\n";
    fs::write(folder.0.join("kernel.toml"), scenario).expect("a file");
    let first = folder.figures(&["kernel.toml", "--json"]);
    assert!(first.status.success(), "{}", stderr(&first));
    let json: serde_json::Value = serde_json::from_slice(&first.stdout).expect("JSON");
    let reno = &json["figures"][0]["series"][0];
    assert_eq!(reno["system"], "the kernel's NewReno", "{json:#}");
    assert_eq!(reno["samples"], 1, "{json:#}");
    let delay = reno["quantiles_ms"]["p50"].as_f64();
    assert!(delay >= Some(20.0), "no packet is there before the link's delay: {delay:?}");
    folder.assert_valid_runs_are_kept(&json, "kernel.toml", &first.stdout);
}

/// Checks that an empty variable names no directory, so that links are drawn.
#[test]
fn an_empty_variable_names_no_recordings() {
    let folder = Folder::new("figures-empty");
    let scenario = "title = \"Flow\"\nabout = \"a\"\nmeasure = \"flow\"\nplot = \"use-by-time\"\n\
                    systems = [\"fixed-window\"]\n[[link]]\nname = \"l\"\npath = \"rtt=40ms\"\ncellular = \"any\"\nseconds = 5\n";
    fs::write(folder.0.join("flow.toml"), scenario).expect("a file");
    let run = |args: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
        command.args(args).env("ROVE_TRACES", "").env("ROVE_REMY", "");
        command.current_dir(&folder.0).output().expect("rove-lab runs")
    };
    let output = run(&["figures", "flow.toml"]);
    assert!(output.status.success(), "{}", stderr(&output));
    let text = String::from_utf8(output.stdout).expect("text");
    assert!(text.starts_with("flow: Flow (drawn links)\n"), "{text}");
    assert!(run(&["figures", "--list"]).status.success());
}

/// Links of a few opportunities carry nothing that could be measured.
#[test]
fn a_figure_over_a_tiny_trace_has_empty_rows_and_no_number_that_is_none() {
    let folder = Folder::new("figures-tiny");
    let scenario = "title = \"Flow\"\nabout = \"a\"\nmeasure = \"flow\"\nplot = \"use-by-time\"\n\
                    systems = [\"cubic\", \"sprout-published\"]\n[[link]]\nname = \"l\"\npath = \"rtt=40ms\"\ncellular = \"tiny\"\n\
                    [[link]]\nname = \"m\"\npath = \"rtt=40ms\"\ncellular = \"tiny\"\n";
    fs::write(folder.0.join("tiny.toml"), scenario).expect("a file");
    for trace in ["1\n", "7\n", "0\n0\n1\n", "1\n90000\n"] {
        for way in ["up", "down"] {
            fs::write(folder.0.join(format!("tiny.{way}")), trace).expect("a file");
        }
        let output = folder.figures(&["tiny.toml", "--traces", "."]);
        assert!(output.status.success(), "{trace:?}: {}", stderr(&output));
        let text = String::from_utf8(output.stdout).expect("text");
        let all = [text, folder.read("figures/figures.json"), folder.read("figures/tiny.svg")];
        let is_number = |text: &String| !text.contains("NaN") && !text.contains(" inf");
        assert!(all.iter().all(is_number), "{trace:?}: {all:?}");
    }
}

#[test]
fn scenarios_of_the_same_name_are_refused_as_their_figures_would_be_the_same_files() {
    let folder = folder_of("alike");
    let sentence = "two scenarios are named small, and their figures would be the same files";
    fs::create_dir_all(folder.0.join("b")).expect("a folder");
    fs::write(folder.0.join("b/small.toml"), SCENARIO.replace("first", "early")).expect("a file");
    fs::write(folder.0.join("b/aoi-study.toml"), SCENARIO).expect("a file");
    let output = folder.figures(&["small.toml", "b/small.toml"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(stderr(&output).contains(sentence), "{}", stderr(&output));
    let output = folder.figures(&["b/aoi-study.toml", "aoi-study"]);
    assert!(stderr(&output).contains("two scenarios are named aoi-study"), "{}", stderr(&output));
    let output = folder.figures(&["small.toml", "./small.toml"]);
    assert!(output.status.success(), "a file by two names is one: {}", stderr(&output));
}

#[test]
fn a_name_with_a_comma_is_that_of_any_other_file() {
    let folder = Folder::new("figures-comma");
    let flow = "title = \"Flow\"\nabout = \"a\"\nmeasure = \"course\"\nplot = \"course\"\nquantity = \"rate\"\n\
                systems = [\"fixed-window\"]\n[[link]]\nname = \"drawn\"\npath = \"rtt=40ms\"\ncellular = \"any\"\n\
                seconds = 2\n[[link]]\nname = \"steps\"\nschedule = \"steps,1.json\"\nseconds = 2\n";
    fs::create_dir_all(folder.0.join("x,y")).expect("a folder");
    fs::write(folder.0.join("x,y/flow.toml"), flow).expect("a file");
    let steps = include_str!("scenarios/steps.json");
    fs::write(folder.0.join("x,y/steps,1.json"), steps).expect("a file");
    for more in [&["--out", "results,v2"][..], &["--traces", "results,v2"]] {
        // The links that were drawn are recorded ones for the second call.
        let output = folder.figures(&[&["x,y/flow.toml"], more].concat());
        assert!(output.status.success(), "{more:?}: {}", stderr(&output));
        for way in ["up", "down"] {
            let drawn = folder.0.join(format!("results,v2/drawn.{way}"));
            fs::copy(drawn, folder.0.join(format!("results,v2/any.{way}"))).expect("it was drawn");
        }
    }
}

/// The interrupt comes in the second run: the first has ended by then, with all its programs.
#[test]
fn an_interrupt_in_a_later_run_ends_its_programs_and_the_same_command_goes_on() {
    let is_there = |file| Path::new(file).is_file();
    let has_ssh = ["/usr/sbin/sshd", "/usr/bin/ssh", "/usr/bin/ssh-keygen"].map(is_there);
    if has_ssh != [true; 3] || !rustix::process::geteuid().is_root() {
        println!("skipped: it needs root, and ssh with its server");
        return;
    }
    let folder = folder_of("interrupted");
    let programs = PROGRAMS.replace("keys = 5", "keys = 5\nseeds = 20");
    fs::write(folder.0.join("programs.toml"), programs).expect("a file");
    fs::create_dir(folder.0.join("tmp")).expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_rove-lab"));
    command
        .args(["figures", "programs.toml"])
        .current_dir(&folder.0)
        .env("TMPDIR", folder.0.join("tmp"));
    command.stdout(Stdio::null()).stderr(Stdio::piped());
    let child = command.spawn().expect("it runs");
    let pid = Pid::from_child(&child);
    let output = within_guard("the end", move || {
        let log = folder.0.join("figures/figures.log");
        let ran = |folder: &Folder| fs::read_dir(folder.0.join("tmp")).expect("a folder").count();
        // Each run has folders of its own.
        while !fs::read_to_string(&log).is_ok_and(|text| !text.is_empty()) || ran(&folder) == 0 {
            std::thread::yield_now();
        }
        kill_process(pid, Signal::INT).expect("it runs");
        let output = child.wait_with_output().expect("it ends");
        assert_eq!(ran(&folder), 0, "a folder of the run is left");
        output
    });
    let said = stderr(&output);
    assert_eq!(output.status.code(), Some(130), "{said}");
    assert_eq!(said.matches("interrupted").count(), 1, "{said}");
    assert!(said.contains("the same command goes on with the runs that have not ended"), "{said}");
}

#[test]
fn a_wrong_line_is_refused_in_one_sentence() {
    let folder = folder_of("wrong");
    fs::write(folder.0.join("bad.toml"), SCENARIO.replace("40ms", "40 parsecs")).expect("a file");
    fs::write(folder.0.join("own.toml"), SCENARIO.replace("\"rove\"", "\"aimd\"")).expect("a file");
    for (args, code, words) in [
        (&["bad.toml"][..], 1, "bad.toml:12: link:"),
        (&["nothing"], 1, "there is no figure \"nothing\""),
        (&["own.toml"], 1, "measure = \"onset\" has no system AIMD"),
        (&["small.toml", "--shard", "3/2"], 2, "2/8 for the second of eight"),
        (&["small.toml", "--shard", "1/2", "--json"], 2, "do not go together"),
        (&["small.toml", "--out", "small.toml"], 1, "cannot make the directory small.toml"),
    ] {
        let output = folder.figures(args);
        assert_eq!(output.status.code(), Some(code), "{args:?}: {}", stderr(&output));
        assert!(stderr(&output).contains(words), "{args:?}: {}", stderr(&output));
    }
}
