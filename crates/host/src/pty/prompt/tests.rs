use std::io::{Read, Write};
use std::os::fd::AsFd;
use std::os::linux::net::SocketAddrExt;
use std::os::unix::fs::symlink;
use std::os::unix::net::{SocketAddr, UnixListener};
use std::path::PathBuf;

use rove_platform::clock::Clock;
use rove_platform::event_loop::{EventLoop, Interest};
use rove_terminal::Size;
use rove_units::Duration;
use rustix::process::{Resource, Signal, getrlimit, kill_process};

use super::*;
use crate::program::{Failure, Program, c_string, candidates};
use crate::pty::Pty;

/// A new directory, which is removed when this value is dropped.
struct Directory(PathBuf);

impl Directory {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rove-prompt-{}-{name}", std::process::id()));
        // fish generates completions in the background unless this directory exists.
        fs::create_dir_all(path.join(".local/share/fish/generated_completions")).unwrap();
        Self(path)
    }

    fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A shell on a terminal, and the watch that finds out whether the shell waits at its prompt.
struct Shell {
    home: Directory,
    events: EventLoop,
    master: Master,
    child: Child,
    watch: PromptWatch,
    output: String,
}

impl Shell {
    fn start(name: &str, command: &[&str]) -> Self {
        Self::start_in(Directory::new(name), command)
    }

    fn start_in(home: Directory, command: &[&str]) -> Self {
        let text = |text: &str| c_string(text.into()).unwrap();
        let directory = format!("HOME={}", home.0.display());
        let environment = [&directory, "PATH=/usr/bin:/bin", "TERM=xterm", "PS1=@ ", "PROMPT=@ "];
        let program = Program {
            candidates: candidates(command[0].as_ref(), None),
            arguments: command.iter().map(|word| text(word)).collect(),
            environment: environment.into_iter().map(text).collect(),
            directory: text("/"),
            greeting: Vec::new(),
            not_found: Vec::new(),
            not_executable: Vec::new(),
            core_limit: getrlimit(Resource::Core),
        };
        let (master, mut child) = Pty::open(Size::DEFAULT).unwrap().spawn(&program).unwrap();
        child.release(Failure::Ends);
        let events = EventLoop::new(Clock::start(), &[]).unwrap();
        let (watch, output) = (PromptWatch::default(), String::new());
        Self { home, events, master, child, watch, output }
    }

    /// Starts a shell, and lets the watch learn its prompt.
    fn known(name: &str, command: &[&str]) -> Self {
        let mut shell = Self::start(name, command);
        shell.wait_for("a first prompt", |shell| {
            assert!(!shell.look(), "nothing is known yet");
            shell.watch.first.is_some() && shell.watch.first == shell.waits()
        });
        shell.learn();
        shell
    }

    /// Runs jobs until the watch knows the prompt.
    fn learn(&mut self) {
        // fish also waits for a moment, deeper in the stack, while it starts.
        while !self.watch.is_known {
            self.run_job();
            self.wait_for("the prompt", |shell| {
                let is_other = !shell.watch.has_run_job && shell.watch.first == shell.waits();
                shell.look() || is_other
            });
        }
    }

    fn type_text(&mut self, keys: &str) {
        self.output.clear();
        assert_eq!(self.master.write(keys.as_bytes()).unwrap(), keys.len());
    }

    /// Gives the terminal to a job for a while.
    fn run_job(&mut self) {
        self.type_text("cat\r");
        self.wait_for("a job", |shell| {
            let is_job = tcgetpgrp(&shell.master.0).unwrap() != shell.child.pid;
            // The watch has to see the job now, because the job may end directly afterwards.
            assert!(!shell.look(), "nothing is known yet, or a job runs");
            is_job
        });
        self.type_text("\x04");
    }

    fn look(&mut self) -> bool {
        let tty = self.master.modes().unwrap();
        self.watch.look(&self.master, &self.child, tty)
    }

    /// Returns how the shell waits for keys, if it is in the foreground and reads single keys.
    fn waits(&self) -> Option<Wait> {
        let modes = self.master.modes()?.modes;
        let pid = self.child.pid;
        let is_line_editor = !modes.contains(TtyModes::CANONICAL)
            && !modes.contains(TtyModes::ECHO)
            && tcgetpgrp(&self.master.0).ok()? == pid;
        is_line_editor.then(|| Wait::read(Path::new("/proc"), number(pid), None))?
    }

