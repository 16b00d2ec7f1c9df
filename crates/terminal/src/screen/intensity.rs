//! The linear intensities of a colour's red, green and blue, each from 0 to 1, as in X's `rgbi:r/g/b`.
//!
//! The monitor determines which component values give an intensity. Nearly all X servers have no profile of their
//! monitor, and assume the monitor that was measured for libX11. So does this module.

use crate::screen::rgb::Rgb;

/// The intensities of selected component values, in millionths. The first value is `floor` plus one, and then comes
/// every fifth value up to 255. Intensities between them are interpolated linearly. `floor` has the intensity 0.
struct Curve {
    floor: u8,
    millionths: &'static [u32],
}

/// Difference of neighbouring component values in a [`Curve`].
const STEP: f64 = 5.0;

// Source: libX11's profile of a screen that has none (a 19-inch Tektronix monitor). With xterm 379, 1196 of 1200
// intensities had the same components, and the others neighbouring ones.
const RED: Curve = Curve {
    floor: 9,
    millionths: &[
        936, 1481, 2329, 3529, 5127, 7169, 9699, 12_759, 16_392, 20_637, 25_533, 31_119, 37_431,
        44_504, 52_373, 61_069, 70_624, 81_070, 92_433, 104_744, 118_026, 132_307, 147_610,
        163_958, 181_371, 199_871, 219_475, 240_202, 262_069, 285_089, 309_278, 334_647, 361_208,
        388_971, 417_945, 448_138, 479_555, 512_202, 546_082, 581_199, 617_552, 655_144, 693_971,
        734_031, 775_322, 817_837, 861_571, 906_515, 952_662, 1_000_000,
    ],
};
const GREEN: Curve = Curve {
    floor: 19,
    millionths: &[
        832, 1998, 3612, 5736, 8428, 11_745, 15_740, 20_463, 25_960, 32_275, 39_449, 47_519,
        56_520, 66_484, 77_439, 89_409, 102_418, 116_485, 131_625, 147_853, 165_176, 183_604,
        203_140, 223_783, 245_533, 268_384, 292_327, 317_351, 343_441, 370_580, 398_747, 427_919,
        458_068, 489_165, 521_176, 554_067, 587_797, 622_324, 657_604, 693_588, 730_225, 767_459,
        805_235, 843_491, 882_164, 921_187, 960_490, 1_000_000,
    ],
};
const BLUE: Curve = Curve {
    floor: 14,
    millionths: &[
        1341, 2080, 3188, 4729, 6766, 9357, 12_559, 16_424, 21_004, 26_344, 32_489, 39_481, 47_357,
        56_154, 65_903, 76_634, 88_373, 101_145, 114_968, 129_862, 145_841, 162_915, 181_095,
        200_386, 220_791, 242_309, 264_937, 288_670, 313_499, 339_410, 366_390, 394_421, 423_481,
        453_547, 484_592, 516_587, 549_498, 583_291, 617_925, 653_361, 689_553, 726_454, 764_013,
        802_178, 840_891, 880_093, 919_723, 959_715, 1_000_000,
    ],
};

/// The intensities of red, green and blue.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Intensities(pub(crate) [f64; 3]);

impl Intensities {
    /// Parses three intensities, separated by `/`. `None` if there are not exactly three, each from 0 to 1.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let intensities = three_numbers(text)?;
        intensities.iter().all(|value| (0.0..=1.0).contains(value)).then_some(Self(intensities))
    }

    /// Returns the colour with these intensities. Values out of range become 0 or 1.
    pub(crate) fn color(self) -> Rgb {
        let Self([red, green, blue]) = self;
        Rgb::new(RED.component(red), GREEN.component(green), BLUE.component(blue))
    }
}

impl Curve {
    /// Returns the component value, 0 to 255, that is nearest to an intensity.
    fn component(&self, intensity: f64) -> u8 {
        if intensity <= 0.0 {
            return 0;
        }
        let at = intensity * 1e6;
        let (mut low, mut from, mut step) = (0.0, f64::from(self.floor), 1.0);
        for &millionths in self.millionths {
            let high = f64::from(millionths);
            if at <= high {
                let value = (from + step * (at - low) / (high - low)).round();
                return (0..=u8::MAX).find(|&component| f64::from(component) == value).unwrap_or(0);
            }
            (low, from, step) = (high, from + step, STEP);
        }
        u8::MAX
    }
}

/// Parses three finite numbers, separated by `/`. `None` for other text.
pub(crate) fn three_numbers(text: &str) -> Option<[f64; 3]> {
    let mut numbers = text.split('/').map(|text| text.parse().ok().filter(|n: &f64| n.is_finite()));
    let three = [numbers.next()??, numbers.next()??, numbers.next()??];
    numbers.next().is_none().then_some(three)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Option<Rgb> {
        Intensities::parse(text).map(Intensities::color)
    }

    /// Colours as xterm 379 reported them.
    #[test]
    fn intensities_look_as_in_x() {
        for (text, color) in [
            ("0/0/0", (0x00, 0x00, 0x00)),
            ("1/1/1", (0xff, 0xff, 0xff)),
            ("0.5/0.5/0.5", (0xc1, 0xbb, 0xbb)),
            ("1/0/0.5", (0xff, 0x00, 0xbb)),
            ("1.0/0.25/0.75", (0xff, 0x8d, 0xdf)),
            ("0.1/.2/1.", (0x67, 0x81, 0xff)),
            ("1e-1/+0.5/0", (0x67, 0xbb, 0x00)),
            ("0.3/0.4/0.6", (0x9e, 0xaa, 0xca)),
            ("0.7/0.8/0.95", (0xdd, 0xe5, 0xf9)),
            ("0.9/0.01/0.001", (0xf4, 0x2a, 0x0f)),
            ("0.001/0.99/0.002", (0x0b, 0xfe, 0x13)),
            ("0.003/0.004/0.005", (0x17, 0x1f, 0x1f)),
            ("0.02/0.05/0.1", (0x36, 0x4c, 0x64)),
            ("0.0000001/0.0000001/0.0000001", (0x09, 0x13, 0x0e)),
        ] {
            let (red, green, blue) = color;
            assert_eq!(parse(text), Some(Rgb::new(red, green, blue)), "{text}");
        }
    }

    #[test]
    fn every_curve_rises_to_its_end() {
        for curve in [RED, GREEN, BLUE] {
            assert!(curve.millionths.is_sorted() && curve.millionths.last() == Some(&1_000_000));
            let last = usize::from(curve.floor) + 1 + 5 * (curve.millionths.len() - 1);
            assert_eq!(last, 255);
        }
    }

    #[test]
    fn malformed_intensities_are_no_colour() {
        for text in [
            "",
            "/",
            "1/2",
            "1/1",
            "1/1/",
            "1/1/1/1",
            "-0.1/0/0",
            "1.5/0/0",
            "nan/0/0",
            "inf/0/0",
            "0x1/0/0",
            "0,5/0/0",
            " 1/1/1",
            "1/1/1 ",
            "1/1/x",
            "1e999/0/0",
            "-0.0001/0/0",
        ] {
            assert_eq!(parse(text), None, "{text:?}");
        }
    }
}
