//! The sizes that a client's copy of the screen may have, by the window sizes that the client has sent to the server.

use std::sync::Arc;

use rove_terminal::Size;

/// The largest sizes that a client's copy of the screen may have. Smaller sizes and a terminal's default size are
/// always allowed.
#[derive(Clone, Debug)]
pub(crate) struct Allowed(Arc<[Size]>);

impl Allowed {
    /// Allows these sizes and the default size.
    pub(crate) fn new(sizes: impl IntoIterator<Item = Size>) -> Self {
        Self(sizes.into_iter().chain([Size::DEFAULT]).collect())
    }

    /// Returns whether a screen of this size fits into one of the allowed sizes.
    pub(crate) fn holds(&self, size: Size) -> bool {
        let holds = |most: &Size| size.columns() <= most.columns() && size.rows() <= most.rows();
        self.0.iter().any(holds)
    }

    /// Returns the number of cells of the largest allowed screen.
    pub(crate) fn cells_max(&self) -> u64 {
        let cells = self.0.iter().map(|size| u64::from(size.columns()) * u64::from(size.rows()));
        cells.max().expect("one size is always allowed")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_fits_into_one_of_the_sizes_and_not_into_several_together() {
        let size = Size::clamped;
        let allowed = Allowed::new([size(200, 50), size(50, 200)]);
        for (columns, rows, is_allowed) in [
            (200, 50, true),
            (50, 200, true),
            (201, 50, false),
            (200, 51, false),
            (51, 51, false),
            (50, 50, true),
            (80, 24, true),
        ] {
            assert_eq!(allowed.holds(size(columns, rows)), is_allowed, "{columns}x{rows}");
        }
        assert_eq!(allowed.cells_max(), 10_000);
        assert!(Allowed::new([]).holds(size(80, 24)) && !Allowed::new([]).holds(size(81, 24)));
        assert_eq!(Allowed::new([size(1, 1)]).cells_max(), 80 * 24);
    }
}
