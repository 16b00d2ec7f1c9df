//! Counter-keyed randomness: every draw is a pure function of a seed, a name and a number.
//!
//! A simulation that drops packet 17 drops it whatever the other draws are. Two sending policies that run under one
//! seed have the same losses. The generator is the output function of `SplitMix64` (Steele, Lea and Flood, OOPSLA 2014)
//! over a keyed counter. It serves simulations and padding, never session keys.

/// The source of all random numbers of a run. Two runs with the same seed make the same draws.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Seed(u64);

impl Seed {
    /// Creates a seed from its number, which a failing run prints.
    pub const fn new(number: u64) -> Self {
        Self(number)
    }

    /// Returns the number of the seed.
    pub const fn number(self) -> u64 {
        self.0
    }

    /// Returns the stream of random draws with this name, which is independent of all other streams.
    pub fn stream(self, name: &str) -> Stream {
        // FNV-1a hashes the name; `mix` spreads the hash over all 64 bits.
        let hash = name.bytes().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
            (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
        });
        Stream(mix(mix(self.0).wrapping_add(hash)))
    }
}

/// A named sequence of random draws, numbered from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Stream(u64);

impl Stream {
    /// Returns draw `number` of the stream. A repeated call returns the same draw.
    pub const fn at(self, number: u64) -> Draw {
        Draw(mix(self.0.wrapping_add(number.wrapping_mul(GOLDEN_GAMMA))))
    }

    /// Returns a separate stream of draws for an item that needs several draws, such as packet `number`.
    pub const fn fork(self, number: u64) -> Self {
        Self(mix(self.at(number).0 ^ GOLDEN_GAMMA))
    }
}

/// A random value of 64 bits. Call only one of its methods, because all of them use the same bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Draw(u64);

impl Draw {
    /// Returns the draw as 64 uniform bits.
    pub const fn bits(self) -> u64 {
        self.0
    }

    /// Returns the draw as a uniform number in `[0, 1)`.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit an f64 exactly")]
    pub const fn unit(self) -> f64 {
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns true with this probability. A probability of 0 or less gives false, and 1 or more gives true.
    pub const fn chance(self, probability: f64) -> bool {
        self.unit() < probability
    }

    /// Returns the draw as a uniform whole number below `bound`; zero if `bound` is zero.
    pub const fn below(self, bound: u64) -> u64 {
        ((self.0 as u128 * bound as u128) >> 64) as u64
    }
}

/// Step between counters: 2^64 divided by the golden ratio. Source: Steele, Lea and Flood.
const GOLDEN_GAMMA: u64 = 0x9e37_79b9_7f4a_7c15;

/// The output function of `SplitMix64`. Source: Steele, Lea and Flood.
const fn mix(mut z: u64) -> u64 {
    z = z.wrapping_add(GOLDEN_GAMMA);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_a_pure_function_of_seed_name_and_number() {
        let stream = Seed::new(7).stream("uplink.loss");
        assert_eq!(stream.at(3), Seed::new(7).stream("uplink.loss").at(3));
        assert_ne!(stream.at(3), stream.at(4));
        assert_ne!(stream.at(3), Seed::new(8).stream("uplink.loss").at(3));
        assert_ne!(stream.at(3), Seed::new(7).stream("downlink.loss").at(3));
        assert_ne!(stream.fork(0).at(3), stream.at(3));
    }

    #[test]
    fn chance_comes_true_as_often_as_it_says() {
        let stream = Seed::new(1).stream("coin");
        for probability in [0.0, 0.01, 0.29, 0.5, 1.0] {
            let hits: u32 = (0..100_000).map(|n| u32::from(stream.at(n).chance(probability))).sum();
            let share = f64::from(hits) / 100_000.0;
            assert!((share - probability).abs() < 0.006, "{share} against {probability}");
        }
    }

    #[test]
    fn below_covers_its_range_evenly() {
        let stream = Seed::new(2).stream("die");
        let mut counts = [0_u32; 6];
        for n in 0..60_000 {
            counts[usize::try_from(stream.at(n).below(6)).expect("below six")] += 1;
        }
        assert!(counts.iter().all(|count| (9_500..10_500).contains(count)), "{counts:?}");
        assert_eq!(stream.at(0).below(0), 0);
    }
}
