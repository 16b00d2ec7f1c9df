//! What happens in one simulated session, drawn from its seed.

use rove_link::LinkConfig;
use rove_session::ExitStatus;
use rove_terminal::Size;
use rove_units::{BitRate, Bytes, Draw, Duration, Seed, Stream};

/// Things that happen in one session, at most.
const ACTIONS_MAX: u64 = 60;

/// Everything a seed decides.
pub(super) struct Scenario {
    pub(super) uplink: LinkConfig,
    pub(super) downlink: LinkConfig,
    /// The user's first window.
    pub(super) size: Size,
    /// Whether the server behaves as a stock one.
    pub(super) one_is_stock: bool,
    /// What happens, and how long after what happened before.
    pub(super) actions: Vec<(Duration, Action)>,
    pub(super) ending: Ending,
}

/// One thing that happens.
#[derive(Clone, Debug)]
pub(super) enum Action {
    Type(Vec<u8>),
    Resize(Size),
    Print(Vec<u8>),
    /// The client's host gets another address.
    Roam(u8),
    Outage(bool),
    StopClient(bool),
    StopServer(bool),
    /// The user's terminal takes no output, and the program no input.
    Jam(bool),
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
        let mut dice = Dice { stream: seed.stream("scenario"), drawn: 0 };
        // Swarms find more when each leaves something out: every seed has its own favourites.
        let weights: Vec<u64> = (0..8).map(|_| dice.below(4)).collect();
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
            one_is_stock: dice.chance(0.2),
            actions,
            ending,
        }
    }
}

/// Draws what happens next: one action, or one that begins and one that ends something.
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
        Some(1 | 2) => actions.push((pause, Action::Print(dice.output()))),
        Some(3) => actions.push((pause, Action::Roam(dice.byte()))),
        // Long troubles are the exception, or nothing would ever be said.
        Some(4) => between(Action::Outage(true), Action::Outage(false)),
        Some(5) => between(Action::StopClient(true), Action::StopClient(false)),
        Some(6) => between(Action::StopServer(true), Action::StopServer(false)),
        Some(7) => between(Action::Jam(true), Action::Jam(false)),
        _ => actions.push((pause, Action::Type(dice.keys()))),
    }
    if dice.chance(0.5) {
        actions.push((Duration::ZERO, Action::Type(dice.keys())));
    }
}

/// Draws one after the other.
struct Dice {
    stream: Stream,
    drawn: u64,
}

impl Dice {
    fn draw(&mut self) -> Draw {
        self.drawn += 1;
        self.stream.at(self.drawn)
    }

    fn below(&mut self, bound: u64) -> u64 {
        self.draw().below(bound)
    }

    fn index(&mut self, len: usize) -> usize {
        let bound = u64::try_from(len).expect("lengths fit 64 bits");
        usize::try_from(self.below(bound)).expect("below a length")
    }

    fn byte(&mut self) -> u8 {
        u8::try_from(self.below(256)).expect("below 256")
    }

    fn chance(&mut self, probability: f64) -> bool {
        self.draw().chance(probability)
    }

    fn millis(&mut self, bound: u64) -> Duration {
        Duration::from_millis(self.below(bound))
    }

    fn size(&mut self) -> Size {
        let (columns, rows) = if self.chance(0.1) {
            (1 + self.below(3), 1 + self.below(3))
        } else {
            (1 + self.below(160), 1 + self.below(50))
        };
        let cells = |cells| u16::try_from(cells).expect("at most 160");
        Size::clamped(cells(columns), cells(rows))
    }

    fn link(&mut self) -> LinkConfig {
        let loss = [0.0, 0.0, 0.1, 0.5][self.index(4)] * self.draw().unit();
        let rate = match self.below(3) {
            0 => BitRate::from_bits_per_second(20_000 + self.below(200_000)),
            1 => BitRate::from_bits_per_second(1_000_000 + self.below(10_000_000)),
            _ => None,
        };
        LinkConfig {
            delay: self.millis(300),
            jitter: if self.chance(0.5) { self.millis(200) } else { Duration::ZERO },
            reorder: self.chance(0.5),
            loss,
            duplicate: if self.chance(0.3) { 0.2 * self.draw().unit() } else { 0.0 },
            rate,
            queue_max: Bytes::kib(2 + self.below(64)),
        }
    }

    /// Returns keys: no ESC, which the server's key translation would make something of.
    fn keys(&mut self) -> Vec<u8> {
        let len = match self.below(40) {
            0 => self.below(50_000),
            1..4 => self.below(500),
            _ => 1 + self.below(8),
        };
        (0..len)
            .map(|_| match self.below(20) {
                0 => b'\r',
                1 => 0x0c,
                2 => 0x80 | self.byte(),
                _ => b' ' + self.byte() % 95,
            })
            .collect()
    }

    /// Returns what a program prints. It asks nothing, so that only keys reach the program.
    fn output(&mut self) -> Vec<u8> {
        let pieces = match self.below(20) {
            0 => self.below(2_000),
            _ => self.below(60),
        };
        let mut out = Vec::new();
        for _ in 0..pieces {
            if self.chance(0.6) {
                out.extend(self.text());
            } else {
                self.control(&mut out);
            }
        }
        out
    }

    fn text(&mut self) -> Vec<u8> {
        const WORDS: [&str; 8] =
            ["cargo test", "\r\n", "広い", "e\u{301}", "🦀", "-rw-r--r--", "é", "\t\u{ad}x"];
        match self.below(8) {
            0 => vec![b'x'; self.index(200)],
            // Half a character, or no character at all; 0xE0 and above, for no half of a control.
            1 => vec![self.byte() | 0xe0],
            _ => WORDS[self.index(WORDS.len())].as_bytes().to_vec(),
        }
    }

    fn control(&mut self, out: &mut Vec<u8>) {
        const FIXED: [&str; 26] = [
            "\r",
            "\n",
            "\x08",
            "\x07",
            "\x1bM",
            "\x1bD",
            "\x1bE",
            "\x1b7",
            "\x1b8",
            "\x1b[r",
            "\x1b[?1049h",
            "\x1b[?1049l",
            "\x1b[?25l",
            "\x1b[?25h",
            "\x1b[?5h",
            "\x1b[?5l",
            "\x1b[?2004h",
            "\x1b[?1000h",
            "\x1b[?1006h",
            "\x1b[?1000l",
            "\x1b[?7l",
            "\x1b[?7h",
            "\x1b[4h",
            "\x1b[4l",
            "\x1b[?2026hpart",
            "\x1b[?2026l",
        ];
        const FINALS: &[u8] = b"HABCDGdJKXPLM@STmrI";
        if self.chance(0.4) {
            out.extend(FIXED[self.index(FIXED.len())].as_bytes());
        } else if self.chance(0.05) {
            out.extend(format!("\x1b]2;title {}\x07", self.below(9)).into_bytes());
        } else {
            let last = char::from(FINALS[self.index(FINALS.len())]);
            let (first, second) = (self.below(60), self.below(60));
            out.extend(format!("\x1b[{first};{second}{last}").into_bytes());
        }
    }
}
