//! Gathers a program's three streams, in any order, at the end that runs it. The program begins when all have arrived.
//!
//! The input stream has the command and then standard input, and its answer tells how the program ended. The other
//! streams have standard output and standard error. Source: the wire contract, docs/wire.md.

use std::collections::BTreeMap;

use rove_units::Instant;

use crate::error::StreamError;
use crate::id::StreamId;
use crate::mux::Mux;
use crate::preface::Part;
use crate::receive_half::Read;
use crate::reception::Reception;

/// A program whose three streams have come.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Gathered {
    /// The stream of standard input, and of the answer.
    pub input: StreamId,
    /// The stream of standard output.
    pub output: StreamId,
    /// The stream of standard error.
    pub errors: StreamId,
    /// The command as the client wrote it.
    pub command: Vec<u8>,
    /// Whether the command names a subsystem of ssh.
    pub is_subsystem: bool,
}

/// The streams of programs that have not begun.
#[derive(Debug, Default)]
pub struct Gathering(BTreeMap<StreamId, Parts>);

/// The streams of one program that have come so far.
#[derive(Debug, Default)]
struct Parts {
    /// The command's length, and whether it names a subsystem of ssh. `None` until the input stream has come.
    wanted: Option<(usize, bool)>,
    command: Vec<u8>,
    output: Option<StreamId>,
    errors: Option<StreamId>,
}

impl Gathering {
    /// Adds a stream. A second stream for the same part of a program ends all streams of that program.
    pub fn handle_part(
        &mut self,
        mux: &mut Mux,
        reception: &mut Reception,
        id: StreamId,
        part: Part,
    ) {
        let (input, former) = match part {
            Part::Input { command_len, is_subsystem } => {
                self.0.entry(id).or_default().wanted = Some((command_len, is_subsystem));
                (id, None)
            }
            Part::Output(input) => (input, self.0.entry(input).or_default().output.replace(id)),
            Part::Errors(input) => (input, self.0.entry(input).or_default().errors.replace(id)),
        };
        if let Some(former) = former {
            reception.give_up(mux, former);
            self.give_up(mux, reception, input);
        }
    }

    /// Reads the commands, gives up broken ones, and returns a program that can begin. `None` if there is none.
    pub fn poll_gathered(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        reception: &mut Reception,
    ) -> Option<Gathered> {
        let mut broken = Vec::new();
        let mut gathered = None;
        for (&input, parts) in &mut self.0 {
            match parts.read(now, mux, input) {
                Ok(true) => {
                    gathered = Some(input);
                    break;
                }
                Ok(false) => {}
                Err(_) => broken.push(input),
            }
        }
        for input in broken {
            self.give_up(mux, reception, input);
        }
        let input = gathered?;
        let Parts { wanted, command, output, errors } = self.0.remove(&input)?;
        let (len, is_subsystem) = wanted?;
        debug_assert_eq!(command.len(), len, "nothing of the standard input is taken");
        Some(Gathered { input, output: output?, errors: errors?, command, is_subsystem })
    }

    /// Ends all streams of each program to which this stream belongs and which has not begun.
    pub fn give_up(&mut self, mux: &mut Mux, reception: &mut Reception, id: StreamId) {
        let is_of = |input: &StreamId, parts: &Parts| {
            [Some(*input), parts.output, parts.errors].contains(&Some(id))
        };
        // A hostile peer may name one stream in several programs.
        while let Some(&input) =
            self.0.iter().find(|(input, parts)| is_of(input, parts)).map(|(it, _)| it)
            && let Some(parts) = self.0.remove(&input)
        {
            let input = parts.wanted.map(|_| input);
            for ended in [input, parts.output, parts.errors].into_iter().flatten() {
                reception.give_up(mux, ended);
            }
        }
    }

