//! Connects standard input and output, through a stream, with a TCP port or a socket that the host reaches.

use rove_streams::{Exit, Mux, StreamId, Target};
use rove_units::Instant;
use rustix::stdio;

use super::load::{Carried, Ends, Load};
use crate::opening::Opening;
use crate::server::open_nothing;
use crate::splice::Splice;

/// The job of a `rove -W` call.
pub(crate) struct Connection {
    target: Target,
    ends: Ends,
    id: Option<StreamId>,
    /// The stream to the target. `None` before it is opened, and after the host has answered.
    opening: Option<Opening>,
    /// Whether the host has received all input and its end, or has stopped reading.
    is_delivered: bool,
}

impl Connection {
    pub(crate) fn new(target: Target, ends: Ends) -> Self {
        Self { target, ends, id: None, opening: None, is_delivered: false }
    }

    /// Returns the failure to connect, in the lines that `ssh -W` prints.
    fn refused(&self, reason: &str) -> Carried {
        let connect = match &self.target {
            Target::Tcp { host, port } => {
                Some(format!("connect to {host} port {port} failed: {reason}"))
            }
            Target::Unix { path } => {
                let path = String::from_utf8_lossy(path);
                Some(format!("connect to {path} failed: {reason}"))
            }
            _ => None,
        };
        let lines = connect.into_iter().chain(["stdio forwarding failed".to_owned()]);
        Carried::Failed(lines.collect())
    }

    /// Begins to copy bytes between the stream and the descriptors. If `ends` are this process's standard descriptors,
    /// /dev/null replaces them. The output's reader thus sees its end as soon as the [`Splice`] closes the output.
    fn join(&mut self, id: StreamId) -> anyhow::Result<Splice> {
        let (input, output) = (self.ends.take(0)?, self.ends.take(1)?);
        if matches!(self.ends, Ends::Standard { .. }) {
            let nothing = open_nothing()?;
            stdio::dup2_stdin(&nothing)?;
            stdio::dup2_stdout(&nothing)?;
        }
        Ok(Splice::halves(id, Some(input), Some(output)))
    }
}

impl Load for Connection {
    fn open(&mut self, now: Instant, mux: &mut Mux) -> anyhow::Result<()> {
        let opening = Opening::begin(now, mux, &self.target)?;
        (self.id, self.opening) = (Some(opening.id()), Some(opening));
        Ok(())
    }

    fn turn(
        &mut self,
        now: Instant,
        mux: &mut Mux,
        splices: &mut Vec<Splice>,
    ) -> anyhow::Result<Option<Carried>> {
        if let Some(opening) = &mut self.opening {
            let Some(answered) = opening.answer(now, mux) else { return Ok(None) };
            let id = opening.id();
            self.opening = None;
            if let Some(reason) = answered.into_refusal() {
                return Ok(Some(self.refused(&reason)));
            }
            splices.push(self.join(id)?);
        }
        let Some(splice) = splices.first() else { return Ok(None) };
        let is_delivered = self.is_delivered || splice.is_cut();
        let is_over = splice.is_over() && is_delivered;
        Ok(is_over.then(|| match splice.is_cut() {
            true => Carried::Failed(splice.loss().into_iter().collect()),
            false => Carried::Ended(Exit::Code(0)),
        }))
    }

    fn handle_delivered(&mut self, id: StreamId) {
        self.is_delivered |= self.id == Some(id);
    }

    fn streams(&self) -> Vec<StreamId> {
        self.id.into_iter().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::muxes::muxes;

    #[test]
    fn the_end_of_another_calls_stream_is_not_the_delivery_of_this_ones_input() {
        let mut client = muxes().0;
        let mut it = Connection::new(Target::Unix { path: Vec::new() }, Ends::Passed(Vec::new()));
        it.open(Instant::ZERO, &mut client).unwrap();
        it.handle_delivered(client.open(Instant::ZERO).unwrap());
        assert!(!it.is_delivered);
        it.handle_delivered(it.streams()[0]);
        assert!(it.is_delivered);
    }
}
