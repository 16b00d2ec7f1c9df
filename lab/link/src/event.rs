//! The event log of a link: what happened to each packet and when, in two text forms.

use rove_units::{Bytes, Duration, Instant};

use crate::item::{DropCause, PacketId};

/// Something that happened to a packet or at the bottleneck. Sizes include the link's overhead.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event {
    /// The time of the event in the model. It does not depend on when the driver polled the link.
    pub at: Instant,
    /// The kind of the event, with the packet that it is about.
    pub kind: EventKind,
}

/// The kinds of events in a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EventKind {
    /// A packet entered the link.
    Entered {
        /// The packet that entered.
        id: PacketId,
        /// Size of the packet.
        size: Bytes,
    },
    /// A packet arrived at the queue, which may drop it.
    Queued {
        /// The packet that arrived at the queue.
        id: PacketId,
        /// Size of the packet.
        size: Bytes,
    },
    /// A delivery opportunity arrived, whether or not a packet used it.
    Opportunity {
        /// Bytes that the opportunity can carry.
        size: Bytes,
    },
    /// A packet left the bottleneck.
    Departed {
        /// The packet that left the bottleneck.
        id: PacketId,
        /// Size of the packet.
        size: Bytes,
        /// Time that the packet spent in the queue and in transmission.
        waited: Duration,
    },
    /// A packet left the link.
    Delivered {
        /// The packet that left the link.
        id: PacketId,
        /// Size of the packet.
        size: Bytes,
        /// Time that the packet spent in the link.
        delay: Duration,
    },
    /// A packet was dropped.
    Dropped {
        /// The packet that was dropped.
        id: PacketId,
        /// Size of the packet.
        size: Bytes,
        /// The reason for the drop.
        cause: DropCause,
    },
}

impl Event {
    /// Returns the event as a line of Mahimahi's log. After the milliseconds since `base` comes `+ size` for an arrival
    /// at the queue, `# size` for an opportunity, or `- size delay` for a departure. `d 1 size` is a drop by a full
    /// queue, by PIE or because of its size. `None` for events that Mahimahi does not log, such as CoDel's drops.
    ///
    /// The delay is the difference of two times, each rounded down to milliseconds as by Mahimahi's clock.
    pub fn mahimahi_line(&self, base: Instant) -> Option<String> {
        let time = self.at.as_millis().saturating_sub(base.as_millis());
        match self.kind {
            EventKind::Queued { size, .. } => Some(format!("{time} + {}", size.get())),
            EventKind::Opportunity { size } => Some(format!("{time} # {}", size.get())),
            EventKind::Departed { size, waited, .. } => {
                let delay = self.at.as_millis() - (self.at - waited).as_millis();
                Some(format!("{time} - {} {delay}", size.get()))
            }
            EventKind::Dropped {
                size,
                cause: DropCause::QueueFull | DropCause::Pie | DropCause::TooLarge,
                ..
            } => Some(format!("{time} d 1 {}", size.get())),
            EventKind::Dropped { .. } | EventKind::Entered { .. } | EventKind::Delivered { .. } => {
                None
            }
        }
    }

    /// Returns the event as a line of rove's log. The line has nanoseconds since the start of the run, a word for the
    /// event, and its fields. `docs/lab.md` lists the words and fields.
    pub fn line(&self) -> String {
        let time = self.at.as_nanos();
        match self.kind {
            EventKind::Entered { id, size } => format!("{time} enter {id} {}", size.get()),
            EventKind::Queued { id, size } => format!("{time} queue {id} {}", size.get()),
            EventKind::Opportunity { size } => format!("{time} opportunity {}", size.get()),
            EventKind::Departed { id, size, waited } => {
                format!("{time} depart {id} {} {}", size.get(), waited.as_nanos())
            }
            EventKind::Delivered { id, size, delay } => {
                format!("{time} deliver {id} {} {}", size.get(), delay.as_nanos())
            }
            EventKind::Dropped { id, size, cause } => {
                format!("{time} drop {id} {} {cause}", size.get())
            }
        }
    }
}

/// Returns the first lines of a Mahimahi log: the link's name, its queue, and the start of its time scale.
pub fn mahimahi_header(name: &str, queue: &str, base: Instant) -> String {
    let base = base.as_millis();
    format!("# link: {name}\n# queue: {queue}\n# init timestamp: {base}\n# base timestamp: 0\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(kind: EventKind) -> Event {
        Event { at: Instant::from_nanos(12_900_000), kind }
    }

    #[test]
    fn both_logs_write_each_event_in_their_form() {
        let id = PacketId { number: 7, is_copy: false };
        let (size, delay) = (Bytes::new(1504), Duration::from_micros(2_000));
        let copy = PacketId { is_copy: true, ..id };
        let base = Instant::from_millis(2);
        for (kind, mahimahi, ours) in [
            (EventKind::Entered { id, size }, None, "12900000 enter 7 1504"),
            (EventKind::Queued { id, size }, Some("10 + 1504"), "12900000 queue 7 1504"),
            (EventKind::Opportunity { size }, Some("10 # 1504"), "12900000 opportunity 1504"),
            (
                EventKind::Departed { id, size, waited: delay },
                Some("10 - 1504 2"),
                "12900000 depart 7 1504 2000000",
            ),
            (
                EventKind::Delivered { id: copy, size, delay },
                None,
                "12900000 deliver 7c 1504 2000000",
            ),
            (
                EventKind::Dropped { id, size, cause: DropCause::QueueFull },
                Some("10 d 1 1504"),
                "12900000 drop 7 1504 queue-full",
            ),
            (
                EventKind::Dropped { id, size, cause: DropCause::CoDel },
                None,
                "12900000 drop 7 1504 codel",
            ),
        ] {
            assert_eq!(event(kind).mahimahi_line(base).as_deref(), mahimahi);
            assert_eq!(event(kind).line(), ours);
        }
        let header = mahimahi_header("uplink", "infinite", base);
        assert!(header.lines().all(|line| line.starts_with("# ")) && header.ends_with('\n'));
    }
}
