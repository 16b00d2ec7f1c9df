//! Control: decides when a sender of a simulated network sends.

use rove_congestion::remy::{Memory, RemySender, Table};
use rove_units::Instant;

/// Decides on the window and the pace of a sender, from the acknowledgments that come back.
pub(crate) trait Control {
    /// Begins a flow, and forgets everything about the previous flow.
    fn start(&mut self, now: Instant);

    /// Called when a packet has been sent.
    fn sent(&mut self, _now: Instant) {}

    /// Called when a packet of this flow is acknowledged. The `lost` packets of the flow directly before it were lost.
    fn acknowledge(&mut self, sent: Instant, received: Instant, lost: u64);

    /// Decides on window and pace. Called after all acknowledgments that arrive at the same moment.
    fn decide(&mut self);

    /// Returns how many packets of the flow may be in flight.
    fn window(&self) -> u32;

    /// Returns the least time between two packets, in ns.
    fn intersend_nanos(&self) -> u64;
}

/// A control that follows a table, and counts how often it uses each rule.
#[derive(Clone, Debug)]
pub(crate) struct Ruled<'a> {
    table: &'a Table,
    sender: RemySender,
    intersend_nanos: u64,
    /// How often each rule was followed.
    pub(crate) uses: Vec<u64>,
    /// The rule whose memories are recorded, and these memories.
    pub(crate) traced: Option<(usize, Vec<Memory>)>,
}

impl<'a> Ruled<'a> {
    /// Creates the control of a sender without a flow.
    pub(crate) fn new(table: &'a Table, traced: Option<usize>) -> Self {
        Self {
            table,
            sender: RemySender::default(),
            intersend_nanos: 0,
            uses: vec![0; table.rules().len()],
            traced: traced.map(|rule| (rule, Vec::new())),
        }
    }

    /// Returns the number of the rule that was followed most recently, from 0.
    pub(crate) fn rule(&self) -> usize {
        self.sender.rule()
    }

    fn note_decision(&mut self) {
        let rule = self.sender.rule();
        self.uses[rule] += 1;
        self.intersend_nanos =
            u64::try_from(self.sender.intersend().as_nanos()).unwrap_or(u64::MAX);
        if let Some((traced, memories)) = &mut self.traced
            && *traced == rule
        {
            memories.push(*self.sender.memory());
        }
    }
}

impl Control for Ruled<'_> {
    fn start(&mut self, _: Instant) {
        self.sender = RemySender::new(self.table);
        self.note_decision();
    }

    fn acknowledge(&mut self, sent: Instant, received: Instant, _: u64) {
        self.sender.acknowledge(sent, received);
    }

    fn decide(&mut self) {
        self.sender.decide(self.table);
        self.note_decision();
    }

    fn window(&self) -> u32 {
        self.sender.window()
    }

    fn intersend_nanos(&self) -> u64 {
        self.intersend_nanos
    }
}
