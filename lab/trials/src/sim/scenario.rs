//! The circumstances and events of a simulated session, drawn from its seed.

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

/// Most actions in a session, besides those that end a lasting action.
const ACTIONS_MAX: u64 = 60;

/// Number of kinds of actions besides typing.
const KINDS: usize = 12;

/// Most milliseconds by which a clock is ahead of another. Chosen: more than a 16-bit timestamp can show.
const AHEAD_MAX: u64 = 200_000;

/// Everything that a seed determines.
pub(super) struct Scenario {
    pub(super) uplink: LinkConfig,
    pub(super) downlink: LinkConfig,
    /// The size of the user's first window.
    pub(super) size: Size,
    /// The capabilities of each end beyond the stock protocol. `None` for a stock end.
    pub(super) client_capabilities: Option<Capabilities>,
    pub(super) server_capabilities: Option<Capabilities>,
    pub(super) client_ahead: Duration,
    pub(super) server_ahead: Duration,
    /// Whether the clocks stand still while their computers sleep.
    pub(super) stands_still: bool,
    /// The configured capabilities of the terminal, and whether the client asks the terminal for its own.
    pub(super) terminal: TerminalCapabilities,
    pub(super) query: bool,
    pub(super) user_terminal: UserTerminal,
    pub(super) prediction: Prediction,
    /// The actions, each with the pause before it.
    pub(super) actions: Vec<(Duration, Action)>,
    pub(super) ending: Ending,
}

/// An action of a user, a program, the network or a computer. `true` begins a lasting action, and `false` ends it.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Type(Vec<u8>),
    Resize(Size),
    Print(Vec<u8>),
    /// The client's address changes after the client has sent this many more datagrams.
    Roam(u32, u8),
    Outage(bool),
    StopClient(bool),
    StopServer(bool),
    /// The client's computer sleeps.
    SleepClient(bool),
    SleepServer(bool),
    JumpClient(Duration),
    JumpServer(Duration),
    /// The user's terminal accepts no output, and the program reads no input.
    Jam(bool),
    /// The client returns its terminal to the user, as it does when it is suspended.
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
        // A swarm finds more faults if each session omits some kinds of actions, so each seed draws its own weights.
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

    /// Returns the capabilities that both ends have. These are the ones in effect.
    pub(super) fn capabilities(&self) -> Capabilities {
        match (self.client_capabilities, self.server_capabilities) {
            (Some(client), Some(server)) => client.intersection(server),
            _ => Capabilities::empty(),
        }
    }
}

/// Draws a peer's capabilities: this rove's in most cases, or those of stock Mosh or of another version of rove.
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

/// Draws the next actions: a single action, or an action and its end.
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
        // The client's address changes at once, or between the datagrams of a large paste.
        Some(3) => {
            let after = if dice.chance(0.5) { 0 } else { dice.below(40) };
            let after = u32::try_from(after).expect("below 40");
            actions.push((pause, Action::Roam(after, dice.byte())));
        }
        // Long outages and stops are rare, because no data passes during them.
        Some(4) => between(Action::Outage(true), Action::Outage(false)),
        Some(5) => between(Action::StopClient(true), Action::StopClient(false)),
        Some(6) => between(Action::StopServer(true), Action::StopServer(false)),
        Some(7) => between(Action::Jam(true), Action::Jam(false)),
        Some(8) => between(Action::SleepClient(true), Action::SleepClient(false)),
        Some(9) => between(Action::SleepServer(true), Action::SleepServer(false)),
        Some(10) => between(Action::Return(true), Action::Return(false)),
        Some(11) => {
            // The clock jumps by a second, a minute, an hour or a day at most.
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
