//! Any keys and screens, and the properties of predictions that must hold for all of them. Only fuzz targets use these
//! functions.
//!
//! Each function takes the fuzzer's bytes, and panics if a property does not hold.

use rove_predict::{Engine, Network, Prediction, Preference};
use rove_terminal::{
    Cell, InputNum, Keystroke, Keystrokes, Screen, Size, Terminal, Tty, TtyCharacters, TtyModes,
};
use rove_units::{Duration, Instant};

use crate::choices::Choices;

/// Most events in a run.
const STEPS: usize = 300;

/// How long nothing happens at the end of a run. Chosen: longer than any wait of an engine.
const IDLE: Duration = Duration::from_secs(10);

/// Longest time that a prediction may stay after the host had time to show it. Source: docs/prediction.md.
const STAY: Duration = Duration::from_secs(1);

/// Most frames that an engine may request during [`IDLE`]. Chosen: a hundred for each of its timers.
const LOOKS: usize = 1000;

/// Keys that line editors know.
#[rustfmt::skip]
const KEYS: [&[u8]; 32] = [
    b"a", b"b", b" ", b"x", b"1", b"/", b"\x7f", b"\x08", b"\x1b[D", b"\x1b[C", b"\x1bOD",
    b"\x1b[1;5D", b"\x1b[1;5C", b"\x01", b"\x05", b"\x0b", b"\x15", b"\x17", b"\x1b[3~",
    b"\x1b\x7f", b"\r", b"\n", b"\t", b"\x1b[A", b"\x12", b"\x03", b"\x1b", b"\x1b[2~",
    b"\xe4\xb8\x80", b"\xcc\x81", b"\x1b[200~ab\x1b[201~", b"\x1b[M !!",
];

/// Texts that hosts write next to the user's input.
#[rustfmt::skip]
const OUTPUTS: [&str; 24] = [
    "\r\n$ ", "\r\n\x1b[?2004h\x1b[32mann@host\x1b[0m:~$ ", "\x1b[?2004l\r\n", "\r\nPassword: ",
    "\r\n> ", "\x1b[90mgestion\x1b[0m\x1b[7D", "\x1b7\x1b[1;60Hright\x1b8",
    "\x1b[?1049h\x1b[H\x1b[2J", "\x1b[?1049l", "\x1b7\x1b[999;1H-- INSERT --\x1b8",
    "\x1b7\x1b[999;1H-- REPLACE --\x1b8", "\x1b7\x1b[999;1H\x1b[K\x1b8", "\x1b[H\x1b[2J",
    "\x1b[2K\r", "\r\n\r\n\r\n", "\x1b[?25l", "\x1b[?25h", "\x1b[?1000h", "\x1b[?1000l",
    "\x1b7\x1b[1;9H\u{2502}\x1b[2;9H\u{2502}\x1b[3;9H\u{2502}\x1b8", "\x1b[44m", "\x1b[0m",
    "\u{4e00}\u{4e8c}", "*",
];

/// Keys must not depend on where reads end, except where a key may be complete or the start of a longer one.
pub fn keys_do_not_depend_on_cuts(data: &[u8]) {
    let [len, bytes @ ..] = data else { return };
    let whole = keys(bytes, |_| false);
    let len = usize::from(*len) + 1;
    let is_end = |index: usize| index.is_multiple_of(len) && !b"\x1b]P^_X".contains(&bytes[index]);
    assert_eq!(whole, keys(bytes, is_end), "the cuts show");
    let len: usize = whole.iter().map(|it| it.len).sum();
    assert!(len <= bytes.len() && whole.iter().all(|it| it.len > 0), "a key from nothing");
}

fn keys(bytes: &[u8], ends_read: impl Fn(usize) -> bool) -> Vec<Keystroke> {
    let (mut keystrokes, mut keys) = (Keystrokes::default(), Vec::new());
    for (index, byte) in bytes.iter().enumerate() {
        keys.extend(keystrokes.push(*byte));
        if ends_read(index) {
            keys.extend(keystrokes.flush());
        }
    }
    keys
}

