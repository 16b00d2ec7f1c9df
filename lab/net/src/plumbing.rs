//! The two sides: their namespaces, and in each an interface whose cable ends at the emulator.

use std::fs;
use std::io;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

use crate::namespace::Namespace;
use crate::netlink::{Interface, InterfaceAddress, Netlink};
use crate::tap::{Tap, without_offloads};
use anyhow::{Context, Result, anyhow, bail};
use rove_units::Duration;
use rustix::event::{Timespec, poll};
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::address::Addresses;

/// The node of the TUN driver. Source: the kernel's documentation, networking/tuntap.
const TUN: &str = "/dev/net/tun";
/// Largest packet of an interface, in bytes. Source: Ethernet; an opportunity carries as much (mm-link(1)).
const MTU: u32 = 1500;
/// Most packets that wait in an interface for the emulator. Chosen: five times the packets of 20 ms (the most lateness
/// of a valid run) at 40 000 packets per second.
const QUEUE: u32 = 4_096;
/// The name of an interface. The kernel puts the first free number in the place of `%d`.
const NAME: &str = "rove%d";
/// Most emulators with interfaces in one namespace. Chosen: as many as there are blocks of addresses.
const NAMES_MAX: u32 = 64;
/// The hardware address of an interface with a veth cable (locally administered).
const HARDWARE: [u8; 6] = [2, 0, 0, 0, 0, 1];
/// Time in which processes may end before they are killed. Chosen: a shell that saves its history is quicker.
const PATIENCE: Duration = Duration::from_millis(500);
/// Most checks, 1 ms apart, whether a new interface carries packets. Chosen: 5 s, five times the kernel's link delay.
const LOOKS_MAX: u32 = 5_000;
/// Most checks, 1 ms apart, whether another emulator still chooses addresses. Chosen: a dozen slow ones take 1 min.
const TURN_LOOKS_MAX: u32 = 60_000;
const LOOK_AGAIN: Timespec = Timespec { tv_sec: 0, tv_nsec: 1_000_000 };

/// The namespace of the far side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Far {
    /// The far side has its own namespace, from which nothing else can be reached.
    Own,
    /// The far side is in the caller's namespace: this computer and its services.
    Here,
}

/// The means by which the emulator takes packets from interfaces.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Device {
    /// TUN devices where `/dev/net/tun` can be opened, veth cables elsewhere.
    #[default]
    Any,
    /// TUN devices, by the node with this path.
    Tun(PathBuf),
    /// veth cables with packet sockets at their ends.
    Veth,
}

/// A side: its place, and the emulator's end of the cable.
#[derive(Debug)]
pub(super) struct Side {
    pub(super) place: Place,
    pub(super) tap: Tap,
}

/// The right to choose and add addresses in a namespace. Only one emulator has it at a time, until its process ends.
struct Turn(Namespace);

impl Turn {
    /// Waits until no other emulator has the right.
    fn wait() -> io::Result<Self> {
        let namespace = Namespace::current()?;
        for _ in 0..TURN_LOOKS_MAX {
            match flock(&namespace, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Self(namespace)),
                Err(Errno::WOULDBLOCK) => drop(poll(&mut [], Some(&LOOK_AGAIN))),
                Err(errno) => return Err(errno.into()),
            }
        }
        Err(io::ErrorKind::TimedOut.into())
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        // Unlocks explicitly: a child that another thread has just forked may hold the descriptor, too.
        let _ = flock(&self.0, FlockOperation::Unlock);
    }
}

/// A namespace with an interface.
#[derive(Debug)]
pub(super) struct Place {
    pub(super) namespace: Namespace,
    is_own: bool,
    interface: String,
}

