//! X's `rgbi:r/g/b`: a colour by the intensities of its components, each from 0 to 1.
//!
//! The colour that an intensity stands for depends on the monitor. An X server that knows nothing of its monitor, as
//! nearly all, assumes the monitor that was measured for libX11 long ago, and so do we.

use crate::screen::palette::Rgb;

/// A curve: pairs of an intensity in 1/10,000 and the component in 1/100, from 0 to 255.99, with straight lines between.
type Curve = &'static [(f64, f64)];

/// Source: xterm 379 asked for 2001 intensities of each component; these lines are right to 1 everywhere, and exact at
/// multiples of 0.05.
const RED: Curve = &[
    (0.0, 0.0),
    (5.0, 1050.0),
    (35.0, 2520.0),
    (95.0, 4050.0),
    (105.0, 4120.0),
    (215.0, 5680.0),
    (490.0, 7850.0),
    (565.0, 8220.0),
    (990.0, 10380.0),
    (1035.0, 10450.0),
    (1660.0, 12680.0),
    (2985.0, 15880.0),
    (3115.0, 16050.0),
    (4155.0, 18080.0),
    (6215.0, 21180.0),
    (6975.0, 22020.0),
    (7020.0, 22180.0),
    (9770.0, 25380.0),
    (10000.0, 25599.0),
];
const GREEN: Curve = &[
    (0.0, 0.0),
    (5.0, 2050.0),
    (55.0, 3480.0),
    (155.0, 5080.0),
    (305.0, 6480.0),
    (720.0, 8880.0),
    (1430.0, 11480.0),
    (2710.0, 14680.0),
    (4930.0, 18680.0),
    (7955.0, 22980.0),
    (8090.0, 23020.0),
    (8980.0, 24280.0),
    (9325.0, 24620.0),
    (9735.0, 25280.0),
    (10000.0, 25599.0),
];
const BLUE: Curve = &[
    (0.0, 0.0),
    (5.0, 1450.0),
    (20.0, 1950.0),
    (55.0, 3280.0),
    (130.0, 4650.0),
    (270.0, 6150.0),
    (555.0, 8080.0),
    (1110.0, 10480.0),
    (2150.0, 13480.0),
    (3750.0, 16780.0),
    (6645.0, 21280.0),
    (7450.0, 22220.0),
    (7985.0, 23080.0),
    (9955.0, 25450.0),
    (10000.0, 25599.0),
];

/// Returns the colour whose intensities `text` gives, with `/` between.
pub(crate) fn parse(text: &str) -> Option<Rgb> {
    let mut intensities = text.split('/').map(|text| text.parse().ok());
    let mut component = |curve| Some(component(curve, intensities.next()??));
    let color = (component(RED)?, component(GREEN)?, component(BLUE)?);
    let (Some(red), Some(green), Some(blue)) = color else { return None };
    intensities.next().is_none().then_some(Rgb::new(red, green, blue))
}

/// Returns what an intensity looks like; `None` if there is none such.
fn component(curve: Curve, intensity: f64) -> Option<u8> {
    let at = intensity * 10_000.0;
    let [(low, from), (high, to)] = curve
        .array_windows()
        .copied()
        .find(|[(low, _), (high, _)]| (*low..=*high).contains(&at))?;
    let value = (from + (to - from) * (at - low) / (high - low)) / 100.0;
    (0..=u8::MAX).rev().find(|&component| f64::from(component) <= value)
}

#[cfg(test)]
mod tests {
    use super::*;

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
        ] {
            let (red, green, blue) = color;
            assert_eq!(parse(text), Some(Rgb::new(red, green, blue)), "{text}");
        }
        // Between the points that are exact, by one at most.
        for (text, color) in [
            ("0.9/0.01/0.001", (0xf4, 0x2a, 0x0f)),
            ("0.001/0.99/0.002", (0x0b, 0xfe, 0x13)),
            ("0.003/0.004/0.005", (0x17, 0x1f, 0x1f)),
            ("0.02/0.05/0.1", (0x36, 0x4c, 0x64)),
        ] {
            let Rgb { red, green, blue } = parse(text).expect("a colour");
            let (r, g, b): (u8, u8, u8) = color;
            let near = [red.abs_diff(r), green.abs_diff(g), blue.abs_diff(b)];
            assert!(near.into_iter().all(|difference| difference <= 1), "{text} {near:?}");
        }
    }

    #[test]
    fn what_is_no_intensity_is_no_colour() {
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