/// Frames must be valid for all keys and screens. After the host had time to answer and nothing more happens, the user
/// must see the host's screen.
pub fn predictions_vanish(data: &[u8]) {
    let [flags, columns, rows, data @ ..] = data else { return };
    let mut world = World::new(*flags, size(*columns, *rows));
    let mut script = Choices(data);
    for _ in 0..STEPS {
        if world.step(&mut script).is_none() {
            break;
        }
    }
    world.run_until_idle();
}

fn size(columns: u8, rows: u8) -> Size {
    Size::clamped(u16::from(columns), u16::from(rows) % 32)
}

/// A user, a host, and two engines between them: rove's own, and the engine with Mosh's rules.
struct World {
    engines: [Box<dyn Engine>; 2],
    host: Terminal,
    /// The host's screen as the client last received it.
    screen: Screen,
    /// The keys that the host has not answered yet.
    typed: Vec<u8>,
    tty: Option<Tty>,
    sent: u64,
    echo_ack: u64,
    interval: Duration,
    now: Instant,
}

impl World {
    fn new(flags: u8, size: Size) -> Self {
        let preference = Preference::ALL[usize::from(flags & 3)];
        let prediction =
            Prediction { preference, overwrite: flags & 4 != 0, ..Prediction::default() };
        let host = Terminal::host(size);
        Self {
            engines: [rove_predict::engine, rove_stock_predict::engine]
                .map(|it| it(prediction, size)),
            screen: host.snapshot(),
            host,
            typed: Vec::new(),
            tty: None,
            sent: 0,
            echo_ack: 0,
            interval: Duration::from_millis(250),
            now: Instant::ZERO,
        }
    }

    /// Does an event of the script. Returns `None` at the end of the script.
    fn step(&mut self, script: &mut Choices<'_>) -> Option<()> {
        let choice = script.byte()?;
        match choice % 16 {
            0..=3 => self.type_keys(KEYS[usize::from(script.byte()?) % KEYS.len()]),
            4 => self.type_keys(script.bytes()?),
            5 => self.type_keys(&script.bytes()?.repeat(64)),
            6 | 7 => self.echo(),
            8 => self.host.write(OUTPUTS[usize::from(script.byte()?) % OUTPUTS.len()].as_bytes()),
            9 => self.host.write(script.bytes()?),
            10 => self.echo_ack = self.sent,
            11 => {
                // Any echo ack may come, and a later one may be less than an earlier one.
                let far = u64::from(script.byte()?);
                self.echo_ack = if far == 255 { u64::MAX } else { self.sent + far / 32 };
            }
            12 => self.now += Duration::from_millis(u64::from(script.byte()?) * 5),
            // If a requested wake-up is in the past, the clock stays as it is.
            13 => self.now = self.wake().map_or(self.now, |at| at.max(self.now)),
            14 => self.change(script)?,
            _ => self.screen = self.host.snapshot(),
        }
        if choice & 0x80 == 0 {
            self.screen = self.host.snapshot();
            self.look();
        }
        Some(())
    }

    /// Changes the window, the line discipline or the path.
    fn change(&mut self, script: &mut Choices<'_>) -> Option<()> {
        match script.byte()? % 4 {
            0 => {
                self.host.resize(size(script.byte()?, script.byte()?));
                self.engines.iter_mut().for_each(|engine| engine.reset());
            }
            1 => {
                let modes = TtyModes::from_bits_truncate(script.byte()?.into());
                let characters = TtyCharacters::USUAL;
                self.tty =
                    (script.byte()? & 3 != 0).then_some(Tty { modes, characters, prompt: None });
            }
            2 => self.interval = Duration::from_millis(script.byte()?.into()),
            _ => self.host.resize(size(script.byte()?, script.byte()?)),
        }
        Some(())
    }

    fn type_keys(&mut self, keys: &[u8]) {
        let sent = InputNum::new(self.sent);
        self.engines.iter_mut().for_each(|engine| engine.handle_keys(self.now, sent, keys));
        self.sent += 1;
        self.typed.extend(keys);
    }

