//! The proxy command that ssh runs. It connects to the host, reports the host's address, and then hands the connection
//! to ssh or copies bytes.
//!
//! ssh's own configuration thus decides the host's name and port. The session's datagrams go to the very address that
//! ssh reached. An ssh that receives the connection itself (`ProxyUseFdpass`) can name the peer in its error messages.

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
/// round trip, so that a host with one dead address stays reachable.
const CONNECT_PATIENCE: Duration = Duration::from_secs(10);

/// Most bytes copied at once. Chosen: the capacity of a pipe on Linux.
const COPY_BYTES: usize = 64 * 1024;

/// Exit code of a proxy that has already reported why there is no connection.
const FAILURE: u8 = 1;

/// The arguments of a proxy command.
#[derive(Debug)]
pub(crate) struct ProxyCall {
    /// The address family, as the user wrote it.
    pub(crate) family: String,
    /// The host to connect to, or the path of the socket of a client that connects in place of this process.
    pub(crate) host: String,
    /// The TCP port to connect to.
    pub(crate) port: String,
    /// The random word by which the `rove` that started ssh recognises the proxy's lines. A proxy with a word also
    /// reports all addresses of the host, and why there is no connection.
    pub(crate) word: Option<String>,
    /// Whether to pass the open connection to ssh.
    pub(crate) hands_over: bool,
    /// The longest time of a connection attempt, in seconds. With `None`, only the system limits the time.
    pub(crate) seconds_max: Option<u32>,
}

/// Runs the proxy until the host has closed the connection, or ssh has received it. Returns the exit code.
///
/// # Errors
///
/// Returns why the connection broke or, if `call` has no word, why it could not be made.
pub(crate) fn run(call: &ProxyCall) -> anyhow::Result<u8> {
    let stream = match (open(call), &call.word) {
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
    if call.hands_over {
        hand_over(&stream)?
    } else {
        relay(stream)?
    }
    Ok(0)
}

/// Connects to a socket in the file system and passes the connection to ssh. Returns the exit code 0, or the error.
pub(crate) fn join(path: &str) -> anyhow::Result<u8> {
    let stream = UnixStream::connect(path).with_context(|| format!("cannot connect to {path}"))?;
    hand_over(&stream).map(|()| 0)
}

/// Connects to the host, and reports the address that answered. A call with a word first reports all addresses.
fn open(call: &ProxyCall) -> anyhow::Result<TcpStream> {
    let ProxyCall { family, host, port, word, seconds_max, .. } = call;
    let port = port.parse().with_context(|| format!("bad TCP port {port:?}"))?;
    let addresses = address::resolve(host, port, family)?;
    if let Some(word) = word.as_ref().filter(|_| addresses.len() > 1) {
        // A single write keeps the lines whole, because other processes write to the same pipe.
        let line = |address: &SocketAddr| {
            format!("{ADDRESS} {word} {}\n", rove_bootstrap::numeric(*address))
        };
        let lines: String = addresses.iter().map(line).collect();
        io::stderr().write_all(lines.as_bytes()).context("cannot tell the addresses")?;
    }
    let limit = seconds_max.map(|seconds| Duration::from_secs(seconds.into()));
    let stream = connect(&addresses, limit)
        .with_context(|| format!("cannot connect to {host} port {port}"))?;
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

/// Connects to the first address that answers, or returns the error of the last. `limit` replaces the system's limit on
/// the time of an attempt. All attempts but the last also end after [`CONNECT_PATIENCE`].
fn connect(addresses: &[SocketAddr], limit: Option<Duration>) -> anyhow::Result<TcpStream> {
    let Some((last, others)) = addresses.split_last() else { bail!("it has no address") };
    let patience = limit.map_or(CONNECT_PATIENCE, |limit| limit.min(CONNECT_PATIENCE));
    for address in others {
        if let Ok(stream) = TcpStream::connect_timeout(address, patience) {
            return Ok(stream);
        }
    }
    Ok(match limit {
        Some(limit) => TcpStream::connect_timeout(last, limit)?,
        None => TcpStream::connect(last)?,
    })
}

/// Passes the connection to ssh over standard output, which is a socket to ssh. Source: ssh_config(5), ProxyUseFdpass.
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    #[test]
    fn an_attempt_ends_at_the_limit_and_not_when_the_system_gives_up() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        rustix::net::listen(&listener, 0).unwrap();
        let address = listener.local_addr().unwrap();
        // A listener with a full queue leaves further attempts unanswered.
        let limit = Some(Duration::from_millis(50));
        let found: anyhow::Result<Vec<_>> = (0..9).map(|_| connect(&[address], limit)).collect();
        let error = found.unwrap_err().downcast::<io::Error>().unwrap();
        assert_eq!((error.kind(), error.raw_os_error()), (io::ErrorKind::TimedOut, None));
    }
}
