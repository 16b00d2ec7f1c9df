//! The only unsafe code of this crate: signals, and the calls of Windows.

#![expect(unsafe_code, reason = "this module is where it is kept")]

#[cfg(unix)]
pub use system::set_ignored;
pub(crate) use system::*;

#[cfg(unix)]
mod system {
    use std::io;

    use libc::c_int;

    /// Ignores `signal` in this process and in programs that it starts, or restores the signal's default effect.
    /// Returns whether the signal was ignored. This is async-signal-safe.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call, for example for a number that is no signal.
    pub fn set_ignored(signal: c_int, is_ignored: bool) -> io::Result<bool> {
        let effect = if is_ignored { libc::SIG_IGN } else { libc::SIG_DFL };
        // SAFETY: neither effect runs code of ours in a handler.
        match unsafe { libc::signal(signal, effect) } {
            libc::SIG_ERR => Err(io::Error::last_os_error()),
            before => Ok(before == libc::SIG_IGN),
        }
    }

    /// Runs `restore` when a signal is about to kill this process. The signal then has its default effect.
    ///
    /// `restore` must be async-signal-safe: system calls, no memory, no locks.
    ///
    /// # Errors
    ///
    /// Returns the error of the system call.
    pub(crate) fn before_death_by(signal: c_int, restore: fn()) -> io::Result<()> {
        let action = move || {
            restore();
            let _ = signal_hook::low_level::emulate_default_handler(signal);
        };
        // SAFETY: `restore` is async-signal-safe by this function's contract, and so is the emulation by its own.
        unsafe { signal_hook::low_level::register(signal, action) }.map(|_| ())
    }
}