    /// Returns how many programs have not begun.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns whether all programs have begun.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Parts {
    /// Reads more of the command. Returns whether it and the three streams have arrived, or why they cannot.
    fn read(&mut self, now: Instant, mux: &mut Mux, input: StreamId) -> Result<bool, StreamError> {
        let Some((len, _)) = self.wanted else { return Ok(false) };
        let mut buffer = [0; 4_096];
        while self.command.len() < len {
            let wanted = buffer.len().min(len - self.command.len());
            let Some(space) = buffer.get_mut(..wanted) else { break };
            match mux.read(now, input, space)? {
                Read::Bytes(count) => self.command.extend(space.iter().take(count)),
                Read::Blocked => return Ok(false),
                Read::End => return Err(StreamError::Unknown),
            }
        }
        Ok(self.output.is_some() && self.errors.is_some())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rove_congestion::new_reno::NewReno;
    use rove_units::{Bytes, Duration};

    use super::*;
    use crate::event::Event;
    use crate::id::Side;
    use crate::preface::{Answer, Exit, MessageReader, Target};
    use crate::reception::Reception;

    /// Both ends' multiplexers, and the server's gathering of a program's streams.
    struct Ends {
        now: Instant,
        client: Mux,
        server: Mux,
        reception: Reception,
        gathering: Gathering,
    }

    impl Ends {
        fn new() -> Self {
            let now = Instant::from_millis(5);
            let end = |side| Mux::new(side, Box::new(NewReno::new(Bytes::new(1_176))), 1_176, now);
            let (reception, gathering) = Default::default();
            let (client, server) = (end(Side::Client), end(Side::Server));
            Self { now, client, server, reception, gathering }
        }

        /// Delivers packets for 2 s. Returns the programs that can begin.
        fn carry(&mut self) -> Vec<Gathered> {
            let mut all = Vec::new();
            for _ in 0..40 {
                self.now += Duration::from_millis(50);
                while let Some(packet) = self.client.poll_transmit(self.now) {
                    self.server.handle_packet(self.now, packet.number, &packet.payload).unwrap();
                }
                while let Some(event) = self.server.poll_event() {
                    match event {
                        Event::Incoming => self.reception.handle_incoming(&mut self.server),
                        Event::Readable(id) => {
                            let server = &mut self.server;
                            let target = self.reception.handle_readable(self.now, server, id);
                            if let Some(Target::Program(part)) = target {
                                self.gathering.handle_part(server, &mut self.reception, id, part);
                            }
                        }
                        _ => {}
                    }
                }
                let (server, reception) = (&mut self.server, &mut self.reception);
                let poll = || self.gathering.poll_gathered(self.now, server, reception);
                all.extend(std::iter::from_fn(poll));
                while let Some(packet) = self.server.poll_transmit(self.now) {
                    self.client.handle_packet(self.now, packet.number, &packet.payload).unwrap();
                }
            }
            all
        }

        /// Writes the message about a program's part to a stream, and `bytes` after it. Returns the programs that can begin.
        fn write(&mut self, id: StreamId, part: Part, bytes: &[u8]) -> Vec<Gathered> {
            let message = Target::Program(part).encode();
            let (mut rest, mut all) = ([&message[..], bytes].concat(), Vec::new());
            while !rest.is_empty() {
                let count = self.client.write(id, &rest).unwrap();
                rest.drain(..count);
                all.extend(self.carry());
            }
            all
        }
    }

    proptest! {
        #[test]
        fn a_program_begins_once_when_all_its_streams_are_there_in_any_order(
            order in Just([0, 1, 2]).prop_shuffle(),
            command in proptest::collection::vec(any::<u8>(), 0..40_000),
            is_subsystem: bool,
        ) {
            let mut ends = Ends::new();
            let ids = [(); 3].map(|()| ends.client.open(ends.now).unwrap());
            let [input, output, errors] = ids;
            let part = Part::Input { command_len: command.len(), is_subsystem };
            let parts = [part, Part::Output(input), Part::Errors(input)];
            let mut all = Vec::new();
            for which in order {
                prop_assert!(all.is_empty());
                let bytes = if which == 0 { [&command[..], b"stdin"].concat() } else { vec![] };
                all.extend(ends.write(ids[which], parts[which], &bytes));
            }
            prop_assert_eq!(all, [Gathered { input, output, errors, command, is_subsystem }]);
            // Standard input begins after the command, and the answer tells how the program ended.
            let mut rest = [0; 9];
            prop_assert_eq!(ends.server.read(ends.now, input, &mut rest), Ok(Read::Bytes(5)));
            let answer = Answer::Exited(Exit::Signal(15));
            ends.reception.answer(&mut ends.server, input, &answer);
            ends.carry();
            let read = MessageReader::default().read(ends.now, &mut ends.client, input);
            prop_assert_eq!(Answer::decode(&read.unwrap().unwrap()), Ok(answer));
        }
    }

    #[test]
    fn a_part_that_comes_twice_and_an_input_that_ends_early_end_the_program() {
        let mut ends = Ends::new();
        let ids = [(); 3].map(|()| ends.client.open(ends.now).unwrap());
        ends.write(ids[0], Part::Output(ids[2]), b"");
        ends.write(ids[1], Part::Output(ids[2]), b"");
        assert!(ends.gathering.is_empty());
        for id in &ids[..2] {
            assert_eq!(ends.client.write(*id, b"x"), Err(StreamError::Stopped(2)));
        }
        ends.write(ids[2], Part::Input { command_len: 9, is_subsystem: false }, b"x");
        assert_eq!(ends.gathering.len(), 1);
        ends.client.finish(ids[2]).unwrap();
        ends.carry();
        assert!(ends.gathering.is_empty());
    }

    #[test]
    fn a_stream_that_two_programs_name_ends_both() {
        let mut ends = Ends::new();
        let ids = [(); 3].map(|()| ends.client.open(ends.now).unwrap());
        // The second stream is one program's output and another's input.
        ends.write(ids[1], Part::Output(ids[0]), b"");
        ends.write(ids[2], Part::Output(ids[1]), b"");
        assert_eq!(ends.gathering.len(), 2);
        ends.gathering.give_up(&mut ends.server, &mut ends.reception, ids[1]);
        assert!(ends.gathering.is_empty());
        ends.carry();
        for id in &ids[1..] {
            assert_eq!(ends.client.write(*id, b"x"), Err(StreamError::Stopped(2)));
        }
    }
}
