//! The job of a `rove exec` call: a program on the host, with one stream each for its input, output and errors.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use rove_streams::{Exit, Mux, Part, StreamError, StreamId, Target};
use rove_units::Instant;

use super::load::{Carried, Ends, Load};
use crate::opening::{Answered, Opening};
use crate::splice::Splice;

/// The job of a `rove exec` call, with the state of its program on the host.
pub(crate) struct Program {
    ends: Ends,
    /// The streams that the client has opened.
    streams: Vec<StreamId>,
    part: Part,
    /// The part of the command that the client has not yet written to the stream of input.
    command: Vec<u8>,
    /// The stream of input. The host's answer on it is the program's exit status. `None` until the streams are opened.
    input: Option<Opening>,
    /// The streams of output and errors. Each is `None` before the client opens it, and after the host has accepted it.
    outputs: [Option<Opening>; 2],
    exit: Option<Exit>,
}

impl Program {
    pub(crate) fn new(command: &OsStr, is_subsystem: bool, ends: Ends) -> Self {
        let command = command.as_bytes().to_vec();
        Self {
            ends,
            streams: Vec::new(),
            part: Part::Input { command_len: command.len(), is_subsystem },
            command,
            input: None,
            outputs: [None, None],
            exit: None,
        }
    }

    /// Begins to copy between the streams that the host has opened and their descriptors. Returns the job's result if
    /// the host refuses a stream, else `None`.
    fn join(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        input: StreamId,
        splices: &mut Vec<Splice>,
    ) -> anyhow::Result<Option<Carried>> {
        for index in 0..self.outputs.len() {
            let Some(opening) = &mut self.outputs[index] else { continue };
            let Some(answered) = opening.answer(now, mux) else { continue };
            let Answered::Opened(_) = answered else { return Ok(Some(self.unopened(answered))) };
            let id = opening.id();
            self.outputs[index] = None;
            if index == 0 {
                // Standard input stays unread until the host's answer, so that ssh can still run the program instead.
                let stdin = self.ends.take(0)?;
                splices.push(Splice::halves(input, Some(stdin), None));
                let stdout = self.ends.take(1)?;
                splices.push(Splice::halves(id, None, Some(stdout)));
            } else {
                let stderr = self.ends.take(2)?;
                splices.push(Splice::halves(id, None, Some(stderr)));
            }
        }
        Ok(None)
    }

    /// Reads the host's answer on the input's stream. Stores an exit status in `exit`. Returns the job's result if the
    /// host refuses or cuts the stream, else `None`.
    fn look_for_end(&mut self, now: Instant, mux: &mut Mux) -> Option<Carried> {
        match self.input.as_mut()?.answer(now, mux)? {
            Answered::Exited(exit) => {
                self.exit = Some(exit);
                None
            }
            answered => Some(self.unopened(answered)),
        }
    }

    /// Returns the result of a job whose stream the host has refused or cut.
    fn unopened(&self, answered: Answered) -> Carried {
        let has_begun = self.exit.is_some() || self.outputs.iter().any(Option::is_none);
        match answered {
            Answered::Refused(reason) | Answered::Busy(reason) => {
                Carried::Failed(vec![format!("the program was not run: {reason}")])
            }
            _ if !has_begun => {
                let reason = "the host's rove runs no programs for `rove exec`";
                Carried::Declined(reason.to_owned())
            }
            _ => Carried::Failed(vec!["the host has cut the program off".to_owned()]),
        }
    }
}

impl Load for Program {
    fn open(&mut self, now: Instant, mux: &mut Mux) -> anyhow::Result<()> {
        debug_assert!(self.input.is_none(), "the streams are opened once");
        let mut begin = |part| {
            let opening = Opening::begin(now, mux, &Target::Program(part))?;
            self.streams.push(opening.id());
            Ok::<_, StreamError>(opening)
        };
        let input = begin(self.part)?;
        self.outputs =
            [Some(begin(Part::Output(input.id()))?), Some(begin(Part::Errors(input.id()))?)];
        self.input = Some(input);
        Ok(())
    }

    fn turn(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        splices: &mut Vec<Splice>,
    ) -> anyhow::Result<Option<Carried>> {
        let Some(input) = self.input.as_ref().map(Opening::id) else { return Ok(None) };
        if !self.command.is_empty()
            && let Ok(count) = mux.write(input, &self.command)
        {
            self.command.drain(..count);
        }
        if self.exit.is_none()
            && let Some(carried) = self.look_for_end(now, mux)
        {
            return Ok(Some(carried));
        }
        if let Some(carried) = self.join(now, mux, input, splices)? {
            return Ok(Some(carried));
        }
        let are_over = self.outputs.iter().all(Option::is_none)
            && splices.iter().all(|it| it.is_of(input) || it.is_over());
        debug_assert!(splices.len() <= 3, "a program has three streams");
        let Some(exit) = self.exit.filter(|_| are_over) else { return Ok(None) };
        // As with ssh, a program's own failure is reported also if its output was lost.
        let loss = splices.iter().find_map(Splice::loss);
        let loss = loss.filter(|_| !matches!(exit, Exit::Code(1..)));
        Ok(Some(loss.map_or(Carried::Ended(exit), |loss| Carried::Failed(vec![loss]))))
    }

    fn streams(&self) -> Vec<StreamId> {
        self.streams.clone()
    }
}

#[cfg(test)]
mod tests {
    use rove_streams::{Answer, REFUSED, UNREACHED};
    use rove_units::Duration;

    use super::*;
    use crate::tests::muxes::{deliver, muxes};

    /// Returns the result of a program after `answer` has answered its three streams, in the order of their opening.
    fn carried(answer: impl FnOnce(&mut Mux, &[StreamId])) -> Option<Carried> {
        let (mut client, mut server) = muxes();
        let (command, ends) = (OsStr::new("x"), Ends::Passed(Vec::new()));
        let mut program = Program::new(command, false, ends);
        program.open(Instant::ZERO, &mut client).unwrap();
        deliver(Instant::ZERO, &mut client, &mut server);
        while server.accept().is_some() {}
        answer(&mut server, &program.streams);
        (1..10).find_map(|step| {
            let now = Instant::ZERO + Duration::from_millis(50) * step;
            deliver(now, &mut server, &mut client);
            program.turn(now, &mut client, &mut Vec::new()).unwrap()
        })
    }

    #[test]
    fn a_program_whose_output_or_errors_alone_are_refused_is_over() {
        for refused in 0..3 {
            let busy = Answer::Refused { code: UNREACHED, text: "too many".to_owned() };
            let failed = Carried::Failed(vec!["the program was not run: too many".to_owned()]);
            let refuse = |mux: &mut Mux, ids: &[StreamId]| {
                mux.write(ids[refused], &busy.encode()).unwrap();
            };
            assert_eq!(carried(refuse), Some(failed), "{refused}");
            let cut = |mux: &mut Mux, ids: &[StreamId]| mux.reset(ids[refused], REFUSED).unwrap();
            assert!(matches!(carried(cut), Some(Carried::Declined(_))), "{refused}");
        }
        assert_eq!(carried(|_, _| ()), None, "the host has not answered");
    }
}
