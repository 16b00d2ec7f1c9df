//! Ray: workers on other processors, maybe of other computers, that do tasks. All callers use one line protocol.
//!
//! A script in Python spreads tasks over workers. A worker is this program, with words that the caller names. An order
//! to the script is a line of terms (data for all tasks), a line for each task, and an empty line. Answers come in any
//! order, each with its task's number. Numbers read as they were written, so an answer equals a thread's to the bit.

use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Error, Result, anyhow, bail, ensure};
use rove_host::program::own_file;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// The script, which needs the Python package `ray`.
const SCRIPT: &str = include_str!("ray.py");

/// Longest line to a worker in bytes. Chosen: the largest readable table of Remy, with as much for the rest.
const LINE_BYTES_MAX: u64 = 33_554_432;

/// A line to a worker.
#[derive(Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
enum Message<M, T> {
    /// The data that all later tasks share.
    Terms(M),
    /// A task with its number.
    Task(usize, T),
}

/// The answer to a task.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct Answer<R> {
    task: usize,
    result: R,
}

/// Workers that are ready for tasks.
#[derive(Debug)]
pub struct Pool {
    /// The names of the workers: a computer and a process number each.
    pub names: Vec<String>,
    program: Mutex<Program>,
}

/// The script that spreads tasks. Its pipes are dropped before `child`, because the closed pipes end the script.
#[derive(Debug)]
struct Program {
    /// The script's input. `None` during an order, and after an order that has failed.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
    child: Awaited,
}

/// A process that is waited for when it is dropped.
#[derive(Debug)]
struct Awaited(Child);

impl Pool {
    /// Starts `workers` workers on Ray, or one for each processor. Each runs this program with `words`, for [`work`].
    ///
    /// # Errors
    ///
    /// Returns an error if there is no Python, no Ray, or no cluster.
    pub fn start(words: &[&str], workers: Option<usize>) -> Result<Self> {
        let program = own_file().context("cannot tell this program's own file")?;
        let mut command = Command::new("python3");
        command.args(["-c", SCRIPT]).arg(program).arg(workers.unwrap_or(0).to_string()).args(words);
        Self::of(command).context(
            "cannot start workers on Ray; without --engine ray this computer does the work",
        )
    }

