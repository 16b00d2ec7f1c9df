//! The user's terminal: raw during a session, and restored at its end, even by a panic or most deadly signals.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use rove_terminal::Size;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use rustix::termios::{
    OptionalActions, Termios, isatty, tcgetattr, tcgetwinsize, tcsetattr, ttyname,
};

use crate::{select, sys};

/// Most bytes written at once to an output that may block. A pipe that is reported as writable takes so many without
/// blocking. For a terminal, no number is certain. Source: POSIX, `_POSIX_PIPE_BUF`.
const BLOCKING_PIECE_MAX: usize = 512;
/// How long to wait for a terminal that does not take the last bytes. Chosen: an ssh connection around the session may
/// stall, and mostly recovers in this time. A terminal that never continues must not keep the program running.
const CLOSING_WAIT: Timespec = Timespec { tv_sec: 10, tv_nsec: 0 };
/// The timeout of a check that does not wait.
const NO_WAIT: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
/// Deadly signals whose handlers first restore the terminal. Signals for faults of the program itself are left out,
/// because no handler can be trusted after such a fault.
const DEADLY_SIGNALS: [i32; 11] = [
    signal_hook::consts::SIGQUIT,
    signal_hook::consts::SIGTRAP,
    signal_hook::consts::SIGABRT,
    signal_hook::consts::SIGSYS,
    signal_hook::consts::SIGALRM,
    signal_hook::consts::SIGVTALRM,
    signal_hook::consts::SIGPROF,
    signal_hook::consts::SIGUSR1,
    signal_hook::consts::SIGUSR2,
    signal_hook::consts::SIGXCPU,
    signal_hook::consts::SIGXFSZ,
];
/// The user's terminal, in raw mode until [`Tty::leave`]. Dropping the value restores the terminal, too.
#[derive(Debug)]
pub struct Tty {
    /// The settings of raw mode. `None` without a terminal ([`Tty::nobodys`]).
    raw: Option<Termios>,
    way_back: Arc<WayBack>,
    /// Whether `output` is this program's own non-blocking descriptor. If not, a write to a stopped terminal may block.
    own_output: bool,
    /// The write end of the pipe that is the input of [`Tty::nobodys`]. While it is open, the input does not end.
    _keys: Option<OwnedFd>,
}

/// The data with which any code, even a signal handler, can restore the terminal.
#[derive(Debug)]
struct WayBack {
    input: OwnedFd,
    output: OwnedFd,
    /// The settings before raw mode. `None` without a terminal.
    found: Option<Termios>,
    /// Bytes that are written to the terminal if a panic, a deadly signal or a drop comes before [`Tty::leave`].
    closing: Vec<u8>,
    /// Whether the terminal is in raw mode and must be restored.
    armed: AtomicBool,
    /// Whether the closing bytes are still to be written. Each entry into raw mode sets this. Writing them clears it.
    unclosed: AtomicBool,
}

impl Tty {
    /// Puts the terminal on standard input into raw mode. Frames are written to standard output.
    ///
    /// If a panic, a deadly signal or a drop precedes [`Tty::leave`], `closing` is written and the terminal restored.
    ///
    /// # Errors
    ///
    /// Returns an error if standard input is not a terminal, or standard output is closed.
    pub fn take_over(closing: Vec<u8>) -> anyhow::Result<Self> {
        let (input, output) = (rustix::stdio::stdin(), rustix::stdio::stdout());
        anyhow::ensure!(
            isatty(input),
            "standard input is not a terminal, and a session needs one: \
             run this from a terminal, or through `script` or `ssh -t`"
        );
        anyhow::ensure!(!is_closed(output), "standard output is closed, so nothing could be shown");
        let tty = Self::over(input, output, closing).context("cannot take over the terminal")?;
        tty.guard_unforeseen_ends().context("cannot guard the terminal")?;
        Ok(tty)
    }

    /// Returns a value for a program without a terminal. It gives no keys, and discards frames.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, for example if no descriptor is free.
    pub fn nobodys() -> io::Result<Self> {
        let (keys, hands) = io::pipe()?;
        let flags = OFlags::WRONLY | OFlags::CLOEXEC;
        let way_back = WayBack {
            input: keys.into(),
            output: rustix::fs::open("/dev/null", flags, Mode::empty())?,
            found: None,
            closing: Vec::new(),
            armed: AtomicBool::new(false),
            unclosed: AtomicBool::new(false),
        };
        let (way_back, _keys) = (Arc::new(way_back), Some(hands.into()));
        Ok(Self { raw: None, way_back, own_output: true, _keys })
    }