/// The console, and events to wait for. Source: Microsoft, "Console Functions", "Synchronization", "Winsock".
#[cfg(windows)]
mod system {
    use std::io;
    use std::net::UdpSocket;
    use std::os::windows::io::{
        AsRawHandle, AsRawSocket, BorrowedHandle, FromRawHandle, IntoRawHandle, OwnedHandle,
    };
    use std::ptr;
    use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};

    use windows_sys::Win32::Foundation::WAIT_FAILED;
    use windows_sys::Win32::Globalization::CP_UTF8;
    use windows_sys::Win32::Networking::WinSock::{FD_READ, WSAEventSelect};
    use windows_sys::Win32::System::Console::{
        CONSOLE_SCREEN_BUFFER_INFO, CTRL_BREAK_EVENT, CTRL_C_EVENT, ENABLE_EXTENDED_FLAGS,
        ENABLE_INSERT_MODE, ENABLE_PROCESSED_OUTPUT, ENABLE_QUICK_EDIT_MODE,
        ENABLE_VIRTUAL_TERMINAL_INPUT, ENABLE_VIRTUAL_TERMINAL_PROCESSING, ENABLE_WINDOW_INPUT,
        ENABLE_WRAP_AT_EOL_OUTPUT, GetConsoleMode, GetConsoleOutputCP, GetConsoleScreenBufferInfo,
        GetNumberOfConsoleInputEvents, INPUT_RECORD, KEY_EVENT, ReadConsoleInputW,
        SetConsoleCtrlHandler, SetConsoleMode, SetConsoleOutputCP,
    };
    use windows_sys::Win32::System::Threading::{
        CreateEventW, INFINITE, SetEvent, WaitForMultipleObjects,
    };

    use crate::console_keys::Key;

    /// Most events of the console that are read at once. Chosen: a paste of a line of text.
    const RECORDS_MAX: usize = 256;

    /// Most handles that a wait can have. Source: Microsoft, `MAXIMUM_WAIT_OBJECTS`.
    const HANDLES_MAX: usize = 64;

    /// The event that the handler sets when the console reports something; null before [`set_at_report`].
    static REPORT_EVENT: AtomicPtr<std::ffi::c_void> = AtomicPtr::new(ptr::null_mut());
    /// Whether the console or the user's login has ended, or Ctrl-Break was pressed.
    static HAS_ENDED: AtomicBool = AtomicBool::new(false);
    /// Whether the console has reported a Ctrl-C in place of a key.
    static IS_INTERRUPTED: AtomicBool = AtomicBool::new(false);

    /// Something that the console reports.
    pub(crate) enum Record {
        Key(Key),
        /// The window has another size, or something that a session does not use has happened.
        Other,
    }

    /// The modes of a console's input and output.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct ConsoleModes {
        input: u32,
        output: u32,
        /// The number of the output's encoding.
        code_page: u32,
    }

    impl ConsoleModes {
        /// Returns the present modes of a console.
        pub(crate) fn of(
            input: BorrowedHandle<'_>,
            output: BorrowedHandle<'_>,
        ) -> io::Result<Self> {
            let mode = |handle: BorrowedHandle<'_>| {
                let mut mode = 0;
                // SAFETY: a plain call on a live handle, which writes to `mode`.
                check(unsafe { GetConsoleMode(handle.as_raw_handle(), &raw mut mode) })?;
                io::Result::Ok(mode)
            };
            // SAFETY: a plain call.
            let code_page = unsafe { GetConsoleOutputCP() };
            Ok(Self { input: mode(input)?, output: mode(output)?, code_page })
        }

        /// Returns the modes of a session: the program gets each key at once, and the console obeys escape
        /// sequences. The user may still select text, if the console allows that.
        pub(crate) const fn raw(self) -> Self {
            /// A line feed moves the cursor only down. Source: `DISABLE_NEWLINE_AUTO_RETURN`.
            const PLAIN_LINE_FEED: u32 = 8;
            let kept = ENABLE_QUICK_EDIT_MODE | ENABLE_INSERT_MODE | ENABLE_EXTENDED_FLAGS;
            let input = ENABLE_WINDOW_INPUT | ENABLE_VIRTUAL_TERMINAL_INPUT;
            let output = ENABLE_PROCESSED_OUTPUT | ENABLE_WRAP_AT_EOL_OUTPUT | PLAIN_LINE_FEED;
            Self {
                input: self.input & kept | input,
                output: output | ENABLE_VIRTUAL_TERMINAL_PROCESSING,
                code_page: CP_UTF8,
            }
        }

        /// Sets the modes of a console's input and output.
        pub(crate) fn set(
            self,
            input: BorrowedHandle<'_>,
            output: BorrowedHandle<'_>,
        ) -> io::Result<()> {
            // SAFETY: plain calls on live handles.
            unsafe {
                check(SetConsoleOutputCP(self.code_page))?;
                check(SetConsoleMode(output.as_raw_handle(), self.output))?;
                check(SetConsoleMode(input.as_raw_handle(), self.input))
            }
        }
    }

    /// Returns the columns and rows of the window. `None` if the console does not report them.
    pub(crate) fn console_window(output: BorrowedHandle<'_>) -> Option<(u16, u16)> {
        let mut info = CONSOLE_SCREEN_BUFFER_INFO::default();
        // SAFETY: a plain call on a live handle, which writes to `info`.
        check(unsafe { GetConsoleScreenBufferInfo(output.as_raw_handle(), &raw mut info) }).ok()?;
        let window = info.srWindow;
        let extent = |first: i16, last: i16| u16::try_from(i32::from(last) - i32::from(first) + 1);
        extent(window.Left, window.Right).ok().zip(extent(window.Top, window.Bottom).ok())
    }

    /// Returns whether the console has events to read.
    pub(crate) fn console_has_input(input: BorrowedHandle<'_>) -> io::Result<bool> {
        let mut count = 0;
        // SAFETY: a plain call on a live handle, which writes to `count`.
        check(unsafe { GetNumberOfConsoleInputEvents(input.as_raw_handle(), &raw mut count) })?;
        Ok(count > 0)
    }

    /// Reads up to [`RECORDS_MAX`] events; waits if there are none yet.
    pub(crate) fn read_console(input: BorrowedHandle<'_>) -> io::Result<Vec<Record>> {
        let mut records = [INPUT_RECORD::default(); RECORDS_MAX];
        let (mut count, room) = (0, u32::try_from(RECORDS_MAX).unwrap_or(1));
        let into = records.as_mut_ptr();
        // SAFETY: the call writes at most `room` records.
        check(unsafe { ReadConsoleInputW(input.as_raw_handle(), into, room, &raw mut count) })?;
        let count = usize::try_from(count).unwrap_or(RECORDS_MAX);
        debug_assert!(count <= RECORDS_MAX, "the system keeps to the room that it is given");
        Ok(records.iter().take(count).map(record).collect())
    }

    fn record(record: &INPUT_RECORD) -> Record {
        if u32::from(record.EventType) != KEY_EVENT {
            return Record::Other;
        }
        // SAFETY: the type says which member of the union was written. Every bit pattern is a code unit.
        let (event, unit) =
            unsafe { (record.Event.KeyEvent, record.Event.KeyEvent.uChar.UnicodeChar) };
        Record::Key(Key {
            is_down: event.bKeyDown != 0,
            repeats: event.wRepeatCount,
            code: event.wVirtualKeyCode,
            unit,
            modifiers: event.dwControlKeyState,
        })
    }

    /// Creates an event that ends one wait each time the event is set.
    pub(crate) fn new_event() -> io::Result<OwnedHandle> {
        // SAFETY: a plain call; the handle that it returns is ours.
        unsafe {
            let event = CreateEventW(ptr::null(), 0, 0, ptr::null());
            if event.is_null() {
                return Err(io::Error::last_os_error());
            }
            Ok(OwnedHandle::from_raw_handle(event))
        }
    }

    /// Makes Winsock set `event` when a datagram can be read, at once if a datagram already waits.
    pub(crate) fn set_at_arrival(socket: &UdpSocket, event: &OwnedHandle) -> io::Result<()> {
        let raw = usize::try_from(socket.as_raw_socket()).map_err(io::Error::other)?;
        let network_events = i32::try_from(FD_READ).map_err(io::Error::other)?;
        // SAFETY: a plain call on a live socket and a live event.
        match unsafe { WSAEventSelect(raw, event.as_raw_handle() as isize, network_events) } {
            0 => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    }

    /// Waits until one of the handles is set, or until `timeout_ms` milliseconds have passed (`None`: no limit).
    pub(crate) fn wait_for_any(
        handles: &[BorrowedHandle<'_>],
        timeout_ms: Option<u32>,
    ) -> io::Result<()> {
        let handles: Vec<_> = handles.iter().map(AsRawHandle::as_raw_handle).collect();
        assert!(handles.len() <= HANDLES_MAX, "a wait has few handles, and one for all sockets");
        let count = u32::try_from(handles.len()).map_err(io::Error::other)?;
        let timeout = timeout_ms.unwrap_or(INFINITE);
        // SAFETY: the array holds `count` live handles.
        match unsafe { WaitForMultipleObjects(count, handles.as_ptr(), 0, timeout) } {
            WAIT_FAILED => Err(io::Error::last_os_error()),
            _ => Ok(()),
        }
    }

    /// Makes Windows set a copy of `event` when the console or the user's login ends, and at Ctrl-Break. Windows also
    /// sets it at a Ctrl-C that does not come as a key. This holds until the process ends.
    pub(crate) fn set_at_report(event: &OwnedHandle) -> io::Result<()> {
        REPORT_EVENT.store(event.try_clone()?.into_raw_handle(), Ordering::SeqCst);
        // SAFETY: the handler lives as long as the process.
        check(unsafe { SetConsoleCtrlHandler(Some(handle_report), 1) })
    }

    /// Returns whether the console or the login has ended, or Ctrl-Break was pressed, since the last call.
    pub(crate) fn take_end() -> bool {
        HAS_ENDED.swap(false, Ordering::SeqCst)
    }

    /// Returns whether the console has reported a Ctrl-C in place of a key since the last call.
    pub(crate) fn take_interruption() -> bool {
        IS_INTERRUPTED.swap(false, Ordering::SeqCst)
    }

    /// Windows calls this on its own thread. If the console was closed, Windows ends the process when this returns.
    unsafe extern "system" fn handle_report(kind: u32) -> i32 {
        let news = if kind == CTRL_C_EVENT { &IS_INTERRUPTED } else { &HAS_ENDED };
        news.store(true, Ordering::SeqCst);
        // SAFETY: the event is never closed.
        unsafe { SetEvent(REPORT_EVENT.load(Ordering::SeqCst)) };
        if matches!(kind, CTRL_C_EVENT | CTRL_BREAK_EVENT) {
            return 1;
        }
        loop {
            std::thread::park(); // meanwhile the program ends in order
        }
    }

    fn check(result: i32) -> io::Result<()> {
        if result == 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}
