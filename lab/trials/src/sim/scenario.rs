//! The events of one simulated session, drawn from its seed.

use rove_link::LinkConfig;
use rove_session::{CAPABILITIES, ExitStatus, MakeEngine, Prediction, Preference};
use rove_ssp::Capabilities;
use rove_terminal::display::Functions;
use rove_terminal::{
    ClusterWidths, NewerWide, OscSupport, Size, TerminalCapabilities, UserTerminal,
};
use rove_units::{Duration, Seed};

use super::dice::Dice;
use super::program;

/// Most things that happen in one session.
const ACTIONS_MAX: u64 = 60;

/// How many kinds of things happen beside typing.
const KINDS: usize = 12;

/// Most milliseconds by which a clock is ahead of another: more than a 16-bit timestamp can show.
const AHEAD_MAX: u64 = 200_000;

/// Everything a seed decides.
pub(super) struct Scenario {
    pub(super) uplink: LinkConfig,
    pub(super) downlink: LinkConfig,
    /// The user's first window.
    pub(super) size: Size,
    /// The capabilities of each end beyond the stock protocol. `None` for an end that is stock.
    pub(super) client_capabilities: Option<Capabilities>,
    pub(super) server_capabilities: Option<Capabilities>,
    pub(super) client_ahead: Duration,
    pub(super) server_ahead: Duration,
    /// Whether the clocks stand still while their computers sleep.
    pub(super) stands_still: bool,
    /// The terminal's capabilities as configured, and whether the client asks the terminal for its own.
    pub(super) terminal: TerminalCapabilities,
    pub(super) query: bool,
    pub(super) user_terminal: UserTerminal,
    pub(super) prediction: Prediction,
    /// The actions, each with the time after the previous one.
    pub(super) actions: Vec<(Duration, Action)>,
    pub(super) ending: Ending,
}

/// An action of user, program, network or computer. Actions with a flag begin (true) and end (false).
#[derive(Clone, Debug)]
pub(super) enum Action {
    Type(Vec<u8>),
    Resize(Size),
    Print(Vec<u8>),
    /// The client gets another address, once it has sent this many datagrams.
    Roam(u32, u8),
    Outage(bool),
    StopClient(bool),
    StopServer(bool),
    /// The computer of an end sleeps.
    SleepClient(bool),
    SleepServer(bool),
    JumpClient(Duration),
    JumpServer(Duration),
    /// The user's terminal takes no output, and the program reads no input.
    Jam(bool),
    /// The client gives its terminal back to the user, as for a suspend.
    Return(bool),
}

/// How the session ends.
#[derive(Clone, Copy, Debug)]
pub(super) enum Ending {
    None,
    HostCloses(ExitStatus),
    UserQuits,
}

impl Scenario {
    pub(super) fn draw(seed: Seed) -> Self {
        let mut dice = Dice::new(seed.stream("scenario"));
        // Swarms find more if each seed leaves something out, so each has its own weights.
        let weights: Vec<u64> = (0..KINDS).map(|_| dice.below(4)).collect();
        let pause_max = [20, 200, 1000][dice.index(3)];
        let count = 5 + dice.below(ACTIONS_MAX - 5);
        let mut actions = Vec::new();
        for _ in 0..count {
            let pause = Duration::from_millis(dice.below(pause_max));
            draw_action(&mut dice, &weights, pause, &mut actions);
        }
        let ending = match dice.below(3) {
            0 => Ending::None,
            1 => Ending::HostCloses(ExitStatus::Code(dice.byte())),
            _ => Ending::UserQuits,
        };
        Self {
            uplink: dice.link(),
            downlink: dice.link(),
            size: dice.size(),
            client_capabilities: draw_capabilities(&mut dice),
            server_capabilities: draw_capabilities(&mut dice),
            client_ahead: dice.millis(AHEAD_MAX),
            server_ahead: dice.millis(AHEAD_MAX),
            stands_still: dice.chance(0.3),
            terminal: draw_terminal(&mut dice),
            query: dice.chance(0.7),
            user_terminal: draw_user_terminal(&mut dice),
            prediction: Prediction {
                preference: Preference::ALL[dice.index(Preference::ALL.len())],
                overwrite: dice.chance(0.2),
                engine: (dice.index(2) == 1).then_some(rove_stock_predict::engine as MakeEngine),
                ..Prediction::default()
            },
            actions,
            ending,
        }
    }

