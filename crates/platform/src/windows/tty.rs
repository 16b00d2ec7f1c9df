//! The user's terminal: the console of this process.

use std::fs::{File, OpenOptions};
use std::io::{self, IsTerminal, Write};
use std::os::windows::io::{AsHandle, BorrowedHandle};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use anyhow::Context;
use rove_terminal::Size;

use crate::console_keys::Keys;
use crate::sys::{self, ConsoleModes, Record};

/// The console of this process, in raw mode until [`Tty::leave`]. Dropping the value restores the console, too.
#[derive(Debug)]
pub struct Tty {
    way_back: Arc<WayBack>,
    keys: Keys,
}

/// The data with which a panic handler or a dropped [`Tty`] restores the console.
#[derive(Debug)]
struct WayBack {
    input: File,
    output: File,
    found: ConsoleModes,
    /// Bytes that are written to the console if a panic or a drop comes before [`Tty::leave`].
    closing: Vec<u8>,
    /// Whether the console is in raw mode and must be restored.
    armed: AtomicBool,
}

impl Tty {
    /// Checks that standard input and output are a console.
    ///
    /// # Errors
    ///
    /// Returns an error that names the stream that is not a console.
    pub fn require_console() -> anyhow::Result<()> {
        for (stream, is_console) in
            [("input", io::stdin().is_terminal()), ("output", io::stdout().is_terminal())]
        {
            anyhow::ensure!(
                is_console,
                "standard {stream} is not a console, and a session needs one: run this in Windows Terminal"
            );
        }
        Ok(())
    }

    /// Puts the console into raw mode. If a panic or a drop comes before [`Tty::leave`], `closing` is written and the
    /// console restored.
    ///
    /// # Errors
    ///
    /// Returns an error if standard input or output is not a console, or the console understands no escape sequences.
    pub fn take_over(closing: Vec<u8>) -> anyhow::Result<Self> {
        Self::require_console()?;
        let open = |name| OpenOptions::new().read(true).write(true).open(name);
        let console = || -> io::Result<_> {
            let (input, output) = (open("CONIN$")?, open("CONOUT$")?);
            let found = ConsoleModes::of(input.as_handle(), output.as_handle())?;
            Ok(WayBack { input, output, found, closing, armed: AtomicBool::new(false) })
        };
        let way_back = Arc::new(console().context("cannot open the console")?);
        let tty = Self { way_back, keys: Keys::default() };
        tty.enter().context(
            "this console understands no escape sequences: use Windows Terminal, or Windows 10 1809 or newer",
        )?;
        tty.guard_panics();
        Ok(tty)
    }

    /// Makes panics restore the console before they are reported.
    fn guard_panics(&self) {
        /// The console that panics restore.
        static WAY_BACK: OnceLock<Arc<WayBack>> = OnceLock::new();

        if WAY_BACK.set(Arc::clone(&self.way_back)).is_err() {
            return; // one program has one console, which is guarded already
        }
        let report = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if let Some(way_back) = WAY_BACK.get() {
                way_back.take(None);
            }
            report(panic);
        }));
    }

    /// Puts the console into raw mode, also after [`Tty::leave`].
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub fn enter(&self) -> io::Result<()> {
        let WayBack { input, output, found, armed, .. } = &*self.way_back;
        armed.store(true, Ordering::SeqCst);
        found.raw().set(input.as_handle(), output.as_handle()).inspect_err(|_| {
            // A console that refuses a mode would show the closing escape sequences as text.
            armed.store(false, Ordering::SeqCst);
            let _ = found.set(input.as_handle(), output.as_handle());
        })
    }

    /// Writes `closing`, and restores the console to the state before [`Tty::take_over`].
    pub fn leave(&self, closing: &[u8]) {
        self.way_back.take(Some(closing));
    }

    /// Returns the size of the window; 80x24 if the console does not report it.
    pub fn size(&self) -> Size {
        let window = sys::console_window(self.way_back.output.as_handle());
        window.map_or(Size::DEFAULT, |(columns, rows)| Size::clamped(columns, rows))
    }

    /// Returns the handle to wait on for keys.
    pub(crate) fn input(&self) -> BorrowedHandle<'_> {
        self.way_back.input.as_handle()
    }

    /// Appends the waiting keys to `bytes`. The call blocks if the console has no events.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, for example after the console was closed.
    pub fn read(&mut self, bytes: &mut Vec<u8>) -> io::Result<()> {
        for record in sys::read_console(self.way_back.input.as_handle())? {
            if let Record::Key(key) = record {
                self.keys.translate(&key, bytes);
            }
        }
        Ok(())
    }

    /// Writes `bytes`. While the user selects text in the console, the call waits.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub fn write_all(&self, bytes: &[u8]) -> io::Result<()> {
        (&self.way_back.output).write_all(bytes)
    }
}

impl Drop for Tty {
    fn drop(&mut self) {
        self.way_back.take(None);
    }
}

impl WayBack {
    /// Writes `closing` (default: `self.closing`) and restores the console, if this was not done since raw mode began.
    fn take(&self, closing: Option<&[u8]>) {
        if !self.armed.swap(false, Ordering::SeqCst) {
            return;
        }
        // Errors do not matter, because a console that is gone needs no restoration.
        let _ = (&self.output).write_all(closing.unwrap_or(&self.closing));
        let _ = self.found.set(self.input.as_handle(), self.output.as_handle());
    }
}
