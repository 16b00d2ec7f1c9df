//! The only unsafe code of this crate: what happens between fork and exec, signal handlers, and Linux's network devices.

#![expect(unsafe_code, reason = "this module is where it is kept")]

use std::ffi::CString;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd, OwnedFd};
use std::ptr;

use libc::{c_char, c_int};
use rustix::process::{Pid, Resource};

use crate::program::{Failure, Program};

/// How long a failed start stays on the screen before the session ends, where the screen goes with the session.
/// Source: Mosh 1.4.0 as observed.
const FAILURE_PAUSE_SECONDS: u32 = 3;

/// Exit codes of a program that is not there, and of one that cannot be started. Source: POSIX.1-2024, Shell Command
/// Language, 2.8.2.
const NOT_FOUND: c_int = 127;
const NOT_EXECUTABLE: c_int = 126;

/// No signal has a higher number. Source: signal.h of FreeBSD and of Linux on MIPS; the others have fewer.
const LAST_SIGNAL: c_int = 128;

/// Forks a child that leads a session of its own on `terminal` and executes `program` as soon as a
/// byte can be read from `gate`; it exits when the other end of `gate` closes instead.
///
/// # Errors
///
/// Returns the system's refusal to fork.
pub(crate) fn spawn_gated(
    program: &Program,
    terminal: &OwnedFd,
    gate: &OwnedFd,
    opener: &OwnedFd,
) -> io::Result<Pid> {
    let arguments = pointers(&program.arguments);
    let environment = pointers(&program.environment);
    // A script without an interpreter line is run by the shell, as execvp(3) does it.
    let mut script = vec![c"/bin/sh".as_ptr(), ptr::null()];
    script.extend(arguments.iter().skip(1));
    // SAFETY: the child calls only what is async-signal-safe and allocates nothing, so whatever
    // other threads held at the fork does not matter.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        // SAFETY: this is the child; it lives on its copies of these arrays and never returns.
        unsafe {
            libc::close(opener.as_raw_fd());
            run_child(program, terminal, gate, &arguments, &environment, &mut script)
        }
    }
    Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(io::Error::last_os_error)
}

/// The child's side of [`spawn_gated`].
///
/// # Safety
///
/// To be called only between fork and exec; the arrays end in null and point to live strings.
unsafe fn run_child(
    program: &Program,
    terminal: &OwnedFd,
    gate: &OwnedFd,
    arguments: &[*const c_char],
    environment: &[*const c_char],
    script: &mut [*const c_char],
) -> ! {
    // SAFETY: plain system calls on live descriptors and null-terminated arrays.
    unsafe {
        default_signals();
        if libc::setsid() < 0 || rustix::process::ioctl_tiocsctty(terminal).is_err() {
            libc::_exit(1);
        }
        for standard in 0..=2 {
            if libc::dup2(terminal.as_raw_fd(), standard) < 0 {
                libc::_exit(1);
            }
        }
        close_others(gate);
        libc::chdir(program.directory.as_ptr());
        let mut byte = [0_u8; 1];
        if !matches!(rustix::io::retry_on_intr(|| rustix::io::read(gate, &mut byte)), Ok(1)) {
            libc::_exit(0);
        }
        // Only now: until it is another program, this memory holds the session key.
        let _ = rustix::process::setrlimit(Resource::Core, program.core_limit);
        write_all(&program.greeting);
        let mut is_there = false;
        for candidate in &program.candidates {
            libc::execve(candidate.as_ptr(), arguments.as_ptr(), environment.as_ptr());
            if io::Error::last_os_error().raw_os_error() == Some(libc::ENOEXEC) {
                script[1] = candidate.as_ptr();
                libc::execve(script[0], script.as_ptr(), environment.as_ptr());
            }
            // The system's own word does not tell: a script whose interpreter is missing is not found either.
            is_there |= libc::access(candidate.as_ptr(), libc::F_OK) == 0;
        }
        let (text, code) = match is_there {
            false => (&program.not_found, NOT_FOUND),
            true => (&program.not_executable, NOT_EXECUTABLE),
        };
        write_all(text);
        if byte[0] == Failure::Waits.as_byte() {
            libc::sleep(FAILURE_PAUSE_SECONDS);
        }
        libc::_exit(code)
    }
}

