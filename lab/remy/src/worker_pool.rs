//! Worker pool: processes on other processors that do tasks. A program of its own spreads the tasks over them.
//!
//! The program is a script in Python over Ray. An order goes to its standard input: a line of terms, a line for each task, an empty
//! line; answers come from its standard output in any order, and are put in that of the tasks here.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;

use anyhow::{Context, Result, anyhow};
use rove_platform::program::own_file;

use crate::fault::Fault;
use crate::task::{Answer, Message};
use crate::terms::Appraisal;

/// The script, which needs the Python package `ray`.
const SCRIPT: &str = include_str!("worker_pool.py");

/// Workers that have been started.
#[derive(Debug)]
pub(crate) struct WorkerPool {
    /// The workers, as people tell them apart: a computer and a process each.
    pub(crate) names: Vec<String>,
    program: Mutex<Program>,
}

/// The program that spreads tasks.
#[derive(Debug)]
struct Program {
    child: Child,
    /// `None` once it has been asked to end.
    input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl WorkerPool {
    /// Starts workers on Ray: so many, or one for each processor of the cluster.
    ///
    /// # Errors
    ///
    /// Returns an error if there is no Python, no Ray, or no cluster.
    pub(crate) fn on_ray(workers: Option<usize>) -> Result<Self> {
        let program = own_file().context("cannot tell this program's own file")?;
        let mut command = Command::new("python3");
        command.args(["-c", SCRIPT]).arg(program).arg(workers.unwrap_or(0).to_string());
        let failed =
            "cannot start workers on Ray; without --engine ray a search runs on this computer";
        Self::start(command).context(failed)
    }

    /// Starts a program that spreads tasks, and waits until its workers are ready.
    fn start(mut command: Command) -> Result<Self> {
        let name = command.get_program().to_string_lossy().into_owned();
        let mut child = (command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn())
            .with_context(|| format!("cannot run {name}"))?;
        let input = child.stdin.take();
        let output = BufReader::new(child.stdout.take().expect("standard output is a pipe"));
        let mut program = Program { child, input, output };
        let line = program.next_line().map_err(|reason| anyhow!(reason))?;
        let words: Vec<&str> = line.strip_prefix("ready ").unwrap_or("").split(' ').collect();
        let names = words.chunks_exact(2).map(|name| name.join(" ")).collect();
        Ok(Self { names, program: Mutex::new(program) })
    }

    /// Does tasks, numbered from 0 in their order, after the message of their terms; returns their results in this order.
    ///
    /// # Errors
    ///
    /// Returns a [`Fault`] if there are no more workers, or their answers are none.
    pub(crate) fn run(&self, messages: &[Message]) -> Result<Vec<Result<Appraisal, Fault>>, Fault> {
        let mut program = self.program.lock().expect("nobody panics while holding this");
        program.run(messages).map_err(|reason| Fault::PoolLost { reason })
    }
}

impl Program {
    fn run(&mut self, messages: &[Message]) -> Result<Vec<Result<Appraisal, Fault>>, String> {
        let mut order = String::new();
        for message in messages {
            order += &serde_json::to_string(message).map_err(|error| error.to_string())?;
            order.push('\n');
        }
        order.push('\n');
        let input = self.input.as_mut().ok_or("its program has ended")?;
        if input.write_all(order.as_bytes()).and_then(|()| input.flush()).is_err() {
            // The program has said why, or ended without a word.
            return Err(self.next_line().map_or_else(|reason| reason, |line| strange(&line)));
        }
        let tasks = messages.iter().filter(|it| matches!(it, Message::Task(_))).count();
        let mut results: Vec<Option<Result<Appraisal, Fault>>> = vec![None; tasks];
        for _ in 0..tasks {
            let line = self.next_line()?;
            let answer: Answer = serde_json::from_str(&line).map_err(|_| strange(&line))?;
            let place = results.get_mut(answer.task).filter(|place| place.is_none());
            *place.ok_or_else(|| strange(&line))? = Some(answer.result);
        }
        Ok(results.into_iter().flatten().collect())
    }

