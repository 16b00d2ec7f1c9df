//! Bulk data: as many bytes as the window allows. Nobody reads them.

use rove_congestion::sprout::endpoint::Waiting;
use rove_units::Bytes;

use crate::sprout::session::Application;

/// An end that always, or never, has data to send.
#[derive(Clone, Debug)]
pub struct Bulk {
    is_sending: bool,
    received: u64,
}

impl Bulk {
    /// Creates an end that sends.
    pub const fn sending() -> Self {
        Self { is_sending: true, received: 0 }
    }

    /// Creates an end that only receives.
    pub const fn receiving() -> Self {
        Self { is_sending: false, received: 0 }
    }

    /// Returns how many bytes of data have arrived.
    pub const fn received(&self) -> u64 {
        self.received
    }
}

impl Application for Bulk {
    fn waiting(&mut self, _: Bytes) -> Waiting {
        if self.is_sending { Waiting::Stream(Bytes::MAX) } else { Waiting::Nothing }
    }

    fn take(&mut self, size: usize) -> Vec<u8> {
        vec![0; size]
    }

    fn deliver(&mut self, data: &[u8]) {
        self.received += Bytes::from(data.len()).get();
    }
}