/// Closes every descriptor but the standard ones and `gate`: while it is held, the child must not
/// keep the server's sockets and files open. Elsewhere they only close when the program is
/// executed.
///
/// # Safety
///
/// To be called only between fork and exec, as it takes descriptors away from their owners.
unsafe fn close_others(gate: &OwnedFd) {
    #[cfg(target_os = "linux")]
    // SAFETY: plain system calls. A range may be empty, which is refused and does no harm.
    unsafe {
        let gate = libc::c_long::from(gate.as_raw_fd());
        libc::syscall(libc::SYS_close_range, 3, gate - 1, 0);
        libc::syscall(libc::SYS_close_range, gate + 1, libc::c_long::from(c_int::MAX), 0);
    }
    #[cfg(not(target_os = "linux"))]
    let _ = gate;
}

/// Gives every signal its default effect and unblocks all. The handlers belong to the parent, and Rust
/// ignores SIGPIPE. Other ignored signals come from the parent of this process: a script in the background
/// would leave a whole session without Ctrl-C, so a login resets them. Even `nohup`'s
/// SIGHUP is not passed on, as its program is to end with its terminal, and that with the session.
/// (Mosh 1.4.0 as observed resets SIGHUP and SIGPIPE and passes all others on; tmux 3.3 resets most.)
///
/// # Safety
///
/// To be called only between fork and exec, as it takes handlers away that others rely on.
unsafe fn default_signals() {
    // SAFETY: plain system calls; signals that cannot be set, or that are none, return an error.
    unsafe {
        for signal in 1..=LAST_SIGNAL {
            libc::signal(signal, libc::SIG_DFL);
        }
        unblock_signals();
    }
}

/// Unblocks all signals and lets children be waited for (SIGCHLD).
pub(crate) fn accept_all_signals() {
    // SAFETY: plain system calls that run no code of ours in a handler.
    unsafe {
        libc::signal(libc::SIGCHLD, libc::SIG_DFL);
        unblock_signals();
    }
}

/// Unblocks all signals.
fn unblock_signals() {
    let mut none = MaybeUninit::<libc::sigset_t>::uninit();
    // SAFETY: plain system calls; the first fills the set that the second reads.
    unsafe {
        libc::sigemptyset(none.as_mut_ptr());
        libc::sigprocmask(libc::SIG_SETMASK, none.as_ptr(), ptr::null_mut());
    }
}

/// Writes to the child's standard output; what the terminal refuses is lost.
fn write_all(mut bytes: &[u8]) {
    while !bytes.is_empty() {
        match rustix::io::retry_on_intr(|| rustix::io::write(rustix::stdio::stdout(), bytes)) {
            Ok(written @ 1..) => bytes = bytes.get(written..).unwrap_or_default(),
            _ => return,
        }
    }
}

/// Returns the null-terminated array that exec wants.
fn pointers(strings: &[CString]) -> Vec<*const c_char> {
    strings.iter().map(|text| text.as_ptr()).chain([ptr::null()]).collect()
}

/// Runs `restore` when a signal is about to kill this process, then lets it.
///
/// `restore` may only do what is async-signal-safe: system calls, no memory, no locks.
///
/// # Errors
///
/// Returns the system's refusal.
pub(crate) fn before_death_by(signal: c_int, restore: fn()) -> io::Result<()> {
    let action = move || {
        restore();
        let _ = signal_hook::low_level::emulate_default_handler(signal);
    };
    // SAFETY: `restore` is async-signal-safe by this function's contract, and so is the emulation
    // by its own.
    unsafe { signal_hook::low_level::register(signal, action) }.map(|_| ())
}

/// Calls that only Linux has: namespaces, TUN devices and packet sockets.
#[cfg(target_os = "linux")]
pub(crate) mod linux {
    use std::io;
    use std::mem;
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
    use std::os::unix::process::CommandExt;
    use std::process::Command;