    /// Returns the next line of the program, or the reason why there is none.
    fn next_line(&mut self) -> Result<String, String> {
        let mut line = String::new();
        let read = self.output.read_line(&mut line).map_err(|error| error.to_string())?;
        if let Some(reason) = line.strip_prefix('!') {
            return Err(reason.trim_end().to_owned());
        }
        if read == 0 {
            self.input = None;
            let status = self.child.wait().map_err(|error| error.to_string())?;
            return Err(format!("the program that spreads the work has ended: {status}"));
        }
        Ok(line.trim_end().to_owned())
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The end of its input ends the program.
        self.input = None;
        let _ = self.child.wait();
    }
}

/// Returns the reason for a line that is no answer to what was asked.
fn strange(line: &str) -> String {
    let begin: String = line.chars().take(60).collect();
    format!("{begin:?} is no answer to a task")
}

#[cfg(test)]
mod tests {
    use rove_congestion::remy::{Action, Table};

    use super::*;
    use crate::objective::Objective;
    use crate::task::{Task, TermsMessage};
    use crate::terms::Terms;
    use crate::training_network::TrainingNetwork;

    /// Returns the messages of three tasks, and their results.
    fn order() -> (Vec<Message>, Vec<Result<Appraisal, Fault>>) {
        let network = TrainingNetwork {
            packets_per_ms: 1.0,
            rtt_ms: 20.0,
            senders: 1,
            mean_on_ms: 100.0,
            mean_off_ms: 100.0,
            buffer_packets: None,
            loss: 0.0,
            typing: None,
        };
        let terms = Terms { objective: Objective::DEFAULT, seed: 1, length_ms: 3_000.0 };
        let action = Action { multiple: 0.5, increment: 3, intersend_ms: 1.0 };
        let table = Table::uniform(action).expect("one rule");
        let mut messages = vec![Message::Terms(TermsMessage::new(&terms, &table))];
        let task = |number| Message::Task(Task::new(number, &table, &table, number, &network));
        messages.extend((0..3).map(task));
        (messages, (0..3).map(|number| terms.appraise(&table, number, &network)).collect())
    }

    /// Returns a pool whose program is a shell script that finds an answer to each task of [`order`] in `$0`, `$1` and `$2`.
    fn pool(script: &str) -> WorkerPool {
        let answers =
            order().1.into_iter().enumerate().map(|(task, result)| Answer { task, result });
        let answers = answers.map(|answer| serde_json::to_string(&answer).expect("JSON"));
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("echo ready here 1 there 2; {script}")).args(answers);
        WorkerPool::start(command).expect("it is ready")
    }

    /// Reads an order, as a shell has it.
    const READ: &str = "while read -r line && [ -n \"$line\" ]; do :; done;";

    #[test]
    fn answers_in_any_order_are_put_in_that_of_the_tasks() {
        let pool = pool(&format!("{READ} printf '%s\\n' \"$2\" \"$0\" \"$1\"; cat >/dev/null"));
        assert_eq!(pool.names, ["here 1", "there 2"]);
        let (messages, results) = order();
        assert_eq!(pool.run(&messages), Ok(results));
    }

    #[test]
    fn a_pool_that_fails_says_why_and_fails_again_when_it_is_asked_again() {
        for (script, told) in [
            (format!("{READ} echo '!the worker died three times'"), "the worker died three times"),
            (format!("{READ} echo \"$0\"; exit 7"), "has ended: exit status: 7"),
            (format!("{READ} echo \"$0\"; echo \"$0\"; cat >/dev/null"), "is no answer to a task"),
            (format!("{READ} echo '{{}}'; cat >/dev/null"), "\"{}\" is no answer to a task"),
            ("exec <&-; echo '!gone'".to_owned(), "gone"),
        ] {
            let pool = pool(&script);
            let fault = pool.run(&order().0).expect_err(&script).to_string();
            assert!(fault.contains(told), "{script}: {fault}");
            assert!(fault.contains("nothing but the work in flight is lost"), "{fault}");
        }
        let mut silent = Command::new("sh");
        silent.args(["-c", "exit 3"]);
        let error = WorkerPool::start(silent).expect_err("it ends at once").to_string();
        assert!(error.contains("has ended: exit status: 3"), "{error}");
    }
}
