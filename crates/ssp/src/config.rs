//! Every policy and timing number of one end, as a value.
//!
//! Unless a field says otherwise its numbers are those of Mosh 1.4.0 as observed, docs/wire.md:
//! a stock peer can tell most of them apart by watching, so a change of default needs a table from
//! the laboratory.

use rove_units::{Bytes, Duration};

use crate::heartbeat::PAUSE_MAX;
use crate::hello::Capabilities;
use crate::mechanism::Mechanism;
use crate::rtt::SUSPECT_MIN;

/// Entries the list of sent states holds before it is culled.
pub(crate) const SENT_MAX: usize = 32;

/// Which entry of an over-long sent list is culled, counted from its end.
/// So the list keeps its 17 oldest and 15 newest entries through an outage.
pub(crate) const SENT_CULLED_FROM_END: usize = 16;
const _: () = assert!(SENT_CULLED_FROM_END < SENT_MAX);

/// Memory the list of sent states may need, shared contents counted once.
/// Chosen: about 32 screens of 2000 columns by 60 rows with nothing in common.
pub(crate) const SENT_BYTES_MAX: Bytes = Bytes::mib(64);

/// Entries the list of received states may hold before new ones are let in at
/// [`Config::quench_interval`] only.
pub(crate) const RECEIVED_MAX: usize = 1024;

/// Memory the list of received states may need before new ones are refused, for an object that knows no bound of
/// its own ([`Object::received_bytes_max`]). Chosen: as [`SENT_BYTES_MAX`]; a peer must not choose our memory.
///
/// [`Object::received_bytes_max`]: crate::Object::received_bytes_max
pub(crate) const RECEIVED_BYTES_MAX: Bytes = Bytes::mib(64);

/// Refused instructions that are remembered, the newest, so that none of them is applied once more. Chosen: a peer
/// repeats what it has on its way, which are a handful.
pub(crate) const REFUSED_MAX: usize = 16;

/// Most work that a client does for received states before its driver may look at other things again, in the
/// object's units. Chosen: cells of a screen, some 4 ms of them; a datagram of plain text is a few thousand.
const WORK_PER_TURN: u64 = 4_000_000;

/// Local ports a hopping client keeps open.
pub(crate) const OPEN_PORTS_MAX: usize = 10;

/// Which sent state a diff is made from. A receiver cannot tell the policies apart.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ReferencePolicy {
    /// The assumed receiver state, or the known one where its diff is no longer, or under 1000 bytes and less
    /// than 100 bytes longer (prospective resend): stock's rule.
    #[default]
    Prospective,
    /// Always the assumed receiver state, the newest that has no reason to be lost yet.
    Assumed,
    /// Always the known receiver state, the newest acknowledged.
    Known,
    /// The known receiver state with this probability, for each diff anew, and else the assumed one.
    Mixture {
        /// The probability in percent; 0 is [`ReferencePolicy::Assumed`], 100 and more [`ReferencePolicy::Known`].
        known_percent: u8,
    },
    /// The known receiver state where its diff needs no more datagrams than the one from the assumed state.
    Adaptive,
    /// The state whose diff is worth most, by how likely the peer holds it (Bayes), how likely the diff arrives, and how
    /// much of what the path takes in a round trip it needs: the known receiver state wherever this end's traffic does
    /// not fill the path.
    Bayesian,
}

impl ReferencePolicy {
    /// Returns whether a large change may travel as a chain of states, each from the one before, while none of
    /// them is acknowledged.
    pub(crate) const fn allows_chains(self) -> bool {
        !matches!(self, Self::Known | Self::Mixture { known_percent: 100.. })
    }
}

