//! Dice: random values, drawn one after the other from a seed.

use rove_link::LinkConfig;
use rove_terminal::Size;
use rove_units::{BitRate, Bytes, Draw, Duration, Stream};

/// Draws random values one after the other from a stream.
pub(super) struct Dice {
    stream: Stream,
    drawn: u64,
}

impl Dice {
    pub(super) const fn new(stream: Stream) -> Self {
        Self { stream, drawn: 0 }
    }

    /// Returns how many values were drawn. The number only grows, so it can serve as a serial number.
    pub(super) const fn serial(&self) -> u64 {
        self.drawn
    }

    pub(super) fn draw(&mut self) -> Draw {
        self.drawn += 1;
        self.stream.at(self.drawn)
    }

    pub(super) fn below(&mut self, bound: u64) -> u64 {
        self.draw().below(bound)
    }

    pub(super) fn index(&mut self, len: usize) -> usize {
        let bound = u64::try_from(len).expect("lengths fit 64 bits");
        usize::try_from(self.below(bound)).expect("below a length")
    }

    pub(super) fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.index(from.len())]
    }

    pub(super) fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).expect("below 256")
    }

    pub(super) fn chance(&mut self, probability: f64) -> bool {
        self.draw().chance(probability)
    }

    pub(super) fn millis(&mut self, bound: u64) -> Duration {
        Duration::from_millis(self.below(bound))
    }

    pub(super) fn color(&mut self) -> (u8, u8, u8) {
        (self.byte(), self.byte(), self.byte())
    }

    pub(super) fn size(&mut self) -> Size {
        let (columns, rows) = if self.chance(0.1) {
            (1 + self.below(3), 1 + self.below(3))
        } else {
            (1 + self.below(160), 1 + self.below(50))
        };
        let cells = |cells| u16::try_from(cells).expect("at most 160");
        Size::clamped(cells(columns), cells(rows))
    }

    pub(super) fn link(&mut self) -> LinkConfig {
        let loss = self.pick(&[0.0, 0.0, 0.1, 0.5]) * self.draw().unit();
        let rate = match self.below(3) {
            0 => BitRate::from_bits_per_second(20_000 + self.below(200_000)),
            1 => BitRate::from_bits_per_second(1_000_000 + self.below(10_000_000)),
            _ => None,
        };
        LinkConfig {
            delay: self.millis(300),
            jitter: if self.chance(0.5) { self.millis(200) } else { Duration::ZERO },
            reorder: self.chance(0.5),
            loss,
            duplicate: if self.chance(0.3) { 0.2 * self.draw().unit() } else { 0.0 },
            rate,
            queue_max: Bytes::kib(2 + self.below(64)),
            ..LinkConfig::default()
        }
    }

    /// Returns keys to type. They contain no ESC, because the server may translate a key that begins with ESC.
    pub(super) fn keys(&mut self) -> Vec<u8> {
        let len = match self.below(40) {
            0 => self.below(50_000),
            1..4 => self.below(500),
            _ => 1 + self.below(8),
        };
        (0..len)
            .map(|_| match self.below(20) {
                0 => b'\r',
                1 => 0x0c,
                2 => 0x80 | self.byte(),
                _ => b' ' + self.byte() % 95,
            })
            .collect()
    }
}
