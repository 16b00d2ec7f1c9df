//! `rove-lab remy worker`: does the tasks that it reads, and writes their answers.
//!
//! An engine starts it on any computer: it needs no files and knows nothing of other workers. It ends when its input does.

use std::io::{BufRead, Read, Write};

use anyhow::{Context, Result, bail, ensure};

use crate::task::Message;

/// Longest line in bytes. Chosen: the largest readable table, with as much for the rest.
const LINE_BYTES_MAX: u64 = 33_554_432;

/// Answers each task, in order.
///
/// # Errors
///
/// Returns an error at the first line that is no message, asks for a run that cannot be, or cannot be answered.
pub(crate) fn work(mut input: impl BufRead, mut output: impl Write) -> Result<()> {
    let mut common = None;
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
            Message::Terms(terms) => common = Some(terms.read().with_context(place)?),
            Message::Task(task) => {
                let Some((terms, table)) = &common else {
                    bail!("line {number} of standard input is a task without terms before it");
                };
                let answer = task.run(terms, table).with_context(place)?;
                let text = serde_json::to_string(&answer).context("cannot write an answer")?;
                writeln!(output, "{text}").context("cannot write standard output")?;
                output.flush().context("cannot write standard output")?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use rove_congestion::remy::{Action, Table};

    use super::*;
    use crate::objective::Objective;
    use crate::task::{Answer, Task, TermsMessage};
    use crate::terms::Terms;
    use crate::training_network::TrainingNetwork;

    const NETWORK: TrainingNetwork = TrainingNetwork {
        packets_per_ms: 1.1,
        rtt_ms: 50.3,
        senders: 2,
        mean_on_ms: 1_000.7,
        mean_off_ms: 1_000.1,
        buffer_packets: Some(50),
        loss: 0.01,
        typing: None,
    };

    const TERMS: Terms =
        Terms { objective: Objective::DEFAULT, seed: u64::MAX - 1, length_ms: 5_000.3 };

    fn tables() -> [Table; 2] {
        let action = |multiple| Action { multiple, increment: 3, intersend_ms: 0.7 };
        [0.9, 0.7].map(|multiple| Table::uniform(action(multiple)).expect("one rule"))
    }

    fn lines(messages: &[Message]) -> String {
        messages.iter().map(|it| serde_json::to_string(it).expect("JSON") + "\n").collect()
    }

    fn answers(input: &str) -> Result<Vec<Answer>> {
        let mut output = Vec::new();
        work(input.as_bytes(), &mut output)?;
        let lines = output.split_inclusive(|byte| *byte == b'\n');
        Ok(lines.map(|line| serde_json::from_slice(line).expect("an answer")).collect())
    }

    #[test]
    fn answers_are_those_of_this_process_to_the_last_bit() {
        let [base, other] = tables();
        let runs = [(7, &base, 0), (8, &other, 0), (9, &base, 3)];
        let task = |(task, table, number)| Task::new(task, &base, table, number, &NETWORK);
        let mut messages = vec![Message::Terms(TermsMessage::new(&TERMS, &base))];
        messages.extend(runs.map(|run| Message::Task(task(run))));
        let expected = runs.map(|(task, table, number)| Answer {
            task,
            result: TERMS.appraise(table, number, &NETWORK),
        });
        assert_eq!(answers(&lines(&messages)).expect("answers"), expected);
        assert_ne!(expected[0].result, expected[1].result);
        assert_ne!(expected[0].result, expected[2].result);
    }

    #[test]
    fn a_line_that_is_no_task_ends_the_work_with_its_number() {
        let [base, _] = tables();
        let terms = lines(&[Message::Terms(TermsMessage::new(&TERMS, &base))]);
        let task = lines(&[Message::Task(Task::new(1, &base, &base, 0, &NETWORK))]);
        let cut = &task[..task.len() / 2];
        for (input, told) in [
            (task.clone(), "line 1 of standard input is a task without terms"),
            (format!("{terms}{cut}\n"), "line 2 of standard input"),
            (format!("{terms}{cut}"), "line 2 is cut off"),
            (format!("{terms}{}", task.replace("[]", "[[5,1.0,1,1.0]]")), "has no rule 6"),
            (terms.replace("rove-remy-1", "other"), "line 1 of standard input"),
            (terms.replace("delta=1", "delta=x"), "delta is a number"),
        ] {
            let error = answers(&input).expect_err(told);
            assert!(format!("{error:#}").contains(told), "{error:#}");
        }
    }
}
