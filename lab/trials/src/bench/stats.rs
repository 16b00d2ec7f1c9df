//! Statistics over the figures of several rounds.

/// Returns the middle one of the figures, the mean of the middle two of an even number.
pub(super) fn median(figures: &[f64]) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let half = sorted.len() / 2;
    match sorted.len() {
        0 => f64::NAN,
        len if len.is_multiple_of(2) => f64::midpoint(sorted[half - 1], sorted[half]),
        _ => sorted[half],
    }
}

/// Returns the figure that this share of all figures does not exceed.
pub(super) fn quantile(figures: &[f64], share: f64) -> f64 {
    let mut sorted = figures.to_vec();
    sorted.sort_by(f64::total_cmp);
    let enough = |count: usize| {
        #[expect(clippy::cast_precision_loss, reason = "figures are few")]
        let is_enough = count as f64 >= share * figures.len() as f64;
        is_enough
    };
    let rank = (1..=sorted.len()).find(|count| enough(*count));
    rank.map_or(f64::NAN, |rank| sorted[rank - 1])
}

/// Returns the median of each round's ratio. An influence that slows a whole round down cancels out.
pub(super) fn ratio(ours: &[f64], theirs: &[f64]) -> f64 {
    paired(ours, theirs, |ours, theirs| ours / theirs)
}

/// Returns the median of how much more ours is in each round.
pub(super) fn excess(ours: &[f64], theirs: &[f64]) -> f64 {
    paired(ours, theirs, |ours, theirs| ours - theirs)
}

fn paired(ours: &[f64], theirs: &[f64], compare: fn(f64, f64) -> f64) -> f64 {
    let rounds: Vec<f64> =
        ours.iter().zip(theirs).map(|(ours, theirs)| compare(*ours, *theirs)).collect();
    median(&rounds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle_whatever_the_order() {
        for (figures, middle) in [
            (&[7.0][..], 7.0),
            (&[3.0, 1.0, 2.0], 2.0),
            (&[4.0, 1.0, 100.0, 2.0], 3.0),
            (&[5.0, 5.0, 1.0, 9.0, 0.5], 5.0),
        ] {
            assert_eq!(median(figures).to_bits(), f64::to_bits(middle), "{figures:?}");
        }
        assert!(median(&[]).is_nan());
    }

    #[test]
    fn a_quantile_is_a_figure_that_was_found() {
        let figures: Vec<f64> = (1..=10).rev().map(f64::from).collect();
        for (share, figure) in [(0.0, 1.0), (0.1, 1.0), (0.5, 5.0), (0.9, 9.0), (1.0, 10.0)] {
            assert_eq!(quantile(&figures, share).to_bits(), f64::to_bits(figure), "{share}");
        }
        assert!(quantile(&[], 0.5).is_nan());
    }

    #[test]
    fn a_slow_round_changes_no_ratio() {
        let (ours, theirs) = ([1.0, 10.0, 1.0], [4.0, 40.0, 4.0]);
        assert_eq!(ratio(&ours, &theirs).to_bits(), f64::to_bits(0.25));
        assert_eq!(excess(&theirs, &ours).to_bits(), f64::to_bits(3.0));
    }
}