    /// Answers all keys as a simple line editor does.
    fn echo(&mut self) {
        for byte in core::mem::take(&mut self.typed) {
            match byte {
                b' '..=b'~' => self.host.write(&[b"\x1b[@", &[byte][..]].concat()),
                0x7f => self.host.write(b"\x08\x1b[P"),
                0x01 => self.host.write(b"\r"),
                b'\r' => self.host.write(b"\r\n$ "),
                0x80.. => self.host.write(&[byte]),
                _ => {}
            }
        }
    }

    /// Returns when an engine next requests a frame.
    fn wake(&self) -> Option<Instant> {
        self.engines.iter().filter_map(|engine| engine.poll_timeout()).min()
    }

    /// Makes a frame with each engine, and checks it.
    fn look(&mut self) {
        let (now, screen) = (self.now, &self.screen);
        let network = Network {
            echo_ack: InputNum::new(self.echo_ack),
            arrived: InputNum::new(self.sent),
            send_interval: self.interval,
            srtt: None,
        };
        for (index, engine) in self.engines.iter_mut().enumerate() {
            engine.handle_tty(self.tty);
            engine.handle_network(network);
            let frame = engine.frame(now, screen);
            assert_sound(&frame, screen);
            let is_secret = self.tty.is_some_and(Tty::hides_input);
            let obeys = index == 0;
            assert!(!(is_secret && obeys) || frame == *screen, "what is hidden is shown");
            assert!(engine.poll_timeout().is_none_or(|at| at > now), "wants to look now, for ever");
        }
    }

    /// Makes a frame whenever an engine requests it, until `end`, while nothing happens.
    fn look_until(&mut self, end: Instant) {
        for looks in 0.. {
            assert!(looks < LOOKS, "looks again and again");
            self.look();
            let Some(at) = self.wake().filter(|at| *at < end) else { break };
            self.now = at;
        }
        self.now = end;
    }

    /// Gives the host time to answer. Then nothing happens for [`IDLE`].
    fn run_until_idle(&mut self) {
        self.sent += 1;
        self.echo_ack = self.sent;
        self.screen = self.host.snapshot();
        let soon = self.now + STAY;
        self.look_until(soon);
        let frame = self.engines[0].frame(soon, &self.screen);
        assert!(frame == self.screen, "a prediction stays for too long");
        let end = soon + IDLE;
        self.look_until(end);
        for engine in &mut self.engines {
            let frame = engine.frame(end, &self.screen);
            assert!(frame == self.screen, "a stale prediction stays");
            assert!(!engine.is_active(), "a key waits for ever");
        }
    }
}

/// Asserts that a frame is valid: it has the screen's size and both halves of each wide character.
fn assert_sound(frame: &Screen, screen: &Screen) {
    assert_eq!(frame.size(), screen.size());
    let (size, cursor) = (frame.size(), frame.cursor());
    assert!(cursor.row < size.rows() && cursor.column < size.columns(), "the cursor is outside");
    for row in (0..size.rows()).filter_map(|row| frame.row(row)) {
        let cells = row.cells();
        let is_half = |cell: Option<&Cell>| cell.is_some_and(|cell| cell.base.is_none());
        let mut wide = cells.iter().enumerate().filter(|(_, cell)| cell.wide);
        assert!(wide.all(|(column, _)| is_half(cells.get(column + 1))), "half a wide character");
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn any_cut_of_any_bytes_makes_the_same_keys(data: Vec<u8>) {
            keys_do_not_depend_on_cuts(&data);
        }

        #[test]
        fn any_cut_of_keys_and_sequences_makes_the_same_keys(
            cut: u8,
            pieces in prop::collection::vec(prop::sample::select(&KEYS[..]), 0..16),
            lost: prop::sample::Index,
        ) {
            let mut data = [vec![cut % 8], pieces.concat()].concat();
            data.remove(lost.index(data.len()));
            keys_do_not_depend_on_cuts(&data);
        }

        #[test]
        fn predictions_vanish_whatever_happens(
            data in prop::collection::vec(any::<u8>(), 0..400),
        ) {
            predictions_vanish(&data);
        }
    }
}