    /// Runs the script's command, and waits until its workers are ready.
    fn of(mut command: Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = (command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn())
            .with_context(|| format!("cannot run {name}"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        let mut program = Program { input, output, child: Awaited(child) };
        let line = program.next_line()?;
        let words: Vec<&str> = line.strip_prefix("ready ").unwrap_or("").split(' ').collect();
        let names = words.chunks_exact(2).map(|name| name.join(" ")).collect();
        Ok(Self { names, program: Mutex::new(program) })
    }

    /// Does tasks that share the data `terms`. Returns their results in order. `each` gets every result as it comes.
    ///
    /// # Errors
    ///
    /// Returns an error if no workers are left, if an answer is invalid, or if `each` fails.
    pub fn run<R: DeserializeOwned>(
        &self,
        terms: &impl Serialize,
        tasks: &[impl Serialize],
        mut each: impl FnMut(&R) -> Result<()>,
    ) -> Result<Vec<R>> {
        let order = order(terms, tasks)? + "\n";
        let mut program = self.program.lock().expect("nobody panics while holding this");
        // After a failed order there is no input, so that late answers are never taken for those of another order.
        let mut input = program.input.take().context("its program has ended")?;
        if input.write_all(order.as_bytes()).and_then(|()| input.flush()).is_err() {
            // The script wrote a line with the reason, or ended without a reason.
            return Err(program.next_line().map_or_else(|reason| reason, |line| strange(&line)));
        }
        let mut results: Vec<Option<R>> = tasks.iter().map(|_| None).collect();
        for _ in tasks {
            let line = program.next_line()?;
            let answer: Answer<R> = serde_json::from_str(&line).map_err(|_| strange(&line))?;
            let place = results.get_mut(answer.task).filter(|place| place.is_none());
            let place = place.ok_or_else(|| strange(&line))?;
            each(&answer.result)?;
            *place = Some(answer.result);
        }
        program.input = Some(input);
        Ok(results.into_iter().flatten().collect())
    }
}

impl Program {
    /// Returns the script's next line. The error tells why no line came.
    fn next_line(&mut self) -> Result<String> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line)?;
        if let Some(reason) = line.strip_prefix('!') {
            bail!("{}", reason.trim_end());
        }
        if read == 0 {
            self.input = None;
            let status = self.child.0.wait()?;
            bail!("the program that spreads the work has ended: {status}");
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        let _ = self.0.wait();
    }
}

/// Does the work of a worker: answers each task of `input` in order, until the input ends. `prepare` reads the
/// data that later tasks share, and `perform` does a task.
///
/// # Errors
///
/// Returns an error at the first line that is no message or asks for the impossible, or if an answer cannot be written.
pub fn work<M: DeserializeOwned, P, T: DeserializeOwned, R: Serialize>(
    mut input: impl BufRead,
    mut output: impl Write,
    prepare: impl Fn(M) -> Result<P>,
    perform: impl Fn(&P, T) -> Result<R>,
) -> Result<()> {
    let mut prepared = None;
    let mut line = String::new();
    for number in 1_u64.. {
        line.clear();
        let mut limited = Read::take(&mut input, LINE_BYTES_MAX);
        let read = limited.read_line(&mut line).context("cannot read standard input")?;
        if read == 0 {
            break;
        }
        ensure!(line.ends_with('\n'), "line {number} is cut off, or too long");
        let place = || format!("line {number} of standard input");
        match serde_json::from_str(&line).with_context(place)? {
            Message::Terms(terms) => prepared = Some(prepare(terms).with_context(place)?),
            Message::Task(task, it) => {
                let Some(prepared) = &prepared else {
                    bail!("line {number} of standard input is a task without terms before it");
                };
                let answer = Answer { task, result: perform(prepared, it).with_context(place)? };
                let text = serde_json::to_string(&answer).context("cannot write an answer")?;
                writeln!(output, "{text}").context("cannot write standard output")?;
                output.flush().context("cannot write standard output")?;
            }
        }
    }
    Ok(())
}

/// Returns the lines of an order as a worker reads them: the tasks' shared `terms`, and the tasks, numbered from 0.
///
/// # Errors
///
/// Returns an error if the terms or a task cannot be written as JSON.
pub fn order<M: Serialize, T: Serialize>(terms: &M, tasks: &[T]) -> Result<String> {
    let tasks = tasks.iter().enumerate().map(|(number, task)| Message::Task(number, task));
    let mut lines = String::new();
    for message in core::iter::once(Message::Terms(terms)).chain(tasks) {
        lines += &serde_json::to_string(&message).context("cannot write an order as JSON")?;
        lines.push('\n');
    }
    Ok(lines)
}

/// Returns the error of a line that is no answer to the order.
fn strange(line: &str) -> Error {
    let begin: String = line.chars().take(60).collect();
    anyhow!("{begin:?} is no answer to a task")
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns a pool whose program is a shell script. It finds the answers to three tasks in `$0`, `$1` and `$2`.
    fn pool(script: &str) -> Pool {
        let mut answers = Vec::new();
        let tasks = order(&100, &[0, 1, 2]).expect("lines");
        work(tasks.as_bytes(), &mut answers, Ok, sum).expect("answers");
        let answers = String::from_utf8(answers).expect("text");
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("echo ready here 1 there 2; {script}")).args(answers.lines());
        Pool::of(command).expect("it is ready")
    }

    #[expect(clippy::unnecessary_wraps, reason = "tasks may fail")]
    fn sum(terms: &u64, task: u64) -> Result<u64> {
        Ok(terms + task)
    }

    /// Reads a whole order, in the shell's language.
    const READ: &str = "while read -r line && [ -n \"$line\" ]; do :; done;";

    #[test]
    fn answers_in_any_order_are_told_of_in_it_and_put_in_that_of_the_tasks() {
        let pool = pool(&format!("{READ} printf '%s\\n' \"$2\" \"$0\" \"$1\"; cat >/dev/null"));
        assert_eq!(pool.names, ["here 1", "there 2"]);
        let mut told = Vec::new();
        let results = pool.run(&100, &[0, 1, 2], |result: &u64| {
            told.push(*result);
            Ok(())
        });
        assert_eq!(results.expect("answers"), [100, 101, 102]);
        assert_eq!(told, [102, 100, 101]);
    }

