//! rove's completions work in shells, and man can read rove's manual pages.

use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rove_rig::clock;

use crate::support::{Invocation, Maker, SIZE, Scratch, Server, Terminal, rove, within_guard};

/// Host names that no shell may offer, because they are options or text that a shell or terminal would interpret. Each
/// file also has a good host.
const BAD_CONFIG: &str =
    "Host -oProxyCommand=x -X al'q al$(x) al;x alXESC[31m al\u{202e}x\nHost -P alpha\n";
const BAD_KNOWN: &str = "-oProxyCommand=y,al\"q,al$(y),al`y`,al\u{202e}y,delta ssh-rsa A\n[-bad]:22,alXESC[1m ssh-rsa A\n";

/// Writes ssh's configuration and known hosts from [`BAD_CONFIG`] and [`BAD_KNOWN`].
fn write_bad_hosts(scratch: &Scratch) {
    std::fs::create_dir(scratch.path(".ssh")).expect("the scratch folder takes a folder");
    scratch.write(".ssh/config", &BAD_CONFIG.replace("XESC", "\u{1b}"));
    scratch.write(".ssh/known_hosts", &BAD_KNOWN.replace("XESC", "\u{1b}"));
}

/// Returns whether a shell may offer this word as a host, possibly after a user's name.
fn is_good_host(word: &str) -> bool {
    let name = word.rsplit_once('@').map_or(word, |(_, name)| name);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:%-".contains(c);
    !name.starts_with('-') && name.chars().all(is_plain)
}

#[test]
fn bash_and_fish_offer_no_host_that_is_an_option_or_acts() {
    let scratch = Scratch::new();
    write_bad_hosts(&scratch);
    let bash = output(&["completions", "bash"]);
    let fish = scratch.write("rove.fish", &output(&["completions", "fish"]));
    for words in [&["al"][..], &["me@al"], &["me@-"], &["-J", "-"], &["-J", ""], &["list", "al"]] {
        let (last, line) = (words[words.len() - 1], words.join("' '"));
        let script = format!(
            "{bash}\nCOMP_WORDS=(rove '{line}'); COMP_CWORD={}; _rove rove '{last}'\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"",
            words.len()
        );
        let path = scratch.write("test.bash", &script);
        let mut calls = vec![shell("bash").arg(path)];
        // fish offers rove's own options after `-`, so the call leaves this case out.
        if last != "-" && is_there("fish") {
            let command =
                format!("source {}; complete -C \"rove {}\"", fish.display(), words.join(" "));
            calls.push(shell("fish").args(["--no-config", "-c", &command]));
        }
        for call in calls {
            let answer = run(&call.env("HOME", scratch.folder()));
            let answer = String::from_utf8(answer.stdout).expect("it is text");
            let offered: Vec<&str> =
                answer.lines().map(|line| line.split('\t').next().unwrap_or_default()).collect();
            let bad: Vec<_> = offered.iter().filter(|word| !is_good_host(word)).collect();
            assert!(bad.is_empty(), "{words:?}: {bad:?} of {answer:?}");
            let is_begun = last.ends_with("al") || last.is_empty();
            let has_good = offered.iter().any(|word| word.ends_with("alpha"));
            assert_eq!(has_good, is_begun, "{words:?}: {answer:?}");
        }
    }
}

