//! The proxy command that ssh runs. It connects to the host, reports the host's address, and then hands the connection
//! to ssh or copies bytes.
//!
//! ssh's own configuration thus decides the host's name and port, and the session's datagrams go to the very address
//! that ssh reached. An ssh that receives the connection itself (`ProxyUseFdpass`) can name the peer in its error
//! messages.

use core::mem::MaybeUninit;
use std::fs::File;
use std::io::{self, IoSlice, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::thread;
use std::time::Duration;

use anyhow::{Context, bail};
use rove_bootstrap::startup::{ADDRESS, FAILED, IP, UNKNOWN};
use rustix::net::{SendAncillaryBuffer, SendAncillaryMessage, SendFlags, sendmsg};

use crate::bootstrap::address::{self, AddressError};
use crate::messages::reason;

/// Longest time of a connection attempt while there are other addresses to try. Chosen: ten times the worst usable
/// round trip, so that a host behind one dead address stays reachable.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// Most bytes copied at once. Chosen: the capacity of a pipe on Linux.
const COPY_BYTES: usize = 64 * 1024;

/// Exit code of a proxy that has already reported why there is no connection.
const FAILURE: u8 = 1;

/// Runs the proxy until the host has closed the connection, or ssh has received it. Returns the exit code. By `word`,
/// the random word of this run, the `rove` that started ssh recognises the proxy's lines. Only with a `word`, the proxy
/// also reports all addresses of the host, and why there is no connection.
///
/// # Errors
///
/// Returns why there is no connection, if that has not been reported.
pub(crate) fn run(
    family: &str,
    host: &str,
    port: &str,
    word: Option<&str>,
    hands_over: bool,
) -> anyhow::Result<u8> {
    let stream = match (open(family, host, port, word), word) {
        (Ok(stream), _) => stream,
        (Err(error), Some(word)) => {
            let marker = if error.is::<AddressError>() { UNKNOWN } else { FAILED };
            let sentence = reason(&format!("{error:#}")).replace('\n', " ");
            let line = format!("{marker} {word} {sentence}\n");
            io::stderr().write_all(line.as_bytes()).context("cannot tell the failure")?;
            return Ok(FAILURE);
        }
        (Err(error), None) => return Err(error),
    };
    if hands_over {
        hand_over(&stream)?
    } else {
        relay(stream)?
    }
    Ok(0)
}

/// Connects to a socket in the file system and passes the connection to ssh.
pub(crate) fn join(path: &str) -> anyhow::Result<u8> {
    let stream = UnixStream::connect(path).with_context(|| format!("cannot connect to {path}"))?;
    hand_over(&stream).map(|()| 0)
}

/// Connects to the host, and reports the address that answered.
fn open(family: &str, host: &str, port: &str, word: Option<&str>) -> anyhow::Result<TcpStream> {
    let port = port.parse().with_context(|| format!("bad TCP port {port:?}"))?;
    let addresses = address::resolve(host, port, family)?;
    if let Some(word) = word.filter(|_| addresses.len() > 1) {
        // A single write keeps the lines whole, because other processes write to the same pipe.
        let line = |address: &SocketAddr| {
            format!("{ADDRESS} {word} {}\n", rove_bootstrap::numeric(*address))
        };
        let lines: String = addresses.iter().map(line).collect();
        io::stderr().write_all(lines.as_bytes()).context("cannot tell the addresses")?;
    }
    let stream =
        connect(&addresses).with_context(|| format!("cannot connect to {host} port {port}"))?;
    // ssh batches its own writes. Nagle's algorithm would only delay a login by 40 ms, and each key by a round trip.
    stream.set_nodelay(true)?;
    // SIGHUP of a closing terminal must not cut off the data that ssh still sends to the host.
    signal_hook::flag::register(signal_hook::consts::SIGHUP, Arc::new(AtomicBool::new(false)))?;
    let address = rove_bootstrap::numeric(stream.peer_addr().context("the connection broke")?);
    // The line is written before ssh gets the connection, so that no output of the host can precede it.
    let line = match word {
        Some(word) => format!("{IP} {word} {address}\n"),
        None => format!("MOSH IP {address}\n"),
    };
    io::stderr().write_all(line.as_bytes()).context("cannot tell the address")?;
    Ok(stream)
}

fn connect(addresses: &[SocketAddr]) -> anyhow::Result<TcpStream> {
    let Some((last, others)) = addresses.split_last() else { bail!("it has no address") };
    for address in others {
        if let Ok(stream) = TcpStream::connect_timeout(address, CONNECT_PATIENCE) {
            return Ok(stream);
        }
    }
    Ok(TcpStream::connect(last)?)
}

/// Passes the connection to ssh over the socket that ssh gives this process as standard output. Source: ssh_config(5),
/// ProxyUseFdpass.
fn hand_over(stream: &impl AsFd) -> anyhow::Result<()> {
    let descriptors = [stream.as_fd()];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    assert!(control.push(SendAncillaryMessage::ScmRights(&descriptors)), "there is room for one");
    // The message must contain at least one byte.
    let sent = sendmsg(io::stdout(), &[IoSlice::new(&[0])], &mut control, SendFlags::empty());
    sent.map(drop).context("ssh does not take the connection")
}

/// Copies bytes in both directions until the host closes the connection. When ssh closes its direction, this function
/// closes that direction towards the host, which can still answer.
fn relay(stream: TcpStream) -> anyhow::Result<()> {
    let up = stream.try_clone().context("the connection cannot be shared")?;
    thread::spawn(move || {
        // The other direction notices the same failure and reports it.
        let _ = copy(&mut io::stdin().lock(), &mut &up);
        let _ = up.shutdown(Shutdown::Write);
    });
    // Writing to a duplicate avoids the buffer of the standard library, which holds back unfinished lines.
    let mut stdout = File::from(rustix::io::dup(io::stdout()).map_err(io::Error::from)?);
    copy(&mut &stream, &mut stdout).context("the connection broke")
}

fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; COPY_BYTES];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(()),
            Ok(read) => to.write_all(&buffer[..read])?,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}
