//! The state of a flow that follows a RemyCC table: memory, window and time between packets.

use rove_units::{Duration, Instant};

use crate::remy::memory::MemoryTracker;
use crate::remy::table::Table;

/// The state of one flow that follows a RemyCC table. The table is an argument, because all flows share it.
#[derive(Clone, Debug, Default)]
pub struct RemySender {
    tracker: MemoryTracker,
    window: u32,
    intersend: Duration,
    rule: usize,
}

impl RemySender {
    /// Creates the state at the start of a flow. Its window results from the rule for a memory of zeros.
    pub fn new(table: &Table) -> Self {
        let mut sender = Self::default();
        sender.decide(table);
        sender
    }

    /// Counts an acknowledged packet. Call [`RemySender::decide`] once after each batch of acknowledgments.
    pub fn acknowledge(&mut self, sent: Instant, received: Instant) {
        self.tracker.acknowledge(sent, received);
    }

    /// Finds the rule for the current memory, and applies its action once.
    pub fn decide(&mut self, table: &Table) {
        self.rule = table.find(self.tracker.memory());
        let action = &table.rules()[self.rule].action;
        self.window = action.window_after(self.window);
        self.intersend = action.intersend();
    }

    /// Returns the current values of all signals.
    pub const fn memory(&self) -> &crate::remy::memory::Memory {
        self.tracker.memory()
    }

    /// Returns the window: the most packets that may be in flight.
    pub const fn window(&self) -> u32 {
        self.window
    }

    /// Returns the least time between two packets of the flow.
    pub const fn intersend(&self) -> Duration {
        self.intersend
    }

    /// Returns the index of the rule that was applied last.
    pub const fn rule(&self) -> usize {
        self.rule
    }
}