/// Command lines for bash, as words, and a candidate that must be among the completions (`None`: bash offers none).
/// Bash also splits words at `=` and `@`. The candidate replaces the text from the `@` on.
const COMPLETED: [(&[&str], Option<&str>); 35] = [
    (&["rove", "de"], Some("demo")),
    (&["rove", "al"], Some("alpha")),
    (&["rove", "de"], Some("delta")),
    (&["rove", "me", "@"], Some("@alpha")),
    (&["rove", "-p", "5", "me", "@", "al"], Some("@alpha")),
    (&["rove", "me@al"], Some("me@alpha")),
    (&["rove", "-l", "me", "al"], Some("alpha")),
    (&["rove", "-J", "al"], Some("alpha")),
    (&["rove", "inc"], Some("included")),
    (&["rove", "config", "show", "inc"], Some("included")),
    (&["rove", "config", "show", "me", "@", "al"], Some("@alpha")),
    (&["rove", "config", "check", "al"], None),
    (&["rove", "--pre"], Some("--predict=")),
    (&["rove", "--predict", "=", "al"], Some("always")),
    (&["rove", "--predict", "="], Some("never")),
    (&["rove", "--predict", "al"], Some("always")),
    (&["rove", "--port", "=", "5", "al"], Some("alpha")),
    (&["rove", "--port", "5", "bas"], None),
    (&["rove", "alpha", "--no-i"], Some("--no-init")),
    (&["rove", "alpha", "--", "--no-i"], None),
    (&["rove", "alpha", "bas"], Some("bash")),
    (&["rove", "demo", "--rt"], Some("--rtt=")),
    (&["rove", "demo", "--", "bas"], Some("bash")),
    (&["rove", "man", "dem"], Some("demo")),
    (&["rove", "list", "al"], Some("alpha")),
    (&["rove", "list", "-i", "key", "me", "@", "al"], Some("@alpha")),
    (&["rove", "list", "alpha", "al"], None),
    (&["rove", "install", "al"], Some("alpha")),
    (&["rove", "forget", "al"], Some("alpha")),
    (&["rove", "forget", "alpha", "bas"], None),
    (&["rove", "install", "alpha", "bas"], None),
    (&["rove", "doctor", "al"], Some("alpha")),
    (&["rove", "kill", "al"], Some("alpha")),
    (&["rove", "kill", "alpha", "al"], None),
    (&["rove", "kill", "-J", "al"], Some("alpha")),
];

#[test]
fn each_shell_reads_its_completions() {
    let scratch = Scratch::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = output(&["completions", shell]);
        if !is_there(shell) {
            continue;
        }
        let path = scratch.write(&format!("rove.{shell}"), &script);
        let call = Invocation::new(shell).arg("-n").arg(&path);
        let output = run(&call);
        assert!(output.status.success() && output.stderr.is_empty(), "{shell}: {output:?}");
    }
}

#[test]
fn bash_completes_commands_options_values_hosts_and_remote_commands() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path(".ssh")).unwrap();
    // A file that includes itself must cause no endless loop.
    scratch.write(".ssh/config", "Host alpha beta*\ninclude \"more/*.conf\" ~/other config\n");
    std::fs::create_dir(scratch.path(".ssh/more")).unwrap();
    scratch.write(".ssh/more/a.conf", "Include=config\nInclude more/a.conf\nHost includedby\n");
    scratch.write("other", "Host=included\n");
    scratch
        .write(".ssh/known_hosts", "[delta]:22 ssh-rsa A\n|1|x ssh A\n$(touch pwned),eps ssh A\n");
    let mut script = output(&["completions", "bash"]);
    for (words, _) in COMPLETED {
        let current = match words {
            [.., "="] => String::new(),
            [.., "@", last] => format!("@{last}"),
            [.., last] => (*last).to_owned(),
            [] => unreachable!("every line has a command"),
        };
        let words: Vec<String> = words.iter().map(|word| format!("'{word}'")).collect();
        let (last, count) = (words.len() - 1, words.join(" "));
        script.push_str(&format!(
            "COMP_WORDS=({count}); COMP_CWORD={last}; _rove rove '{current}'; echo \" ${{COMPREPLY[*]}} \"\n"
        ));
    }
    let path = scratch.write("test.bash", &script);
    let call = shell("bash").arg(&path).env("HOME", scratch.folder());
    let answers = String::from_utf8(run(&call).stdout).unwrap();
    assert_eq!(answers.lines().count(), COMPLETED.len(), "{answers}");
    for ((words, wanted), answer) in COMPLETED.iter().zip(answers.lines()) {
        match wanted {
            Some(wanted) => assert!(answer.contains(&format!(" {wanted} ")), "{words:?}: {answer}"),
            None => assert_eq!(answer.trim(), "", "{words:?}"),
        }
        assert!(!answer.contains("touch"), "{words:?}: {answer}");
    }
}