    /// Puts the terminal of two descriptors into raw mode.
    fn over(input: BorrowedFd<'_>, output: BorrowedFd<'_>, closing: Vec<u8>) -> io::Result<Self> {
        let found = tcgetattr(input)?;
        let mut raw = found.clone();
        raw.make_raw();
        erase_whole_characters(&mut raw);
        let own = reopen(output);
        let own_output = own.is_some();
        let output = own.map_or_else(|| output.try_clone_to_owned(), Ok)?;
        let way_back = WayBack {
            input: input.try_clone_to_owned()?,
            output,
            found: Some(found),
            closing,
            armed: AtomicBool::new(false),
            unclosed: AtomicBool::new(false),
        };
        let way_back = Arc::new(way_back);
        let tty = Self { raw: Some(raw), way_back, own_output, _keys: None };
        tty.enter()?;
        Ok(tty)
    }

    /// Makes panics and deadly signals restore the terminal first.
    fn guard_unforeseen_ends(&self) -> io::Result<()> {
        /// The terminal that panics and signal handlers restore.
        static WAY_BACK: OnceLock<Arc<WayBack>> = OnceLock::new();

        if WAY_BACK.set(Arc::clone(&self.way_back)).is_err() {
            return Ok(()); // one program has one terminal, which is guarded already
        }
        let restore = || {
            if let Some(way_back) = WAY_BACK.get() {
                way_back.take(None);
            }
        };
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            restore();
            report(panic);
        }));
        DEADLY_SIGNALS.iter().try_for_each(|&signal| sys::before_death_by(signal, restore))
    }

    /// Puts the terminal into raw mode, also after [`Tty::leave`] or after another program has changed it.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, for example if the terminal is gone.
    pub fn enter(&self) -> io::Result<()> {
        let Some(raw) = &self.raw else { return Ok(()) };
        // The flags are set first, because restoring a terminal that is still unchanged does no harm.
        self.way_back.unclosed.store(true, Ordering::SeqCst);
        self.way_back.armed.store(true, Ordering::SeqCst);
        Ok(tcsetattr(&self.way_back.input, OptionalActions::Now, raw)?)
    }

    /// Writes `closing`, and restores the terminal to the state before [`Tty::take_over`].
    pub fn leave(&self, closing: &[u8]) {
        self.way_back.take(Some(closing));
    }

    /// Returns the size of the window; 80x24 if the terminal does not report it.
    pub fn size(&self) -> Size {
        window_size(self.way_back.output.as_fd())
            .or_else(|| window_size(self.way_back.input.as_fd()))
            .unwrap_or(Size::DEFAULT)
    }

    /// Returns the descriptor to wait on for keys.
    pub fn input(&self) -> BorrowedFd<'_> {
        self.way_back.input.as_fd()
    }

    /// Returns the descriptor to wait on for room to write.
    pub fn output(&self) -> BorrowedFd<'_> {
        self.way_back.output.as_fd()
    }

    /// Reads keys, and returns their length in bytes; 0 at the end of input. Call this only if keys wait, because the
    /// user's shell shares the descriptor, which must stay blocking.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, for example after the terminal's window was closed.
    pub fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::retry_on_intr(|| rustix::io::read(&self.way_back.input, &mut *buffer))?)
    }

    /// Writes as many bytes as the terminal takes now. Returns their number; 0 if there is no room.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, for example if the terminal is gone.
    pub fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        let output = &self.way_back.output;
        let mut len = bytes.len();
        if !self.own_output {
            len = len.min(BLOCKING_PIECE_MAX);
            if !has_room(output.as_fd(), &NO_WAIT) {
                return Ok(0);
            }
        }
        match rustix::io::retry_on_intr(|| rustix::io::write(output, &bytes[..len])) {
            Err(Errno::AGAIN) => Ok(0),
            other => Ok(other?),
        }
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        self.way_back.take(None);
    }
}

impl WayBack {
    /// Writes `closing` (default: `self.closing`) and restores the terminal, if this was not done since raw mode began.
    /// A signal during the writing restores the terminal without writing again. This is async-signal-safe.
    fn take(&self, closing: Option<&[u8]>) {
        if !self.armed.load(Ordering::SeqCst) {
            return;
        }
        if self.unclosed.swap(false, Ordering::SeqCst) {
            write_patiently(self.output.as_fd(), closing.unwrap_or(&self.closing));
        }
        if let Some(found) = &self.found {
            // The error does not matter, because a terminal that is gone needs no restoration.
            let _ = tcsetattr(&self.input, OptionalActions::Now, found);
        }
        self.armed.store(false, Ordering::SeqCst);
    }
}

/// Makes the line discipline erase whole UTF-8 characters (IUTF8), if the system can.
pub fn erase_whole_characters(modes: &mut Termios) {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "macos"))]
    modes.input_modes.insert(rustix::termios::InputModes::IUTF8);
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
    let _ = modes;
}

