//! The user's terminal: the picture that it should show, and the picture that it shows.

use rove_predict::{Engine, Network};
use rove_ssp::{Capabilities, StateNum};
use rove_terminal::display::Vocabulary;
use rove_terminal::{InputNum, Renderer, Screen, ScrollbackLine, Size, TerminalCapabilities};
use rove_units::Instant;

use super::notice_bar::Overlay;
use super::uplink::ClientTransport;
use crate::last_screen::{Ending, LastScreen, MissingLines, Running};
use crate::one_shot_effects::OneShotEffects;
use crate::parts::scrollback::Inbox;
use crate::probe::{Answer, Probe, blank_row};
use crate::report::TerminalReport;

/// The user's terminal, as the client knows it.
pub(super) struct Display {
    renderer: Renderer,
    /// The scrolled-off lines that wait to be written to the terminal's scrollback.
    lines: Inbox,
    pub(super) one_shot_effects: OneShotEffects,
    pub(super) engine: Box<dyn Engine>,
    pub(super) probe: Probe,
    tty: Tty,
    last_screen: LastScreen,
    pub(super) window: Size,
    /// The facts and notices that the terminal's picture shows. `None` if the picture must be drawn in any case.
    shown: Option<(Sources, Overlay)>,
}

/// The process that owns the user's terminal: the client, or the user's shell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Tty {
    /// The shell owns the terminal. The client takes it over with the next output.
    Due,
    /// The client owns the terminal.
    Ours,
    /// The shell owns the terminal again, because the client has given it back.
    Returned,
}

/// The facts from which a picture is made, apart from the notices over it. Two pictures from equal facts differ only if
/// a prediction's time ran out in between.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Sources {
    /// The number of the server's state that the picture shows.
    state: StateNum,
    /// The network's state and the number of events in the user stream. `None` if no prediction is active.
    predictions: Option<(Network, u64)>,
}

impl Display {
    /// Creates the state of a terminal that the client takes over with its first output, and may query if `asks`.
    pub(super) fn new(
        terminal: TerminalCapabilities,
        asks: bool,
        engine: Box<dyn Engine>,
        running: Running,
        window: Size,
    ) -> Self {
        Self {
            one_shot_effects: OneShotEffects::new(terminal.osc.any),
            renderer: Renderer::new(terminal),
            lines: Inbox::default(),
            engine,
            probe: Probe::new(asks),
            tty: Tty::Due,
            last_screen: LastScreen::new(running),
            window,
            shown: None,
        }
    }

    /// Updates the display from a new state of the server.
    pub(super) fn look(&mut self, now: Instant, transport: &ClientTransport) {
        let state = transport.remote();
        self.one_shot_effects.look(now, state);
        self.lines.look(&state.parts().scrolled);
        self.engine.handle_tty(state.parts().tty);
    }

    pub(super) fn handle_keys(&mut self, now: Instant, keys: &[u8], transport: &ClientTransport) {
        // Mosh predicts keys before it takes out the keys meant for the client. Here only keys that reach the program
        // are predicted, because no other key has an effect on the host's screen.
        self.engine.handle_keys(now, InputNum::new(transport.sent_num().get()), keys);
        self.last_screen.note_keys(transport.remote().screen());
    }

    /// Applies an answer of the user's terminal. Returns the report for the server; `None` if the server needs none.
    pub(super) fn learn(&mut self, answer: Answer) -> Option<TerminalReport> {
        let mut report = None;
        self.renderer.learn(|capabilities| report = answer.teach(capabilities));
        self.shown = None;
        report
    }

    /// Repaints the terminal with the next output.
    pub(super) fn repaint(&mut self) {
        self.renderer.invalidate();
        self.shown = None;
    }

    /// Makes the client take the terminal over with the next output.
    pub(super) fn take_over(&mut self) {
        self.tty = Tty::Due;
        self.shown = None;
    }

    /// Handles the window's size; returns whether it has changed.
    pub(super) fn handle_resize(&mut self, window: Size) -> bool {
        if window == self.window {
            return false;
        }
        self.window = window;
        self.lines.handle_cut(self.renderer.handle_resize(window));
        self.engine.reset();
        self.repaint();
        true
    }

    /// Returns whether the picture is out of date, or an effect such as a bell is due. False for a returned terminal.
    pub(super) fn has_output(
        &self,
        now: Instant,
        transport: &ClientTransport,
        overlay: &Overlay,
    ) -> bool {
        let is_shown = |(sources, shown): &(Sources, Overlay)| {
            *sources == self.sources(transport) && shown == overlay
        };
        self.tty != Tty::Returned
            && (!self.shown.as_ref().is_some_and(is_shown)
                || self.one_shot_effects.is_due(now)
                || self.engine.poll_timeout().is_some_and(|due| due <= now))
    }