/// The policies and timing numbers of one end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Config {
    /// Which sent state diffs are made from. [`ReferencePolicy::Prospective`] leaves steady output that comes sooner
    /// ([`Config::steady_interval_max`]) to [`ReferencePolicy::Bayesian`].
    pub reference: ReferencePolicy,
    /// Whether small contents are sent several times in short succession on a path that loses datagrams.
    pub repeats: bool,
    /// Whether contents that arrive again after they were acknowledged are acknowledged again: the
    /// acknowledgment was lost.
    pub acknowledges_again: bool,
    /// Whether the peer's end is acknowledged again where the acknowledgment may be lost: by a server for a while, by a client
    /// at once.
    pub lingers: bool,
    /// Whether small first contents are sent again soon while nothing has been acknowledged.
    pub says_again_at_first: bool,
    /// How long an unsent change waits for company: 8 ms at a server, 1 ms at a client.
    pub collection_delay: Duration,
    /// How long nothing more must have come for an unsent change to go before [`Config::collection_delay`] is over. At
    /// a server this is for the first frame that answers new contents from the peer only: mostly an echo, and whatever
    /// follows it is collected for the whole time. `Duration::MAX` as in stock. Chosen: docs/timing.md, "Near paths".
    pub quiet_delay: Duration,
    /// Shortest interval between frames, whatever the round-trip time.
    pub frame_interval_min: Duration,
    /// Longest interval between frames, whatever the round-trip time.
    pub frame_interval_max: Duration,
    /// Longest interval between a frame and one with something new: at most [`Config::frame_interval_max`],
    /// which is for what is sent again, too.
    pub news_interval_max: Duration,
    /// The same where both ends offer late acknowledgments ([`Capabilities::LATE_ACK`]), whatever is lost, and a third of the
    /// round trip is as long. Chosen: docs/timing.md, "Late acknowledgments".
    pub news_interval_late: Duration,
    /// The same where two changes or more wait that come as those of a key that is held. Chosen: docs/timing.md, "A key that
    /// is held".
    pub held_interval_max: Duration,
    /// The same for output that no contents of the peer's asked for of late, on a path that loses datagrams and has no queue. Chosen:
    /// docs/timing.md, "Steady output".
    pub steady_interval_max: Duration,
    /// How many frames after new contents from the peer need not wait for the frame interval, only for
    /// [`Config::collection_delay`]: 0 at a client, as stock's at both, and 2 at a server, where a key is often
    /// answered by its echo first and then by what the program made of it. Chosen: docs/timing.md, "Ahead
    /// of stock's pace".
    pub answer_frames: u8,
    /// Longest wait before an arrived state with contents is acknowledged on its own. It is also the
    /// grace that a sent state gets on top of RTO before it is presumed lost.
    pub ack_delay: Duration,
    /// The same where the peer offers to wait as long ([`Capabilities::LATE_ACK`]) and neither of the two loses much of late:
    /// a key after the one that is answered takes the acknowledgment along. Large contents are acknowledged after
    /// [`Config::ack_delay`]. Chosen: docs/timing.md, "Late acknowledgments".
    pub ack_delay_late: Duration,
    /// The grace on top of RTO where acknowledgments are late. At a server it is as long as they are; at a client shorter, as a
    /// server answers most keys at once, and a key that is sent again brings back a lost echo, too. Chosen: docs/timing.md,
    /// "Late acknowledgments".
    pub grace_late: Duration,
    /// Longest wait before an acknowledgment interrupts the repair of a large instruction.
    /// Chosen: 27 fragments (32 KiB) at 30 % loss need four or five tries at RTO + 100 ms each, and
    /// every other instruction in between makes the receiver start anew.
    pub ack_delay_in_repair: Duration,
    /// Shortest interval between two loss reports, which go with instructions that are sent anyway. Chosen: at a server
    /// as often as its client draws the status anew; at a client seldom enough for less than a hundredth of its bytes, as
    /// the loss that a server goes by is that of its newest datagrams, which takes seconds to change. A report is some
    /// eight bytes.
    pub loss_report_interval: Option<Duration>,
    /// Interval between signs of life when there is nothing to send.
    pub heartbeat: Duration,
    /// Server: longest interval that [`Config::heartbeat`] stretches to where the peer offers to answer heartbeats, step
    /// by step; at most that of the module `heartbeat`.
    pub heartbeat_max: Duration,
    /// Longest interval between signs of life that stretches [`Config::heartbeat`] while contents are on their way over a
    /// path on which they take longer. Chosen: a second less than the 6.5 s of silence after which a user is told.
    pub heartbeat_far_max: Duration,
    /// How long after the peer's last new state unacknowledged contents are still sent again at
    /// once; later only heartbeats carry them.
    pub active_retry: Duration,
    /// Lower bound of RTO.
    pub rto_min: Duration,
    /// Upper bound of RTO, unless round trips are longer.
    pub rto_max: Duration,
    /// Upper bound of RTO where round trips are longer than [`Config::rto_max`], which would take everything for lost that
    /// is on its way. Chosen: twice the longest round trip that stock knows; whatever a peer makes of its timestamps, each
    /// heartbeat carries what is not acknowledged.
    pub rto_far_max: Duration,
    /// Round trips this long or longer are none. Chosen: half of what the 16-bit timestamps can tell, 65.5 s; with stock's
    /// 5 s, an end knows nothing of a path of 5 s.
    pub rtt_max: Duration,
    /// How long an unacknowledged shutdown is repeated, at most.
    pub shutdown_timeout: Duration,
    /// Server: how long after it last heard its client it goes on sending.
    pub association_timeout: Duration,
    /// Client: how long without a round trip, and on one local port, before it tries another port.
    pub hop_interval: Duration,
    /// Client: how long after a hop the older ports are kept open.
    pub old_ports_kept: Duration,
    /// Client: how long the first of its server's addresses has at the start before the others are tried beside
    /// it. A path with a longer round trip costs a datagram to each other. Chosen: docs/timing.md, "Addresses that do
    /// not answer".
    pub first_alone: Duration,
    /// How often an over-full list of received states takes one more.
    pub quench_interval: Duration,
    /// Most work for received states at once ([`Object::apply_part`]); what is left is for [`Transport::work`].
    ///
    /// [`Object::apply_part`]: crate::Object::apply_part
    /// [`Transport::work`]: crate::Transport::work
    pub work_per_turn: u64,
    /// What this end offers in its hello; `None` sends no hello and honours none (`--strict`).
    pub capabilities: Option<Capabilities>,
    /// Whether larger datagrams than a path is sure to take are tried, and smaller ones where large ones are lost; else their
    /// size is stock's.
    pub tries_sizes: bool,
    /// Whether every diff is checked against [`Object::check`] before it is sent; what is wrong goes to
    /// the log. It costs what the receiver pays.
    ///
    /// [`Object::check`]: crate::Object::check
    pub self_check: bool,
}

