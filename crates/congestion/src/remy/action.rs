//! Action: the change of the window and the time between packets that a rule prescribes.

use rove_units::Duration;

/// Largest window of a RemyCC, in packets. Source: the published evaluator, as observed.
pub const WINDOW_MAX: u32 = 1_000_000;

/// The action of a rule: a change of the window, and a least time between packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Action {
    /// The factor by which the window is multiplied.
    pub multiple: f64,
    /// Packets that are added to the window after the multiplication. The number may be negative.
    pub increment: i32,
    /// The least time between two packets of the flow, in ms.
    pub intersend_ms: f64,
}

impl Action {
    /// Returns the next window after `window`, in packets: rounded toward zero, and held within 0 and [`WINDOW_MAX`].
    pub fn window_after(&self, window: u32) -> u32 {
        let next = f64::from(window) * self.multiple + f64::from(self.increment);
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "held within 0 and WINDOW_MAX; the cut toward zero is meant"
        )]
        let next = next.clamp(0.0, f64::from(WINDOW_MAX)) as u32;
        next
    }

    /// Returns the least time between two packets of the flow.
    pub fn intersend(&self) -> Duration {
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a table holds no negative or infinite time; `as` saturates"
        )]
        let nanos = (self.intersend_ms * 1e6).round() as u64;
        Duration::from_nanos(nanos)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_is_cut_toward_zero_and_held_within_its_limits() {
        for (multiple, increment, window, next) in [
            (1.0, 1, 0, 1),
            (0.5, 0, 5, 2),
            (0.5, -3, 5, 0),
            (0.99, 3, 10, 12),
            (1.0, 10, WINDOW_MAX, WINDOW_MAX),
            (0.0, 0, 7, 0),
        ] {
            let action = Action { multiple, increment, intersend_ms: 1.0 };
            assert_eq!(action.window_after(window), next, "{action:?} of {window}");
        }
    }

    #[test]
    fn a_pace_in_ten_thousandths_of_a_millisecond_is_exact() {
        let action = Action { multiple: 1.0, increment: 1, intersend_ms: 0.0493 };
        assert_eq!(action.intersend(), Duration::from_nanos(49_300));
    }
}
