//! X's device-independent colour spaces, and their conversion to the red, green and blue of the screen.
//!
//! The formulas are libX11's, including its mistakes, because programs chose colours by their look in xterm. A colour
//! outside of the screen's range becomes the most saturated colour in the range that has the same hue and luminance.

use crate::screen::intensity::{Intensities, three_numbers};
use crate::screen::rgb::Rgb;

/// Matrix from CIE XYZ to the red, green and blue intensities of a screen without a colour profile.
/// Source: libX11's profile of a screen that has none.
const INTENSITIES_OF_XYZ: [[f64; 3]; 3] = [
    [3.483_404_812_535_39, -1.521_763_749_272_852, -0.559_231_333_540_497_8],
    [-1.071_527_513_061_936, 1.965_937_952_043_724, 0.036_736_913_395_534_62],
    [0.063_511_797_904_977_88, -0.200_205_010_004_964_8, 0.810_709_420_316_482_2],
];

/// The white of a screen without a colour profile, at full intensity. Source: the row sums of the inverse matrix in
/// libX11's profile.
const WHITE: Xyz = Xyz { x: 0.949_664_400_870_032_6, y: 1.0, z: 1.406_040_301_998_017_3 };

/// How far an intensity may be below 0 or above 1 and still be valid. Source: libX11's `EPS`.
const TOLERANCE: f64 = 0.001;

/// Up to the first constant, lightness is proportional to luminance, and the second constant is the factor. Source: CIE
/// 15, section 8.2.1, as libX11 rounds it.
const LINEAR_LIGHTNESS: f64 = 7.999_536_24;
const LIGHTNESS_PER_LUMINANCE: f64 = 903.29;

/// The scale of TekHVC's chroma, and the chromaticity (u', v') of the red that has hue 0. Source: J. M. Taylor and
/// others, *Color Spaces: A Tektronix Perspective*; libX11.
const CHROMA_SCALE: f64 = 7.507_25;
const BEST_RED: (f64, f64) = (0.7127, 0.4931);

/// A colour in CIE 1931 XYZ.
#[derive(Clone, Copy, Debug)]
struct Xyz {
    x: f64,
    y: f64,
    z: f64,
}

/// Parses the numbers `text` of a colour in the colour space `space`, for a screen without a colour profile. `None` for
/// unknown spaces and invalid numbers.
pub(crate) fn parse(space: &str, text: &str) -> Option<Rgb> {
    let numbers = three_numbers(text)?;
    let xyz = match &*space.to_ascii_lowercase() {
        "ciexyz" => {
            let [x, y, z] = numbers;
            Some(Xyz { x, y, z })
        }
        "ciexyy" => {
            let [x, y, luminance] = numbers;
            Some(Xyz { x: x * luminance / y, y: luminance, z: (1.0 - x - y) * luminance / y })
        }
        "cieuvy" => {
            let [u, v, luminance] = numbers;
            Some(Xyz::from_uv((u, v), luminance))
        }
        "cielab" => Xyz::from_lab(numbers),
        "cieluv" => Xyz::from_luv(numbers),
        "tekhvc" => Xyz::from_hvc(numbers),
        _ => None,
    }?;
    let is_color = xyz.y == 0.0 || (xyz.x.is_finite() && xyz.z.is_finite());
    ((0.0..=1.0).contains(&xyz.y) && is_color).then(|| xyz.intensities().color())
}

impl Xyz {
    fn from_uv((u, v): (f64, f64), luminance: f64) -> Self {
        let y = 4.0 * v;
        Self {
            x: 9.0 * u * luminance / y,
            y: luminance,
            z: (12.0 - 3.0 * u - 20.0 * v) * luminance / y,
        }
    }

    /// Creates a colour from CIELab. Instead of the standard's factors 500, 200 and 903.292, libX11 uses 5, 2 and
    /// 9.03292.
    fn from_lab([lightness, a, b]: [f64; 3]) -> Option<Self> {
        if !is_lightness(lightness) {
            return None;
        }
        let root = (lightness + 16.0) / 116.0;
        let (y, x, z) = if root.powi(3) < 0.008_856 {
            let y = lightness / 9.032_92;
            (y, y + a / 3893.5, y - b / 1557.4)
        } else {
            (root.powi(3), (root + a / 5.0).powi(3), (root - b / 2.0).powi(3))
        };
        Some(Self { x: WHITE.x * x, y, z: WHITE.z * z })
    }