    use rustix::fs::{Mode, OFlags, open};
    use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
    use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

    /// Sends a frame or a packet of this protocol. Source: if_ether.h.
    const ETH_P_IP: u16 = 0x0800;

    /// Gives this thread (for a user namespace: this process, which then has one thread) namespaces of its own.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub(crate) fn unshare(flags: UnshareFlags) -> io::Result<()> {
        // SAFETY: no descriptors are unshared, so none that others rely on goes away.
        unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(io::Error::from)
    }

    /// Has a command enter this network namespace and maybe a time namespace before it is executed, and be killed when
    /// the thread that started it ends.
    pub(crate) fn enter_on_exec(
        command: &mut Command,
        network: OwnedFd,
        time: Option<OwnedFd>,
        parent: Pid,
    ) {
        let enter = move || {
            move_into_link_name_space(network.as_fd(), Some(LinkNameSpaceType::Network))?;
            if let Some(time) = &time {
                move_into_link_name_space(time.as_fd(), Some(LinkNameSpaceType::Time))?;
            }
            set_parent_process_death_signal(Some(Signal::KILL))?;
            // The parent may have ended before the line above took effect.
            if getppid() == Some(parent) { Ok(()) } else { Err(io::ErrorKind::Interrupted.into()) }
        };
        // SAFETY: the closure makes system calls only; it takes no memory and no locks.
        unsafe { command.pre_exec(enter) };
    }

    /// Moves this process, which has one thread, into a time namespace of its own. It takes no memory.
    fn enter_time_namespace() -> io::Result<()> {
        unshare(UnshareFlags::NEWTIME)?;
        let flags = OFlags::RDONLY | OFlags::CLOEXEC;
        let own = open(c"/proc/self/ns/time_for_children", flags, Mode::empty())?;
        Ok(move_into_link_name_space(own.as_fd(), Some(LinkNameSpaceType::Time))?)
    }

    /// Forks a child that does `work` and ends: in a session and, where that is permitted, namespaces of its own (network, time),
    /// with no descriptors but `kept`. `work` must be async-signal-safe: system calls, no memory, no locks.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal to fork.
    pub(crate) fn fork_apart(kept: &[BorrowedFd<'_>], work: impl FnOnce()) -> io::Result<Pid> {
        let mut kept: Vec<RawFd> = kept.iter().map(AsRawFd::as_raw_fd).collect();
        kept.sort_unstable();
        // SAFETY: the child calls only what is async-signal-safe and allocates nothing, so whatever other threads held
        // at the fork does not matter.
        let pid = unsafe { libc::fork() };
        if pid == 0 {
            // SAFETY: plain system calls. A range may be empty, which is refused and does no harm.
            unsafe {
                libc::setsid();
                libc::unshare(libc::CLONE_NEWNET);
                libc::chdir(c"/".as_ptr());
                super::default_signals();
                let mut first = 0;
                for descriptor in &kept {
                    libc::syscall(libc::SYS_close_range, first, descriptor - 1, 0);
                    first = descriptor + 1;
                }
                libc::syscall(libc::SYS_close_range, first, libc::c_int::MAX, 0);
            }
            let _ = enter_time_namespace();
            work();
            // SAFETY: ends this process at once, without what the parent has registered for its end.
            unsafe { libc::_exit(0) }
        }
        Pid::from_raw(pid).filter(|_| pid > 0).ok_or_else(io::Error::last_os_error)
    }

    /// Returns a request about the interface of this name.
    fn request_about(interface: &str) -> libc::ifreq {
        // SAFETY: all zeros are a valid request.
        let mut request: libc::ifreq = unsafe { mem::zeroed() };
        let room = request.ifr_name.len() - 1;
        for (to, from) in request.ifr_name[..room].iter_mut().zip(interface.bytes()) {
            *to = libc::c_char::from_ne_bytes([from]);
        }
        request
    }

    /// Makes a descriptor of the TUN node a device called after `template`, in which `%d` stands for a free
    /// number, in the namespace of this thread; returns the name.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub(crate) fn tun_attach(node: &OwnedFd, template: &str) -> io::Result<String> {
        let mut request = request_about(template);
        let flags = libc::IFF_TUN | libc::IFF_NO_PI;
        request.ifr_ifru.ifru_flags = libc::c_short::try_from(flags).unwrap_or_default();
        // SAFETY: the descriptor is open and the request lives as long as the call.
        let result = unsafe { libc::ioctl(node.as_raw_fd(), libc::TUNSETIFF as _, &mut request) };
        if result < 0 {
            return Err(io::Error::last_os_error());
        }
        let name = request.ifr_name.iter().take_while(|byte| **byte != 0);
        let name = name.map(|byte| byte.to_ne_bytes()[0]).collect();
        String::from_utf8(name).map_err(|_| io::ErrorKind::InvalidData.into())
    }

    /// Binds a packet socket to the IPv4 packets that an interface receives.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub(crate) fn packet_bind(socket: BorrowedFd<'_>, index: i32) -> io::Result<()> {
        // SAFETY: all zeros are a valid address.
        let mut address: libc::sockaddr_ll = unsafe { mem::zeroed() };
        address.sll_family = libc::sa_family_t::try_from(libc::AF_PACKET).unwrap_or_default();
        address.sll_protocol = ETH_P_IP.to_be();
        address.sll_ifindex = index;
        let len = libc::socklen_t::try_from(mem::size_of_val(&address)).unwrap_or_default();
        let address = (&raw const address).cast();
        // SAFETY: the socket is open, and the address lives as long as the call and has this length.
        let result = unsafe { libc::bind(socket.as_raw_fd(), address, len) };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// Returns how many packets a packet socket has dropped since the last call.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub(crate) fn packet_drops(socket: BorrowedFd<'_>) -> io::Result<u32> {
        /// As in if_packet.h.
        #[repr(C)]
        struct Stats {
            packets: u32,
            drops: u32,
        }
        let mut stats = Stats { packets: 0, drops: 0 };
        let mut len = libc::socklen_t::try_from(mem::size_of::<Stats>()).unwrap_or_default();
        // SAFETY: the socket is open, and the structure has the length that is told.
        let result = unsafe {
            let to = (&raw mut stats).cast();
            let (level, name) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
            libc::getsockopt(socket.as_raw_fd(), level, name, to, &mut len)
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(stats.drops) }
    }

    /// Has the kernel compute the checksums of what an interface sends and cut it into packets, instead of leaving
    /// both to the device.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub(crate) fn without_offloads(socket: BorrowedFd<'_>, interface: &str) -> io::Result<()> {
        /// As in ethtool.h.
        #[repr(C)]
        struct Value {
            command: u32,
            data: u32,
        }
        /// Source: ethtool.h, ETHTOOL_STXCSUM, ETHTOOL_SSG, ETHTOOL_STSO and ETHTOOL_SGSO.
        const SWITCHES: [u32; 4] = [0x17, 0x19, 0x1f, 0x24];
        for command in SWITCHES {
            let mut value = Value { command, data: 0 };
            let mut request = request_about(interface);
            request.ifr_ifru.ifru_data = (&raw mut value).cast();
            // SAFETY: the socket is open; the request and the value that it points to live as long as the call.
            let result =
                unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCETHTOOL as _, &mut request) };
            if result < 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }

    /// Gives this thread the lowest real-time priority.
    ///
    /// # Errors
    ///
    /// Returns the system's refusal.
    pub(crate) fn real_time() -> io::Result<()> {
        // SAFETY: all zeros are valid parameters.
        let mut parameters: libc::sched_param = unsafe { mem::zeroed() };
        parameters.sched_priority = 1;
        // By the system call itself: musl's function refuses everything.
        // SAFETY: the parameters live as long as the call.
        let result = unsafe {
            libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const parameters)
        };
        if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }
}