    /// Reads output until `is_so` returns true. After a minute, panics with a message that names `what`.
    fn wait_for(&mut self, what: &str, mut is_so: impl FnMut(&mut Self) -> bool) {
        let end = self.events.now() + Duration::from_secs(60);
        let mut buffer = [0; 4096];
        loop {
            while let Ok(len @ 1..) = self.master.read(&mut buffer) {
                self.output.push_str(&String::from_utf8_lossy(&buffer[..len]));
            }
            if is_so(self) {
                return;
            }
            let now = self.events.now();
            assert!(now < end, "{what} does not come after {:?}", self.output);
            let soon = now + Duration::from_millis(2);
            self.events
                .wait(&mut [Interest::new(self.master.as_fd(), true, false)], Some(soon))
                .unwrap();
        }
    }

    /// Types a command that prints "ASK" and waits for input, like a line editor if `is_alike`. Ends the command by
    /// typing `end`, and returns how it waited.
    fn ask(&mut self, command: &str, end: &str, is_alike: bool) -> Option<Wait> {
        self.type_text(&format!("{command}\r"));
        let mut wait = None;
        self.wait_for(command, |shell| {
            let has_asked = shell.output.contains("ASK");
            assert!(!has_asked || !shell.look(), "{command}: no prompt is this");
            wait = shell.waits();
            let is_job = tcgetpgrp(&shell.master.0).unwrap() != shell.child.pid;
            let is_line = shell.master.modes().unwrap().modes.contains(TtyModes::CANONICAL);
            has_asked && if is_alike { wait.is_some() } else { is_job || is_line }
        });
        self.type_text(end);
        self.wait_for("the prompt", Self::look);
        wait
    }
}

impl Drop for Shell {
    fn drop(&mut self) {
        let _ = kill_process(self.child.pid, Signal::KILL);
        while self.child.try_wait().is_none() {
            std::thread::yield_now();
        }
    }
}

const BASH: [&str; 2] = ["bash", "--norc"];
const ZSH: [&str; 2] = ["zsh", "-f"];

#[test]
fn a_shell_at_its_prompt_is_told_while_a_line_is_typed_there() {
    for command in [&BASH[..], &ZSH, &["mksh"], &["fish"]] {
        let mut shell = Shell::known(command[0], command);
        for keys in ["e", "cho x", "\x7f", "\r", "sleep 100 &\r", "y", "\x03"] {
            shell.type_text(keys);
            shell.wait_for(keys, |shell| !shell.output.is_empty());
            shell.wait_for(keys, Shell::look);
        }
        kill_process(shell.child.pid, Signal::STOP).unwrap();
        let stat = format!("/proc/{}/stat", shell.child.pid.as_raw_nonzero());
        shell
            .wait_for("a stop", |_| fields(&fs::read(&stat).unwrap()).unwrap().next() == Some("T"));
        assert!(!shell.look(), "{command:?} is stopped");
        kill_process(shell.child.pid, Signal::CONT).unwrap();
        // A wait that was stopped goes on as another system call (restart_syscall(2)), until the next key.
        shell.type_text("z");
        shell.wait_for("the prompt", Shell::look);
    }
}

#[test]
fn commands_that_read_as_a_line_editor_does_are_no_prompt() {
    let read = "read -es -p A''SK x";
    let bash = [
        read,
        &format!("f() {{ {read}; }}; f"),
        &format!("trap \"{read}\" USR1; kill -USR1 $$"),
        &format!("PROMPT_COMMAND=\"{read}; unset PROMPT_COMMAND\""),
        &format!("if true; then for i in 1; do eval \"{read}\"; done; fi"),
    ];
    let zsh = [
        "printf A''SK; read -k1 -s x",
        "vared -p A''SK -c x",
        "w() { printf A''SK; read -s x </dev/tty }; zle -N w; zle-line-init() { zle -D zle-line-init; zle w }; zle -N zle-line-init",
    ];
    let fish = ["read -s -P A''SK x", "function f; read -s -P A''SK x; end; f"];
    for (command, questions) in [(&BASH[..], &bash[..]), (&ZSH, &zsh), (&["fish"], &fish)] {
        let mut shell = Shell::known(&format!("ask-{}", command[0]), command);
        let prompt = shell.waits().unwrap();
        for question in questions {
            let wait =
                shell.ask(question, "\r", true).expect("only the stack tells it from a prompt");
            assert_ne!(wait.stack_pointer, prompt.stack_pointer, "{question}");
            assert_eq!((wait.editor, wait.stack_start), (prompt.editor, prompt.stack_start));
        }
    }
}