    /// Creates a colour from CIELuv. libX11 uses a hundredth of the standard's factor.
    fn from_luv([lightness, u, v]: [f64; 3]) -> Option<Self> {
        let (white_u, white_v) = WHITE.uv();
        let scale = 13.0 * lightness / 100.0;
        is_lightness(lightness).then(|| {
            Self::from_uv((u / scale + white_u, v / scale + white_v), luminance(lightness))
        })
    }

    /// Creates a colour from TekHVC: hue in degrees, value, chroma.
    fn from_hvc([hue, value, chroma]: [f64; 3]) -> Option<Self> {
        if !is_lightness(value) || chroma < 0.0 {
            return None;
        }
        if value == 100.0 {
            return Some(WHITE);
        }
        let (white_u, white_v) = WHITE.uv();
        let red = ((BEST_RED.1 - white_v) / (BEST_RED.0 - white_u)).atan();
        let (sine, cosine) = (hue.to_radians() + red).sin_cos();
        let distance = chroma / (value * CHROMA_SCALE);
        let uv = (white_u + cosine * distance, white_v + sine * distance);
        Some(Self::from_uv(uv, luminance(value)))
    }

    /// Returns the chromaticity (u', v') of CIE 1976.
    fn uv(self) -> (f64, f64) {
        (4.0 * self.x / self.uv_divisor(), 9.0 * self.y / self.uv_divisor())
    }

    fn uv_divisor(self) -> f64 {
        self.x + 15.0 * self.y + 3.0 * self.z
    }

    /// Returns the red, green and blue intensities of this colour. If the colour is outside of the screen's range,
    /// returns the intensities of the first colour inside the range on the line to grey.
    fn intensities(self) -> Intensities {
        let grey = self.y;
        if grey == 0.0 {
            return Intensities([0.0; 3]);
        }
        let wanted = INTENSITIES_OF_XYZ
            .map(|[of_x, of_y, of_z]| of_x * self.x + of_y * self.y + of_z * self.z);
        if wanted.iter().all(|value| (-TOLERANCE..=1.0 + TOLERANCE).contains(value)) {
            return Intensities(wanted);
        }
        // Colours of the same luminance and hue are on a line through grey. For a chromaticity that no colour has, the
        // formulas give a point on the other side of grey. So the steps are reversed.
        let is_reversed = self.uv_divisor() < 0.0;
        let steps = wanted.map(|value| if is_reversed { grey - value } else { value - grey });
        let room = steps.map(|step| if step < 0.0 { grey / -step } else { (1.0 - grey) / step });
        let far = room.into_iter().fold(f64::INFINITY, f64::min);
        Intensities(steps.map(|step| match grey + step * far {
            // At the edge of the range, an intensity stays above zero, so its component is the curve's floor and not 0.
            value if value < f64::EPSILON => f64::EPSILON,
            value => value,
        }))
    }
}

const fn is_lightness(value: f64) -> bool {
    value >= 0.0 && value <= 100.0
}

