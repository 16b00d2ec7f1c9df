//! The policies and timing numbers of one end, which its creator chooses.
//!
//! Unless a field's comment says otherwise, its number is that of Mosh 1.4.0 as observed (docs/wire.md). A change of a
//! default needs measurements from the laboratory.

mod parts;

use rove_units::{Bytes, Duration};

use crate::hello::Capabilities;
pub(crate) use parts::SUSPECT_MIN;
pub use parts::{AckConfig, FrameConfig, HeartbeatConfig, PathConfig, RepetitionConfig, RttConfig};

/// Maximum number of entries in a sender's list of sent states; a longer list drops an entry from its middle.
pub(crate) const SENT_MAX: usize = 32;

/// Position of the dropped entry in a list over [`SENT_MAX`], counted from the newest entry. So the list keeps its 17
/// oldest and 15 newest entries through an outage.
pub(crate) const SENT_CULLED_FROM_END: usize = 16;
const _: () = assert!(SENT_CULLED_FROM_END < SENT_MAX);

/// Memory limit of a sender's list of sent states; contents that states share count once. Chosen: about 32 screens of
/// 2000 columns by 60 rows with nothing in common.
pub(crate) const SENT_BYTES_MAX: Bytes = Bytes::mib(64);

/// Number of entries above which a list of received states accepts one state in each [`Config::quench_interval`].
pub(crate) const RECEIVED_MAX: usize = 1024;

/// Memory limit of the list of received states, for an object without a bound of its own
/// ([`Object::received_bytes_max`]); new states are refused above it. Chosen: equal to [`SENT_BYTES_MAX`]. Without a
/// bound, a peer could choose how much memory this end uses.
///
/// [`Object::received_bytes_max`]: crate::Object::received_bytes_max
pub(crate) const RECEIVED_BYTES_MAX: Bytes = Bytes::mib(64);

/// Maximum number of refused instructions (the newest) that a receiver remembers, so that it does not apply them again.
/// Chosen: a peer repeats only the handful of instructions that are on their way.
pub(crate) const REFUSED_MAX: usize = 16;

/// Work for received states, in the object's units, after which a call returns to the driver. Chosen: work on four
/// million cells of a screen takes some 4 ms. A datagram of plain text changes a few thousand.
const WORK_PER_TURN: u64 = 4_000_000;

/// Maximum number of local ports that a client keeps open after changes of its port.
pub(crate) const OPEN_PORTS_MAX: usize = 10;

/// The rule by which an end chooses the sent state from which a diff starts. A receiver cannot tell the policies apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferencePolicy {
    /// Diffs start as in Mosh 1.4.0 (prospective resend), usually from the assumed receiver state. They start from the
    /// known receiver state if that diff is not longer, or is under 1000 bytes and less than 100 bytes longer.
    #[default]
    Prospective,
    /// Diffs always start from the assumed receiver state: the newest sent state before the first that is presumed
    /// lost.
    Assumed,
    /// Diffs always start from the known receiver state: the newest that the peer has acknowledged.
    Known,
    /// A diff starts from the known receiver state with a fixed probability, otherwise from the assumed state.
    Mixture {
        /// The probability in percent; 0 acts as [`ReferencePolicy::Assumed`], 100 as [`ReferencePolicy::Known`].
        known_percent: u8,
    },
    /// A diff starts from the known receiver state if it then needs no more datagrams than from the assumed state.
    Adaptive,
    /// A diff starts from the state whose diff is worth most. The worth depends on two chances: that the peer holds the
    /// state (Bayes), and that the diff arrives. It also depends on the diff's share of what the path carries in a
    /// round trip. While this end's traffic does not fill the path, the known receiver state is worth most.
    Bayesian,
}

impl ReferencePolicy {
    /// Returns whether several parts of a large change may be unacknowledged at once, each a diff from the part before.
    pub(crate) const fn allows_chains(self) -> bool {
        !matches!(self, Self::Known | Self::Mixture { known_percent: 100.. })
    }
}