#[test]
fn other_programs_and_other_shells_are_no_prompt() {
    let mut shell = Shell::known("others", &BASH);
    for (command, end) in [
        ("read -s -p A''SK x", "\r"),
        ("(read -es -p A''SK x)", "\r"),
        ("PS1=A''SK bash --norc", "exit\r"),
        ("sh -c 'stty -icanon -echo; printf A\"\"SK; read x; stty sane'", "\r"),
        ("vim -u NONE -c 'echo \"A\" .. \"SK\"'", "\x1b:q!\r"),
        ("su -c 'printf A\"\"SK; cat' \"$(id -un)\"", "\x03"),
    ] {
        assert_eq!(shell.ask(command, end, false), None, "{command}");
    }
    // This program replaces the shell, and keeps its name, process group and modes.
    let imitation = "import os, sys, tty; tty.setraw(0); os.write(1, b'A' + b'SK'); os.read(0, 9)";
    shell.type_text(&format!("exec -a bash python3 -c \"{imitation}\"\r"));
    shell.wait_for("another program", |shell| shell.output.contains("ASK"));
    assert!(!shell.look());
}

#[test]
fn a_shell_that_is_executed_again_is_learned_again() {
    let mut shell = Shell::known("exec", &BASH);
    let before = shell.waits();
    shell.type_text("exec bash --norc\r");
    shell.wait_for("a new prompt", |shell| {
        assert!(shell.waits() == before || !shell.look());
        shell.watch.first != before && shell.watch.first == shell.waits()
    });
    shell.run_job();
    shell.wait_for("the prompt", Shell::look);
}

#[test]
fn a_question_of_a_start_up_file_is_never_taken_for_the_prompt() {
    let home = Directory::new("start-up");
    let question =
        "PS1='@ '\nwhile read -es -p ASK x && [ \"$x\" != ok ]; do /bin/sleep 0.02; done\n";
    let file = home.write("rc", question);
    let mut shell = Shell::start_in(home, &["bash", "--rcfile", &file]);
    for answer in ["no\r", "no\r", "ok\r"] {
        shell.wait_for("a question", |shell| {
            assert!(!shell.look());
            shell.output.contains("ASK") && shell.waits().is_some()
        });
        shell.type_text(answer);
    }
    shell.wait_for("the prompt", |shell| shell.output.contains("@ ") && shell.waits().is_some());
    shell.run_job();
    shell.wait_for("the prompt", |shell| shell.output.contains("@ ") && shell.waits().is_some());
    // The price of this caution is that the watch never recognises this shell's prompt.
    assert!(!shell.look());

    let home = Directory::new("start-up-fish");
    home.write(".config/fish/config.fish", "read -s -P ASK x\n");
    let mut shell = Shell::start_in(home, &["fish"]);
    let mut question = None;
    shell.wait_for("a question", |shell| {
        assert!(!shell.look());
        question = shell.waits();
        shell.output.contains("ASK") && question.is_some()
    });
    shell.type_text("x\r");
    shell.wait_for("the prompt", |shell| {
        assert!(!shell.look());
        shell.watch.first.is_some() && shell.watch.first != question
    });
    shell.learn();
    assert!(shell.home.0.exists());
}

/// Types code that asks "ASK" into a program, and types an answer when the program sleeps. Returns how it waited.
fn ask_in_program(shell: &mut Shell, prompt: &str, question: &str) -> Option<Wait> {
    let mut wait = None;
    shell.type_text(&format!("{question}\r"));
    shell.wait_for(question, |shell| {
        let has_asked = shell.output.contains("ASK");
        assert!(!has_asked || !shell.look(), "{question}: no prompt is this");
        let pid = number(tcgetpgrp(&shell.master.0).unwrap());
        let stat = fs::read(format!("/proc/{pid}/stat")).unwrap();
        let is_line = shell.master.modes().unwrap().modes.contains(TtyModes::CANONICAL);
        wait = Wait::read(Path::new("/proc"), pid, Some(number(shell.child.pid)));
        wait = wait.take().filter(|_| !is_line);
        has_asked && fields(&stat).unwrap().next() == Some("S")
    });
    shell.type_text("x\r");
    shell.wait_for("the prompt", |shell| shell.output.ends_with(prompt) && shell.look());
    wait
}

/// Starts a server that accepts a client of PostgreSQL and answers no query, and returns the command of this client.
fn serve_postgres() -> String {
    let folder = format!("rove-{}", std::process::id());
    let address = SocketAddr::from_abstract_name(format!("{folder}/.s.PGSQL.5432")).unwrap();
    let listener = UnixListener::bind_addr(&address).unwrap();
    std::thread::spawn(move || {
        let (mut client, _) = listener.accept().unwrap();
        let _ = client.read(&mut [0; 999]).unwrap();
        client.write_all(b"R\0\0\0\x08\0\0\0\0Z\0\0\0\x05I").unwrap();
        let _ = client.read(&mut [0; 999]);
    });
    format!("psql -Xh @{folder} -p 5432 shop")
}