/// Returns the luminance, 0 to 1, of a lightness from 0 to 100.
fn luminance(lightness: f64) -> f64 {
    if lightness < LINEAR_LIGHTNESS {
        lightness / LIGHTNESS_PER_LUMINANCE
    } else {
        ((lightness + 16.0) / 116.0).powi(3)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn color(text: &str) -> Option<u32> {
        let (space, numbers) = text.split_once(':').expect("a colour space");
        let Rgb { red, green, blue } = parse(space, numbers)?;
        Some(u32::from_be_bytes([0, red, green, blue]))
    }

    /// Colours inside and outside a screen's range, as xterm 379 reported them.
    #[test]
    fn colours_look_as_in_x() {
        for (text, rgb) in [
            ("CIEXYZ:0.6229/0.7418/1.1133", 0xb4e9e5),
            ("CIEXYZ:0.9425/0.7399/1.2913", 0xffd1e9),
            ("CIEXYZ:0.6490/0.9009/0.1585", 0xeeffab),
            ("CIEXYZ:0.4691/0.2466/0.7613", 0xed2bca),
            ("CIEXYZ:0.5739/0.0131/0.3034", 0x501335),
            ("CIEXYZ:0.2795/0.9163/1.0720", 0xd7fff1),
            ("CIEXYZ:0.4059/0.2373/0.8315", 0xce53d2),
            ("CIExyY:0.22032/0.27692/0.70894", 0x7eeaf7),
            ("CIEuvY:0.14982/0.42368/0.70894", 0x7eeaf7),
            ("CIExyY:0.26042/0.29093/0.65019", 0xbed7db),
            ("CIEuvY:0.17448/0.43856/0.65019", 0xbed7db),
            ("CIExyY:0.27859/0.18807/0.35586", 0xe17ae3),
            ("CIEuvY:0.23712/0.36016/0.35586", 0xe17ae3),
            ("CIExyY:0.7450/0.5908/0.0364", 0x623d0e),
            ("CIExyY:0.2524/0.4556/0.9166", 0xdfffe3),
            ("CIExyY:0.8879/0.5456/0.0146", 0x4b270e),
            ("CIExyY:0.7784/0.4277/0.5756", 0xffb6af),
            ("CIEuvY:0.1982/0.0075/0.5844", 0xccbeff),
            ("CIEuvY:0.4962/0.4361/0.0953", 0xb3135d),
            ("CIEuvY:0.3182/0.1027/0.7094", 0xf1cbff),
            ("CIEuvY:0.2677/0.5631/0.7948", 0xffe1ca),
            ("CIELab:62.5100/37.2077/-31.7342", 0x5b91ff),
            ("CIELab:10.2882/-34.8434/-23.4865", 0x092f37),
            ("CIELab:7.2195/20.7834/17.7003", 0xece4e4),
            ("CIELab:29.5928/-30.6522/-1.6789", 0x951354),
            ("CIELab:38.2093/-16.7526/-0.0991", 0xb71366),
            ("CIELab:5.3127/-22.5131/37.9442", 0xcec9c5),
            ("CIELab:3.6052/-38.0945/21.5648", 0xadaca8),
            ("CIELuv:40.8349/-13.6550/-32.3259", 0x096c96),
            ("CIELuv:18.0144/35.4730/23.2430", 0x5e2e0e),
            ("CIELuv:89.6343/0.5101/-31.6657", 0xe3daff),
            ("CIELuv:41.6148/-21.9045/-37.8496", 0x09708f),
            ("CIELuv:0.0540/0.9994/9.1551", 0x091300),
            ("TekHVC:102.8249/26.4340/24.6597", 0x3c540e),
            ("TekHVC:304.4900/56.9737/13.5433", 0xa7839c),
            ("TekHVC:236.4627/61.5091/12.1646", 0x8c99a9),
            ("TekHVC:153.4757/13.1700/13.1722", 0x09382d),
            ("TekHVC:316.4148/30.6012/10.9563", 0x6c4b5e),
            ("TekHVC:24.3003/8.1441/18.7975", 0x411e0e),
            ("TekHVC:164.1775/3.2473/3.6604", 0x09211a),
            ("CIEXYZ:-1/0/0", 0x000000),
            ("CIEXYZ:0/0/1", 0x000000),
            ("CIEXYZ:1/0/0", 0x000000),
            ("CIELuv:0/0/0", 0x000000),
            ("CIELuv:100/0/0", 0xffffff),
        ] {
            assert_eq!(color(text), Some(rgb), "{text}");
        }
    }

    #[test]
    fn names_of_spaces_are_so_in_any_letters() {
        assert_eq!(color("tekhvc:1/1/1"), color("TekHVC:1/1/1"));
        assert_eq!(color("CIELAB:1/1/1"), color("CIELab:1/1/1"));
    }

    #[test]
    fn numbers_out_of_range_are_no_colour() {
        for text in [
            "CIEXYZ:0.5/1.1/0.5",
            "CIEXYZ:0.5/-0.1/0.5",
            "CIEXYZ:0.5/0.5",
            "CIEXYZ:0.5/0.5/0.5/0.5",
            "CIEXYZ:nan/0.5/0.5",
            "CIEXYZ:inf/0.5/0.5",
            "CIEXYZ:",
            "CIExyY:0.3/0.3/1.1",
            "CIExyY:0.3/0.3/-0.1",
            "CIExyY:0.3/0/0.5",
            "CIEuvY:0.2/0.5/1.5",
            "CIEuvY:0.2/0/0.5",
            "CIELab:101/0/0",
            "CIELab:-1/0/0",
            "CIELuv:101/0/0",
            "CIELuv:-1/0/0",
            "TekHVC:0/101/0",
            "TekHVC:0/-1/0",
            "TekHVC:0/50/-1",
            "CIEXY:0.5/0.5/0.5",
        ] {
            assert_eq!(color(text), None, "{text}");
        }
    }

    #[test]
    fn no_numbers_are_too_odd() {
        let odd = ["0", "-0", "1e-320", "1e308", "-1e308", "100", "7.99953624", "0.5", "1"];
        for space in ["CIEXYZ", "CIExyY", "CIEuvY", "CIELab", "CIELuv", "TekHVC"] {
            for index in 0..odd.len().pow(3) {
                let at = |place: u32| odd[index / odd.len().pow(place) % odd.len()];
                parse(space, &[at(0), at(1), at(2)].join("/"));
            }
        }
    }
}
