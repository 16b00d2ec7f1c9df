//! Variable-length numbers as in protobuf: seven bits to a byte, the low ones first. Only the shortest form is valid.

/// Reads a number off the front of `bytes`. `None` if it is cut short, too large, or longer than it needs to be.
pub(crate) fn take(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0;
    for shift in (0..u64::BITS).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let bits = u64::from(byte & 0x7F);
        if (bits << shift) >> shift != bits {
            return None;
        }
        value |= bits << shift;
        if byte & 0x80 == 0 {
            return (bits != 0 || shift == 0).then_some(value);
        }
    }
    None
}

pub(crate) fn put(out: &mut Vec<u8>, value: u64) {
    let mut rest = value;
    loop {
        let [low, ..] = rest.to_le_bytes();
        rest >>= 7;
        let more = if rest == 0 { 0 } else { 0x80 };
        out.push((low & 0x7F) | more);
        if rest == 0 {
            return;
        }
    }
}

/// Returns how many bytes a number takes.
pub(crate) const fn len(value: u64) -> usize {
    let bits = u64::BITS - (value | 1).leading_zeros();
    bits.div_ceil(7) as usize
}

/// Maps signed numbers near zero to small unsigned numbers (protobuf's `sint64`).
pub(crate) const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)).cast_unsigned()
}

/// Reverses [`zigzag`].
pub(crate) const fn unzigzag(value: u64) -> i64 {
    (value >> 1).cast_signed() ^ -(value & 1).cast_signed()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn every_number_reads_back_and_its_length_is_known(shift in 0..64_u32, bits: u64, signed: i64) {
            let value = bits >> shift;
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            prop_assert_eq!(bytes.len(), len(value));
            let mut rest = &bytes[..];
            prop_assert_eq!(take(&mut rest), Some(value));
            prop_assert!(rest.is_empty());
            prop_assert_eq!(take(&mut &bytes[..bytes.len() - 1]), None);
            prop_assert_eq!(unzigzag(zigzag(signed)), signed);
        }
    }

    #[test]
    fn a_number_has_one_form() {
        for (bytes, value) in [
            (&[0][..], Some(0)),
            (&[0x80, 0][..], None),
            (&[0x81, 0x80, 0][..], None),
            (&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 1][..], Some(u64::MAX)),
            (&[0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 2][..], None),
            (&[0x80; 11][..], None),
        ] {
            assert_eq!(take(&mut &bytes[..]), value, "{bytes:x?}");
        }
        assert_eq!((zigzag(0), zigzag(-1), zigzag(1), zigzag(i64::MIN)), (0, 1, 2, u64::MAX));
    }
}