/// Prints text after the terminal was restored. If the terminal takes no bytes for 10 s, the rest is lost.
pub fn say(output: BorrowedFd<'_>, text: &str) {
    write_patiently(output, text.as_bytes());
}

/// Writes all of `bytes`. Gives up if the terminal takes nothing for [`CLOSING_WAIT`].
fn write_patiently(output: BorrowedFd<'_>, mut bytes: &[u8]) {
    while !bytes.is_empty() {
        if !has_room(output, &CLOSING_WAIT) {
            return;
        }
        let piece = &bytes[..bytes.len().min(BLOCKING_PIECE_MAX)];
        match rustix::io::write(output, piece) {
            Ok(written) => bytes = &bytes[written..],
            Err(Errno::AGAIN | Errno::INTR) => {}
            Err(_) => return,
        }
    }
}

/// Returns whether a write would find room, or fail, within `patience`.
fn has_room(output: BorrowedFd<'_>, patience: &Timespec) -> bool {
    let mut descriptors = [PollFd::from_borrowed_fd(output, PollFlags::OUT)];
    // A signal ends the wait without an answer, and the wait begins again.
    if rustix::io::retry_on_intr(|| poll(&mut descriptors, Some(patience))) != Ok(1) {
        return false;
    }
    let mut found = [descriptors[0].revents()];
    select::wait_if_refused(&[(output, PollFlags::OUT)], Some(patience), &mut found);
    !found[0].is_empty()
}

/// Opens the terminal of `output` again, to get a non-blocking descriptor that no other process shares. `None` if
/// `output` is no terminal or cannot be opened.
fn reopen(output: BorrowedFd<'_>) -> Option<OwnedFd> {
    let name = ttyname(output, Vec::new()).ok()?;
    let flags = OFlags::WRONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    rustix::fs::open(name, flags, Mode::empty()).ok()
}

/// Returns whether this standard stream was closed when the program started. The standard library then opens the null
/// device in its place, for reading and writing. A redirection with `<` or `>` opens it for only one of them.
pub fn is_closed(stream: BorrowedFd<'_>) -> bool {
    let (Ok(found), Ok(nothing)) = (rustix::fs::fstat(stream), rustix::fs::stat("/dev/null"))
    else {
        return true;
    };
    let access = rustix::fs::fcntl_getfl(stream).map(|flags| flags & OFlags::RWMODE);
    found.st_rdev == nothing.st_rdev && access == Ok(OFlags::RDWR)
}

/// Returns the size of a terminal's window. `None` if it has no window or does not report the size.
pub fn window_size(terminal: BorrowedFd<'_>) -> Option<Size> {
    let size = tcgetwinsize(terminal).ok()?;
    (size.ws_col > 0 && size.ws_row > 0).then(|| Size::clamped(size.ws_col, size.ws_row))
}

#[cfg(test)]
mod tests {
    use rustix::pty::{OpenptFlags, grantpt, openpt, unlockpt};
    use rustix::termios::{InputModes, LocalModes, Winsize, tcsetwinsize};

    use super::*;

    /// Time after which a test counts as hanging.
    const GUARD: Timespec = Timespec { tv_sec: 90, tv_nsec: 0 };

    /// Returns the two sides of a terminal: the window's side, and the side of programs.
    fn window() -> (OwnedFd, OwnedFd) {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = rustix::pty::ptsname(&master, Vec::new()).unwrap();
        let slave = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        (master, slave)
    }

    /// Closes the terminal, and returns the text that its window has shown.
    fn shown(master: &OwnedFd, terminal: OwnedFd) -> Vec<u8> {
        drop(terminal);
        let mut shown = Vec::new();
        let mut buffer = [0; 4096];
        loop {
            let mut descriptors = [PollFd::new(master, PollFlags::IN)];
            assert_eq!(poll(&mut descriptors, Some(&GUARD)), Ok(1), "nothing shown");
            match rustix::io::read(master, &mut buffer) {
                Ok(0) | Err(Errno::IO) => return shown,
                other => shown.extend_from_slice(&buffer[..other.unwrap()]),
            }
        }
    }

    fn modes(terminal: &OwnedFd) -> (bool, bool) {
        let modes = tcgetattr(terminal).unwrap();
        (
            modes.local_modes.contains(LocalModes::ICANON),
            modes.local_modes.contains(LocalModes::ECHO),
        )
    }