    #[test]
    fn a_pool_that_fails_says_why_and_fails_again_when_it_is_asked_again() {
        for (script, told) in [
            (format!("{READ} echo '!the worker died three times'"), "the worker died three times"),
            (format!("{READ} echo \"$0\"; exit 7"), "has ended: exit status: 7"),
            (format!("{READ} echo \"$0\"; echo \"$0\"; cat >/dev/null"), "is no answer to a task"),
            (format!("{READ} echo '{{}}'; cat >/dev/null"), "\"{}\" is no answer to a task"),
            ("exec <&-; echo '!gone'".to_owned(), "gone"),
            (format!("{READ} yes \"$2\""), "the disk is full"),
        ] {
            let each = |result: &u64| {
                ensure!(*result != 102, "the disk is full");
                Ok(())
            };
            let pool = pool(&script);
            let error = pool.run(&100, &[0, 1, 2], each).expect_err(&script);
            assert!(error.to_string().contains(told), "{script}: {error}");
            let again = pool.run(&100, &[0, 1, 2], each).expect_err(&script);
            assert!(again.to_string().contains("its program has ended"), "{script}: {again}");
        }
        let mut silent = Command::new("sh");
        silent.args(["-c", "exit 3"]);
        let error = Pool::of(silent).expect_err("it ends at once").to_string();
        assert!(error.contains("has ended: exit status: 3"), "{error}");
    }

    /// Stands for the package `ray`: each call is done at once, in this process.
    const RAY: &str = "\
import types

class Done:
    def __init__(self, it):
        self.it = it

class Actor:
    def __init__(self, of, *words):
        self.of = of(*words)
    def __getattr__(self, name):
        return types.SimpleNamespace(remote=lambda *words: Done(getattr(self.of, name)(*words)))

def remote(**_):
    return lambda of: types.SimpleNamespace(remote=lambda *words: Actor(of, *words))

def init(**_): pass
def put(it): return it
def cluster_resources(): return dict(CPU=1)
def wait(running): return running[:1], running[1:]
def get(it): return [get(one) for one in it] if isinstance(it, list) else it.it

class exceptions:
    class RayError(Exception): pass
";

    #[test]
    fn a_worker_that_writes_much_to_standard_error_goes_on_and_its_last_words_are_told() {
        if Command::new("python3").arg("--version").output().is_err() {
            println!("skipped: there is no python3");
            return;
        }
        let folder = std::env::temp_dir().join(format!("rove-runs-ray-{}", std::process::id()));
        std::fs::create_dir_all(&folder).expect("a folder");
        std::fs::write(folder.join("ray.py"), RAY).expect("a file");
        // This output is more than a pipe holds.
        let loud = "yes | head -c 200000 >&2; read -r _; ";
        let start = |script: String| {
            let file = folder.join("worker");
            std::fs::write(&file, format!("#!/bin/sh\n{loud}{script}\n")).expect("a file");
            // A worker that hangs makes the script hang. `timeout` ends both.
            let mut command = Command::new("timeout");
            command
                .args(["120", "python3", "-c", SCRIPT])
                .arg(&file)
                .args(["1", "word"])
                .env("PYTHONPATH", &folder);
            Pool::of(command).expect("it is ready")
        };
        let answer = r#"{"task":0,"result":7}"#;
        let pool = start(format!("read -r _; echo '{answer}'; read -r _"));
        let results: Vec<u64> = pool.run(&100, &[0], |_| Ok(())).expect("an answer");
        assert_eq!(results, [7]);
        let pool = start("echo the end >&2; exit 3".to_owned());
        let error = pool.run(&100, &[0], |_: &u64| Ok(())).expect_err("it has died").to_string();
        assert!(error.contains("the end;") && error.len() < 3_000, "{error}");
        std::fs::remove_dir_all(&folder).expect("our own folder");
    }

    #[test]
    fn a_line_that_is_no_task_ends_the_work_with_its_number() {
        let order = order(&100, &[1]).expect("lines");
        let (terms, task) = order.split_once('\n').expect("two lines");
        let cut = &task[..task.len() / 2];
        for (input, told) in [
            (task.to_owned(), "line 1 of standard input is a task without terms"),
            (format!("{terms}\n{cut}\n"), "line 2 of standard input"),
            (format!("{terms}\n{cut}"), "line 2 is cut off"),
            (format!("{terms}\n{}", task.replace("[0,", "[-1,")), "line 2 of standard input"),
        ] {
            let error = work(input.as_bytes(), Vec::new(), Ok, sum).expect_err(told);
            assert!(format!("{error:#}").contains(told), "{error:#}");
        }
    }
}