#[test]
fn a_program_of_the_shell_is_told_at_its_prompt_and_at_no_question() {
    let child = "bash -c \"read -es -p A''SK x\"";
    let select =
        "import select, tty; _ = tty.setcbreak(0); print('A' 'SK'); select.select([0], [], [])";
    let getpass = "import getpass; getpass.getpass('A' 'SK')";
    let silent = "import os; os.system('stty -echo'); input('A' 'SK'); os.system('stty echo')";
    let nested = format!("exec(\"{silent}\")");
    let in_gdb = |code: &str| format!("python {code}");
    let python = [(getpass, false), (select, true), (silent, true), (&nested, true)];
    let gdb = [
        (format!("shell {child}"), false),
        (in_gdb(getpass), false),
        (in_gdb(&select.replace("SK'", "SK', flush=True")), true),
    ];
    let gdb = gdb.each_ref().map(|(question, is_alike)| (&question[..], *is_alike));
    let in_sqlite = format!(".shell {child}");
    let in_psql = format!("\\! {child}");
    let psql = serve_postgres();
    for (command, prompt, line, questions) in [
        ("python3", ">>> ", "1 + 1", &python[..]),
        ("gdb -q -nx", "(gdb) ", "print 1", &gdb),
        ("sqlite3", "sqlite> ", "select 1;", &[(&in_sqlite, false)]),
        (&psql, "shop=> ", "\\echo 1", &[(&in_psql, false), ("\\prompt A'SK' x", false)]),
        ("redis-cli -p 1", "not connected> ", "ping", &[]),
    ] {
        let mut shell = Shell::start(&format!("program-{}", prompt.trim()), &BASH);
        shell.wait_for("a shell", |shell| shell.output.ends_with("@ "));
        for keys in [command, line, line] {
            shell.type_text(&format!("{keys}\r"));
            shell.wait_for(keys, |shell| shell.output.ends_with(prompt) && shell.look());
            shell.type_text("y");
            shell.wait_for("a key", |shell| shell.output.contains('y') && shell.look());
            shell.type_text("\x7f");
        }
        let first = shell.watch.program.clone().unwrap();
        for (question, is_alike) in questions {
            let wait = ask_in_program(&mut shell, prompt, question);
            assert_eq!(wait.is_some(), *is_alike, "{question}: only the stack tells it");
            assert!(wait.is_none_or(|wait| wait.stack_pointer != first.stack_pointer));
        }
    }
}

#[test]
fn a_program_counts_only_as_the_shells_own_and_python_only_without_a_script() {
    for (number, (exe, arguments, children, is_told)) in [
        ("python3.11", "python3\0", "10 11", true),
        ("python3.11 < /ask.py", "python3\0", "10", false),
        ("python3.11", "python3\0ask.py\0", "10", false),
        ("python3.11", "", "10", false),
        ("gdb", "gdb\0-q\0", "10", true),
        ("sqlite3", "sqlite3\0shop.db\0", "10", true),
        ("sqlite3", "sqlite3\0", "10 13", false),
        ("psql", "psql\0shop\0", "10", true),
        ("psql", "psql\0", "10 13", false),
        ("redis-cli", "redis-cli\0-p\x001\0", "10", true),
        ("gdb-12x", "gdb\0", "10", false),
        ("node", "node\0", "10", false),
        ("bash", "bash\0", "10", false),
    ]
    .into_iter()
    .enumerate()
    {
        for (shell, is_parent) in [(1, true), (2, false)] {
            let proc = made_up_proc(&format!("program-{number}-{shell}"));
            let (exe, input) = exe.split_once(" < ").unwrap_or((exe, "/dev/pts/1"));
            relink(&proc, &format!("/usr/bin/{exe}"));
            for (pid, input) in [(10, input), (shell, "/dev/pts/1")] {
                fs::create_dir_all(proc.0.join(format!("{pid}/fd"))).unwrap();
                symlink(input, proc.0.join(format!("{pid}/fd/0"))).unwrap();
            }
            proc.write("10/cmdline", arguments);
            proc.write("13/stat", &stat("less", "S", 10));
            proc.write(&format!("{shell}/task/{shell}/children"), children);
            let found = Wait::read(&proc.0, 10, Some(shell));
            assert_eq!(found.is_some(), is_told && is_parent, "{exe} {arguments} {children}");
        }
    }
}

