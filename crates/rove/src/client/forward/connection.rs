//! One stream between standard input and output and a port that the host reaches.

use rove_bootstrap::ProgramName;
use rove_streams::{Mux, StreamId, Target};
use rove_units::Instant;
use rustix::fs::{Mode, OFlags};
use rustix::stdio;

use super::load::{Carried, FAILURE, Load};
use crate::bootstrap::screen::tell;
use crate::opening::Opening;
use crate::splice::{Descriptor, Splice};

/// A connection to a port.
pub(crate) struct Connection {
    target: Target,
    /// The stream from its opening until the answer has come.
    opening: Option<Opening>,
    /// Whether the host has everything that was read, and its end.
    is_delivered: bool,
}

impl Connection {
    pub(crate) fn new(host: String, port: u16) -> Self {
        let target = Target::Tcp { host, port };
        Self { target, opening: None, is_delivered: false }
    }

    /// Says in two lines, as ssh does, that the host could not open the stream.
    fn refuse(&self, reason: &str) -> Carried {
        if let Target::Tcp { host, port } = &self.target {
            tell(
                ProgramName::Rove.as_str(),
                &format!("connect to {host} port {port} failed: {reason}"),
            );
        }
        tell(ProgramName::Rove.as_str(), "stdio forwarding failed");
        Carried::Ended(FAILURE)
    }
}

impl Load for Connection {
    fn open(&mut self, now: Instant, mux: &mut Mux) -> anyhow::Result<()> {
        self.opening = Some(Opening::begin(now, mux, &self.target)?);
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
                return Ok(Some(self.refuse(&reason)));
            }
            splices.push(join(id)?);
        }
        let Some(splice) = splices.first() else { return Ok(None) };
        let is_delivered = self.is_delivered || splice.is_cut();
        let code = if splice.is_cut() { FAILURE } else { 0 };
        Ok((splice.is_over() && is_delivered).then_some(Carried::Ended(code)))
    }

    fn handle_delivered(&mut self, _: StreamId) {
        self.is_delivered = true;
    }
}

/// Joins the stream with standard input and output. Later prints of this program go nowhere, so that the output's end is
/// the stream's.
fn join(id: StreamId) -> anyhow::Result<Splice> {
    let input = Descriptor::copy_of(stdio::stdin())?;
    let output = Descriptor::copy_of(stdio::stdout())?;
    let nothing = rustix::fs::open("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    stdio::dup2_stdin(&nothing)?;
    stdio::dup2_stdout(&nothing)?;
    Ok(Splice::halves(id, Some(input), Some(output)))
}