/// Makes both sides: near and far.
///
/// # Errors
///
/// Returns an error that says which right to grant.
pub(super) fn connect(
    far: Far,
    device: &Device,
    address: Option<Ipv4Addr>,
) -> Result<([Side; 2], Addresses)> {
    // Until our addresses are added, another emulator would choose the same ones.
    let turn = (far == Far::Here).then(Turn::wait).transpose();
    let turn = turn.context("cannot wait until other emulators have their addresses")?;
    let taken = match far {
        Far::Own => Vec::new(),
        Far::Here => Netlink::open()
            .and_then(|mut netlink| netlink.addresses())
            .context("cannot list the addresses of this computer")?,
    };
    let addresses = match address {
        Some(far) => Addresses::with_far(far, &taken)?,
        None => Addresses::choose(&taken).context(
            "no addresses are left between 100.64.0.0 and 100.127.255.255, or emulators are already four \
             deep in each other; name an address with --peer",
        )?,
    };
    let (prefix, near) = (addresses.prefix, addresses.near);
    let far_address = InterfaceAddress { address: addresses.far, prefix };
    let far = match far {
        Far::Own => Side::own(device, far_address)?,
        Far::Here => Side::here(device, far_address)?,
    };
    drop(turn);
    let near = Side::own(device, InterfaceAddress { address: near, prefix })?;
    Ok(([near, far], addresses))
}

impl Side {
    /// Makes a side with a namespace of its own.
    fn own(device: &Device, address: InterfaceAddress) -> Result<Self> {
        let namespace = Namespace::create().map_err(|error| refused(&error))?;
        let made = namespace.run(|| -> Result<_> {
            let mut netlink = Netlink::open().context("cannot speak to the kernel (netlink)")?;
            netlink.set_loopback_up().context("cannot set the loopback interface up")?;
            prepare();
            let (tap, interface) = interface(device)?;
            let index = finish(&mut netlink, &interface, address)?;
            netlink.add_default_route(index).context("cannot add a route")?;
            Ok((tap, interface))
        });
        let (tap, interface) = made.context("cannot enter a network namespace")??;
        Ok(Self { place: Place { namespace, is_own: true, interface }, tap })
    }

    /// Makes a side in the namespace of this thread.
    fn here(device: &Device, address: InterfaceAddress) -> Result<Self> {
        let namespace = Namespace::current().context("cannot see the own network namespace")?;
        let (tap, interface) = interface(device)?;
        let mut netlink = Netlink::open().context("cannot speak to the kernel (netlink)")?;
        finish(&mut netlink, &interface, address)?;
        Ok(Self { place: Place { namespace, is_own: false, interface }, tap })
    }
}

impl Place {
    /// Returns the counters of the side's interface.
    pub(super) fn counters(&self) -> io::Result<Interface> {
        self.namespace.run(|| Netlink::open()?.interface(&self.interface))?
    }

    /// Returns the namespace, unless the side shares this computer's own.
    pub(super) fn own_namespace(&self) -> Option<&Namespace> {
        self.is_own.then_some(&self.namespace)
    }

    /// Ends the processes on this side. If the side shares this computer's namespace, they are not touched.
    pub(super) fn end_processes(&self) -> io::Result<bool> {
        self.own_namespace().map_or(Ok(true), |namespace| namespace.end_processes(PATIENCE))
    }
}

/// Makes an interface in the namespace of this thread.
fn interface(device: &Device) -> Result<(Tap, String)> {
    let node = match device {
        Device::Tun(node) => node.as_path(),
        Device::Any => Path::new(TUN),
        Device::Veth => return veth(),
    };
    match Tap::tun(node, NAME) {
        Ok(made) => Ok(made),
        Err(_) if *device == Device::Any => veth(),
        Err(error) => {
            let shown = node.display();
            Err(anyhow!(error).context(format!(
                "cannot make a TUN device by {shown}; it must be a node of the TUN driver (c 10 200) that you \
                 may read and write, or leave --tun out"
            )))
        }
    }
}