impl Config {
    /// Returns the numbers of a client, with an empty hello.
    ///
    /// A key waits at most 120 ms for the frame of the key before, with stock 250 ms. Chosen:
    /// docs/timing.md, "Ahead of stock's pace".
    pub const fn client() -> Self {
        Self {
            repeats: true,
            acknowledges_again: true,
            lingers: true,
            says_again_at_first: true,
            collection_delay: Duration::from_millis(1),
            quiet_delay: Duration::ZERO,
            news_interval_max: Duration::from_millis(120),
            news_interval_late: Duration::from_millis(160),
            held_interval_max: Duration::from_millis(20),
            ack_delay_late: Duration::from_millis(250),
            grace_late: Duration::from_millis(100),
            heartbeat_max: PAUSE_MAX,
            heartbeat_far_max: Duration::from_millis(5_500),
            rto_far_max: Duration::from_secs(10),
            rtt_max: Duration::from_secs(30),
            loss_report_interval: Some(Duration::from_secs(3)),
            tries_sizes: true,
            ..Self::STOCK_SERVER
        }
    }

    /// Returns the numbers of a server, with an empty hello.
    pub const fn server() -> Self {
        Self {
            repeats: true,
            acknowledges_again: true,
            lingers: true,
            says_again_at_first: true,
            quiet_delay: Duration::from_micros(500),
            steady_interval_max: Duration::from_millis(80),
            answer_frames: 2,
            ack_delay_late: Duration::from_millis(250),
            grace_late: Duration::from_millis(250),
            heartbeat_max: PAUSE_MAX,
            heartbeat_far_max: Duration::from_millis(5_500),
            rto_far_max: Duration::from_secs(10),
            rtt_max: Duration::from_secs(30),
            loss_report_interval: Some(Duration::from_secs(1)),
            tries_sizes: true,
            ..Self::STOCK_SERVER
        }
    }

    /// Returns these numbers with the pace of Mosh 1.4.0, and no hello.
    #[must_use]
    pub fn stock(self) -> Self {
        let bare = Mechanism::ALL.into_iter().fold(self, Self::without);
        Self { capabilities: None, ..bare }
    }

    /// Returns whether diffs may start from whichever state is worth most ([`ReferencePolicy::Bayesian`]): always, or those of steady
    /// output.
    pub(crate) fn weighs_references(&self) -> bool {
        self.reference == ReferencePolicy::Bayesian
            || self.steady_interval_max < self.frame_interval_max
    }

    /// A server's numbers in Mosh 1.4.0; a client differs in [`Config::collection_delay`].
    pub(crate) const STOCK_SERVER: Self = Self {
        reference: ReferencePolicy::Prospective,
        repeats: false,
        acknowledges_again: false,
        lingers: false,
        says_again_at_first: false,
        collection_delay: Duration::from_millis(8),
        quiet_delay: Duration::MAX,
        frame_interval_min: Duration::from_millis(20),
        frame_interval_max: Duration::from_millis(250),
        news_interval_max: Duration::from_millis(250),
        news_interval_late: Duration::from_millis(250),
        held_interval_max: Duration::from_millis(250),
        steady_interval_max: Duration::from_millis(250),
        answer_frames: 0,
        ack_delay: Duration::from_millis(100),
        ack_delay_late: Duration::from_millis(100),
        grace_late: Duration::from_millis(100),
        ack_delay_in_repair: Duration::from_millis(1000),
        loss_report_interval: None,
        heartbeat: Duration::from_secs(3),
        heartbeat_max: Duration::from_secs(3),
        heartbeat_far_max: Duration::from_secs(3),
        active_retry: Duration::from_secs(10),
        rto_min: Duration::from_millis(50),
        rto_max: Duration::from_millis(1000),
        rto_far_max: Duration::from_millis(1000),
        rtt_max: SUSPECT_MIN,
        shutdown_timeout: Duration::from_secs(10),
        association_timeout: Duration::from_secs(40),
        hop_interval: Duration::from_secs(10),
        old_ports_kept: Duration::from_secs(60),
        first_alone: Duration::from_millis(500),
        quench_interval: Duration::from_secs(15),
        work_per_turn: WORK_PER_TURN,
        capabilities: Some(Capabilities::NONE),
        tries_sizes: false,
        self_check: false,
    };
}
