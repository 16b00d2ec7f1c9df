//! Meters of a testbed: the packets offered to each direction, and its last delivery. All threads see them at once.

use core::sync::atomic::{AtomicU16, AtomicU64, Ordering};

use rove_units::{Bytes, Instant};

/// Protocol number of TCP in an IPv4 header. Source: RFC 9293, section 3.1.
const TCP: u8 = 6;

/// Meters of both directions: uplink, downlink.
#[derive(Debug, Default)]
pub(super) struct Meters {
    directions: [Meter; 2],
    /// The TCP port whose packets are left out; 0 if there is none.
    background: AtomicU16,
}

/// The meter of a direction.
#[derive(Debug, Default)]
struct Meter {
    packets: AtomicU64,
    bytes: AtomicU64,
    /// The time on the link's clock in nanoseconds, plus one, so that 0 means never.
    delivered_at: AtomicU64,
}

/// Packets that were offered to a direction, whether it delivered them or not.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offered {
    /// The number of packets.
    pub packets: u64,
    /// The bytes of these packets, IP headers included.
    pub bytes: Bytes,
}

impl Offered {
    /// Returns the packets and bytes offered since `before`.
    #[must_use]
    pub fn since(self, before: Self) -> Self {
        Self {
            packets: self.packets - before.packets,
            bytes: Bytes::new(self.bytes.get().saturating_sub(before.bytes.get())),
        }
    }
}

impl Meters {
    /// Excludes packets from or to this TCP port after this call.
    pub(super) fn leave_out(&self, port: u16) {
        self.background.store(port, Ordering::Relaxed);
    }

    pub(super) fn offer(&self, direction: usize, packet: &[u8]) {
        if !self.is_background(packet) {
            let meter = &self.directions[direction];
            meter.packets.fetch_add(1, Ordering::Relaxed);
            let bytes = u64::try_from(packet.len()).unwrap_or(u64::MAX);
            meter.bytes.fetch_add(bytes, Ordering::Relaxed);
        }
    }

    pub(super) fn deliver(&self, direction: usize, packet: &[u8], now: Instant) {
        if !self.is_background(packet) {
            let nanos = now.as_nanos().saturating_add(1);
            self.directions[direction].delivered_at.store(nanos, Ordering::Relaxed);
        }
    }

    pub(super) fn offered(&self) -> [Offered; 2] {
        self.directions.each_ref().map(|meter| Offered {
            packets: meter.packets.load(Ordering::Relaxed),
            bytes: Bytes::new(meter.bytes.load(Ordering::Relaxed)),
        })
    }

    /// Returns when a direction last delivered a packet.
    pub(super) fn delivered_at(&self, direction: usize) -> Option<Instant> {
        let nanos = self.directions[direction].delivered_at.load(Ordering::Relaxed);
        nanos.checked_sub(1).map(Instant::from_nanos)
    }

    fn is_background(&self, packet: &[u8]) -> bool {
        let port = self.background.load(Ordering::Relaxed);
        port != 0 && tcp_ports(packet).is_some_and(|ports| ports.contains(&port))
    }
}

/// Returns the source and destination ports of a TCP segment in an IPv4 packet. `None` for any other packet. Source:
/// RFC 791, section 3.1, and RFC 9293, section 3.1.
fn tcp_ports(packet: &[u8]) -> Option<[u16; 2]> {
    let (first, protocol) = (*packet.first()?, *packet.get(9)?);
    let header = usize::from(first & 0x0f) * 4;
    let [a, b, c, d] = *packet.get(header..header + 4)?.first_chunk()?;
    let is_tcp = first >> 4 == 4 && protocol == TCP;
    is_tcp.then(|| [u16::from_be_bytes([a, b]), u16::from_be_bytes([c, d])])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns an IPv4 packet with these ports.
    fn packet(protocol: u8, source: u16, destination: u16) -> Vec<u8> {
        let mut packet = vec![0; 40];
        (packet[0], packet[9]) = (0x45, protocol);
        packet[20..22].copy_from_slice(&source.to_be_bytes());
        packet[22..24].copy_from_slice(&destination.to_be_bytes());
        packet
    }

    #[test]
    fn only_segments_of_the_background_port_are_left_out() {
        let meters = Meters::default();
        meters.leave_out(9);
        for (protocol, source, destination) in [(TCP, 9, 40_000), (TCP, 40_000, 9), (TCP, 22, 8)] {
            meters.offer(0, &packet(protocol, source, destination));
        }
        meters.offer(0, &packet(17, 9, 9));
        meters.offer(0, &[]);
        let [up, down] = meters.offered();
        assert_eq!((up.packets, up.bytes, down), (3, Bytes::new(80), Offered::default()));
    }

    #[test]
    fn the_last_delivery_is_known_even_at_zero() {
        let meters = Meters::default();
        assert_eq!(meters.delivered_at(1), None);
        meters.deliver(1, &packet(17, 1, 2), Instant::ZERO);
        assert_eq!(meters.delivered_at(1), Some(Instant::ZERO));
        assert_eq!(meters.delivered_at(0), None);
    }
}