/// Creates a directory like `/proc` with process 10, a bash, whose child 11 is in another group.
fn made_up_proc(name: &str) -> Directory {
    let proc = Directory::new(name);
    proc.write("10/stat", &stat("bash", "S", 10));
    proc.write("10/syscall", "270 0x1 0x2 0x0 0x0 0x0 0x6 0x7ffd0010 0x7f0000\n");
    proc.write("10/task/10/children", "11 12 ");
    proc.write("11/stat", &stat("x", "S", 11));
    symlink("/usr/bin/bash", proc.0.join("10/exe")).unwrap();
    proc
}

fn made_up(name: &str, change: impl FnOnce(&Directory)) -> Option<Wait> {
    let proc = made_up_proc(name);
    change(&proc);
    Wait::read(&proc.0, 10, None)
}

fn stat(name: &str, state: &str, group: i32) -> String {
    let rest = "0 ".repeat(22);
    format!("10 ({name}) {state} 1 {group} {rest}140736 5 6\n")
}

fn relink(proc: &Directory, exe: &str) {
    fs::remove_file(proc.0.join("10/exe")).unwrap();
    symlink(exe, proc.0.join("10/exe")).unwrap();
}

#[test]
fn a_name_does_not_tell_which_program_it_is_nor_hide_its_state() {
    let wait = Wait { editor: &EDITORS[0], stack_start: 140_736, stack_pointer: 0x7ffd_0010 };
    assert_eq!(made_up("plain", |_| {}), Some(wait.clone()));
    for (number, name) in ["a b", ") R 1 (", "x) S 1 10 (y", "\n) ", ")", ""].iter().enumerate() {
        for (state, wanted) in [("S", Some(&wait)), ("R", None), ("T", None)] {
            let found = made_up(&format!("name-{number}{state}"), |proc| {
                proc.write("10/stat", &stat(name, state, 10));
            });
            assert_eq!(found.as_ref(), wanted, "{name:?}");
        }
    }
    for (number, (exe, is_shell)) in [
        ("/nix/store/bash-5.2/bin/bash", true),
        ("/usr/bin/bash (deleted)", true),
        ("/usr/bin/python3.11", false),
        ("/bin/bash/x", false),
        ("bash ", false),
        ("/", false),
    ]
    .into_iter()
    .enumerate()
    {
        let found = made_up(&format!("exe-{number}"), |proc| relink(proc, exe));
        assert_eq!(found.is_some(), is_shell, "{exe}");
    }
}

#[test]
fn whatever_else_is_not_as_it_is_at_a_prompt_states_nothing() {
    let remove = |proc: &Directory, name: &str| fs::remove_file(proc.0.join(name)).unwrap();
    for (number, name) in ["stat", "syscall", "exe", "task/10/children"].into_iter().enumerate() {
        let found = made_up(&format!("gone-{number}"), |proc| remove(proc, &format!("10/{name}")));
        assert_eq!(found, None, "without {name}");
    }
    let ends = " 0x1 0x2 0x0 0x0 0x0 0x6 0x7ffd0010 0x7f0000";
    for (number, syscall) in [
        "running\n".to_owned(),
        "-1 0x7ffd0010 0x7f0000\n".to_owned(),
        format!("61{ends}\n"),
        format!("270{ends} 0x1\n"),
        "270 0x1 0x2 0x0 0x0 0x0 0x6 7ffd0010 0x7f0000\n".to_owned(),
        "\u{ff}".to_owned(),
        String::new(),
    ]
    .iter()
    .enumerate()
    {
        let found =
            made_up(&format!("syscall-{number}"), |proc| drop(proc.write("10/syscall", syscall)));
        assert_eq!(found, None, "{syscall:?}");
    }
    let company =
        made_up("company", |proc| drop(proc.write("11/stat", &stat("a) S 1 11 (", "S", 10))));
    assert_eq!(company, None, "a child in the shell's group may read, too");
    let children = |count: usize| "12 ".repeat(count);
    for (count, is_told) in [(CHILDREN_MAX, true), (CHILDREN_MAX + 1, false)] {
        let found = made_up(&format!("children-{count}"), |proc| {
            proc.write("10/task/10/children", &children(count));
        });
        assert_eq!(found.is_some(), is_told, "{count} children");
    }
    assert_eq!(made_up("short", |proc| drop(proc.write("10/stat", "10 (bash) S 1 10"))), None);
}
