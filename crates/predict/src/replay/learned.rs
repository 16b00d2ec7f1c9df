//! All knowledge that the engine gains in a session.

use crate::replay::context::Contexts;
use crate::replay::drawn_cursor::Counters;
use crate::replay::echo_timeout::EchoTimeouts;
use crate::replay::exit::Exits;
use crate::replay::history::History;
use crate::replay::late::Late;
use crate::replay::latency::Latency;
use crate::replay::navigation::Navigations;
use crate::replay::paint::Palettes;
use crate::replay::wrap::Wraps;

/// All models. Each of them learns one kind of habit.
#[derive(Clone, Debug, Default)]
pub(super) struct Learned {
    pub(super) contexts: Contexts,
    pub(super) counters: Counters,
    pub(super) exits: Exits,
    pub(super) echo_timeouts: EchoTimeouts,
    pub(super) history: History,
    pub(super) late: Late,
    pub(super) latency: Latency,
    pub(super) navigations: Navigations,
    pub(super) palettes: Palettes,
    pub(super) wraps: Wraps,
}