    /// Returns the bytes of due effects (bells), of the newest picture or a stage on the way to it, and of questions.
    pub(super) fn draw(
        &mut self,
        now: Instant,
        transport: &ClientTransport,
        overlay: &Overlay,
    ) -> Vec<u8> {
        debug_assert!(self.tty != Tty::Returned, "nothing is drawn on somebody else's terminal");
        let mut out = Vec::new();
        let is_due = self.tty == Tty::Due;
        if is_due {
            self.tty = Tty::Ours;
            out = self.renderer.open();
        }
        self.one_shot_effects.perform(now, &mut out);
        let capabilities = transport.capabilities();
        if capabilities.contains(Capabilities::RICH_SCREEN) {
            self.renderer.follow(Vocabulary::Rich);
        }
        if capabilities.contains(Capabilities::SCROLLBACK) {
            self.renderer.follow_scrollback();
        }
        // Predictions start from the server's screen without notices, so the notices are drawn after them.
        let mut frame = self.engine.frame(now, transport.remote().screen()).clipped(self.window);
        overlay.draw(&mut frame);
        debug_assert_eq!(frame.size(), self.window, "a frame fills the window");
        let (picture, is_more) = self.draw_frame(&mut frame);
        out.extend(picture);
        self.shown = (!is_more).then(|| (self.sources(transport), overlay.clone()));
        if is_due {
            // The questions to the terminal follow the frame, so that the picture does not wait for the answers.
            out.extend(self.ask(now, &frame));
        } else if !is_more && capabilities.contains(Capabilities::CLUSTERS) {
            out.extend(self.probe.ask_newer(now, &frame));
        }
        out
    }

    /// Returns the sequences, if any, that query the terminal's abilities. Repaints later if `frame` has no blank row.
    fn ask(&mut self, now: Instant, frame: &Screen) -> Vec<u8> {
        let blank_row = blank_row(frame);
        let questions = self.probe.ask(now, self.renderer.sets_alternate_scroll(), blank_row);
        if blank_row.is_none() && !questions.is_empty() {
            // The terminal may have printed a part of the questions over the picture.
            self.repaint();
        }
        questions
    }

    /// Returns when an effect such as a bell, and when a change of the predictions, is due without another event.
    pub(super) fn poll_timeout(&self) -> [Option<Instant>; 2] {
        [self.one_shot_effects.poll_timeout(), self.engine.poll_timeout()]
    }

    /// Returns whether the shell has the terminal again, so that nothing is drawn.
    pub(super) fn is_returned(&self) -> bool {
        self.tty == Tty::Returned
    }

    /// Returns whether the terminal may still send answers, which the shell would read if it got the terminal back.
    pub(super) fn owes_answers(&self) -> bool {
        self.tty == Tty::Ours && self.probe.owes_answers()
    }

    /// Returns the bytes that draw the server's screen and restore the terminal; empty if the client does not own the
    /// terminal. `ending` is set if the session has ended.
    pub(super) fn close(&mut self, screen: &Screen, ending: Option<Ending>) -> Vec<u8> {
        if core::mem::replace(&mut self.tty, Tty::Returned) != Tty::Ours {
            return Vec::new();
        }
        let frame = screen.clipped(self.window);
        let mut out = Vec::new();
        self.one_shot_effects.perform_all(&mut out);
        out.extend(self.finish(&frame));
        out.extend(match ending.is_some_and(|ending| self.last_screen.stays(ending, screen)) {
            true => self.renderer.close_leaving(&frame),
            false => self.renderer.close(),
        });
        out
    }

    /// Returns which part of a command's output the user has not received. `None` if no part is known to be missing.
    pub(super) fn missing_lines(&self, screen: &Screen, ending: Ending) -> Option<MissingLines> {
        self.last_screen.missing(ending, screen, self.lines.missing())
    }

    /// Returns the bytes that show `frame` and scroll some waiting lines into the terminal's history, and whether there
    /// is more to draw. If the frame comes in stages, `frame` becomes the next stage.
    fn draw_frame(&mut self, frame: &mut Screen) -> (Vec<u8>, bool) {
        let mut out = self.make_room(frame);
        let (lines, is_more) = match self.renderer.stage(frame) {
            Some(stage) => {
                *frame = stage;
                (Vec::new(), true)
            }
            None => self.take_lines(frame),
        };
        out.extend(self.renderer.frame_below(&lines, frame));
        (out, is_more)
    }

    /// Returns the bytes that show the last picture, and scroll all waiting lines into the terminal's history.
    fn finish(&mut self, frame: &Screen) -> Vec<u8> {
        let mut out = self.make_room(frame);
        let mut lines = Vec::new();
        loop {
            let (some, is_more) = self.take_lines(frame);
            lines.extend(some);
            if !is_more {
                break;
            }
        }
        out.extend(self.renderer.frame_below(&lines, frame));
        out
    }

    /// Returns the bytes that switch to the terminal's normal screen if it can take waiting lines into its scrollback.
    fn make_room(&mut self, frame: &Screen) -> Vec<u8> {
        if self.lines.is_due() && self.renderer.takes_lines(frame) {
            self.renderer.move_to_history()
        } else {
            Vec::new()
        }
    }

    /// Removes and returns the lines that enter the terminal's history with a frame, and whether more can follow.
    fn take_lines(&mut self, frame: &Screen) -> (Vec<ScrollbackLine>, bool) {
        if !self.lines.is_due() || !self.renderer.takes_lines(frame) {
            return (Vec::new(), false);
        }
        (self.lines.take(frame.size().columns()), self.lines.is_due())
    }

    fn sources(&self, transport: &ClientTransport) -> Sources {
        let facts = || (network(transport), transport.local().end());
        let predictions = self.engine.is_active().then(facts);
        Sources { state: transport.remote_num(), predictions }
    }
}

/// Returns the facts about the path and the server's state that the prediction engine needs.
pub(super) fn network(transport: &ClientTransport) -> Network {
    Network {
        echo_ack: InputNum::new(transport.remote().echo_ack().get()),
        arrived: InputNum::new(transport.known_num().get()),
        send_interval: transport.frame_interval(),
        srtt: transport.srtt(),
    }
}