/// The policies and timing numbers of an end: a part for each group of mechanisms, and single values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// The rule for the sent state from which a diff starts. While output is sent at
    /// [`FrameConfig::steady_interval_max`], [`ReferencePolicy::Bayesian`] replaces [`ReferencePolicy::Prospective`].
    pub reference: ReferencePolicy,
    /// When contents (diffs) are sent again before their retransmission timeout.
    pub repetition: RepetitionConfig,
    /// When instructions with contents (frames) are sent.
    pub frames: FrameConfig,
    /// When acknowledgments are sent, and how long the sender of a state waits for them.
    pub acks: AckConfig,
    /// How often heartbeats are sent while there is nothing else to send.
    pub heartbeat: HeartbeatConfig,
    /// Bounds of round trips and of the retransmission timeout (RTO).
    pub rtt: RttConfig,
    /// When a client changes its port or the server's address, when a server stops sending, and whether sizes are
    /// probed.
    pub path: PathConfig,
    /// Shortest interval between two loss reports that count the same losses. Reports travel in instructions that are
    /// sent anyway. `None` sends none. Chosen: a server reports once a second, as often as its client draws the status.
    /// A client's reports of some eight bytes, every 3 s, stay below a hundredth of its bytes. They suffice, because
    /// the server's estimate of the loss takes seconds to change.
    pub loss_report_interval: Option<Duration>,
    /// Longest time for which this end announces its shutdown while the peer does not acknowledge it.
    pub shutdown_timeout: Duration,
    /// Shortest time between two states that a list of received states with more than 1024 entries accepts.
    pub quench_interval: Duration,
    /// Longest inflated instruction that this end accepts, in bytes. `None` for the protocol's limit of 4 MiB. A
    /// datagram can inflate to a thousand times its length, and one call inflates all of it.
    pub instruction_len_max: Option<usize>,
    /// Maximum work for received states in one call ([`Object::apply_part`]), in the object's units. Calls of
    /// [`Transport::work`] apply the remaining parts.
    ///
    /// [`Object::apply_part`]: crate::Object::apply_part
    /// [`Transport::work`]: crate::Transport::work
    pub work_per_turn: u64,
    /// The extensions that this end offers in its hello. `None` sends no hello and uses no extension (`--strict`).
    pub capabilities: Option<Capabilities>,
    /// Whether [`Object::check`] checks every diff before it is sent, and errors are logged. A check is as much work as
    /// the receiver does.
    ///
    /// [`Object::check`]: crate::Object::check
    pub self_check: bool,
}

impl Config {
    /// Returns rove's default values for a client, with an empty hello.
    pub const fn client() -> Self {
        Self {
            frames: FrameConfig::CLIENT,
            acks: AckConfig::CLIENT,
            loss_report_interval: Some(Duration::from_secs(3)),
            ..Self::server()
        }
    }

    /// Returns rove's default values for a server, with an empty hello.
    pub const fn server() -> Self {
        Self {
            repetition: RepetitionConfig::ROVE,
            frames: FrameConfig::SERVER,
            acks: AckConfig::SERVER,
            heartbeat: HeartbeatConfig::ROVE,
            rtt: RttConfig::ROVE,
            path: PathConfig::ROVE,
            loss_report_interval: Some(Duration::from_secs(1)),
            ..Self::STOCK_SERVER
        }
    }

    /// Returns whether any diffs, perhaps only diffs of steady output, may start from the state that is worth most
    /// ([`ReferencePolicy::Bayesian`]).
    pub(crate) fn weighs_references(&self) -> bool {
        self.reference == ReferencePolicy::Bayesian
            || self.frames.steady_interval_max < self.frames.interval_max
    }

    /// The values of a server in Mosh 1.4.0, with an empty hello; a client differs in
    /// [`FrameConfig::collection_delay`].
    pub(crate) const STOCK_SERVER: Self = Self {
        reference: ReferencePolicy::Prospective,
        repetition: RepetitionConfig::STOCK,
        frames: FrameConfig::STOCK,
        acks: AckConfig::STOCK,
        heartbeat: HeartbeatConfig::STOCK,
        rtt: RttConfig::STOCK,
        path: PathConfig::STOCK,
        loss_report_interval: None,
        shutdown_timeout: Duration::from_secs(10),
        quench_interval: Duration::from_secs(15),
        instruction_len_max: None,
        work_per_turn: WORK_PER_TURN,
        capabilities: Some(Capabilities::empty()),
        self_check: false,
    };
}