#[test]
fn a_folder_that_bash_completes_keeps_its_slash_and_a_file_gets_a_blank() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path(".ssh")).unwrap();
    scratch.write(".ssh/id of me", "");
    let script = format!("{}\nPS1='$ '\n", output(&["completions", "bash"]));
    let path = scratch.write("test.bash", &script);
    let call = shell("bash").arg("--rcfile").arg(&path).args(["--noprofile", "-i"]);
    let terminal = Terminal::start(&call.env("HOME", scratch.folder()), SIZE);
    terminal.wait_for_text("$ ");
    for option in ["-i", "-F", "list -i", "put host"] {
        terminal.send(format!("rove {option} ~/.ss\ti\tx"));
        terminal.wait_for_text(&format!("rove {option} ~/.ssh/id\\ of\\ me x"));
        terminal.send("\x15");
    }
    terminal.send("rove --client ~/.ss\t");
    terminal.wait_for_text("rove --client ~/.ssh/");
}

#[test]
fn fish_completes_commands_options_values_and_hosts() {
    if !is_there("fish") {
        return;
    }
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path(".ssh")).unwrap();
    scratch.write(".ssh/config", "Host alpha\n");
    let path = scratch.write("rove.fish", &output(&["completions", "fish"]));
    for (line, wanted) in [
        ("rove de", "demo"),
        ("rove --pre", "--predict"),
        ("rove --predict=al", "--predict=always"),
        ("rove demo --r", "--rtt"),
        ("rove alpha --no-i", "--no-init"),
        ("rove man d", "demo"),
        ("rove completions z", "zsh"),
        ("rove server n", "new"),
        ("rove config sh", "show"),
        ("rove config show al", "alpha"),
        ("rove -J al", "alpha"),
        ("rove list al", "alpha"),
        ("rove list -i key al", "alpha"),
        ("rove install al", "alpha"),
        ("rove doctor al", "alpha"),
        ("rove kill al", "alpha"),
        ("rove kill -l me al", "alpha"),
        ("rove -i ~/.ss", "~/.ssh/"),
        ("rove alpha fis", "fish"),
    ] {
        let command = format!("source {}; complete -C '{line}'", path.display());
        let call = shell("fish").args(["--no-config", "-c", &command]);
        let answer = String::from_utf8(run(&call.env("HOME", scratch.folder())).stdout).unwrap();
        let found = answer.lines().any(|line| line.split('\t').next() == Some(wanted));
        assert!(found, "{line}: {answer}");
    }
}

/// Sets up zsh's completions and its line editor for the test.
const ZSH: &str =
    "unsetopt promptsp promptcr zle_bracketed_paste automenu; autoload -U compinit; compinit -u -D";

/// Starts an interactive shell with rove's completions.
fn interactive(scratch: &Scratch, program: &str, args: &[&str], set_up: &str) -> Terminal {
    let script = scratch.write(&format!("rove.{program}"), &output(&["completions", program]));
    let call = shell(program).args(args).env("PS1", "$ ").env("HOME", scratch.folder());
    let terminal = Terminal::start(&call.env("ROVE_RUNTIME_DIR", scratch.path("sockets")), SIZE);
    terminal.send(format!("{set_up}; . {}; echo rea''dy\r", script.display()));
    terminal.wait_for_text("ready");
    terminal
}

/// Most completions of a line until a session answers in time. A busy computer may be too slow.
const TRIES: usize = 20;