/// Makes an interface with a veth cable. The other end of the cable is in a namespace of the emulator's own, which
/// lasts as long as the emulator's socket in it.
fn veth() -> Result<(Tap, String)> {
    let other = Namespace::create().map_err(|error| refused(&error))?;
    let name = add_veth(&other).with_context(|| {
        format!(
            "cannot make an interface: neither a TUN device nor a veth cable; run as root, or give yourself read and \
             write access to {TUN}, or give the far side a namespace of its own with --far"
        )
    })?;
    without_offloads(&name).context("cannot switch the veth interface's offloads off")?;
    // The cable carries nothing until both ends are up, so this call does not wait.
    let up = Netlink::open().and_then(|mut netlink| set_up(&mut netlink, &name, 0));
    up.with_context(|| format!("cannot set the interface {name} up"))?;
    let tap = other.run(|| -> io::Result<Tap> {
        let mut netlink = Netlink::open()?;
        let index = set_up(&mut netlink, "cable", LOOKS_MAX)?;
        Tap::packet_socket(index, HARDWARE)
    });
    let tap = tap.and_then(|tap| tap).context("cannot listen at the end of a veth cable")?;
    Ok((tap, name))
}

/// Makes a veth interface with the first free number, and returns its name.
fn add_veth(other: &Namespace) -> io::Result<String> {
    use std::os::fd::AsFd;
    let mut netlink = Netlink::open()?;
    for number in 0..NAMES_MAX {
        let name = NAME.replace("%d", &number.to_string());
        match netlink.add_veth(&name, "cable", other.as_fd(), HARDWARE, false) {
            Ok(()) => return Ok(name),
            Err(error) if error.raw_os_error() == Some(Errno::EXIST.raw_os_error()) => {}
            Err(error) => return Err(error),
        }
    }
    Err(Errno::EXIST.into())
}

/// Sets an interface up with its address, and waits until it carries packets. Returns its index.
fn finish(netlink: &mut Netlink, interface: &str, address: InterfaceAddress) -> Result<i32> {
    let result = set_up(netlink, interface, LOOKS_MAX).and_then(|index| {
        netlink.add_address(index, address)?;
        Ok(index)
    });
    result.with_context(|| format!("cannot set the interface {interface} up"))
}

/// Sets an interface up, and checks at most `looks` times whether it carries packets. An interface with a cable carries
/// packets only after both ends are up. Returns the interface's index.
fn set_up(netlink: &mut Netlink, interface: &str, looks: u32) -> io::Result<i32> {
    let index = netlink.interface(interface)?.index;
    netlink.set_up(index, MTU, QUEUE, false)?;
    for _ in 0..looks {
        if netlink.interface(interface)?.carries {
            break;
        }
        let _ = poll(&mut [], Some(&LOOK_AGAIN));
    }
    Ok(index)
}

/// Lets this thread's new namespace forward packets, and lets its users send pings. The system may refuse both. Only
/// nested emulators and pings need them.
fn prepare() {
    let _ = fs::write("/proc/sys/net/ipv4/ip_forward", "1");
    let group = rustix::process::getegid().as_raw();
    let range = if group == 0 { "0 2147483647".to_owned() } else { format!("{group} {group}") };
    let _ = fs::write("/proc/sys/net/ipv4/ping_group_range", range);
}

/// Returns the sentence for a namespace that the system does not grant.
fn refused(error: &io::Error) -> anyhow::Error {
    anyhow!(
        "cannot make a network namespace ({error}); run as root, or let users make namespaces (sysctl \
         user.max_user_namespaces above 0 and, where there are such, kernel.unprivileged_userns_clone=1 and \
         kernel.apparmor_restrict_unprivileged_userns=0)"
    )
}

/// Ensures that this process may create namespaces, by a user namespace if necessary. Returns the possible far side:
/// only [`Far::Own`] in a user namespace, else also [`Far::Here`]. Call this before the process starts threads.
///
/// # Errors
///
/// Returns an error that says which right to grant.
pub fn acquire_rights() -> Result<Far> {
    match Namespace::create() {
        Ok(_) => return Ok(Far::Here),
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {}
        Err(error) => bail!(refused(&error)),
    }
    crate::namespace::enter_user_namespace().map_err(|error| refused(&error))?;
    Namespace::create().map_err(|error| refused(&error))?;
    Ok(Far::Own)
}
