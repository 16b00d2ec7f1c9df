//! The only unsafe code of this crate: namespaces, TUN devices and packet sockets.

#![expect(unsafe_code, reason = "this module is where it is kept")]

use std::io;
use std::mem;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::process::Command;

use rove_platform::signals::accept_all;
use rustix::fs::{Mode, OFlags, open};
use rustix::process::{Pid, Signal, getppid, set_parent_process_death_signal};
use rustix::thread::{LinkNameSpaceType, UnshareFlags, move_into_link_name_space};

/// The protocol number of IPv4 in Ethernet frames. Source: if_ether.h.
const ETH_P_IP: u16 = 0x0800;

/// Gives this thread namespaces of its own. A user namespace is for this process, which must have a single thread.
///
/// # Errors
///
/// Returns the error of the system call.
pub(crate) fn unshare(flags: UnshareFlags) -> io::Result<()> {
    // SAFETY: no descriptors are unshared, so none that others rely on goes away.
    unsafe { rustix::thread::unshare_unsafe(flags) }.map_err(io::Error::from)
}

/// Lets a command enter this network namespace, and a time namespace if there is one, before it is executed. The kernel
/// kills the command when the thread that started it ends.
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
    // SAFETY: the closure makes system calls only. It takes no memory and no locks.
    unsafe { command.pre_exec(enter) };
}

/// Moves this process, which has a single thread, into a time namespace of its own. It allocates no memory.
fn enter_time_namespace() -> io::Result<()> {
    unshare(UnshareFlags::NEWTIME)?;
    let flags = OFlags::RDONLY | OFlags::CLOEXEC;
    let own = open(c"/proc/self/ns/time_for_children", flags, Mode::empty())?;
    Ok(move_into_link_name_space(own.as_fd(), Some(LinkNameSpaceType::Time))?)
}

/// Forks a child that does `work` and ends. It has a session and, if permitted, network and time namespaces of its own,
/// and no descriptors but `kept`. `work` must be async-signal-safe: only system calls, no memory, no locks.
///
/// # Errors
///
/// Returns the error of `fork`.
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
            for signal in 1..=libc::SIGRTMAX() {
                libc::signal(signal, libc::SIG_DFL);
            }
            let mut first = 0;
            for descriptor in &kept {
                libc::syscall(libc::SYS_close_range, first, descriptor - 1, 0);
                first = descriptor + 1;
            }
            libc::syscall(libc::SYS_close_range, first, libc::c_int::MAX, 0);
        }
        accept_all();
        let _ = enter_time_namespace();
        work();
        // SAFETY: ends this process at once, without running what the parent has registered for its exit.
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

/// Makes a descriptor of the TUN node a device in the namespace of this thread. Its name is `template`, with a free
/// number in the place of `%d`. Returns the name.
///
/// # Errors
///
/// Returns the error of the system call.
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
/// Returns the error of the system call.
pub(crate) fn packet_bind(socket: BorrowedFd<'_>, index: i32) -> io::Result<()> {
    let address = libc::sockaddr_ll {
        sll_family: libc::sa_family_t::try_from(libc::AF_PACKET).unwrap_or_default(),
        sll_protocol: ETH_P_IP.to_be(),
        sll_ifindex: index,
        sll_hatype: 0,
        sll_pkttype: 0,
        sll_halen: 0,
        sll_addr: [0; 8],
    };
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
/// Returns the error of the system call.
pub(crate) fn packet_drops(socket: BorrowedFd<'_>) -> io::Result<u32> {
    let mut stats = libc::tpacket_stats { tp_packets: 0, tp_drops: 0 };
    let mut len = libc::socklen_t::try_from(mem::size_of_val(&stats)).unwrap_or_default();
    // SAFETY: the socket is open, and the structure has the length that is told.
    let result = unsafe {
        let to = (&raw mut stats).cast();
        let (level, name) = (libc::SOL_PACKET, libc::PACKET_STATISTICS);
        libc::getsockopt(socket.as_raw_fd(), level, name, to, &mut len)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(stats.tp_drops) }
}

/// Lets the kernel, and not the device, compute the checksums of an interface's outgoing packets and cut them to size.
///
/// # Errors
///
/// Returns the error of the system call.
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
        // SAFETY: the socket is open. The request and the value that it points to live as long as the call.
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
/// Returns the error of the system call.
pub(crate) fn real_time() -> io::Result<()> {
    // SAFETY: all zeros are valid parameters.
    let mut parameters: libc::sched_param = unsafe { mem::zeroed() };
    parameters.sched_priority = 1;
    // The system call is made directly, because musl's function refuses everything.
    // SAFETY: the parameters live as long as the call.
    let result = unsafe {
        libc::syscall(libc::SYS_sched_setscheduler, 0, libc::SCHED_FIFO, &raw const parameters)
    };
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
