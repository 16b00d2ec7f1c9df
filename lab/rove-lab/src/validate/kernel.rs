//! The kernel's own token bucket (tc-tbf(8)) on a veth cable, as a reference.

use std::net::Ipv4Addr;
use std::os::fd::AsFd;
use std::process::Command;

use anyhow::{Context, Result, bail};
use rove_net::namespace::Namespace;
use rove_net::netlink::{InterfaceAddress, Netlink};
use rove_platform::clock::Clock;

use crate::validate::flow::{self, Flow, Script};

/// The bucket of 8 Mbit/s and 10 000 bytes.
const BUCKET: &str = "qdisc add dev near root tbf rate 8mbit burst 10000 latency 400ms";
/// The hardware address of both ends.
const HARDWARE: [u8; 6] = [2, 0, 0, 0, 0, 2];

/// Sends a script through the kernel's bucket, or returns `None` where there is no `tc`.
///
/// # Errors
///
/// Returns an error if the cable cannot be made.
pub(super) fn token_bucket(script: &Script) -> Result<Option<Flow>> {
    let [near, far] = [Namespace::create()?, Namespace::create()?];
    near.run(|| Netlink::open()?.add_veth("near", "far", far.as_fd(), HARDWARE, true))?
        .context("cannot make a veth cable")?;
    let addresses = [(&near, "near", 1), (&far, "far", 2)];
    for (namespace, name, last) in addresses {
        let address = InterfaceAddress { address: Ipv4Addr::new(192, 0, 2, last), prefix: 24 };
        let set_up = || {
            let mut netlink = Netlink::open()?;
            let index = netlink.interface(name)?.index;
            netlink.set_up(index, 1500, 1_000, false)?;
            netlink.add_address(index, address)
        };
        namespace.run(set_up)?.context("cannot set a veth interface up")?;
    }
    let mut tc = Command::new("tc");
    near.enter_on_exec(tc.args(BUCKET.split(' ')))?;
    match tc.status() {
        Ok(status) if status.success() => {}
        Ok(status) => bail!("tc {BUCKET}: {status}"),
        Err(_) => return Ok(None),
    }
    let socket = |namespace: &Namespace, last| {
        namespace.run(|| flow::socket(Ipv4Addr::new(192, 0, 2, last)))
    };
    script.send(&socket(&near, 1)??, &socket(&far, 2)??, Clock::start()).map(Some)
}
