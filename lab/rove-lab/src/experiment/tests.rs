//! Tests that make whole figures of small scenarios.

use std::collections::BTreeSet;

use serde_json::Value;

use super::*;

const SMALL: &str = include_str!("../../tests/scenarios/small.toml");

/// Texts that HTML has to escape, and a band that no run is within.
const HARD: &str = r#"
[[published]]
paper = "a <paper>"
place = "table 1"
reason = "It was <tested>."
results = [{ system = "rove", mean = { to = 0.001 } }, { system = "mosh-rules", value = 1, mean = { from = 1 } }]
"#;

/// A directory of a test's own, with the small scenario in it.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rove-lab-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a directory");
        let hard = SMALL.replace("40 ms", "40 ms <near>").replace("keys.\"", "</script> & keys.\"");
        assert!(hard.contains("</script>") && hard.contains("<near>"));
        fs::write(path.join("small.toml"), hard + HARD).expect("a file");
        Self(path)
    }

    fn with(name: &str, scenario: &str) -> Self {
        let directory = Self::new(name);
        fs::write(directory.0.join("small.toml"), scenario).expect("a file");
        directory
    }

    fn read(&self, file: &str) -> String {
        fs::read_to_string(self.0.join("out").join(file)).expect("it was made")
    }

    fn run(&self, seed: u64) -> String {
        self.run_part(seed, None)
    }

    fn options(&self, seed: u64, shard: Option<Shard>) -> FiguresOptions {
        let names = vec![self.0.join("small.toml").display().to_string()];
        FiguresOptions {
            wish: Wish { names, seed, ..Wish::default() },
            out: self.0.join("out"),
            shard,
            ..FiguresOptions::default()
        }
    }

    fn run_part(&self, seed: u64, shard: Option<Shard>) -> String {
        self.try_run(seed, shard).expect("made")
    }

    fn try_run(&self, seed: u64, shard: Option<Shard>) -> Result<String> {
        let options = self.options(seed, shard);
        let mut output = Vec::new();
        run(&options, &mut output)?;
        Ok(String::from_utf8(output).expect("text"))
    }

    /// Returns the answers of a worker to shards.
    fn run_as_worker(&self, shards: &[&str]) -> Vec<Value> {
        let order = rove_runs::ray::order(&self.options(1, None), shards).expect("lines");
        let mut output = Vec::new();
        spread::work(order.as_bytes(), &mut output).expect("answers");
        let answers = output.split_inclusive(|byte| *byte == b'\n');
        answers.map(|line| serde_json::from_slice(line).expect("an answer")).collect()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[test]
fn the_same_seed_makes_the_same_figures_and_another_one_others() {
    let (one, two) = (Directory::new("same"), Directory::new("again"));
    one.run(1);
    two.run(1);
    for file in ["figures.json", "figures.html", "small.svg"] {
        assert_eq!(one.read(file), two.read(file), "{file}");
    }
    two.run(7);
    assert_ne!(one.read("figures.json"), two.read("figures.json"));
}

#[test]
fn each_figure_has_the_profile_and_the_seed_that_it_was_made_with() {
    let directory = Directory::new("made-with");
    fs::write(directory.0.join("other.toml"), SMALL).expect("a file");
    directory.run(7);
    let mut other = directory.options(1, None);
    other.wish.names = vec![directory.0.join("other.toml").display().to_string()];
    other.wish.is_full = true;
    run(&other, io::sink()).expect("made");
    let json: Value = serde_json::from_str(&directory.read("figures.json")).expect("JSON");
    let figures = json["figures"].as_array().expect("figures");
    let of = |it: &Value| (it["name"].clone(), it["full"].clone(), it["seed"].clone());
    let expected = [("small", false, 7), ("other", true, 1)]
        .map(|(name, full, seed)| (name.into(), full.into(), seed.into()));
    assert_eq!(figures.iter().map(of).collect::<Vec<_>>(), expected);
}

#[test]
fn a_scenario_by_two_names_is_there_once() {
    let names = |names: &[&str]| {
        let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        scenarios(&names).expect("known names").into_iter().map(|it| it.name).collect::<Vec<_>>()
    };
    assert_eq!(names(&["aoi-study", "aoi-study"]), ["aoi-study"]);
    assert_eq!(names(&["aoi", "aoi-study"]), names(&["aoi"]));
}

#[test]
fn workers_do_only_the_parts_that_are_not_kept() {
    let directory = Directory::new("unfinished");
    let options = directory.options(1, None);
    let unfinished = || {
        let store = Store::open(&options.out.join(RUNS)).expect("a file");
        spread::unfinished(&options, &store, 3).expect("known names")
    };
    fs::create_dir_all(&options.out).expect("a directory");
    assert_eq!(unfinished(), ["1/3", "2/3", "3/3"]);
    directory.run_part(1, Some("2/3".parse().expect("a part")));
    assert_eq!(unfinished(), ["1/3", "3/3"]);
    directory.run(1);
    assert!(unfinished().is_empty());
}

/// A path that varies, a baseline, and a picture of two of three systems.
const COMPARED: &str = r#"
title = "Compared"
about = "Three choices."
measure = "study"
plot = "mean-by-value"
systems = ["assumed-reference", "half-reference", "known-reference"]
baseline = "known-reference"
drawn = ["assumed-reference", "known-reference"]
value = "loss (%)"
values = [0, 10]
seeds = 3

[[link]]
name = "far"
path = "rtt=200ms,loss={value}%"
"#;

#[test]
fn systems_are_compared_with_a_baseline_over_a_path_that_varies() {
    let directory = Directory::with("compared", COMPARED);
    let text = directory.run(1);
    assert!(text.contains("ratios are to lambda 1, same link, value and seed"), "{text}");
    let json: Value = serde_json::from_str(&directory.read("figures.json")).expect("JSON");
    let series = json["figures"][0]["series"].as_array().expect("series");
    assert_eq!(series.len(), 6);
    let of = |number: usize| series[number]["of_baseline"]["mean"]["ratio"].as_f64().expect("it");
    assert!((of(0) - 1.0).abs() < 1e-9, "nothing is lost at 0 %");
    assert!(of(1) > of(3) && of(3) > of(5) && (of(5) - 1.0).abs() < 1e-9, "{series:?}");
    assert!(series[1]["figures"]["95 % catch-up"]["mean"].as_f64() > Some(200.0));
    let page = directory.read("figures.html");
    assert!(page.contains("<th>mean: ratio</th>"), "the columns of this figure");
    // A line of each curve, and one beside its name.
    assert_eq!(page.matches("stroke-width=\"2\"").count(), 2 * 2, "half is in the table only");
}

#[test]
fn figures_of_several_calls_are_on_one_page_and_in_one_file_each() {
    let directory = Directory::with("merged", COMPARED);
    directory.run(1);
    let names = |directory: &Directory| {
        let json: Value = serde_json::from_str(&directory.read("figures.json")).expect("JSON");
        let figures = json["figures"].as_array().expect("figures").clone();
        figures
            .into_iter()
            .map(|it| it["name"].as_str().expect("a name").to_owned())
            .collect::<Vec<_>>()
    };
    let lines = |file: &str| directory.read(file).lines().count();
    let once = ["runs.csv", "figures.csv"].map(lines);
    fs::rename(directory.0.join("small.toml"), directory.0.join("other.toml")).expect("renamed");
    let other = directory.0.join("other.toml").display().to_string();
    for _ in 0..2 {
        let mut options = directory.options(1, None);
        options.wish.names = vec![other.clone()];
        run(&options, io::sink()).expect("made");
        assert_eq!(names(&directory), ["small", "other"]);
        assert_eq!(["runs.csv", "figures.csv"].map(lines), once.map(|lines| 2 * lines - 1));
        let page = directory.read("figures.html");
        assert_eq!(page.matches("<section id=").count(), 2);
        assert_eq!(page.matches("<li><a href=").count(), 2);
        assert!(page.contains("quick profile, seed 1, on ") && page.contains(" processors, "));
    }
    let runs = directory.read("runs.csv");
    assert!(runs.contains("\nother,lambda 1/2,far,,10,3,,mean,"), "{runs}");
    assert!(directory.read("figures.log").contains(" other: 18 of 18 runs\n"));
}

#[test]
fn runs_that_have_ended_are_not_run_again() {
    let directory = Directory::new("resume");
    let first = directory.run(1);
    let runs = directory.0.join("out/runs.jsonl");
    let kept = fs::read_to_string(&runs).expect("runs");
    assert_eq!(kept.lines().count(), 12, "two systems, two values, three seeds");
    // The file gets results that no run can have, which show whether results are taken from the file.
    let changed: String = kept
        .lines()
        .enumerate()
        .map(|(number, line)| {
            let (run, _) = line.split_once("\"samples\"").expect("samples");
            format!("{run}\"samples\":{{\"times\":[{}],\"missing\":0}}}}\n", 4_242_000_000 + number)
        })
        .collect();
    fs::write(&runs, &changed).expect("changed");
    let second = directory.run(1);
    assert!(second.contains("4242.0") && !first.contains("4242.0"), "{second}");
    assert_eq!(fs::read_to_string(&runs).expect("runs"), changed, "nothing was run");
}

#[test]
fn a_file_of_results_that_a_spreadsheet_saved_keeps_the_other_figures() {
    let directory = Directory::new("spreadsheet");
    let file = directory.0.join("out/figures.csv");
    directory.run(1);
    let saved = directory.read("figures.csv").replace("\nsmall,", "\nother,").replace('\n', "\r\n");
    fs::write(&file, &saved).expect("a file");
    directory.run(1);
    let others = |text: &str| text.lines().filter(|line| line.starts_with("other,")).count();
    assert_eq!(others(&directory.read("figures.csv")), others(&saved));
    fs::write(&file, format!("\u{feff}{saved}")).expect("a file");
    directory.run(1);
    assert_eq!(others(&directory.read("figures.csv")), others(&saved), "a mark is before it");
    for (name, damaged, words) in [
        ("figures.csv", &b"\xff"[..], "cannot read"),
        ("figures.json", b"{", "figures.json: it has no figures"),
        ("runs.csv", b"of another kind\n", "runs.csv: it begins with"),
    ] {
        let file = directory.0.join("out").join(name);
        let whole = fs::read(&file).expect("it was made");
        fs::write(&file, damaged).expect("a file");
        let error = directory.try_run(1, None).expect_err(words);
        assert!(format!("{error:#}").contains(words), "{error:#}");
        assert_eq!(fs::read(&file).expect("it stays"), damaged);
        fs::write(&file, whole).expect("a file");
    }
}

#[test]
fn a_changed_table_of_the_other_senders_makes_other_runs() {
    let scenario = "title = \"t\"\nabout = \"a\"\nmeasure = \"shared\"\nplot = \"ellipses\"\nsystems = [\"cubic\"]\n\
                    [[link]]\nname = \"l\"\npath = \"rtt=50ms,down.rate=5M\"\n[traffic]\nsenders = 1\nmean-pause = \"1s\"\n\
                    length = \"20s\"\nothers = [{ system = \"mine.toml\", senders = 2 }]\n";
    let directory = Directory::with("others", scenario);
    let tables = [
        include_str!("../../remy/remy-bulk.toml"),
        include_str!("../../remy/remy-two-senders.toml"),
    ];
    let [first, second] = tables.map(|table| {
        fs::write(directory.0.join("mine.toml"), table).expect("a file");
        directory.run(1)
    });
    assert_ne!(first, second);
}

#[test]
fn shards_of_several_computers_make_the_figures_of_one() {
    let (alone, whole) = (Directory::new("alone"), Directory::new("shards"));
    alone.run(1);
    let mut runs = String::new();
    for part in ["1/3", "2/3", "3/3"] {
        let other = Directory::new(&format!("shard-{}", &part[..1]));
        let said = other.run_part(1, Some(part.parse().expect("a part")));
        assert!(said.contains("4 of 12 runs are done"), "{said}");
        runs.push_str(&other.read("runs.jsonl"));
        assert!(!other.0.join("out/figures.json").exists(), "a part makes no figures");
    }
    assert_eq!(runs.lines().count(), 12);
    let answers = alone.run_as_worker(&["1/3", "2/3", "3/3", "3/2"]);
    let brought = |answer: &Value| answer["result"]["Ok"].as_str().map(str::to_owned);
    let brought: Vec<String> = answers.iter().filter_map(brought).collect();
    let sorted = |text: &str| text.lines().map(str::to_owned).collect::<BTreeSet<_>>();
    assert_eq!((brought.len(), sorted(&brought.concat())), (3, sorted(&runs)));
    let reason = answers[3]["result"]["Err"].as_str().expect("there is no such shard");
    assert!(reason.contains("is no part of all runs"), "{reason}");
    fs::create_dir_all(whole.0.join("out")).expect("a directory");
    fs::write(whole.0.join("out/runs.jsonl"), &runs).expect("joined");
    whole.run(1);
    assert_eq!(whole.read("runs.jsonl"), runs, "nothing was run");
    assert_eq!(whole.read("figures.json"), alone.read("figures.json"));
}

#[test]
fn a_report_begins_with_the_verdicts_and_a_page_shows_texts_as_texts() {
    let directory = Directory::new("page");
    let text = directory.run(1);
    assert!(text.starts_with("a <paper>: 1 of 3 results reproduced\n"), "{text}");
    assert!(text.contains("small: rove, 40 ms <near>, 1, mean"), "{text}");
    assert!(text.contains("\nsmall: It was <tested>.\n\nsmall: A small figure"), "{text}");
    let json: Value = serde_json::from_str(&directory.read("figures.json")).expect("JSON");
    let outcome = |row: usize| &json["figures"][0]["published"][row]["outcome"];
    assert_eq!([outcome(0), outcome(2)], ["not-reproduced", "reproduced"], "{json:#}");
    let page = directory.read("figures.html");
    let rows = page.find("<td>small: rove, 40 ms &lt;near&gt;, 1, mean</td>").expect("escaped");
    assert!(rows < page.find("<nav>").expect("a list of figures"), "the verdicts come first");
    assert!(
        !page.contains("<near>") && page.matches("</script>").count() == 1,
        "nothing breaks out"
    );
    assert!(
        page.contains("figure [stroke=\"#010101\"] { stroke: var(--ink); }")
            && page.contains(" stroke=\"#010101\" "),
        "ink has the page's colour"
    );
}

#[test]
fn each_recording_is_a_row_and_seeds_that_change_nothing_are_refused() {
    let scenario = "title = \"Recordings\"\nabout = \"a\"\nmeasure = \"host-response\"\nplot = \"distribution\"\n\
                    recordings = [\"fish\", \"bash-long\"]\n";
    let directory = Directory::with("recordings", scenario);
    let text = directory.run(1);
    for row in
        ["recordings, fish ", "recordings, bash-long ", "recordings, pooled: fish + bash-long "]
    {
        assert!(text.contains(&format!("\n{row}")), "{row}: {text}");
    }
    let refused = Directory::with("seeds", &format!("{scenario}seeds = 2\n")).try_run(1, None);
    let said = refused.expect_err("nothing is left to chance").to_string();
    assert!(said.contains("2 seeds give the same result: use seeds = 1"), "{said}");
}

#[test]
fn an_unknown_name_is_refused_with_those_that_there_are() {
    let error = scenarios(&["respons".to_owned()]).expect_err("no such figure").to_string();
    assert!(error.contains("response-500ms") && error.contains(".toml"), "{error}");
    let error = scenarios(&["no/such.toml".to_owned()]).expect_err("no such file").to_string();
    assert!(error.contains("cannot read no/such.toml"), "{error}");
    let found =
        scenarios(&["aoi".to_owned(), "start".to_owned()]).expect("a first word and a name");
    let names: Vec<&str> = found.iter().map(|scenario| scenario.name.as_str()).collect();
    assert!(names.len() == 12 && names.contains(&"aoi-study") && names[11] == "start", "{names:?}");
}

#[test]
fn sprout_beats_a_program_whose_window_fills_the_queue_on_drawn_links() {
    let program = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/controllers/window.sh 700");
    let link =
        |name| format!("[[link]]\nname = \"{name}\"\npath = \"rtt=40ms\"\ncellular = \"any\"\n");
    let scenario = format!(
        "title = \"Score\"\nabout = \"a\"\nmeasure = \"flow\"\nplot = \"use-by-time\"\n\
         systems = [\"sprout-published\", \"{program}\", \"vegas\"]\n{}{}direction = \"down\"\n",
        link("a"),
        link("b")
    );
    let directory = Directory::with("score", &scenario);
    let text = directory.run(1);
    assert!(!text.contains("NSDI"), "no paper has these links: {text}");
    let json: Value = serde_json::from_str(&directory.read("figures.json")).expect("JSON");
    let averages = &json["figures"][0]["averages"];
    let score = |row: usize| averages[row]["score"].as_f64().expect("a score");
    assert_eq!(averages[1]["system"], program);
    assert!(score(0) > 3.0 * score(1) && score(1) > 0.1, "{averages:#}");
    let alone = Directory::with("without", &scenario.replace("\"sprout-published\", ", ""));
    alone.run(1);
    let json: Value = serde_json::from_str(&alone.read("figures.json")).expect("JSON");
    let its = &json["figures"][0]["averages"][0];
    assert_eq!(its["score"], averages[1]["score"]);
    assert!(its["use_percent"].is_number() && its["delay_ratio"].is_null(), "{its:#}");
}

#[test]
fn a_course_becomes_a_picture_by_time_and_lines_of_slots_and_a_link_its_own_picture() {
    let links = "[[link]]\nname = \"a b\"\npath = \"rtt=40ms,rate=5Mbit\"\nseconds = 4\n\
                 [[link]]\nname = \"c\"\npath = \"rtt=40ms,rate=9Mbit\"\nseconds = 4\n";
    let begin = "title = \"Course\"\nabout = \"a\"\nsystems = [\"cubic\"]\n";
    let scenario = |more: &str| format!("{begin}{more}\n{links}");
    let course = scenario("measure = \"course\"\nplot = \"course\"\nquantity = \"capacity\"");
    let directory = Directory::with("course", &course);
    let text = directory.run(1);
    assert!(text.contains("capacity (kbit/s)"), "{text}");
    let lines = directory.read("course.csv");
    assert!(lines.starts_with("figure,system,link,value,seed,time (s),rate (kbit/s)"), "{lines}");
    let columns: Vec<&str> = lines.lines().next().expect("a heading").split(',').collect();
    let place = columns.iter().position(|it| *it == "window (kB)").expect("a column");
    let window = |line: &str| line.split(',').nth(place).and_then(|it| it.parse::<f64>().ok());
    assert!(lines.lines().skip(1).all(|line| window(line) >= Some(1.4)), "{lines}");
    assert_eq!(lines.lines().filter(|line| line.ends_with(",9000")).count(), 200, "{lines}");
    assert!(directory.read("small.svg").contains("capacity (kbit/s)"));
    assert!(!directory.0.join("out/small.c.svg").exists(), "one picture shows both");
    let flows = Directory::with("links", &scenario("measure = \"flow\"\nplot = \"use-by-time\""));
    flows.run(1);
    assert!(flows.read("small.a-b.svg") != flows.read("small.c.svg"));
    let svg = flows.read("small.svg");
    assert!(
        svg.contains(">95 % end-to-end delay (ms)<") && !svg.contains("self-inflicted"),
        "{svg}"
    );
    for (line, words) in [
        (
            "measure = \"flow\"\nplot = \"course\"\nquantity = \"rate\"",
            "is of measure = \"course\"",
        ),
        ("measure = \"course\"\nplot = \"course\"", "needs a quantity"),
        ("measure = \"course\"\nplot = \"course\"\nquantity = \"speed\"", "there are rate, delay"),
        (
            "measure = \"flow\"\nplot = \"mean-by-value\"\nvalue = \"v\"\nshown = \"x\"",
            "statistic \"x\"",
        ),
    ] {
        let said = Directory::with("refused", &scenario(line)).try_run(1, None);
        let said = said.expect_err(line).to_string();
        assert!(said.contains(words), "{said}");
    }
}

#[test]
fn a_seed_that_changes_nothing_is_refused_where_the_figure_is_asked_for_by_its_name() {
    let directory = Directory::new("seed");
    let of = |name: &str, seed| {
        let mut options = directory.options(seed, None);
        options.wish.names = vec![name.to_owned()];
        run(&options, io::sink()).map_err(|error| error.to_string())
    };
    let said = of("host-response", 7).expect_err("the recordings alone decide");
    let words = "host-response: nothing here is left to chance, so that --seed 7 changes no result";
    assert!(said.starts_with(words), "{said}");
    assert_eq!(of("host-response", 1), Ok(()));
    assert_eq!(of("host", 7), Ok(()), "among all whose names begin so");
    directory.try_run(7, None).expect("a seed decides what is lost");
}

#[test]
fn a_paper_is_judged_only_by_all_of_the_recordings_that_its_figure_wants() {
    let text = "title = \"t\"\nabout = \"a\"\nmeasure = \"host-response\"\nplot = \"distribution\"\n\
                recordings = [\"fish\"]\nwanted = [\"one\", \"two\"]\n\
                published = [{ paper = \"p\", place = \"1\", results = [{ median = { from = 0 } }] },\n\
                             { paper = \"rove\", place = \"2\", results = [{ median = { from = 0 } }] }]\n";
    let directory = Directory::with("wanted", text);
    let lines = include_bytes!("../../traces/fish.jsonl");
    let traces = directory.0.join("traces");
    fs::create_dir_all(&traces).expect("a directory");
    let outcomes = || {
        let mut options = directory.options(1, None);
        options.wish.traces = Some(traces.clone());
        run(&options, io::sink()).expect("made");
        let json: Value = serde_json::from_str(&directory.read("figures.json")).expect("JSON");
        [0, 1].map(|row| json["figures"][0]["published"][row].clone())
    };
    for (names, is_whole) in [(&[][..], false), (&["one"], false), (&["one", "two"], true)] {
        for name in names {
            fs::write(traces.join(format!("{name}.jsonl")), lines).expect("a file");
        }
        let [paper, rove] = outcomes();
        assert_eq!(rove["outcome"], "reproduced", "{names:?}: {rove}");
        let outcome = if is_whole { "reproduced" } else { "not-measured" };
        assert_eq!(paper["outcome"], outcome, "{names:?}: {paper}");
        let reason = paper["reason"].as_str().unwrap_or_default();
        assert_eq!(reason.contains("--traces"), !is_whole, "{reason}");
    }
}