/// Types `typed` and Tab. Asserts that the line becomes `wanted`.
fn completes(terminal: &Terminal, typed: &str, wanted: &str) {
    let line = format!("$ {wanted}#");
    let mut found = String::new();
    for _ in 0..TRIES {
        terminal.send(format!("\x0c{typed}\t#"));
        terminal.wait_for(&line, |screen| {
            screen.contents().trim_end().clone_into(&mut found);
            found.starts_with("$ ") && found.ends_with('#')
        });
        terminal.send("\x15");
        if found == line {
            return;
        }
        terminal.wait_for("an empty line", |screen| !screen.contents().contains('#'));
    }
    panic!("{typed:?} becomes {found:?}, and not {line:?}");
}

#[test]
fn zsh_offers_no_host_that_is_an_option_or_acts() {
    if !is_there("zsh") {
        return;
    }
    // zsh's completion reads the configuration only if no other file has a matching host.
    for (name, wanted) in [("config", "alpha"), ("known_hosts", "delta")] {
        let scratch = Scratch::new();
        write_bad_hosts(&scratch);
        let other = if name == "config" { "known_hosts" } else { "config" };
        std::fs::remove_file(scratch.path(".ssh").join(other)).unwrap();
        let terminal = interactive(&scratch, "zsh", &["-f", "-i"], ZSH);
        for start in ["rove list ", "rove list me@", "rove -J "] {
            let typed = format!("{start}{}", &wanted[..2]);
            completes(&terminal, &typed, &format!("{start}{wanted} "));
        }
        // rove offers no host that begins with these characters.
        for typed in ["rove list me@-", "rove list al$"] {
            completes(&terminal, typed, typed);
        }
    }
}

#[test]
fn a_user_of_bash_or_zsh_gets_hosts_and_sessions_by_the_tabulator() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path(".ssh")).unwrap();
    scratch.write(".ssh/config", "Include hosts\n");
    scratch.write(".ssh/hosts", "Host viajump\n");
    let sessions = Maker::Rove.server().env("ROVE_RUNTIME_DIR", scratch.path("sockets"));
    let server = Server::start_with(sessions, Ipv4Addr::LOCALHOST.into(), &["cat"]);
    // A session that no client joins ends after a minute.
    let _client = Terminal::start(&Maker::Rove.client(server.address, &server.key), SIZE);
    let port = server.address.port().to_string();
    let (begun, rest) = (&port[..4], &format!("{} ", &port[4..]));
    for (program, args, set_up) in [
        ("bash", &["--norc", "--noprofile", "-i"][..], "shopt -s hostcomplete"),
        ("bash", &["--norc", "--noprofile", "-i"], "shopt -u hostcomplete"),
        ("zsh", &["-f", "-i"], ZSH),
    ] {
        if !is_there(program) {
            continue;
        }
        let terminal = interactive(&scratch, program, args, set_up);
        for (typed, end) in [
            ("rove via", "jump "),
            ("rove alice@via", "jump "),
            ("rove -p 60001 alice@via", "jump "),
            ("rove config show via", "jump "),
            ("rove list via", "jump "),
            ("rove list -i key alice@via", "jump "),
            ("rove install via", "jump "),
            ("rove doctor via", "jump "),
            ("rove kill via", "jump "),
            ("rove kill alice@via", "jump "),
            ("rove -i ~/.ss", "h/"),
            ("rove --predict=al", "ways "),
            (&format!("rove kill {begun}"), rest),
            (&format!("rove kill {port} {begun}"), rest),
            (&format!("rove kill viajump {begun}"), ""),
        ] {
            completes(&terminal, typed, &format!("{typed}{end}"));
        }
        completes(&terminal, "rove --pred\t=al", "rove --predict=always ");
        if program == "zsh" {
            completes(&terminal, "rove viajump kill -WIN", "rove viajump kill -WINCH ");
        }
    }
}

