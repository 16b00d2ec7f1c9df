//! Sums of many numbers, computed as independent partial sums that a processor can add at the same time.

/// Number of partial sums. Chosen: they fill four of the registers that every x86-64 processor has.
pub(crate) const LANES: usize = 16;

pub(crate) fn sum(numbers: &[f32]) -> f32 {
    let mut sums = [0.0_f32; LANES];
    let chunks = numbers.chunks_exact(LANES);
    let rest: f32 = chunks.remainder().iter().sum();
    for chunk in chunks {
        for lane in 0..LANES {
            sums[lane] += chunk[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

/// Returns the dot product of two slices. Numbers of the longer slice beyond the end of the shorter are left out.
pub(crate) fn dot(one: &[f32], other: &[f32]) -> f32 {
    let len = one.len().min(other.len());
    let (ones, others) = (one[..len].chunks_exact(LANES), other[..len].chunks_exact(LANES));
    let rest = ones.remainder().iter().zip(others.remainder());
    let rest: f32 = rest.map(|(one, other)| one * other).sum();
    let mut sums = [0.0_f32; LANES];
    for (one, other) in ones.zip(others) {
        for lane in 0..LANES {
            sums[lane] += one[lane] * other[lane];
        }
    }
    sums.iter().sum::<f32>() + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_of_any_length_are_those_of_a_loop() {
        for len in [0_u16, 1, 15, 16, 17, 257] {
            let numbers: Vec<f32> = (0..len).map(|number| f32::from(number) + 0.5).collect();
            let looped: f32 = numbers.iter().sum();
            assert!((sum(&numbers) - looped).abs() < 0.1, "{len}");
            let products: f32 = numbers.iter().map(|number| number * number).sum();
            assert!((dot(&numbers, &numbers) / products.max(0.1) - 1.0).abs() < 1e-5 || len == 0);
        }
        assert!((dot(&[2.0, 3.0], &[5.0]) - 10.0).abs() < 1e-6, "the shorter one decides");
    }
}
