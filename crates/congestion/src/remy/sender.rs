//! A sender's use of a table: its memory, its window and its pace.

use rove_units::{Duration, Instant};

use crate::remy::memory::MemoryTracker;
use crate::remy::table::Table;

/// The state of one flow that follows a table. The table itself comes in by argument: all flows share it.
#[derive(Clone, Debug, Default)]
pub struct RemySender {
    tracker: MemoryTracker,
    window: u32,
    intersend: Duration,
    rule: usize,
}

impl RemySender {
    /// Creates the state at the begin of a flow: memory and window are zero, and the rule for that is followed.
    pub fn new(table: &Table) -> Self {
        let mut sender = Self::default();
        sender.decide(table);
        sender
    }

    /// Called when a packet of this flow is acknowledged; for packets that are acknowledged together once each, before one
    /// [`RemySender::decide`].
    pub fn acknowledge(&mut self, sent: Instant, received: Instant) {
        self.tracker.acknowledge(sent, received);
    }

    /// Looks the memory up, and follows its rule once.
    pub fn decide(&mut self, table: &Table) {
        self.rule = table.find(self.tracker.memory());
        let action = &table.rules()[self.rule].action;
        self.window = action.window_after(self.window);
        self.intersend = action.intersend();
    }

    /// Returns the signals.
    pub const fn memory(&self) -> &crate::remy::memory::Memory {
        self.tracker.memory()
    }

    /// Returns the most packets that may be on their way.
    pub const fn window(&self) -> u32 {
        self.window
    }

    /// Returns the least time between two packets.
    pub const fn intersend(&self) -> Duration {
        self.intersend
    }

    /// Returns the number of the rule that was followed last, from 0.
    pub const fn rule(&self) -> usize {
        self.rule
    }
}