#[test]
fn every_page_is_set_without_a_warning() {
    if !is_there("groff") {
        return;
    }
    let scratch = Scratch::new();
    for command in [
        "",
        "demo",
        "list",
        "kill",
        "client",
        "server",
        "config",
        "completions",
        "man",
        "help",
        "version",
    ] {
        let words: Vec<&str> =
            ["man", command].into_iter().filter(|word| !word.is_empty()).collect();
        let path = scratch.write("page.1", &output(&words));
        let call = Invocation::new("groff").args(["-man", "-Tutf8", "-ww"]).arg(&path);
        let set = run(&call);
        let warnings = String::from_utf8_lossy(&set.stderr);
        assert!(set.status.success() && warnings.is_empty(), "{command}: {warnings}");
        assert!(String::from_utf8_lossy(&set.stdout).contains("rove"), "{command}");
    }
}

#[test]
fn help_and_version_are_there_for_who_asks_by_a_word() {
    for (by_word, by_option) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "doctor"], &["doctor", "--help"]),
        (&["version"], &["--version"]),
    ] {
        assert_eq!(output(by_word), output(by_option), "{by_word:?}");
    }
    let refused = run(&Invocation::new(rove()).args(["help", "dmeo"]));
    assert_eq!(refused.status.code(), Some(255));
    let sentence = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(
        sentence.starts_with("rove help: there is no command \"dmeo\"; did you mean demo?"),
        "{sentence}"
    );
}

#[test]
fn hosts_are_offered_within_a_second_whatever_the_configuration_holds() {
    let scratch = Scratch::new();
    std::fs::create_dir(scratch.path(".ssh")).unwrap();
    let includes = "Include */*/*/* /proc/*/task/*/* pipe /dev/zero config\n".repeat(50_000);
    scratch.write(".ssh/config", &format!("Host alpha\u{7}x\nHost alpha\n{includes}"));
    let pipe = run(&Invocation::new("mkfifo").arg(scratch.path(".ssh/pipe")));
    assert!(pipe.status.success(), "{pipe:?}");
    let known = std::fs::File::create(scratch.path(".ssh/known_hosts")).unwrap();
    known.set_len(1 << 40).unwrap();
    let answer = |home: &Path, seconds: f64| {
        let call = Invocation::new(rove()).args(["complete", "--", "al"]).env("HOME", home);
        let answer = run(&call.behind(&["timeout", &format!("{seconds:.3}")]));
        String::from_utf8_lossy(&answer.stdout).into_owned()
    };
    let is_in_time = || {
        // A busy computer needs longer for a second's work. The time of an answer about an empty home shows how much.
        let start = clock::now();
        answer(&scratch.path("empty"), 100.0);
        let seconds = 1.0 + 10.0 * clock::seconds_since(start);
        answer(&scratch, seconds) == "words\nalpha\n"
    };
    assert!((0..TRIES).any(|_| is_in_time()), "{}", answer(&scratch, 100.0));
}

/// Returns a call of a shell that has rove in its PATH.
fn shell(program: &str) -> Invocation {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folder = rove().parent().expect("the program is in a folder").to_owned();
    let folders = [folder].into_iter().chain(std::env::split_paths(&path));
    Invocation::new(program).env("PATH", std::env::join_paths(folders).expect("they were a PATH"))
}

/// Returns the output of a call of rove, which must succeed.
fn output(words: &[&str]) -> String {
    let output = run(&Invocation::new(rove()).args(words));
    assert!(output.status.success() && output.stderr.is_empty(), "{words:?}: {output:?}");
    String::from_utf8(output.stdout).expect("rove writes UTF-8")
}

fn run(call: &Invocation) -> Output {
    let call = call.clone();
    within_guard("a program to end", move || {
        call.command().stdin(Stdio::null()).output().expect("the program starts")
    })
}

/// Returns whether a program is installed.
fn is_there(program: &str) -> bool {
    let probe = Command::new(program).arg("--version").stdin(Stdio::null()).output();
    probe.is_ok_and(|output| output.status.success())
}