    /// Returns the capabilities that both ends have.
    pub(super) fn capabilities(&self) -> Capabilities {
        match (self.client_capabilities, self.server_capabilities) {
            (Some(client), Some(server)) => client.intersection(server),
            _ => Capabilities::empty(),
        }
    }
}

/// Draws a peer: this rove in most cases, else a stock Mosh, or a rove of another version.
fn draw_capabilities(dice: &mut Dice) -> Option<Capabilities> {
    match dice.below(10) {
        0 => None,
        1 => Some(Capabilities::from_bits_retain(dice.draw().bits())),
        _ => Some(CAPABILITIES),
    }
}

fn draw_terminal(dice: &mut Dice) -> TerminalCapabilities {
    TerminalCapabilities {
        functions: Functions {
            erase_characters: dice.chance(0.5),
            background_color_erase: dice.chance(0.5),
            ..Functions::ALL
        },
        osc: OscSupport { any: true, window: dice.chance(0.5), progress: dice.chance(0.5) },
        synchronized_output: dice.chance(0.5),
        cursor_styles: dice.chance(0.5),
        kitty_keyboard: dice.chance(0.5),
        modify_other_keys: dice.chance(0.5),
        scrollback: dice.chance(0.5),
        ..TerminalCapabilities::default()
    }
}

fn draw_user_terminal(dice: &mut Dice) -> UserTerminal {
    UserTerminal {
        kitty_keyboard: dice.chance(0.5),
        pixel_mouse: false,
        screen_checksums: false,
        read_copied: false,
        foreground: dice.chance(0.5).then(|| dice.color()),
        background: dice.chance(0.8).then(|| dice.color()),
        cursor: dice.chance(0.5).then(|| dice.color()),
        cell_pixels: dice.chance(0.5).then_some((8, 16)),
        cluster_widths: if dice.chance(0.5) {
            ClusterWidths::ALL
        } else {
            ClusterWidths::CODE_POINTS
        },
        newer_wide: NewerWide::NONE,
    }
}

/// Draws the next actions: a single one, or a pair of which the second ends the first.
fn draw_action(
    dice: &mut Dice,
    weights: &[u64],
    pause: Duration,
    actions: &mut Vec<(Duration, Action)>,
) {
    let mut pick = dice.below(weights.iter().sum::<u64>().max(1));
    let kind = weights.iter().position(|weight| {
        let hit = pick < *weight;
        pick = pick.saturating_sub(*weight);
        hit
    });
    let span = Duration::from_millis(match dice.below(10) {
        0 => dice.below(60_000),
        1..4 => dice.below(10_000),
        _ => dice.below(1_000),
    });
    let mut between = |begin, end| actions.extend([(pause, begin), (span, end)]);
    match kind {
        Some(0) => actions.push((pause, Action::Resize(dice.size()))),
        Some(1 | 2) => actions.push((pause, Action::Print(program::output(dice)))),
        // The address changes at once, or in the middle of a large paste's datagrams.
        Some(3) => {
            let after = if dice.chance(0.5) { 0 } else { dice.below(40) };
            let after = u32::try_from(after).expect("below 40");
            actions.push((pause, Action::Roam(after, dice.byte())));
        }
        // Long troubles are rare: in them, nothing gets through.
        Some(4) => between(Action::Outage(true), Action::Outage(false)),
        Some(5) => between(Action::StopClient(true), Action::StopClient(false)),
        Some(6) => between(Action::StopServer(true), Action::StopServer(false)),
        Some(7) => between(Action::Jam(true), Action::Jam(false)),
        Some(8) => between(Action::SleepClient(true), Action::SleepClient(false)),
        Some(9) => between(Action::SleepServer(true), Action::SleepServer(false)),
        Some(10) => between(Action::Return(true), Action::Return(false)),
        Some(11) => {
            // A second, a minute, an hour or a day.
            let jump = dice.pick(&[1_000, 60_000, 3_600_000, 86_400_000]);
            let jump = dice.millis(jump);
            let client = dice.chance(0.5);
            let action = if client { Action::JumpClient(jump) } else { Action::JumpServer(jump) };
            actions.push((pause, action));
        }
        _ => actions.push((pause, Action::Type(dice.keys()))),
    }
    if dice.chance(0.5) {
        actions.push((Duration::ZERO, Action::Type(dice.keys())));
    }
}
