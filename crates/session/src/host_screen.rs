//! The host's screen with its echo acknowledgment: the object the server owns.

use rove_ssp::{ApplyError, Capabilities, Object, StateNum};
use rove_terminal::display::{self, Repertoire};
use rove_terminal::{Screen, Size, Terminal};
use rove_units::Bytes;

use crate::exit_status::ExitStatus;
use crate::message::{HostInstruction, MessageWriter, host_instructions};

/// Most resizes in one diff. Chosen: stock writes one; without a bound a small diff could make the
/// replica build a huge screen again and again.
const RESIZES_MAX: usize = 16;

/// Most work that one diff may cost the replica, in rows moved (`Terminal::effort`). Chosen: eight
/// times a scroll of the largest screen by all its rows, line by line; well under a second.
const EFFORT_MAX: u64 = 8 * 2048 * 2048;

/// Host bytes played between two looks at the effort. Chosen: 4096 bytes cost at most 2048 resets.
const EFFORT_CHECK_BYTES: usize = 4096;

/// The screen, the echo ack, and what two roves add to it.
#[derive(Clone, Debug)]
pub struct HostScreen {
    picture: Picture,
    echo_ack: StateNum,
    exit_status: Option<ExitStatus>,
    /// Whether this is still the state numbered 0, whose size the two ends have not agreed on.
    initial: bool,
}

/// The two ends keep the picture differently: the server publishes it, the client plays diffs into it.
#[derive(Clone, Debug)]
enum Picture {
    /// A published picture: no parser, so no state ends inside a sequence.
    Snapshot(Screen),
    /// A terminal that follows the far end, hidden state and parser included.
    Replica(Box<Terminal>),
}

impl HostScreen {
    /// Creates a server's state 0: blank.
    pub fn initial(size: Size) -> Self {
        let initial = Self::published(Screen::blank(size), StateNum::INITIAL, None);
        Self { initial: true, ..initial }
    }

    /// Creates a client's copy of state 0: blank, in the size of the user's window.
    pub fn replica(size: Size) -> Self {
        let picture = Picture::Replica(Box::new(Terminal::replica(size)));
        Self { picture, echo_ack: StateNum::INITIAL, exit_status: None, initial: true }
    }

    /// Creates a state to publish.
    pub const fn published(
        screen: Screen,
        echo_ack: StateNum,
        exit_status: Option<ExitStatus>,
    ) -> Self {
        Self { picture: Picture::Snapshot(screen), echo_ack, exit_status, initial: false }
    }

    /// Returns the picture.
    pub fn screen(&self) -> &Screen {
        match &self.picture {
            Picture::Snapshot(screen) => screen,
            Picture::Replica(terminal) => terminal.screen(),
        }
    }

    /// Returns the newest state of the client's whose input the screen shows the effect of.
    pub const fn echo_ack(&self) -> StateNum {
        self.echo_ack
    }

    /// Returns how the remote command ended, where it has and the server is a rove.
    pub const fn exit_status(&self) -> Option<ExitStatus> {
        self.exit_status
    }
}

impl Object for HostScreen {
    fn diff_from(&self, base: &Self, peer: Capabilities) -> Vec<u8> {
        let (old, new) = (base.screen(), self.screen());
        let mut message = MessageWriter::default();
        if self.echo_ack != base.echo_ack {
            message.echo_ack(self.echo_ack);
        }
        // The client's state 0 may have another size than ours, and be blank all the same.
        if old.size() != new.size() || (base.initial && !self.initial) {
            message.resize(new.size());
        }
        let repertoire = if peer.contains(Capabilities::RICH_SCREEN) {
            Repertoire::FULL
        } else {
            Repertoire::STOCK
        };
        let bytes = display::diff(old, new, repertoire);
        if !bytes.is_empty() {
            message.host_bytes(&bytes);
        }
        if let Some(status) = self.exit_status
            && base.exit_status != self.exit_status
            && peer.contains(Capabilities::EXIT_STATUS)
        {
            message.exit_status(status);
        }
        message.finish()
    }

    fn apply(&mut self, diff: &[u8]) -> Result<(), ApplyError> {
        let Picture::Replica(terminal) = &mut self.picture else {
            return Err(refused("a published picture follows no diff"));
        };
        let mut resizes = 0;
        let effort_max = terminal.effort().saturating_add(EFFORT_MAX);
        for instruction in host_instructions(diff) {
            match instruction? {
                HostInstruction::Bytes(bytes) => {
                    for piece in bytes.chunks(EFFORT_CHECK_BYTES) {
                        terminal.write(piece);
                        if terminal.effort() > effort_max {
                            return Err(refused("more work than a picture is worth"));
                        }
                    }
                }
                HostInstruction::Resize(size) => {
                    resizes += 1;
                    if resizes > RESIZES_MAX {
                        return Err(refused("too many resizes"));
                    }
                    terminal.resize(size.to_size().ok_or_else(|| refused("an empty screen"))?);
                }
                HostInstruction::EchoAck(num) if num < self.echo_ack => {
                    return Err(refused("an echo ack that goes back"));
                }
                HostInstruction::EchoAck(num) => self.echo_ack = num,
                HostInstruction::ExitStatus(status) => self.exit_status = Some(status),
                HostInstruction::Unknown => {}
            }
        }
        self.initial &= diff.is_empty();
        Ok(())
    }

    fn same_as(&self, other: &Self) -> bool {
        self.echo_ack == other.echo_ack
            && self.exit_status == other.exit_status
            && self.initial == other.initial
            && self.screen() == other.screen()
    }

    fn bytes_beyond(&self, neighbour: Option<&Self>) -> Bytes {
        let own = Bytes::from(size_of::<Self>());
        match (&self.picture, neighbour.map(|neighbour| &neighbour.picture)) {
            (Picture::Replica(terminal), Some(Picture::Replica(theirs))) => {
                own + terminal.bytes_beyond(Some(theirs))
            }
            (Picture::Replica(terminal), None) => own + terminal.bytes_beyond(None),
            _ => own + self.screen().bytes_beyond(neighbour.map(Self::screen)),
        }
    }

    fn midpoint(&self, base: &Self) -> Option<Self> {
        // Half of a picture shows no effect of anything yet.
        let screen = Screen::midpoint(base.screen(), self.screen())?;
        Some(Self::published(screen, base.echo_ack, base.exit_status))
    }
}

fn refused(what: &str) -> ApplyError {
    ApplyError { reason: what.to_owned() }
}

#[cfg(test)]
mod tests;
