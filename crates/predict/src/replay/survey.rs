//! How far the keys on their way have come, by the newest screen.

use rove_terminal::Screen;

use crate::replay::latency::Latency;
use crate::replay::outlook::Outlook;
use crate::replay::simulate::Effect;

/// A screen's verdict on the keys on their way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Survey {
    /// How many of them it shows; `None` if it agrees with no number of them.
    pub(super) settled: Option<usize>,
    /// The row in which they leave the cursor on the base; on the screen it may be another that the text has moved to.
    pub(super) row: u16,
    /// The first whose effect is unknown.
    pub(super) barrier: Option<usize>,
    /// Whether the screen has what those before it draw.
    pub(super) is_reached: bool,
    /// Whether they were taken for commands.
    pub(super) takes_commands: bool,
}

impl Survey {
    /// Tries the keys on the ground until the screen looks like the result; the most of them count.
    pub(super) fn of(outlook: &Outlook<'_>, latency: &Latency, screen: &Screen) -> Self {
        let Outlook { base, log, .. } = *outlook;
        let cursor = screen.cursor().position();
        let due = log.due();
        let mut simulation = outlook.start();
        let start = simulation.canvas.cursor;
        let is_moved = start.row != cursor.row
            && start.column == cursor.column
            && simulation.agrees_elsewhere(screen, cursor.row);
        let mut settled = (start == cursor || is_moved).then_some(0);
        let mut row = start.row;
        // Where text has come or gone, it is not as if nothing had happened.
        let is_unchanged = settled.is_some() && !base.has_moved(screen);
        let (mut due_cursor, mut due_agrees) = (start, is_unchanged);
        let mut has_line = None;
        // Keys that have not arrived cannot have done anything yet.
        let arrived = log.arrived(outlook.arrived).max(due);
        let takes_commands = outlook.habits.takes_commands;
        let (mut barrier, mut is_reached) = (None, false);
        for (count, event) in (1..).zip(log.iter().take(arrived)) {
            if simulation.apply(event.key) == Effect::Unknown {
                is_reached = count > 1 && simulation.canvas.agrees(screen);
                barrier = Some(count - 1);
                break;
            }
            let canvas = &simulation.canvas;
            let agrees = if canvas.cursor.row == cursor.row {
                canvas.cursor == cursor
                    && canvas.agrees(screen)
                    && (canvas.is_written()
                        || *has_line.get_or_insert_with(|| base.has_line(screen)))
            } else if simulation.has_climbed {
                false
            } else {
                // The row may have scrolled, or made room for what is printed above.
                canvas.cursor.column == cursor.column
                    && simulation.agrees_elsewhere(screen, cursor.row)
            };
            if count <= due {
                (due_cursor, due_agrees) = (canvas.cursor, agrees);
            }
            // A screen shows nothing of a key that had not arrived when it left. One that is not acknowledged
            // must have moved the cursor to count as seen.
            let may_show = event.input <= outlook.arrived;
            // Text that was taken back is there twice, before and after: the second time would be too soon.
            let is_second = is_unchanged || settled.is_some_and(|count| count > 0);
            let age = latency.age_when_heard(event.at);
            let is_sooner = is_second && latency.is_too_soon(age);
            let is_news = count <= due || canvas.cursor != due_cursor || !due_agrees;
            if agrees && may_show && is_news && !is_sooner {
                (settled, row) = (Some(count), canvas.cursor.row);
            }
        }
        Self { settled, row, barrier, is_reached, takes_commands }
    }
}