    #[test]
    fn the_terminal_is_raw_while_held_and_given_back_at_the_drop() {
        let (master, terminal) = window();
        let before = modes(&terminal);
        assert_eq!(before, (true, true));
        let tty = Tty::over(terminal.as_fd(), terminal.as_fd(), b"LEAVE".to_vec()).unwrap();
        assert_eq!(modes(&terminal), (false, false));
        assert!(tcgetattr(&terminal).unwrap().input_modes.contains(InputModes::IUTF8));
        drop(tty);
        assert_eq!(modes(&terminal), before);
        assert_eq!(shown(&master, terminal), b"LEAVE");
    }

    #[test]
    fn a_terminal_given_back_in_good_order_is_not_closed_twice() {
        let (master, terminal) = window();
        let tty = Tty::over(terminal.as_fd(), terminal.as_fd(), b"LEAVE".to_vec()).unwrap();
        tty.leave(b"bye");
        assert_eq!(modes(&terminal), (true, true));
        tty.enter().unwrap();
        assert_eq!(modes(&terminal), (false, false));
        tty.leave(b" now");
        drop(tty);
        assert_eq!(shown(&master, terminal), b"bye now");
    }

    #[test]
    fn a_panic_gives_the_terminal_back() {
        let (_master, terminal) = window();
        let panicked = std::panic::catch_unwind(|| {
            let _tty = Tty::over(terminal.as_fd(), terminal.as_fd(), Vec::new()).unwrap();
            panic!("on purpose");
        });
        assert!(panicked.is_err());
        assert_eq!(modes(&terminal), (true, true));
    }

    #[test]
    fn a_terminal_that_stopped_reading_blocks_nobody() {
        let (master, terminal) = window();
        let tty = Tty::over(terminal.as_fd(), terminal.as_fd(), Vec::new()).unwrap();
        assert!(tty.own_output);
        let mut taken = 0;
        while let written @ 1.. = tty.write(&[b'x'; 4096]).unwrap() {
            taken += written;
            assert!(taken < 1 << 20, "a terminal's buffer has an end");
        }
        // The shell's own descriptor is still blocking.
        let flags = rustix::fs::fcntl_getfl(&terminal).unwrap();
        assert!(!flags.contains(OFlags::NONBLOCK));
        drop(master); // otherwise the last bytes would wait until the window takes them
    }

    #[test]
    fn a_signal_during_the_last_bytes_restores_the_terminal() {
        let (master, terminal) = window();
        let tty = Tty::over(terminal.as_fd(), terminal.as_fd(), Vec::new()).unwrap();
        while tty.write(&[b'x'; 4096]).unwrap() > 0 {}
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while tty.way_back.unclosed.load(Ordering::SeqCst) {
                    std::thread::yield_now();
                }
                tty.way_back.take(None);
                let restored = modes(&terminal);
                // This makes room for the last bytes, so that a failing test does not wait.
                rustix::io::read(&master, &mut [0; 4096]).unwrap();
                assert_eq!(restored, (true, true));
            });
            tty.leave(b"BYE");
        });
        drop(master);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn signals_do_not_cut_off_the_bytes_that_restore_a_full_terminal() {
        let (master, terminal) = window();
        let tty = Tty::over(terminal.as_fd(), terminal.as_fd(), Vec::new()).unwrap();
        while tty.write(&[b'x'; 4096]).unwrap() > 0 {}
        let handled = Arc::new(AtomicBool::new(false));
        signal_hook::flag::register(signal_hook::consts::SIGUSR1, Arc::clone(&handled)).unwrap();
        let writer = rustix::thread::gettid();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for _ in 0..3 {
                    // Linux delivers a signal for a process to the thread that has the process's number, if possible.
                    let stat = format!("/proc/self/task/{}/stat", writer.as_raw_nonzero());
                    while !std::fs::read_to_string(&stat).unwrap().contains(") S ") {
                        std::thread::yield_now();
                    }
                    handled.store(false, Ordering::SeqCst);
                    rustix::process::kill_process(writer, rustix::process::Signal::USR1).unwrap();
                    while !handled.load(Ordering::SeqCst) {
                        std::thread::yield_now();
                    }
                }
                // This makes room for the last bytes.
                rustix::io::read(&master, &mut [0; 4096]).unwrap();
            });
            tty.leave(b"BYE");
        });
        drop(tty);
        assert!(shown(&master, terminal).ends_with(b"BYE"));
    }

    #[test]
    fn the_windows_size_is_held_within_what_a_screen_may_be() {
        let (_master, terminal) = window();
        for (columns, rows, size) in [
            (132, 50, Some(Size::clamped(132, 50))),
            (0, 0, None),
            (0, 24, None),
            (u16::MAX, 1, Some(Size::clamped(u16::MAX, 1))),
        ] {
            let found = Winsize { ws_row: rows, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 };
            tcsetwinsize(&terminal, found).unwrap();
            assert_eq!(window_size(terminal.as_fd()), size);
        }
    }
}
